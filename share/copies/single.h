/* single.h - questions that are a transaction each: about nodes, and of tools
 *
 * takeover, arriving, rows, held, those of offers.h, and the owners of a
 * status.  Of this folder alone.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_SINGLE_H
#define ZM_SHARE_COPIES_SINGLE_H

#include "share/copies/bounds.h"
#include "share/copies/waits.h"

enum { SINGLE_NUMBER_BYTES = 24 };

struct single {
	const struct conf_cluster *cluster;
	struct copies_wait	*wait;		/* NULL: none */
	char			 epoch[SINGLE_NUMBER_BYTES];
	char			 number[SINGLE_NUMBER_BYTES];
	char			 since[SINGLE_NUMBER_BYTES];
	char			 its_epoch[SINGLE_NUMBER_BYTES];
	struct str		 array;
	uint64_t		 count, bytes;
	uint64_t		 seconds;	/* until a lease is over */
	bool			 is_known, is_taken, is_left;
	const char		*wrong;		/* NULL: nothing is */
};

/* The first two values of a statement: the cluster, and node. */
void single_begin_of(struct single *single, enum copies_statement which,
    struct slice node, struct wire_statement *out);
/* The ids of the question, as an array. */
void single_add_ids(struct single *single, struct wire_statement *out);

/* Is it what a line may have between two blanks? */
bool single_is_word(struct slice word);

/* Begin with wait, which has no answer yet.  since_us: the database answers
 * without a break since then, by its own clock. */
void single_begin(struct single *single, struct copies_wait *wait,
    uint64_t epoch, uint64_t since_us);
/* The statements, and what is said to them (struct wire_job). */
bool single_next(struct single *single, struct wire_statement *out);
void single_take_rows(struct single *single, size_t index,
    const struct wire_rows *rows);

enum single_left {
	SINGLE_OVER,		/* it has its answer */
	SINGLE_AGAIN		/* there is more to ask */
};
/* It is carried out.  wait is not single's any more. */
enum single_left single_done(struct single *single);
/* It was refused. */
void single_refused(struct single *single, const struct wire_trouble *trouble);

#endif
