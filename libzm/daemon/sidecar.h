/* sidecar.h - a process that the supervisor has beside its daemons
 *
 * Life: sidecar_init (nothing runs yet), sidecar_begin (it is forked, if it
 * is wanted), its end (sidecar_ended), another one after it, sidecar_stop.
 * It is told to end by the end of its lifeline, a pipe of which we hold the
 * other end: so it ends with us, too, however we end.
 *
 * If it ended by itself, its successor starts after CHILD_RESTART_MS; if it
 * was told to end, at once.  No daemon's loop and no message waits for it;
 * its clients use a socket that we keep open meanwhile.  A daemon that needs
 * to talk with its process uses daemon/child.h instead: the supervisor waits
 * for all of its processes in one place.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_SIDECAR_H
#define ZM_DAEMON_SIDECAR_H

#include <stdbool.h>
#include <sys/types.h>

#include "io/loop.h"

/* What the process has open beside the standard three. */
enum { SIDECAR_SOCKET_FD = 3, SIDECAR_LIFELINE_FD = 4,
	SIDECAR_SECOND_FD = 5 };	/* another socket, where there is one */

struct sidecar_kind {
	const char	*name;		/* before its warnings */
	/* Shall there be one now?  NULL: always.  It may make the socket. */
	bool	(*is_wanted)(void *context);
	/* The process: signals are as a program finds them, no event's file
	 * is open.  It ends when the lifeline does; exit 0 when this
	 * returns. */
	void	(*run)(void *context);
};

struct sidecar {
	const struct sidecar_kind *kind;
	void		*context;	/* for its functions */
	struct loop	*loop;
	int		 socket;	/* it gets it, the owner's; -1: none */
	int		 second;	/* the same */
	int		 lifeline;	/* -1: it was told to end, or none is */
	pid_t		 pid;		/* 0: none */
	bool		 is_over;	/* there will be no other one */
	loop_fn		*ended_fn;	/* of sidecar_end */
	void		*ended_context;
	struct timer	 timer;		/* until it starts again, or dies */
};

/* None runs; it has no socket. */
void sidecar_init(struct sidecar *sidecar, const struct sidecar_kind *kind,
    struct loop *loop, void *context);

/* Nothing runs, nothing was started: take one over that the program before us
 * in this process had (daemon/sidecar.h's own fields).  pid 0, lifeline -1,
 * socket -1: there is none. */
void sidecar_adopt(struct sidecar *sidecar, pid_t pid, int lifeline,
    int socket);

/* Start it, unless one runs, it is over, or it is not wanted.  What does not
 * work is a warning, and tried again. */
void sidecar_begin(struct sidecar *sidecar);

/* Tell it to end; when it has, another one begins.  When none runs, that one
 * begins now. */
void sidecar_renew(struct sidecar *sidecar);

/* Another one begins now, if it is wanted; the one before was told to end,
 * and does what it has begun: for those that share a socket. */
void sidecar_replace(struct sidecar *sidecar);

/* Tell it to end; there is no other one. */
void sidecar_stop(struct sidecar *sidecar);

/* The same, and it is killed after so long.  true: none runs; else ended_fn
 * is called when it has ended. */
bool sidecar_end(struct sidecar *sidecar, int64_t patience_ms,
    loop_fn *ended_fn, void *context);

/* pid was waited for: maybe it was that process. */
void sidecar_ended(struct sidecar *sidecar, pid_t pid);

#endif
