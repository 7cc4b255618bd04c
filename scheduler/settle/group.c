/* group.c - finished messages and fresh records, made durable together
 *
 * In     jobs whose recipients are all final; jobs with new records
 * Out    rows F1, then one barrier, then F3; descriptors closed
 * Holds  the jobs of the last second; of those that are ending a body open
 *        each, at most spool_pin_max: more wait as they are (F0)
 * Trusts nothing: a failed call leaves the files in a row that recovery
 *        and the next rescan know
 * Spec   doc/INTERNALS.md section 2, rows F0 to F3
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "mail/recover/recover.h"
#include "scheduler/sharing/sharing.h"
#include "scheduler/settle/group.h"

#include "base/banned.h"

enum { FINISHED_OPEN_MAX = 128 };	/* more are closed by the loop */

/* Messages that end together.  Each of their jobs is in JOB_ENDING and found
 * by its number, which no other gets before the removal is gone. */
struct removal {
	TAILQ_ENTRY(removal) entry;
	struct group	*group;
	struct sync_task task;
	size_t		 count;
	struct spool_ending files[REMOVAL_FILES];
};

static void group_arm(struct group *group);
static void group_feed(struct group *group);

static void
group_trouble(const char *id, const char *name, const char *call, int error)
{
	event(EV_SPOOL_TROUBLE, id, "file", slice_of(name), "call",
	    slice_of(call), "reason", slice_of(strerror(error)), NULL);
}

/* How many jobs the list has. */
static size_t
group_listed(const struct group *group, enum job_list_name name)
{
	return group->queue->jobs.lists[name].count;
}

/* ---- control files: F2 -> F3 ------------------------------------------ */

static void
removal_hand_over(struct removal *removal, sync_fn *work, sync_fn *done)
{
	removal->task = (struct sync_task){ work, done, removal, NULL };
	syncer_add(removal->group->syncer, &removal->task);
}

static void
removal_work_release(void *context)
{
	struct removal *removal = context;

	for (size_t i = 0; i < removal->count; i++)
		spool_ending_release(&removal->files[i]);
}

static void
removal_free(void *context)
{
	struct removal *removal = context;
	struct group *group = removal->group;

	group->held_count -= removal->count;
	mem_free(&removal);
	group_feed(group);
}

static void
removal_work_controls(void *context)
{
	struct removal *removal = context;

	for (size_t i = 0; i < removal->count; i++)
		spool_ending_control(removal->group->queue->spool,
		    &removal->files[i]);
}

/* The jobs are forgotten before the bodies are let go: else a new message
 * might come by one of their numbers and be taken for the old one. */
static void
removal_end(struct removal *removal)
{
	struct group *group = removal->group;
	char name[SPOOL_NAME_BYTES];

	for (size_t i = 0; i < removal->count; i++) {
		const struct spool_ending *file = &removal->files[i];
		struct job *job = job_table_find(&group->queue->jobs,
		    file->inode);

		if (file->error != 0) {
			spool_hashed_name(group->queue->spool, file->inode,
			    name);
			group_trouble(job->id, name, "unlink", file->error);
		}
		thread_forget_job(job);
		job_end(&group->queue->jobs, &job);
	}
	removal_hand_over(removal, removal_work_release, removal_free);
}

static void
removal_on_controls(void *context)
{
	removal_end(context);
}

/* ---- the barrier: F1 -> F2 --------------------------------------------- */

static void
barrier_work_part(void *context)
{
	struct barrier_part *part = context;

	part->error = spool_barrier_part(part->group->queue->spool,
	    &part->group->barrier, part->number);
}

static void
barrier_end(struct group *group)
{
	struct removal *removal;

	if (group->barrier_error != 0)
		group_trouble(NULL, "queue", "fsync", group->barrier_error);
	spool_barrier_release(&group->barrier);
	event_flush();		/* their ends are told before they are gone */
	while ((removal = TAILQ_FIRST(&group->barred)) != NULL) {
		TAILQ_REMOVE(&group->barred, removal, entry);
		if (group->barrier_error == 0)
			removal_hand_over(removal, removal_work_controls,
			    removal_on_controls);
		else	/* row F1 is left to the rescan */
			removal_end(removal);
	}
	group_arm(group);
}

static void
barrier_on_part(void *context)
{
	struct barrier_part *part = context;

	if (part->error != 0)
		part->group->barrier_error = part->error;
	if (--part->group->parts_left == 0)
		barrier_end(part->group);
}

/* Who is finished needs no record any more: that the body is gone says the
 * same. */
