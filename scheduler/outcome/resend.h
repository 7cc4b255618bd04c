/* resend.h - some recipients of a message become a new message
 *
 * The same text and envelope, for the router to route as the configuration
 * is then.  Row D9 of doc/INTERNALS.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_RESEND_H
#define ZM_SCHEDULER_RESEND_H

#include "mail/control_file/control_file.h"
#include "scheduler/jobs/job.h"

/* The recipients: open, and at no agent; those of a group together. */
struct resend {
	const struct control_rcpt **rcpts;
	const struct control_group **groups;	/* of each */
	size_t		 count;
	bool		 is_exhausted;	/* the new ones remember it: once is
					 * enough */
	/* Somebody chose the way, and the new ones remember how often; else
	 * they go by the routes, whatever was chosen before. */
	bool		 is_steered;
	struct slice	 via, via_words;	/* as in mail/terms.h */
};

/* Make room for count recipients; resend_release frees it. */
void resend_init(struct resend *resend, size_t count);
void resend_release(struct resend *resend);

/* Is this user an address that can be routed, not a program or a file? */
bool resend_is_address(struct slice user);

/* Called for each new message, with the number of its recipients and its id. */
typedef void resend_fn(void *context, const struct job *job, size_t count,
    const char *id);

/* Make a message for each sender, send it, and make those recipients final
 * in the job's control file (`relayed`; not synced).  The job's files are
 * open.  returns 0; -1: recipients after the last call of done are
 * unchanged. */
int resend(struct spool *spool, struct job *job,
    const struct resend *resend, resend_fn *done, void *context,
    struct err *err);

#endif
