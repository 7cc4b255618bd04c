/* base.c - what each part of recovery does: look, move, tell
 *
 * In     a place in the spool
 * Out    its lock, id and kind; a name moved or taken away, counted and told
 * Holds  nothing; a file that was opened is its caller's, with its lock
 * Trusts names only for where to look: what a file is, its lock, checksum
 *        and spool id say
 * Spec   doc/INTERNALS.md sections 2 and 3
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
#include "base/crc32c.h"
#include "journal/event.h"
#include "mail/recover/internal.h"
#include "mail/control_file/internal.h"

#include "base/banned.h"

static const char *
base_name(const char *label)
{
	const char *slash = strrchr(label, '/');

	return slash ? slash + 1 : label;
}

static const char *
recovery_label(struct place place)
{
	return spool_label(place.area, place.priority, place.name);
}

static int
dir_of(const struct recover *r, struct place place)
{
	return spool_dir_fd(r->spool, place.area, place.priority);
}

static bool
is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec :
	    a.tv_nsec < b.tv_nsec;
}

bool
recover_is_settled(const struct recover *r, const struct stat *st)
{
	struct timespec now;

	if ((r->mode & RECOVERY_ROUTED) == 0)
		return true;
	clock_file_now(NULL, &now);
	return is_before(st->st_ctim, r->spool->opened) ||
	    is_before(now, st->st_ctim);
}

void
recover_note(struct recover *r, unsigned *counter, const char *id,
    const char *from, const char *to, const char *reason)
{
	(*counter)++;
	if (r->fn != NULL)
		r->fn(r->context, base_name(from), from, to, reason);
	if (!recover_acts(r))
		return;
	r->is_changed = true;
	if (counter == &r->out->swept)
		event(EV_DRAFT_SWEPT, id, "file", slice_of(from), "reason",
		    slice_of(reason), NULL);
	else
		event(EV_RECOVERED, id, "file", slice_of(base_name(from)),
		    "from", slice_of(from), "to", slice_of(to), "reason",
		    slice_of(reason), NULL);
}

void
recover_trouble(struct recover *r, const char *file, const char *call,
    const char *reason)
{
	r->out->troubles++;
	if (r->fn != NULL)
		r->fn(r->context, base_name(file), file, file, reason);
	if (recover_acts(r))
		event(EV_SPOOL_TROUBLE, NULL, "file", slice_of(file), "call",
		    slice_of(call), "reason", slice_of(reason), NULL);
}

bool
recover_move(struct recover *r, unsigned *counter, const char *id,
    struct place from, struct place to, const char *reason)
{
	if (recover_acts(r) && spool_rename(dir_of(r, from), from.name,
		dir_of(r, to), to.name) != 0) {
		if (errno != ENOENT)
			recover_trouble(r, recovery_label(from), "rename",
			    strerror(errno));
		return false;
	}
	recover_note(r, counter, id, recovery_label(from), recovery_label(to),
	    reason);
	return true;
}

bool
recover_route(struct recover *r, unsigned *counter, const char *id,
    struct place from, int fd, ino_t inode, const char *reason)
{
	struct place to = { AREA_ROUTER,
	    from.area == AREA_ROUTER ? from.priority : 0, NULL };
	char target[SPOOL_NAME_BYTES];

	snprintf(target, sizeof(target), "%ju", (uintmax_t)inode);
	to.name = target;
	if (recover_acts(r))
		flock(fd, LOCK_UN);
	return recover_move(r, counter, id, from, to, reason);
}

bool
recover_remove(struct recover *r, unsigned *counter, const char *id,
    struct place place, const char *reason)
{
	if (recover_acts(r) &&
	    unlinkat(dir_of(r, place), place.name, 0) != 0) {
		if (errno != ENOENT)
			recover_trouble(r, recovery_label(place), "unlink",
			    strerror(errno));
		return false;
	}
	recover_note(r, counter, id, recovery_label(place), "", reason);
	return true;
}

int
recover_open(struct recover *r, struct place place, struct stat *out_st)
{
	int fd = spool_open_file(dir_of(r, place), place.name, O_RDONLY);

	if (fd < 0) {
		if (errno != ENOENT && recover_is_full(r))
			recover_trouble(r, recovery_label(place), "open",
			    strerror(errno));
		return -1;
	}
	if (fstat(fd, out_st) != 0 || !S_ISREG(out_st->st_mode)) {
		if (recover_is_full(r))
			recover_trouble(r, recovery_label(place), "stat",
			    "not a regular file");
		close(fd);
		return -1;
	}
	/* looked at again under the lock: the last holder may have moved
	 * or removed it */
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, out_st) != 0 ||
	    out_st->st_nlink == 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- lists of names --------------------------------------------------- */

