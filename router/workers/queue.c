/* queue.c - the router's queue: names of messages that wait, in order
 *
 * In     priorities and inodes, as directories show them
 * Out    the next one
 * Holds  an entry for each message in router/ (about 80 bytes)
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/workers/queue.h"

#include "base/mem.h"

#include "base/banned.h"

enum { ROUTER_QUEUE_CHAINS_MIN = 1024 };

void
router_queue_init(struct router_queue *queue)
{
	*queue = (struct router_queue){ .mask = ROUTER_QUEUE_CHAINS_MIN - 1 };
	queue->chains = mem_alloc(ROUTER_QUEUE_CHAINS_MIN, sizeof(struct
	    queue_entry *));
	for (size_t i = 0; i < SPOOL_PRIORITIES; i++)
		TAILQ_INIT(&queue->waiting[i]);
	TAILQ_INIT(&queue->resting);
	TAILQ_INIT(&queue->napping);
}

void
router_queue_release(struct router_queue *queue)
{
	for (size_t i = 0; i <= queue->mask; i++)
		for (struct queue_entry *e = queue->chains[i], *next; e; e =
		    next) {
			next = e->next;
			mem_free(&e);
		}
	mem_free(&queue->chains);
}

static size_t
router_queue_chain(const struct router_queue *queue, unsigned priority, ino_t
    inode)
{
	uint64_t h = ((uint64_t)inode << 4 | priority) * 0x9e3779b97f4a7c15u;

	return (size_t)(h >> 32) & queue->mask;
}

static struct queue_entry **
router_queue_find(const struct router_queue *queue, unsigned priority, ino_t
    inode)
{
	struct queue_entry **at = &queue->chains[router_queue_chain(queue,
	    priority, inode)];

	while (*at && ((*at)->inode != inode || (*at)->priority != priority))
		at = &(*at)->next;
	return at;
}

static void
router_queue_grow(struct router_queue *queue)
{
	struct queue_entry **old = queue->chains;
	size_t old_mask = queue->mask;

	queue->mask = old_mask * 2 + 1;
	queue->chains = mem_alloc(queue->mask + 1, sizeof(struct queue_entry
	    *));
	for (size_t i = 0; i <= old_mask; i++)
		for (struct queue_entry *e = old[i], *next; e != NULL; e = next)
		    {
			struct queue_entry **at =
			    &queue->chains[router_queue_chain(queue,
			    e->priority, e->inode)];

			next = e->next;
			e->next = *at;
			*at = e;
		}
	mem_free(&old);
}

static void
router_queue_add_last(struct router_queue *queue, struct queue_entry *entry)
{
	entry->is_given = entry->is_again = false;
	entry->owner = NULL;
	TAILQ_INSERT_TAIL(&queue->waiting[entry->priority], entry, link);
	queue->waiting_count++;
}

bool
router_queue_add(struct router_queue *queue, unsigned priority, ino_t inode,
    bool is_event)
{
	struct queue_entry **at, *entry;

	if (queue->count > queue->mask)
		router_queue_grow(queue);
	at = router_queue_find(queue, priority, inode);
	if (*at != NULL) {
		if ((*at)->is_given && is_event)
			(*at)->is_again = true;
		return false;
	}
	entry = mem_alloc(1, sizeof(*entry));
	entry->inode = inode;
	entry->priority = priority;
	*at = entry;
	queue->count++;
	router_queue_add_last(queue, entry);
	return true;
}

bool
router_queue_knows(const struct router_queue *queue, unsigned priority, ino_t
    inode)
{
	return *router_queue_find(queue, priority, inode) != NULL;
}

struct queue_entry *
router_queue_take(struct router_queue *queue, void *owner)
{
	bool is_low_turn = queue->share > 0 &&
	    queue->turn % queue->share == queue->share - 1;
	struct queue_entry *entry = NULL;

	for (size_t i = 0; i < SPOOL_PRIORITIES && entry == NULL; i++)
		entry = TAILQ_FIRST(&queue->waiting[is_low_turn ?
		    SPOOL_PRIORITIES - 1 - i : i]);
	if (entry == NULL)
		return NULL;
	queue->turn++;
	TAILQ_REMOVE(&queue->waiting[entry->priority], entry, link);
	queue->waiting_count--;
	entry->is_given = true;
	entry->owner = owner;
	return entry;
}

void
router_queue_done(struct router_queue *queue, struct queue_entry *entry)
{
	struct queue_entry **at;

	queue->done_count++;
	if (entry->is_again) {
		router_queue_add_last(queue, entry);
		return;
	}
	at = router_queue_find(queue, entry->priority, entry->inode);
	*at = entry->next;
	queue->count--;
	mem_free(&entry);
}

void
router_queue_give_back(struct router_queue *queue, struct queue_entry *entry)
{
	entry->is_given = entry->is_again = false;
	entry->owner = NULL;
	TAILQ_INSERT_HEAD(&queue->waiting[entry->priority], entry, link);
	queue->waiting_count++;
}

void
router_queue_rest(struct router_queue *queue, struct queue_entry *entry)
{
	entry->owner = NULL;
	TAILQ_INSERT_TAIL(&queue->resting, entry, link);
}

void
router_queue_nap(struct router_queue *queue, struct queue_entry *entry)
{
	entry->owner = NULL;
	TAILQ_INSERT_TAIL(&queue->napping, entry, link);
}

static void
router_queue_wake_list(struct router_queue *queue, struct queue_entries *list)
{
	struct queue_entry *entry;

	while ((entry = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, entry, link);
		router_queue_add_last(queue, entry);
	}
}

void
router_queue_wake_resting(struct router_queue *queue)
{
	router_queue_wake_list(queue, &queue->resting);
}

void
router_queue_wake_napping(struct router_queue *queue)
{
	router_queue_wake_list(queue, &queue->napping);
}
