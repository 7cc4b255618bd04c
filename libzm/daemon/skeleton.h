/* skeleton.h - the ladder that every daemon climbs, written once
 *
 * arguments -> configuration -> privileged opens -> launcher (if wanted)
 * -> drop to the role's account -> after_drop -> "ready" byte to the
 * supervisor -> loop.
 * Started as anybody but root the account steps are skipped and the whole
 * instance runs as that user.
 *
 * Arguments every daemon takes: -C FILE, --version, --help.
 * Descriptor 3, when ZMAILER_LIFELINE=3 is in the environment, is a socket
 * to the supervisor: one byte "R" is sent when ready; end of file there
 * means that the supervisor is gone: stop in good order.
 * SIGTERM, SIGINT: stop.  SIGHUP: reload; a bad file is refused (event
 * conf.refused) and the old configuration stays.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_SKELETON_H
#define ZM_DAEMON_SKELETON_H

#include <sys/types.h>

#include "base/err.h"
#include "daemon/conf.h"
#include "io/loop.h"

struct process {
	const struct daemon	*daemon;
	struct conf		*conf;		/* current; swapped on reload */
	const char		*conf_path;	/* as given; NULL: default */
	struct loop		*loop;
	void			*state;		/* the daemon's own */
	bool			 is_stopping;
	bool			 was_root;
};

struct daemon {
	const char	*name;		/* "router": in events and ps */
	const char	*purpose;	/* one line for --help */
	enum conf_role	 role;
	bool		 wants_launcher;	/* the scheduler */
	/* Each returns 0 or -1 with err; any may be NULL. */
	int	(*open_privileged)(struct process *process, struct err *err);
	int	(*after_drop)(struct process *process, struct err *err);
	/* The configuration was replaced; old is freed after the call. */
	void	(*reload)(struct process *process, const struct conf *old);
	/* Finish what cannot be put down, then call loop_stop. NULL: at once. */
	void	(*stop)(struct process *process);
};

/* Never returns to do anything but exit: 0 stopped in good order, 64 usage,
 * 78 bad configuration, 111 the environment failed. */
int daemon_run(int argc, char **argv, const struct daemon *daemon);

/* Fork a worker of this daemon, connected by a stream socket pair; dies
 * with its parent (end of file on the socket must end it, too).
 * In the parent returns its pid; in the child 0 after everything of the
 * parent's loop was forgotten: *process has a fresh loop, signals as at
 * start, the err name is "name".  -1 with err. */
pid_t daemon_fork(struct process *process, const char *name,
    int *out_socket, struct err *err);

/* Become the account of role (setgroups, setresgid, setresuid, checked);
 * nothing when not root.  0 or -1. */
int daemon_drop(const struct conf *conf, enum conf_role role,
    struct err *err);

/* ---- launcher: the only part that keeps root ------------------------ */

/* Forked before the drop by a daemon that wants_launcher.  It starts
 * transport agents, from the installed directory only (or the schedule
 * clause's command, which it reads from the configuration itself, never
 * from the request), under the account the agent needs: "mailbox" and
 * "pipe" as root (they become the recipient), all others as ROLE_AGENT.
 *
 * Ask for an agent of the schedule clause number clause (index in
 * conf->schedules) for channel; it gets `socket` (which stays the caller's)
 * as stdin and stdout.  token comes back in the exit notice. 0 or -1. */
int launcher_start_agent(unsigned clause, const char *channel, int socket,
    unsigned token, struct err *err);

/* Called in the loop when an agent ended.  status as waitpid gives it. */
typedef void launcher_exit_fn(void *context, unsigned token, pid_t pid,
    int status);
void launcher_on_exit(struct process *process, launcher_exit_fn *fn,
    void *context);

/* Directory with the transport agents: ZMAILER_LIBEXEC/ta from the
 * environment (build tree, tests), else the installed one. */
void daemon_libexec(const char *program, char *out_path, size_t size);

#endif