static void
barrier_collect(struct group *group)
{
	struct job *job;
	struct removal *removal;

	spool_barrier_init(&group->barrier);
	while ((job = job_list_take(&group->queue->jobs, JOB_DIRTY)) != NULL) {
		if (!job_is_finished(job) && job->control_fd >= 0)
			spool_barrier_add_records(&group->barrier,
			    job->control_fd);
		if (!job_is_finished(job))
			sharing_note_kept(group->queue->sharing, job);
		job_rest(job);
	}
	TAILQ_FOREACH(removal, &group->gone, entry)
		for (size_t i = 0; i < removal->count; i++)
			spool_barrier_add(group->queue->spool,
			    &group->barrier, removal->files[i].inode);
	TAILQ_CONCAT(&group->barred, &group->gone, entry);
	group->gone_count = 0;
}

static void
barrier_begin(struct group *group)
{
	size_t count;

	timer_clear(&group->timer);
	if (group->parts_left > 0)
		return;			/* the last group's end comes here */
	barrier_collect(group);
	group->barrier_error = 0;
	count = spool_barrier_parts(&group->barrier);
	group->parts_left = count;
	for (size_t i = 0; i < count; i++) {
		struct barrier_part *part = &group->parts[i];

		*part = (struct barrier_part){ .group = group, .number = i,
		    .task = { barrier_work_part, barrier_on_part, part,
		    NULL } };
		syncer_add(group->syncer, &part->task);
	}
}

static void
barrier_due(void *context)
{
	barrier_begin(context);
}

/* A message more may not be begun before one has ended. */
static bool
group_is_full(const struct group *group)
{
	return group->held_count + REMOVAL_FILES >
	    spool_pin_max(group->queue->spool);
}

static void
group_arm(struct group *group)
{
	size_t count = group->gone_count + group_listed(group, JOB_DIRTY);
	int64_t now_ms = clock_steady_ms();

	if (group->parts_left > 0 || count == 0)
		return;			/* the last group's end comes here */
	if (count >= GROUP_FILES_MAX ||
	    (group->gone_count > 0 && group_is_full(group)))
		timer_set(group->queue->loop, &group->timer, now_ms,
		    barrier_due, group);
	else if (group->timer.at_ms == 0)
		timer_set(group->queue->loop, &group->timer, now_ms +
		    group->queue->conf->group_ms, barrier_due, group);
}

/* ---- bodies: F0 -> F1 --------------------------------------------------- */

static void
removal_work_bodies(void *context)
{
	struct removal *removal = context;

	for (size_t i = 0; i < removal->count; i++)
		spool_ending_body(removal->group->queue->spool,
		    &removal->files[i]);
}

/* Where the body could not be removed the job is forgotten: the next rescan
 * finds all of it final and comes here again. */
static bool
removal_tell(struct group *group, const struct spool_ending *file)
{
	struct job *job = job_table_find(&group->queue->jobs, file->inode);
	char name[SPOOL_NAME_BYTES];

	if (file->error == 0) {
		event(EV_MESSAGE_DONE, job->id, "rcpts",
		    event_number(job->rcpt_total), "failed",
		    event_number(job->failed_count), "delay",
		    event_number((clock_steady_ms() - job->born_ms) / 1000),
		    NULL);
		sharing_note_done(group->queue->sharing, job->id);
		return true;
	}
	spool_hashed_name(group->queue->spool, file->inode, name);
	group_trouble(job->id, name, "unlink", file->error);
	queue_drop(group->queue, job);
	return false;
}

static void
removal_wait(struct removal *removal)
{
	struct group *group = removal->group;

	group->gone_count += removal->count;
	TAILQ_INSERT_TAIL(&group->gone, removal, entry);
	group_arm(group);
	group_feed(group);
}

static void
removal_on_bodies(void *context)
{
	struct removal *removal = context;
	size_t count = removal->count;

	removal->count = 0;
	for (size_t i = 0; i < count; i++)
		if (removal_tell(removal->group, &removal->files[i]))
			removal->files[removal->count++] = removal->files[i];
	removal->group->held_count -= count - removal->count;
	removal_wait(removal);
}

static struct removal *
removal_new(struct group *group)
{
	struct removal *removal = mem_alloc(1, sizeof(*removal));

	removal->group = group;
	return removal;
}

static void
removal_add(struct removal *removal, struct job *job)
{
	job_list_add(&removal->group->queue->jobs, JOB_ENDING, job);
	removal->group->held_count++;
	removal->files[removal->count++] = (struct spool_ending){ job->inode,
	    job->control_fd, job->body_fd, 0 };
	job->control_fd = job->body_fd = -1;	/* the thread's */
}

