/* berths.h - how many agents one user may keep waiting
 *
 * A user's program may take its time, and a user's mailbox may be locked for
 * ever.  The agents are shared by all users, so whoever keeps one waiting
 * must have a berth, of which a user has few: mail for which there is none is
 * deferred, and that of others goes on.
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

/* Open RUN/mailbox.berths, or make it.  Where that cannot be, everybody has a
 * berth. */
void berths_setup(const char *run_dir);

/* Whose doing it is, if we have to wait from now on: a uid, or for those who
 * share one a digest of the mailbox. */
void berth_for(uint32_t holder);

/* Take a berth; one that was not held for long is waited for.  False: all of
 * them were, or became so. */
bool berth_take(void);

/* May we go on waiting, which began at that moment (clock_steady_ms)?  It
 * takes a berth when the wait gets long. */
bool berth_may_wait(int64_t began_ms);

/* Give the berth back; harmless without one. */
void berth_leave(void);

/* Close the file. */
void berths_finish(void);

#endif
