/* again.h - what was decided once, decided again under this configuration
 *
 * A line of the record (session/records/record.h) has all that a decision
 * depended on: it goes through the policy in the order of a session, connect,
 * HELO, MAIL, RCPT and the end of data, with the clock at that moment.  What
 * was asked then is answered as it was, by the DNS, by filters and by the next
 * hop; a counter or a greylist with other terms is counted anew, from the
 * first line on; what nobody knows is named.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_REHEARSE_AGAIN_H
#define ZM_SMTPSERVER_REHEARSE_AGAIN_H

#include "base/buckets.h"
#include "smtpserver/policy/greylist.h"
#include "smtpserver/rehearse/rehearsal.h"

enum again_text {
	AGAIN_STAGE, AGAIN_CLIENT, AGAIN_LISTENER, AGAIN_SESSION, AGAIN_NAME,
	AGAIN_HELO, AGAIN_USER, AGAIN_MECHANISM, AGAIN_FROM, AGAIN_TO,
	AGAIN_CERT, AGAIN_ISSUER, AGAIN_FINGERPRINT, AGAIN_FACTS,
	AGAIN_SPF, AGAIN_DKIM, AGAIN_DMARC, AGAIN_POLICY, AGAIN_SIGNERS,
	AGAIN_DKIM2, AGAIN_SEALER,
	AGAIN_SPF_AT, AGAIN_DKIM_AT, AGAIN_DMARC_AT, AGAIN_DKIM2_WHY,
	AGAIN_SAID, AGAIN_BY, AGAIN_STATUS, AGAIN_REPLY,
	AGAIN_TEXTS
};

struct again_row {
	struct str	texts[AGAIN_TEXTS];
	int64_t		at_ms;
	uint64_t	size_bytes, rcpts, messages, code;
	bool		is_submission, is_esmtp, is_encrypted, is_verified;
	bool		is_discarded;
	bool		has_content;		/* the message came */
	uint64_t	bytes, header_bytes, received, line_bytes, odd;
	bool		is_binary, is_headless;
};

/* An empty row. */
void again_row_init(struct again_row *row);
/* Read a line in place of what row has.  0; -1 with err: it is none. */
int again_parse(struct slice line, struct again_row *row, struct err *err);
void again_row_release(struct again_row *row);

struct again {			/* what lasts from line to line */
	struct rehearsal	 rehearsal;	/* its policy, conf and ask */
	struct buckets		*buckets;
	struct greylist		*greylist;
};

/* What is decided now: out as in rehearsal_run; *out_by as in
 * session/records/record.h, static.  REHEARSAL_NEED: its words say what was
 * asked of nobody then.  0; -1 with err: addresses that are none.  The outcome
 * is to be released, also then. */
int again_run(struct again *again, const struct again_row *row,
    struct rehearsal_outcome *out, const char **out_by, struct err *err);

#endif
