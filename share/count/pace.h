/* pace.h - how fast news are handed on
 *
 * Pure: time is an argument.  A bucket of PACE_BURST that refills with
 * PACE_A_SECOND; what is more than it has is owed, and the next look waits
 * until nothing is.  Who answers honestly has 200 news at most in an answer,
 * and 4,096 blocks; a Redis in wrong hands keeps nobody busy.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COUNT_PACE_H
#define ZM_SHARE_COUNT_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PACE_A_SECOND = 2000,
	PACE_BURST = 4096,
	PACE_OWED_MAX = 60 * PACE_A_SECOND,	/* more is forgiven */
	PACE_TELL_MS = 60000
};

struct news_pace {		/* all 0: nothing was taken yet */
	int64_t		spent;		/* of the bucket, and what is owed */
	int64_t		at_ms;		/* steady, of spent */
	int64_t		told_ms;	/* 0: never */
};

/* So many were handed on. */
void pace_take(struct news_pace *pace, uint64_t count, int64_t now_ms);
/* In how many milliseconds may the next look be?  0: now. */
int64_t pace_wait_ms(struct news_pace *pace, int64_t now_ms);
/* Is it time to tell of a wait?  Once a minute. */
bool pace_tells(struct news_pace *pace, int64_t now_ms);

#endif
