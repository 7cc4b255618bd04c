/* lanes.c - who of a destination's ready mail goes next
 *
 * In     vertices that become ready, with source, priority and size
 * Out    one of them at a time
 * Holds  a struct flow a source that has something ready
 * Trusts the source only as a number: a collision shares a turn
 * Spec   RFC 6710 section 6 (priorities are relative)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/err.h"
#include "base/mem.h"
#include "scheduler/plan/lanes.h"

#include "base/banned.h"

enum {
	TABLE_SIZE_MIN = 64,
	BULK_RCPTS = VERTEX_RCPTS_MAX	/* a message to more is bulk */
};

static const int lane_weights[LANES] = {
	[LANE_URGENT] = 8, [LANE_NORMAL] = 4, [LANE_BULK] = 1
};

void
lanes_init(struct lanes *lanes)
{
	*lanes = (struct lanes){ .count = { 0 } };
	for (int i = 0; i < LANES; i++)
		TAILQ_INIT(&lanes->flows[i]);
}

/* ---- flows by (thread, lane, source) -------------------------------- */

static size_t
lanes_bucket(const struct flow_table *table, const struct thread *thread,
    unsigned lane, uint32_t source)
{
	uint64_t mixed = (uint64_t)(uintptr_t)thread / 64 +
	    ((uint64_t)source << 2 | lane) * 0x9e3779b97f4a7c15u;

	mixed *= 0x9e3779b97f4a7c15u;
	return (size_t)(mixed >> 32) & (table->size - 1);
}

static struct flow *
flow_find(const struct flow_table *table, const struct thread *thread,
    unsigned lane, uint32_t source)
{
	struct flow *flow = table->size == 0 ? NULL :
	    table->buckets[lanes_bucket(table, thread, lane, source)];

	while (flow != NULL && (flow->thread != thread ||
	    flow->source != source || flow->lane != lane))
		flow = flow->hash_next;
	return flow;
}

static void
flow_hash(struct flow_table *table, struct flow *flow)
{
	struct flow **bucket = &table->buckets[lanes_bucket(table, flow->thread,
	    flow->lane, flow->source)];

	flow->hash_next = *bucket;
	*bucket = flow;
}

static void
lanes_grow(struct flow_table *table)
{
	struct flow **old = table->buckets, *flow;
	size_t old_size = table->size;

	table->size = old_size ? old_size * 2 : TABLE_SIZE_MIN;
	table->buckets = mem_alloc(table->size, sizeof(*table->buckets));
	for (size_t i = 0; i < old_size; i++)
		while ((flow = old[i]) != NULL) {
			old[i] = flow->hash_next;
			flow_hash(table, flow);
		}
	mem_free(&old);
}

static struct flow *
flow_new(struct flow_table *table, struct thread *thread, unsigned lane,
    uint32_t source)
{
	struct flow *flow = mem_alloc(1, sizeof(*flow));

	if (table->count >= table->size)
		lanes_grow(table);
	flow->thread = thread;
	flow->source = source;
	flow->lane = (uint8_t)lane;
	flow->is_by_age = thread->ring->clause.is_by_age;
	flow->aged.kind = HEAP_VERTICES;
	TAILQ_INIT(&flow->queue);
	flow_hash(table, flow);
	table->count++;
	TAILQ_INSERT_TAIL(&thread->lanes.flows[lane], flow, entry);
	return flow;
}

static void
flow_free(struct flow_table *table, struct flow *flow)
{
	struct flow **link = &table->buckets[lanes_bucket(table, flow->thread,
	    flow->lane, flow->source)];

	while (*link != flow)
		link = &(*link)->hash_next;
	*link = flow->hash_next;
	table->count--;
	TAILQ_REMOVE(&flow->thread->lanes.flows[flow->lane], flow, entry);
	heap_release(&flow->aged);
	mem_free(&flow);
}

void
flow_table_release(struct flow_table *table)
{
	for (size_t i = 0; i < table->size; i++)
		while (table->buckets[i] != NULL)
			flow_free(table, table->buckets[i]);
	mem_free(&table->buckets);
	table->size = 0;
}

/* ---- in and out ---------------------------------------------------- */

static unsigned
lanes_lane(const struct job *job, bool is_fair)
{
	if (job->priority > 0)
		return LANE_URGENT;
	if (job->priority < 0 || (is_fair && job->rcpt_total > BULK_RCPTS))
		return LANE_BULK;
	return LANE_NORMAL;
}

/* What it was put under: a reload may have changed the clause since. */
static uint32_t
lanes_source(const struct vertex *vertex)
{
	return vertex->lane & VERTEX_SHARED ? vertex->job->source : 0;
}

