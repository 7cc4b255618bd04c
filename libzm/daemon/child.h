/* child.h - a process that a daemon forks, talks to and starts again
 *
 * Life: child_new (nothing runs yet), child_start (it is forked), lines in
 * both directions over a socket pair, its end (kind->ended is called), its
 * next start if the kind is kept, child_free.  A pool of workers has a
 * struct child for each; the owner decides how many there are.
 *
 * A kept child that lived for CHILD_RESTART_MS is started again at once.
 * One that died sooner waits that long, and twice as long after each
 * further early death, at most CHILD_RESTART_MAX_MS.
 *
 * Nothing outlives the object: child_free ends the process, waits for it
 * and clears the timer.  Every callback may call child_free, child_stop or
 * child_start for its own child.  Our ends of the sockets of all children
 * are closed in every process that is forked by daemon_fork.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_CHILD_H
#define ZM_DAEMON_CHILD_H

#include "base/str.h"
#include "daemon/skeleton.h"

enum {
	CHILD_RESTART_MS = 1000,	/* before the next start */
	CHILD_END_MS = 2000,		/* child_stop waits no longer */
	CHILD_RESTART_MAX_MS = 60000
};

struct child;

/* How a process ended. */
struct child_end {
	pid_t	pid;		/* 0: it was not ours (child_connect) */
	int	status;		/* as waitpid gives it */
	int64_t	lived_ms;
	int64_t	again_ms;	/* until it is started again; -1: it is not */
};

/* What the processes of one kind have in common.  The owner keeps the struct,
 * which must live as long as the children.  Functions but run may be NULL. */
struct child_kind {
	const char	*name;		/* for ps, and before its warnings */
	const char	*title;		/* in event daemon.exit when it ends by
					 * itself; NULL: no event */
	bool		 is_kept;	/* start it again when it ends */
	bool		 is_secret;	/* wipe what was sent */
	int		 end_signal;	/* for child_stop; 0: the end of file
					 * is enough */
	/* The process: process->loop is fresh, socket is a blocking one to
	 * the parent.  It exits with 0 when this returns. */
	void	(*run)(void *context, int socket);
	/* It is time to start it again.  The owner calls child_start when
	 * it has what the process is to inherit, or child_start_later.
	 * NULL: child_start is called. */
	void	(*due)(void *context);
	/* Something came: call child_line until there are no more lines. */
	void	(*read)(void *context);
	/* Some of the outbox was sent. */
	void	(*sent)(void *context);
	/* It ended, or closed its socket and was killed. */
	void	(*ended)(void *context, const struct child_end *end);
};

/* Make a child that does not run; never NULL.  context is passed to all
 * functions of kind. */
struct child *child_new(struct process *process,
    const struct child_kind *kind, void *context);

/* End the process as child_stop does, free the object; NULL is harmless.
 * Sets *child to NULL. */
void child_free(struct child **child);

/* Fork the process, which must not run.  If the daemon has no loop yet, call
 * child_attach as soon as it has one.  0; -1 with err: it does not run and
 * will not be started automatically. */
int child_start(struct child *child, struct err *err);

/* Try to start it after the pause that an early death would cause. */
void child_start_later(struct child *child);

/* Talk over fd (owned from now on) to a process that another program started.
 * It has no pid, and ends when the connection does. */
void child_connect(struct child *child, int fd);

/* Watch the socket in process->loop from now on; harmless if it is watched
 * already. */
void child_attach(struct child *child);

/* Do not start it again.  It continues until it ends by itself. */
void child_dismiss(struct child *child);

/* Dismiss it and close our sending half: it reads end of file after all that
 * was sent.  Unsent lines are dropped; what it still writes is read. */
void child_hang_up(struct child *child);

/* End it now: send kind->end_signal, close the socket, wait for the process;
 * clear the restart timer.  One that has not ended after CHILD_END_MS, because
 * it hangs or was stopped (SIGSTOP), is killed.  kind->ended is not called.
 * child_start may follow. */
void child_stop(struct child *child);

/* Send it a signal; does nothing if it does not run or is not ours. */
void child_signal(struct child *child, int number);

/* Does it run, as far as we know? */
bool child_is_running(const struct child *child);

/* Its process; 0: none, or not ours. */
pid_t child_pid(const struct child *child);

/* Take the next line, without its LF; valid until the callback returns.
 * returns false when there is none.  After a line that is longer than
 * IPC_LINE_BYTES_MAX the process is killed when the callback returns. */
bool child_line(struct child *child, struct slice *out_line);

/* What waits to be sent: the owner adds lines, then calls child_send, at the
 * latest at the end of the turn.  Empty again after the process ended. */
struct str *child_outbox(struct child *child);

/* Attach fd (owned from now on) to the next bytes that are sent; there must be
 * room for it (child_fd_room). */
void child_add_fd(struct child *child, int fd);
/* How many more descriptors may wait. */
size_t child_fd_room(const struct child *child);

/* Send what the socket takes now; the rest follows when it takes more.
 * Without a loop, all is sent.  If the process is gone, kind->ended is called
 * later. */
void child_send(struct child *child);

/* fork.c, in a child: close our ends of the sockets of all children. */
void children_forget(struct process *process);

#endif
