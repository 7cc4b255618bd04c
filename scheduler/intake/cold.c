/* cold.c - how many files are opened ahead after one that was not in memory
 *
 * In     what was found of each file
 * Out    how many of the next are opened ahead
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/intake/cold.h"

#include "base/banned.h"

void
cold_pass(struct cold *cold)
{
	if (cold->left > 0)
		cold->left--;
	else if (cold->since <= COLD_FILES_LEAST)
		cold->since++;
}

void
cold_wait(struct cold *cold)
{
	cold->span = cold->since > COLD_FILES_LEAST ? 0 : cold->span * 2;
	if (cold->span < COLD_FILES_LEAST)
		cold->span = COLD_FILES_LEAST;
	if (cold->span > COLD_FILES_MOST)
		cold->span = COLD_FILES_MOST;
	cold->left = cold->span;
	cold->since = 0;
}
