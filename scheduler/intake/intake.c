/* intake.c - control files become jobs
 *
 * In     names out of transport/ (scan.c), the files of these names
 * Out    jobs with their vertices in the plan; bad files in postman/
 * Holds  a queue of inodes to look at; one reused buffer and arena
 * Trusts a control file only if control_file_parse does; names only as numbers
 * Spec   doc/INTERNALS.md section 3 (rows P4, D4, F1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "journal/progress.h"
#include "mail/control_file/control_file.h"
#include "mail/recover/recover.h"
#include "scheduler/intake/intake.h"
#include "scheduler/intake/job_build.h"
#include "scheduler/intake/large.h"
#include "scheduler/intake/scan.h"
#include "scheduler/intake/strays.h"

#include "base/banned.h"

enum {
	TEXT_KEPT_BYTES = 1 << 20,	/* of the reused buffer */
	AHEAD_FILES = 64,	/* open at a time */
	HOT_READY_MAX = 256,	/* more wait already: do not open early */
	FRESH_MAX = 32,		/* so many wait open for an agent */
	ITEMS_CAPACITY = 4096	/* for names: it is not given back */
};

/* ---- the queue of names -------------------------------------------------- */

static void intake_more(void *context);

static void
items_release(struct intake *intake)
{
	mem_free(&intake->items);
	intake->first = intake->count = intake->capacity = intake->ahead = 0;
}

void
intake_soon(struct intake *intake)
{
	struct timer *more = &intake->more;

	if (more->at_ms == 0)
		timer_set(intake->queue->loop, more, clock_steady_ms(),
		    intake_more, intake);
}

void
intake_add(struct intake *intake, ino_t inode, bool is_old)
{
	if (intake->first + intake->count == intake->capacity &&
	    intake->first > intake->count) {
		memmove(intake->items, intake->items + intake->first,
		    intake->count * sizeof(*intake->items));
		intake->first = 0;
	}
	ARRAY_GROW(intake->items, intake->first + intake->count,
	    intake->capacity);
	intake->items[intake->first + intake->count++] =
	    (struct intake_item){ inode, -1, -1, is_old };
	intake_soon(intake);
}

/* ---- one file ---------------------------------------------------- */

static void
intake_trouble(const char *file, const char *call, const char *reason)
{
	event(EV_SPOOL_TROUBLE, NULL, "file", slice_of(file), "call",
	    slice_of(call), "reason", slice_of(reason), NULL);
}

/* Row D4. */
static void
intake_shelve(struct intake *intake, const char *name, const char *id,
    const char *reason)
{
	struct err err;

	event(EV_CONTROL_BAD, id, "file", slice_of(name), "reason",
	    slice_of(reason), NULL);
	if (spool_shelve_queued(intake->queue->spool, name, "badcontrol",
	    reason, &err) < 0)
		intake_trouble(name, "rename", err.text);
}

/* Remember it for a rescan; unless it is plain what becomes of it. */
static void
intake_add_orphan(struct intake *intake, ino_t inode, const char *name)
{
	if (spool_follow_queued(intake->queue->spool, name) ==
	    SPOOL_FOLLOW_DONE)
		return;
	for (size_t i = 0; i < intake->orphan_count; i++)
		if (intake->orphans[i] == inode)
			return;
	ARRAY_GROW(intake->orphans, intake->orphan_count,
	    intake->orphan_capacity);
	intake->orphans[intake->orphan_count++] = inode;
}

int
intake_file_open(struct intake *intake, enum spool_area area,
    const char *name)
{
	int fd = openat(spool_dir_fd(intake->queue->spool, area, 0), name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT)
		intake_trouble(name, "open", strerror(errno));
	return fd;
}

static int
intake_file_ahead(struct intake *intake, enum spool_area area,
    const char *name)
{
	int fd = intake_file_open(intake, area, name);

	if (fd >= 0)
		spool_read_soon(fd);
	return fd;
}

/* Old files may be on the disk alone: it begins to read some of those that
 * come next.  Where they are in memory it would cost a fifth of a start. */
static void
items_ahead(struct intake *intake)
{
	char name[SPOOL_NAME_BYTES];

	for (; intake->ahead < intake->count && intake->ahead < AHEAD_FILES;
	    intake->ahead++) {
		struct intake_item *item = &intake->items[intake->first +
		    intake->ahead];

		if (!item->is_old || job_table_find(&intake->queue->jobs,
		    item->inode) != NULL)
			continue;
		spool_hashed_name(intake->queue->spool, item->inode, name);
		item->control_fd = intake_file_ahead(intake, AREA_TRANSPORT,
		    name);
		item->body_fd = intake_file_ahead(intake, AREA_QUEUE, name);
	}
}

