/* group.c - finished messages and fresh records, made durable together
 *
 * In     jobs whose recipients are all final; jobs with new records
 * Out    rows F1, then one barrier, then F3; descriptors closed
 * Holds  the jobs of the last second, at most GROUP_FILES_MAX and a turn; and
 *        those before them while their barrier goes on, a directory a turn
 * Trusts nothing: a failed call leaves the files in a row that recovery
 *        and the next rescan know
 * Spec   doc/INTERNALS.md section 2, rows F0 to F3
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "mail/recover/recover.h"
#include "scheduler/settle/group.h"

#include "base/banned.h"

enum { ENDED_A_TURN = 64 };	/* about 2 ms */

static void group_begin(struct group *group);

static void
group_trouble(const char *id, const char *name, const char *call,
    const struct err *err)
{
	event(EV_SPOOL_TROUBLE, id, "file", slice_of(name), "call",
	    slice_of(call), "reason", slice_of(err->text), NULL);
}

static void
group_due(void *context)
{
	group_begin(context);
}

/* How many jobs the list has. */
static size_t
group_listed(const struct group *group, enum job_list_name name)
{
	return group->queue->jobs.lists[name].count;
}

/* The last group's barrier or its ends still go on. */
static bool
group_is_ending(const struct group *group)
{
	return group->barrier.count > 0 ||
	    group_listed(group, JOB_ENDING) > 0;
}

static size_t
group_size(const struct group *group)
{
	return group_listed(group, JOB_FINISHED) +
	    group_listed(group, JOB_DIRTY);
}

static void
group_arm(struct group *group)
{
	int64_t now_ms = clock_steady_ms();

	if (group_is_ending(group))
		return;			/* the last group's end comes here */
	if (group_size(group) >= GROUP_FILES_MAX)
		timer_set(group->queue->loop, &group->timer, now_ms, group_due,
		    group);
	else if (group->timer.at_ms == 0)
		timer_set(group->queue->loop, &group->timer,
		    now_ms + group->queue->conf->group_ms, group_due, group);
}

static void
group_add_finished(struct group *group, struct job *job)
{
	job_list_add(&group->queue->jobs, JOB_FINISHED, job);
	group_arm(group);
}

/* Row D7: somebody of it was cancelled and may be wanted back. */
static void
group_trash(struct group *group, struct job *job, const char *name)
{
	struct err err;

	if (spool_trash_queued(group->queue->spool, name, &err) < 0 &&
	    spool_follow_queued(group->queue->spool, name) != SPOOL_FOLLOW_DONE)
		group_trouble(job->id, name, "rename", &err);
	else
		event(EV_MESSAGE_DELETED, job->id, "file", slice_of(name),
		    NULL);
	queue_drop(group->queue, job);
}

void
group_finish(struct group *group, struct job *job)
{
	char name[SPOOL_NAME_BYTES];
	struct err err;

	spool_hashed_name(group->queue->spool, job->inode, name);
	if (job->flags & JOB_TRASH) {
		group_trash(group, job, name);
		return;
	}
	/* Row F1.  When it fails the job is forgotten: the next rescan finds
	 * all of it final and comes here again. */
	if (spool_unlink_body(group->queue->spool, name, &err) < 0 &&
	    errno != ENOENT) {
		group_trouble(job->id, name, "unlink", &err);
		queue_drop(group->queue, job);
		return;
	}
	event(EV_MESSAGE_DONE, job->id, "rcpts",
	    event_number(job->rcpt_total), "failed",
	    event_number(job->failed_count), "delay",
	    event_number((clock_steady_ms() - job->born_ms) / 1000), NULL);
	if (!job_is_in(job, JOB_DIRTY))
		job_close(job);
	group_add_finished(group, job);
}

void
group_orphan(struct group *group, ino_t inode)
{
	struct job *job = job_new(0, 0);

	job->inode = inode;
	job_table_add(&group->queue->jobs, job);
	group_add_finished(group, job);
}

