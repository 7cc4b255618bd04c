/* queue.c - the destinations that have mail, and the groups they are of
 *
 * In     the table of threads; agents; the table of jobs, for ages
 * Out    a line a thread, then totals; a line a group of threads
 * Holds  the walk; 16 bytes a thread for ages, a group's counts
 * Trusts nothing of names: they are bytes of addresses
 * Spec   doc/protocol/control.md sections 1.1 and 4
 *
 * The words `queue` and `groups` are these with `brief`: no ages and no last
 * line.
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/json.h"
#include "scheduler/control/act/act.h"
#include "scheduler/agents/agents.h"
#include "scheduler/control/control.h"
#include "scheduler/intake/intake.h"

#include "base/banned.h"

enum { AGES_MIN = 256 };	/* slots; a power of two */

struct age {			/* of a thread's oldest message */
	const struct thread *thread;	/* compared, never followed: it may
					 * be gone by then */
	int64_t		 born_ms;
};

struct row {			/* a ring, as it was when asked */
	const struct ring *ring;	/* compared only */
	char		*name;
	unsigned	 threads, agents, idle, limit, parallel, overfeed;
	uint64_t	 messages;
};

struct roll {
	struct age	*ages;		/* open addressing */
	size_t		 age_size, age_count;
	bool		 is_aged;
	struct job_walk	 jobs;
	struct row	*rows;
	size_t		 row_count, row_capacity, shown, last;
};

void
roll_free(struct roll **proll)
{
	struct roll *roll = *proll;

	if (roll == NULL)
		return;
	for (size_t i = 0; i < roll->row_count; i++)
		mem_free(&roll->rows[i].name);
	mem_free(&roll->rows);
	mem_free(&roll->ages);
	mem_free(proll);
}

static struct roll *
roll_get(struct act *act)
{
	if (act->roll != NULL)
		return act->roll;
	act->roll = mem_alloc(1, sizeof(*act->roll));
	thread_walk_init(&act->threads, &act->queue->threads);
	job_walk_init(&act->roll->jobs, &act->queue->jobs);
	act->roll->is_aged = act->request.is_brief;
	return act->roll;
}

static uint64_t
roll_mail(const struct thread *thread)
{
	return (uint64_t)thread->ready_count + thread->wait_count +
	    thread->flight_count;
}

/* ---- how old the oldest is --------------------------------------- */

static struct age *
ages_slot(const struct roll *roll, const struct thread *thread)
{
	uint64_t hash = ((uintptr_t)thread >> 4) * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash >> 32) & (roll->age_size - 1);

	while (roll->ages[at].thread != NULL &&
	    roll->ages[at].thread != thread)
		at = (at + 1) & (roll->age_size - 1);
	return &roll->ages[at];
}

/* At least half of the slots stay free. */
static void
ages_grow(struct roll *roll)
{
	struct age *old = roll->ages;
	size_t old_size = roll->age_size;

	if (2 * roll->age_count < old_size)
		return;
	roll->age_size = old_size > 0 ? 2 * old_size : AGES_MIN;
	roll->ages = mem_alloc(roll->age_size, sizeof(*roll->ages));
	for (size_t i = 0; i < old_size; i++)
		if (old[i].thread != NULL)
			*ages_slot(roll, old[i].thread) = old[i];
	mem_free(&old);
}

static void
ages_add(struct roll *roll, const struct vertex *vertex)
{
	struct age *age;

	if (vertex->state != VERTEX_WAIT && vertex->state != VERTEX_READY &&
	    vertex->state != VERTEX_FLIGHT)
		return;
	ages_grow(roll);
	age = ages_slot(roll, vertex->thread);
	if (age->thread == NULL) {
		roll->age_count++;
		*age = (struct age){ vertex->thread, vertex->job->born_ms };
	} else if (vertex->job->born_ms < age->born_ms) {
		age->born_ms = vertex->job->born_ms;
	}
}

