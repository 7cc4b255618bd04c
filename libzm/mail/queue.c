/* queue.c - the queue as one interface: enqueue, work, order, recover
 *
 * In     names, verdicts, orders
 * Out    files moved, records appended
 * Holds  the lock and descriptors of a started message
 * Trusts control files as far as work_parse does
 * Spec   doc/INTERNALS.md rows S0 to S2, P4, D7, F0 to F3
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "mail/queue.h"

#include "base/banned.h"

enum { CONTROL_BYTES_MAX = 512 << 20 };

bool
queue_may_retry(int error)
{
	switch (error) {
	case EINTR: case EAGAIN: case ENOSPC: case EDQUOT: case EIO:
	case EMFILE: case ENFILE: case ENOMEM: case EBUSY: case ETXTBSY:
		return true;
	default:
		return false;
	}
}

/* ---- enqueue ------------------------------------------------------- */

int
queue_begin(struct spool *spool, struct envelope *envelope,
    struct draft *out, struct err *err)
{
	struct str text = STR_INIT;
	int result = -1;

	if (draft_open(spool, NULL, out, err) < 0)	/* S0 */
		return -1;
	strlcpy(envelope->id, out->id, sizeof(envelope->id));
	if (envelope_add(&text, envelope, err) == 1)
		result = draft_write(out, text.buf, text.len, err);
	str_release(&text);
	if (result < 0)
		draft_abort(out);
	return result;
}

int
queue_write(struct draft *draft, struct slice bytes, struct err *err)
{
	return draft_write(draft, bytes.p != NULL ? bytes.p : "", bytes.n,
	    err);
}

int
queue_commit(struct draft *draft, struct err *err)
{
	struct draft *drafts[1] = { draft };

	/* S1 -> S2 */
	if (draft_sync(drafts, 1, err) == 1 &&
	    draft_publish(draft, AREA_ROUTER, 0, NULL, err) == 0)
		return 0;
	draft_abort(draft);
	return -1;
}

void
queue_abort(struct draft *draft)
{
	draft_abort(draft);
}

/* ---- start, done, cancel --------------------------------------------- */

static int
hold_read(struct queue_hold *hold, struct err *err)
{
	arena_reset(hold->arena);
	str_reset(&hold->text);
	if (work_read_file(hold->control_fd, CONTROL_BYTES_MAX, &hold->text,
	    err) < 0 || work_parse(hold->arena, str_slice(&hold->text),
	    &hold->work, err) < 0)
		return -1;
	return 0;
}

static void
hold_release(struct queue_hold *hold)
{
	if (hold->control_fd >= 0)
		close(hold->control_fd);
	if (hold->body_fd >= 0)
		close(hold->body_fd);
	hold->control_fd = hold->body_fd = -1;
	str_release(&hold->text);
	arena_free(&hold->arena);
}

/* The control file with its exclusive lock: who has it works on it. */
static int
control_lock(const struct spool *spool, enum spool_area area,
    const char *name, struct err *err)
{
	int fd = openat(spool_dir_fd(spool, area, 0), name, O_RDWR |
	    O_APPEND | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "open control file %s", name);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	err_sys(err, "somebody works on %s", name);
	close(fd);
	return -1;
}

