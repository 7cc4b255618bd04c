/* bounce.h - the text of a report about deliveries
 *
 * Pure: a parsed control file and choices in, a message out.  RFC 3464
 * (form), RFC 3461 (what a sender may ask for), RFC 6522 (multipart/report),
 * RFC 3834 (marked as automatic).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_BOUNCE_H
#define ZM_SCHEDULER_BOUNCE_H

#include "mail/form.h"
#include "mail/control_file/control_file.h"

struct bounce_rcpt {
	const struct control_rcpt	*rcpt;	/* rcpt->last is its outcome */
	int64_t			 until_s;	/* delayed: wall time when it
						 * will be given up */
};

struct bounce {
	const struct control_file *control;
	const struct control_group *group;	/* whose header is returned */
	struct slice	 errors_to;	/* whom it is sent to */
	const char	*host;		/* our name */
	const char	*id;		/* of the report itself */
	const char	*nonce;		/* letters, digits: for the boundary */
	int64_t		 now_s, arrival_s;
	const struct bounce_rcpt *rcpts;
	size_t		 rcpt_count;
	const struct report_form *const *forms;	/* one language after the
						 * other; count 0: English */
	size_t		 form_count;
	bool		 has_body;	/* return it, else headers only */
	struct slice	 body;		/* text after the header */
};

enum bounce_kind { BOUNCE_FAILED, BOUNCE_DELAYED, BOUNCE_DELIVERED };

/* The most serious outcome among the recipients. */
enum bounce_kind bounce_kind(const struct bounce *bounce);
const char *bounce_kind_name(enum bounce_kind kind);
	/* "failed" "delayed" "delivered" */

/* The value of a recipient's Status field (RFC 3464 section 2.3.4). */
const char *bounce_status(const struct bounce *bounce,
    const struct bounce_rcpt *rcpt);

/* Must the report return the whole message?  Only for a failure, unless
 * RET=HDRS is given, the message is larger than limit_bytes or binary (a report
 * is text). */
bool bounce_returns_body(const struct control_file *control,
    enum bounce_kind kind,
    uint64_t limit_bytes);

/* Is the report sent with SMTPUTF8 and parts of RFC 6533?  If addresses or
 * header fields are not ASCII, and the original came with SMTPUTF8. */
bool bounce_is_global(const struct bounce *bounce);

/* Does the report have bytes over 127, and so need 8BITMIME? */
bool bounce_is_8bit(const struct bounce *bounce);

/* Append header, blank line and all parts; lines end in LF. */
void bounce_text(const struct bounce *bounce, struct str *out);

#endif
