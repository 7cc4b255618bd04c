/* order.h - what the taker of a node is asked, and what it answers
 *
 * Lines end in LF; doc/protocol/nodes.md section 5.  Pure; nothing in a line is
 * trusted.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_ORDER_H
#define ZM_TOOLS_PUBLISH_ORDER_H

#include "tools/publish/record.h"

enum {
	ORDER_LINE_BYTES_MAX = 512,
	ORDER_SECONDS_MAX = 7 * 86400,	/* of a trial */
	ORDER_WORDS_BYTES_MAX = 16384	/* of a refusal */
};

enum publish_verb { PUBLISH_OFFER, PUBLISH_TAKE, PUBLISH_KEEP, PUBLISH_BACK,
	PUBLISH_UNDO, PUBLISH_LOOK, PUBLISH_VERBS };
extern const char *const publish_verb_names[PUBLISH_VERBS];

/* "offer ID BYTES [SECONDS]", "take ID SECONDS", "keep|back|undo|look ID".
 * 0; -1: it is none. */
struct publish_order {
	enum publish_verb verb;
	char		 id[PUBLISH_ID_BYTES];
	size_t		 number;	/* BYTES, SECONDS; else 0 */
	uint64_t	 hold_s;	/* of an offer; 0: not said */
};
int publish_order_parse(struct slice line, struct publish_order *out);

/* "for WHO NODE", of the process nodes.  Slices borrow from line.  0 or -1. */
int publish_for_parse(struct slice line, struct slice *out_who,
    struct slice *out_node);

/* "ok", "ok STATE VERSION" (the state borrows from line), or "no BYTES", which
 * follow the LF. */
enum publish_answer { PUBLISH_NONSENSE = -1, PUBLISH_OK, PUBLISH_NO };
enum publish_answer publish_answer_parse(struct slice line,
    struct slice *out_state, size_t *out_number);

#endif
