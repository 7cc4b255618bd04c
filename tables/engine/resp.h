/* resp.h - what Redis is asked, and what it answers
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ENGINE_RESP_H
#define ZM_TABLES_ENGINE_RESP_H

#include "base/str.h"

enum { RESP_BYTES_MAX = 65536 };	/* of an answer */

enum resp_answer {
	RESP_BAD = -1,		/* it is none, too long, or of another type */
	RESP_MORE = 0,		/* bytes are missing */
	RESP_VALUE = 1,		/* text is it: a bulk or simple string */
	RESP_NIL = 2,		/* there is no such key */
	RESP_ERROR = 3		/* text is what it says */
};

/* The first answer in bytes.  *out_text is borrowed; *out_used: what it took
 * of bytes. */
enum resp_answer resp_read(struct slice bytes, struct slice *out_text,
    size_t *out_used);

/* Append a command of so many words. */
void resp_add_command(struct str *out, const struct slice *words,
    size_t count);

#endif
