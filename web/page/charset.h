/* charset.h - text of a charset as UTF-8
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_CHARSET_H
#define ZM_WEB_CHARSET_H

#include "base/str.h"

/* Open the converters; to be called before this process gives up the right to
 * open files, otherwise the first use does it. */
void charset_prepare(void);

/* Append text as UTF-8.  charset is what a message names; "" or an unknown one:
 * text is not converted.  Bytes that are not of that charset become "?". */
void charset_add(struct str *out, struct slice text, const char *charset);

#endif
