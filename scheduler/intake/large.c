/* large.c - one large control file becomes a job over many turns
 *
 * In     an item of the intake, whose files are open
 * Out    its job in table and plan
 * Holds  one file: a window of what was read, the job that is being built
 * Trusts a control file only if control_file_parse does
 * Spec   doc/INTERNALS.md section 3 (row P4)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "scheduler/intake/job_build.h"
#include "scheduler/intake/large.h"

#include "base/banned.h"

/* Each step does a piece; true: the next one follows, in this turn or
 * another. */
enum large_step {
	LARGE_READ,		/* a window, by the thread */
	LARGE_TAKE,		/* destinations are looked up; then the next
				 * window is read */
	LARGE_SORT,		/* by the thread */
	LARGE_FILL,		/* vertices are made */
	LARGE_PLACE,		/* and put into the plan */
	LARGE_OVER
};

struct large {
	struct intake	*intake;
	struct intake_item item;
	struct item_files files;	/* until it is read */
	struct intake_reading *reading;
	enum large_step	 step;
	struct job_draft draft;
	size_t		 placed;
	struct timer	 more;
};

static void
large_free(struct large *large)
{
	large->intake->large = NULL;
	intake_note_read(large->intake);
	timer_clear(&large->more);
	item_close(&large->files);
	reading_free(&large->reading);
	mem_free(&large);
}

static void large_more(void *context);

static void
large_soon(struct large *large)
{
	timer_set(large->intake->queue->loop, &large->more, clock_steady_ms(),
	    large_more, large);
}

/* ---- in the thread ----------------------------------------------- */

static void
large_work_sort(void *context)
{
	struct large *large = context;

	job_draft_sort(&large->draft);
}

/* ---- between ----------------------------------------------------- */

/* All of it was taken, or it is no use: nothing of it is known to anybody. */
static bool
large_is_good(struct large *large)
{
	struct intake_reading *reading = large->reading;

	if (item_is_good(large->intake, &large->item, &large->files,
	    reading->got, reading->control.id, &reading->err))
		return true;
	job_draft_drop(&large->draft);
	large->step = LARGE_OVER;
	return false;
}

static void
large_on_read(void *context)
{
	struct large *large = context;
	struct intake_reading *reading = large->reading;

	if (reading->got == INTAKE_READ) {
		if (large->draft.common == NULL) {
			struct control_file *common = control_windows_common(
			    reading->windows);

			/* of a message that came back from a backup the head
			 * tells the inode that it had */
			common->inode = large->item.inode;
			job_draft_begin(&large->draft, large->intake, common);
		}
		job_draft_window(&large->draft, &reading->control);
		large->step = LARGE_TAKE;
	} else {
		(void)large_is_good(large);
	}
	large_soon(large);
}

static void
large_on_sorted(void *context)
{
	struct large *large = context;

	job_draft_make(&large->draft);
	large->step = LARGE_FILL;
	large_soon(large);
}

/* Known from now on.  In flight, so that nobody rereads or drops it before all
 * of it is in the plan.  false: it is another node's, and gone. */
static bool
large_known(struct large *large)
{
	struct intake *intake = large->intake;

	if (!intake_job_begin(intake, large->draft.job,
	    large->draft.ended.kept_s))
		return false;
	plan_job_begin(&intake->queue->plan, large->draft.job);
	return true;
}

static void
large_is_placed(struct large *large)
{
	struct intake *intake = large->intake;
	struct job *job = large->draft.job;

	plan_job_end(&intake->queue->plan, job);
	if ((job->flags & JOB_RELOAD) && job->flight_count == 0)
		intake_reload(intake, job);
	else
		intake_job_end(intake, job);
}

/* ---- in the loop ------------------------------------------------- */

/* A piece of the step.  False: the thread goes on, or all is over. */
static bool
large_do(struct large *large)
{
	switch (large->step) {
	case LARGE_READ:
	case LARGE_SORT:
		return false;
	case LARGE_TAKE:
		if (!job_draft_take(&large->draft, LARGE_PIECE))
			return true;
		if (reading_has_more(large->reading)) {
			large->step = LARGE_READ;
			reading_go_on(large->reading, true, NULL,
			    large_on_read);
			return false;
		}
		if (!large_is_good(large))
			return true;
		large->step = LARGE_SORT;
		reading_go_on(large->reading, false, large_work_sort,
		    large_on_sorted);
		return false;
	case LARGE_FILL:
		if (!job_draft_fill(&large->draft, LARGE_PIECE))
			return true;
		large->step = large_known(large) ? LARGE_PLACE : LARGE_OVER;
		job_draft_end(&large->draft);
		return true;
	case LARGE_PLACE:
		if (!queue_place_some(large->intake->queue, large->draft.job,
		    &large->placed, LARGE_PIECE))
			return true;
		large_is_placed(large);
		large->step = LARGE_OVER;
		return true;
	case LARGE_OVER:
		break;
	}
	large_free(large);
	return false;
}

static void
large_more(void *context)
{
	struct large *large = context;
	int64_t end_us = loop_share_end_us(large->intake->queue->loop,
	    INTAKE_TURN_MS * 1000);

	do
		if (!large_do(large))
			return;
	while (clock_real_us() < end_us);
	large_soon(large);
}

bool
large_begin(struct intake *intake, const struct intake_item *item,
    const struct item_files *files)
{
	struct large *large;

	if (intake->large != NULL)
		return false;
	large = mem_alloc(1, sizeof(*large));
	large->intake = intake;
	large->item = *item;
	large->item.control_fd = large->item.body_fd = -1;
	large->files = *files;
	large->files.is_hot = false;
	large->files.is_shared = true;
	intake->large = large;
	reading_begin(intake, files->control_fd, READING_WINDOWS,
	    &(struct reading_steps){ NULL, large_on_read, large },
	    &large->reading);
	return true;
}

bool
large_has(const struct intake *intake, ino_t inode)
{
	const struct large *large = intake->large;

	return large != NULL && large->item.inode == inode &&
	    large->step < LARGE_PLACE;
}

void
large_end(struct intake *intake)
{
	struct large *large = intake->large;

	if (large == NULL)
		return;
	if (!large->reading->is_done)
		syncer_settle(intake->group->syncer);
	if (large->step == LARGE_PLACE)
		plan_job_end(&intake->queue->plan, large->draft.job);
	else if (large->step != LARGE_OVER)
		job_draft_drop(&large->draft);
	large_free(large);
}
