/* launcher.h - between the skeleton and its launcher; internal to daemon/
 *
 * Scheduler to launcher, one line each:
 *	start CLAUSE CHANNEL TOKEN	(the agent's socket is attached)
 *	kill TOKEN
 *	beside				(the service's socket is attached)
 *	reload
 * Launcher to scheduler:
 *	begin TOKEN PID
 *	exit TOKEN PID STATUS
 * CLAUSE counts from 0 in conf->schedules.  End of file ends the launcher.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_LAUNCHER_H
#define ZM_DAEMON_LAUNCHER_H

#include "daemon/skeleton.h"

/* Fork the launcher; launcher_client.c keeps the scheduler's end.
 * 0 or -1.  Does not return in the child. */
int launcher_fork(struct process *process, struct err *err);

/* launcher.c: serve requests from socket; exits. */
void launcher_main(struct process *process, int socket)
	__attribute__((noreturn));

/* Read exit notices in process->loop from now on. */
void launcher_attach(struct process *process);

/* Tell the launcher to read the configuration again. */
void launcher_reload(void);

/* Close our end in a forked worker. */
void launcher_forget(void);

/* ---- launcher_command.c ------------------------------------------------- */

enum { COMMAND_WORDS_MAX = 32 };

struct launcher_command {		/* what is executed, and as whom */
	char	*words[COMMAND_WORDS_MAX + 5];
	char	 path[1024];
	bool	 as_root;
};

/* Split text into words, without a shell.  An agent of ours (a name, looked up
 * in the installed directory) is told the configuration by -C; a foreign one
 * (an absolute path) finds it in ZMAILER_CONF.  is_many: agents come on
 * its standard input (carriers.h).  Words are in the arena.  0 or -1. */
int command_build(struct arena *arena, const char *text,
    const char *conf_path, bool is_many, struct launcher_command *command,
    struct err *err);

/* The environment of an agent: only listed variables; in a private instance
 * also settings of the linker and of sanitizers, for tests. */
char **command_environment(bool is_private);

#endif
