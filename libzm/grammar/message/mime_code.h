/* mime_code.h - quoted-printable and base64 in lines, piece by piece
 *
 * RFC 2045 sections 6.7 and 6.8.  Output has LF line ends and lines of at
 * most 76 characters.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_MIME_CODE_H
#define ZM_GRAMMAR_MIME_CODE_H

#include "base/str.h"

enum { MIME_LINE_BYTES = 76 };

struct mime_quoter {
	unsigned	column;
	unsigned char	blank;		/* held: quoted if the line ends here */
};

/* Append text (LF ends a line) as quoted-printable. */
void mime_quote(struct mime_quoter *quoter, struct slice text,
    struct str *out);
/* Nothing follows: append what was held, without a line end. */
void mime_quote_end(struct mime_quoter *quoter, struct str *out);

/* Append text that is quoted-printable already except for bytes over 127, with
 * those quoted. */
void mime_escape(struct mime_quoter *quoter, struct slice text,
    struct str *out);

struct mime_sixer {
	unsigned char	held[3];
	unsigned	held_count;
	unsigned	column;
};

/* Append bytes as base64. */
void mime_six(struct mime_sixer *sixer, struct slice bytes, struct str *out);
/* Nothing follows: append the rest, padded, without a line end. */
void mime_six_end(struct mime_sixer *sixer, struct str *out);

/* Append words as encoded-words (RFC 2047 section 2) of at most 75
 * characters, each on a line of its own.  is_utf8 decides the charset named. */
void mime_word_add(struct str *out, struct slice words, bool is_utf8);

/* Is every byte ASCII?  Is all of it UTF-8? */
bool mime_is_ascii(struct slice text);
bool mime_is_utf8(struct slice text);

#endif
