/* keep.c - the journal kept in bounds: parts closed, packed, removed
 *
 * In     LOGDIR, the limits of the configuration
 * Out    the same lines in fewer bytes; the oldest gone
 * Holds  a lock on LOGDIR: one rotation at a time
 * Spec   keep.h; doc/INTERNALS.md section 9
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "past/frame.h"
#include "tools/journal/keep.h"
#include "past/names.h"
#include "tools/journal/record_bodies.h"
#include "tools/journal/record_files.h"
#include "tools/journal/seal.h"

#include "base/banned.h"

/* A process that writes looks at the name once a second, yet one with
 * nothing to say may have a closed part open for long. */
enum { PATIENCE_S = 3600 };
static const char draft_name[] = ".events.draft";

struct rotation {
	int		 dir_fd;
	int64_t		 now_ms;
	const struct conf *conf;
	struct journal_names names;
	struct kept	 kept;
};

static bool
stat_of(const struct rotation *rotation, const char *name, struct stat *out)
{
	return fstatat(rotation->dir_fd, name, out, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(out->st_mode);
}

/* ---- closing ------------------------------------------------------------ */

static unsigned
number_after(const struct rotation *rotation, int64_t day_ms)
{
	unsigned last = 0;

	for (size_t i = 0; i < rotation->names.count; i++)
		if (rotation->names.rows[i].since_ms == day_ms &&
		    rotation->names.rows[i].number > last)
			last = rotation->names.rows[i].number;
	return last + 1;
}

/* INTERNALS 10, row "being written": to "closed" by one rename.  Nobody
 * else makes numbers: we hold the lock. */
static int
part_close(struct rotation *rotation, const struct journal_name *name,
    struct err *err)
{
	unsigned number = number_after(rotation, name->since_ms);
	char to[JOURNAL_NAME_BYTES];

	if (number > JOURNAL_PARTS_MAX)
		return 0;	/* grows on; tomorrow has new numbers */
	snprintf(to, sizeof(to), "%.17s.%03u.jsonl", name->text, number);
	if (renameat(rotation->dir_fd, name->text, rotation->dir_fd, to) < 0)
		return err_sys(err, "cannot rename %s", name->text);
	rotation->kept.closed++;
	return 0;
}

static uint64_t
part_bytes(const struct conf *conf)
{
	uint64_t most = conf->journal_max_bytes / 4;

	return conf->journal_part_bytes < most ? conf->journal_part_bytes :
	    most;
}

static int
parts_close(struct rotation *rotation, bool closes_all, struct err *err)
{
	struct stat st;
	int result = 0;

	for (size_t i = 0; i < rotation->names.count && result == 0; i++) {
		const struct journal_name *name = &rotation->names.rows[i];

		if (name->number > 0 || !stat_of(rotation, name->text, &st) ||
		    st.st_size == 0)
			continue;
		if (closes_all || name->until_ms <= rotation->now_ms ||
		    (uint64_t)st.st_size >= part_bytes(rotation->conf))
			result = part_close(rotation, name, err);
	}
	return result;
}

/* ---- sealing ------------------------------------------------------------ */

/* What was lost of a seal is covered by the next one. */
static bool
part_seal(struct rotation *rotation, const char *name, struct seal_end *out)
{
	int fd = openat(rotation->dir_fd, name,
	    O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	struct err err;
	int result;

	if (fd < 0) {
		warning("cannot seal %s: %s", name, strerror(errno));
		return false;
	}
	result = seal_part(fd, out, &err);
	close(fd);
	if (result < 0)
		warning("cannot seal %s: %s", name, err.text);
	return result == 0;
}

static void
parts_seal(struct rotation *rotation)
{
	struct seal_end end;

	for (size_t i = 0; i < rotation->names.count; i++)
		if (!rotation->names.rows[i].is_packed &&
		    !rotation->names.rows[i].is_left_over)
			(void)part_seal(rotation, rotation->names.rows[i].text,
			    &end);
}

/* Nobody writes to it any more: its end is told in the file of today. */
static void
part_seal_end(struct rotation *rotation, const char *name)
{
	struct seal_end end;

	if (part_seal(rotation, name, &end) && end.sum[0] != '\0')
		event(EV_JOURNAL_CLOSED, NULL, "file", slice_of(name), "bytes",
		    event_number((int64_t)end.bytes), "sum", slice_of(end.sum),
		    NULL);
}

/* ---- packing ------------------------------------------------------------ */

/* Who writes holds a shared lock as long as the file is open. */
static bool
part_is_left(int fd, const struct rotation *rotation)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	return fstat(fd, &st) == 0 &&
	    (int64_t)st.st_ctime + PATIENCE_S <= rotation->now_ms / 1000;
}

static int
keep_draft_write(struct rotation *rotation, int fd, const struct stat *st,
    struct err *err)
{
	void *map = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_SHARED, fd,
	    0);
	int out, result;

	if (map == MAP_FAILED)
		return err_sys(err, "cannot map a part");
	(void)unlinkat(rotation->dir_fd, draft_name, 0);
	out = openat(rotation->dir_fd, draft_name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0) {
		munmap(map, (size_t)st->st_size);
		return err_sys(err, "cannot make %s", draft_name);
	}
	result = frames_write((struct slice){ map, (size_t)st->st_size }, out,
	    err);
	munmap(map, (size_t)st->st_size);
	if (geteuid() == 0 && fchown(out, st->st_uid, st->st_gid) < 0)
		warning("%s: %s", draft_name, strerror(errno));
	(void)fchmod(out, st->st_mode & 0777);
	if (result == 0 && fsync(out) < 0)
		result = err_sys(err, "cannot sync %s", draft_name);
	close(out);
	return result;
}

