/* mime_parts.h - the parts of a message, for people who want to read it
 *
 * RFC 2046 section 5.  There is an answer to any input: what cannot be
 * understood is text as it stands.  The number of parts, their depth and the
 * bytes of each are bounded.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_MIME_PARTS_H
#define ZM_GRAMMAR_MIME_PARTS_H

#include "base/str.h"
#include "grammar/message/mime.h"

enum {
	MIME_READ_PARTS_MAX = 32,
	MIME_READ_DEPTH_MAX = 8,
	MIME_READ_WORD_BYTES = 64,
	MIME_READ_NAME_BYTES = 128
};

struct mime_part {
	char		type[MIME_READ_WORD_BYTES];	/* "text/html", in small
							 * letters */
	char		charset[MIME_READ_WORD_BYTES];	/* "" not said */
	char		name[MIME_READ_NAME_BYTES];	/* of a file; "" none */
	bool		is_text;	/* body has its text; else empty */
	bool		is_cut;		/* there was more of it */
	struct slice	body;		/* decoded, in the arena */
	struct slice	coded;		/* body as it stands in the message */
	enum mime_encoding encoding;	/* how */
};

/* Read the leaves of a message (header, blank line, body; LF line ends, a CR
 * before LF is tolerated) in their order, and at most `most` bytes of each
 * text.  *out_is_more: there are more leaves, or deeper ones.
 * returns how many, at most MIME_READ_PARTS_MAX */
size_t mime_parts_read(struct slice message, struct arena *arena, size_t most,
    struct mime_part out[MIME_READ_PARTS_MAX], bool *out_is_more);

/* Decode quoted-printable, or base64, and append at most `most` bytes.  What is
 * malformed stays as it is (quoted-printable) or is left out (base64).
 * returns false: there was more */
bool mime_unquote(struct slice text, size_t most, struct str *out);
bool mime_unsix(struct slice text, size_t most, struct str *out);

#endif
