/* moves.c - messages that an order gives to another node
 *
 * In     jobs and orders; answers of share
 * Out    `offer`, `left` and `withdraw` to share; what left, what stays
 * Holds  the moves, by state; the last orders; one question
 * Trusts share's word about who has a message
 * Spec   moves.h; doc/protocol/share.md section 4; doc/CLUSTER.md, Moving mail
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "journal/event.h"
#include "scheduler/sharing/moves.h"

#include "base/banned.h"

enum move_state { MOVE_KEEPING, MOVE_READY, MOVE_OFFERED, MOVE_BACK,
	MOVE_DOUBT, MOVE_STATES };

enum { MOVES_BUCKETS = 4096 };

struct move {
	TAILQ_ENTRY(move) entry;
	LIST_ENTRY(move) bucket;
	struct move_order *order;	/* NULL: MOVE_DOUBT */
	ino_t		 inode;
	char		 id[SPOOL_ID_BYTES];
	enum move_state	 state;
	int64_t		 since_ms;	/* steady: offered */
	int64_t		 since_s;	/* wall: ordered */
	unsigned	 round;		/* the last one it was asked in */
	bool		 is_asked;	/* the question that is out has it */
	bool		 is_called_back;	/* when it is answered */
	char		 why[MOVES_WHY_BYTES];	/* BACK */
};
TAILQ_HEAD(move_list, move);
LIST_HEAD(move_bucket, move);

struct moves {
	struct queue	*queue;
	const struct moves_kind *kind;
	void		*context;
	struct move_list lists[MOVE_STATES];
	struct move_bucket buckets[MOVES_BUCKETS];	/* by inode; but */
	struct move_bucket doubts[MOVES_BUCKETS];	/* MOVE_DOUBT */
	struct move_order orders[MOVES_ORDERS];
	uint64_t	 order_count;	/* given so far */
	unsigned	 round;
	int64_t		 look_ms;	/* the next round */
	bool		 is_tired;	/* had no answer: after a tick */
	bool		 is_busy;	/* jobs come and go: ask later */
	/* the question that is out */
	char		 token;		/* 'o' offer, 'f' left, 'w' withdraw */
	size_t		 asked_count;
	struct {
		struct move	*move;
		char		 taker[MOVES_NODE_BYTES];	/* "": none */
	}		 asked[MOVES_IDS];
};

static struct move_bucket *
moves_bucket(struct moves *moves, ino_t inode)
{
	return &moves->buckets[inode % MOVES_BUCKETS];
}

static struct move *
moves_find(struct moves *moves, const struct job *job)
{
	struct move *move;

	LIST_FOREACH(move, moves_bucket(moves, job->inode), bucket)
		if (move->inode == job->inode)
			return move;
	return NULL;
}

static void
move_enter(struct moves *moves, struct move *move, enum move_state state)
{
	TAILQ_REMOVE(&moves->lists[move->state], move, entry);
	TAILQ_INSERT_TAIL(&moves->lists[state], move, entry);
	move->state = state;
}

static bool
move_waits(const struct move *move)
{
	return move->state == MOVE_KEEPING || move->state == MOVE_READY;
}

/* Its job, which is nobody's now; the move is freed. */
static struct job *
move_end(struct moves *moves, struct move *move)
{
	struct job *job = job_table_find(&moves->queue->jobs, move->inode);

	if (move_waits(move))
		move->order->waiting--;
	else
		move->order->offered--;
	TAILQ_REMOVE(&moves->lists[move->state], move, entry);
	LIST_REMOVE(move, bucket);
	mem_free(&move);
	job->flags &= (uint16_t)~JOB_MOVING;
	job->flight_count--;
	return job;
}

static void
move_leaves(struct moves *moves, struct move *move, const char *node)
{
	move->order->left++;
	move->order->progress_ms = clock_steady_ms();
	moves->kind->left(moves->context, move_end(moves, move), node);
}

static void
move_stays(struct moves *moves, struct move *move, const char *why)
{
	struct move_order *order = move->order;

	order->stayed++;
	snprintf(order->why, sizeof(order->why), "%s", why);
	event(EV_MOVE_WITHDRAWN, move->id, "node", slice_of(order->node),
	    "reason", slice_of(order->why), NULL);
	moves->kind->stays(moves->context, move_end(moves, move));
}

/* ---- orders ------------------------------------------------------------- */

struct move_order *
moves_order_find(struct moves *moves, uint64_t number)
{
	for (size_t i = 0; i < MOVES_ORDERS; i++)
		if (moves->orders[i].number == number)
			return &moves->orders[i];
	return NULL;
}

