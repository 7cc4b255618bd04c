/* move.c - messages go to another node of the cluster; how far they are
 *
 * In     a choice of mail, a node; or undo
 * Out    jobs that move (sharing/moves.h); counts
 * Holds  the number of the order; the message that is open over several steps
 * Trusts control files as far as control_file_parse does
 * Spec   doc/protocol/control.md sections 4 and 5; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "journal/event.h"
#include "scheduler/control/act/act.h"
#include "scheduler/sharing/sharing.h"

#include "base/banned.h"

enum {
	MOVE_LOOK_MS = 20,
	MOVE_WAIT_MS = 1000	/* for the offers; then it says how many are
				 * not made yet */
};

/* NULL: there is none, or none any more. */
static struct move_order *
move_order(const struct act *act)
{
	return act->move == 0 || act->queue->sharing == NULL ? NULL :
	    sharing_move_order(act->queue->sharing, act->move);
}

/* ---- one message -------------------------------------------------------- */

/* Is somebody of the open message meant who is not final, as far as the budget
 * goes?  Not before its page is over is a no the last word. */
static bool
move_is_meant(struct act *act, unsigned *budget)
{
	const struct control_visit *visit = &act->visit;
	const struct control_group *group;
	const struct control_rcpt *rcpt;

	while ((rcpt = act_rcpt_next(act, &group, budget)) != NULL)
		if (!visit_has_outcome(visit, rcpt) &&
		    visit_is_meant(visit, group, rcpt))
			return true;
	return false;
}

static void
move_tell(const struct act *act, const char *node, uint64_t open)
{
	event(EV_MESSAGE_ORDERED, act->visit.control.id, "op",
	    act->request.is_undo ? SLICE("move undo") : SLICE("move"), "by",
	    slice_of(act->by), "reason", slice_of(act->request.reason),
	    "rcpts", event_number((int64_t)open), "via", slice_of(node),
	    NULL);
}

static void
move_count(struct act *act, uint64_t open)
{
	act->count.messages++;
	act->count.recipients += open;
}

static void
move_undo(struct act *act, struct job *job, uint64_t open)
{
	char why[MOVES_WHY_BYTES];
	int64_t since_s;
	const struct move_order *order = sharing_move_of(act->queue->sharing,
	    job, &since_s);

	if (order == NULL) {
		act->count.unchanged += open;
		return;
	}
	move_count(act, open);
	if (act->request.is_dry)
		return;
	move_tell(act, order->node, open);
	snprintf(why, sizeof(why), "%.150s wants it to stay", act->by);
	sharing_move_back(act->queue->sharing, job, why);
}

static void
move_give(struct act *act, struct job *job, uint64_t open)
{
	struct move_order *order = move_order(act);

	if (job->flags & JOB_MOVING) {
		act->count.unchanged += open;
		return;
	}
	if (job->flight_count > 0 || (order == NULL &&
	    !act->request.is_dry)) {
		act->count.active += open;
		return;
	}
	if (act->request.is_dry) {
		move_count(act, open);
		return;
	}
	switch (sharing_move(act->queue->sharing, job, order)) {
	case SHARING_MOVES:
		move_count(act, open);
		move_tell(act, act->request.to, open);
		break;
	case SHARING_BUSY:
		act->count.active += open;
		break;
	case SHARING_TOO_LARGE:
		act->count.unchanged += open;
		act->too_large++;
		break;
	}
}

/* The open message; it stays open when the budget ends before it is known
 * whether it is meant. */
static void
move_message(struct act *act, unsigned *budget)
{
	struct job *job = act->visit.job;
	uint64_t open = job->rcpt_count - job->final_count;
	bool is_meant = move_is_meant(act, budget);

	if (!is_meant && !act_page_is_over(act)) {
		visit_keep(&act->visit);
		return;
	}
	if (is_meant && act->request.is_undo)
		move_undo(act, job, open);
	else if (is_meant)
		move_give(act, job, open);
	act_page_end(act);
}

/* The messages that are chosen, a step's worth. */
static void
move_some(struct act *act)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES, rcpts = ACT_RCPTS;
	struct job *job;

	/* one that went meanwhile goes nowhere else */
	if (act->page.is_open && !visit_resume(&act->visit))
		act_page_end(act);
	if (visit_is_reading(&act->visit))
		return;
	if (act->page.is_open)
		move_message(act, &rcpts);
	while (files-- > 0 && rcpts > 0 && !act->page.is_open &&
	    !act_is_full(act) &&
	    (job = visit_next(&act->visit, &looks)) != NULL)
		if (visit_open(&act->visit, job, false)) {
			act_page_begin(act);
			move_message(act, &rcpts);
		}
}

/* ---- the order ---------------------------------------------------------- */

