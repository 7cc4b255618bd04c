/* rewrite.h - a draft whose text is changed before it is complete
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_REWRITE_H
#define ZM_MAIL_SPOOL_REWRITE_H

#include "mail/spool/spool.h"

/* As draft_settle, for who may change it then.  *out_text: all after the first
 * line, when that is still in memory (up to 64 KiB), valid until the draft is
 * touched; else .p is NULL.  0 or -1 (is_bad). */
int draft_settle_text(struct draft *draft, struct slice *out_text,
    struct err *err);
/* Put text in the place of that text, in the same file: still row S0, since
 * the first line does not say complete before all is written and its sum
 * counts.  No other name may be linked to the file.  0 or -1 (is_bad). */
int draft_rewrite(struct draft *draft, struct slice text, struct err *err);

#endif
