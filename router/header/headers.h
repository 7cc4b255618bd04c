/* headers.h - the header of a message on its way through
 *
 * Pure.  Fields keep their bytes; some are left out, some are added.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_HEADERS_H
#define ZM_ROUTER_HEADERS_H

#include "conf/conf.h"
#include "mail/envelope.h"
#include "router/header/check.h"

struct header_list {		/* a field that holds recipients */
	struct slice		 value;
	struct header_list	*next;
};

struct headers {
	size_t		 body_offset;	/* in the file */
	bool		 is_broken;	/* has a line that is no field */
	bool		 is_too_large;	/* ended by the limit */
	unsigned	 received;	/* Received fields */
	struct slice	 msgid;		/* with < >; empty: none */
	bool		 has_date, has_from, has_msgid;
	int		 precedence;	/* Precedence: 0, or below */
	unsigned	 tls_fields;	/* TLS-Required fields */
	bool		 is_tls_optional; /* one alone, and it says No */
	struct header_wrongs wrongs;	/* empty with header-check off */
	struct header_list *to, **to_end;	/* To Cc Bcc */
	struct header_list *resent_to, **resent_to_end;
};

/* Read the header in file at envelope->header_offset; append to *out what is
 * sent on: Received, the kept fields, the added ones.  The to lists are made
 * only if envelope->header_rcpts.  A relay must not change a header (RFC 5321
 * section 3.6.3): a line that is no field stays where it was and the header
 * goes on after it, so that the bytes after the first blank line are the same
 * at both ends.  There are two exceptions: a leading From_ line is left out,
 * and text that does not begin with a field is a body.  With header-repair,
 * what is wrong in our own mail is made harmless or made anew, unless the mail
 * is signed. */
void headers_pass(struct arena *arena, struct slice file,
    const struct envelope *envelope, const struct conf *conf,
    struct headers *headers, struct str *out);

/* Append the trace field for this message (RFC 5321 section 4.4):
 * 	Received: from client ([192.0.2.1]:1234 helo=x)
 * 		by mx.example.org (zmailer) with ESMTP id 01jd3x8k2mc4n7
 * 		for <bob@example.org>; Fri, 20 Nov 2026 21:04:00 +0000
 * No byte from the client can end a comment, a line or the field. */
void received_add(struct str *out, const struct envelope *envelope,
    const char *host);

#endif
