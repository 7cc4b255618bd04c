/* buckets.c - rates and numbers at once, counted for any key
 *
 * In     keys, moments
 * Out    how long to wait; places
 * Holds  a bucket for each key that is in use, a slot for each place taken
 * Trusts no key: the hash is seeded, their number is bounded
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/buckets.h"

#include "base/banned.h"

enum { CHAINS = 1 << 15, SWEEP_CHAINS = 2, NO_HOLD = UINT32_MAX };

struct bucket {
	struct bucket	*next;		/* of its chain */
	uint64_t	 count;		/* as last asked for */
	int64_t		 span_ms;
	double		 left;		/* at at_ms */
	int64_t		 at_ms;
	uint64_t	 holds;
	size_t		 key_bytes;
	char		 key[];
};

struct hold {
	struct bucket	*bucket;	/* NULL: free */
	uint32_t	 generation, next_free;
	uint32_t	 older, newer;	/* list of those taken */
	int64_t		 since_ms;
};

struct buckets {
	struct bucket	*chains[CHAINS];
	size_t		 count;
	uint32_t	 seed;
	size_t		 hand;		/* of the sweep */
	struct hold	*holds;
	uint32_t	 hold_count, first_free, oldest, newest;
};

struct buckets *
buckets_new(void)
{
	struct buckets *buckets = mem_alloc(1, sizeof(*buckets));

	buckets->seed = arc4random();
	buckets->first_free = NO_HOLD;
	buckets->oldest = buckets->newest = NO_HOLD;
	return buckets;
}

void
buckets_free(struct buckets **buckets)
{
	struct buckets *b = *buckets;
	struct bucket *bucket;

	if (b == NULL)
		return;
	for (size_t i = 0; i < CHAINS; i++)
		while ((bucket = b->chains[i]) != NULL) {
			b->chains[i] = bucket->next;
			mem_free(&bucket);
		}
	mem_free(&b->holds);
	mem_free(buckets);
}

size_t
buckets_count(const struct buckets *buckets)
{
	return buckets->count;
}

/* ---- buckets ---------------------------------------------------------- */

static void
bucket_refill(struct bucket *bucket, int64_t now_ms)
{
	if (bucket->span_ms > 0 && now_ms > bucket->at_ms)
		bucket->left += (double)bucket->count *
		    (double)(now_ms - bucket->at_ms) /
		    (double)bucket->span_ms;
	if (bucket->left > (double)bucket->count)
		bucket->left = (double)bucket->count;
	bucket->at_ms = now_ms;
}

static bool
hold_is_missed(struct bucket *bucket, int64_t now_ms)
{
	bucket_refill(bucket, now_ms);
	return bucket->holds > 0 || bucket->left < (double)bucket->count;
}

static void
bucket_drop(struct buckets *buckets, struct bucket **at)
{
	struct bucket *bucket = *at;

	*at = bucket->next;
	buckets->count--;
	mem_free(&bucket);
}

static void
buckets_chain_sweep(struct buckets *buckets, size_t chain, int64_t now_ms,
    bool is_any)
{
	struct bucket **at = &buckets->chains[chain];

	while (*at != NULL)
		if ((*at)->holds == 0 &&
		    (is_any || !hold_is_missed(*at, now_ms)))
			bucket_drop(buckets, at);
		else
			at = &(*at)->next;
}

/* A few chains for each new key: what nobody misses is soon gone.  At the
 * bound whole chains are forgotten. */
static void
buckets_sweep(struct buckets *buckets, int64_t now_ms)
{
	size_t looked = 0;

	do {
		buckets_chain_sweep(buckets, buckets->hand, now_ms,
		    looked >= SWEEP_CHAINS);
		buckets->hand = (buckets->hand + 1) % CHAINS;
		looked++;
	} while (looked < SWEEP_CHAINS ||
	    (buckets->count >= BUCKETS_MAX && looked < CHAINS));
}

/* FNV-1a over the seed and the key. */
static struct bucket **
buckets_chain(struct buckets *buckets, struct slice key)
{
	uint32_t hash = buckets->seed ^ 2166136261u;

	for (size_t i = 0; i < key.n; i++)
		hash = (hash ^ (unsigned char)key.p[i]) * 16777619u;
	return &buckets->chains[(hash ^ hash >> 16) % CHAINS];
}

