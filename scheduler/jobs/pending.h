/* pending.h - outcomes that are owed to a sender, held until they are told
 *
 * An agent appends its record before it sends the verdict; but the disk may
 * refuse the record (full, broken).  The verdict is then all there is, and
 * it must not be forgotten before it is stored or told.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_PENDING_H
#define ZM_SCHEDULER_PENDING_H

#include "mail/control_file/window.h"
#include "scheduler/jobs/answer.h"
#include "scheduler/jobs/job.h"

/* Remember a final answer; tries includes this attempt. */
void pending_add(struct job *job, const struct answer *answer, unsigned tries);

/* Append what is not final in the file (control was just read).
 * *wrote is set when there was some: read the file again.  0; -1 trouble:
 * nothing is forgotten. */
int pending_write(struct job *job, const struct control_file *control,
    bool *wrote, struct err *err);

/* They are told, or the job ends. */
void pending_release(struct job *job);

/* The same apart from the job, for a thread that has its file: take them (NULL:
 * there are none), forget those that the file calls final, give the rest
 * back, which sets *pending to NULL; or free them. */
struct pending *pending_take(struct job *job);
void pending_sift(struct pending *pending, const struct control_file *control);
/* Of a file that is read in windows (window.h), this one's: forget those that
 * it calls final.  Returns how many of them are left. */
size_t pending_sift_some(struct pending *pending,
    const struct control_windows *windows, size_t index,
    const struct control_file *window);
/* Is there one of that window? */
bool pending_has_some(const struct pending *pending,
    const struct control_windows *windows, size_t index);
void pending_give(struct job *job, struct pending **pending);
void pending_free(struct pending **pending);

#endif