static bool
list_add(void *context, const char *name, ino_t inode)
{
	struct name_list *list = context;

	if (list->keep != NULL && !list->keep(name, inode))
		return true;
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 256;
		list->names = mem_grow(list->names, list->room,
		    sizeof(*list->names));
	}
	list->names[list->count++] = arena_dup(list->arena, name,
	    strlen(name));
	return true;
}

int
recover_list(struct recover *r, enum spool_area area, unsigned priority,
    bool (*keep)(const char *name, ino_t inode), struct name_list *out,
    struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->arena = r->arena;
	out->keep = keep;
	return spool_scan_entries(r->spool, area, priority, list_add, out,
	    err);
}

/* ---- what a file is --------------------------------------------------- */

bool
recover_control_is_good(int fd, char out_id[SPOOL_ID_BYTES])
{
	struct str text = STR_INIT;
	struct slice file, line;
	uint32_t crc;
	size_t head;
	bool is_good = false;

	if (control_file_read(fd, CONTROL_HEAD_BYTES_MAX * 2u, &text,
	    NULL) == 0) {
		file = str_slice(&text);
		head = control_first_line(file, &crc);
		is_good = head > 0 && head <= file.n &&
		    crc32c(0, file.p + CONTROL_FIRST_LINE_BYTES,
			head - CONTROL_FIRST_LINE_BYTES) == crc;
		line = slice_from(file, CONTROL_FIRST_LINE_BYTES);
		line = slice_first(line, slice_find(line, '\n'));
		if (is_good && slice_starts(line, "I ") &&
		    spool_id_is(slice_from(line, 2)))
			snprintf(out_id, SPOOL_ID_BYTES, SLICE_FMT,
			    SLICE_ARG(slice_from(line, 2)));
		else
			is_good = false;
	}
	str_release(&text);
	return is_good;
}

bool
recover_control_id(struct recover *r, struct place place,
    char out_id[SPOOL_ID_BYTES])
{
	int fd = spool_open_file(dir_of(r, place), place.name, O_RDONLY);
	bool is_good;

	if (fd < 0)
		return false;
	is_good = recover_control_is_good(fd, out_id);
	close(fd);
	return is_good;
}

bool
recover_message_id(struct recover *r, struct place place,
    char out_id[SPOOL_ID_BYTES])
{
	int fd = spool_open_file(dir_of(r, place), place.name, O_RDONLY);
	bool has_id;

	if (fd < 0)
		return false;
	has_id = spool_read_id(fd, out_id);
	close(fd);
	return has_id;
}

bool
recover_find_queued(struct recover *r, enum spool_area area, ino_t inode,
    char out_name[SPOOL_NAME_BYTES])
{
	struct spool other = *r->spool;

	for (unsigned i = 0; i < 3; i++) {
		/* the configured level first */
		other.hash_levels = (r->spool->hash_levels + i) % 3;
		spool_hashed_name(&other, inode, out_name);
		if (faccessat(r->spool->area_fd[area], out_name, F_OK,
			AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return false;
}
