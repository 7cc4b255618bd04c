/* thread.c - threads by (channel, host), rings by (clause, channel)
 *
 * In     names out of control files, the configuration
 * Out    threads in rings
 * Holds  one struct a destination, freed a minute after its last work
 * Trusts nothing about the names: they are bytes that are hashed and copied
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/mem.h"
#include "scheduler/plan.h"
#include "scheduler/provider.h"
#include "scheduler/thread.h"

#include "base/banned.h"

enum { TABLE_SIZE_MIN = 64 };

void
thread_table_init(struct thread_table *table)
{
	table->size = TABLE_SIZE_MIN;
	table->count = 0;
	table->buckets = mem_alloc(table->size, sizeof(*table->buckets));
	TAILQ_INIT(&table->rings);
}

static void
thread_free(struct thread *thread)
{
	thread->ring->thread_count--;
	provider_part(thread);
	mem_free(&thread->reason);
	mem_free(&thread);
}

void
thread_table_release(struct thread_table *table)
{
	struct thread *thread;
	struct ring *ring;

	for (size_t i = 0; i < table->size; i++)
		while ((thread = table->buckets[i]) != NULL) {
			table->buckets[i] = thread->hash_next;
			thread_free(thread);
		}
	while ((ring = TAILQ_FIRST(&table->rings)) != NULL) {
		TAILQ_REMOVE(&table->rings, ring, entry);
		mem_free(&ring);
	}
	mem_free(&table->buckets);
	shape_release(&table->shapes);
	table->size = table->count = 0;
}

static uint32_t
hash_of(struct slice channel, struct slice host)
{
	uint32_t crc = crc32c(0, channel.p, channel.n);

	crc = crc32c(crc, "", 1);	/* "a","bc" is not "ab","c" */
	return crc32c(crc, host.p, host.n);
}

struct thread *
thread_find(const struct thread_table *table, struct slice channel,
    struct slice host)
{
	uint32_t hash = hash_of(channel, host);
	struct thread *thread = table->buckets[hash & (table->size - 1)];

	for (; thread != NULL; thread = thread->hash_next)
		if (thread->hash == hash && slice_is(host, thread->host) &&
		    slice_is(channel, thread->channel))
			break;
	return thread;
}

static void
bucket_add(struct thread_table *table, struct thread *thread)
{
	struct thread **bucket =
	    &table->buckets[thread->hash & (table->size - 1)];

	thread->hash_next = *bucket;
	*bucket = thread;
}

static void
table_grow(struct thread_table *table)
{
	struct thread **old = table->buckets, *thread;
	size_t old_size = table->size;

	table->size *= 2;
	table->buckets = mem_alloc(table->size, sizeof(*table->buckets));
	for (size_t i = 0; i < old_size; i++)
		while ((thread = old[i]) != NULL) {
			old[i] = thread->hash_next;
			bucket_add(table, thread);
		}
	mem_free(&old);
}

/* The memory is zeroed: what follows is the NUL. */
static const char *
name_copy(char *to, struct slice name)
{
	if (name.n > 0)
		memcpy(to, name.p, name.n);
	return to;
}

static struct ring *
ring_new(const struct conf_schedule *clause, unsigned clause_index,
    struct slice channel)
{
	struct ring *ring = mem_alloc(1, sizeof(*ring) + channel.n + 1);

	ring->clause = *clause;
	ring->clause.channel = ring->clause.host = NULL;
	ring->clause.command = NULL;
	ring->clause_index = clause_index;
	ring->channel = name_copy((char *)(ring + 1), channel);
	TAILQ_INIT(&ring->runnable);
	TAILQ_INIT(&ring->bulk);
	TAILQ_INIT(&ring->idle);
	TAILQ_INIT(&ring->busy);
	return ring;
}

static struct ring *
ring_get(struct thread_table *table, const struct conf *conf,
    struct slice channel, struct slice host)
{
	const struct conf_schedule *clause =
	    conf_schedule_for(conf, channel, host);
	unsigned index = (unsigned)(clause - conf->schedules);
	struct ring *ring;

	TAILQ_FOREACH(ring, &table->rings, entry)
		if (!ring->is_stale && ring->clause_index == index &&
		    slice_is(channel, ring->channel))
			return ring;
	ring = ring_new(clause, index, channel);
	TAILQ_INSERT_TAIL(&table->rings, ring, entry);
	return ring;
}

struct thread *
thread_get(struct thread_table *table, const struct conf *conf,
    struct slice channel, struct slice host, int64_t now_ms)
{
	struct thread *thread = thread_find(table, channel, host);
	char *names;

	if (thread != NULL)
		return thread;
	if (table->count >= table->size)
		table_grow(table);
	thread = mem_alloc(1, sizeof(*thread) + channel.n + host.n + 2);
	names = (char *)(thread + 1);
	thread->channel = name_copy(names, channel);
	thread->host = name_copy(names + channel.n + 1, host);
	thread->hash = hash_of(channel, host);
	thread->ring = ring_get(table, conf, channel, host);
	thread->ring->thread_count++;
	pace_init(thread);
	thread->heap_index = HEAP_NONE;
	thread->used_ms = now_ms;
	lanes_init(&thread->lanes);
	shape_recall(&table->shapes, thread);
	bucket_add(table, thread);
	table->count++;
	return thread;
}

static bool
thread_is_empty(const struct thread *thread)
{
	return thread->ready_count == 0 && thread->wait_count == 0 &&
	    thread->flight_count == 0 && thread->parked_count == 0 &&
	    thread->serving == 0 && thread->wake_ms == 0 &&
	    thread->paced_ms == 0;
}

void
thread_sweep(struct thread_table *table, int64_t before_ms)
{
	for (size_t i = 0; i < table->size; i++) {
		struct thread **link = &table->buckets[i], *thread;

		while ((thread = *link) != NULL) {
			if (!thread_is_empty(thread) ||
			    thread->used_ms > before_ms) {
				link = &thread->hash_next;
				continue;
			}
			*link = thread->hash_next;
			table->count--;
			shape_keep(&table->shapes, thread, clock_wall_s());
			thread_free(thread);
		}
	}
}

static void
thread_move(struct thread *thread, struct ring *to)
{
	plan_move(thread, to);
	thread->ring->thread_count--;
	thread->ring = to;
	to->thread_count++;
	pace_rematch(thread);
}

void
thread_rematch(struct thread_table *table, const struct conf *conf)
{
	struct thread *thread = NULL;
	struct ring *ring, *next;
	size_t bucket = 0;

	TAILQ_FOREACH(ring, &table->rings, entry)
		ring->is_stale = true;
	while (thread_next(table, &bucket, &thread))
		thread_move(thread, ring_get(table, conf,
		    slice_of(thread->channel), slice_of(thread->host)));
	TAILQ_FOREACH_SAFE(ring, &table->rings, entry, next)
		ring_release_stale(table, ring);
}

void
ring_release_stale(struct thread_table *table, struct ring *ring)
{
	if (!ring->is_stale || ring->agent_count > 0 ||
	    ring->thread_count > 0)
		return;
	TAILQ_REMOVE(&table->rings, ring, entry);
	mem_free(&ring);
}

bool
thread_next(const struct thread_table *table, size_t *bucket,
    struct thread **thread)
{
	if (*thread != NULL)
		*thread = (*thread)->hash_next;
	while (*thread == NULL && *bucket < table->size)
		*thread = table->buckets[(*bucket)++];
	return *thread != NULL;
}
