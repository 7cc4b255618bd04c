/* mail.h - a report to another domain as a message
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_MAIL_H
#define ZM_TOOLS_REPORT_MAIL_H

#include "base/err.h"
#include "conf/conf.h"
#include "grammar/rua.h"

enum report_mail_kind { REPORT_MAIL_TLS, REPORT_MAIL_DMARC };

struct report_mail {
	enum report_mail_kind kind;
	const char	*from;		/* an address with a domain */
	const struct rua_address *to;
	size_t		 to_count;
	const char	*domain;	/* that gets the report */
	const char	*submitter;	/* the sender: this host */
	const char	*id;		/* of the report: no blanks */
	const char	*day;
	int64_t		 begin_s, end_s;	/* since 1970 */
	int64_t		 now_s;
	const char	*text;		/* lines for people */
	struct slice	 data;		/* the report itself */
};

/* Append the message: multipart/report of RFC 8460 section 5.3, or
 * multipart/mixed as RFC 9990 section 3.5.2 wants it; the data compressed (RFC
 * 1952) and in base64; as it is in a build without zlib.
 * returns 0 or -1 */
int report_mail_add(struct str *out, const struct report_mail *mail,
    struct err *err);

/* Hand it to the queue of this host.
 * out_id  SPOOL_ID_BYTES
 * returns an exit status: EX_OK when it is on disk */
int report_mail_send(const struct conf *conf, const struct report_mail *mail,
    struct slice message, char *out_id);

#endif