/* True: every job was looked at. */
static bool
ages_find(struct act *act)
{
	const struct job_table *jobs = &act->queue->jobs;
	struct roll *roll = act->roll;
	unsigned looks = ACT_LOOKS;
	const struct job *job;

	while (!roll->is_aged && looks > 0 &&
	    (job = job_walk_next(&roll->jobs, jobs, &looks)) != NULL) {
		for (size_t i = 0; i < job->vertex_count; i++)
			ages_add(roll, &job->vertices[i]);
		looks -= job->vertex_count < looks ? job->vertex_count :
		    looks;
	}
	roll->is_aged = roll->is_aged || roll->jobs.is_over;
	return roll->is_aged;
}

static int64_t
roll_oldest_s(const struct roll *roll, const struct thread *thread)
{
	const struct age *age = roll->age_size > 0 ?
	    ages_slot(roll, thread) : NULL;

	return age == NULL || age->thread == NULL ? 0 :
	    (clock_steady_ms() - age->born_ms) / 1000;
}

/* ---- queue ------------------------------------------------------- */

static void
roll_add_number(struct str *out, int64_t number)
{
	str_addf(out, "%s%lld", out->len > 0 ? "," : "", (long long)number);
}

/* Who is at it: pids, seconds since each was hungry and since each was fed;
 * -1: it was not yet. */
static void
roll_add_agents(const struct thread *thread, struct str *out)
{
	struct str pids = STR_INIT, hungry = STR_INIT, fed = STR_INIT;
	int64_t now_ms = clock_steady_ms();
	const struct agent *agent;

	if (thread->serving > 0)
		TAILQ_FOREACH(agent, &thread->ring->busy, entry) {
			if (agent->thread != thread)
				continue;
			roll_add_number(&pids, agent->pid);
			roll_add_number(&hungry, agent->hungry_ms == 0 ? -1 :
			    (now_ms - agent->hungry_ms) / 1000);
			roll_add_number(&fed, agent->fed_ms == 0 ? -1 :
			    (now_ms - agent->fed_ms) / 1000);
		}
	json_text(out, "pids", str_slice(&pids));
	json_text(out, "hungry_s", str_slice(&hungry));
	json_text(out, "fed_s", str_slice(&fed));
	str_release(&pids);
	str_release(&hungry);
	str_release(&fed);
}

static void
roll_add_thread(const struct act *act, const struct thread *thread,
    struct str *out)
{
	json_open(out);
	control_thread_name(thread, out);
	json_text(out, "state", slice_of(visit_dest_state(thread)));
	json_number(out, "flight", thread->flight_count);
	json_number(out, "agents", thread->serving);
	json_number(out, "limit", thread->limit);
	json_number(out, "troubles", thread->trouble_count);
	control_thread(thread, out);
	control_estimate_thread(act->queue, thread, out);
	json_bool(out, "suspended", thread->is_suspended);
	json_number(out, "held_until", act_wall_s(thread->wake_ms));
	json_text(out, "reason",
	    slice_of(thread->trouble_count > 0 ? thread->reason : ""));
	if (!act->request.is_brief) {
		roll_add_agents(thread, out);
		json_number(out, "oldest_s", roll_oldest_s(act->roll, thread));
	}
	json_close(out);
}

static void
roll_add_totals(struct act *act, struct str *out)
{
	const struct queue *queue = act->queue;

	if (act->request.is_brief)
		json_open(out);
	else
		act_done(act, out);
	json_number(out, "messages", (int64_t)queue->jobs.count);
	json_number(out, "unread", (int64_t)intake_unread(act->intake));
	json_number(out, "agents", act->agents->count);
	json_number(out, "busy", agents_busy(act->agents));
	json_number(out, "delivered", (int64_t)queue->total.delivered);
	json_number(out, "deferred", (int64_t)queue->total.deferred);
	json_number(out, "failed", (int64_t)queue->total.failed);
	json_number(out, "up_s", (clock_steady_ms() -
	    queue->started_ms) / 1000);
	json_close(out);
}

