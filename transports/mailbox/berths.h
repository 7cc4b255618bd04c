/* berths.h - how many agents one user may keep waiting
 *
 * A user's program may take its time, and a user's mailbox may be locked for
 * ever.  All users share the agents, so a delivery that keeps one waiting needs
 * a berth, of which each user has few: mail without one is deferred, and that
 * of others goes on.
 *
 * A berth is a record lock in RUN/mailbox.berths, so that the kernel takes back
 * those of agents that died.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAILBOX_BERTHS_H
#define ZM_TRANSPORTS_MAILBOX_BERTHS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BERTHS_OF_ONE = 2,
	BERTH_LONG_MS = 5000,	/* who sits longer is not waited for */
	BERTH_SHORT_MS = 500	/* a wait that needs no berth */
};

/* Open RUN/mailbox.berths, or make it.  If that fails, everybody has a
 * berth. */
void berths_setup(const char *run_dir);

/* Who is responsible if we have to wait from now on: a uid, or for users who
 * share one a digest of the mailbox. */
void berth_for(uint32_t holder);

/* Take a berth, waiting for one that has not been held for long.  False: all
 * have been held for long. */
bool berth_take(void);

/* May we go on waiting since began_ms (clock_steady_ms)?  Takes a berth when
 * the wait gets long. */
bool berth_may_wait(int64_t began_ms);

/* Release the berth; harmless without one. */
void berth_leave(void);

/* Close the file. */
void berths_finish(void);

#endif
