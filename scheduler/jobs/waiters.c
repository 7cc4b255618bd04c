/* waiters.c - messages whose client waits for the next hop's word
 *
 * In     announcements, outcomes of recipients
 * Out    verdicts on messages, on the list decided
 * Holds  a waiter a message, at most WAITERS_MAX
 * Spec   waiters.h; doc/INTERNALS.md rows W1 to W3
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "scheduler/jobs/waiters.h"

#include "base/banned.h"

void
waiters_init(struct waiters *waiters)
{
	memset(waiters, 0, sizeof(*waiters));
	TAILQ_INIT(&waiters->all);
	TAILQ_INIT(&waiters->decided);
}

void
waiters_release(struct waiters *waiters)
{
	struct hearer *waiter;

	while ((waiter = TAILQ_FIRST(&waiters->all)) != NULL)
		waiter_end(waiters, &waiter);
}

static size_t
waiters_bucket(const char *id)
{
	return crc32c(0, id, strlen(id)) % WAITER_BUCKETS;
}

struct hearer *
waiters_find(const struct waiters *waiters, const char *id)
{
	struct hearer *waiter;

	if (waiters->count == 0)
		return NULL;
	LIST_FOREACH(waiter, &waiters->buckets[waiters_bucket(id)], bucket)
		if (strcmp(waiter->id, id) == 0)
			return waiter;
	return NULL;
}

struct hearer *
waiters_add(struct waiters *waiters, const char *id, void *owner)
{
	struct hearer *waiter;

	if (waiters->count >= WAITERS_MAX ||
	    waiters_find(waiters, id) != NULL)
		return NULL;
	waiter = mem_alloc(1, sizeof(*waiter));
	strlcpy(waiter->id, id, sizeof(waiter->id));
	waiter->owner = owner;
	LIST_INSERT_HEAD(&waiters->buckets[waiters_bucket(id)], waiter,
	    bucket);
	TAILQ_INSERT_TAIL(&waiters->all, waiter, all);
	waiters->count++;
	return waiter;
}

void
waiter_end(struct waiters *waiters, struct hearer **pwaiter)
{
	struct hearer *waiter = *pwaiter;

	timer_clear(&waiter->timer);
	if (waiter->is_decided)
		TAILQ_REMOVE(&waiters->decided, waiter, decided);
	LIST_REMOVE(waiter, bucket);
	TAILQ_REMOVE(&waiters->all, waiter, all);
	waiters->count--;
	mem_free(pwaiter);
}

static void
waiter_decide(struct waiters *waiters, struct hearer *waiter,
    enum waiter_verdict verdict)
{
	waiter->verdict = verdict;
	if (waiter->is_decided)
		return;
	waiter->is_decided = true;
	TAILQ_INSERT_TAIL(&waiters->decided, waiter, decided);
}

void
waiter_outcome(struct waiters *waiters, struct hearer *waiter,
    const struct answer *answer, uint32_t total)
{
	if (waiter->verdict != WAITER_OPEN)
		return;
	if (waiter->delivered + waiter->failed == 0) {
		snprintf(waiter->status, sizeof(waiter->status), SLICE_FMT,
		    SLICE_ARG(answer->status));
		snprintf(waiter->text, sizeof(waiter->text), SLICE_FMT,
		    SLICE_ARG(answer->text));
	}
	if (answer->verdict == VERDICT_FAILED)
		waiter->failed++;
	else
		waiter->delivered++;
	if (waiter->delivered > 0 && waiter->failed > 0)
		waiter_later(waiters, waiter,
		    SLICE("some recipients were refused"));
	else if (waiter->delivered >= total)
		waiter_decide(waiters, waiter, WAITER_DELIVERED);
	else if (waiter->failed >= total)
		waiter_decide(waiters, waiter, WAITER_REFUSED);
}

void
waiter_later(struct waiters *waiters, struct hearer *waiter,
    struct slice why)
{
	if (waiter->verdict != WAITER_OPEN)
		return;
	waiter->status[0] = '\0';
	snprintf(waiter->text, sizeof(waiter->text), SLICE_FMT,
	    SLICE_ARG(why));
	waiter_decide(waiters, waiter, WAITER_QUEUED);
}
