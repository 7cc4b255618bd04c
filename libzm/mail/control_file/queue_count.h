/* queue_count.h - how many messages wait, counted in the control files
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_QUEUE_COUNT_H
#define ZM_MAIL_QUEUE_COUNT_H

#include "mail/control_file/control_file.h"

enum queue_state {
	QUEUE_READY, QUEUE_WAITING, QUEUE_HELD, QUEUE_FROZEN, QUEUE_FAILED,
	QUEUE_DELETED, QUEUE_DONE, QUEUE_STATES
};
extern const char *const queue_states[QUEUE_STATES];

struct queue_counts {
	uint64_t	messages[QUEUE_STATES];	/* with such a recipient */
	uint64_t	recipients[QUEUE_STATES];
	uint64_t	total, bytes;		/* messages */
	int64_t		oldest_s;		/* when accepted, wall; 0: no
						 * message */
};

/* Count by reading every control file below transport/, as of now_s (wall).
 * Files that cannot be read are left out.
 * returns 0; -1: a directory cannot be read. */
int queue_count(const struct spool *spool, int64_t now_s,
    struct queue_counts *out, struct err *err);

#endif
