/* sidecar.h - a process that the supervisor runs beside its daemons
 *
 * Life: sidecar_init (nothing runs yet), sidecar_begin (it is forked, if it
 * is wanted), its end (sidecar_ended), another one after it, sidecar_stop.
 * Closing our end of its lifeline, a pipe, tells it to end: so it also ends
 * with us, however we end.
 *
 * If it ended by itself, its successor starts after CHILD_RESTART_MS; if it
 * was told to end, at once.  No daemon's loop and no message waits for it;
 * its clients use a socket that we keep open meanwhile.  A daemon that needs
 * to talk to its process uses daemon/child.h instead: the supervisor waits
 * for all of its processes in one place.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_SIDECAR_H
#define ZM_DAEMON_SIDECAR_H

#include <stdbool.h>
#include <sys/types.h>

#include "io/loop.h"

/* What the process has open besides the standard three. */
enum { SIDECAR_SOCKET_FD = 3, SIDECAR_LIFELINE_FD = 4,
	SIDECAR_SECOND_FD = 5 };	/* another socket, if there is one */

struct sidecar_kind {
	const char	*name;		/* before its warnings */
	/* Is one wanted now?  NULL: always.  This may make the socket. */
	bool	(*is_wanted)(void *context);
	/* The process: signals are as a new program has them, and the journal
	 * is not open.  It ends when the lifeline does; exits with 0 when this
	 * returns. */
	void	(*run)(void *context);
};

struct sidecar {
	const struct sidecar_kind *kind;
	void		*context;	/* for its functions */
	struct loop	*loop;
	int		 socket;	/* for it, the owner's; -1: none */
	int		 second;	/* the same */
	int		 lifeline;	/* -1: none runs, or it must end */
	pid_t		 pid;		/* 0: none */
	bool		 is_over;	/* there will be no other one */
	loop_fn		*ended_fn;	/* of sidecar_end */
	void		*ended_context;
	struct timer	 timer;		/* until it starts again, or dies */
};

/* Fill in *sidecar: none runs, and it has no socket. */
void sidecar_init(struct sidecar *sidecar, const struct sidecar_kind *kind,
    struct loop *loop, void *context);

/* Before anything was started: take over the process that the program before us
 * in this process had, with these values of its fields.  pid 0, lifeline -1,
 * socket -1: there is none. */
void sidecar_adopt(struct sidecar *sidecar, pid_t pid, int lifeline,
    int socket);

/* Start it, unless one runs, it is over, or it is not wanted.  A failure is a
 * warning, and tried again. */
void sidecar_begin(struct sidecar *sidecar);

/* Tell it to end; when it has ended, another one begins.  If none runs, that
 * one begins now. */
void sidecar_renew(struct sidecar *sidecar);

/* Start another one now, if it is wanted.  The one before is told to end and
 * finishes what it has begun: for processes that can share a socket. */
void sidecar_replace(struct sidecar *sidecar);

/* Tell it to end; there is no other one. */
void sidecar_stop(struct sidecar *sidecar);

/* The same, but it is killed after patience_ms.  true: none runs; otherwise
 * ended_fn is called when it has ended. */
bool sidecar_end(struct sidecar *sidecar, int64_t patience_ms,
    loop_fn *ended_fn, void *context);

/* pid was waited for, and may be that process. */
void sidecar_ended(struct sidecar *sidecar, pid_t pid);

#endif
