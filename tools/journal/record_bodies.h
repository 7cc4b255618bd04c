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

/* Make the directories of today and tomorrow, of the owner of SPOOL/record,
 * when messages are to be kept and that is there. */
void record_bodies_prepare(const struct conf *conf, int64_t now_ms);

/* Remove days that are over for longer than `record for` says, and, when all
 * messages are larger than `bodies` allows, the oldest, but not today's, which
 * is shut when it alone is (event record.full) and opened when it is not any
 * more.  All go when none are to be kept.  At most RECORD_BODIES_ROUND_MAX
 * files go at once; the rest with the next call.  Then what record_bodies_
 * prepare does.  now_ms: since 1970.  returns how many files went */
enum { RECORD_BODIES_ROUND_MAX = 20000 };
unsigned record_bodies_keep(const struct conf *conf, int64_t now_ms);

/* The path of the message id, when it is kept: under the day of at_ms, or a
 * day before or after it.  returns whether there is one */
bool record_body_find(const char *spool_dir, struct slice id, int64_t at_ms,
    struct str *out_path);

#endif
