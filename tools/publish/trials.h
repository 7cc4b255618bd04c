/* trials.h - what a canary counted while it had what then went back
 *
 * Those refusals and failures are no measure of what is usual there: the next
 * canary would be compared with the harm that the last one did.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_TRIALS_H
#define ZM_TOOLS_PUBLISH_TRIALS_H

#include "tools/publish/steps.h"

/* The counters of that node, without its trials that went back. */
struct figures trials_leave_out(const struct publish *publish,
    const char *node, struct figures all);
/* One more of them went back: its figures, and the counters at its end. */
void trials_note(const struct publish *publish, const char *node,
    const struct figures *trial, const struct figures *end);

#endif
