/* scan.c - what lies in transport/, learned beside other work
 *
 * In     inotify; a walk through the directories at the start and each minute
 * Out    names for intake_add
 * Holds  a walk that is under way: some thousand names a turn, and none
 *        while as many files wait to be read
 * Trusts names only as numbers
 * Spec   doc/INTERNALS.md section 3
 *
 * A million names take half a second to list; between the pieces agents are
 * heard and fed.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "journal/event.h"
#include "scheduler/intake/intake.h"
#include "scheduler/intake/large.h"
#include "scheduler/intake/scan.h"
#include "scheduler/intake/strays.h"

#include "base/banned.h"

enum {
	STEP_NAMES = 4096,	/* of a walk in one turn: about 2 ms */
	AHEAD_NAMES = 4 * STEP_NAMES,	/* more wait: read them first */
	SCAN_GATHER_MS = 1	/* names told together while many come */
};

/* ---- a walk -------------------------------------------------------------- */

ino_t
scan_inode(const char *name)
{
	const char *last = strrchr(name, '/');
	struct spool_name parsed;

	return spool_name_parse(slice_of(last ? last + 1 : name), &parsed) &&
	    parsed.pid == 0 && parsed.why.n == 0 ? parsed.inode : 0;
}

static bool
scan_name(void *context, const char *name)
{
	struct intake *intake = context;
	ino_t inode = scan_inode(name);
	struct job *job = inode == 0 ? NULL :
	    job_table_find(&intake->queue->jobs, inode);

	if (job != NULL) {
		job->seen_control = intake->strays.round;
	} else if (inode != 0) {
		strays_control_found(intake, inode);
		intake_add(intake, inode, true);
	}
	return true;
}

static void
scan_walk_over(struct intake *intake, int got, const struct err *err)
{
	spool_walk_free(&intake->walk);
	intake->is_starting = false;
	intake_note_read(intake);
	if (got < 0)
		event(EV_SPOOL_TROUBLE, NULL, "file", SLICE("transport"),
		    "call", SLICE("readdir"), "reason", slice_of(err->text),
		    NULL);
	if (intake->scan_again) {	/* something was missed meanwhile */
		intake->scan_again = false;
		scan_begin(intake);
	}
}

static int
scan_compare(const void *pa, const void *pb)
{
	const struct intake_item *a = pa, *b = pb;

	return (a->inode > b->inode) - (a->inode < b->inode);
}

void
scan_step(struct intake *intake)
{
	size_t before = intake->count;
	struct err err;
	int got;

	if (intake->walk == NULL || before >= AHEAD_NAMES)
		return;
	got = spool_walk_step(intake->walk, STEP_NAMES, scan_name, intake,
	    &err);
	/* neighbours in the table of inodes are read one after the other */
	if (intake->count > before + 1)
		qsort(intake->items + intake->first + before,
		    intake->count - before, sizeof(*intake->items),
		    scan_compare);
	if (got < 1)
		scan_walk_over(intake, got, &err);
}

/* The first piece at once: of a small queue that is all. */
void
scan_begin(struct intake *intake)
{
	struct err err;

	if (intake->walk != NULL || intake->is_waiting)
		return;
	if (spool_walk_new(intake->queue->spool, AREA_TRANSPORT, &intake->walk,
	    &err) < 0) {
		scan_walk_over(intake, -1, &err);
		return;
	}
	scan_step(intake);
	if (intake->walk != NULL)
		intake_soon(intake);
}

size_t
intake_unread(const struct intake *intake)
{
	return intake->count + intake->is_starting + (intake->large != NULL) +
	    intake->large_waits;
}

bool
intake_has(const struct intake *intake, ino_t inode)
{
	for (size_t i = 0; i < intake->count; i++)
		if (intake->items[intake->first + i].inode == inode)
			return true;
	for (size_t i = 0; i < intake->busy_count; i++)
		if (intake->busy[i].inode == inode)
			return true;
	return large_has(intake, inode);
}

static bool
again_is_awaited(const struct intake *intake, const struct intake_again *again)
{
	return job_table_find(&intake->queue->jobs, again->inode) == NULL &&
	    intake_has(intake, again->inode);
}

bool
intake_is_again(struct intake *intake)
{
	size_t kept = 0;

	for (size_t i = 0; i < intake->again_count; i++)
		if (again_is_awaited(intake, &intake->again[i]))
			intake->again[kept++] = intake->again[i];
	intake->again_count = kept;
	return kept > 0;
}

bool
intake_reads_again(const struct intake *intake, ino_t inode)
{
	for (size_t i = 0; i < intake->again_count; i++)
		if (intake->again[i].inode == inode)
			return again_is_awaited(intake, &intake->again[i]);
	return false;
}

bool
intake_reads_again_id(const struct intake *intake, struct slice id)
{
	for (size_t i = 0; i < intake->again_count; i++) {
		const struct intake_again *again = &intake->again[i];
		struct slice whole = slice_of(again->id);

		if (whole.n >= id.n && slice_equal(slice_first(whole, id.n),
		    id) && again_is_awaited(intake, again))
			return true;
	}
	return false;
}

void
scan_again(struct intake *intake, const struct job *job)
{
	struct intake_again *again;

	if (job->rcpt_total < JOB_LARGE_RCPTS)
		return;
	(void)intake_is_again(intake);	/* forget those that are known */
	ARRAY_GROW(intake->again, intake->again_count, intake->again_capacity);
	again = &intake->again[intake->again_count++];
	*again = (struct intake_again){ .inode = job->inode,
	    .number = job_table_number(&intake->queue->jobs, job) };
	strlcpy(again->id, job->id, sizeof(again->id));
}

/* ---- inotify ------------------------------------------------------------- */

static void
scan_notified(void *context, unsigned dir, const char *name)
{
	struct intake *intake = context;

	if (name == NULL) {
		intake->scan_again = intake->walk != NULL;
		scan_begin(intake);
	} else if (scan_inode(name) != 0) {
		/* the router may have brought it here from another name */
		intake_add(intake, scan_inode(name), intake->is_waiting);
	}
}

int
scan_watch(struct intake *intake, struct err *err)
{
	unsigned levels = spool_hash_levels(intake->queue->spool);
	unsigned count = levels == 0 ? 0 : levels == 1 ? 26 : 26 * 26;
	struct str path = STR_INIT;
	int result;

	intake->notify = notify_new(intake->queue->loop, scan_notified, intake);
	notify_gather(intake->notify, SCAN_GATHER_MS);
	result = notify_add_fd(intake->notify,
	    spool_dir_fd(intake->queue->spool, AREA_TRANSPORT, 0), 0,
	    NOTIFY_MOVED, err);
	for (unsigned i = 0; i < count && result == 0; i++) {
		str_reset(&path);
		str_addf(&path, "%s/transport/%c",
		    intake->queue->conf->spool_dir,
		    (int)('A' + i % 26));
		if (levels == 2)
			str_addf(&path, "/%c", (int)('A' + i / 26));
		result = notify_add_path(intake->notify, path.buf, i + 1,
		    NOTIFY_MOVED, err);
	}
	str_release(&path);
	return result;
}
