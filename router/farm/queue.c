/* queue.c - names of messages that wait to be routed, in order
 *
 * In     priorities and inodes, as directories show them
 * Out    the next one
 * Holds  an entry for each message in router/ (about 80 bytes)
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/farm/queue.h"

#include "base/mem.h"

#include "base/banned.h"

enum { QUEUE_CHAINS_MIN = 1024 };

void
queue_init(struct queue *queue)
{
	*queue = (struct queue){ .mask = QUEUE_CHAINS_MIN - 1 };
	queue->chains = mem_alloc(QUEUE_CHAINS_MIN, sizeof(struct entry *));
	for (size_t i = 0; i < SPOOL_PRIORITIES; i++)
		TAILQ_INIT(&queue->waiting[i]);
	TAILQ_INIT(&queue->resting);
	TAILQ_INIT(&queue->nodding);
}

void
queue_release(struct queue *queue)
{
	for (size_t i = 0; i <= queue->mask; i++)
		for (struct entry *e = queue->chains[i], *next; e; e = next) {
			next = e->next;
			mem_free(&e);
		}
	mem_free(&queue->chains);
}

static size_t
chain_of(const struct queue *queue, unsigned priority, ino_t inode)
{
	uint64_t h = ((uint64_t)inode << 4 | priority) * 0x9e3779b97f4a7c15u;

	return (size_t)(h >> 32) & queue->mask;
}

static struct entry **
entry_at(const struct queue *queue, unsigned priority, ino_t inode)
{
	struct entry **at = &queue->chains[chain_of(queue, priority, inode)];

	while (*at && ((*at)->inode != inode || (*at)->priority != priority))
		at = &(*at)->next;
	return at;
}

static void
chains_grow(struct queue *queue)
{
	struct entry **old = queue->chains;
	size_t old_mask = queue->mask;

	queue->mask = old_mask * 2 + 1;
	queue->chains = mem_alloc(queue->mask + 1, sizeof(struct entry *));
	for (size_t i = 0; i <= old_mask; i++)
		for (struct entry *e = old[i], *next; e != NULL; e = next) {
			struct entry **at = &queue->chains[chain_of(queue,
			    e->priority, e->inode)];

			next = e->next;
			e->next = *at;
			*at = e;
		}
	mem_free(&old);
}

static void
wait_last(struct queue *queue, struct entry *entry)
{
	entry->is_given = entry->is_again = false;
	entry->owner = NULL;
	TAILQ_INSERT_TAIL(&queue->waiting[entry->priority], entry, link);
	queue->waiting_count++;
}

bool
queue_add(struct queue *queue, unsigned priority, ino_t inode, bool is_event)
{
	struct entry **at, *entry;

	if (queue->count > queue->mask)
		chains_grow(queue);
	at = entry_at(queue, priority, inode);
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
	wait_last(queue, entry);
	return true;
}

bool
queue_knows(const struct queue *queue, unsigned priority, ino_t inode)
{
	return *entry_at(queue, priority, inode) != NULL;
}

struct entry *
queue_take(struct queue *queue, void *owner)
{
	bool is_low_turn = queue->turn % QUEUE_LOW_TURN == QUEUE_LOW_TURN - 1;
	struct entry *entry = NULL;

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
queue_done(struct queue *queue, struct entry *entry)
{
	struct entry **at;

	if (entry->is_again) {
		wait_last(queue, entry);
		return;
	}
	at = entry_at(queue, entry->priority, entry->inode);
	*at = entry->next;
	queue->count--;
	mem_free(&entry);
}

void
queue_give_back(struct queue *queue, struct entry *entry)
{
	entry->is_given = entry->is_again = false;
	entry->owner = NULL;
	TAILQ_INSERT_HEAD(&queue->waiting[entry->priority], entry, link);
	queue->waiting_count++;
}

void
queue_rest(struct queue *queue, struct entry *entry)
{
	entry->owner = NULL;
	TAILQ_INSERT_TAIL(&queue->resting, entry, link);
}

void
queue_nod(struct queue *queue, struct entry *entry)
{
	entry->owner = NULL;
	TAILQ_INSERT_TAIL(&queue->nodding, entry, link);
}

static void
wake(struct queue *queue, struct entry_list *list)
{
	struct entry *entry;

	while ((entry = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, entry, link);
		wait_last(queue, entry);
	}
}

void
queue_wake(struct queue *queue)
{
	wake(queue, &queue->resting);
}

void
queue_wake_soon(struct queue *queue)
{
	wake(queue, &queue->nodding);
}
