/* zone.h - what a sending zone may send today
 *
 * The configuration says which zone a message takes (conf_zone_for); each zone
 * has threads and rings of its own.  This is the warm-up: a number of
 * recipients a day and provider, then the zone that overflow names, or the next
 * day.  The counts of the day survive a restart in RUN/scheduler.shape
 * (shape.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ZONE_H
#define ZM_SCHEDULER_ZONE_H

#include "scheduler/plan/shaping/allowance.h"

enum { WARMS_MAX = 50000 };	/* counts that are kept */

struct warm;
struct warm_table {
	struct warm	**buckets;	/* NULL or a power of two */
	size_t		 size, count;
	int64_t		 day;		/* since 1970, UTC, of the counts */
	struct allowance_table shared;	/* of zones whose warm-up is of all
					 * nodes together: they have no count
					 * here */
};

/* Free all counts. */
void warm_release(struct warm_table *table);

/* How many recipients a thread's zone may serve at its provider at now_s;
 * UINT64_MAX: any number.  Pure except that it drops yesterday's counts. */
uint64_t warm_left(struct warm_table *table, const struct conf_zone *zone,
    const struct thread *thread, int64_t now_s);
/* rcpts recipients were given to agents. */
void warm_add(struct warm_table *table, const struct thread *thread,
    unsigned rcpts, int64_t now_s);
/* Seconds until the next day begins, UTC. */
int64_t warm_until_s(int64_t now_s);

/* Lines "%warm TAB ZONE TAB KEY TAB DAY TAB COUNT"; and back. */
void warm_add_lines(const struct warm_table *table, struct str *out);
void warm_read(struct warm_table *table, struct slice text, int64_t now_s);

#endif
