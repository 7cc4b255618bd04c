/* words.h - moments in words
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_WORDS_H
#define ZM_TOOLS_QUEUE_WORDS_H

#include "base/str.h"

/* "41m", "3h12m", "2d4h": the two largest units; "now" below a second. */
void words_add_span(struct str *out, int64_t span_s);
/* "in 14m", "3h ago", "now". */
void words_add_moment(struct str *out, int64_t at_s, int64_t now_s);

#endif
