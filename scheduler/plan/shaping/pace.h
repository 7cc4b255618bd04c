/* pace.h - how many sessions a destination gets and how fast, by its answers
 *
 * Sessions (thread.limit) grow by one a success up to the threshold and by
 * one for as many successes as there are sessions above it; they halve when
 * the host says that it is too much, at most once for what was under way
 * together, and the threshold stays at that half.  A pause between messages
 * (slow_us) is made when the host speaks of a rate, half longer when it does
 * so again, and wears off by an eighth a second of successes.
 *
 * Pure: moments are arguments.  `begun_ms` is when the attempt was given to
 * its agent: answers of attempts older than the last change change nothing.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_PACE_H
#define ZM_SCHEDULER_PACE_H

#include "scheduler/plan/ring.h"

enum {
	PACE_NEAR = 20,			/* sessions; more only while they bring
					 * more */
	PACE_VAIN_MIN_MS = 2000,	/* after which more are tried again; */
	PACE_VAIN_MAX_MS = 64000,	/* twice as long each time */
	PACE_RECENT_MS = 10000,		/* a host that served somebody so
					 * lately is not down */
	PACE_SLOW_MIN_US = 5000,	/* a pause shorter than this is none */
	PACE_SLOW_FIRST_US = 20000,
	PACE_EASE_MS = 1000,		/* between two steps of its way back */
	PACE_SLOW_MAX_US = 60000000,
	PACE_BURST_US = 1000000		/* a second's worth may go at once */
};

/* A new thread, or one that was given another clause. */
void pace_init(struct thread *thread);
void pace_rematch(struct thread *thread);

/* Did it say that we are too many or too fast, and are we still below what its
 * clause allows? */
bool pace_is_throttled(const struct thread *thread);
/* How many sessions it may have. */
unsigned pace_limit(const struct thread *thread);

/* A message was given to an agent.  Returns the moment before which no other
 * may be given; 0: at once. */
int64_t pace_taken(struct thread *thread, int64_t now_ms);
/* The thread has got another clause: the same moment again, from the last
 * message that was given and the new spacing. */
int64_t pace_again(struct thread *thread, int64_t now_ms);

/* It served an attempt that began at begun_ms: one more session, or a shorter
 * pause. */
void pace_good(struct thread *thread, int64_t begun_ms, int64_t now_ms);
/* One of its sessions is done with a message that was served, of which it told
 * nothing before since_ms, and took so long for it; several that are heard of
 * together took that time in all: 0 for all but the first.  Where the time to
 * answer is what limits, more sessions than PACE_NEAR are tried, and kept if
 * they bring more. */
void pace_worked(struct thread *thread, int64_t since_ms, int64_t took_ms,
    int64_t now_ms);
/* It had too many sessions: halve them.  False: that was said before. */
bool pace_less(struct thread *thread, int64_t begun_ms, int64_t now_ms);
/* It was too fast. */
void pace_slow(struct thread *thread, int64_t begun_ms, int64_t now_ms);
/* An attempt was not served: is the host down?  Not if others were served
 * lately, unless a whole cohort failed. */
bool pace_is_down(struct thread *thread, int64_t begun_ms, int64_t now_ms);
/* It is down: one session until it serves somebody. */
void pace_down(struct thread *thread, int64_t now_ms);

#endif
