/* group.h - copies that are one transaction
 *
 * copy, kept and done, in the order in which they were asked.  Of this folder
 * alone.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_GROUP_H
#define ZM_SHARE_COPIES_GROUP_H

#include "share/copies/bounds.h"
#include "share/copies/waits.h"

enum { GROUP_NUMBER_BYTES = 24 };

struct group {
	const struct conf_cluster *cluster;
	struct waits_list	 waits;
	size_t			 count;
	uint64_t		 bytes;
	char			 epoch[GROUP_NUMBER_BYTES];
	/* where the statements are */
	bool			 is_fenced;	/* the first one is said */
	struct copies_wait	*at;
	struct str		 array, control;
	char			 number[GROUP_NUMBER_BYTES];
	char			 first[WAITS_FIRST_BYTES];
	char			 part[COPIES_PART_BYTES];
};

void group_init(struct group *group, const struct conf_cluster *cluster);
/* Its waits are freed. */
void group_release(struct group *group);

/* Take from the front of queue what goes together; of one that is tried alone
 * nothing else. */
void group_fill(struct group *group, struct waits_list *queue);

/* Does it have to ask first which messages the rows have? */
bool group_has_kept(const struct group *group);
/* The statement that does. */
void group_say_lines(struct group *group, struct wire_statement *out);
void group_take_lines(struct group *group, const struct wire_rows *rows);

/* The statements of the transaction, under that epoch. */
void group_begin(struct group *group, uint64_t epoch);
/* The next one; what it points to is as it is until the next call.  false: that
 * was all. */
bool group_next(struct group *group, struct wire_statement *out);

#endif
