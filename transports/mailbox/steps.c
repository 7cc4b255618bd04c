/* steps.c - steps of a forward file that need not be done again
 *
 * In     a step that was done; the records of a control file
 * Out    a record "step"; whether there is one
 * Holds  the steps of one message, and how far its records were read
 * Trusts its control file
 * Spec   doc/INTERNALS.md sections 1.2, 5
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/mailbox/steps.h"

#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "journal/event.h"
#include "base/mem.h"
#include "mail/control_file/control_file.h"

#include "base/banned.h"

struct row {
	uint32_t	rcpt;
	char		name[STEP_NAME_BYTES];
};

static struct {			/* an agent serves one message at a time */
	char		id[SPOOL_ID_BYTES];
	uint64_t	offset;		/* records read up to there */
	struct row	*rows;
	size_t		count, capacity;
} known;

void
step_name(const char *kind, struct slice text, char out[STEP_NAME_BYTES])
{
	uint32_t first = crc32c(0, kind, strlen(kind));

	first = crc32c(first, text.p, text.n);
	snprintf(out, STEP_NAME_BYTES, "%08x%08x", first,
	    crc32c(first ^ 0x5bd1e995u, text.p, text.n));
}

static void
steps_add(void *context, uint32_t rcpt, struct slice name)
{
	struct row *row;

	if (name.n != STEP_NAME_BYTES - 1)
		return;
	if (known.count == known.capacity) {
		known.capacity = known.capacity * 2 + 16;
		known.rows = mem_grow(known.rows, known.capacity,
		    sizeof(*known.rows));
	}
	row = &known.rows[known.count++];
	row->rcpt = rcpt;
	memcpy(row->name, name.p, name.n);
	row->name[name.n] = '\0';
}

static void
steps_complain(const struct action *action, const char *call,
    const struct err *err)
{
	event(EV_SPOOL_TROUBLE, action->job->id, "call", slice_of(call),
	    "reason", slice_of(err->text), NULL);
}

static void
steps_catch_up(const struct action *action)
{
	struct err err;

	if (strcmp(known.id, action->job->id) != 0) {
		strlcpy(known.id, action->job->id, sizeof(known.id));
		known.offset = 0;
		known.count = 0;
	}
	if (control_steps(action->job->control_fd, action->job->id,
	    &known.offset, steps_add, NULL, &err) < 0)
		steps_complain(action, "read", &err);
}

bool
step_was_done(const struct action *action, const char *name)
{
	if (action->job->control_fd <= 0)	/* none: a test */
		return false;
	steps_catch_up(action);
	for (size_t i = 0; i < known.count; i++)
		if (known.rows[i].rcpt == action->rcpt->offset &&
		    strcmp(known.rows[i].name, name) == 0)
			return true;
	return false;
}

void
step_done(const struct action *action, const char *name)
{
	struct err err;

	if (action->job->control_fd > 0 &&
	    control_step_note(action->job->control_fd, action->job->id,
	    action->rcpt->offset, name, &err) < 0)
		steps_complain(action, "append", &err);
}
