/* reroute.c - what is left of a message goes through the router again
 *
 * In     a choice of mail
 * Out    messages back in router/; or new ones for those that remain
 * Holds  one message at a time, a large one over several steps
 * Trusts control files as far as control_file_parse does
 * Spec   doc/protocol/control.md section 5; doc/INTERNALS.md row D8
 *
 * SPDX-License-Identifier: ISC
 */
#include "journal/event.h"
#include "base/json.h"
#include "grammar/smtp/xtext.h"
#include "scheduler/control/act/act.h"
#include "scheduler/outcome/resend.h"
#include "scheduler/intake/intake.h"
#include "scheduler/jobs/pending.h"

#include "base/banned.h"

enum { REROUTE_PIECE = 4096 };	/* recipients of a large message in a step */

/* The recipients of one message that are meant, open and at no agent. */
struct choice {
	struct resend	 those;
	size_t		 active;
	bool		 is_whole;	/* everybody, and nobody is final */
};

static void
reroute_add(struct act *act, struct choice *choice,
    const struct control_group *group, const struct control_rcpt *rcpt)
{
	const struct vertex *vertex = visit_vertex(&act->visit, rcpt->offset);

	if (!control_rcpt_is_failed(rcpt) &&
	    visit_has_outcome(&act->visit, rcpt)) {
		act->count.final++;
	} else if ((act->visit.job->flags & JOB_MOVING) ||
	    (vertex != NULL && vertex->state == VERTEX_FLIGHT)) {
		choice->active++;
	} else {
		choice->those.groups[choice->those.count] = group;
		choice->those.rcpts[choice->those.count++] = rcpt;
	}
}

static void
reroute_choose(struct act *act, struct choice *choice)
{
	struct control_visit *visit = &act->visit;
	const struct control_file *control = &visit->control;

	*choice = (struct choice){ .active = 0 };
	resend_init(&choice->those, control->rcpt_total);
	for (size_t i = 0; i < control->group_count; i++)
		for (size_t k = 0; k < control->groups[i].rcpt_count; k++)
			if (visit_is_meant(visit, &control->groups[i],
			    &control->groups[i].rcpts[k]))
				reroute_add(act, choice, &control->groups[i],
				    &control->groups[i].rcpts[k]);
	/* a way that was chosen stands in the envelope */
	choice->is_whole = choice->those.count == control->rcpt_total &&
	    act->request.via == NULL && control->terms.via.n == 0;
}

/* The way that was chosen, and the words for it: "REASON, by WHO". */
static void
reroute_steer(struct act *act, struct resend *those)
{
	const struct request *request = &act->request;
	struct str via = STR_INIT, words = STR_INIT;

	those->is_steered = request->via != NULL;
	if (!those->is_steered)
		return;
	xtext_encode(&via, slice_of(request->via));
	xtext_encode(&words, slice_of(arena_printf(act->arena, "%s%sby %s",
	    request->reason, request->reason[0] != '\0' ? ", " : "",
	    act->by)));
	those->via = slice_copy(act->arena, str_slice(&via));
	those->via_words = slice_copy(act->arena, str_slice(&words));
	str_release(&via);
	str_release(&words);
}

/* ---- some of a message -------------------------------------------- */

static void
reroute_tell(void *context, const struct job *job, size_t count, const char *as)
{
	struct act *act = context;

	act->count.recipients += count;
	event(EV_MESSAGE_ORDERED, job->id, "op", SLICE("reroute"), "by",
	    slice_of(act->by), "reason", slice_of(act->request.reason),
	    "rcpts", event_number((int64_t)count), "as", slice_of(as), "via",
	    slice_of(act->request.via != NULL ? act->request.via : ""), NULL);
}

/* Those that had failed: they go on as part of another message. */
static void
reroute_tell_failed(struct act *act, const struct resend *those)
{
	for (size_t i = 0; i < those->count; i++)
		if (control_rcpt_is_failed(those->rcpts[i]))
			act_tell_reopened(act, those->rcpts[i]);
}

/* ---- a message --------------------------------------------------- */

