/* strays.c - what a person took away while the scheduler runs
 *
 * In     a round a minute: the names of transport/ (scan.c reads them), those
 *        of queue/, the jobs in memory
 * Out    jobs without files forgotten, with an event; bodies without a
 *        control file routed again
 * Holds  the numbers of bodies that had no control file in the last round
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
#include <string.h>
#include <unistd.h>

#include "journal/event.h"
#include "mail/recover/recover.h"
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
stray_body_found(struct strays *strays, ino_t inode)
{
	ARRAY_GROW(strays->found, strays->found_count,
	    strays->found_capacity);
	strays->found[strays->found_count++] = inode;
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
		stray_body_found(&intake->strays, inode);
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
		stray_body_found(&intake->strays, job->inode);
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

/* ---- bodies without control files ---------------------------------- */

static int
stray_compare(const void *pa, const void *pb)
{
	const ino_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Between two renames of the router each body is alone; one that was so in
 * two rounds is nobody's. */
static void
stray_end_body(struct intake *intake, ino_t inode)
{
	struct strays *strays = &intake->strays;
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(intake->queue->spool, inode, name);
	if (job_table_find(&intake->queue->jobs, inode) != NULL ||
	    stray_is_there(intake, AREA_TRANSPORT, name) ||
	    !stray_is_there(intake, AREA_QUEUE, name))
		return;
	if (strays->lone_count > 0 && bsearch(&inode, strays->lone,
	    strays->lone_count, sizeof(inode), stray_compare) != NULL &&
	    spool_route_lone_body(intake->queue->spool, name))
		return;
	strays->found[strays->kept++] = inode;
}

static bool
strays_step_bodies(struct intake *intake)
{
	struct strays *strays = &intake->strays;
	ino_t *lone = strays->lone;
	size_t capacity = strays->lone_capacity;

	for (unsigned i = 0; i < STRAYS_FILES && strays->next <
	    strays->found_count; i++)
		stray_end_body(intake, strays->found[strays->next++]);
	if (strays->next < strays->found_count)
		return false;
	if (strays->kept > 1)
		qsort(strays->found, strays->kept, sizeof(ino_t),
		    stray_compare);
	strays->lone = strays->found;
	strays->lone_count = strays->kept;
	strays->lone_capacity = strays->found_capacity;
	strays->found = lone;
	strays->found_capacity = capacity;
	return true;
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

	if (strays->phase != STRAYS_IDLE || intake->is_starting ||
	    intake->walk != NULL)
		return;
	if (++strays->round == 0)	/* 0: of a job that no walk met yet */
		strays->round = 1;
	strays->found_count = strays->next = strays->kept = 0;
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
		if (strays_step_bodies(intake))
			strays->phase = STRAYS_IDLE;
	}
}

void
strays_release(struct strays *strays)
{
	spool_walk_free(&strays->walk);
	mem_free(&strays->found);
	mem_free(&strays->lone);
}
