/* copying.h - what share is asked about copies: its words
 *
 * Pure.  doc/protocol/share.md section 4.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_COPYING_H
#define ZM_SHARE_COPIES_COPYING_H

#include "base/str.h"

enum {
	COPYING_TOKEN_BYTES = 32,
	COPYING_ID_BYTES_MAX = 40,
	COPYING_CAUSE_BYTES_MAX = 60,
	COPYING_IDS_MAX = 100,		/* of one question */
	COPYING_AFTER_S_MAX = 31536000
};

enum copying_verb {
	COPYING_COPY, COPYING_KEPT, COPYING_DONE, COPYING_LEASE, COPYING_TAKEN,
	COPYING_LEFT, COPYING_OFFER, COPYING_WITHDRAW,
	/* of root */
	COPYING_TAKEOVER, COPYING_ROWS, COPYING_OFFERS,
	COPYING_TAKE, COPYING_ARRIVING, COPYING_ARRIVED, COPYING_HELD,
	COPYING_OVERDUE,
	COPYING_VERBS
};

/* "TOKEN copy ID AREA", "TOKEN kept ID", "TOKEN done ID...", "TOKEN lease",
 * "TOKEN taken EPOCH [SERIAL]", "TOKEN left ID...", "TOKEN offer SERIAL NODE
 * ID...", "TOKEN withdraw ID...", "TOKEN takeover NODE [EPOCH SECONDS]",
 * "TOKEN rows AFTER", "TOKEN offers", "TOKEN take NODE", "TOKEN arriving
 * AFTER", "TOKEN arrived ID...", "TOKEN held NODE AFTER", "TOKEN overdue
 * SECONDS". */
struct copying {
	struct slice		line;	/* all of it */
	struct slice		token;
	enum copying_verb	verb;
	struct slice		id;	/* of copy, kept; AFTER of rows,
					 * arriving, held: empty, the
					 * first */
	struct slice		serial;	/* of taken (empty: none), offer */
	struct slice		area;	/* router, or freezer/CAUSE */
	struct slice		node;
	struct slice		epoch;	/* of takeover: empty, any */
	uint64_t		after_s;	/* of it, and of overdue */
	struct slice		ids;	/* words */
	size_t			id_count;
};

/* false: it is none of them.  Borrowed from line. */
bool copying_read(struct slice line, struct copying *out);

/* How many descriptors belong to its line: 0, 1 or 2. */
size_t copying_descriptors(enum copying_verb verb);

/* Is it for root alone? */
bool copying_is_of_root(enum copying_verb verb);
/* Is it for the scheduler, or root?  It says what becomes of mail. */
bool copying_is_of_scheduler(const struct copying *question);

/* Append "{ID,ID}", an array of PostgreSQL; ids are words. */
void copying_add_array(struct str *out, struct slice ids);

#endif
