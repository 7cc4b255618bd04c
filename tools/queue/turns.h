/* turns.h - how long the scheduler is busy at a time
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_TURNS_H
#define ZM_TOOLS_QUEUE_TURNS_H

#include "base/str.h"

/* Ask a running scheduler.  *out_last is the last line of its answer (turns
 * of doc/protocol/control.md).  False: it does not run, or says nothing. */
bool turns_ask(const char *run_dir, struct str *out_last);

/* The answer as a histogram and a gauge of OpenMetrics. */
void turns_add_metrics(struct str *out, struct slice last);

#endif