struct move_order *
moves_order_new(struct moves *moves, const char *node)
{
	struct move_order *best = moves_order_find(moves,
	    moves->order_count);

	if (best != NULL && best->number > 0 && best->stayed == 0 &&
	    strcmp(best->node, node) == 0 &&
	    clock_wall_s() - best->since_s < MOVES_JOIN_S) {
		best->progress_ms = clock_steady_ms();
		return best;
	}
	best = NULL;
	for (size_t i = 0; i < MOVES_ORDERS; i++) {
		struct move_order *order = &moves->orders[i];

		if (order->waiting + order->offered == 0 && (best == NULL ||
		    order->number < best->number))
			best = order;
	}
	if (best == NULL)
		return NULL;
	*best = (struct move_order){ .number = ++moves->order_count,
	    .since_s = clock_wall_s(), .progress_ms = clock_steady_ms() };
	snprintf(best->node, sizeof(best->node), "%s", node);
	return best;
}

const struct move_order *
moves_order_at(const struct moves *moves, size_t i)
{
	return &moves->orders[i];
}

const struct move_order *
moves_of(struct moves *moves, const struct job *job, int64_t *out_since_s)
{
	const struct move *move = moves_find(moves, job);

	if (move == NULL)
		return NULL;
	*out_since_s = move->since_s;
	return move->order;
}

/* ---- in and out --------------------------------------------------------- */

static struct move *
move_new(struct moves *moves, ino_t inode, const char *id,
    enum move_state state)
{
	struct move *move = mem_alloc(1, sizeof(*move));

	move->inode = inode;
	snprintf(move->id, sizeof(move->id), "%s", id);
	move->state = state;
	move->since_s = clock_wall_s();
	TAILQ_INSERT_TAIL(&moves->lists[state], move, entry);
	return move;
}

void
moves_add(struct moves *moves, struct job *job, struct move_order *order)
{
	struct job_table *jobs = &moves->queue->jobs;
	struct move *move;

	for (size_t i = 0; i < job->vertex_count; i++) {
		plan_forget(&moves->queue->plan, &job->vertices[i]);
		job->vertices[i].park = PARK_NONE;
	}
	job_list_remove(jobs, JOB_FRESH, job);
	job_list_remove(jobs, JOB_OWING, job);
	job_list_remove(jobs, JOB_KEPT, job);
	job_rest(job);
	job->flight_count++;	/* nobody rereads or drops it */
	job->flags |= JOB_MOVING;
	move = move_new(moves, job->inode, job->id, MOVE_KEEPING);
	move->order = order;
	LIST_INSERT_HEAD(moves_bucket(moves, job->inode), move, bucket);
	order->waiting++;
}

void
moves_kept(struct moves *moves, struct job *job)
{
	struct move *move = moves_find(moves, job);

	if (move != NULL && move->state == MOVE_KEEPING)
		move_enter(moves, move, MOVE_READY);
}

void
moves_take_back(struct moves *moves, struct job *job, const char *why)
{
	struct move *move = moves_find(moves, job);

	if (move == NULL)
		return;
	if (move_waits(move)) {
		move_stays(moves, move, why);
		return;
	}
	if (move->state != MOVE_OFFERED)
		return;
	snprintf(move->why, sizeof(move->why), "%s", why);
	if (move->is_asked)
		move->is_called_back = true;
	else
		move_enter(moves, move, MOVE_BACK);
}

void
moves_doubt(struct moves *moves, ino_t inode, const char *id)
{
	struct move_bucket *bucket = &moves->doubts[inode % MOVES_BUCKETS];
	struct move *move;

	LIST_FOREACH(move, bucket, bucket)
		if (move->inode == inode && strcmp(move->id, id) == 0)
			return;
	move = move_new(moves, inode, id, MOVE_DOUBT);
	LIST_INSERT_HEAD(bucket, move, bucket);
	moves->look_ms = 0;
}

/* ---- questions ---------------------------------------------------------- */

static void
moves_say(struct moves *moves, struct move *move, struct str *out)
{
	str_addf(out, " %s", move->id);
	move->is_asked = true;
	moves->asked[moves->asked_count].taker[0] = '\0';
	moves->asked[moves->asked_count++].move = move;
}

static void
moves_ask_back(struct moves *moves, struct str *out)
{
	struct move *move;

	str_adds(out, "w withdraw");
	TAILQ_FOREACH(move, &moves->lists[MOVE_BACK], entry) {
		if (moves->asked_count == MOVES_IDS)
			break;
		moves_say(moves, move, out);
	}
	str_addc(out, '\n');
}

