/* intake.c - control files become jobs
 *
 * In     names out of transport/ (scan.c), the files behind them
 * Out    jobs with their vertices in the plan; bad files in postman/
 * Holds  a queue of inodes to look at; one reused buffer and arena
 * Trusts a control file only if control_file_parse does; names only as numbers
 * Spec   doc/INTERNALS.md section 3 (rows P4, D4, F1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "mail/control_file/control_file.h"
#include "mail/recover/recover.h"
#include "scheduler/intake/intake.h"
#include "scheduler/intake/job_build.h"
#include "scheduler/intake/scan.h"
#include "scheduler/outcome/group.h"
#include "scheduler/outcome/outcome.h"
#include "scheduler/report/report.h"

#include "base/banned.h"

enum {
	CONTROL_BYTES_MAX = 512 << 20,	/* a million recipients and more */
	TEXT_KEPT_BYTES = 1 << 20,	/* of the reused buffer */
	AHEAD_FILES = 64,	/* open at a time */
	HOT_READY_MAX = 256,	/* more wait already: do not open early */
	ITEMS_KEPT = 4096	/* room for names that is not given back */
};

/* ---- the queue of names -------------------------------------------------- */

static void intake_more(void *context);

static void
items_release(struct intake *intake)
{
	mem_free(&intake->items);
	intake->first = intake->count = intake->room = intake->ahead = 0;
}

void
intake_soon(struct scheduler *scheduler)
{
	struct timer *more = &scheduler->intake.more;

	if (more->at_ms == 0)
		timer_set(scheduler->loop, more, clock_steady_ms(),
		    intake_more, scheduler);
}

void
intake_add(struct scheduler *scheduler, ino_t inode, bool is_old)
{
	struct intake *intake = &scheduler->intake;

	if (intake->first + intake->count == intake->room &&
	    intake->first > intake->count) {
		memmove(intake->items, intake->items + intake->first,
		    intake->count * sizeof(*intake->items));
		intake->first = 0;
	}
	ARRAY_ROOM(intake->items, intake->first + intake->count, intake->room);
	intake->items[intake->first + intake->count++] =
	    (struct intake_item){ inode, -1, is_old };
	intake_soon(scheduler);
}

/* ---- one file ---------------------------------------------------- */

static void
say_trouble(const char *file, const char *call, const char *reason)
{
	event(EV_SPOOL_TROUBLE, NULL, "file", slice_of(file), "call",
	    slice_of(call), "reason", slice_of(reason), NULL);
}

/* Row D4. */
static void
shelve_bad(struct scheduler *scheduler, const char *name, const char *id,
    const char *reason)
{
	struct err err;

	event(EV_CONTROL_BAD, id, "file", slice_of(name), "reason",
	    slice_of(reason), NULL);
	if (spool_shelve_queued(scheduler->spool, name, "badcontrol", &err) < 0)
		say_trouble(name, "rename", err.text);
}

/* Remember it for a rescan; unless it is plain what becomes of it. */
static void
orphan_add(struct scheduler *scheduler, ino_t inode, const char *name)
{
	struct intake *intake = &scheduler->intake;

	if (spool_follow_queued(scheduler->spool, name) == 1)
		return;
	for (size_t i = 0; i < intake->orphan_count; i++)
		if (intake->orphans[i] == inode)
			return;
	ARRAY_ROOM(intake->orphans, intake->orphan_count,
	    intake->orphan_room);
	intake->orphans[intake->orphan_count++] = inode;
}

static int
control_open(struct scheduler *scheduler, const char *name)
{
	int fd = openat(spool_dir_fd(scheduler->spool, AREA_TRANSPORT, 0),
	    name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT)
		say_trouble(name, "open", strerror(errno));
	return fd;
}

/* Old files may be on the disk alone: it begins to read some of those that
 * come next. */
static void
items_ahead(struct scheduler *scheduler)
{
	struct intake *intake = &scheduler->intake;
	char name[SPOOL_NAME_BYTES];

	for (; intake->ahead < intake->count && intake->ahead < AHEAD_FILES;
	    intake->ahead++) {
		struct intake_item *item = &intake->items[intake->first +
		    intake->ahead];

		if (!item->is_old || job_table_find(&scheduler->jobs,
		    item->inode) != NULL)
			continue;
		spool_hashed_name(scheduler->spool, item->inode, name);
		item->fd = control_open(scheduler, name);
		if (item->fd >= 0)
			spool_read_soon(item->fd);
	}
}

/* What was opened ahead; unless it went meanwhile. */
static int
control_take(struct scheduler *scheduler, const struct intake_item *item,
    const char *name)
{
	struct stat st;

	if (item->fd < 0)
		return control_open(scheduler, name);
	if (fstat(item->fd, &st) == 0 && st.st_nlink > 0)
		return item->fd;
	close(item->fd);
	return -1;
}