static void
group_hand_over(struct group *group)
{
	struct removal *removal = removal_new(group);
	struct job *job;

	while (removal->count < REMOVAL_FILES && (job =
	    job_list_take(&group->queue->jobs, JOB_FINISHED)) != NULL)
		removal_add(removal, job);
	removal_hand_over(removal, removal_work_bodies, removal_on_bodies);
}

static void
group_removal_due(void *context)
{
	struct group *group = context;

	if (group_listed(group, JOB_FINISHED) > 0 && !group_is_full(group))
		group_hand_over(group);
	group_feed(group);
}

/* Full removals at once; the rest waits for more. */
static void
group_feed(struct group *group)
{
	while (group_listed(group, JOB_FINISHED) >= REMOVAL_FILES &&
	    !group_is_full(group))
		group_hand_over(group);
	if (group_listed(group, JOB_FINISHED) > 0 && !group_is_full(group) &&
	    group->removal_timer.at_ms == 0)
		timer_set(group->queue->loop, &group->removal_timer,
		    clock_steady_ms() + REMOVAL_WAIT_MS, group_removal_due,
		    group);
}

/* ---- from outside ------------------------------------------------------- */

void
group_open(struct group *group, struct queue *queue)
{
	group->queue = queue;
	group->syncer = syncer_new(queue->loop);
	TAILQ_INIT(&group->gone);
	TAILQ_INIT(&group->barred);
}

/* Row D7: somebody of it was cancelled and may be wanted back. */
static void
group_trash(struct group *group, struct job *job, const char *name)
{
	struct err err;

	if (spool_trash_queued(group->queue->spool, name, &err) < 0 &&
	    spool_follow_queued(group->queue->spool, name) != SPOOL_FOLLOW_DONE)
		event(EV_SPOOL_TROUBLE, job->id, "file", slice_of(name),
		    "call", SLICE("rename"), "reason", slice_of(err.text),
		    NULL);
	else
		event(EV_MESSAGE_DELETED, job->id, "file", slice_of(name),
		    NULL);
	queue_drop(group->queue, job);
}

void
group_take_away(struct group *group, struct job *job, const char *node)
{
	char name[SPOOL_NAME_BYTES], reason[SPOOL_REASON_BYTES];
	int fd;

	spool_hashed_name(group->queue->spool, job->inode, name);
	snprintf(reason, sizeof(reason), "%s" SPOOL_TAKEN_WORDS, node);
	fd = openat(spool_dir_fd(group->queue->spool, AREA_QUEUE, 0), name,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		(void)spool_reason_write(fd, reason);
		close(fd);
	}
	event(EV_MESSAGE_TAKEN, job->id, "node", slice_of(node), NULL);
	group_trash(group, job, name);
}

void
group_finish(struct group *group, struct job *job)
{
	char name[SPOOL_NAME_BYTES];

	if (job->flags & JOB_TRASH) {
		spool_hashed_name(group->queue->spool, job->inode, name);
		sharing_note_done(group->queue->sharing, job->id);
		group_trash(group, job, name);
		return;
	}
	job_list_remove(&group->queue->jobs, JOB_DIRTY, job);
	/* Closing a file that was written may wait for the disk, too. */
	if (group_listed(group, JOB_FINISHED) >= FINISHED_OPEN_MAX)
		job_close(job);
	job_list_add(&group->queue->jobs, JOB_FINISHED, job);
	group_feed(group);
}

/* Nothing is unlinked in queue/: a body of its name would be a new
 * message's. */
void
group_orphan(struct group *group, ino_t inode)
{
	struct removal *removal = TAILQ_LAST(&group->gone, removal_queue);
	struct job *job = job_new(0, 0);

	job->inode = inode;
	job_table_add(&group->queue->jobs, job);
	if (removal == NULL || removal->count == REMOVAL_FILES) {
		removal = removal_new(group);
		TAILQ_INSERT_TAIL(&group->gone, removal, entry);
	}
	removal_add(removal, job);
	group->gone_count++;
	group_arm(group);
}

void
group_dirty(struct group *group, struct job *job)
{
	if (job_is_in(job, JOB_DIRTY))
		return;
	job_list_add(&group->queue->jobs, JOB_DIRTY, job);
	group_arm(group);
}

void
group_commit(struct group *group)
{
	while (group_listed(group, JOB_FINISHED) > 0 ||
	    group_listed(group, JOB_DIRTY) > 0 || group->held_count > 0 ||
	    group->parts_left > 0) {
		group_removal_due(group);
		syncer_settle(group->syncer);
		barrier_begin(group);
		syncer_settle(group->syncer);
	}
	timer_clear(&group->timer);
	timer_clear(&group->removal_timer);
}

void
group_release(struct group *group)
{
	timer_clear(&group->timer);
	timer_clear(&group->removal_timer);
	syncer_free(&group->syncer);
}
