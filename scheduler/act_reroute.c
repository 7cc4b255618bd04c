/* act_reroute.c - what is left of a message goes through the router again
 *
 * In     a choice of mail
 * Out    messages back in router/; or new ones for those that remain
 * Holds  one message at a time
 * Trusts control files as far as work_parse does
 * Spec   doc/protocol/control.md section 5; doc/INTERNALS.md row D8
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/json.h"
#include "mail/envelope.h"
#include "scheduler/act.h"
#include "scheduler/intake.h"
#include "scheduler/kept.h"

#include "base/banned.h"

enum {
	FRONT_BYTES_MAX = 4 << 20,	/* envelope of the message file */
	COPY_BYTES = 65536
};

/* The recipients of one message that are meant, open and at no agent. */
struct choice {
	const struct work_rcpt **rcpts;
	const struct work_group **groups;
	size_t		 count, active;
	bool		 is_whole;	/* everybody, and nobody is final */
};

static bool
is_address(struct slice user)
{
	struct path path;
	struct slice rest;
	struct err err;

	return user.n > 0 && strchr("|/:\"", user.p[0]) == NULL &&
	    path_parse(user, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &path,
	    &rest, &err) > 0 && rest.n == 0;
}

static void
choice_add(struct act *act, struct choice *choice,
    const struct work_group *group, const struct work_rcpt *rcpt)
{
	const struct vertex *vertex = visit_vertex(&act->visit, rcpt->offset);

	if (rcpt->is_final) {
		act->count.final++;
	} else if (vertex != NULL && vertex->state == VERTEX_FLIGHT) {
		choice->active++;
	} else {
		choice->groups[choice->count] = group;
		choice->rcpts[choice->count++] = rcpt;
	}
}

static void
choice_make(struct act *act, struct choice *choice)
{
	struct visit *visit = &act->visit;
	const struct work *work = &visit->work;

	*choice = (struct choice){ .rcpts = mem_alloc(work->rcpt_total,
	    sizeof(*choice->rcpts)), .groups = mem_alloc(work->rcpt_total,
	    sizeof(*choice->groups)) };
	for (size_t i = 0; i < work->group_count; i++)
		for (size_t k = 0; k < work->groups[i].rcpt_count; k++)
			if (visit_is_meant(visit, &work->groups[i],
			    &work->groups[i].rcpts[k]))
				choice_add(act, choice, &work->groups[i],
				    &work->groups[i].rcpts[k]);
	choice->is_whole = choice->count == work->rcpt_total;
}

/* ---- a new message ----------------------------------------------- */

/* The envelope's front of the message file, and where the header begins. */
static int
front_read(const struct job *job, struct arena *arena,
    struct envelope *out, struct str *text, struct err *err)
{
	while (text->len < FRONT_BYTES_MAX) {
		ssize_t n = pread(job->body_fd, str_room(text, COPY_BYTES),
		    COPY_BYTES, (off_t)text->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read message");
		text->len += (size_t)n;
		text->buf[text->len] = '\0';
		if (n == 0 || memmem(text->buf, text->len, "\nenv-end\n", 9))
			break;
	}
	return envelope_parse(arena, str_slice(text), out, err);
}

static int
body_copy(const struct job *job, size_t offset, struct draft *draft,
    struct err *err)
{
	static char buffer[COPY_BYTES];

