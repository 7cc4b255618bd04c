/* names.h - the names of routed messages, which the scheduler waits for;
 * internal to tools/run
 *
 * The router looks at them beside its workers and says so; then the scheduler
 * may begin to read (doc/INTERNALS section 3).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_NAMES_H
#define ZM_TOOLS_RUN_NAMES_H

#include "tools/run/taking.h"

enum {
	NAMES_FEW_BYTES = 1 << 20,	/* of directories: some 40,000 names */
	NAMES_FEW_FOR_MS = 5000,
	NAMES_MANY_FOR_MS = 500
};

/* Does a start wait for them still?  Of a small queue the scheduler has heard
 * before anybody can ask it; many are not waited for.  late is called, with the
 * supervisor, when that has taken too long. */
bool names_are_awaited(struct supervisor *boss, loop_fn *late);

/* Tell the scheduler, if the router has said so. */
void names_hand_on(struct supervisor *boss);

/* Do both know?  Before, nothing is handed over to another program. */
bool names_are_known(const struct supervisor *boss);

#endif
