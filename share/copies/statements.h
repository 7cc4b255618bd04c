/* statements.h - what PostgreSQL is asked
 *
 * All values are parameters.  What must have an effect divides by the number of
 * rows: a transaction in which it has none fails as a whole (SQLSTATE 22012),
 * without a round trip to look.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_STATEMENTS_H
#define ZM_SHARE_COPIES_STATEMENTS_H

#include "share/copies/wire.h"

enum copies_statement {
	SAY_PATIENCE,		/* MS */
	SAY_REGISTER,		/* cluster self */
	SAY_GREET,		/* cluster self LEASE_MS -> epoch now_us */
	SAY_COLUMNS,
	SAY_TIDY,		/* cluster self */
	SAY_RENEW,		/* cluster self LEASE_MS EPOCH -> epoch
				 * now_us */
	SAY_FENCE,		/* cluster self EPOCH */
	SAY_HEAD,		/* cluster self id area first_line BYTES
				 * control */
	SAY_CONTROL,		/* cluster self id control */
	SAY_NO_PARTS,		/* cluster id */
	SAY_PART,		/* cluster id N bytes */
	SAY_LINES,		/* cluster self {ids} -> id first_line bytes */
	SAY_DONE,		/* cluster self {ids} */
	SAY_TAKEN,		/* cluster self -> id taker */
	SAY_LEFT,		/* cluster self {ids} -> id taker */
	SAY_TAKEOVER,		/* cluster node self MARGIN_MS -> epoch */
	SAY_OVERDUE,		/* cluster self self EPOCH SINCE_US AFTER_MS ->
				 * name epoch count bytes */
	SAY_TAKEOVER_OVERDUE,	/* cluster node self EPOCH SINCE_US AFTER_MS
				 * its EPOCH -> epoch */
	SAY_ALIVE,		/* cluster node MARGIN_MS -> seconds left */
	SAY_ALIVE_SELF,		/* cluster self -> count */
	SAY_COUNT,		/* cluster node -> count bytes */
	SAY_GET_PART,		/* cluster id N -> bytes */
	SAY_BRIEFLY,		/* MS, of this transaction */
	SAY_ROWS,		/* cluster self after -> id */
	SAY_OWNERS,		/* cluster -> name epoch seconds count bytes
				 * taker */
	SAY_NOTHING,		/* always fails */
	SAY_NEW_SERIAL,		/* cluster self EPOCH SERIAL */
	SAY_WITHDRAW_ALL,	/* cluster self */
	SAY_FENCE_OFFER,	/* cluster self EPOCH SERIAL */
	SAY_IS_THERE,		/* cluster node */
	SAY_OFFER,		/* cluster self node {ids} -> id */
	SAY_WITHDRAW,		/* cluster self {ids} */
	SAY_OFFERS,		/* cluster self -> node count bytes */
	SAY_TAKE,		/* cluster node self -> id */
	SAY_IS_LEFT,		/* cluster node -> 1: it has rows; 0 */
	SAY_ARRIVING,		/* cluster self after -> id area bytes
				 * control since */
	SAY_ARRIVED,		/* cluster self {ids} */
	SAY_HELD,		/* cluster node after -> id area bytes since
				 * control front */
	SAY_COUNT_OF
};

#define SAY_DIVIDED_BY_NONE "22012"

/* Begin one; values are added in the order above. */
void sql_begin(struct wire_statement *out, enum copies_statement which);
/* Add a word, a number (its digits, ended by NUL), bytes.  Borrowed. */
void sql_add(struct wire_statement *out, struct slice word);
void sql_add_digits(struct wire_statement *out, const char *digits);
void sql_add_bytes(struct wire_statement *out, struct slice bytes);
void sql_add_null(struct wire_statement *out);

#endif
