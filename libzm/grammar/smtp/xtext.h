/* xtext.h - the +HH encoding of RFC 3461 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_XTEXT_H
#define ZM_GRAMMAR_XTEXT_H

#include "base/err.h"
#include "base/str.h"

/* Append text, encoded. */
void xtext_encode(struct str *out, struct slice text);

/* Append the decoded text.  +00, +0D, +0A, bytes outside 33..126 and a bare
 * "=" are refused, because decoded text is written to files of lines.
 * returns 0; -1 with err: *out may have a part of it */
int xtext_decode(struct slice xtext, struct str *out, struct err *err);

#endif
