/* list.c - messages and recipients, and what keeps each
 *
 * In     a choice of mail
 * Out    a line a recipient (list, why) or a message (list, brief)
 * Holds  nothing between steps but the visit
 * Trusts control files as far as control_file_parse does
 * Spec   doc/protocol/control.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/smtp/xtext.h"
#include "mail/state.h"
#include "scheduler/control/act/act.h"
#include "scheduler/control/constraint.h"
#include "scheduler/control/limit_place.h"
#include "scheduler/control/suppose.h"
#include "scheduler/control/control.h"

#include "base/banned.h"

/* ---- members ----------------------------------------------------- */

static int64_t
list_expires_s(const struct vertex *vertex)
{
	if (vertex == NULL || vertex->state == VERTEX_DONE)
		return 0;
	return act_wall_s(vertex->job->born_ms) + vertex_expire_s(vertex);
}

static int64_t
list_age_s(const struct control_visit *visit)
{
	int64_t age_ms = visit->now_ms - visit->job->born_ms;

	return age_ms > 0 ? age_ms / 1000 : 0;
}

static void
list_add_message(const struct control_visit *visit,
    const struct control_group *group, struct str *out)
{
	const struct control_file *control = &visit->control;

	json_text(out, "id", slice_of(control->id));
	json_number(out, "file", (int64_t)visit->job->inode);
	json_text(out, "from", group->sender);
	json_number(out, "size", (int64_t)control->size_bytes);
	json_number(out, "age_s", list_age_s(visit));
	json_text(out, "user", control->user);
}

static void
list_add_order(const struct control_visit *visit,
    const struct control_rcpt *rcpt, struct str *out)
{
	if (control_rcpt_is_free(rcpt, visit->now_s) && !rcpt->is_cancelled)
		return;
	json_text(out, "by", rcpt->ordered_by);
	json_text(out, "reason", rcpt->order_reason);
	json_number(out, "until", rcpt->is_held ? rcpt->hold_until_s : 0);
}

static void
list_add_words(const struct control_rcpt *rcpt, const char *code_key,
    struct str *out)
{
	static const struct verdict none;
	const struct verdict *verdict = rcpt->last != NULL ?
	    &rcpt->last->verdict : &none;

	json_text(out, code_key, slice_of(verdict->status));
	json_text(out, "who", slice_of(verdict->who));
	json_text(out, "text", slice_of(verdict->text));
}

static void
list_add_rcpt(const struct control_visit *visit,
    const struct control_rcpt *rcpt, struct str *out)
{
	json_number(out, "offset", rcpt->offset);
	json_text(out, "to", rcpt->user);
	json_text(out, "channel", rcpt->channel);
	json_text(out, "host", rcpt->host);
	json_text(out, "state", slice_of(visit_state(visit, rcpt)));
	json_number(out, "tries", rcpt->tries);
}

/* ---- lines of list ----------------------------------------------- */

static void
list_add_rcpt_line(const struct control_visit *visit,
    const struct control_group *group,
    const struct control_rcpt *rcpt, struct str *out)
{
	const struct vertex *vertex = visit_vertex(visit, rcpt->offset);

	json_open(out);
	list_add_message(visit, group, out);
	list_add_rcpt(visit, rcpt, out);
	json_number(out, "next", constraint_next_s(vertex));
	json_number(out, "expires", list_expires_s(vertex));
	list_add_words(rcpt, "code", out);
	list_add_order(visit, rcpt, out);
	json_close(out);
}

/* The most urgent of two states. */
static const char *
list_is_more_urgent(const char *a, const char *b)
{
	static const enum mail_state order[] = { MAIL_STATE_ACTIVE,
		MAIL_STATE_READY, MAIL_STATE_ASKED, MAIL_STATE_DOWN,
		MAIL_STATE_SUSPENDED, MAIL_STATE_WAITING, MAIL_STATE_FROZEN,
		MAIL_STATE_HELD, MAIL_STATE_FAILED, MAIL_STATE_DELETED,
		MAIL_STATE_DONE };

	for (size_t i = 0; a != NULL && i < sizeof(order) / sizeof(order[0]);
	    i++) {
		if (strcmp(mail_states[order[i]].name, a) == 0)
			return a;
		if (strcmp(mail_states[order[i]].name, b) == 0)
			return b;
	}
	return b;
}

