/* warmups.c - warm-ups whose last day is over
 *
 * In     a conf that is right in itself; the wall clock
 * Out    a warning each: since then the zone may send any number
 * Holds  nothing
 * Spec   zmailer.conf(5), warm-up
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "daemon/machine/look.h"

#include "base/banned.h"

enum { WARM_DAY_S = 86400, WARM_DAY_BYTES = 10 };	/* "2026-11-21" */

void
machine_check_warm_ups(const struct machine_look *look)
{
	const struct conf *conf = look->conf;
	char day[CLOCK_TEXT_BYTES];

	for (size_t i = 0; i < conf->zone_count; i++) {
		const struct conf_zone *zone = &conf->zones[i];
		int64_t end_s = zone->warm_start_s +
		    (int64_t)zone->warm_count * WARM_DAY_S;

		if (zone->warm_count == 0 || clock_wall_s() < end_s)
			continue;
		clock_rfc3339((end_s - WARM_DAY_S) * 1000000, day);
		machine_tell(look, CONF_WARNING, zone->at, "leave warm-up out, "
		    "or name a day from which on it counts",
		    arena_printf(look->arena, "the last day of its warm-up "
		    "was %.*s: it may send any number since", WARM_DAY_BYTES,
		    day));
	}
}
