/* pace.c - how fast news are handed on
 *
 * In     how many there were, and when
 * Out    how long the next look waits
 * Holds  nothing but the bucket
 * Spec   pace.h; doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "share/count/pace.h"

#include "base/banned.h"

/* The bucket refills. */
static void
pace_refill(struct news_pace *pace, int64_t now_ms)
{
	int64_t passed_ms = now_ms - pace->at_ms;

	if (passed_ms >= (PACE_OWED_MAX + PACE_BURST) * 1000LL /
	    PACE_A_SECOND)
		pace->spent = 0;
	else if (passed_ms > 0)
		pace->spent -= passed_ms * PACE_A_SECOND / 1000;
	if (pace->spent < 0)
		pace->spent = 0;
	pace->at_ms = now_ms;
}

void
pace_take(struct news_pace *pace, uint64_t count, int64_t now_ms)
{
	const int64_t most = PACE_BURST + PACE_OWED_MAX;

	pace_refill(pace, now_ms);
	pace->spent = count > (uint64_t)(most - pace->spent) ? most :
	    pace->spent + (int64_t)count;
}

int64_t
pace_wait_ms(struct news_pace *pace, int64_t now_ms)
{
	pace_refill(pace, now_ms);
	if (pace->spent <= PACE_BURST)
		return 0;
	return ((pace->spent - PACE_BURST) * 1000 + PACE_A_SECOND - 1) /
	    PACE_A_SECOND;
}

bool
pace_tells(struct news_pace *pace, int64_t now_ms)
{
	if (pace->told_ms != 0 && now_ms - pace->told_ms < PACE_TELL_MS)
		return false;
	pace->told_ms = now_ms;
	return true;
}
