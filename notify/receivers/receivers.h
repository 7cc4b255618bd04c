/* receivers.h - who is told of events: a process each, and how it stands
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_NOTIFY_RECEIVERS_H
#define ZM_NOTIFY_RECEIVERS_H

#include "daemon/skeleton.h"

enum { RECEIVERS_LEVEL_MS = 1000 };	/* metrics are told so often */

struct receivers;

/* Read their keys, open their roots, as whoever may: before rights are
 * dropped.  One whose key is not good stands as failing. */
struct receivers *receivers_new(struct process *process);
/* Begin.  mark_fd is mark_open's, log_fd the log directory's; both stay the
 * caller's. */
void receivers_start(struct receivers *receivers, int log_fd, int mark_fd);
/* End the processes; keys are wiped. */
void receivers_free(struct receivers **receivers);

/* Append a line for each (io/consult/notify_ask.h). */
void receivers_list(const struct receivers *receivers, struct str *out);

#endif
