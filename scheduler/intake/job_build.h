/* job_build.h - a parsed control file becomes a job and joins the plan
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_JOB_BUILD_H
#define ZM_SCHEDULER_JOB_BUILD_H

#include "mail/control_file/control_file.h"
#include "scheduler/state.h"

/* Is a report about this outcome owed?  RFC 3461 section 5.2: what another
 * host took over with its DSN parameters (relayed) is that host's to tell.
 * deferred: whether a notice of delay may be sent. */
bool job_owes(unsigned notify, enum verdict_kind kind);
/* NOTIFY of a recipient with what DELIVERBY asks besides: mode N a notice of
 * delay, T a report when another host took it (NOTIFY_TRACE). */
enum { NOTIFY_TRACE = 0x40 };
unsigned rcpt_notify(const struct control_file *control,
    const struct control_rcpt *rcpt);

/* Is a report about this final recipient owed, and not yet told? */
bool rcpt_owes(const struct control_file *control,
    const struct control_rcpt *rcpt);

/* Notices of delay whose time has come at that age: the clause's, and
 * DELIVERBY's. */
unsigned job_notices_due(const struct job *job,
    const struct conf_schedule *clause, int64_t age_ms);

/* One block out of the recipients that are not final: vertices of one
 * group, channel and host, at most VERTEX_RCPTS_MAX each.  Not yet in table
 * or plan.  scratch is for the sorting. */
struct job *job_build(struct scheduler *scheduler,
    const struct control_file *control,
    struct arena *scratch);

/* Put every vertex where its records say: ready, or waiting.  A job that
 * has nothing left goes on to report or finish. */
void job_plan(struct scheduler *scheduler, struct job *job);

/* Let a vertex wait until due_ms, or until it is owed a notice of delay if
 * that is earlier. */
void job_wait(struct scheduler *scheduler, struct vertex *vertex,
    int64_t due_ms);

#endif