/* What was opened ahead; -1: it went meanwhile, or cannot be opened. */
static int
item_take(struct intake *intake, int ahead_fd, enum spool_area area,
    const char *name)
{
	struct stat st;

	if (ahead_fd < 0)
		return intake_file_open(intake, area, name);
	if (fstat(ahead_fd, &st) == 0 && st.st_nlink > 0)
		return ahead_fd;
	close(ahead_fd);
	errno = ENOENT;
	return -1;
}

void
item_close(struct item_files *files)
{
	if (files->is_shared)
		spool_control_unlock(files->control_fd);
	if (files->control_fd >= 0)
		close(files->control_fd);
	if (files->body_fd >= 0)
		close(files->body_fd);
	files->control_fd = files->body_fd = -1;
}

static void
item_later(struct intake *intake, const struct intake_item *item)
{
	ARRAY_GROW(intake->busy, intake->busy_count, intake->busy_capacity);
	intake->busy[intake->busy_count++] = (struct intake_item){
	    item->inode, -1, -1, item->is_old };
}

/* Open what is there.  False: gone, busy or trouble; nothing more to do now.
 * Both are open then, except a body that nobody will ask for. */
static bool
item_open(struct intake *intake, const struct intake_item *item,
    const char *name, struct item_files *out)
{
	struct err err;

	*out = (struct item_files){ -1, -1, false, false };
	if (!item->is_old && intake->queue->plan.ready_count < HOT_READY_MAX &&
	    spool_open_queued(intake->queue->spool, name, &out->control_fd,
	    &out->body_fd, &err) == SPOOL_OPEN_DONE) {
		out->is_hot = true;
		return true;
	}
	*out = (struct item_files){ -1, -1, false, false };
	out->control_fd = item_take(intake, item->control_fd, AREA_TRANSPORT,
	    name);
	if (item->is_old)
		out->body_fd = item_take(intake, item->body_fd, AREA_QUEUE,
		    name);
	if (out->control_fd >= 0 && (!item->is_old || out->body_fd >= 0)) {
		/* closed, and free, before anybody can open it as a job's */
		if (!item->is_old || spool_control_hold(out->control_fd))
			return true;
		item_later(intake, item);
	} else if (out->control_fd >= 0 && errno == ENOENT) {
		intake_add_orphan(intake, item->inode, name);
	}
	item_close(out);
	return false;
}

/* Of what lay there before we ran the start has looked at names alone.
 * False: it is no message that is read now. */
static bool
item_is_pair(struct intake *intake, const struct intake_item *item,
    const char *name, const struct item_files *files, const char *id)
{
	enum spool_pair pair;
	bool waited;

	if (!item->is_old)
		return true;
	pair = spool_check_pair(intake->queue->spool, name, files->control_fd,
	    files->body_fd, id, &waited);
	if (waited)
		cold_wait(&intake->cold);
	if (pair == SPOOL_PAIR_CHANGED)
		item_later(intake, item);
	return pair == SPOOL_PAIR_GOOD;
}

/* Read and check. */
static enum intake_read
item_read(struct intake *intake, int control_fd, bool is_at_once,
    struct control_file *control, struct err *err)
{
	enum intake_read got = is_at_once ?
	    intake_read(intake, control_fd, control, err) :
	    intake_read_small(intake, control_fd, control, err);

	return got == INTAKE_READ ? intake_judge(control, err) : got;
}

/* What the file says, as a job. */
static void
item_build(struct intake *intake, const struct intake_item *item,
    struct control_file *control, const struct item_files *files)
{
	struct job *job;
	int64_t kept_s;

	/* of a message that came back from a backup the head tells the
	 * inode that it had */
	control->inode = item->inode;
	job = job_build(intake, control, &kept_s);
	job->control_fd = files->control_fd;
	job->body_fd = files->body_fd;
	if (!intake_job_begin(intake, job, kept_s))
		return;
	queue_place(intake->queue, job);
	intake_job_end(intake, job);
}