/* From now on each may be the other node's, whatever is answered. */
static void
moves_offer(struct moves *moves, uint64_t serial, struct str *out)
{
	struct move *move = TAILQ_FIRST(&moves->lists[MOVE_READY]);
	struct move_order *order = move->order;

	str_addf(out, "o offer %" PRIu64 " %s", serial, order->node);
	while ((move = TAILQ_FIRST(&moves->lists[MOVE_READY])) != NULL &&
	    move->order == order && moves->asked_count < MOVES_IDS) {
		move_enter(moves, move, MOVE_OFFERED);
		move->since_ms = clock_steady_ms();
		order->waiting--;
		order->offered++;
		moves_say(moves, move, out);
	}
	str_addc(out, '\n');
}

static void
moves_look_at(struct moves *moves, enum move_state state, struct str *out)
{
	struct move *move;

	while ((move = TAILQ_FIRST(&moves->lists[state])) != NULL &&
	    move->round != moves->round && moves->asked_count < MOVES_IDS) {
		move->round = moves->round;
		move_enter(moves, move, state);		/* the last one */
		if (moves->asked_count == 0)
			str_adds(out, "f left");
		moves_say(moves, move, out);
	}
}

/* A round goes through all of them. */
static void
moves_look(struct moves *moves, struct str *out)
{
	int64_t now_ms = clock_steady_ms();

	if (now_ms < moves->look_ms)
		return;
	moves_look_at(moves, MOVE_DOUBT, out);
	moves_look_at(moves, MOVE_OFFERED, out);
	if (moves->asked_count > 0) {
		str_addc(out, '\n');
		return;
	}
	moves->round++;
	moves->look_ms = now_ms + MOVES_LOOK_MS;
}

bool
moves_ask(struct moves *moves, uint64_t serial, struct str *out)
{
	if (moves->asked_count > 0 || moves->is_tired || moves->is_busy)
		return false;
	if (!TAILQ_EMPTY(&moves->lists[MOVE_BACK])) {
		moves->token = 'w';
		moves_ask_back(moves, out);
	} else if (!TAILQ_EMPTY(&moves->lists[MOVE_READY]) && serial != 0) {
		moves->token = 'o';
		moves_offer(moves, serial, out);
	} else {
		moves->token = 'f';
		moves_look(moves, out);
	}
	return moves->asked_count > 0;
}

/* ---- answers ------------------------------------------------------------ */

void
moves_take_left(struct moves *moves, struct slice id, struct slice node)
{
	for (size_t i = 0; i < moves->asked_count; i++)
		if (slice_is(id, moves->asked[i].move->id))
			snprintf(moves->asked[i].taker,
			    sizeof(moves->asked[i].taker), SLICE_FMT,
			    SLICE_ARG(node));
}

static bool
moves_has_word(struct slice words, const char *word)
{
	struct slice one;

	while (slice_word(&words, &one))
		if (slice_is(one, word))
			return true;
	return false;
}

/* "offered ID ...": what has no row stays.  "none WORDS": nothing was
 * offered. */
static bool
move_is_offered(const struct move *move, struct slice answer)
{
	return slice_starts(answer, "offered") &&
	    moves_has_word(answer, move->id);
}

static void
move_is_refused(struct moves *moves, struct move *move, struct slice answer)
{
	char why[MOVES_WHY_BYTES];

	snprintf(why, sizeof(why), SLICE_FMT, SLICE_ARG(answer));
	move_stays(moves, move, slice_starts(answer, "none ") ?
	    why + strlen("none ") : "it has no copy in the database");
}

static void
move_is_known(struct moves *moves, struct move *move, const char *taker,
    struct taken_list *taken)
{
	ino_t inode = move->inode;

	taken_settle(taken, move->id, taker[0] != '\0');
	LIST_REMOVE(move, bucket);
	TAILQ_REMOVE(&moves->lists[MOVE_DOUBT], move, entry);
	mem_free(&move);
	moves->kind->known(moves->context, inode);
}

/* No question has it any more.  Somebody may have called it back meanwhile. */
static void
move_is_free(struct moves *moves, struct move *move)
{
	move->is_asked = false;
	if (move->is_called_back && move->state == MOVE_OFFERED)
		move_enter(moves, move, MOVE_BACK);
	move->is_called_back = false;
}

static void
move_answered(struct moves *moves, struct move *move, const char *taker,
    struct slice answer, struct taken_list *taken)
{
	bool was_offered = moves->token == 'o';

