/* turns.h - how long the scheduler is busy at a time, and how much it has read
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_TURNS_H
#define ZM_TOOLS_QUEUE_TURNS_H

#include "base/str.h"

/* Ask a running scheduler.  *out_last is the last line of its answer (turns of
 * doc/protocol/control.md).  False: it does not run, or does not answer. */
bool turns_ask(const char *run_dir, struct str *out_last);

/* If it still reads the messages that waited at its start: append "N of M
 * messages read" and what that means.  False: it has read all, or does not
 * answer. */
bool turns_add_unread(struct str *out, const char *run_dir);

/* The same, as a line on standard error that begins with the verb. */
void turns_note_unread(const char *verb, const char *run_dir);

/* The same, and a line if the cluster's lease is missing: then nothing is
 * delivered, whatever the states say. */
void turns_note(const char *verb, const char *run_dir);

/* The answer as a histogram and a gauge of OpenMetrics. */
void turns_add_metrics(struct str *out, struct slice last);

#endif