void
lanes_add(struct flow_table *table, struct vertex *vertex)
{
	struct thread *thread = vertex->thread;
	bool is_fair = thread->ring->clause.is_fair;
	unsigned lane = lanes_lane(vertex->job, is_fair);
	struct flow *flow;

	vertex->lane = (uint8_t)(lane | (is_fair ? VERTEX_SHARED : 0));
	flow = flow_find(table, thread, lane, lanes_source(vertex));
	if (flow == NULL)
		flow = flow_new(table, thread, lane, lanes_source(vertex));
	if (flow->is_by_age)
		heap_add(&flow->aged, vertex, vertex->job->born_ms);
	else
		TAILQ_INSERT_TAIL(&flow->queue, vertex, entry);
	flow->count++;
	thread->lanes.count[lane]++;
	if (vertex->job->flags & JOB_TLS_OPTIONAL)
		thread->lanes.tls_optional++;
}

void
lanes_remove(struct flow_table *table, struct vertex *vertex)
{
	unsigned lane = vertex->lane & (VERTEX_SHARED - 1u);
	struct flow *flow = flow_find(table, vertex->thread, lane,
	    lanes_source(vertex));

	if (flow == NULL)
		panic("a ready vertex has no flow");
	if (flow->is_by_age)
		heap_remove(&flow->aged, vertex->heap_index);
	else
		TAILQ_REMOVE(&flow->queue, vertex, entry);
	vertex->thread->lanes.count[lane]--;
	if (vertex->job->flags & JOB_TLS_OPTIONAL)
		vertex->thread->lanes.tls_optional--;
	if (--flow->count == 0)
		flow_free(table, flow);
}

/* ---- whose turn ---------------------------------------------------- */

static struct vertex *
flow_first(const struct flow *flow)
{
	return flow->is_by_age ? flow->aged.slots[0].object :
	    TAILQ_FIRST(&flow->queue);
}

static unsigned
lanes_cost(const struct vertex *vertex)
{
	return 1u + (unsigned)(vertex->rcpt_count - vertex->final_count) /
	    LANE_COST_RCPTS;
}

/* Every flow that is passed saves a turn; it goes when it can pay. */
static struct vertex *
lane_pick(struct lanes *lanes, unsigned lane)
{
	struct flow_queue *flows = &lanes->flows[lane];

	for (;;) {
		struct flow *flow = TAILQ_FIRST(flows);
		struct vertex *vertex = flow_first(flow);
		unsigned cost = lanes_cost(vertex);

		if (TAILQ_NEXT(flow, entry) == NULL) {
			flow->turns = 0;	/* nobody to take turns with */
			return vertex;
		}
		TAILQ_REMOVE(flows, flow, entry);
		TAILQ_INSERT_TAIL(flows, flow, entry);
		if (++flow->turns >= cost) {
			flow->turns -= cost;
			return vertex;
		}
	}
}

/* Smooth weighted round robin: the lane with most credit goes and pays what
 * all of them got. */
struct vertex *
lanes_pick(struct thread *thread)
{
	struct lanes *lanes = &thread->lanes;
	int best = -1, sum = 0;

	for (int i = 0; i < LANES; i++) {
		if (lanes->count[i] == 0) {
			lanes->credit[i] = 0;
			continue;
		}
		lanes->credit[i] = (int8_t)(lanes->credit[i] +
		    lane_weights[i]);
		sum += lane_weights[i];
		if (best < 0 || lanes->credit[i] > lanes->credit[best])
			best = i;
	}
	if (best < 0)
		return NULL;
	lanes->credit[best] = (int8_t)(lanes->credit[best] - sum);
	return lane_pick(lanes, (unsigned)best);
}

struct vertex *
lanes_pick_optional(const struct thread *thread)
{
	size_t count = 0;
	struct vertex **ready, *found = NULL;

	if (thread->lanes.tls_optional == 0)
		return NULL;
	ready = mem_alloc(thread->ready_count + 1, sizeof(struct vertex *));
	lanes_list(thread, ready);
	while (found == NULL && count < thread->ready_count) {
		if (ready[count]->job->flags & JOB_TLS_OPTIONAL)
			found = ready[count];
		count++;
	}
	mem_free(&ready);
	return found;
}

void
lanes_list(const struct thread *thread, struct vertex **out)
{
	const struct flow *flow;
	struct vertex *vertex;

	for (int i = 0; i < LANES; i++)
		TAILQ_FOREACH(flow, &thread->lanes.flows[i], entry) {
			TAILQ_FOREACH(vertex, &flow->queue, entry)
				*out++ = vertex;
			for (size_t k = 0; k < flow->aged.count; k++)
				*out++ = flow->aged.slots[k].object;
		}
}
