/* count.c - how much mail there is, by state, destination, sender, user
 *
 * In     a choice of mail
 * Out    a line a group
 * Holds  at most GROUPS_MAX groups while it counts; what needs no order and no
 *        file is counted where it lies, in the table of jobs
 * Trusts control files as far as control_file_parse does
 * Spec   doc/protocol/control.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "scheduler/control/act/act.h"
#include "scheduler/intake/intake.h"

#include "base/banned.h"

enum {
	GROUPS_MAX = 10000, KEY_BYTES_MAX = 256,
	COUNT_SLOTS = 16384	/* of the table of jobs, in a step */
};

enum key { KEY_STATE, KEY_HOST, KEY_CHANNEL, KEY_CHANNEL_STATE, KEY_SENDER,
	KEY_USER, KEY_KINDS };
static const char *const key_names[KEY_KINDS] = {
	"state", "host", "channel", "channel-state", "sender", "user"
};

struct group_count {
	char		*key;
	uint64_t	 last;		/* message counted: its number */
	uint64_t	 messages, recipients;
	int64_t		 born_ms;	/* of the oldest */
};

struct tally {
	enum key	 by;
	uint64_t	 number;	/* of the message at hand, from 1 */
	struct group_count *all;	/* sorted by key */
	size_t		 count, capacity, shown;
	size_t		 latest;	/* index of the group counted last */
};

static void
tally_reset(struct tally *tally)
{
	for (size_t i = 0; i < tally->count; i++)
		mem_free(&tally->all[i].key);
	tally->count = tally->number = 0;
}

void
tally_free(struct tally **tally)
{
	if (*tally == NULL)
		return;
	tally_reset(*tally);
	mem_free(&(*tally)->all);
	mem_free(tally);
}

static int
tally_compare(const char *key, struct slice text)
{
	size_t n = strlen(key), least = n < text.n ? n : text.n;
	int order = least > 0 ? memcmp(key, text.p, least) : 0;

	return order != 0 ? order : (n > text.n) - (n < text.n);
}

