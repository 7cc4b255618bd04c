/* queue.h - the router's queue: names of messages that wait, in order
 *
 * Pure.  A message is its priority and inode; the queue knows which wait and
 * which are given to a worker.  The highest waiting priority is next (router/
 * before router.1); with a share, every share-th turn goes to the lowest one.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_WORKERS_QUEUE_H
#define ZM_ROUTER_WORKERS_QUEUE_H

#include <sys/queue.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mail/spool/spool.h"

struct queue_entry {
	ino_t			 inode;
	unsigned		 priority;
	bool			 is_given;	/* or resting */
	bool			 is_again;	/* came again while given */
	void			*owner;		/* that it is given to */
	struct queue_entry	*next;		/* in its hash chain */
	TAILQ_ENTRY(queue_entry) link;		/* waiting, or its owner's */
};
TAILQ_HEAD(queue_entries, queue_entry);

struct router_queue {
	struct queue_entries	 waiting[SPOOL_PRIORITIES];
	size_t			 waiting_count;
	struct queue_entries	 resting;	/* until they are woken */
	struct queue_entries	 napping;	/* the same, after a moment */
	struct queue_entry	**chains;
	size_t			 mask, count;	/* all entries */
	unsigned		 share;	/* each such turn is the lowest
					 * priority's; 0: none is */
	unsigned		 turn;
	uint64_t		 done_count;
};

/* An empty queue. */
void router_queue_init(struct router_queue *queue);
/* For tests, as a router ends with its process: frees all entries. */
void router_queue_release(struct router_queue *queue);

/* A name was seen.  Known names that wait stay where they are.  is_event: it
 * was just renamed to this name; if it is given to a worker, it will be looked
 * at again (its number may be another message's by now).  A scan also sees
 * names that are given, which means nothing.  Returns whether it is new. */
bool router_queue_add(struct router_queue *queue, unsigned priority,
    ino_t inode, bool is_event);

/* Does it wait, rest, or is it given to a worker? */
bool router_queue_knows(const struct router_queue *queue, unsigned priority,
    ino_t inode);

/* Give the next in order to owner; it is in no list then.  NULL: nothing
 * waits. */
struct queue_entry *router_queue_take(struct router_queue *queue, void *owner);

/* The worker is done with it (the entry is in no list): forget it, or append it
 * again if it came again. */
void router_queue_done(struct router_queue *queue, struct queue_entry *entry);

/* The worker did not get to it: put it at the front again. */
void router_queue_give_back(struct router_queue *queue,
    struct queue_entry *entry);

/* Trouble that is not the message's fault: it waits for
 * router_queue_wake_resting, whatever events come (giving a claim back causes
 * one), and then goes to the end. */
void router_queue_rest(struct router_queue *queue, struct queue_entry *entry);
void router_queue_wake_resting(struct router_queue *queue);

/* The same for trouble that will be over in a moment. */
void router_queue_nap(struct router_queue *queue, struct queue_entry *entry);
void router_queue_wake_napping(struct router_queue *queue);

#endif
