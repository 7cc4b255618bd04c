/* report.h - reports are written, made durable, marked and sent
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_REPORT_H
#define ZM_SCHEDULER_REPORT_H

#include "mail/control_file/control_file.h"
#include "scheduler/state.h"

enum {
	REPORT_TURN_JOBS = 64,		/* written together: one sync */
	REPORT_OWING_MS = 300000,	/* a failure waits so long for others */
	REPORT_TROUBLE_MS = 10000	/* after a full disk and the like */
};

/* Something of this job is to be looked at at the end of the turn: outcomes
 * to report, a notice of delay, expired recipients. */
void report_add(struct scheduler *scheduler, struct job *job);

/* It owes a report, but others of it may still fail soon: wait a while. */
void report_owing(struct scheduler *scheduler, struct job *job);

/* Once a minute: who owes for too long reports now. */
void report_tick(struct scheduler *scheduler);

/* Write what is queued (at most REPORT_TURN_JOBS jobs).  Returns when to
 * call again: a moment, INT64_MAX when nothing is queued. */
int64_t report_turn_end(struct scheduler *scheduler);

/* Both descriptors of the job, if they are not open.  1; 0 its files are
 * gone or cannot be opened now. */
int report_open(struct scheduler *scheduler, struct job *job,
    struct err *err);
/* Open (if it is not) and read the job's control file into the intake's
 * arena, valid until the next read.  returns 1; 0 it is gone or cannot be
 * read now; -1 damaged. */
int report_read(struct scheduler *scheduler, struct job *job,
    struct control_file *control, struct err *err);

/* The recipient with this offset, or NULL. */
const struct control_rcpt *report_rcpt(const struct control_file *control,
    uint32_t offset);

#endif