int
queue_start(struct spool *spool, const char *name, struct queue_hold *out,
    struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->spool = spool;
	out->body_fd = -1;
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->control_fd = control_lock(spool, AREA_TRANSPORT, name, err);
	if (out->control_fd >= 0)
		out->body_fd = openat(spool_dir_fd(spool, AREA_QUEUE, 0),
		    name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (out->control_fd < 0 || out->body_fd < 0) {
		bool is_gone = errno == ENOENT || errno == EWOULDBLOCK;

		if (out->control_fd >= 0)
			err_sys(err, "open queue/%s", name);
		hold_release(out);
		return is_gone ? 0 : -1;
	}
	out->arena = arena_new();
	if (hold_read(out, err) == 0)
		return 1;
	hold_release(out);
	return -1;
}

void
queue_cancel(struct queue_hold *hold)
{
	hold_release(hold);
}

/* P4: records.  0 or -1. */
static int
records_append(struct queue_hold *hold, const struct work_record *records,
    size_t count, struct err *err)
{
	if (count == 0)
		return 0;
	if (work_append(hold->control_fd, hold->work.id, records, count,
	    err) < 0)
		return -1;
	if (fdatasync(hold->control_fd) != 0)
		return err_sys(err, "fdatasync control file");
	return hold_read(hold, err);
}

static const struct work_rcpt *
rcpt_at(const struct work *work, uint32_t offset)
{
	for (size_t i = 0; i < work->rcpt_total; i++)
		if (work->groups[0].rcpts[i].offset == offset)
			return &work->groups[0].rcpts[i];
	return NULL;
}

int
queue_done(struct queue_hold *hold, uint32_t offset,
    const struct verdict *verdict, int64_t next_s, struct err *err)
{
	const struct work_rcpt *rcpt = rcpt_at(&hold->work, offset);
	struct work_record record = { .kind = WORK_OUTCOME,
	    .rcpt_offset = offset, .time_s = clock_wall_s(),
	    .next_s = verdict->kind == VERDICT_DEFERRED ? next_s : 0,
	    .verdict = *verdict };

	if (rcpt == NULL || rcpt->is_final) {
		errno = EINVAL;
		return err_set(err, "%s has no open recipient at %u",
		    hold->work.id, offset);
	}
	record.tries = rcpt->tries + 1;
	return records_append(hold, &record, 1, err);
}

/* ---- orders -------------------------------------------------------- */

static bool
is_meant(const struct work_rcpt *rcpt, uint32_t offset,
    enum work_record_kind kind)
{
	if (offset != 0 && rcpt->offset != offset)
		return false;
	return kind == WORK_RESTORED ? rcpt->is_cancelled : !rcpt->is_final;
}

int
queue_order(struct queue_hold *hold, uint32_t offset,
    enum work_record_kind kind, int64_t until_s, const char *by,
    const char *reason, struct err *err)
{
	const struct work *work = &hold->work;
	struct work_record *records = mem_alloc(work->rcpt_total,
	    sizeof(*records));
	size_t count = 0;
	int result;

	for (size_t i = 0; i < work->rcpt_total && kind >= WORK_HELD; i++) {
		const struct work_rcpt *rcpt = &work->groups[0].rcpts[i];
		struct work_record *record = &records[count];

		if (!is_meant(rcpt, offset, kind))
			continue;
		record->kind = kind;
		record->rcpt_offset = rcpt->offset;
		record->time_s = clock_wall_s();
		record->next_s = until_s;
		strlcpy(record->verdict.who, by, sizeof(record->verdict.who));
		strlcpy(record->verdict.text, reason,
		    sizeof(record->verdict.text));
		count++;
	}
	result = records_append(hold, records, count, err);
	mem_free(&records);
	return result < 0 ? -1 : (int)count;
}

int
queue_remove(struct queue_hold *hold, const char *by, const char *reason,
    struct err *err)
{
	int result = queue_order(hold, 0, WORK_CANCELLED, 0, by, reason, err);

	if (result >= 0)	/* P4 -> D7 */
		result = spool_trash_work(hold->spool, hold->name, err);
	hold_release(hold);
	return result < 0 ? -1 : 0;
}

int
queue_recover(struct spool *spool, const char *name, const char *by,
    char out_name[SPOOL_NAME_BYTES], struct err *err)
{
	struct queue_hold hold = { .spool = spool, .body_fd = -1 };
	char control[SPOOL_NAME_BYTES + 16], id[SPOOL_ID_BYTES] = "";
	int count = -1;

	snprintf(control, sizeof(control), "%s.control", name);
	hold.control_fd = control_lock(spool, AREA_TRASH, control, err);
	if (hold.control_fd < 0)
		return -1;
	hold.arena = arena_new();
	hold.body_fd = openat(spool_dir_fd(spool, AREA_TRASH, 0), name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (hold.body_fd < 0 || !spool_read_id(hold.body_fd, id))
		err_set(err, "trash/%s is no message", name);
	else if (hold_read(&hold, err) < 0)
		count = -1;
	else if (strcmp(id, hold.work.id) != 0)
		err_set(err, "trash/%s: its control file is of %s", name,
		    hold.work.id);
	else
		count = queue_order(&hold, 0, WORK_RESTORED, 0, by, "", err);
	hold_release(&hold);
	/* D7 -> P4 */
	if (count >= 0 && spool_untrash_work(spool, name, out_name, err) < 0)
		return -1;
	return count;
}

int
queue_clean(struct queue_hold *hold, struct err *err)
{
	const char *names[1] = { hold->name };
	int result = -1;

	for (size_t i = 0; i < hold->work.rcpt_total; i++) {
		const struct work_rcpt *rcpt =
		    &hold->work.groups[0].rcpts[i];

		if (!rcpt->is_final || rcpt->is_cancelled)
			return 0;
		if (!rcpt->is_reported && rcpt->last->verdict.kind ==
		    VERDICT_FAILED && dsn_wants(rcpt->notify,
		    DSN_NOTIFY_FAILURE) && hold->work.errors_to.n > 0)
			return 0;	/* its sender was not told yet */
	}
	/* F0 -> F1 -> F2 -> F3 */
	if (spool_unlink_body(hold->spool, hold->name, err) == 0 &&
	    spool_barrier(hold->spool, names, 1, NULL, 0, err) == 0 &&
	    spool_unlink_control(hold->spool, hold->name, err) == 0)
		result = 1;
	hold_release(hold);
	return result;
}
