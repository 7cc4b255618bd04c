/* state.h - what copies knows, for the files of this folder
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_STATE_H
#define ZM_SHARE_COPIES_STATE_H

#include "share/copies/bundle.h"
#include "share/copies/single.h"

enum { COPIES_NUMBER_BYTES = 24 };

struct copies {
	struct process		*process;
	const struct copies_goal *goal;
	const struct conf_cluster *cluster;
	struct wire		*wire;
	struct waits_list	 queue;
	size_t			 wait_count;	/* in queue, bundle, single */
	struct bundle		 bundle;
	struct single		 single;
	bool			 is_greeted;	/* epoch is what it is */
	bool			 is_up, was_told;
	int64_t			 since_ms;
	char			 why[ERR_TEXT_BYTES];
	uint64_t		 epoch;
	int64_t			 lease_asked_ms;	/* of the lease we have;
						 * 0: none */
	int64_t			 asking_ms;	/* of the one that is asked */
	uint64_t		 heard_epoch;	/* in its answer; 0: none */
	uint64_t		 heard_us;	/* and when, by the database's
						 * clock; 0: nobody knows */
	uint64_t		 lease_us;	/* of the lease we have */
	uint64_t		 since_us;	/* the database has answered,
						 * and we had a lease, without
						 * a break since then, by its
						 * clock */
	size_t			 step;		/* statements said, of it */
	char			 number[COPIES_NUMBER_BYTES];
	char			 epoch_text[COPIES_NUMBER_BYTES];
	loop_fn			*turn_fn;	/* what is to be asked next */
	struct timer		 turn_timer, lease_timer, late_timer;
};

/* It is in no list any more. */
void copies_free_wait(struct copies *copies, struct copies_wait *wait);
/* Tell all of a list that there is no answer, and free them. */
void copies_answer_list(struct copies *copies, struct waits_list *list,
    const char *why);

/* Look what is to be asked next, in the next turn of the loop. */
void copies_turn_soon(struct copies *copies);
/* Set the moment at which somebody has waited for too long. */
void copies_watch_late(struct copies *copies);

/* Note, and tell once, that it answers, or why it does not. */
void copies_tell_up(struct copies *copies);
void copies_tell_away(struct copies *copies);

#endif
