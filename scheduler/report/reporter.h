/* reporter.h - reports are written, made durable, marked and sent
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_REPORTER_H
#define ZM_SCHEDULER_REPORTER_H

#include "mail/control_file/control_file.h"
#include "scheduler/outcome/outcome.h"
#include "scheduler/report/formset.h"

enum {
	REPORT_TURN_JOBS = 64,		/* written together: one sync */
	REPORT_RCPTS_MAX = 4000,	/* one report is about: 10 ms */
	REPORT_TROUBLE_MS = 10000	/* after a full disk and the like */
};

struct report_batch;

struct reporter {
	struct queue	*queue;
	struct outcome	*outcome;
	struct report_batch *batch;	/* its sync is under way; or NULL */
	struct source_kept *kept;	/* source.h; NULL: no large file is */
	int64_t		 not_before_ms;	/* after trouble */
	struct formset	 forms;
};

/* Write the queued reports (at most REPORT_TURN_JOBS jobs, which are sent when
 * a thread has made them durable; then the next ones are written).  Returns the
 * moment to call it again; INT64_MAX: only in a turn that something else
 * begins, or nothing is queued. */
int64_t reporter_turn_end(struct reporter *reporter);

/* The job's report failed for now: it comes again after a while. */
void reporter_trouble(struct reporter *reporter, struct job *job,
    const char *call, const struct err *err);

/* Wait for the running sync, before the scheduler ends. */
void reporter_finish(struct reporter *reporter);

#endif