	if (move->state == MOVE_DOUBT)
		move_is_known(moves, move, taker, taken);
	else if (was_offered && !move_is_offered(move, answer))
		move_is_refused(moves, move, answer);
	else if (taker[0] != '\0')
		move_leaves(moves, move, taker);
	else if (moves->token == 'w')
		move_stays(moves, move, move->why);
	else
		move_is_free(moves, move);
}

bool
moves_lost(struct moves *moves)
{
	bool is_unknown = moves->asked_count > 0 && moves->token == 'o';

	for (size_t i = 0; i < moves->asked_count; i++)
		move_is_free(moves, moves->asked[i].move);
	moves->asked_count = 0;
	return is_unknown;
}

bool
moves_answered(struct moves *moves, char token, struct slice answer,
    struct taken_list *taken)
{
	size_t count = moves->asked_count;
	bool is_known = token == 'o' ? slice_starts(answer, "offered") ||
	    slice_starts(answer, "none ") : answer.n == 0;

	if (count == 0 || token != moves->token)
		return false;
	if (!is_known) {
		moves->is_tired = true;
		return moves_lost(moves);
	}
	moves->is_busy = true;
	for (size_t i = 0; i < count; i++)
		move_answered(moves, moves->asked[i].move,
		    moves->asked[i].taker, answer, taken);
	moves->asked_count = 0;
	moves->is_busy = false;
	return false;
}

/* What it does not name is here, and not offered any more. */
void
moves_listed(struct moves *moves, const struct taken_list *taken)
{
	static const enum move_state states[] = { MOVE_OFFERED, MOVE_BACK };
	struct move *move, *next;

	moves->is_busy = true;
	for (size_t i = 0; i < 2; i++)
		TAILQ_FOREACH_SAFE(move, &moves->lists[states[i]], entry,
		    next) {
			const char *node = taken_node(taken, move->id);

			if (move->is_asked)
				continue;
			if (node != NULL) {
				move_leaves(moves, move, node);
			} else if (move->state == MOVE_BACK) {
				move_stays(moves, move, move->why);
			} else {
				move_enter(moves, move, MOVE_READY);
				move->order->offered--;
				move->order->waiting++;
			}
		}
	moves->is_busy = false;
}

void
moves_stay_all(struct moves *moves, const char *why)
{
	struct move *move;

	moves->is_busy = true;
	moves->asked_count = 0;
	for (int state = MOVE_KEEPING; state <= MOVE_BACK; state++)
		while ((move = TAILQ_FIRST(&moves->lists[state])) != NULL)
			move_stays(moves, move, why);
}

/* ---- time --------------------------------------------------------------- */

static void
move_give_up(struct moves *moves, struct move *move)
{
	char why[MOVES_WHY_BYTES];

	snprintf(why, sizeof(why), "%s has not taken it for %d minutes",
	    move->order->node, MOVES_GIVE_UP_MS / 60000);
	moves_take_back(moves, job_table_find(&moves->queue->jobs,
	    move->inode), why);
}

void
moves_tick(struct moves *moves)
{
	static const enum move_state states[] = { MOVE_KEEPING, MOVE_READY,
		MOVE_OFFERED };
	int64_t end_ms = clock_steady_ms() - MOVES_GIVE_UP_MS;
	struct move *move, *next;

	moves->is_tired = false;
	moves->is_busy = true;
	for (size_t i = 0; i < 3; i++)
		TAILQ_FOREACH_SAFE(move, &moves->lists[states[i]], entry,
		    next)
			if ((move_waits(move) ? move->order->progress_ms :
			    move->since_ms) < end_ms)
				move_give_up(moves, move);
	moves->is_busy = false;
}

/* ---- beginning and end -------------------------------------------------- */

struct moves *
moves_new(struct queue *queue, const struct moves_kind *kind, void *context)
{
	struct moves *moves = mem_alloc(1, sizeof(*moves));

	moves->queue = queue;
	moves->kind = kind;
	moves->context = context;
	moves->round = 1;
	for (size_t i = 0; i < MOVE_STATES; i++)
		TAILQ_INIT(&moves->lists[i]);
	return moves;
}

void
moves_free(struct moves **pmoves)
{
	struct moves *moves = *pmoves;
	struct move *move;

	if (moves == NULL)
		return;
	for (size_t i = 0; i < MOVE_STATES; i++)
		while ((move = TAILQ_FIRST(&moves->lists[i])) != NULL) {
			if (move->state == MOVE_DOUBT) {
				LIST_REMOVE(move, bucket);
				TAILQ_REMOVE(&moves->lists[i], move, entry);
				mem_free(&move);
			} else {
				(void)move_end(moves, move);
			}
		}
	mem_free(pmoves);
}
