/* area.h - what lies in a directory of the spool: how much, how old
 *
 * For `zmailer metrics` and `zmailer watch`.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_AREA_H
#define ZM_TOOLS_QUEUE_AREA_H

#include <sys/stat.h>

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

/* By when a file was last written: mail keeps the time of its submission
 * (mtime is never touched), what waits for a person that of its being put
 * there.  A file that somebody put in by hand may say what it likes: it is
 * no older than its inode, where the file system knows when that was made.
 * Never negative. */
int64_t area_age_s(int64_t now_s, const struct statx *st);

/* Add what lies there: messages, not their plans and control files.  The
 * first fields are the caller's.  0; -1: it cannot be read. */
int area_count(struct area *area, struct err *err);

#endif