enum act_step
act_queue(struct act *act, struct str *out)
{
	const struct thread_table *threads = &act->queue->threads;
	unsigned looks = ACT_LOOKS;
	struct thread *thread;

	(void)roll_get(act);
	if (!ages_find(act))
		return ACT_MORE;
	while ((thread = thread_walk_next(&act->threads, threads,
	    &looks)) != NULL) {
		if (roll_mail(thread) == 0 || !act_is_dest(act, thread))
			continue;
		roll_add_thread(act, thread, out);
		if (out->len >= ACT_OUT_BYTES)
			looks = 0;
	}
	if (!act->threads.is_over)
		return ACT_MORE;
	roll_add_totals(act, out);
	return ACT_DONE;
}

/* ---- groups ------------------------------------------------------ */

static unsigned
roll_idle_agents(const struct ring *ring)
{
	const struct agent *agent;
	unsigned count = 0;

	TAILQ_FOREACH(agent, &ring->idle, entry)
		count++;
	return count;
}

static void
roll_add_row(struct act *act, const struct ring *ring)
{
	const struct conf_schedule *clause =
	    &act->queue->conf->schedules[ring->clause_index];
	struct roll *roll = act->roll;
	struct str name = STR_INIT;

	str_addf(&name, "%s/%s%s%s", ring->channel, clause->host,
	    ring->zone[0] != '\0' ? "/" : "", ring->zone);
	ARRAY_GROW(roll->rows, roll->row_count, roll->row_capacity);
	roll->rows[roll->row_count++] = (struct row){ .ring = ring,
	    .name = mem_strdup(name.buf), .threads = ring->thread_count,
	    .agents = ring->agent_count, .idle = roll_idle_agents(ring),
	    .limit = ring->clause.agents, .parallel = ring->clause.parallel,
	    .overfeed = ring->clause.overfeed };
	str_release(&name);
}

static void
roll_begin(struct act *act)
{
	const struct ring *ring;

	if (act->roll != NULL)
		return;
	(void)roll_get(act);
	TAILQ_FOREACH(ring, &act->queue->threads.rings, entry)
		if (!ring->is_stale)
			roll_add_row(act, ring);
}

/* Mostly the thread before was of the same ring. */
static void
roll_count_mail(struct roll *roll, const struct thread *thread)
{
	for (size_t i = 0; i < roll->row_count; i++) {
		size_t at = (roll->last + i) % roll->row_count;

		if (roll->rows[at].ring != thread->ring)
			continue;
		roll->rows[at].messages += roll_mail(thread);
		roll->last = at;
		return;
	}
}

static void
roll_add_line(const struct row *row, struct str *out)
{
	json_open(out);
	json_text(out, "group", slice_of(row->name));
	json_number(out, "threads", row->threads);
	json_number(out, "messages", (int64_t)row->messages);
	json_number(out, "agents", row->agents);
	json_number(out, "idle", row->idle);
	json_number(out, "limit", row->limit);
	json_number(out, "parallel", row->parallel);
	json_number(out, "overfeed", row->overfeed);
	json_close(out);
}

enum act_step
act_groups(struct act *act, struct str *out)
{
	const struct thread_table *threads = &act->queue->threads;
	unsigned looks = ACT_LOOKS;
	struct roll *roll;
	struct thread *thread;

	roll_begin(act);
	roll = act->roll;
	while ((thread = thread_walk_next(&act->threads, threads,
	    &looks)) != NULL)
		roll_count_mail(roll, thread);
	if (!act->threads.is_over)
		return ACT_MORE;
	while (roll->shown < roll->row_count && out->len < ACT_OUT_BYTES)
		roll_add_line(&roll->rows[roll->shown++], out);
	if (roll->shown < roll->row_count)
		return ACT_MORE;
	if (!act->request.is_brief) {
		act_done(act, out);
		json_number(out, "groups", (int64_t)roll->row_count);
		json_close(out);
	}
	return ACT_DONE;
}