/* Users that are programs or files have no address to be routed by. */
static void
reroute_strip(struct act *act, struct resend *those)
{
	size_t kept = 0;

	for (size_t i = 0; i < those->count; i++) {
		if (!resend_is_address(those->rcpts[i]->user)) {
			act->count.unchanged++;
			continue;
		}
		those->rcpts[kept] = those->rcpts[i];
		those->groups[kept++] = those->groups[i];
	}
	those->count = kept;
}

static int
reroute_whole(struct act *act, struct job *job, const struct resend *those,
    size_t count, struct err *err)
{
	char name[SPOOL_NAME_BYTES];
	ino_t inode = job->inode;

	spool_hashed_name(act->queue->spool, inode, name);
	reroute_tell_failed(act, those);
	reroute_tell(act, job, count, "");
	queue_drop(act->queue, job);
	/* P4 -> S2 (D8) */
	if (spool_reroute_queued(act->queue->spool, name, err) == 0) {
		act->has_moved = true;
		return 0;
	}
	intake_now(act->intake, inode);
	return -1;
}

static int
reroute_resend(struct act *act, struct job *job, struct resend *those,
    struct err *err)
{
	int result = 0;
	bool wrote;

	reroute_strip(act, those);
	reroute_steer(act, those);
	reroute_tell_failed(act, those);
	visit_written(&act->visit);
	if (those->count > 0)
		result = pending_write(job, &act->visit.control, &wrote,
		    err) < 0 ||
		    resend(act->queue->spool, job, those, reroute_tell, act,
		    err) < 0 ?
		    -1 : 0;
	if (result == 0 && those->count > 0)
		act_sync_records(act, &job->control_fd, 1);
	return result;
}

static int
reroute_part(struct act *act, struct job *job, struct resend *those,
    struct err *err)
{
	int result = reroute_resend(act, job, those, err);

	if (job->flight_count > 0)
		job->flags |= JOB_RELOAD;
	else
		intake_again(act->intake, job);
	return result;
}

static int
reroute_message(struct act *act, struct job *job, struct err *err)
{
	struct choice choice;
	int result = 0;

	reroute_choose(act, &choice);
	act->count.active += choice.active;
	if (act->request.is_dry) {
		act->count.recipients += choice.those.count;
	} else if (choice.those.count == 0) {
		job_rest(job);
	} else if (choice.is_whole &&
	    job->flight_count == 0) {
		result = reroute_whole(act, job, &choice.those,
		    choice.those.count, err);
	} else if (job->flight_count > 0) {
		/* its records would be raced by the agent's: later */
		act->count.active += choice.those.count;
		choice.those.count = 0;
	} else {
		result = reroute_part(act, job, &choice.those, err);
	}
	act->count.messages += choice.those.count > 0 && result == 0;
	resend_release(&choice.those);
	return result;
}

/* ---- a large message --------------------------------------------- */

/* All of it, and nobody is final: it is known without a look at them. */
static bool
reroute_is_whole(const struct act *act)
{
	const struct request *request = &act->request;
	const struct control_file *control = &act->visit.control;
	const struct job *job = act->visit.job;

	return !request->is_dry && request->via == NULL &&
	    request->offset_count == 0 && (request->selector == NULL ||
	    selector_is_all(request->selector)) &&
	    control->final_total == 0 && control->terms.via.n == 0 &&
	    job->flight_count == 0 && (job->flags & JOB_MOVING) == 0 &&
	    job->final_count == 0 && job->rcpt_count == job->rcpt_total;
}

/* Some of the open message, from where the step before ended. */
static void
reroute_choose_some(struct act *act, struct choice *choice, unsigned *budget)
{
	const struct control_group *group;
	const struct control_rcpt *rcpt;

	*choice = (struct choice){ .active = 0 };
	resend_init(&choice->those, *budget);
	while ((rcpt = act_rcpt_next(act, &group, budget)) != NULL)
		if (visit_is_meant(&act->visit, group, rcpt))
			reroute_add(act, choice, group, rcpt);
}

/* Who goes as another message is given to no agent before this file is read
 * again. */
static void
reroute_stop(struct act *act, const struct resend *those)
{
	for (size_t i = 0; i < those->count; i++) {
		struct vertex *vertex = visit_vertex(&act->visit,
		    those->rcpts[i]->offset);

		if (vertex == NULL || vertex->state == VERTEX_FLIGHT)
			continue;
		plan_forget(&act->queue->plan, vertex);
		vertex->is_stopped = true;	/* it may be on its way there */
	}
}

