/* mime.h - what the header of a message or of a part says about its body
 *
 * RFC 2045 sections 5 and 6; RFC 2046 section 5.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_MIME_H
#define ZM_GRAMMAR_MIME_H

#include "base/str.h"

enum { MIME_BOUNDARY_BYTES_MAX = 200 };	/* RFC 2046 section 5.1.1 allows 70 */

enum mime_encoding { MIME_7BIT, MIME_8BIT, MIME_BINARY, MIME_QUOTED,
	MIME_BASE64, MIME_OTHER };

enum mime_kind {
	MIME_TEXT,		/* text, and what has no type */
	MIME_MULTIPART,		/* with a boundary */
	MIME_MESSAGE,		/* message/rfc822 and the like: a header, then
				 * what it describes */
	MIME_DATA		/* everything else */
};

struct mime_head {
	enum mime_kind		kind;
	enum mime_encoding	encoding;
	bool			is_digest;	/* parts are messages */
	bool			is_opaque;	/* it has parts, or is a
						 * message, that cannot be
						 * read: it may not be encoded
						 */
	bool			is_sealed;	/* its parts are signed or
						 * encrypted as they stand
						 * (RFC 1847) */
	bool			has_version, has_type, has_encoding;
	char			boundary[MIME_BOUNDARY_BYTES_MAX + 1];
};

/* Read a header (LF line ends, without the blank line).  in_digest: a part
 * without a type is a message (RFC 2046 section 5.1.5). */
void mime_head_read(struct slice header, bool in_digest,
    struct mime_head *out);

/* Copy a parameter of Content-Type or Content-Disposition (name: "charset", in
 * any case) to out, which is unchanged when there is none or when it is too
 * long. */
void mime_parameter(struct slice value, const char *name, char *out,
    size_t size);

#endif
