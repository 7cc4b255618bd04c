/* job_build.h - a parsed control file becomes a job and joins the plan
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_JOB_BUILD_H
#define ZM_SCHEDULER_JOB_BUILD_H

#include "mail/control_file/control_file.h"
#include "scheduler/intake/intake.h"

/* One block out of the recipients that are not final: vertices of one
 * group, channel and host, at most VERTEX_RCPTS_MAX each.  Not yet in table
 * or plan.  scratch is for the sorting.  *out_kept_s: for settle_keep. */
struct job *job_build(struct intake *intake,
    const struct control_file *control,
    struct arena *scratch, int64_t *out_kept_s);

#endif
