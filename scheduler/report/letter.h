/* letter.h - one report: whom it is about, its text, its draft
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_LETTER_H
#define ZM_SCHEDULER_LETTER_H

#include "scheduler/report/bounce.h"
#include "scheduler/report/report.h"

struct letter {
	struct job		*job;
	struct draft		 draft;
	struct control_record	*records;	/* to be appended: marks */
	size_t			 count;
	char			*to;
	enum bounce_kind	 kind;
	char			 status[12];	/* of the first recipient */
	bool			 has_more;	/* others are to be told, too */
};

/* Choose the recipients whose outcome is owed and not yet reported (and, if
 * the job has JOB_NOTICE, those whose delay is) into bounce, out of
 * bounce->control.  One letter goes to one address: recipients of groups whose
 * reports go elsewhere are left, *out_more tells that there are some.
 * Returns how many; the array is in the intake's arena. */
size_t letter_choose(struct reporter *reporter, const struct job *job,
    struct bounce *bounce, bool *out_more);

/* Can a report be sent there at all? */
bool letter_address_is_good(struct slice address);

/* Write the draft dsn-<id>-<k> (row S3), unsynced, and the marks that have
 * to follow its sync.  0; -1 with err: nothing is left behind. */
int letter_write(struct reporter *reporter, struct job *job,
    struct bounce *bounce, struct letter *out, struct err *err);

/* Free what is not the draft. */
void letter_release(struct letter *letter);

#endif
