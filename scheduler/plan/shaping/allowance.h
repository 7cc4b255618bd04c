/* allowance.h - what this node may send of a warm-up that all nodes share
 *
 * A zone's day (`warm-up ... shared`) is counted in Redis, by the process
 * share.  Nobody waits for it: who may send asks ahead (allowance_question, by
 * sharing/warming.h) and goes by what was given.  The day is that of Redis.
 *
 *	UNKNOWN	  nothing was heard of today: mail waits, as long as share may
 *		  wait for Redis, ALLOWANCE_PATIENCE_MS at least
 *	GIVEN	  so many recipients may be served
 *	ALONE	  Redis is away: this node has its part of the day, less what
 *		  it has sent; asked again every second
 *
 * Pure: moments are arguments, steady where they are in ms.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ALLOWANCE_H
#define ZM_SCHEDULER_ALLOWANCE_H

#include "scheduler/plan/ring.h"

enum {
	ALLOWANCES_MAX = 50000,
	ALLOWANCE_PATIENCE_MS = 2000,	/* for share, at least; then ALONE */
	ALLOWANCE_LOOK_MS = 20,		/* mail that waits for an answer looks
					 * so often */
	ALLOWANCE_AGAIN_MS = 60000,	/* nothing was left: others may give
					 * back */
	ALLOWANCE_MISFIT_MS = 5000,	/* none of those that were tried fits:
					 * others may come */
	ALLOWANCE_ALONE_MS = 1000,	/* then Redis is asked again */
	ALLOWANCE_LATER_MS = 100,
	ALLOWANCE_IDLE_MS = 5000,	/* what is not used for so long is
					 * given back */
	ALLOWANCE_TRIES = 8,		/* messages, before more is asked for */
	ALLOWANCE_WANT_MAX = 10000,
	ALLOWANCE_ASKED_MAX = 64,	/* questions that are out */
	ALLOWANCE_WORDS_BYTES = 200
};

struct allowance;
TAILQ_HEAD(allowance_queue, allowance);
struct allowance_table {		/* zeroed: empty */
	struct allowance **buckets;
	size_t		 count;
	struct allowance_queue wanting, asked;
	size_t		 asked_count;
	uint64_t	 last_number;	/* of questions */
};

/* When it is now. */
struct allowance_now {
	int64_t		ms;		/* steady */
	int64_t		s;		/* wall */
	unsigned	nodes;		/* that the configuration has */
	int64_t		patience_ms;	/* share may take so long */
};

/* Free all. */
void allowance_release(struct allowance_table *table);

/* That of the thread's zone at its provider, or host; a new one is made.
 * NULL: there are too many. */
struct allowance *allowance_get(struct allowance_table *table,
    const struct thread *thread);
/* The same, or NULL. */
struct allowance *allowance_find(const struct allowance_table *table,
    const struct thread *thread);

enum allowance_verdict {
	ALLOWANCE_YES,
	ALLOWANCE_WAIT,		/* for an answer, which comes soon */
	ALLOWANCE_NO		/* today's is used up */
};
/* May anything go?  Wants to ask where that is so, for ready messages.
 * *out_until_ms: look again then, unless ALLOWANCE_YES. */
enum allowance_verdict allowance_admits(struct allowance_table *table,
    struct allowance *allowance, const struct conf_zone *zone, unsigned ready,
    const struct allowance_now *now, int64_t *out_until_ms);
/* May so many go at once?  If not, and others have been tried: *out_until_ms,
 * when to look again; else it is 0. */
bool allowance_fits(struct allowance_table *table,
    struct allowance *allowance, const struct conf_zone *zone, unsigned rcpts,
    unsigned ready, const struct allowance_now *now, int64_t *out_until_ms);
/* They went. */
void allowance_spend(struct allowance *allowance, unsigned rcpts,
    int64_t now_ms);

/* Every second: what is not used is to be given back. */
void allowance_tick(struct allowance_table *table, int64_t now_ms);
/* Is there a question? */
bool allowance_wants(const struct allowance_table *table);
/* Append the next question, "wNUMBER warm ..."; false: there is none. */
bool allowance_question(struct allowance_table *table, int64_t now_ms,
    struct str *out);
/* "given ...", "alone NODES", "later", to question NUMBER.  false: nonsense. */
bool allowance_answered(struct allowance_table *table, struct slice number,
    struct slice answer, const struct allowance_now *now);
/* What is asked gets no answer. */
void allowance_lost(struct allowance_table *table);

/* How it stands, for people; empty: nothing is known.  The end of its day
 * (steady; 0: unknown). */
struct slice allowance_words(struct allowance *allowance,
    const struct conf_zone *zone, int64_t *out_end_ms);
/* What all nodes may send today; -1: it is not known, or any number.
 * *out_is_alone: Redis is away. */
int64_t allowance_cap_today(const struct allowance *allowance,
    const struct conf_zone *zone, bool *out_is_alone);

/* Lines "%warms TAB ZONE TAB KEY TAB DAY TAB USED"; and back. */
void allowance_add_lines(const struct allowance_table *table,
    struct str *out);
void allowance_read(struct allowance_table *table, struct slice text);

#endif
