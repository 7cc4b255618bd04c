/* moves.h - messages that an order gives to another node
 *
 * A job that moves is as one at an agent: nobody rereads, drops or changes it,
 * and nothing of it is delivered, until it has left or stays.
 *
 *	KEEPING	  its copy gets its present records (`kept`)
 *	READY	  to be offered
 *	OFFERED	  asked every MOVES_LOOK_MS whether it has left
 *	BACK	  to be withdrawn: it has left then, or stays
 *	DOUBT	  no job: a file whose id is of those that others have; it may
 *		  have come back since, so that its fate is asked first
 *
 * An offer without an answer may have an effect, and may still have one: the
 * owner asks for the list of what others have, which makes it void
 * (moves_listed).  Of this folder alone, but for sharing.h.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SHARING_MOVES_H
#define ZM_SCHEDULER_SHARING_MOVES_H

#include "scheduler/plan/queue.h"
#include "scheduler/sharing/taken.h"

enum {
	MOVES_LOOK_MS = 2000,
	MOVES_GIVE_UP_MS = 300000,	/* nobody took it for so long */
	MOVES_IDS = 100,		/* in a question */
	MOVES_ORDERS = 16,		/* that are remembered */
	MOVES_JOIN_S = 10,		/* more to the same node is one order */
	MOVES_NODE_BYTES = 65,
	MOVES_WHY_BYTES = 200
};

/* What becomes of them; the functions may free the job. */
struct moves_kind {
	/* node has it now. */
	void	(*left)(void *context, struct job *job, const char *node);
	/* It goes on here. */
	void	(*stays)(void *context, struct job *job);
	/* The fate of a file in doubt is known: read it again. */
	void	(*known)(void *context, ino_t inode);
};

/* An order, and what became of its messages. */
struct move_order {
	uint64_t	 number;	/* from 1; 0: none */
	char		 node[MOVES_NODE_BYTES];
	int64_t		 since_s;	/* wall */
	int64_t		 progress_ms;	/* steady: one has left, or it was
					 * given */
	size_t		 waiting, offered, left, stayed;
	char		 why[MOVES_WHY_BYTES];	/* the last one stayed */
};

struct moves;

/* No moves yet.  kind and context are for all functions of it. */
struct moves *moves_new(struct queue *queue, const struct moves_kind *kind,
    void *context);
/* The jobs are as they were before, but for their vertices; no function is
 * called.  NULL is harmless. */
void moves_free(struct moves **moves);

/* A new order, or the last one, if it is about the same node and was given a
 * moment ago.  NULL: too many are under way. */
struct move_order *moves_order_new(struct moves *moves, const char *node);
/* The order of that number; NULL: it is forgotten. */
struct move_order *moves_order_find(struct moves *moves, uint64_t number);
/* The i-th of the orders that are remembered; number 0: none. */
const struct move_order *moves_order_at(const struct moves *moves, size_t i);

/* The job moves from now on: KEEPING.  Nothing of it may be at an agent. */
void moves_add(struct moves *moves, struct job *job,
    struct move_order *order);
/* Its copy is as it is. */
void moves_kept(struct moves *moves, struct job *job);
/* It cannot be copied, or somebody wants it to stay. */
void moves_take_back(struct moves *moves, struct job *job, const char *why);
/* Where it goes, and since when (wall); NULL: it does not move. */
const struct move_order *moves_of(struct moves *moves, const struct job *job,
    int64_t *out_since_s);

/* Ask what became of a file. */
void moves_doubt(struct moves *moves, ino_t inode, const char *id);

/* Append the next question, unless one is out or there is none.  serial: of
 * the list that counts; 0: none does, and nothing may be offered. */
bool moves_ask(struct moves *moves, uint64_t serial, struct str *out);
/* "left ID NODE": a line of the answer. */
void moves_take_left(struct moves *moves, struct slice id, struct slice node);
/* Its last line, without "ok".  What turns out not to be others' is taken out
 * of *taken.  true: a new list is needed. */
bool moves_answered(struct moves *moves, char token, struct slice answer,
    struct taken_list *taken);
/* The question that was out gets no answer.  true: a new list is needed. */
bool moves_lost(struct moves *moves);
/* The list has come that makes all offers of before void. */
void moves_listed(struct moves *moves, const struct taken_list *taken);
/* All that moves stays, and nothing is asked any more. */
void moves_stay_all(struct moves *moves, const char *why);
/* Every second: give up what nobody takes; ask again what had no answer. */
void moves_tick(struct moves *moves);

#endif