	for (;;) {
		ssize_t n = pread(job->body_fd, buffer, sizeof(buffer),
		    (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read message");
		if (n == 0)
			return 0;
		if (draft_write(draft, buffer, (size_t)n, err) < 0)
			return -1;
		offset += (size_t)n;
	}
}

/* The same envelope, with the recipients of one sender as they are now. */
static int
envelope_make(struct envelope *envelope, const struct choice *choice,
    size_t first, size_t count, struct arena *arena, struct err *err)
{
	struct slice rest, sender = choice->groups[first]->sender;

	envelope->rcpts = arena_alloc(arena, count *
	    sizeof(*envelope->rcpts));
	envelope->rcpt_count = count;
	envelope->header_rcpts = false;
	envelope->with = SLICE("reroute");
	envelope->is_error = sender.n == 0;
	if (sender.n > 0 && path_parse(sender, PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_UTF8, &envelope->from, &rest, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const struct work_rcpt *rcpt = choice->rcpts[first + i];

		envelope->rcpts[i] = (struct envelope_rcpt){
		    .notify = rcpt->notify, .orcpt = rcpt->orcpt };
		if (path_parse(rcpt->user, PATH_BARE_OK | PATH_LOCAL_OK |
		    PATH_UTF8, &envelope->rcpts[i].path, &rest, err) < 0)
			return -1;
	}
	return 0;
}

/* A draft that is durable.  0; -1: nothing is left of it. */
static int
draft_make(struct act *act, const struct job *job,
    const struct choice *choice, size_t first, size_t count,
    struct draft *draft, struct err *err)
{
	struct draft *drafts[1] = { draft };
	struct arena *arena = arena_new();
	struct str front = STR_INIT, text = STR_INIT;
	struct envelope envelope;
	int result = -1;

	if (front_read(job, arena, &envelope, &front, err) == 1 &&
	    envelope_make(&envelope, choice, first, count, arena, err) == 0 &&
	    draft_open(act->scheduler->spool, NULL, draft, err) == 0) {
		strlcpy(envelope.id, draft->id, sizeof(envelope.id));
		if (envelope_add(&text, &envelope, err) == 1 &&
		    draft_write(draft, text.buf, text.len, err) == 0 &&
		    body_copy(job, envelope.header_offset, draft, err) == 0 &&
		    draft_sync(drafts, 1, err) == 1)
			result = 0;
		if (result < 0)
			draft_abort(draft);
	}
	str_release(&front);
	str_release(&text);
	arena_free(&arena);
	return result;
}

/* The new message is on its way: those recipients are final here.  A crash
 * in between sends them twice, as a delivery whose answer was in flight. */
static int
records_write(struct act *act, struct job *job, const struct choice *choice,
    size_t first, size_t count, const char *new_id, struct err *err)
{
	struct work_record *records = mem_alloc(count, sizeof(*records));
	int result;

	for (size_t i = 0; i < count; i++) {
		const struct work_rcpt *rcpt = choice->rcpts[first + i];

		records[i] = (struct work_record){ .kind = WORK_OUTCOME,
		    .rcpt_offset = rcpt->offset, .time_s = clock_wall_s(),
		    .tries = rcpt->tries };
		/* relayed: the new one tells what has to be told */
		verdict_set(&records[i].verdict, VERDICT_RELAYED, NULL,
		    "scheduler", "routed again as %s", new_id);
	}
	result = work_append(job->control_fd, job->id, records, count, err);
	mem_free(&records);
	return result;
}

static void
say(struct act *act, const struct job *job, size_t count, const char *as)
{
	act->count.recipients += count;
	event(EV_MESSAGE_ORDERED, job->id, "op", SLICE("reroute"), "by",
	    slice_of(act->by), "reason", slice_of(act->request.reason),
	    "rcpts", event_number((int64_t)count), "as", slice_of(as), NULL);
}

/* One new message a sender.  0 or -1. */
static int
copies_send(struct act *act, struct job *job, const struct choice *choice,
    struct err *err)
{
	size_t first = 0;

	if (kept_write(job, &act->visit.work, err) < 0)
		return -1;
	while (first < choice->count) {
		struct draft draft;
		size_t count = 1;

		while (first + count < choice->count &&
		    choice->groups[first + count] == choice->groups[first])
			count++;
		/* S1 -> S2, then P4: records */
		if (draft_make(act, job, choice, first, count, &draft,
		    err) < 0 || draft_publish(&draft, AREA_ROUTER, 0, NULL,
		    err) < 0 || records_write(act, job, choice, first, count,
		    draft.id, err) < 0)
			return -1;
		say(act, job, count, draft.id);
		first += count;
	}
	return 0;
}

/* ---- a message --------------------------------------------------- */

/* Users that are programs or files have no address to be routed by. */
static void
choice_strip(struct act *act, struct choice *choice)
{
	size_t kept = 0;

	for (size_t i = 0; i < choice->count; i++) {
		if (!is_address(choice->rcpts[i]->user)) {
			act->count.unchanged++;
			continue;
		}
		choice->rcpts[kept] = choice->rcpts[i];
		choice->groups[kept++] = choice->groups[i];
	}
	choice->count = kept;
}

static int
whole_send(struct act *act, struct job *job, size_t count, struct err *err)
{
	char name[SPOOL_NAME_BYTES];
	ino_t inode = job->inode;

	spool_hashed_name(act->scheduler->spool, inode, name);
	say(act, job, count, "");
	intake_drop(act->scheduler, job);
	/* P4 -> S2 (D8) */
	if (spool_reroute_work(act->scheduler->spool, name, err) == 0)
		return 0;
	intake_now(act->scheduler, inode);
	return -1;
}

static int
part_send(struct act *act, struct job *job, struct choice *choice,
    struct err *err)
{
	int fd, result;

	choice_strip(act, choice);
	result = choice->count == 0 ? 0 : copies_send(act, job, choice, err);
	fd = job->control_fd;
	if (result == 0 && choice->count > 0)
		result = spool_barrier(act->scheduler->spool, NULL, 0, &fd,
		    1, err);
	if (job->flight_count > 0)
		job->flags |= JOB_RELOAD;
	else
		intake_again(act->scheduler, job);
	return result;
}

static int
reroute_message(struct act *act, struct job *job, struct err *err)
{
	struct choice choice;
	int result = 0;

	choice_make(act, &choice);
	act->count.active += choice.active;
	if (act->request.is_dry) {
		act->count.recipients += choice.count;
	} else if (choice.count == 0) {
		act_rest(job);
	} else if (choice.is_whole &&
	    job->flight_count == 0) {
		result = whole_send(act, job, choice.count, err);
	} else if (job->flight_count > 0) {
		/* its records would be raced by the agent's: later */
		act->count.active += choice.count;
		choice.count = 0;
	} else {
		result = part_send(act, job, &choice, err);
	}
	act->count.messages += choice.count > 0 && result == 0;
	mem_free(&choice.rcpts);
	mem_free(&choice.groups);
	return result;
}

enum act_step
act_reroute(struct act *act, struct str *out)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES;
	enum act_step step;
	struct job *job;
	struct err err;

	if (!act_begin(act, out, &step))
		return step;
	while (files-- > 0 && !act_is_full(act) &&
	    (job = visit_next(&act->visit, &looks)) != NULL)
		if (visit_open(&act->visit, job, !act->request.is_dry) == 1 &&
		    reroute_message(act, job, &err) < 0)
			return act_trouble(act, &err, out);
	if (act_is_full(act))
		act->has_more = act->visit.count > 0;
	else if (act->visit.count > 0)
		return ACT_MORE;
	act_done(act, out);
	act_counts(act, out);
	json_close(out);
	act_journal(act);
	return ACT_DONE;
}