/* INTERNALS 10, rows "closed" and "closed and packed": the packed file is
 * whole and synced before it has its name, and has it before the other
 * loses its own. */
static int
part_pack(struct rotation *rotation, const struct journal_name *name, int fd,
    struct err *err)
{
	char to[JOURNAL_NAME_BYTES + 8];
	struct stat before, after;

	if (fstat(fd, &before) < 0)
		return err_sys(err, "cannot look at %s", name->text);
	snprintf(to, sizeof(to), "%s.zst", name->text);
	if (before.st_size > 0 &&
	    (keep_draft_write(rotation, fd, &before, err) < 0 ||
	    renameat(rotation->dir_fd, draft_name, rotation->dir_fd, to) < 0)) {
		(void)unlinkat(rotation->dir_fd, draft_name, 0);
		return err->text[0] != '\0' ? -1 :
		    err_sys(err, "cannot rename %s", draft_name);
	}
	/* Somebody woke up and wrote: once more, later. */
	if (fstat(fd, &after) < 0 || after.st_size != before.st_size)
		return 0;
	if (unlinkat(rotation->dir_fd, name->text, 0) < 0)
		return err_sys(err, "cannot remove %s", name->text);
	rotation->kept.packed++;
	return 0;
}

static int
parts_pack(struct rotation *rotation, struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < rotation->names.count && result == 0; i++) {
		const struct journal_name *name = &rotation->names.rows[i];
		int fd;

		if (name->number == 0 || name->is_packed || !frames_can())
			continue;
		fd = openat(rotation->dir_fd, name->text,
		    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return err_sys(err, "cannot open %s", name->text);
		if (part_is_left(fd, rotation)) {
			part_seal_end(rotation, name->text);
			result = part_pack(rotation, name, fd, err);
		}
		close(fd);
	}
	return result;
}

/* ---- removing ------------------------------------------------------------ */

/* Oldest first; what is being written stays. */
static void
parts_remove(struct rotation *rotation)
{
	const struct conf *conf = rotation->conf;
	struct stat st;

	rotation->kept.bytes = 0;
	for (size_t i = 0; i < rotation->names.count; i++)
		if (stat_of(rotation, rotation->names.rows[i].text, &st))
			rotation->kept.bytes += (uint64_t)st.st_size;
	for (size_t i = 0; i < rotation->names.count; i++) {
		const struct journal_name *name = &rotation->names.rows[i];

		if (name->number == 0 || !stat_of(rotation, name->text, &st) ||
		    (rotation->kept.bytes <= conf->journal_max_bytes &&
		    name->until_ms > rotation->now_ms - conf->journal_keep_ms))
			continue;
		if (unlinkat(rotation->dir_fd, name->text, 0) < 0) {
			warning("cannot remove %s: %s", name->text,
			    strerror(errno));
			continue;
		}
		rotation->kept.removed++;
		rotation->kept.bytes -= (uint64_t)st.st_size;
	}
}

/* ---- a round ------------------------------------------------------------- */

static int
keep_look(struct rotation *rotation, struct err *err)
{
	names_release(&rotation->names);
	return names_list(rotation->dir_fd, &rotation->names, err);
}

static int
round_make(struct rotation *rotation, bool closes_all, struct err *err)
{
	if (keep_look(rotation, err) < 0 ||
	    parts_close(rotation, closes_all, err) < 0 ||
	    keep_look(rotation, err) < 0)
		return -1;
	parts_seal(rotation);
	/* A disk that is full has no room to pack in: remove first. */
	parts_remove(rotation);
	if (keep_look(rotation, err) < 0 || parts_pack(rotation, err) < 0 ||
	    keep_look(rotation, err) < 0)
		return -1;
	parts_remove(rotation);
	return 0;
}

static void
kept_tell(const struct kept *kept)
{
	if (kept->closed + kept->packed + kept->removed == 0)
		return;
	event(EV_JOURNAL_KEPT, NULL, "closed", event_number(kept->closed),
	    "packed", event_number(kept->packed), "removed",
	    event_number(kept->removed), "bytes",
	    event_number((int64_t)kept->bytes), NULL);
}

enum keep_result
journal_keep(const struct conf *conf, bool closes_all, struct kept *out,
    struct err *err)
{
	struct rotation rotation = { .now_ms = clock_wall_us() / 1000,
	    .conf = conf };
	enum keep_result result = KEEP_BUSY;

	err->text[0] = '\0';
	rotation.dir_fd = open(conf->log_dir,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rotation.dir_fd < 0)
		return err_sys(err, "cannot open %s", conf->log_dir);
	if (flock(rotation.dir_fd, LOCK_EX | LOCK_NB) == 0)
		result = round_make(&rotation, closes_all, err) < 0 ?
		    KEEP_FAILED : KEEP_DONE;
	if (result == KEEP_DONE)
		rotation.kept.removed += record_files_keep(conf,
		    rotation.dir_fd, rotation.now_ms) +
		    record_bodies_keep(conf, rotation.now_ms);
	names_release(&rotation.names);
	close(rotation.dir_fd);
	*out = rotation.kept;
	if (result == KEEP_DONE)
		kept_tell(out);
	return result;
}
