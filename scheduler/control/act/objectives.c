/* objectives.c - whether objectives are met, and what keeps them back
 *
 * In     what arrived in the last hour; the jobs that wait
 * Out    a line an objective
 * Holds  counts by objective and cause, while the jobs are walked; one control
 *        file at a time, of a job that was read before they were stated
 * Spec   doc/protocol/control.md section 4, objectives
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "scheduler/control/act/act.h"
#include "scheduler/control/constraint.h"
#include "scheduler/control/limit_place.h"

#include "base/banned.h"

enum { LINE_BYTES_MAX = 2048 };	/* of a control file, as far as needed */

struct late_cause {		/* recipients that are late and wait */
	uint64_t	 count;
	struct str	 first;		/* members of JSON about one of them */
};

struct late {			/* of an objective */
	uint64_t	 count;
	struct late_cause causes[CAUSE_COUNT];
};

struct lates {
	struct job_walk	 jobs;
	struct late	*of[OBJECTIVE_SLOTS + 1];	/* NULL: none */
};

void
lates_free(struct lates **plates)
{
	struct lates *lates = *plates;

	if (lates == NULL)
		return;
	for (unsigned i = 0; i <= OBJECTIVE_SLOTS; i++) {
		if (lates->of[i] == NULL)
			continue;
		for (unsigned k = 0; k < CAUSE_COUNT; k++)
			str_release(&lates->of[i]->causes[k].first);
		mem_free(&lates->of[i]);
	}
	mem_free(plates);
}

/* ---- what waits ------------------------------------------------------ */

static struct late *
lates_get(struct lates *lates, unsigned slot)
{
	struct late *late = lates->of[slot];

	if (late != NULL)
		return late;
	late = lates->of[slot] = mem_alloc(1, sizeof(*late));
	for (unsigned i = 0; i < CAUSE_COUNT; i++)
		str_init(&late->causes[i].first);
	return late;
}

/* The members of an object, without its braces. */
static void
late_describe(const struct act *act, const struct vertex *vertex,
    const struct constraint *why, struct str *out)
{
	const struct thread *thread = vertex->thread;

	json_open(out);
	json_text(out, "code", slice_of(cause_rows[why->cause].code));
	json_text(out, "channel", slice_of(thread->channel));
	json_text(out, "host", slice_of(thread->host));
	json_text(out, "reason", why->reason);
	json_number(out, "until", why->until_s);
	if (why->limit > 0) {
		json_number(out, "limit", why->limit);
		json_number(out, "used", why->used);
	}
	limit_place_add(act->agents, thread, why, out);
}

static void
late_add_vertex(struct act *act, const struct vertex *vertex,
    int64_t now_ms)
{
	const struct rcpt *rcpts = vertex_rcpts(vertex);
	int64_t age_ms = now_ms - vertex->job->born_ms;
	struct constraint why = { .cause = CAUSE_COUNT };

	if (vertex->is_apart)
		return;
	for (unsigned i = 0; i < vertex->rcpt_count; i++) {
		const struct objective *objective = objectives_at(
		    &act->queue->objectives, rcpts[i].objective);
		struct late_cause *cause;
		struct late *late;

		if (objective == NULL || (rcpts[i].flags & RCPT_FINAL) ||
		    age_ms <= objective->span_s * 1000)
			continue;
		if (why.cause == CAUSE_COUNT)
			constraint_of_vertex(act->agents, vertex, &why);
		late = lates_get(act->lates, rcpts[i].objective);
		late->count++;
		cause = &late->causes[why.cause];
		if (cause->count++ == 0)
			late_describe(act, vertex, &why, &cause->first);
	}
}

/* ---- objectives that are stated since it was read -------------------- */

/* The address in the line "r channel host user uid" at this place. */
static struct slice
late_user_at(int fd, uint32_t offset, char line[LINE_BYTES_MAX])
{
	ssize_t got = pread(fd, line, LINE_BYTES_MAX, (off_t)offset);
	struct slice rest = { line, got > 0 ? (size_t)got : 0 }, word =
	    SLICE("");

	rest = slice_first(rest, slice_find(rest, '\n'));
	for (int i = 0; i < 4; i++)
		if (!slice_word(&rest, &word))
			return SLICE("");
	return word;
}

