/* area.h - how much is in a directory of the spool, and how old it is
 *
 * For `zmailer metrics` and `zmailer watch`.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_AREA_H
#define ZM_TOOLS_QUEUE_AREA_H

#include "base/fd.h"
#include "mail/spool/spool.h"

struct area {
	const struct spool	*spool;
	enum spool_area		 area;
	unsigned		 priority;	/* of router/ */
	int64_t			 now_s;
	uint64_t		 count, copies, bytes;
	int64_t			 oldest_s;	/* age; 0: none */
	bool			 has_ages;	/* each is wanted */
	int64_t			*ages_s;	/* the caller's to free */
	size_t			 age_room;
};

/* The age of a file, by its mtime: mail keeps the time of its submission (mtime
 * is never changed), what waits for a person the time when it was put there.  A
 * file that somebody put in by hand may have any mtime, so it counts as no
 * older than its inode, where the file system knows when that was made.  Never
 * negative. */
int64_t area_age_s(int64_t now_s, const struct statx *st);

/* Add the messages of the area, not plans and control files, to the counts.
 * The caller sets the first fields.  0; -1: it cannot be read. */
int area_count(struct area *area, struct err *err);

#endif