static void
list_add_brief(const struct control_visit *visit,
    const struct control_group *group, const char *state, struct str *out)
{
	const struct control_file *control = &visit->control;

	json_open(out);
	list_add_message(visit, group, out);
	json_text(out, "state", slice_of(state));
	json_number(out, "rcpts", (int64_t)control->rcpt_total);
	json_number(out, "open", (int64_t)(control->rcpt_total -
	    control->final_total));
	json_close(out);
}

/* ---- message by message ------------------------------------------ */

struct list_walk {
	void		(*rcpts)(struct act *act, struct str *out,
			    unsigned *budget);
	/* is_here: it did not go meanwhile */
	void		(*message_end)(struct act *act, bool is_here,
			    struct str *out);
	enum act_step	(*end)(struct act *act, struct str *out);
};

/* Go on with the message that is open.  False: the step is over. */
static bool
list_walk_message(struct act *act, const struct list_walk *list_walk,
    struct str *out,
    unsigned *budget)
{
	list_walk->rcpts(act, out, budget);
	if (act_page_is_over(act)) {
		list_walk->message_end(act, true, out);
		return true;
	}
	visit_keep(&act->visit);
	return false;
}

static enum act_step
list_walk(struct act *act, const struct list_walk *list_walk, struct str *out)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES, rcpts = ACT_RCPTS;
	enum act_step step;
	struct job *job;

	if (!act_begin(act, out, &step))
		return step;
	act_may_wait(act);
	if (act->page.is_open && !visit_resume(&act->visit))
		list_walk->message_end(act, false, out);
	if (visit_is_reading(&act->visit))
		return ACT_SYNC;
	if (act->page.is_open && !list_walk_message(act, list_walk, out,
	    &rcpts))
		return ACT_MORE;
	while (files-- > 0 && looks > 0 && rcpts > 0 &&
	    out->len < ACT_OUT_BYTES) {
		if (act_is_full(act)) {
			act->has_more = act->visit.count > 0;
			return list_walk->end(act, out);
		}
		job = visit_next(&act->visit, &looks);
		if (job == NULL)
			break;
		if (!visit_open(&act->visit, job, false))
			continue;
		act_page_begin(act);
		if (!list_walk_message(act, list_walk, out, &rcpts))
			return ACT_MORE;
	}
	return act_has_more(act) ? act_more(act) : list_walk->end(act, out);
}

/* ---- list -------------------------------------------------------- */

static void
list_rcpts(struct act *act, struct str *out, unsigned *budget)
{
	struct control_visit *visit = &act->visit;
	const struct control_group *group;
	const struct control_rcpt *rcpt;

	while ((rcpt = act_rcpt_next(act, &group, budget)) != NULL) {
		if (!visit_is_meant(visit, group, rcpt))
			continue;
		act->page.count++;
		if (act->page.first == NULL)
			act->page.first = group;
		act->page.state = list_is_more_urgent(act->page.state,
		    visit_state(visit, rcpt));
		if (act->request.is_brief)
			continue;
		list_add_rcpt_line(visit, group, rcpt, out);
		if (out->len >= ACT_OUT_BYTES)
			*budget = 0;
	}
}

/* Of one that went meanwhile, what was told is all. */
static void
list_message_end(struct act *act, bool is_here, struct str *out)
{
	struct control_visit *visit = &act->visit;

	if (act->page.count > 0) {
		if (act->request.is_brief && is_here)
			list_add_brief(visit, act->page.first, act->page.state,
			    out);
		act->count.messages++;
		act->count.recipients += act->page.count;
		strlcpy(act->last_id, visit->control.id, sizeof(act->last_id));
	}
	act_page_end(act);
}

static enum act_step
list_end(struct act *act, struct str *out)
{
	act_done(act, out);
	json_number(out, "messages", (int64_t)act->count.messages);
	json_number(out, "recipients", (int64_t)act->count.recipients);
	if (act->has_more)
		json_text(out, "next", slice_of(act->last_id));
	if (act_user(act) != NULL)	/* there may be more that is not his */
		json_text(out, "whose", SLICE("own"));
	json_close(out);
	return ACT_DONE;
}

enum act_step
act_list(struct act *act, struct str *out)
{
	static const struct list_walk list = { list_rcpts, list_message_end,
	    list_end };

	return list_walk(act, &list, out);
}

/* ---- why --------------------------------------------------------- */

