/* bundle.h - copies that are one transaction
 *
 * copy, kept and done, in the order in which they were asked.  Of this folder
 * alone.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_BUNDLE_H
#define ZM_SHARE_COPIES_BUNDLE_H

#include "share/copies/bounds.h"
#include "share/copies/waits.h"

enum { BUNDLE_NUMBER_BYTES = 24 };

struct bundle {
	const struct conf_cluster *cluster;
	struct waits_list	 waits;
	size_t			 count;
	uint64_t		 bytes;
	char			 epoch[BUNDLE_NUMBER_BYTES];
	/* where the statements are */
	bool			 is_fenced;	/* the first one is said */
	struct copies_wait	*at;
	struct str		 array, control;
	char			 number[BUNDLE_NUMBER_BYTES];
	char			 first[WAITS_FIRST_BYTES];
	char			 part[COPIES_PART_BYTES];
};

/* It is empty. */
void bundle_init(struct bundle *bundle, const struct conf_cluster *cluster);
/* Its waits are freed. */
void bundle_release(struct bundle *bundle);

/* Take from the front of queue what goes together; of one that is tried alone
 * nothing else. */
void bundle_fill(struct bundle *bundle, struct waits_list *queue);

/* Does it have to ask first which messages the rows have? */
bool bundle_has_kept(const struct bundle *bundle);
/* The statement that does. */
void bundle_say_lines(struct bundle *bundle, struct wire_statement *out);
void bundle_take_lines(struct bundle *bundle, const struct wire_rows *rows);

/* The statements of the transaction, under that epoch. */
void bundle_begin(struct bundle *bundle, uint64_t epoch);
/* The next one; what it points to is as it is until the next call.  false: that
 * was all. */
bool bundle_next(struct bundle *bundle, struct wire_statement *out);

#endif
