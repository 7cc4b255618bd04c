/* act.c - what the requests of the operator's socket share
 *
 * Out    the lines that all answers share; the event `order`
 * Holds  the message that is open
 * Spec   doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/json.h"
#include "scheduler/control/act/act.h"
#include "scheduler/outcome/amend.h"
#include "scheduler/sharing/sharing.h"

#include "base/banned.h"

enum {
	CHOICE_SHOWN = 500,	/* bytes of it in the journal */
	EARLY_LOOK_MS = 20,	/* while the start's files are read */
	SETTLE_MS = 30000,	/* a message is waited for, until it is known */
	SETTLE_LOOK_MS = 20
};

static void
act_add_tag(struct str *out, const char *tag)
{
	if (tag[0] != '\0')
		json_text(out, "tag", slice_of(tag));
}

void
act_refuse(struct str *out, const char *tag, const char *code,
    const char *words)
{
	json_open(out);
	json_text(out, "error", slice_of(words));
	json_text(out, "code", slice_of(code));
	act_add_tag(out, tag);
	json_close(out);
}

void
act_done(struct act *act, struct str *out)
{
	json_open(out);
	json_bool(out, "done", true);
	json_text(out, "op", slice_of(request_rows[act->request.op].name));
	act_add_tag(out, act->request.tag);
	if (act->request.is_dry)
		json_bool(out, "dry_run", true);
}

/* Whose they are nobody has read: another's mail looks like none. */
unsigned
act_busy(const struct act *act)
{
	return act_user(act) == NULL ? act->visit.busy : 0;
}

void
act_counts(const struct act *act, struct str *out)
{
	json_number(out, "messages", (int64_t)act->count.messages);
	json_number(out, "recipients", (int64_t)act->count.recipients);
	json_number(out, "unchanged", (int64_t)act->count.unchanged);
	json_number(out, "active", (int64_t)(act->count.active +
	    act_busy(act)));
	json_number(out, "final", (int64_t)act->count.final);
	if (act->request.op == OP_UNDELETE)
		json_number(out, "conflict", (int64_t)act->count.conflict);
	if (act->has_more)
		json_bool(out, "more", true);
}

void
act_journal(const struct act *act)
{
	const struct request *request = &act->request;
	struct str choice = STR_INIT;

	if (request->is_dry)
		return;
	if (request->channel != NULL || request->host != NULL)
		str_addf(&choice, "%s/%s", request->channel != NULL ?
		    request->channel : "*", request->host != NULL ?
		    request->host : "*");
	if (request->has_choice) {
		str_reset(&choice);
		request_add_choice(&choice, request);
	}
	event(EV_ORDER, NULL, "op", slice_of(request_rows[request->op].name),
	    "by", slice_of(act->by), "uid", event_number(act->peer->uid),
	    "reason", slice_of(request->reason), "select",
	    slice_first(str_slice(&choice), CHOICE_SHOWN), "until",
	    event_number(request->until_s), "limit",
	    event_number(request->limit), "messages",
	    event_number((int64_t)act->count.messages), "recipients",
	    event_number((int64_t)act->count.recipients), "destinations",
	    event_number((int64_t)act->count.destinations), NULL);
	str_release(&choice);
}

void
act_tell_reopened(const struct act *act, const struct control_rcpt *rcpt)
{
	event(EV_RCPT_REOPENED, act->visit.control.id, "to", rcpt->user,
	    "orcpt", rcpt->orcpt, "channel", rcpt->channel, "host",
	    rcpt->host, "by", slice_of(act->by), "reason",
	    slice_of(act->request.reason), NULL);
}

enum act_step
act_trouble(struct act *act, const struct err *err, struct str *out)
{
	json_open(out);
	json_text(out, "error", slice_of(err->text));
	json_text(out, "code", SLICE("trouble"));
	act_add_tag(out, act->request.tag);
	json_number(out, "messages", (int64_t)act->count.messages);
	json_number(out, "recipients", (int64_t)act->count.recipients);
	json_close(out);
	act_journal(act);
	event(EV_ORDER_REFUSED, NULL, "op",
	    slice_of(request_rows[act->request.op].name), "by",
	    slice_of(act->by), "uid", event_number(act->peer->uid), "code",
	    SLICE("trouble"), NULL);
	return ACT_DONE;
}

const char *
act_user(const struct act *act)
{
	return act->peer->right >= RIGHT_READ ? NULL : act->peer->name;
}

int64_t
act_wall_s(int64_t at_ms)
{
	return at_ms == 0 ? 0 : clock_wall_of_s(at_ms);
}

/* A change of what a selector means is of all that it means: it waits while
 * what lay there at the start is still being read.  Whole ids need not. */
static bool
act_is_early(struct act *act)
{
	int64_t now_ms = clock_steady_ms();

	if (!request_rows[act->request.op].is_change || act->visit.is_listed)
		return false;
	if (!act->intake->is_caught_up)
		return true;
	/* an agent that hangs may keep a file for longer */
	if (act->settled_by_ms == 0)
		act->settled_by_ms = now_ms + SETTLE_MS;
	return intake_is_again(act->intake) && now_ms < act->settled_by_ms;
}

bool
act_waits_for_deaths(struct act *act)
{
	int64_t now_ms = clock_steady_ms();

	if (!amend_is_about_death(act->agents->outcome))
		return false;
	if (act->settled_by_ms == 0)
		act->settled_by_ms = now_ms + SETTLE_MS;
	act->wake_ms = now_ms + SETTLE_LOOK_MS;
	return now_ms < act->settled_by_ms;
}

/* A large message that is read again is no job meanwhile.  What has it open, or
 * names it, goes on when it is one. */
