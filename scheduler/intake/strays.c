/* strays.c - what a person took away while the scheduler runs
 *
 * In     a round a minute: the names of transport/ (scan.c reads them), those
 *        of queue/, the jobs in memory
 * Out    jobs without files forgotten, with an event; bodies without a
 *        control file routed again; how many files stay alone even so
 * Holds  the numbers of files that were alone in the last round
 * Trusts names only as numbers; a body is left alone for a round, and while
 *        somebody has its lock
 * Spec   doc/INTERNALS.md rows P4, P6 and section 3
 *
 * A job that either walk met is not looked at: the files of a million of
 * them would be.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "journal/event.h"
#include "mail/recover/recover.h"
#include "scheduler/intake/large.h"
#include "scheduler/intake/scan.h"
#include "scheduler/intake/strays.h"

#include "base/banned.h"

enum {
	STRAYS_NAMES = 4096,	/* of queue/ in a turn */
	STRAYS_SLOTS = 16384,	/* of the table of jobs */
	STRAYS_FILES = 64	/* looked at one by one */
};

static bool
stray_is_there(const struct intake *intake, enum spool_area area,
    const char *name)
{
	return faccessat(spool_dir_fd(intake->queue->spool, area, 0), name,
	    F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

static void
stray_found(struct strays_side *side, ino_t inode)
{
	ARRAY_GROW(side->found, side->found_count, side->found_capacity);
	side->found[side->found_count++] = inode;
}

void
strays_control_found(struct intake *intake, ino_t inode)
{
	if (intake->strays.phase == STRAYS_CONTROLS)
		stray_found(&intake->strays.controls, inode);
}

static bool
stray_take_body(void *context, const char *name)
{
	struct intake *intake = context;
	ino_t inode = scan_inode(name);
	struct job *job = inode == 0 ? NULL :
	    job_table_find(&intake->queue->jobs, inode);

	if (job != NULL)
		job->seen_body = intake->strays.round;
	else if (inode != 0)
		stray_found(&intake->strays.bodies, inode);
	return true;
}

/* ---- jobs without files -------------------------------------------- */

static void
stray_tell(const struct job *job, const char *name, const char *reason)
{
	event(EV_MESSAGE_VANISHED, job->id, "file", slice_of(name), "rcpts",
	    event_number((int64_t)(job->rcpt_count - job->final_count)),
	    "reason", slice_of(reason), NULL);
}

/* Nobody is at work on it, and its end has not begun. */
static bool
stray_may_look(const struct job *job)
{
	return job->flight_count == 0 && job->unsent == 0 &&
	    job->at[JOB_OWING] == 0 &&
	    (job->flags & (JOB_TRASH | JOB_WRITING | JOB_RELOAD)) == 0;
}

/* The walks did not meet both of its names. */
static void
stray_look_at(struct intake *intake, struct job *job)
{
	char name[SPOOL_NAME_BYTES];
	bool has_body;

	if (!stray_may_look(job))
		return;
	spool_hashed_name(intake->queue->spool, job->inode, name);
	has_body = stray_is_there(intake, AREA_QUEUE, name);
	if (stray_is_there(intake, AREA_TRANSPORT, name)) {
		if (!has_body)
			intake_orphan(intake, job);
		return;
	}
	stray_tell(job, name, has_body ? "its control file was taken away: "
	    "the message is routed again" : "its files were taken away");
	if (has_body)
		stray_found(&intake->strays.bodies, job->inode);
	queue_drop(intake->queue, job);
}

static bool
strays_step_jobs(struct intake *intake)
{
	struct strays *strays = &intake->strays;
	unsigned budget = STRAYS_SLOTS, files = STRAYS_FILES;
	struct job *job;

	while ((job = job_walk_next(&strays->jobs, &intake->queue->jobs,
	    &budget)) != NULL) {
		if (job->seen_control == strays->round &&
		    job->seen_body == strays->round)
			continue;
		stray_look_at(intake, job);
		if (--files == 0)
			break;
	}
	return strays->jobs.is_over;
}

/* ---- files that are alone -------------------------------------------- */

static int
stray_compare(const void *pa, const void *pb)
{
	const ino_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* In the last round, too. */
static bool
stray_was_alone(const struct strays_side *side, ino_t inode)
{
	return side->lone_count > 0 && bsearch(&inode, side->lone,
	    side->lone_count, sizeof(inode), stray_compare) != NULL;
}

/* It is alone still; what was so before and is now stays for a person. */
static void
stray_keep(struct strays_side *side, ino_t inode)
{
	if (stray_was_alone(side, inode))
		side->now_left++;
	side->found[side->kept++] = inode;
}

/* Between two renames of the router each body is alone; one that was so in
 * two rounds is nobody's. */
static void
stray_end_body(struct intake *intake, ino_t inode)
{
	struct strays_side *side = &intake->strays.bodies;
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(intake->queue->spool, inode, name);
	if (job_table_find(&intake->queue->jobs, inode) != NULL ||
	    stray_is_there(intake, AREA_TRANSPORT, name) ||
	    !stray_is_there(intake, AREA_QUEUE, name))
		return;
	if (!stray_was_alone(side, inode) ||
	    !spool_route_lone_body(intake->queue->spool, name))
		stray_keep(side, inode);
}

/* An agent of a scheduler before this one may have it for long. */
static bool
stray_is_busy(const struct intake *intake, ino_t inode)
{
	for (size_t i = 0; i < intake->busy_count; i++)
		if (intake->busy[i].inode == inode)
			return true;
	return false;
}

/* It was to be read, and is no message yet. */
static void
stray_end_control(struct intake *intake, ino_t inode)
{
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(intake->queue->spool, inode, name);
	if (job_table_find(&intake->queue->jobs, inode) == NULL &&
	    !large_has(intake, inode) && !stray_is_busy(intake, inode) &&
	    stray_is_there(intake, AREA_TRANSPORT, name))
		stray_keep(&intake->strays.controls, inode);
}

typedef void stray_end_fn(struct intake *intake, ino_t inode);

/* Some of them in a turn; what is alone is compared in the next round.
 * False: not all yet. */
static bool
strays_step_side(struct intake *intake, struct strays_side *side,
    stray_end_fn *end)
{
	ino_t *lone = side->lone;
	size_t capacity = side->lone_capacity;

	for (unsigned i = 0; i < STRAYS_FILES && side->next <
	    side->found_count; i++)
		end(intake, side->found[side->next++]);
	if (side->next < side->found_count)
		return false;
	if (side->kept > 1)
		qsort(side->found, side->kept, sizeof(ino_t), stray_compare);
	side->lone = side->found;
	side->lone_count = side->kept;
	side->lone_capacity = side->found_capacity;
	side->found = lone;
	side->found_capacity = capacity;
	side->left = side->now_left;
	return true;
}

static void
strays_side_begin(struct strays_side *side)
{
	side->found_count = side->next = side->kept = side->now_left = 0;
}

/* ---- the round ------------------------------------------------------ */

static void
strays_trouble(struct intake *intake, const struct err *err)
{
	event(EV_SPOOL_TROUBLE, NULL, "file", SLICE("queue"), "call",
	    SLICE("readdir"), "reason", slice_of(err->text), NULL);
	spool_walk_free(&intake->strays.walk);
	intake->strays.phase = STRAYS_IDLE;
}

void
strays_begin(struct intake *intake)
{
	struct strays *strays = &intake->strays;

	/* Files come faster than they are read: the bodies are looked at all
	 * the same. */
	if ((strays->phase != STRAYS_IDLE && strays->phase != STRAYS_READ) ||
	    intake->is_starting || intake->walk != NULL)
		return;
	if (++strays->round == 0)	/* 0: of a job that no walk met yet */
		strays->round = 1;
	strays_side_begin(&strays->bodies);
	strays_side_begin(&strays->controls);
	strays->phase = STRAYS_CONTROLS;
	intake_soon(intake);
}

void
strays_step(struct intake *intake)
{
	struct strays *strays = &intake->strays;
	struct err err;
	int got;

	if (strays->phase == STRAYS_CONTROLS && intake->walk == NULL) {
		if (spool_walk_new(intake->queue->spool, AREA_QUEUE,
		    &strays->walk, &err) < 0) {
			strays_trouble(intake, &err);
			return;
		}
		strays->phase = STRAYS_QUEUE;
	} else if (strays->phase == STRAYS_QUEUE) {
		got = spool_walk_step(strays->walk, STRAYS_NAMES,
		    stray_take_body, intake, &err);
		if (got < 0) {
			strays_trouble(intake, &err);
		} else if (got == 0) {
			spool_walk_free(&strays->walk);
			job_walk_init(&strays->jobs, &intake->queue->jobs);
			strays->phase = STRAYS_JOBS;
		}
	} else if (strays->phase == STRAYS_JOBS) {
		if (strays_step_jobs(intake))
			strays->phase = STRAYS_BODIES;
	} else if (strays->phase == STRAYS_BODIES) {
		if (strays_step_side(intake, &strays->bodies,
		    stray_end_body))
			strays->phase = STRAYS_READ;
	} else if (strays->phase == STRAYS_READ) {
		if (intake->count == 0)
			strays->phase = STRAYS_ALONE;
	} else if (strays->phase == STRAYS_ALONE) {
		if (strays_step_side(intake, &strays->controls,
		    stray_end_control))
			strays->phase = STRAYS_IDLE;
	}
}

void
strays_release(struct strays *strays)
{
	spool_walk_free(&strays->walk);
	mem_free(&strays->bodies.found);
	mem_free(&strays->bodies.lone);
	mem_free(&strays->controls.found);
	mem_free(&strays->controls.lone);
}