bool
item_is_good(struct intake *intake, const struct intake_item *item,
    struct item_files *files, enum intake_read got, const char *id,
    const struct err *err)
{
	char name[SPOOL_NAME_BYTES];
	bool is_pair;

	spool_hashed_name(intake->queue->spool, item->inode, name);
	is_pair = got == INTAKE_NOT_NOW || item_is_pair(intake, item, name,
	    files, got == INTAKE_READ ? id : NULL);
	if (!files->is_hot || got != INTAKE_READ)
		item_close(files);
	if (!is_pair)
		return false;
	if (got == INTAKE_NOT_NOW)
		intake_trouble(name, "read", err->text);
	else if (got == INTAKE_DAMAGED)
		intake_shelve(intake, name, NULL, err->text);
	return got == INTAKE_READ;
}

/* is_at_once: somebody waits for it, however large it is. */
static void
intake_one(struct intake *intake, const struct intake_item *item,
    bool is_at_once)
{
	struct item_files files = { item->control_fd, item->body_fd, false,
	    false };
	char name[SPOOL_NAME_BYTES];
	struct control_file control;
	enum intake_read got;
	struct err err;

	if (job_table_find(&intake->queue->jobs, item->inode) != NULL ||
	    large_has(intake, item->inode)) {
		item_close(&files);
		return;
	}
	spool_hashed_name(intake->queue->spool, item->inode, name);
	if (!item_open(intake, item, name, &files))
		return;
	got = item_read(intake, files.control_fd, is_at_once, &control, &err);
	if (got == INTAKE_LARGE) {
		if (!large_begin(intake, item, &files)) {
			item_close(&files);
			item_later(intake, item);
			intake->large_waits++;
		}
		return;
	}
	if (item_is_good(intake, item, &files, got, control.id, &err))
		item_build(intake, item, &control, &files);
}

void
intake_note_read(struct intake *intake)
{
	intake->is_caught_up |= !intake->is_starting && intake->count == 0 &&
	    intake->large == NULL && intake->large_waits == 0;
}

/* Files, then names, as far as a turn goes. */
static void
intake_more(void *context)
{
	struct intake *intake = context;
	int64_t end_us = loop_share_end_us(intake->queue->loop,
	    INTAKE_TURN_MS * 1000);

	for (int i = 0; i < INTAKE_TURN_FILES && intake->count > 0 &&
	    (i == 0 || clock_real_us() < end_us); i++) {
		struct intake_item item;

		if (intake->ahead == 0 && intake->cold.left > 0)
			items_ahead(intake);
		item = intake->items[intake->first++];
		intake->ahead -= intake->ahead > 0;
		cold_pass(&intake->cold);
		if (--intake->count == 0)
			intake->first = 0;
		intake_one(intake, &item, false);
		intake->read_count++;
	}
	if (intake->text.cap > TEXT_KEPT_BYTES)
		str_release(&intake->text);
	scan_step(intake);
	strays_step(intake);
	intake_note_read(intake);
	if (intake->count > 0 || intake->walk != NULL ||
	    intake->strays.phase != STRAYS_IDLE)
		intake_soon(intake);
	else if (intake->capacity > ITEMS_CAPACITY)
		items_release(intake);
}

/* ---- what went wrong with a file --------------------------------- */

/* Files that an agent of our predecessor works on. */
static void
intake_busy_again(void *context)
{
	struct intake *intake = context;
	for (size_t i = 0; i < intake->busy_count; i++)
		intake_add(intake, intake->busy[i].inode, true);
	intake->busy_count = intake->large_waits = 0;
	timer_set(intake->queue->loop, &intake->busy_timer,
	    clock_steady_ms() + INTAKE_BUSY_MS, intake_busy_again, intake);
}

void
intake_orphan(struct intake *intake, struct job *job)
{
	char name[SPOOL_NAME_BYTES];
	ino_t inode = job->inode;

	spool_hashed_name(intake->queue->spool, inode, name);
	queue_drop(intake->queue, job);
	intake_add_orphan(intake, inode, name);
}

void
intake_now(struct intake *intake, ino_t inode)
{
	struct intake_item item = { inode, -1, -1, false };

	intake_one(intake, &item, true);
}

static bool
intake_is_busy(const struct intake *intake, ino_t inode)
{
	for (size_t i = 0; i < intake->busy_count; i++)
		if (intake->busy[i].inode == inode)
			return true;
	return false;
}

