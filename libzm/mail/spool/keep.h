/* keep.h - a message as it came, kept for the record (row K1)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_KEEP_H
#define ZM_MAIL_KEEP_H

#include <sys/stat.h>

#include "mail/spool/spool.h"

/* How many names a message file has in the spool: one, or two in row T1.  Its
 * name in the record (draft_keep) is not counted. */
uintmax_t spool_links(const struct stat *st);

/* DIR/record/DAY/ID: messages as they came (`record for SPAN bodies`), owned by
 * smtpserver's account.  It is not an area.  tools/journal/record_bodies.h
 * makes and removes the days. */
#define SPOOL_KEPT_DIR "record"
enum draft_kept {
	DRAFT_KEPT_TROUBLE = -1,	/* err; the draft is as it was */
	DRAFT_KEPT_NOT = 0,		/* the day has its limit already */
	DRAFT_KEPT = 1
};
/* Keep the file of a draft, complete or not, under a second name that stays
 * when the draft's is removed (row K1); day: "2026-11-20".  Nothing is copied
 * or synced. */
enum draft_kept draft_keep(struct draft *draft, const char *day,
    struct err *err);

#endif
