/* hearers.c - messages whose client waits for the next hop's word
 *
 * In     announcements, outcomes of recipients
 * Out    verdicts on messages, on the list decided
 * Holds  a hearer a message, at most HEARERS_MAX
 * Spec   hearers.h; doc/INTERNALS.md rows W1 to W3
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "scheduler/jobs/hearers.h"

#include "base/banned.h"

void
hearers_init(struct hearers *hearers)
{
	memset(hearers, 0, sizeof(*hearers));
	TAILQ_INIT(&hearers->all);
	TAILQ_INIT(&hearers->decided);
}

void
hearers_release(struct hearers *hearers)
{
	struct hearer *hearer;

	while ((hearer = TAILQ_FIRST(&hearers->all)) != NULL)
		hearer_end(hearers, &hearer);
}

static size_t
hearers_bucket(const char *id)
{
	return crc32c(0, id, strlen(id)) % HEARER_BUCKETS;
}

struct hearer *
hearers_find(const struct hearers *hearers, const char *id)
{
	struct hearer *hearer;

	if (hearers->count == 0)
		return NULL;
	LIST_FOREACH(hearer, &hearers->buckets[hearers_bucket(id)], bucket)
		if (strcmp(hearer->id, id) == 0)
			return hearer;
	return NULL;
}

struct hearer *
hearers_add(struct hearers *hearers, const char *id, void *owner)
{
	struct hearer *hearer;

	if (hearers->count >= HEARERS_MAX ||
	    hearers_find(hearers, id) != NULL)
		return NULL;
	hearer = mem_alloc(1, sizeof(*hearer));
	strlcpy(hearer->id, id, sizeof(hearer->id));
	hearer->owner = owner;
	LIST_INSERT_HEAD(&hearers->buckets[hearers_bucket(id)], hearer,
	    bucket);
	TAILQ_INSERT_TAIL(&hearers->all, hearer, all);
	hearers->count++;
	return hearer;
}

void
hearer_end(struct hearers *hearers, struct hearer **phearer)
{
	struct hearer *hearer = *phearer;

	timer_clear(&hearer->timer);
	if (hearer->is_decided)
		TAILQ_REMOVE(&hearers->decided, hearer, decided);
	LIST_REMOVE(hearer, bucket);
	TAILQ_REMOVE(&hearers->all, hearer, all);
	hearers->count--;
	mem_free(phearer);
}

static void
hearer_decide(struct hearers *hearers, struct hearer *hearer,
    enum hearer_verdict verdict)
{
	hearer->verdict = verdict;
	if (hearer->is_decided)
		return;
	hearer->is_decided = true;
	TAILQ_INSERT_TAIL(&hearers->decided, hearer, decided);
}

void
hearer_outcome(struct hearers *hearers, struct hearer *hearer,
    const struct answer *answer, uint32_t total)
{
	if (hearer->verdict != HEARER_OPEN)
		return;
	if (hearer->delivered + hearer->failed == 0) {
		snprintf(hearer->status, sizeof(hearer->status), SLICE_FMT,
		    SLICE_ARG(answer->status));
		snprintf(hearer->text, sizeof(hearer->text), SLICE_FMT,
		    SLICE_ARG(answer->text));
	}
	if (answer->verdict == VERDICT_FAILED)
		hearer->failed++;
	else
		hearer->delivered++;
	if (hearer->delivered > 0 && hearer->failed > 0)
		hearer_later(hearers, hearer,
		    SLICE("some recipients were refused"));
	else if (hearer->delivered >= total)
		hearer_decide(hearers, hearer, HEARER_DELIVERED);
	else if (hearer->failed >= total)
		hearer_decide(hearers, hearer, HEARER_REFUSED);
}

void
hearer_later(struct hearers *hearers, struct hearer *hearer,
    struct slice why)
{
	if (hearer->verdict != HEARER_OPEN)
		return;
	hearer->status[0] = '\0';
	snprintf(hearer->text, sizeof(hearer->text), SLICE_FMT,
	    SLICE_ARG(why));
	hearer_decide(hearers, hearer, HEARER_QUEUED);
}
