/* retry.h - when a recipient is tried again, and when it is given up
 *
 * Pure: moments, spans and randomness are arguments.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_RETRY_H
#define ZM_SCHEDULER_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"

enum {
	RETRY_EXPLICIT_MIN_S = 5,	/* an agent's "+seconds" is kept */
	RETRY_EXPLICIT_MAX_S = 86400	/* within these bounds */
};

struct retry_waits {
	const int64_t	*wait_s;
	size_t		 count;		/* the last one repeats */
	unsigned	 jitter_percent;	/* more or less, by random */
};

/* The clause's own list. */
static inline struct retry_waits
retry_waits_of(const struct conf_schedule *clause)
{
	return (struct retry_waits){ clause->retry_s, clause->retry_count,
		clause->jitter_percent };
}

/* The span from attempt number `tries` (from 1) to the next one: the list's
 * entry, the last one repeating, its jitter more or less by random (any 32
 * bits).  Milliseconds, at least 1000. */
int64_t retry_delay_ms(struct retry_waits waits, unsigned tries,
    uint32_t random);

/* The longest span that retry_delay_ms can give for this list. */
int64_t retry_delay_max_ms(struct retry_waits waits);

/* The span that an agent asks for, within its bounds, in ms. */
int64_t retry_explicit_ms(int64_t wish_s);

/* What is left, in milliseconds from now_s on, until a retry that the
 * control file plans: next_s, else last_try_s and the list.  Never over the
 * list's longest span, so that a clock that jumped cannot hide mail; where it
 * went back since the last try, the span that was planned then; 0: now. */
int64_t retry_left_ms(struct retry_waits waits, unsigned tries,
    int64_t last_try_s, int64_t next_s, int64_t now_s, uint32_t random);

/* Has the list ended, with stop? */
bool retry_is_exhausted(const struct conf_schedule *clause, unsigned tries);

/* Is a recipient too old that was never tried (or not since this process began,
 * here_ms ago)?  By expire and expire-untried. */
bool retry_is_untried_over(int64_t age_ms, int64_t expire_s,
    int64_t untried_s, int64_t here_ms);

/* How many of the clause's notices of delay are due at this age. */
unsigned retry_warns_due(const struct conf_schedule *clause, int64_t age_ms);

/* Is a recipient to be given up?  If it was tried at least once, also by this
 * process (so that a long stop or a wrong clock at the start gives nothing up),
 * and is older than expire_s. */
bool retry_is_over(int64_t age_ms, int64_t expire_s, unsigned tries,
    bool was_tried_here);

#endif
