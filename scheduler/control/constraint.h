/* constraint.h - what keeps a recipient from being tried now
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_CONSTRAINT_H
#define ZM_SCHEDULER_CONSTRAINT_H

#include "mail/cause.h"
#include "scheduler/control/visit.h"

struct constraint {
	enum cause	 cause;
	int64_t		 since_s, until_s;	/* wall; 0: not known */
	struct slice	 by, reason;	/* who said so; in the file's or
					 * the scheduler's memory */
	unsigned	 limit, used;	/* limit 0: not of this cause */
};

/* The constraint that keeps a recipient of the open message that is not final,
 * or was deleted: the first that applies, of orders about the recipient, its
 * own moment, orders about its destination, then limits. */
void constraint_find(const struct control_visit *visit,
    const struct control_rcpt *rcpt, struct constraint *out);

/* The same for a vertex, from memory alone: it is not checked whether its
 * sender wants it queued only. */
void constraint_of_vertex(const struct agents *agents,
    const struct vertex *vertex, struct constraint *out);

/* When it is tried next, wall; 0: now, or not known.  vertex may be NULL. */
int64_t constraint_next_s(const struct vertex *vertex);

#endif
