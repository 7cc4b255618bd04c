/* compose.h - fields and parts of a message from untrusted values
 *
 * Each function appends lines that end in LF.  Callers check values first
 * (compose_is_text): none has a control, so none can begin a line.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_COMPOSE_H
#define ZM_WEB_COMPOSE_H

#include "base/str.h"

enum { COMPOSE_BOUNDARY_BYTES = 40, COMPOSE_LINE_BYTES_MAX = 998 };

/* Can it be put into a field: is it UTF-8 without controls? */
bool compose_is_text(struct slice text);
/* May the member `headers` have this name?  RFC 5322 section 3.6.8; fields that
 * other members, we or the servers on the way write are refused. */
bool compose_may_name(struct slice name);
/* Is it a type and a subtype (RFC 2045 section 5.1) that base64 may carry? */
bool compose_is_type(struct slice type);

/* `name: words`, encoded (RFC 2047) if they are not short ASCII. */
void compose_field(struct str *out, const char *name, struct slice words);
/* `Ann <ann@a.test>`; name may be empty. */
void compose_mailbox(struct str *out, struct slice name,
    struct slice address);

struct compose_file {
	struct slice	name, type;
	struct slice	bytes;
};
struct compose_body {
	struct slice	text, html;	/* p NULL: none; LF or CR LF */
	const struct compose_file *files;
	size_t		file_count;
};

/* MIME-Version, Content-Type and what comes after the header: text, html or
 * both as alternatives, with the files after them (RFC 2046 section 5.1). */
void compose_body(struct str *out, const struct compose_body *body);

#endif