/* Open what is there.  Returns 1; 0 gone, busy or trouble: nothing more to
 * do now.  *control is a descriptor to read; on the hot path *body is open,
 * too, and both serve the job that follows. */
static int
file_open(struct scheduler *scheduler, const struct intake_item *item,
    const char *name, int *control_fd, int *body)
{
	struct intake *intake = &scheduler->intake;
	struct err err;

	*body = -1;
	if (!item->is_old && scheduler->plan.ready_count < HOT_READY_MAX &&
	    spool_open_queued(scheduler->spool, name, control_fd, body,
	    &err) == 1)
		return 1;
	*body = -1;
	*control_fd = control_take(scheduler, item, name);
	if (*control_fd < 0)
		return 0;
	if (item->is_old && faccessat(spool_dir_fd(scheduler->spool,
	    AREA_QUEUE, 0), name, F_OK, 0) != 0 && errno == ENOENT) {
		close(*control_fd);
		orphan_add(scheduler, item->inode, name);
		return 0;
	}
	if (item->is_old && !spool_control_is_idle(*control_fd)) {
		close(*control_fd);
		ARRAY_ROOM(intake->busy, intake->busy_count,
		    intake->busy_room);
		intake->busy[intake->busy_count] = *item;
		intake->busy[intake->busy_count++].fd = -1;
		return 0;
	}
	return 1;
}

/* Read and check.  1; 0 come back later (err); -1 not a control file. */
static int
file_read(struct scheduler *scheduler, int control_fd,
    struct control_file *control,
    struct err *err)
{
	struct intake *intake = &scheduler->intake;

	arena_reset(intake->arena);
	str_reset(&intake->text);
	if (control_file_read(control_fd, CONTROL_BYTES_MAX, &intake->text,
	    err) < 0)
		return 0;
	if (control_file_parse(intake->arena, str_slice(&intake->text), control,
	    err) < 0)
		return -1;
	for (size_t i = 0; i < control->group_count; i++)
		for (size_t k = 0; k < control->groups[i].rcpt_count; k++)
			if (control->groups[i].rcpts[k].channel.n == 0)
				return err_set(err,
				    "a recipient has no channel");
	return 1;
}

static void
job_begin(struct scheduler *scheduler, struct job *job)
{
	job_table_add(&scheduler->jobs, job);
	scheduler->total.jobs++;
	scheduler->total.rcpts += job->rcpt_count;
	if (job->control_fd >= 0 && job->rcpt_count > 0)
		job_list_add(&scheduler->jobs, JOB_FRESH, job);
	job_plan(scheduler, job);
}

static void
intake_one(struct scheduler *scheduler, const struct intake_item *item)
{
	char name[SPOOL_NAME_BYTES];
	struct control_file control;
	struct job *job;
	struct err err;
	int control_fd, body, got;

	if (job_table_find(&scheduler->jobs, item->inode) != NULL) {
		if (item->fd >= 0)
			close(item->fd);
		return;
	}
	spool_hashed_name(scheduler->spool, item->inode, name);
	if (file_open(scheduler, item, name, &control_fd, &body) == 0)
		return;
	got = file_read(scheduler, control_fd, &control, &err);
	if (body < 0 || got != 1) {
		close(control_fd);
		if (body >= 0)
			close(body);
		control_fd = body = -1;
	}
	if (got == 0) {
		say_trouble(name, "read", err.text);
		return;
	}
	if (got < 0) {
		shelve_bad(scheduler, name, NULL, err.text);
		return;
	}
	/* of a message that came back from a backup the head tells the
	 * inode that it had */
	control.inode = item->inode;
	job = job_build(scheduler, &control, scheduler->intake.arena);
	job->control_fd = control_fd;
	job->body_fd = body;
	job_begin(scheduler, job);
}

/* Files, then names, as far as a turn goes. */
static void
intake_more(void *context)
{
	struct scheduler *scheduler = context;
	struct intake *intake = &scheduler->intake;
	int64_t end_ms = clock_steady_ms() + INTAKE_TURN_MS;

	for (int i = 0; i < INTAKE_TURN_FILES && intake->count > 0 &&
	    clock_steady_ms() <= end_ms; i++) {
		struct intake_item item;

		if (intake->ahead == 0)
			items_ahead(scheduler);
		item = intake->items[intake->first++];
		intake->ahead--;
		if (--intake->count == 0)
			intake->first = 0;
		intake_one(scheduler, &item);
	}
	if (intake->text.cap > TEXT_KEPT_BYTES)
		str_release(&intake->text);
	scan_step(scheduler);
	if (intake->count > 0 || intake->walk != NULL)
		intake_soon(scheduler);
	else if (intake->room > ITEMS_KEPT)
		items_release(intake);
}

/* ---- what went wrong with a file --------------------------------- */

