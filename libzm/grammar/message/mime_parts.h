/* mime_parts.h - the parts of a message, for people who want to read it
 *
 * RFC 2046 section 5.  Whatever comes there is an answer: what cannot be
 * understood is text as it stands.  Bounded: so many parts, so deep, so many
 * bytes of each.
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
	bool		is_text;	/* body is what it says; else empty */
	bool		is_cut;		/* there was more of it */
	struct slice	body;		/* decoded, in the arena */
	struct slice	coded;		/* body as it stands in the message */
	enum mime_encoding encoding;	/* how */
};

/* The leaves of a message (header, blank line, body; LF line ends, a CR
 * before is tolerated), in their order; of each text at most most bytes.
 * *out_is_more: there are others, or deeper ones.
 * returns how many, MIME_READ_PARTS_MAX at the most */
size_t mime_parts_read(struct slice message, struct arena *arena, size_t most,
    struct mime_part out[MIME_READ_PARTS_MAX], bool *out_is_more);

/* Append what quoted-printable, or base64, stands for, at most most bytes;
 * what is neither is left out (base64) or stays (quoted-printable).
 * returns false: there was more */
bool mime_unquote(struct slice text, size_t most, struct str *out);
bool mime_unsix(struct slice text, size_t most, struct str *out);

#endif
