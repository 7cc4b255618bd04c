/* pool.h - one table: what is asked of it, and the processes that ask
 *
 * Equal questions are asked once.  A process is started when all others are
 * busy, POOL_PROCESSES at the most; questions that wait together go to one,
 * as long as answers come in a moment.  A question without an answer after
 * POOL_FOR_MS is trouble, and its process is ended.  When nobody answers
 * there, all questions are trouble for a while, longer after each further
 * time: then one is asked again.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ASK_POOL_H
#define ZM_TABLES_ASK_POOL_H

#include "daemon/skeleton.h"
#include "mail/table/table.h"

enum {
	POOL_PROCESSES = 4,
	POOL_FOR_MS = 5000,
	POOL_QUICK_MS = 50,		/* answers come in a moment */
	POOL_WAITING_MAX = 1000,	/* questions at once */
	POOL_FOUND_FOR_MS = 30000,	/* an answer is kept */
	POOL_NONE_FOR_MS = 5000,
	POOL_KEPT_MAX = 32768,		/* answers */
	POOL_KEPT_BYTES = 1024,		/* of each; a longer one is not */
	POOL_AWAY_MS = 1000,		/* after the first time */
	POOL_AWAY_MAX_MS = 30000
};

struct pool;

struct pool_answer {
	enum table_result	 result;
	struct slice		 text;	/* of TABLE_FOUND the value, of
					 * TABLE_TROUBLE what is wrong */
	int64_t			 for_ms;	/* it stays true; 0: nobody
						 * may keep it */
};

typedef void pool_answer_fn(void *context, const struct pool_answer *answer);

/* Who waits for an answer. */
struct pool_wait;

/* A table of this name; spec is one that is asked.  Reads its definition:
 * one that is bad, or is not there, makes every answer trouble with those
 * words.  Starts nothing. */
struct pool *tables_pool_new(struct process *process, const char *name,
    const char *spec);
void tables_pool_free(struct pool **pool);
const char *pool_name(const struct pool *pool);

/* Ask for key.  fn is called before this returns, and it returns NULL; or it
 * is called once later. */
struct pool_wait *pool_ask(struct pool *pool, struct slice key,
    pool_answer_fn *fn, void *context);
/* Ask for all names.  fn is called with TABLE_FOUND for each, and at the end
 * with TABLE_NONE or TABLE_TROUBLE, as by pool_ask. */
struct pool_wait *pool_list(struct pool *pool, pool_answer_fn *fn,
    void *context);
/* fn is not called any more. */
void pool_forget(struct pool_wait **wait);

#endif
