/* report.h - one report: its recipients, its text, its draft
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_REPORT_H
#define ZM_SCHEDULER_REPORT_H

#include "scheduler/report/bounce.h"
#include "scheduler/report/source.h"

struct report {
	struct job		*job;
	struct draft		 draft;
	struct control_record	*records;	/* to be appended: marks */
	size_t			 count;
	char			*to;
	enum bounce_kind	 kind;
	char			 status[12];	/* of the first recipient */
	bool			 has_more;	/* others are to be told, too */
	uint16_t		 owed;		/* JOB_OWES, JOB_NOTICE: what
						 * it pays */
};

/* Of a part of a file, which is read on when it is used up: take out of it who
 * is not due at now_s. */
void report_sift(const struct reporter *reporter, const struct job *job,
    const struct control_file *control, struct report_list *list,
    int64_t now_s);

/* When the first recipient that `keep failed` keeps is to be reported (wall);
 * 0: none is kept. */
int64_t report_kept_until_s(const struct reporter *reporter,
    const struct report_list *list, int64_t now_s);

/* Choose the recipients whose outcome is owed, not yet reported and not kept at
 * bounce->now_s (and, if the job has JOB_NOTICE, those whose delay is) into
 * bounce, out of list, which is of bounce->control.  One report goes to one
 * address: recipients of groups whose reports go elsewhere are left out, and
 * those beyond REPORT_RCPTS_MAX; *out_more says whether there are any.  Returns
 * how many; the array is in the intake's arena. */
size_t report_choose_rcpts(struct reporter *reporter, const struct job *job,
    const struct report_list *list, struct bounce *bounce, bool *out_more);

/* Can a report be sent there at all? */
bool report_address_is_good(struct slice address);

/* Write the draft dsn-<id>-<k> (row S3), unsynced, and the marks that must
 * follow its sync.  0; -1 with err: the draft was removed. */
int report_write(struct reporter *reporter, struct job *job,
    struct bounce *bounce, struct report *out, struct err *err);

/* Fill in the marks of all recipients of the bounce. */
void report_mark(struct report *report, const struct bounce *bounce);

/* Free everything but the draft. */
void report_free_texts(struct report *report);

#endif
