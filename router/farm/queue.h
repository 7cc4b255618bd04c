/* queue.h - names of messages that wait to be routed, in order
 *
 * Pure.  A message is its priority and inode; the queue knows which of them
 * wait and which are given to a worker.  Of each ten turns one goes to the
 * lowest priority that waits, the other nine to the highest.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_QUEUE_H
#define ZM_ROUTER_QUEUE_H

#include <sys/queue.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mail/spool/spool.h"

enum { QUEUE_LOW_TURN = 10 };	/* each tenth turn is the lowest's */

struct entry {
	ino_t			 inode;
	unsigned		 priority;
	bool			 is_given;	/* or resting */
	bool			 is_again;	/* came again while given */
	void			*owner;		/* whom it is given to */
	struct entry		*next;		/* in its hash chain */
	TAILQ_ENTRY(entry)	 link;		/* waiting, or its owner's */
};
TAILQ_HEAD(entry_list, entry);

struct queue {
	struct entry_list	 waiting[SPOOL_PRIORITIES];
	size_t			 waiting_count;
	struct entry_list	 resting;	/* until queue_wake */
	struct entry_list	 nodding;	/* until queue_wake_soon */
	struct entry		**chains;
	size_t			 mask, count;	/* all entries */
	unsigned		 turn;
};

void queue_init(struct queue *queue);
void queue_release(struct queue *queue);

/* A name was seen.  known names that wait stay where they are.
 * is_event: it was just renamed to this name; if it is given, it will be
 * looked at again (its number may be another message's by now).  A mere scan
 * sees given names, too, which says nothing.
 * Returns whether it is new. */
bool queue_add(struct queue *queue, unsigned priority, ino_t inode,
    bool is_event);

bool queue_knows(const struct queue *queue, unsigned priority, ino_t inode);

/* Next in order, now given to owner and in no list; NULL: nothing waits. */
struct entry *queue_take(struct queue *queue, void *owner);

/* The worker has dealt with it (the entry is in no list): forgotten, or at
 * the end again when it came again. */
void queue_done(struct queue *queue, struct entry *entry);

/* The worker did not come to it: to the front. */
void queue_give_back(struct queue *queue, struct entry *entry);

/* Trouble that was not the message's: it waits for queue_wake, whatever
 * events say (giving a claim back is one), then is behind all others. */
void queue_rest(struct queue *queue, struct entry *entry);
void queue_wake(struct queue *queue);
/* The same for a trouble that is over in a moment. */
void queue_nod(struct queue *queue, struct entry *entry);
void queue_wake_soon(struct queue *queue);

#endif
