/* local.h - mail of sendmail(1), shown to the milters that want to see it
 *
 * The router has it; our process connects to RUN/milter.sock and gets message
 * after message:
 *
 * 	to it		"show TOKEN" and a descriptor of the message file
 * 	from it		a JSON object a line:
 * 			token	as it was said
 * 			do	pass, refuse, discard, or wait (for a milter
 * 				that says 4yz or does not work)
 * 			file	pass: the changed message, a draft that is
 * 				written but not complete; none: as it was
 * 			freeze	pass: cause for the name in freezer/; or none
 * 			status, text	refuse, wait: why
 *
 * There is no client: milters get 127.0.0.1, localhost, a daemon named
 * sendmail, and no user.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_LOCAL_H
#define ZM_SMTPSERVER_MILTER_LOCAL_H

#include "daemon/skeleton.h"

struct local_mail;

/* Start the process.  NULL: no milter wants to see such mail.  child_fn is
 * called in it, with context. */
struct local_mail *local_mail_start(struct process *process,
    loop_fn *child_fn, void *context);
/* End it; its messages are passed to the next one.  Nulls *local. */
void local_mail_free(struct local_mail **local);

#endif
