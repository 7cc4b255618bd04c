/* move.h - mail of the queue goes to another node of the cluster
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ORDERS_MOVE_H
#define ZM_TOOLS_ORDERS_MOVE_H

#include "base/str.h"
#include "tools/queue/control.h"

enum { MOVE_WAIT_MS = 30000 };	/* until all have left, unless --wait */

struct move_words {
	const char	*verb;		/* that is spoken of: move, drain */
	const char	*node;
	const char	*reason;	/* "": none */
	const struct slice *ids;	/* NULL: what select means */
	size_t		 id_count;
	struct slice	 select;
	int64_t		 wait_ms;
	bool		 is_dry, is_json;
};

/* Order it, wait until all have left, and say what became of them.
 * returns an exit status: EX_TEMPFAIL when not all have left */
int move_mail(struct control *control, const struct move_words *words);

#endif
