/* watchdog.c - tell the service manager that all of it moves
 *
 * In     WATCHDOG_USEC, how far each daemon is
 * Out    "WATCHDOG=1", as long as every daemon that is ready moves
 * Holds  one timer
 * Trusts the daemons' own word of their turns, and nothing else of them
 * Spec   sd_watchdog_enabled(3); journal/progress.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/progress.h"
#include "tools/run/supervisor.h"
#include "tools/run/watchdog.h"

#include "base/banned.h"

enum { WATCHDOG_MIN_MS = 2 * PROGRESS_STILL_MS };

static int64_t
watchdog_span_ms(void)
{
	const char *span = getenv("WATCHDOG_USEC");
	const char *meant = getenv("WATCHDOG_PID");
	uint64_t us, pid;

	if (span == NULL ||
	    !slice_number(slice_of(span), 1, INT32_MAX * UINT64_C(1000), &us) ||
	    (meant != NULL &&
		(!slice_number(slice_of(meant), 1, INT32_MAX, &pid) ||
		    (pid_t)pid != getpid())))
		return 0;
	return (int64_t)(us / 1000);
}

/* A daemon that starts again is the supervisor's own trouble; one of which
 * nothing is known never moved. */
static bool
watchdog_moves(struct watchdog *watchdog, const char **out_name)
{
	struct state_child child;
	struct progress one;

	for (size_t i = 0; i < watchdog->child_count; i++) {
		supervised_describe(&watchdog->children[i], &child);
		*out_name = watchdog->children[i].name;
		if (watchdog->children[i].state == SUPERVISED_READY &&
		    (!progress_find(watchdog->run_dir, *out_name, child.pid,
		    &one) || one.turn_ms >= watchdog->span_ms))
			return false;
	}
	return true;
}

static void
watchdog_look(void *context)
{
	struct watchdog *watchdog = context;
	const char *name;
	bool moves = watchdog_moves(watchdog, &name);

	if (moves)
		manager_tell("WATCHDOG=1");
	else if (watchdog->moved)
		warning("the %s stands still: the service manager is not told "
		    "that all is well", name);
	watchdog->moved = moves;
	timer_set(watchdog->loop, &watchdog->timer, clock_steady_ms() +
	    watchdog->span_ms / 3, watchdog_look, watchdog);
}

void
watchdog_start(struct watchdog *watchdog, const char *run_dir,
    const struct supervised *children, size_t child_count)
{
	watchdog->loop = children[0].loop;
	watchdog->children = children;
	watchdog->child_count = child_count;
	strlcpy(watchdog->run_dir, run_dir, sizeof(watchdog->run_dir));
	watchdog->span_ms = watchdog_span_ms();
	watchdog->moved = true;
	if (watchdog->span_ms > 0 && watchdog->span_ms < WATCHDOG_MIN_MS)
		warning("WatchdogSec= is less than 8 s: a daemon that waits "
		    "for its disk may be taken for one that stands still");
	if (watchdog->span_ms > 0)
		watchdog_look(watchdog);
}
