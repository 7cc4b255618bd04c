/* undelete.c - a routed message comes back from trash/
 *
 * In     a message's name in trash/
 * Out    records that restore its cancelled recipients; both files moved
 * Holds  the lock on its control file during the call
 * Trusts a message only with a control file of the same id
 * Spec   doc/INTERNALS.md row D7
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "mail/control_file/undelete.h"

#include "base/banned.h"

/* The control file with its exclusive lock: an agent may still have it. */
static int
deleted_control_open(const struct spool *spool, const char *name,
    struct err *err)
{
	char bytes[SPOOL_NAME_BYTES + 16];
	int fd;

	snprintf(bytes, sizeof(bytes), "%s.control", name);
	fd = openat(spool_dir_fd(spool, AREA_TRASH, 0), bytes, O_RDWR |
	    O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "open control file %s", bytes);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	err_sys(err, "somebody works on %s", bytes);
	close(fd);
	return -1;
}

static bool
deleted_read_id(const struct spool *spool, const char *name,
    char out_id[SPOOL_ID_BYTES])
{
	int fd = openat(spool_dir_fd(spool, AREA_TRASH, 0), name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool has_id = fd >= 0 && spool_read_id(fd, out_id);

	if (fd >= 0)
		close(fd);
	return has_id;
}

/* Row P4: a durable record for each recipient that is cancelled. */
static int
rcpts_restore(int fd, const struct control_file *control, const char *by,
    size_t *out_count, struct err *err)
{
	struct control_record *records = mem_alloc(control->rcpt_total,
	    sizeof(*records));
	size_t count = 0;
	int result = 0;

	for (size_t i = 0; i < control->rcpt_total; i++) {
		const struct control_rcpt *rcpt = &control->groups[0].rcpts[i];

		if (!rcpt->is_cancelled)
			continue;
		records[count].kind = RECORD_RESTORED;
		records[count].rcpt_offset = rcpt->offset;
		records[count].time_s = clock_wall_s();
		strlcpy(records[count].verdict.who, by,
		    sizeof(records[count].verdict.who));
		count++;
	}
	if (count > 0)
		result = control_file_append(fd, control->id, records, count,
		    err);
	if (count > 0 && result == 0 && fdatasync(fd) != 0)
		result = err_sys(err, "fdatasync control file");
	mem_free(&records);
	*out_count = count;
	return result;
}

static int
deleted_restore(const struct spool *spool, const char *name, int fd,
    const char *by, size_t *out_count, struct err *err)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	char id[SPOOL_ID_BYTES] = "";
	struct control_file control;
	int result = -1;

	if (!deleted_read_id(spool, name, id))
		err_set(err, "trash/%s is no message", name);
	else if (control_file_read(fd, CONTROL_BYTES_MAX, &text, err) < 0 ||
	    control_file_parse(arena, str_slice(&text), &control, err) < 0)
		err_prefix(err, "trash/%s.control", name);
	else if (strcmp(id, control.id) != 0)
		err_set(err, "trash/%s: its control file is of %s", name,
		    control.id);
	else
		result = rcpts_restore(fd, &control, by, out_count, err);
	str_release(&text);
	arena_free(&arena);
	return result;
}

int
control_undelete(struct spool *spool, const char *name, const char *by,
    char out_name[SPOOL_NAME_BYTES], size_t *out_count, struct err *err)
{
	int fd = deleted_control_open(spool, name, err), result;

	if (fd < 0)
		return -1;
	result = deleted_restore(spool, name, fd, by, out_count, err);
	close(fd);
	if (result == 0)	/* D7 -> P4 */
		result = spool_untrash_queued(spool, name, out_name, err);
	return result;
}
