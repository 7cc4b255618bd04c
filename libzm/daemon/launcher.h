/* launcher.h - between the skeleton and its launcher; internal to daemon/
 *
 * Scheduler to launcher, one line each:
 *	start CLAUSE CHANNEL TOKEN	(the agent's socket rides on it)
 *	kill TOKEN
 *	reload
 * Launcher to scheduler:
 *	exit TOKEN PID STATUS
 * CLAUSE counts from 0 in conf->schedules.  End of file ends the launcher.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_LAUNCHER_H
#define ZM_DAEMON_LAUNCHER_H

#include "daemon/skeleton.h"

/* Fork the launcher; the scheduler's end is kept in launcher_client.c.
 * 0 or -1.  Does not return in the child. */
int launcher_fork(struct process *process, struct err *err);

/* launcher.c: serve requests from socket; exits. */
void launcher_main(struct process *process, int socket)
	__attribute__((noreturn));

/* Read exit notices in process->loop from now on. */
void launcher_attach(struct process *process);

/* The launcher reads the configuration again. */
void launcher_reload(void);

/* Close our end in a forked worker. */
void launcher_forget(void);

#endif
