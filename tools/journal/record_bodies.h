/* record_bodies.h - messages as they came, kept for replay: bounds, names
 *
 * SPOOL/record/DAY/ID (UTC): a second name of a message's file, made by
 * smtpserver (draft_keep of mail/spool/keep.h).  A day whose directory its
 * owner may not write is full.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_RECORD_BODIES_H
#define ZM_TOOLS_JOURNAL_RECORD_BODIES_H

#include "conf/conf.h"
#include "tools/journal/journal.h"

/* Make the directories of today and tomorrow, owned by the owner of
 * SPOOL/record, if messages are to be kept and SPOOL/record exists. */
void record_bodies_prepare(const struct conf *conf, int64_t now_ms);

/* Remove days that ended longer ago than `record for` says, and, if all
 * messages together are larger than `bodies` allows, the oldest days except
 * today; that is shut if it alone is too large (event record.full), and opened
 * when it no longer is.  If none are to be kept, all are removed.  At most
 * RECORD_BODIES_ROUND_MAX files are removed in one call.  Ends with
 * record_bodies_prepare.  now_ms: since 1970.  returns how many were removed */
enum { RECORD_BODIES_ROUND_MAX = 20000 };
unsigned record_bodies_keep(const struct conf *conf, int64_t now_ms);

/* Append the path of the message id, if it is kept, under the day of at_ms, or
 * the day before or after.  returns whether it is */
bool record_body_find(const char *spool_dir, struct slice id, int64_t at_ms,
    struct str *out_path);

#endif