/* Where the key stands, or is to stand. */
static size_t
tally_find(const struct tally *tally, struct slice key, bool *is_there)
{
	size_t low = 0, high = tally->count;

	*is_there = false;
	while (low < high && !*is_there) {
		size_t middle = low + (high - low) / 2;
		int order = tally_compare(tally->all[middle].key, key);

		*is_there = order == 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return *is_there ? high : low;
}

static struct group_count *
tally_get(struct tally *tally, struct slice key)
{
	bool is_there;
	size_t at;

	key = slice_first(key, KEY_BYTES_MAX);
	/* neighbours are often alike */
	if (tally->latest < tally->count &&
	    tally_compare(tally->all[tally->latest].key, key) == 0)
		return &tally->all[tally->latest];
	at = tally_find(tally, key, &is_there);
	if (!is_there && tally->count >= GROUPS_MAX) {
		key = SLICE("*");
		at = tally_find(tally, key, &is_there);
	}
	tally->latest = at;
	if (is_there)
		return &tally->all[at];
	ARRAY_GROW(tally->all, tally->count, tally->capacity);
	memmove(&tally->all[at + 1], &tally->all[at],
	    (tally->count++ - at) * sizeof(tally->all[0]));
	tally->all[at] = (struct group_count){ .key =
	    mem_alloc(1, key.n + 1) };
	if (key.n > 0)
		memcpy(tally->all[at].key, key.p, key.n);
	return &tally->all[at];
}

static void
tally_add(struct tally *tally, struct slice key, const struct job *job,
    uint64_t recipients)
{
	struct group_count *group = tally_get(tally, key);

	if (group->last != tally->number) {
		group->last = tally->number;
		group->messages++;
	}
	if (group->recipients == 0 || job->born_ms < group->born_ms)
		group->born_ms = job->born_ms;
	group->recipients += recipients;
}

/* ---- what is counted --------------------------------------------- */

/* "smtp/waiting"; good until the next. */
static struct slice
count_channel_state(struct slice channel, const char *state)
{
	static struct str both = STR_INIT;

	str_reset(&both);
	str_add_slice(&both, channel);
	str_addf(&both, "/%s", state);
	return str_slice(&both);
}

static struct slice
tally_key_of_vertex(const struct tally *tally, const struct vertex *vertex)
{
	switch (tally->by) {
	case KEY_STATE:
		return slice_of(visit_vertex_state(vertex));
	case KEY_HOST:
		return slice_of(vertex->thread->host);
	case KEY_CHANNEL_STATE:
		return count_channel_state(slice_of(vertex->thread->channel),
		    visit_vertex_state(vertex));
	default:
		return slice_of(vertex->thread->channel);
	}
}

static uint64_t
count_from_memory(struct tally *tally, const struct job *job)
{
	uint64_t total = 0;

	for (size_t i = 0; i < job->vertex_count; i++) {
		const struct vertex *vertex = &job->vertices[i];
		uint64_t open = vertex->rcpt_count - vertex->final_count;

		if (open == 0)
			continue;
		tally_add(tally, tally_key_of_vertex(tally, vertex), job, open);
		total += open;
	}
	return total;
}

static struct slice
tally_key(const struct act *act, const struct control_group *group,
    const struct control_rcpt *rcpt)
{
	switch (act->tally->by) {
	case KEY_STATE:
		return slice_of(visit_state(&act->visit, rcpt));
	case KEY_HOST:
		return rcpt->host;
	case KEY_CHANNEL:
		return rcpt->channel;
	case KEY_CHANNEL_STATE:
		return count_channel_state(rcpt->channel,
		    visit_state(&act->visit, rcpt));
	case KEY_SENDER:
		return group->sender;
	default:
		return act->visit.control.user;
	}
}

/* The open message, as far as the budget goes. */
static void
tally_open(struct act *act, unsigned *budget)
{
	struct control_visit *visit = &act->visit;
	const struct control_group *group;
	const struct control_rcpt *rcpt;

	while ((rcpt = act_rcpt_next(act, &group, budget)) != NULL) {
		if (visit_is_over(rcpt) ||
		    !visit_is_meant(visit, group, rcpt))
			continue;
		tally_add(act->tally, tally_key(act, group, rcpt), visit->job,
		    1);
		act->page.count++;
	}
	if (!act_page_is_over(act)) {
		visit_keep(visit);
		return;
	}
	act->count.recipients += act->page.count;
	act->count.messages += act->page.count > 0;
	act_page_end(act);
}

/* The message that was left open, or whose file a thread has read by now.  Of
 * one that went meanwhile, what was counted is all. */
static void
tally_resume(struct act *act, unsigned *budget)
{
	struct job *job = visit_opened_job(&act->visit);

	if (act->page.is_open && !visit_resume(&act->visit)) {
		act->count.recipients += act->page.count;
		act->count.messages += act->page.count > 0;
		act_page_end(act);
	}
	if (job != NULL && visit_open(&act->visit, job, false))
		act_page_begin(act);
	if (act->page.is_open && !visit_is_reading(&act->visit))
		tally_open(act, budget);
}

/* ---- the answer -------------------------------------------------- */

static void
tally_add_line(const struct group_count *group, struct str *out)
{
	json_open(out);
	json_text(out, "key", slice_of(group->key));
	json_number(out, "messages", (int64_t)group->messages);
	json_number(out, "recipients", (int64_t)group->recipients);
	json_number(out, "oldest_s",
	    (clock_steady_ms() - group->born_ms) / 1000);
	json_close(out);
}

static enum act_step
count_end(struct act *act, struct str *out)
{
	struct tally *tally = act->tally;

	while (tally->shown < tally->count && out->len < ACT_OUT_BYTES)
		tally_add_line(&tally->all[tally->shown++], out);
	if (tally->shown < tally->count)
		return ACT_MORE;
	act_done(act, out);
	json_number(out, "messages", (int64_t)act->count.messages);
	json_number(out, "recipients", (int64_t)act->count.recipients);
	json_number(out, "unread", (int64_t)intake_unread(act->intake));
	json_close(out);
	return ACT_DONE;
}

static bool
tally_begin(struct act *act)
{
	const char *by = act->request.by != NULL ? act->request.by : "state";
	int kind = 0;

	if (act->tally != NULL)
		return true;
	while (kind < KEY_KINDS && strcmp(by, key_names[kind]) != 0)
		kind++;
	act->tally = mem_alloc(1, sizeof(*act->tally));
	act->tally->by = (enum key)kind;
	return kind < KEY_KINDS;
}

/* What a step may still do. */
struct tally_budget {
	unsigned	looks, files, rcpts;
};

/* Is there nothing open, and budget left? */
static bool
tally_may_go_on(const struct act *act, const struct tally_budget *budget)
{
	return budget->files > 0 && budget->rcpts > 0 &&
	    !act->page.is_open && act->visit.opening == NULL;
}

/* Of a job at hand. */
static void
tally_job(struct act *act, struct job *job, bool in_memory,
    struct tally_budget *budget)
{
	uint64_t count;

	act->tally->number++;
	if (in_memory && !(job->flags & JOB_TRASH) &&
	    !job_is_in(job, JOB_KEPT)) {
		count = count_from_memory(act->tally, job);
		act->count.recipients += count;
		act->count.messages += count > 0;
		return;
	}
	budget->files--;
	act->visit.last.inode = job->inode;
	if (!visit_open(&act->visit, job, false))
		return;
	act_page_begin(act);
	tally_open(act, &budget->rcpts);
}

/* All of it, in no order: what visit_list would remember of each, and sort, is
 * most of the work.  What is removed, or added while the table grows, between
 * two steps moves others, and one of these may be counted twice. */
static enum act_step
count_walk(struct act *act, struct tally_budget *budget, struct str *out)
{
	const struct job_table *jobs = &act->queue->jobs;
	struct job_walk *walk = &act->visit.walk;
	struct job *job;

	if (!walk->is_over && (walk->size != jobs->now.size ||
	    walk->wraps != jobs->wraps)) {
		tally_reset(act->tally);	/* it starts again, too */
		act_page_end(act);
		act->count.messages = act->count.recipients = 0;
	}
	while (tally_may_go_on(act, budget) && !walk->is_over &&
	    (job = job_walk_next(walk, jobs, &budget->looks)) != NULL)
		if (!visit_job_is_over(job))
			tally_job(act, job, true, budget);
	return walk->is_over && tally_may_go_on(act, budget) ?
	    count_end(act, out) : act_more(act);
}

enum act_step
act_count(struct act *act, struct str *out)
{
	const struct request *request = &act->request;
	struct tally_budget budget = { COUNT_SLOTS, ACT_FILES, ACT_RCPTS };
	bool in_memory;
	enum act_step step;
	struct job *job;

	if (!tally_begin(act)) {
		act_refuse(out, act->request.tag, "bad-request", "count by "
		    "state, host, channel, channel-state, sender or user");
		return ACT_DONE;
	}
	if (!act_enter(act, out, &step))
		return step;
	act_may_wait(act);
	tally_resume(act, &budget.rcpts);
	in_memory = request->selector == NULL && act_user(act) == NULL &&
	    act->tally->by <= KEY_CHANNEL_STATE && request->offset_count == 0;
	if (in_memory && request->id_count == 0 && request->after == NULL)
		return count_walk(act, &budget, out);
	budget.looks = ACT_LOOKS;
	if (!visit_list(&act->visit, ACT_SLOTS))
		return ACT_MORE;
	while (tally_may_go_on(act, &budget) &&
	    (job = visit_next(&act->visit, &budget.looks)) != NULL)
		tally_job(act, job, in_memory, &budget);
	return act_has_more(act) ? act_more(act) : count_end(act, out);
}
