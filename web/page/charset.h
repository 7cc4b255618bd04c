/* charset.h - text of a charset as UTF-8
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_CHARSET_H
#define ZM_WEB_CHARSET_H

#include "base/str.h"

/* Open what text may have to be converted from: at the first use, or before
 * this process gives up the right to open files. */
void charset_prepare(void);

/* Append text, whose charset a message names ("" or one that is not known:
 * as it stands), as UTF-8.  Bytes that are none of that charset become "?". */
void charset_add(struct str *out, struct slice text, const char *charset);

#endif
