/* netstring.h - "LENGTH:BYTES,", as socketmap servers answer
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ENGINE_NETSTRING_H
#define ZM_TABLES_ENGINE_NETSTRING_H

#include "base/str.h"

enum { NETSTRING_BYTES_MAX = 100000 };

enum netstring_answer {
	NETSTRING_BAD = -1,	/* it is none, or too long */
	NETSTRING_MORE = 0,	/* bytes are missing */
	NETSTRING_WHOLE = 1
};

/* The first one of bytes.  *out_text is borrowed; *out_used: what it took of
 * bytes. */
enum netstring_answer netstring_read(struct slice bytes,
    struct slice *out_text, size_t *out_used);

#endif
