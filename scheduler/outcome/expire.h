/* expire.h - recipients that have expired get their last outcome
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_EXPIRE_H
#define ZM_SCHEDULER_EXPIRE_H

#include "mail/control_file/control_file.h"
#include "scheduler/outcome/outcome.h"

/* Append a `failed` record for every recipient of the job's expired
 * vertices that is not final; control was just read.
 * *wrote is set if there was any: read the file again.  0; -1 (err): the
 * vertices stay expired. */
int expire_write(struct outcome *outcome, struct job *job,
    const struct control_file *control, bool *wrote, struct err *err);

/* The same in pieces: from a zeroed walk on, about most recipients at a time,
 * until it is over. */
struct expire_walk {
	size_t	resent, next;	/* vertices */
	bool	is_over;
};
int expire_some(struct outcome *outcome, struct job *job,
    const struct control_file *control, struct expire_walk *walk,
    size_t most, bool *wrote, struct err *err);

/* The final verdict of such a recipient: our words, then the peer's last
 * ones. */
void expire_verdict(const struct control_rcpt *rcpt, int64_t age_s,
    struct verdict *out);

#endif
