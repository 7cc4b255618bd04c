/* reading.c - a large control file, read and parsed beside the loop
 *
 * In     a descriptor of a control file
 * Out    what stands in it
 * Holds  nothing; its owner holds a struct intake_reading
 * Trusts a control file only if control_file_parse does
 * Spec   io/sync.h: a thread touches nothing that others have
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scheduler/intake/reading.h"

#include "base/banned.h"

bool
reading_is_large(int control_fd)
{
	struct stat st;

	return fstat(control_fd, &st) == 0 &&
	    st.st_size > READING_LARGE_BYTES;
}

/* ---- in a thread ------------------------------------------------- */

static void
reading_work_also(void *context)
{
	struct intake_reading *reading = context;

	if (reading->got == INTAKE_READ && reading->steps.also != NULL)
		reading->steps.also(reading->steps.context);
}

/* What control_file_parse would say, as far as the intake asks. */
static enum intake_read
reading_got(enum control_windows_got got)
{
	return got == CONTROL_WINDOWS_GOOD ? INTAKE_READ :
	    got == CONTROL_WINDOWS_TROUBLE ? INTAKE_NOT_NOW : INTAKE_DAMAGED;
}

bool
reading_has_more(const struct intake_reading *reading)
{
	return reading->windows != NULL &&
	    reading->next < control_windows_count(reading->windows);
}

void
reading_next(struct intake_reading *reading)
{
	arena_reset(reading->arena);
	/* what changed since it was checked is looked at again as a whole */
	reading->got = control_windows_read(reading->windows, reading->next++,
	    reading->arena, &reading->text, &reading->control,
	    &reading->err) == 0 ? INTAKE_READ : INTAKE_NOT_NOW;
	if (reading->got == INTAKE_READ)
		reading->got = intake_judge(&reading->control, &reading->err);
}

static void
reading_work_next(void *context)
{
	struct intake_reading *reading = context;

	reading_next(reading);
	reading_work_also(reading);
}

static void
reading_work_file(void *context)
{
	struct intake_reading *reading = context;

	if (reading->how == READING_WHOLE) {
		reading->got = intake_read_into(reading->arena, &reading->text,
		    reading->fd, &reading->control, &reading->err);
		if (reading->got == INTAKE_READ)
			reading->got = intake_judge(&reading->control,
			    &reading->err);
	} else {
		reading->got = reading_got(control_windows_open(reading->fd,
		    NULL, &reading->windows, &reading->err));
		if (reading->got == INTAKE_READ)
			reading_next(reading);
	}
	reading_work_also(reading);
}

static void
reading_work_free(void *context)
{
	struct intake_reading *reading = context;

	arena_free_gently(&reading->arena);
	mem_drop_pages(reading->text.buf, reading->text.cap);
	str_release(&reading->text);
	control_windows_free(&reading->windows);
	close(reading->fd);
}

/* ---- in the loop ------------------------------------------------- */

static void
reading_on_work(void *context)
{
	struct intake_reading *reading = context;

	reading->is_done = true;
	reading->steps.done(reading->steps.context);
}

static void
reading_on_freed(void *context)
{
	struct intake_reading *reading = context;

	mem_free(&reading);
}

static void
reading_add(struct intake_reading *reading, sync_fn *work, sync_fn *done)
{
	reading->task = (struct sync_task){ work, done, reading, NULL };
	syncer_add(reading->intake->group->syncer, &reading->task);
}

void
reading_begin(struct intake *intake, int control_fd, enum reading_how how,
    const struct reading_steps *steps, struct intake_reading **out)
{
	struct intake_reading *reading = mem_alloc(1, sizeof(*reading));

	*out = reading;
	reading->intake = intake;
	reading->how = how;
	reading->steps = *steps;
	reading->arena = arena_new();
	str_init(&reading->text);
	/* agents that come for the job may open its files anew */
	reading->fd = fcntl(control_fd, F_DUPFD_CLOEXEC, 0);
	reading_add(reading, reading_work_file, reading_on_work);
}

void
reading_go_on(struct intake_reading *reading, bool with_next, sync_fn *also,
    sync_fn *done)
{
	reading->steps.also = also;
	reading->steps.done = done;
	reading->is_done = false;
	reading_add(reading, with_next ? reading_work_next : reading_work_also,
	    reading_on_work);
}

void
reading_free(struct intake_reading **reading)
{
	reading_add(*reading, reading_work_free, reading_on_freed);
	*reading = NULL;
}
