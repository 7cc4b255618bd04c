/* failures.c - how often somebody failed to log in, of late
 *
 * In     keys
 * Out    counts
 * Holds  a table in shared memory; no lock: a count that is lost when two
 *        processes write at once is no harm
 * Trusts nothing in a key: where it lies depends on a secret
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/siphash.h"
#include "smtpserver/auth/failures.h"

#include "base/banned.h"

enum { WAYS = 4, BUCKETS = FAILURES_SLOTS / WAYS };

struct slot {
	uint64_t	mark;		/* of the key; 0: free */
	int64_t		last_ms;
	unsigned	count;
};

struct failures {
	uint64_t	secret;
	struct slot	slots[BUCKETS][WAYS];
};

struct failures *
failures_new(struct err *err)
{
	struct failures *failures = mmap(NULL, sizeof(*failures),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (failures == MAP_FAILED) {
		err_sys(err, "no shared memory");
		return NULL;
	}
	arc4random_buf(&failures->secret, sizeof(failures->secret));
	return failures;
}

void
failures_free(struct failures **failures)
{
	if (*failures != NULL)
		munmap(*failures, sizeof(**failures));
	*failures = NULL;
}

/* FNV-1a from a secret start: good enough to be spread, hard to aim. */
static uint64_t
mark_of_sum(const struct failures *failures, struct slice sum)
{
	uint64_t mark = failures->secret ^ 0xcbf29ce484222325u;

	for (size_t i = 0; i < sum.n; i++)
		mark = (mark ^ (unsigned char)sum.p[i]) * 0x100000001b3u;
	mark ^= mark >> 29;
	return mark != 0 ? mark : 1;
}

void
failures_sum(struct slice key, char out[FAILURES_SUM_BYTES])
{
	static const struct siphash_key same = { 0, 0 };
	struct siphash sum = siphash(&same, key);

	snprintf(out, FAILURES_SUM_BYTES, "%016" PRIx64 "%016" PRIx64,
	    sum.high, sum.low);
}

static uint64_t
mark_of(const struct failures *failures, struct slice key)
{
	char sum[FAILURES_SUM_BYTES];

	failures_sum(key, sum);
	return mark_of_sum(failures, slice_of(sum));
}

static bool
mark_is_live(const struct slot *slot, uint64_t mark, int64_t now_ms)
{
	return slot->mark == mark && now_ms - slot->last_ms < FAILURES_FOR_MS;
}

unsigned
failures_count(const struct failures *failures, struct slice key)
{
	uint64_t mark;

	if (failures == NULL)
		return 0;
	mark = mark_of(failures, key);
	for (size_t i = 0; i < WAYS; i++) {
		const struct slot *slot = &failures->slots[mark % BUCKETS][i];

		if (mark_is_live(slot, mark, clock_steady_ms()))
			return slot->count;
	}
	return 0;
}

/* Its own, else the one that was used longest ago. */
static struct slot *
mark_slot(struct failures *failures, uint64_t mark)
{
	struct slot *bucket = failures->slots[mark % BUCKETS];
	struct slot *oldest = &bucket[0];

	for (size_t i = 0; i < WAYS; i++) {
		if (bucket[i].mark == mark)
			return &bucket[i];
		if (bucket[i].last_ms < oldest->last_ms)
			oldest = &bucket[i];
	}
	return oldest;
}

static unsigned
mark_raise(struct failures *failures, uint64_t mark, int64_t at_ms)
{
	struct slot *slot = mark_slot(failures, mark);

	if (!mark_is_live(slot, mark, clock_steady_ms()))
		slot->count = slot->last_ms = 0;
	slot->mark = mark;
	if (slot->last_ms < at_ms)
		slot->last_ms = at_ms;
	return ++slot->count;
}

static void
mark_clear(struct failures *failures, uint64_t mark)
{
	struct slot *slot = mark_slot(failures, mark);

	if (slot->mark == mark)
		slot->mark = 0;
}

unsigned
failures_add(struct failures *failures, struct slice key)
{
	return failures == NULL ? 1 : mark_raise(failures, mark_of(failures,
	    key), clock_steady_ms());
}

void
failures_clear(struct failures *failures, struct slice key)
{
	if (failures != NULL)
		mark_clear(failures, mark_of(failures, key));
}

/* An old failure takes no place of a newer one. */
void
failures_hear(struct failures *failures, struct slice sum, int64_t age_ms)
{
	int64_t at_ms = clock_steady_ms() - age_ms;
	uint64_t mark = mark_of_sum(failures, sum);
	const struct slot *slot = mark_slot(failures, mark);

	if (age_ms < FAILURES_FOR_MS &&
	    (slot->mark == 0 || slot->mark == mark || slot->last_ms <= at_ms))
		(void)mark_raise(failures, mark, at_ms);
}

void
failures_hear_clear(struct failures *failures, struct slice sum)
{
	mark_clear(failures, mark_of_sum(failures, sum));
}
