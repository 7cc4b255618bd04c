/* handin.h - a message that an agent gives to the spool
 *
 * Forwarded, rerouted or answered mail enters as a local submission does:
 * a draft in public/, durable, renamed to router/, or left in public/ for
 * the router to copy in where the present user may not do that (rows
 * S0-S2, S4 of doc/INTERNALS.md).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_HANDIN_H
#define ZM_TRANSPORTS_HANDIN_H

#include "conf/conf.h"
#include "mail/envelope.h"
#include "mail/control_file/control_file.h"

struct handin {
	const char	*user;		/* who hands it in; NULL: nobody */
	const char	*with;		/* how it came: "forward" */
	struct slice	 sender;	/* empty: the null sender */
	struct slice	 trace;		/* whole lines in front: Delivered-To */
	struct slice	 header;	/* without the blank line */
	struct slice	 text;		/* body, when body_fd is -1 */
	int		 body_fd;	/* body from body_offset on */
	uint64_t	 body_offset;
	enum dsn_ret	 ret;
	struct slice	 envid, bodytype;
	struct terms	 terms;
	const struct envelope_rcpt *rcpts;
	size_t		 rcpt_count;
};

/* Fill in what the new message has from a job's message: sender, header, body,
 * what the sender asked for. */
void handin_of_job(const struct control_job *job, int body_fd,
    struct handin *out);

/* Hand it in, durable, as the present user (account_become).  out_id: its spool
 * id.  returns 0; -1: nothing was handed in (errno kept). */
int handin_submit(const struct conf *conf, const struct handin *what,
    char out_id[SPOOL_ID_BYTES], struct err *err);

#endif
