/* taker.h - the process that takes configurations of other nodes; internal to
 * tools/run
 *
 * It listens at RUN/config.sock for the process nodes, and goes back to the
 * configuration of before when nobody says that the new one is to stay.  It
 * runs where a cluster has a desk, and while such a decision is open; what it
 * does is tools/publish/.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_TAKER_H
#define ZM_TOOLS_RUN_TAKER_H

#include "conf/conf.h"
#include "daemon/sidecar.h"

/* Set the function that is that process, until the other end of lifeline is
 * closed.  conf is the one in force.  Without one there is none. */
typedef void taker_run_fn(const struct conf *conf, int socket, int lifeline);
void taker_offer(taker_run_fn *run);

struct taker {
	struct sidecar		 sidecar;
	struct conf *const	*conf;	/* points to the one in force */
};

/* Listen and start it, if *conf or an open decision wants it. */
void taker_start(struct taker *taker, struct loop *loop,
    struct conf *const *conf);
/* The same when we replaced another program in this process (pid 0, -1, -1:
 * there was none). */
void taker_take_over(struct taker *taker, struct loop *loop,
    struct conf *const *conf, pid_t pid, int lifeline, int socket);
/* The configuration has changed.  The process before finishes what it has
 * begun. */
void taker_reload(struct taker *taker);
void taker_stop(struct taker *taker);
/* pid was waited for, and may be that process. */
void taker_ended(struct taker *taker, pid_t pid);

#endif