static bool
act_is_away(const struct act *act)
{
	const struct control_visit *visit = &act->visit;

	if (act->is_begun)
		return (act->page.is_open || visit->opening != NULL) &&
		    intake_reads_again(act->intake, visit->last.inode);
	for (size_t i = 0; i < act->request.id_count; i++)
		if (intake_reads_again_id(act->intake, act->request.ids[i]))
			return true;
	return false;
}

static bool
act_waits_for_it(struct act *act)
{
	int64_t now_ms = clock_steady_ms();

	if (!act_is_away(act)) {
		act->back_by_ms = 0;
		return false;
	}
	if (act->back_by_ms == 0)
		act->back_by_ms = now_ms + SETTLE_MS;
	act->wake_ms = now_ms + SETTLE_LOOK_MS;
	return now_ms < act->back_by_ms;
}

bool
act_enter(struct act *act, struct str *out, enum act_step *step)
{
	struct err err;

	if (act_waits_for_it(act)) {
		*step = ACT_WAIT;
		return false;
	}
	if (!act->is_begun && visit_begin(&act->visit, act->agents,
	    &act->request, act_user(act), &err) < 0) {
		act->is_begun = true;
		act_refuse(out, act->request.tag, "no-such", err.text);
		*step = ACT_DONE;
		return false;
	}
	act->is_begun = true;
	*step = act_more(act);
	if (*step == ACT_SYNC)
		return false;
	if (act_is_early(act)) {
		act->wake_ms = clock_steady_ms() + EARLY_LOOK_MS;
		*step = ACT_WAIT;
		return false;
	}
	return true;
}

void
act_may_wait(struct act *act)
{
	act->visit.may_wait = true;
	act->visit.wake = act->wake;
	act->visit.wake_context = act->wake_context;
}

enum act_step
act_more(struct act *act)
{
	if (visit_is_reading(&act->visit))
		return ACT_SYNC;
	if (!act->visit.is_passing || act->page.is_open)
		return ACT_MORE;
	act->wake_ms = clock_steady_ms() + SETTLE_LOOK_MS;
	return ACT_WAIT;
}

bool
act_has_more(const struct act *act)
{
	return act->visit.count > 0 || act->page.is_open ||
	    visit_is_reading(&act->visit);
}

bool
act_begin(struct act *act, struct str *out, enum act_step *step)
{
	return act_enter(act, out, step) &&
	    visit_list(&act->visit, ACT_SLOTS);
}

/* ---- the message that is open ------------------------------------ */

void
act_page_begin(struct act *act)
{
	memset(&act->page, 0, sizeof(act->page));
	act->page.is_open = true;
}

const struct control_rcpt *
act_rcpt_next(struct act *act, const struct control_group **out_group,
    unsigned *budget)
{
	const struct control_file *control = &act->visit.control;

	while (act->page.group < control->group_count) {
		const struct control_group *group =
		    &control->groups[act->page.group];

		if (act->page.rcpt < group->rcpt_count) {
			if (*budget == 0)
				return NULL;
			(*budget)--;
			*out_group = group;
			return &group->rcpts[act->page.rcpt++];
		}
		act->page.group++;
		act->page.rcpt = 0;
	}
	return NULL;
}

bool
act_page_is_over(const struct act *act)
{
	return act->page.group >= act->visit.control.group_count;
}

void
act_page_end(struct act *act)
{
	act->page.is_open = false;
	visit_leave(&act->visit);
}

int
act_page_resume(struct act *act, struct err *err)
{
	struct job *job;

	if (!act->page.is_open)
		return 0;
	if (act->back_by_ms != 0)
		return err_set(err, "%s is being read again; it was reached "
		    "in part, so give the order again",
		    act->visit.control.id);
	if (!visit_resume(&act->visit)) {
		job = visit_job(&act->visit);
		return job == NULL ? 0 : err_set(err, "%s cannot be read; it "
		    "was reached in part, so give the order again", job->id);
	}
	if (act->request.is_dry || visit_is_reading(&act->visit) ||
	    intake_job_open(act->intake, act->visit.job, err))
		return 1;
	return -1;
}

bool
act_is_full(const struct act *act)
{
	return act->request.limit >= 0 &&
	    act->count.messages >= (uint64_t)act->request.limit;
}

void
act_hasten(struct vertex *vertex)
{
	int64_t due_ms = vertex->next_ms != 0 ? vertex->next_ms :
	    vertex->moment_ms;

	if (due_ms / 1000 > vertex->planned_s)
		vertex->planned_s = (uint32_t)(due_ms / 1000);
	vertex->park = PARK_NONE;
	vertex->next_ms = 0;
}

/* ---- a message that was changed ----------------------------------- */

void
act_settle_job(struct act *act, struct job *job)
{
	ino_t inode = job->inode;

	if (job->flight_count > 0)
		job->flags |= JOB_RELOAD;
	else
		intake_again(act->intake, job);
	job = job_table_find(&act->queue->jobs, inode);
	if (job != NULL) {
		sharing_note_kept(act->queue->sharing, job);
	} else if (act->settling == 0) {
		act->settling = inode;
		act->settled_by_ms = clock_steady_ms() + SETTLE_MS;
	}
}

bool
act_is_settling(struct act *act)
{
	struct job *job = act->settling == 0 ? NULL :
	    job_table_find(&act->queue->jobs, act->settling);

	if (act->settling == 0)
		return false;
	if (job == NULL && intake_has(act->intake, act->settling) &&
	    clock_steady_ms() < act->settled_by_ms) {
		act->wake_ms = clock_steady_ms() + SETTLE_LOOK_MS;
		return true;
	}
	if (job != NULL)
		sharing_note_kept(act->queue->sharing, job);
	act->settling = 0;
	return false;
}