void
group_dirty(struct group *group, struct job *job)
{
	if (job_is_in(job, JOB_DIRTY))
		return;
	job_list_add(&group->queue->jobs, JOB_DIRTY, job);
	group_arm(group);
}

/* Row F3, or after a failed barrier nothing: row F1 is left to the rescan. */
static void
group_end_finished(struct group *group, struct job *job, bool is_durable)
{
	char name[SPOOL_NAME_BYTES];
	struct err err;

	spool_hashed_name(group->queue->spool, job->inode, name);
	if (is_durable && spool_unlink_control(group->queue->spool, name,
	    &err) < 0 && errno != ENOENT)
		group_trouble(job->id, name, "unlink", &err);
	job_end(&group->queue->jobs, &job);
}

/* Row F2: what the barrier is about. */
static int
group_begin_barrier(struct group *group, struct err *err)
{
	const struct job_list *ending = &group->queue->jobs.lists[JOB_ENDING];
	const struct job_list *dirty = &group->queue->jobs.lists[JOB_DIRTY];
	size_t names = ending->count, fds = 0;
	char(*texts)[SPOOL_NAME_BYTES] = mem_alloc(names, sizeof(*texts));
	const char **pointers = mem_alloc(names, sizeof(*pointers));
	int *controls = mem_alloc(dirty->count, sizeof(*controls));
	int result;

	for (size_t i = 0; i < names; i++) {
		spool_hashed_name(group->queue->spool, ending->jobs[i]->inode,
		    texts[i]);
		pointers[i] = texts[i];
	}
	for (size_t i = 0; i < dirty->count; i++)
		if (!job_is_finished(dirty->jobs[i]) &&
		    dirty->jobs[i]->control_fd >= 0)
			controls[fds++] = dirty->jobs[i]->control_fd;
	result = spool_barrier_begin(group->queue->spool, pointers, names,
	    controls, fds, &group->barrier, err);
	mem_free(&texts);
	mem_free(&pointers);
	mem_free(&controls);
	return result;
}

/* The barrier and the ends in pieces: one directory, or some files, a turn.
 * False: it is over. */
static bool
group_step(struct group *group)
{
	struct err err;

	if (group->barrier.count > 0) {
		if (spool_barrier_step(group->queue->spool, &group->barrier,
		    &err) >= 0)
			return true;
		group_trouble(NULL, "queue", "fsync", &err);
		group->is_durable = false;
		group->barrier.count = 0;
		return true;
	}
	for (int i = 0; i < ENDED_A_TURN &&
	    group_listed(group, JOB_ENDING) > 0; i++)
		group_end_finished(group,
		    job_list_take(&group->queue->jobs, JOB_ENDING),
		    group->is_durable);
	if (group_listed(group, JOB_ENDING) > 0)
		return true;
	if (group_size(group) > 0)
		group_arm(group);
	return false;
}

static void
group_step_due(void *context)
{
	struct group *group = context;

	if (group_step(group))
		timer_set(group->queue->loop, &group->step,
		    clock_steady_ms(), group_step_due, group);
}

static void
group_begin(struct group *group)
{
	struct job *job;
	struct err err;

	timer_clear(&group->timer);
	if (group_size(group) == 0 || group_is_ending(group))
		return;
	event_flush();		/* their ends are told before they are gone */
	while ((job = job_list_take(&group->queue->jobs, JOB_FINISHED)) != NULL)
		job_list_add(&group->queue->jobs, JOB_ENDING, job);
	group->is_durable = group_begin_barrier(group, &err) == 0;
	if (!group->is_durable) {
		group_trouble(NULL, "queue", "fsync", &err);
		group->barrier.count = 0;
	}
	while ((job = job_list_take(&group->queue->jobs, JOB_DIRTY)) != NULL)
		job_rest(job);
	group_step_due(group);
}

void
group_commit(struct group *group)
{
	do {
		group_begin(group);
		timer_clear(&group->step);
		while (group_is_ending(group) && group_step(group))
			;
	} while (group_size(group) > 0);
	timer_clear(&group->timer);
}

void
group_release(struct group *group)
{
	timer_clear(&group->timer);
	timer_clear(&group->step);
}
