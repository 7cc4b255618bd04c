/* orphans.c - control files without a body: row F1
 *
 * In     numbers that intake.c kept, a minute later
 * Out    those whose message is finished, told
 * Holds  nothing
 * Spec   doc/INTERNALS.md section 3
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <unistd.h>

#include "journal/event.h"
#include "mail/control_file/control_file.h"
#include "mail/recover/recover.h"
#include "scheduler/intake/intake.h"

#include "base/banned.h"

/* Row F1: who ended it was killed, perhaps before it could say so. */
static void
intake_tell_end(struct intake *intake, const char *name)
{
	struct control_file control;
	size_t open = 0, failed = 0;
	struct err err;
	int fd = intake_file_open(intake, AREA_TRANSPORT, name);

	if (fd < 0)
		return;
	if (intake_read(intake, fd, &control, &err) == INTAKE_READ) {
		for (size_t i = 0; i < control.group_count; i++)
			for (size_t k = 0; k < control.groups[i].rcpt_count;
			    k++) {
				const struct control_rcpt *rcpt =
				    &control.groups[i].rcpts[k];

				open += !rcpt->is_final;
				failed += rcpt->is_final &&
				    rcpt->last != NULL &&
				    rcpt->last->verdict.kind == VERDICT_FAILED;
			}
		if (open == 0)
			event(EV_MESSAGE_DONE, control.id, "rcpts",
			    event_number((int64_t)control.rcpt_total), "failed",
			    event_number((int64_t)failed), NULL);
		else
			event(EV_MESSAGE_VANISHED, control.id, "file",
			    slice_of(name), "rcpts",
			    event_number((int64_t)open), "reason",
			    SLICE("its body was taken away"), NULL);
	}
	close(fd);
}

bool
intake_take_orphan(struct intake *intake, ino_t *out_inode)
{
	struct spool *spool = intake->queue->spool;

	while (intake->orphan_count > 0 && !intake->is_waiting) {
		char name[SPOOL_NAME_BYTES];
		ino_t inode = intake->orphans[--intake->orphan_count];

		spool_hashed_name(spool, inode, name);
		if (job_table_find(&intake->queue->jobs, inode) != NULL ||
		    faccessat(spool_dir_fd(spool, AREA_TRANSPORT, 0), name,
		    F_OK, 0) != 0)
			continue;
		if (faccessat(spool_dir_fd(spool, AREA_QUEUE, 0), name, F_OK,
		    0) == 0) {
			intake_add(intake, inode, true);
		} else if (errno == ENOENT &&
		    spool_body_may_come(spool, name) == SPOOL_BODY_GONE &&
		    spool_follow_queued(spool, name) == SPOOL_FOLLOW_NONE) {
			intake_tell_end(intake, name);
			*out_inode = inode;
			return true;
		}
	}
	return false;
}