static struct bucket *
bucket_find(struct buckets *buckets, struct slice key, int64_t now_ms)
{
	struct bucket **chain = buckets_chain(buckets, key), *bucket;

	for (bucket = *chain; bucket != NULL; bucket = bucket->next)
		if (bucket->key_bytes == key.n &&
		    memcmp(bucket->key, key.p, key.n) == 0)
			return bucket;
	buckets_sweep(buckets, now_ms);
	bucket = mem_alloc(1, sizeof(*bucket) + key.n + 1);
	bucket->key_bytes = key.n;
	if (key.n > 0)
		memcpy(bucket->key, key.p, key.n);
	bucket->at_ms = now_ms;
	bucket->next = *chain;
	*chain = bucket;
	buckets->count++;
	return bucket;
}

int64_t
buckets_take(struct buckets *buckets, struct slice key, uint64_t count,
    int64_t span_ms, int64_t now_ms)
{
	struct bucket *bucket = bucket_find(buckets, key, now_ms);
	bool is_new = bucket->span_ms == 0;
	double each_ms;

	bucket_refill(bucket, now_ms);
	if (is_new || bucket->count != count)
		bucket->left = (double)count;
	bucket->count = count;
	bucket->span_ms = span_ms;
	if (bucket->left >= 1) {
		bucket->left -= 1;
		return 0;
	}
	each_ms = (double)span_ms / (double)count;
	return (int64_t)((1 - bucket->left) * each_ms) + 1;
}

/* ---- places ----------------------------------------------------------- */

static void
hold_unlink(struct buckets *buckets, uint32_t index)
{
	struct hold *hold = &buckets->holds[index];

	if (hold->older != NO_HOLD)
		buckets->holds[hold->older].newer = hold->newer;
	else
		buckets->oldest = hold->newer;
	if (hold->newer != NO_HOLD)
		buckets->holds[hold->newer].older = hold->older;
	else
		buckets->newest = hold->older;
}

static void
bucket_hold_end(struct buckets *buckets, uint32_t index)
{
	struct hold *hold = &buckets->holds[index];

	hold_unlink(buckets, index);
	hold->bucket->holds--;
	hold->bucket = NULL;
	hold->next_free = buckets->first_free;
	buckets->first_free = index;
}

static void
holds_expire(struct buckets *buckets, int64_t now_ms)
{
	while (buckets->oldest != NO_HOLD &&
	    now_ms >= buckets->holds[buckets->oldest].since_ms + HOLD_FOR_MS)
		bucket_hold_end(buckets, buckets->oldest);
}

static void
holds_grow(struct buckets *buckets)
{
	uint32_t more = buckets->hold_count > 0 ?
	    buckets->hold_count * 2 : 64;

	buckets->holds = mem_grow(buckets->holds, more,
	    sizeof(*buckets->holds));
	for (uint32_t i = buckets->hold_count; i < more; i++)
		buckets->holds[i] = (struct hold){ NULL, 0,
		    i + 1 < more ? i + 1 : NO_HOLD, NO_HOLD, NO_HOLD, 0 };
	buckets->first_free = buckets->hold_count;
	buckets->hold_count = more;
}

static uint32_t
hold_take(struct buckets *buckets)
{
	uint32_t index;

	if (buckets->first_free == NO_HOLD) {
		if (buckets->hold_count >= HOLDS_MAX)
			bucket_hold_end(buckets, buckets->oldest);
		else
			holds_grow(buckets);
	}
	index = buckets->first_free;
	buckets->first_free = buckets->holds[index].next_free;
	buckets->holds[index].older = buckets->newest;
	buckets->holds[index].newer = NO_HOLD;
	if (buckets->newest != NO_HOLD)
		buckets->holds[buckets->newest].newer = index;
	else
		buckets->oldest = index;
	buckets->newest = index;
	return index;
}

uint64_t
buckets_hold(struct buckets *buckets, struct slice key, uint64_t max,
    int64_t now_ms)
{
	struct bucket *bucket;
	struct hold *hold;
	uint32_t index;

	holds_expire(buckets, now_ms);
	bucket = bucket_find(buckets, key, now_ms);
	if (bucket->holds >= max)
		return 0;
	bucket->holds++;	/* so that it is not swept */
	index = hold_take(buckets);
	hold = &buckets->holds[index];
	hold->bucket = bucket;
	hold->since_ms = now_ms;
	if (++hold->generation == 0)
		hold->generation = 1;
	return (uint64_t)hold->generation << 32 | index;
}

void
buckets_release(struct buckets *buckets, uint64_t hold)
{
	uint32_t index = (uint32_t)hold;

	if (index < buckets->hold_count &&
	    buckets->holds[index].bucket != NULL &&
	    buckets->holds[index].generation == hold >> 32)
		bucket_hold_end(buckets, index);
}