static bool
intake_lies_there(const struct intake *intake, ino_t inode)
{
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(intake->queue->spool, inode, name);
	return faccessat(spool_dir_fd(intake->queue->spool, AREA_TRANSPORT, 0),
	    name, F_OK, 0) == 0;
}

struct job *
intake_find(struct intake *intake, ino_t inode, bool *out_is_busy)
{
	const struct job_table *jobs = &intake->queue->jobs;
	const struct intake_item item = { inode, -1, -1, true };
	struct job *job = job_table_find(jobs, inode);

	*out_is_busy = job == NULL && (intake_is_busy(intake, inode) ||
	    large_has(intake, inode));
	if (job != NULL || inode == 0 || intake->is_caught_up || *out_is_busy)
		return job;
	if (intake->is_waiting) {
		*out_is_busy = intake_lies_there(intake, inode);
		return NULL;
	}
	intake_one(intake, &item, true);
	*out_is_busy = intake_is_busy(intake, inode);
	return job_table_find(jobs, inode);
}

void
intake_again(struct intake *intake, struct job *job)
{
	ino_t inode = job->inode;

	if (job->rcpt_total >= JOB_LARGE_RCPTS &&
	    (job->control_fd < 0 || reading_is_large(job->control_fd))) {
		scan_again(intake, job);
		spool_control_unlock(job->control_fd);
		queue_drop(intake->queue, job);
		/* an agent of ours may still have it open */
		intake_add(intake, inode, false);
		return;
	}
	spool_control_unlock(job->control_fd);
	queue_drop(intake->queue, job);
	intake_now(intake, inode);
}

void
intake_reload(struct intake *intake, struct job *job)
{
	ino_t inode = job->inode;

	scan_again(intake, job);
	spool_control_unlock(job->control_fd);
	queue_drop(intake->queue, job);
	intake_add(intake, inode, true);
}

void
intake_bad(struct intake *intake, struct job *job, const char *reason)
{
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(intake->queue->spool, job->inode, name);
	intake_shelve(intake, name, job->id, reason);
	queue_drop(intake->queue, job);
}

void
intake_damaged(struct intake *intake, struct job *job, const char *reason)
{
	char name[SPOOL_NAME_BYTES];
	struct err err;

	spool_hashed_name(intake->queue->spool, job->inode, name);
	event(EV_MESSAGE_POSTMAN, job->id, "file", slice_of(name), "keyword",
	    SLICE("damaged"), "reason", slice_of(reason), NULL);
	if (spool_shelve_queued(intake->queue->spool, name, "damaged", reason,
	    &err) < 0)
		intake_trouble(name, "rename", err.text);
	queue_drop(intake->queue, job);
}

/* ---- start, turn ----------------------------------------- */

void
intake_turn_end(struct intake *intake)
{
	struct job_table *jobs = &intake->queue->jobs;
	const struct job_list *fresh = &jobs->lists[JOB_FRESH];

	/* from the end: what is taken out is replaced by the last one */
	for (size_t i = fresh->count; i-- > 0;) {
		struct job *job = fresh->jobs[i];

		if (fresh->count <= FRESH_MAX && job->ready_count > 0)
			continue;
		job_list_remove(jobs, JOB_FRESH, job);
		job_rest(job);
	}
	progress_work(PROGRESS_INTAKE, intake->count > 0,
	    intake->read_count);
}

int
intake_open(struct intake *intake, struct err *err)
{
	intake->arena = arena_new();
	str_init(&intake->text);
	intake->is_waiting = intake->is_starting = true;
	if (scan_watch(intake, err) < 0)
		return -1;
	intake_busy_again(intake);
	return 0;
}

void
intake_begin(struct intake *intake)
{
	intake->is_waiting = false;
	scan_begin(intake);
}

void
intake_close(struct intake *intake)
{
	large_end(intake);
	while (intake->ahead > 0) {
		const struct intake_item *item = &intake->items[intake->first +
		    --intake->ahead];
		struct item_files files = { item->control_fd, item->body_fd,
		    false, false };

		item_close(&files);
	}
	timer_clear(&intake->more);
	timer_clear(&intake->busy_timer);
	notify_free(&intake->notify);
	spool_walk_free(&intake->walk);
	strays_release(&intake->strays);
	arena_free(&intake->arena);
	str_release(&intake->text);
	mem_free(&intake->items);
	mem_free(&intake->busy);
	mem_free(&intake->orphans);
	mem_free(&intake->again);
}
