/* resp.h - commands to Redis and its answers (RESP2)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_RESP_H
#define ZM_GRAMMAR_RESP_H

#include "base/str.h"

enum { RESP_BYTES_MAX = 60 * 1024 };	/* of an answer: fits into the input
					 * buffer of a stream */

enum resp_answer {
	RESP_BAD = -1,		/* not an answer, or too long */
	RESP_MORE = 0,		/* bytes are missing */
	RESP_VALUE = 1,		/* text is a bulk or simple string, or number */
	RESP_NIL = 2,		/* there is no such key */
	RESP_ERROR = 3,		/* text is what it says */
	RESP_ARRAY = 4		/* text is its items: answers, one by one */
};

/* Read the first answer in bytes.  *out_text is a slice of them; *out_used is
 * the answer's length. */
enum resp_answer resp_read(struct slice bytes, struct slice *out_text,
    size_t *out_used);

/* Append the head of a command of count words, or one of its words. */
void resp_add_head(struct str *out, size_t count);
void resp_add_word(struct str *out, struct slice word);
/* Append a whole command of count words. */
void resp_add_command(struct str *out, const struct slice *words,
    size_t count);

#endif