/* Which way was chosen for it before a try, and in which words. */
static void
why_add_steered(const struct terms *terms, struct str *out)
{
	struct str text = STR_INIT;
	struct err err;

	if (terms->steered == 0)
		return;
	json_number(out, "steered", terms->steered);
	(void)xtext_decode(terms->via, &text, &err);
	json_text(out, "via", str_slice(&text));
	str_reset(&text);
	(void)xtext_decode(terms->via_words, &text, &err);
	json_text(out, "via_words", str_slice(&text));
	str_release(&text);
}

static void
why_line(const struct control_visit *visit, const struct control_rcpt *rcpt,
    struct str *out)
{
	struct vertex *vertex = rcpt->is_final ? NULL :
	    visit_vertex(visit, rcpt->offset);
	const struct thread *thread = vertex != NULL ? vertex->thread : NULL;
	const char *tls = terms_tls(&visit->control.terms);
	struct constraint why;

	constraint_find(visit, rcpt, &why);
	json_open(out);
	json_text(out, "id", slice_of(visit->control.id));
	list_add_rcpt(visit, rcpt, out);
	json_text(out, "zone", slice_of(thread != NULL ? thread->zone : ""));
	json_text(out, "code", slice_of(cause_rows[why.cause].code));
	json_number(out, "since", why.since_s);
	json_number(out, "until", why.until_s);
	json_text(out, "by", why.by);
	json_text(out, "reason", why.reason);
	if (why.limit > 0) {
		json_number(out, "limit", why.limit);
		json_number(out, "used", why.used);
	}
	limit_place_add(visit->agents, thread, &why, out);
	json_text(out, "said", slice_of(thread == NULL ? "" :
	    control_thread_said(thread)));
	json_number(out, "with", thread == NULL ? 0 : thread->ready_count +
	    thread->wait_count + thread->flight_count);
	list_add_words(rcpt, "code_last", out);
	json_number(out, "last", rcpt->last_try_s);
	json_number(out, "next", why.cause == CAUSE_FAILED ? why.until_s :
	    constraint_next_s(vertex));
	json_number(out, "expires", list_expires_s(vertex));
	json_number(out, "wish", rcpt->is_scheduled ? 0 : rcpt->next_s);
	json_bool(out, "queue_only", visit->control.terms.is_queue_only);
	why_add_steered(&visit->control.terms, out);
	if (tls != NULL)
		json_text(out, "tls", slice_of(tls));
	suppose_add_facts(visit->agents, thread, out);
	if (vertex != NULL && vertex->state != VERTEX_DONE &&
	    why.cause != CAUSE_DELETED)
		control_estimate(visit->queue, vertex, out);
	json_close(out);
}

static void
why_rcpts(struct act *act, struct str *out, unsigned *budget)
{
	struct control_visit *visit = &act->visit;
	const struct control_group *group;
	const struct control_rcpt *rcpt;

	while ((rcpt = act_rcpt_next(act, &group, budget)) != NULL) {
		if (visit_is_over(rcpt) ||
		    !visit_is_meant(visit, group, rcpt))
			continue;
		why_line(visit, rcpt, out);
		act->page.count++;
		if (out->len >= ACT_OUT_BYTES)
			*budget = 0;
	}
}

static void
why_message_end(struct act *act, bool is_here, struct str *out)
{
	(void)is_here;
	(void)out;
	if (act->page.count > 0 || act->request.id_count > 0) {
		act->count.messages++;
		act->count.recipients += act->page.count;
		act->count.final += act->visit.control.final_total;
	}
	act_page_end(act);
}

/* Nobody is told whether a message of others is there. */
static enum act_step
why_end(struct act *act, struct str *out)
{
	if (act->count.messages == 0 && act->request.id_count > 0) {
		act_refuse(out, act->request.tag, "no-such",
		    "no such message is in the queue");
		return ACT_DONE;
	}
	act_done(act, out);
	json_number(out, "messages", (int64_t)act->count.messages);
	json_number(out, "recipients", (int64_t)act->count.recipients);
	json_number(out, "final", (int64_t)act->count.final);
	json_close(out);
	return ACT_DONE;
}

enum act_step
act_why(struct act *act, struct str *out)
{
	static const struct list_walk why = { why_rcpts, why_message_end,
	    why_end };

	return list_walk(act, &why, out);
}
