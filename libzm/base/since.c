/* since.c - how long ago something was whose moment a file tells
 *
 * In     the wall clock
 * Out    seconds
 * Holds  nothing
 * Trusts no moment that is to come
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/since.h"

#include "base/banned.h"

int64_t
since_s(int64_t then_s)
{
	int64_t past_s = clock_wall_s() - then_s;

	if (past_s < -SINCE_AHEAD_S)
		return SINCE_MAX_S;
	return past_s > 0 ? past_s : 0;
}