/* The objectives of its recipients, as they are stated now. */
static void
late_match(struct act *act, struct job *job)
{
	const struct objectives *objectives = &act->queue->objectives;
	char name[SPOOL_NAME_BYTES], line[LINE_BYTES_MAX];
	int fd;

	spool_hashed_name(act->queue->spool, job->inode, name);
	fd = openat(spool_dir_fd(act->queue->spool, AREA_TRANSPORT, 0), name,
	    O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;			/* it is on its way out */
	for (size_t i = 0; i < job->rcpt_count; i++)
		job->rcpts[i].objective = (uint8_t)objectives_for(objectives,
		    late_user_at(fd, job->rcpts[i].offset, line));
	job->objectives = objectives->generation;
	close(fd);
}

/* False: come again. */
static bool
lates_walk(struct act *act)
{
	const struct job_table *jobs = &act->queue->jobs;
	int64_t now_ms = clock_steady_ms();
	unsigned looks = ACT_LOOKS, files = ACT_FILES;
	struct job *job;

	if (act->lates == NULL) {
		act->lates = mem_alloc(1, sizeof(*act->lates));
		job_walk_init(&act->lates->jobs, jobs);
	}
	while (files > 0 && (job = job_walk_next(&act->lates->jobs, jobs,
	    &looks)) != NULL) {
		if (job->objectives != act->queue->objectives.generation) {
			late_match(act, job);
			files--;
		}
		for (size_t i = 0; i < job->vertex_count; i++)
			if (job->vertices[i].state != VERTEX_DONE)
				late_add_vertex(act, &job->vertices[i],
				    now_ms);
	}
	return act->lates->jobs.is_over;
}

/* ---- the answer ------------------------------------------------------ */

/* What keeps most of them. */
static void
late_add_cause(const struct late *late, struct str *out)
{
	unsigned most = 0;

	for (unsigned i = 1; i < CAUSE_COUNT; i++)
		if (late->causes[i].count > late->causes[most].count)
			most = i;
	if (late->causes[most].count == 0)
		return;
	str_addc(out, ',');
	str_add_slice(out, slice_from(str_slice(&late->causes[most].first),
	    1));	/* without its brace */
	json_number(out, "kept", (int64_t)late->causes[most].count);
}

static void
objective_add_line(const struct act *act, unsigned slot, int64_t now_s,
    struct str *out)
{
	const struct objective *objective =
	    objectives_at(&act->queue->objectives, slot);
	const struct late *late = act->lates->of[slot];
	struct objective_piece sum = objective_sum(objective, now_s);
	uint64_t waiting = late != NULL ? late->count : 0;

	json_open(out);
	json_text(out, "objective", slice_of(objective->pattern));
	json_number(out, "percent", objective->percent);
	json_number(out, "span_s", objective->span_s);
	json_bool(out, "met", objective_is_met(objective, &sum, waiting));
	json_number(out, "in_time", sum.in_time);
	json_number(out, "late", sum.late);
	json_number(out, "late_deferred", sum.tried);
	json_number(out, "late_waiting", (int64_t)waiting);
	if (late != NULL)
		late_add_cause(late, out);
	json_close(out);
}

enum act_step
act_objectives(struct act *act, struct str *out)
{
	const struct objectives *objectives = &act->queue->objectives;
	int64_t now_s = clock_wall_s();

	if (objectives->count > 0 && !lates_walk(act))
		return ACT_MORE;
	for (unsigned place = 0; place < objectives->count; place++)
		for (unsigned i = 1; i <= OBJECTIVE_SLOTS; i++) {
			const struct objective *one = objectives_at(
			    objectives, i);

			if (one != NULL && one->place == place)
				objective_add_line(act, i, now_s, out);
		}
	act_done(act, out);
	json_number(out, "objectives", objectives->count);
	json_close(out);
	return ACT_DONE;
}
