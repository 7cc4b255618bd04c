/* helpers_internal.h - what helpers.c and helpers_process.c share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_HELPER_HELPERS_INTERNAL_H
#define ZM_SMTPSERVER_HELPER_HELPERS_INTERNAL_H

#include <sys/queue.h>

#include "daemon/child.h"
#include "smtpserver/helper/ask.h"
#include "smtpserver/helper/helpers.h"

struct helper_question {
	uint64_t		 asker, asker_token;
	uint64_t		 token;		/* of ours; 0: in the queue */
	struct str		 text;
	int64_t			 until_ms;
	struct helper		*helper;	/* NULL: in the queue */
	bool			 is_again;	/* given for the second time */
	TAILQ_ENTRY(helper_question)	 entry;
};

TAILQ_HEAD(question_list, helper_question);

struct helper {
	struct kind		*kind;
	struct child		*child;
	struct question_list	 in_hand;	/* oldest first */
	unsigned		 in_hand_count;
	bool			 is_leaving;
	bool			 is_hanging;	/* killed: its end comes */
	TAILQ_ENTRY(helper)	 entry;
};

TAILQ_HEAD(helper_list, helper);

struct kind {
	struct helpers			*all;
	const struct helper_kind	*row;
	struct child_kind		 child;
	struct str			 title;		/* for the journal */
	struct question_list		 queue;
	struct helper_question		*last_told;	/* of those in front */
	size_t				 queued, queued_bytes;
	struct helper_list		 helpers;
	unsigned			 staying;
	int64_t				 not_before_ms;	/* fork again */
	struct err			 trouble;	/* why none is there,
							 * of one that awaits */
	int64_t				 gone_ms;	/* since then; 0: one
							 * is */
	bool				 is_stirred;	/* kind_run comes */
};

struct helpers {
	struct process		*process;
	struct kind		*kinds;
	size_t			 kind_count;
	struct asks		*asks;
	loop_fn			*child_fn;
	helpers_answer_fn	*answer_fn;
	helpers_open_fn		*open_fn;
	void			*context;
	struct timer		 tick;
	struct timer		 stir;	/* set: a kind has news */
};

/* It is on no list any more: tell who asked, free it.  rest: "ok ANSWER" or
 * "trouble WHY". */
void question_answer(struct helpers *helpers, struct helper_question *question,
    struct slice rest);

/* A helper had it in hand and is gone: once more, in front. */
void question_requeue(struct kind *kind, struct helper_question *question);

/* Give what waits to who has room, when all that came in this turn has been
 * read: what was said first goes first, whoever was read first. */
void kind_stir(struct kind *kind);

/* Start one more of a kind: fork, or connect.  0 or -1. */
int helper_start(struct kind *kind, struct err *err);

/* Make the kind ready for helper_start. */
void kind_init(struct kind *kind, struct helpers *helpers,
    const struct helper_kind *row);

/* It did not answer in time: kill it, or leave its connection. */
void helper_kill(struct helper *helper);

/* Let it go, now: what it had in hand is answered with why. */
void helper_end(struct helper *helper, const char *why);

/* A fresh one takes its place. */
void helper_ask_to_leave(struct helper *helper);

#endif
