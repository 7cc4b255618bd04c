/* held.h - what the cluster's database has of another node
 *
 * Reads only; in pages, so that nobody else waits for it.
 * doc/protocol/share.md section 4, `held`.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_COPIES_HELD_H
#define ZM_TOOLS_COPIES_HELD_H

#include "base/err.h"
#include "base/str.h"
#include "mail/spool_id.h"

enum { HELD_FOR_MS = 20000 };		/* all pages take at most */

struct held_row {		/* of one message; valid during the call */
	char		 id[SPOOL_ID_BYTES];
	struct slice	 area;		/* router, freezer/CAUSE */
	struct slice	 control;	/* the whole control file; or empty */
	struct slice	 front;		/* of the message file; or empty */
	uint64_t	 body_bytes;
	int64_t		 since_s;	/* wall: its last change there */
};

/* Call fn for each that has one of our ids, by id.  *out_is_cut: there are
 * more, but it took too long.
 * returns 0; -1: err says who does not answer, or may not be asked */
typedef void held_fn(void *context, const struct held_row *row);
int held_each(const char *run_dir, const char *node, held_fn *fn,
    void *context, bool *out_is_cut, struct err *err);

/* Read the next row of a page (pure).  false: there is none, or it is damaged;
 * then *rest is not empty. */
bool held_row_read(struct slice *rest, struct held_row *out);

#endif
