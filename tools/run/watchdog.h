/* watchdog.h - tell the service manager that all daemons are alive
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_WATCHDOG_H
#define ZM_TOOLS_RUN_WATCHDOG_H

#include "tools/run/supervised.h"

struct watchdog {			/* watchdog.c's own */
	struct loop		*loop;
	char			 run_dir[4096];
	const struct supervised	*children;
	size_t			 child_count;
	int64_t			 span_ms;
	struct timer		 timer;
	bool			 moved;
};

/* If the service manager asks for it (WATCHDOG_USEC), send "WATCHDOG=1" three
 * times in its span, as long as every daemon that is ready has begun a turn of
 * its loop within the span.  The struct and the children must live as long as
 * their loop. */
void watchdog_start(struct watchdog *watchdog, const char *run_dir,
    const struct supervised *children, size_t child_count);

#endif