/* Files that an agent of our predecessor works on. */
static void
busy_again(void *context)
{
	struct scheduler *scheduler = context;
	struct intake *intake = &scheduler->intake;

	for (size_t i = 0; i < intake->busy_count; i++)
		intake_add(scheduler, intake->busy[i].inode, true);
	intake->busy_count = 0;
	timer_set(scheduler->loop, &intake->busy_timer,
	    clock_steady_ms() + INTAKE_BUSY_MS, busy_again, scheduler);
}

/* Row F1 that an earlier scheduler left, seen for a whole rescan. */
static void
orphans_end(struct scheduler *scheduler)
{
	struct intake *intake = &scheduler->intake;
	size_t count = intake->orphan_count;

	intake->orphan_count = 0;
	for (size_t i = 0; i < count; i++) {
		char name[SPOOL_NAME_BYTES];
		ino_t inode = intake->orphans[i];

		spool_hashed_name(scheduler->spool, inode, name);
		if (job_table_find(&scheduler->jobs, inode) != NULL ||
		    faccessat(spool_dir_fd(scheduler->spool,
		    AREA_TRANSPORT, 0), name, F_OK, 0) != 0)
			continue;
		if (faccessat(spool_dir_fd(scheduler->spool, AREA_QUEUE, 0),
		    name, F_OK, 0) == 0)
			intake_add(scheduler, inode, true);
		else if (errno == ENOENT &&
		    spool_body_may_come(scheduler->spool, name) == 0 &&
		    spool_follow_queued(scheduler->spool, name) == 0)
			group_orphan(scheduler, inode);
	}
}

void
intake_orphan(struct scheduler *scheduler, struct job *job)
{
	char name[SPOOL_NAME_BYTES];
	ino_t inode = job->inode;

	spool_hashed_name(scheduler->spool, inode, name);
	intake_drop(scheduler, job);
	orphan_add(scheduler, inode, name);
}

void
intake_drop(struct scheduler *scheduler, struct job *job)
{
	if (job->flight_count > 0)
		panic("job %s is dropped in flight", job->id);
	for (size_t i = 0; i < job->vertex_count; i++)
		plan_forget(&scheduler->plan, &job->vertices[i]);
	job_end(&scheduler->jobs, &job);
}

void
intake_now(struct scheduler *scheduler, ino_t inode)
{
	struct intake_item item = { inode, -1, false };

	intake_one(scheduler, &item);
}

void
intake_again(struct scheduler *scheduler, struct job *job)
{
	ino_t inode = job->inode;

	intake_drop(scheduler, job);
	intake_now(scheduler, inode);
}

void
intake_reload(struct scheduler *scheduler, struct job *job)
{
	ino_t inode = job->inode;

	intake_drop(scheduler, job);
	intake_add(scheduler, inode, true);
}

void
intake_bad(struct scheduler *scheduler, struct job *job, const char *reason)
{
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(scheduler->spool, job->inode, name);
	shelve_bad(scheduler, name, job->id, reason);
	intake_drop(scheduler, job);
}

/* ---- start, minute, turn ----------------------------------------- */

static void
rescan_tick(void *context)
{
	intake_rescan(context);
}

void
intake_rescan(struct scheduler *scheduler)
{
	struct intake *intake = &scheduler->intake;

	orphans_end(scheduler);
	scan_begin(scheduler);
	thread_sweep(&scheduler->threads,
	    clock_steady_ms() - INTAKE_RESCAN_MS);
	provider_sweep(&scheduler->providers, clock_wall_s());
	report_tick(scheduler);
	outcome_sweep(scheduler, clock_steady_ms());
	timer_set(scheduler->loop, &intake->rescan,
	    clock_steady_ms() + INTAKE_RESCAN_MS, rescan_tick, scheduler);
}

void
intake_turn_end(struct scheduler *scheduler)
{
	struct job *job;

	while ((job = job_list_take(&scheduler->jobs, JOB_FRESH)) != NULL)
		job_rest(job);
}

int
intake_open(struct scheduler *scheduler, struct err *err)
{
	struct intake *intake = &scheduler->intake;

	intake->arena = arena_new();
	str_init(&intake->text);
	intake->is_starting = true;
	if (scan_watch(scheduler, err) < 0)
		return -1;
	intake_rescan(scheduler);
	busy_again(scheduler);
	return 0;
}

void
intake_close(struct scheduler *scheduler)
{
	struct intake *intake = &scheduler->intake;

	while (intake->ahead > 0)
		if (intake->items[intake->first + --intake->ahead].fd >= 0)
			close(intake->items[intake->first +
			    intake->ahead].fd);
	timer_clear(&intake->more);
	timer_clear(&intake->busy_timer);
	timer_clear(&intake->rescan);
	notify_free(&intake->notify);
	spool_walk_free(&intake->walk);
	arena_free(&intake->arena);
	str_release(&intake->text);
	mem_free(&intake->items);
	mem_free(&intake->busy);
	mem_free(&intake->orphans);
}