static bool
move_knows_node(const struct conf_cluster *cluster, const char *node)
{
	for (size_t i = 0; i < cluster->node_count; i++)
		if (strcmp(cluster->nodes[i], node) == 0)
			return true;
	return false;
}

/* Why nothing can move; NULL: it can. */
static const char *
move_obstacle(struct act *act, const char **out_code, struct err *err)
{
	const struct conf *conf = act->queue->conf;
	const char *to = act->request.to;
	const struct move_order *order;

	*out_code = "no-such";
	if (act->queue->sharing == NULL)
		return "this machine keeps no copies in a database (cluster "
		    "... { postgres ... })";
	if (act->request.is_undo)
		return NULL;
	if (!move_knows_node(&conf->cluster, to))
		return "there is no such node in the cluster";
	if (strcmp(conf->cluster.self, to) == 0)
		return "that is this machine";
	if (act->request.is_dry)
		return NULL;
	*out_code = "trouble";
	order = sharing_move_begin(act->queue->sharing, to, err);
	if (order == NULL)
		return err->text;
	act->move = order->number;
	return NULL;
}

/* Begun once.  false: refused. */
static bool
move_begin(struct act *act, struct str *out)
{
	const char *code, *words;
	struct err err;

	/* a reload may have taken the cluster away meanwhile */
	if (act->is_given && act->queue->sharing != NULL)
		return true;
	act->is_given = true;
	words = move_obstacle(act, &code, &err);
	if (words == NULL)
		return true;
	act_refuse(out, act->request.tag, code, words);
	return false;
}

static size_t
move_left(const struct act *act)
{
	const struct move_order *order = move_order(act);

	return order == NULL ? 0 : order->waiting;
}

static enum act_step
move_close(struct act *act, struct str *out)
{
	const struct move_order *order = move_order(act);

	act_done(act, out);
	act_counts(act, out);
	json_number(out, "too_large", (int64_t)act->too_large);
	json_number(out, "move", (int64_t)act->move);
	json_number(out, "waiting", (int64_t)move_left(act));
	if (order != NULL)
		json_text(out, "why", slice_of(order->why));
	json_close(out);
	act_journal(act);
	return ACT_DONE;
}

static bool
move_found_nothing(const struct act *act)
{
	return act->request.id_count > 0 && act->count.messages +
	    act->count.unchanged + act->count.active + act->count.final == 0;
}

/* All are chosen: until their offers are committed. */
static enum act_step
move_wait(struct act *act, struct str *out)
{
	int64_t now_ms = clock_steady_ms();

	if (act->end_ms == 0)
		act->end_ms = now_ms + MOVE_WAIT_MS;
	if (move_left(act) == 0 || now_ms >= act->end_ms)
		return move_close(act, out);
	act->wake_ms = now_ms + MOVE_LOOK_MS;
	return ACT_WAIT;
}

enum act_step
act_move(struct act *act, struct str *out)
{
	enum act_step step;

	if (act->end_ms != 0)
		return move_wait(act, out);
	if (!act_begin(act, out, &step))
		return step;
	if (!move_begin(act, out))
		return ACT_DONE;
	act_may_wait(act);
	move_some(act);
	if (act_is_full(act))
		act->has_more = act->visit.count > 0;
	else if (act_has_more(act))
		return act_more(act);
	if (move_found_nothing(act)) {
		act_refuse(out, act->request.tag, "no-such",
		    "no such message is in the queue");
		return ACT_DONE;
	}
	return move_wait(act, out);
}

/* ---- how far they are --------------------------------------------------- */

static void
move_add_order(const struct move_order *order, struct str *out)
{
	json_open(out);
	json_number(out, "move", (int64_t)order->number);
	json_text(out, "to", slice_of(order->node));
	json_number(out, "since", order->since_s);
	json_number(out, "waiting", (int64_t)order->waiting);
	json_number(out, "offered", (int64_t)order->offered);
	json_number(out, "left", (int64_t)order->left);
	json_number(out, "stayed", (int64_t)order->stayed);
	json_text(out, "why", slice_of(order->why));
	json_close(out);
}

enum act_step
act_moves(struct act *act, struct str *out)
{
	const struct moves *moves = act->queue->sharing == NULL ? NULL :
	    sharing_moves(act->queue->sharing);
	uint64_t count = 0;

	for (size_t i = 0; moves != NULL && i < MOVES_ORDERS; i++) {
		const struct move_order *order = moves_order_at(moves, i);

		if (order->number == 0)
			continue;
		move_add_order(order, out);
		count += order->waiting + order->offered;
	}
	act_done(act, out);
	json_number(out, "messages", (int64_t)count);
	json_close(out);
	return ACT_DONE;
}
