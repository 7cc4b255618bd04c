/* provider.h - destinations whose mail the same hosts take
 *
 * The transport agent knows the MX set of a domain; it says so ("#mx NAME",
 * doc/protocol/agent.md) and the thread joins the provider of that name.
 * Sessions of all its threads are counted together.
 *
 * Life: made when a thread joins, freed when its only thread joins another
 * or in a sweep when none is left; one of which something was learned stays
 * for a day, also over a restart (in RUN/scheduler.shape).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_PROVIDER_H
#define ZM_SCHEDULER_PROVIDER_H

#include "base/str.h"
#include "scheduler/plan/ring.h"

enum {
	PROVIDER_NAME_BYTES = 256,
	PROVIDER_KEPT_S = 86400,	/* without a thread */
	PROVIDERS_READ_MAX = 10000	/* of the file */
};

struct provider {
	struct provider	*hash_next;
	unsigned	 thread_count;
	unsigned	 serving;	/* sessions of all its threads */
	unsigned	 learned;	/* sessions it said are enough; 0: said
					 * nothing */
	unsigned	 credit;	/* successes since it last grew */
	int64_t		 reduced_ms;
	int64_t		 seen_s;	/* wall, had a thread; 0: has never
					 * been looked at by a sweep */
	struct thread_queue blocked;	/* wait for a session to end */
	char		 name[];
};

struct provider_table {
	struct provider	**buckets;	/* NULL or a power of two */
	size_t		 size, count;
};

/* Free all providers; no thread may point to one. */
void provider_table_release(struct provider_table *table);

/* Make the thread belong to the provider of this name. */
void provider_join(struct provider_table *table, struct thread *thread,
    struct slice name);
/* Remove the thread; the provider stays until it is swept. */
void provider_part(struct thread *thread);
/* Free providers without a thread about which nothing is known any more. */
void provider_sweep(struct provider_table *table, int64_t now_s);

/* Lines "%provider TAB NAME TAB LEARNED TAB SEEN_S"; and back. */
void provider_add_lines(const struct provider_table *table, int64_t now_s,
    struct str *out);
void provider_read(struct provider_table *table, struct slice text,
    int64_t now_s);

/* How many sessions the thread's provider may have; 0: any number, or no
 * provider is known. */
unsigned provider_limit(const struct thread *thread);
/* Has the thread's provider all its sessions, by the clause or as learned? */
bool provider_is_full(const struct thread *thread);
/* Does another destination of the same provider wait for a session to end? */
bool provider_is_awaited(const struct thread *thread);
/* provider_less: a host said that we are too many for the whole provider, so
 * halve the sessions.  provider_good: a success; they grow by one for as many
 * successes as there are sessions. */
void provider_less(struct thread *thread, int64_t begun_ms, int64_t now_ms);
void provider_good(struct thread *thread, int64_t begun_ms);

/* Into the provider's queue and out of it; for plan.c only. */
void provider_block(struct thread *thread);
void provider_unblock(struct thread *thread);

#endif
