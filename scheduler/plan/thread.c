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
#include "scheduler/plan/plan.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/plan/thread.h"

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
	if (thread->named > 0)
		panic("%s/%s is freed while %u vertices name it",
		    thread->channel, thread->host, thread->named);
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
thread_hash(struct thread_way way)
{
	uint32_t crc = crc32c(0, way.channel.p, way.channel.n);

	crc = crc32c(crc, "", 1);	/* "a","bc" is not "ab","c" */
	crc = crc32c(crc, way.zone.p, way.zone.n);
	crc = crc32c(crc, "", 1);
	return crc32c(crc, way.host.p, way.host.n);
}

struct thread *
thread_find(const struct thread_table *table, struct thread_way way)
{
	uint32_t hash = thread_hash(way);
	struct thread *thread = table->buckets[hash & (table->size - 1)];

	for (; thread != NULL; thread = thread->hash_next)
		if (thread->hash == hash &&
		    slice_is(way.host, thread->host) &&
		    slice_is(way.channel, thread->channel) &&
		    slice_is(way.zone, thread->zone))
			break;
	return thread;
}

static void
thread_add(struct thread_table *table, struct thread *thread)
{
	struct thread **bucket =
	    &table->buckets[thread->hash & (table->size - 1)];

	thread->hash_next = *bucket;
	*bucket = thread;
}

static void
thread_table_grow(struct thread_table *table)
{
	struct thread **old = table->buckets, *thread;
	size_t old_size = table->size;

	table->size *= 2;
	table->buckets = mem_alloc(table->size, sizeof(*table->buckets));
	for (size_t i = 0; i < old_size; i++)
		while ((thread = old[i]) != NULL) {
			old[i] = thread->hash_next;
			thread_add(table, thread);
		}
	mem_free(&old);
}

/* The memory is zeroed: what follows is the NUL. */
static const char *
thread_copy_name(char *to, struct slice name)
{
	if (name.n > 0)
		memcpy(to, name.p, name.n);
	return to;
}

/* What the zone says goes before what the clause says. */
static void
thread_take_zone(struct ring *ring, const struct conf_zone *zone)
{
	struct conf_schedule *clause = &ring->clause;

	ring->zone_agents = zone->agents;
	if (zone->parallel > 0)
		clause->parallel = zone->parallel;
	if (zone->rate_count > 0) {
		clause->rate_count = zone->rate_count;
		clause->rate_per_ms = zone->rate_per_ms;
	}
}

static struct ring *
ring_new(const struct conf *conf, unsigned clause_index,
    struct thread_way way)
{
	struct ring *ring = mem_alloc(1, sizeof(*ring) + way.channel.n +
	    way.zone.n + 2);
	const struct conf_zone *zone = conf_zone_find(conf, way.zone);
	char *names = (char *)(ring + 1);

	ring->clause = conf->schedules[clause_index];
	ring->clause.channel = ring->clause.host = NULL;
	ring->clause.command = NULL;
	ring->clause_index = clause_index;
	ring->channel = thread_copy_name(names, way.channel);
	ring->zone = thread_copy_name(names + way.channel.n + 1, way.zone);
	if (zone != NULL)
		thread_take_zone(ring, zone);
	TAILQ_INIT(&ring->runnable);
	TAILQ_INIT(&ring->bulk);
	TAILQ_INIT(&ring->idle);
	TAILQ_INIT(&ring->busy);
	return ring;
}

static struct ring *
ring_get(struct thread_table *table, const struct conf *conf,
    struct thread_way way)
{
	const struct conf_schedule *clause =
	    conf_schedule_for(conf, way.channel, way.host);
	unsigned index = (unsigned)(clause - conf->schedules);
	struct ring *ring;

	TAILQ_FOREACH(ring, &table->rings, entry)
		if (!ring->is_stale && ring->clause_index == index &&
		    slice_is(way.channel, ring->channel) &&
		    slice_is(way.zone, ring->zone))
			return ring;
	ring = ring_new(conf, index, way);
	TAILQ_INSERT_TAIL(&table->rings, ring, entry);
	return ring;
}

struct thread *
thread_get(struct thread_table *table, const struct conf *conf,
    struct thread_way way, int64_t now_ms)
{
	struct thread *thread = thread_find(table, way);
	char *names;

	if (thread != NULL)
		return thread;
	if (table->count >= table->size)
		thread_table_grow(table);
	thread = mem_alloc(1, sizeof(*thread) + way.channel.n + way.host.n +
	    way.zone.n + 3);
	names = (char *)(thread + 1);
	thread->channel = thread_copy_name(names, way.channel);
	names += way.channel.n + 1;
	thread->host = thread_copy_name(names, way.host);
	thread->zone = thread_copy_name(names + way.host.n + 1, way.zone);
	thread->hash = thread_hash(way);
	thread->ring = ring_get(table, conf, way);
	thread->ring->thread_count++;
	pace_init(thread);
	thread->heap_index = HEAP_NONE;
	thread->used_ms = now_ms;
	lanes_init(&thread->lanes);
	shape_recall(&table->shapes, thread);
	thread_add(table, thread);
	table->count++;
	return thread;
}

void
thread_take_vertex(struct thread *thread, struct vertex *vertex)
{
	if (vertex->thread != NULL)
		vertex->thread->named--;
	vertex->thread = thread;
	if (thread != NULL)
		thread->named++;
}

void
thread_name(struct thread *thread)
{
	thread->named++;
}

void
thread_unname(struct thread *thread)
{
	thread->named--;
}

void
thread_forget_job(struct job *job)
{
	for (uint32_t i = 0; i < job->vertex_count; i++)
		thread_take_vertex(NULL, &job->vertices[i]);
}

static bool
thread_is_empty(const struct thread *thread)
{
	return thread->named == 0 && thread->ready_count == 0 &&
	    thread->wait_count == 0 && thread->flight_count == 0 &&
	    thread->parked_count == 0 && thread->serving == 0 &&
	    thread->wake_ms == 0 && thread->paced_ms == 0;
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
		    (struct thread_way){ slice_of(thread->channel),
		    slice_of(thread->host), slice_of(thread->zone) }));
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

unsigned
ring_zone_agents(const struct thread_table *table, const struct ring *of)
{
	const struct ring *ring;
	unsigned count = 0;

	TAILQ_FOREACH(ring, &table->rings, entry)
		if (strcmp(ring->zone, of->zone) == 0)
			count += ring->agent_count;
	return count;
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

void
thread_walk_init(struct thread_walk *walk, const struct thread_table *table)
{
	*walk = (struct thread_walk){ .size = table->size };
}

struct thread *
thread_walk_next(struct thread_walk *walk, const struct thread_table *table,
    unsigned *budget)
{
	if (walk->at != NULL)
		walk->at = walk->at->hash_next;
	while (walk->at == NULL && !walk->is_over) {
		if (walk->bucket >= table->size) {
			walk->bucket = (walk->bucket & (walk->size - 1)) + 1;
			walk->is_over = walk->bucket == walk->size;
		} else if (walk->bucket < walk->size && *budget == 0) {
			break;
		} else {
			*budget -= *budget > 0;
			walk->at = table->buckets[walk->bucket];
			walk->bucket += walk->size;
		}
	}
	return walk->at;
}