/* A piece becomes a message of its own (for each sender). */
static int
reroute_some(struct act *act, unsigned *budget, struct err *err)
{
	struct job *job = act->visit.job;
	struct choice choice;
	int result = 0;

	reroute_choose_some(act, &choice, budget);
	act->count.active += choice.active;
	if (act->request.is_dry) {
		act->count.recipients += choice.those.count;
	} else if (job->flight_count > 0) {
		act->count.active += choice.those.count;
		choice.those.count = 0;
	} else if (choice.those.count > 0) {
		reroute_stop(act, &choice.those);
		result = reroute_resend(act, job, &choice.those, err);
	}
	act->page.count += choice.those.count;
	resend_release(&choice.those);
	return result;
}

/* Has anything of it gone elsewhere, it is read again. */
static void
reroute_large_end(struct act *act)
{
	bool is_changed = act->page.count > 0 && !act->request.is_dry;
	struct job *job = visit_job(&act->visit);

	act->count.messages += act->page.count > 0;
	act_page_end(act);
	if (job != NULL && is_changed)
		act_settle_job(act, job);
	else if (job != NULL)
		job_rest(job);
}

/* Go on with the message that is open. */
static int
reroute_large(struct act *act, struct err *err)
{
	unsigned budget = REROUTE_PIECE;
	int result = 0;

	if (act->page.group == 0 && act->page.rcpt == 0 &&
	    reroute_is_whole(act)) {
		struct job *job = act->visit.job;
		size_t count = act->visit.control.rcpt_total;
		struct resend nobody = { .groups = NULL };

		result = reroute_whole(act, job, &nobody, count, err);
		act->count.messages += result == 0;
		act_page_end(act);
		return result;
	}
	result = reroute_some(act, &budget, err);
	if (result < 0 || act_page_is_over(act))
		reroute_large_end(act);
	return result;
}

static int
reroute_resume(struct act *act, struct err *err)
{
	int result = act_page_resume(act, err);

	if (result != 1 && act->page.is_open)
		reroute_large_end(act);
	return result < 0 ? -1 : 0;
}

void
act_reroute_drop(struct act *act)
{
	reroute_large_end(act);
}

/* ---- the act ----------------------------------------------------- */

/* A message that was opened. */
static int
reroute_opened(struct act *act, struct job *job, struct err *err)
{
	if (act->visit.opening == NULL)
		return reroute_message(act, job, err);
	act_page_begin(act);
	return reroute_large(act, err);
}

/* A step's worth. */
static int
reroute_step(struct act *act, struct err *err)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES;
	struct job *job;

	if (reroute_resume(act, err) < 0)
		return -1;
	if (visit_is_reading(&act->visit))
		return 0;
	if (act->page.is_open)
		return reroute_large(act, err);
	while (files-- > 0 && !act_is_full(act) && act->sync == NULL &&
	    !act->page.is_open &&
	    (job = visit_next(&act->visit, &looks)) != NULL)
		if (visit_open(&act->visit, job, !act->request.is_dry &&
		    !(job->flags & JOB_MOVING)) &&
		    reroute_opened(act, job, err) < 0)
			return -1;
	return 0;
}

enum act_step
act_reroute(struct act *act, struct str *out)
{
	enum act_step step;
	struct err err;

	if (act_sync_end(act, &err) < 0)
		return act_trouble(act, &err, out);
	if (act_is_settling(act))
		return ACT_WAIT;
	if (!act_begin(act, out, &step))
		return step;
	act_may_wait(act);
	if (reroute_step(act, &err) < 0)
		return act_trouble(act, &err, out);
	if (act->sync != NULL)
		return ACT_SYNC;	/* what comes next comes after it */
	if (act->page.is_open || act->settling != 0 ||
	    (act_has_more(act) && !act_is_full(act)))
		return act_more(act);
	act->has_more = act->visit.count > 0;
	if (act->has_moved) {	/* before the answer, once for all of them */
		act->has_moved = false;
		act_sync_spool(act);
		return ACT_SYNC;
	}
	act_done(act, out);
	act_counts(act, out);
	json_close(out);
	act_journal(act);
	return ACT_DONE;
}
