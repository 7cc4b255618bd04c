/* provider.h - destinations whose mail the same hosts take
 *
 * The transport agent knows the MX set of a domain; it says so ("#mx NAME",
 * doc/protocol/agent.md) and the thread joins the provider of that name.
 * Sessions of all its threads are counted together.
 *
 * Life: made when a thread joins, freed in a sweep when none is left.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_PROVIDER_H
#define ZM_SCHEDULER_PROVIDER_H

#include "base/str.h"
#include "scheduler/queue.h"

enum { PROVIDER_NAME_BYTES = 256 };

struct provider {
	struct provider	*hash_next;
	unsigned	 thread_count;
	unsigned	 serving;	/* sessions of all its threads */
	unsigned	 learned;	/* sessions it said are enough; 0: said
					 * nothing */
	unsigned	 credit;	/* successes since it last grew */
	int64_t		 reduced_ms;
	struct thread_queue blocked;	/* wait for a session to end */
	char		 name[];
};

struct provider_table {
	struct provider	**buckets;	/* NULL or a power of two */
	size_t		 size, count;
};

void provider_table_release(struct provider_table *table);

/* The thread belongs to the provider of this name from now on. */
void provider_join(struct provider_table *table, struct thread *thread,
    struct slice name);
/* The thread goes; the provider stays until it is swept. */
void provider_part(struct thread *thread);
/* Free those without a thread. */
void provider_sweep(struct provider_table *table);

/* No session more for this thread: the clause's or the learned number. */
bool provider_is_full(const struct thread *thread);
/* A host said that we are too much for all of the provider: half of what we
 * have; and the way back, one for as many successes as there are. */
void provider_less(struct thread *thread, int64_t begun_ms, int64_t now_ms);
void provider_good(struct thread *thread, int64_t begun_ms);

/* In and out of the queue; plan.c only. */
void provider_block(struct thread *thread);
void provider_unblock(struct thread *thread);

#endif
