/* base64.h - base64, strictly
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_BASE64_H
#define ZM_GRAMMAR_BASE64_H

#include "base/err.h"
#include "base/str.h"

/* Append bytes as base64, padded, on one line.  RFC 4648 section 4. */
void base64_add(struct str *out, struct slice bytes);
/* The same in lines of a header field: 72 letters, and a tab before all but
 * the first.  No end of a line is written after the last. */
void base64_add_folded(struct str *out, struct slice bytes);

/* Append the bytes that text encodes.  Only what base64_add writes is accepted:
 * no blanks or line ends, complete padding, no bits left over (so there is one
 * way to write each value).  RFC 4648 sections 3.2, 3.3, 3.5.
 * returns 0; -1 with err, and out is unchanged. */
int base64_decode(struct slice text, struct str *out, struct err *err);

#endif
