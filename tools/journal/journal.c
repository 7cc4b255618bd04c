/* journal.c - the files of the journal as one row of lines
 *
 * In     LOGDIR/events-YYYY-MM-DD[.NNN].jsonl[.zst]
 * Out    lines, oldest file first
 * Holds  the maps; the text of one packed frame
 * Trusts no line: what is damaged is skipped by the readers
 * Spec   zmailer-events(5); doc/INTERNALS.md section 9
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "past/frame.h"
#include "tools/journal/journal.h"
#include "past/names.h"

#include "base/banned.h"

enum { TRIES = 10, LATE_MS = 60000 };	/* a line of before midnight may be
					 * written after it */

struct part {
	struct slice	map;
	struct journal_span span;	/* its day */
	bool		is_packed;
	char		name[JOURNAL_NAME_BYTES];
};

struct journal {
	struct part	*parts;
	size_t		 count;
	struct journal_span span;	/* only what touches it */
	const struct frame_key *keys;	/* only frames with one of them */
	size_t		 key_count;
	/* the frame that lines are taken from now */
	size_t		 part, frame;	/* which: cursor file, offset */
	struct str	 text;
	size_t		 skipped;	/* frames, for tests and figures */
};

/* 0; 1: it is not there any more, look again; -1. */
static int
part_map(struct journal *journal, int dir_fd, const struct journal_name *name,
    struct err *err)
{
	int fd = openat(dir_fd, name->text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct part *part = &journal->parts[journal->count];
	struct stat st;
	void *map = NULL;

	if (fd < 0)
		return errno == ENOENT ? 1 :
		    err_sys(err, "cannot read %s", name->text);
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd,
		    0);
	close(fd);
	if (map == MAP_FAILED)
		return err_sys(err, "cannot map %s", name->text);
	if (map == NULL)
		return 0;
	part->map = (struct slice){ map, (size_t)st.st_size };
	part->is_packed = name->is_packed;
	memcpy(part->name, name->text, sizeof(part->name));
	part->span.since_ms = name->since_ms - LATE_MS;
	part->span.until_ms = name->until_ms;
	journal->count++;
	return 0;
}

static void
parts_unmap(struct journal *journal)
{
	for (size_t i = 0; i < journal->count; i++)
		munmap((void *)(uintptr_t)journal->parts[i].map.p,
		    journal->parts[i].map.n);
	journal->count = 0;
	mem_free(&journal->parts);
}

/* Names are listed, then opened: one that was closed or packed in between
 * has another name, and all is looked at again. */
static int
parts_map(struct journal *journal, int dir_fd, int64_t since_ms,
    struct err *err)
{
	struct journal_names names = { NULL, 0 };
	int result;

	if (names_list(dir_fd, &names, err) < 0)
		return -1;
	journal->parts = mem_alloc(names.count + 1, sizeof(struct part));
	result = 0;
	for (size_t i = 0; i < names.count && result == 0; i++)
		if (!names.rows[i].is_left_over &&
		    names.rows[i].until_ms > since_ms)
			result = part_map(journal, dir_fd, &names.rows[i],
			    err);
	names_release(&names);
	if (result != 0)
		parts_unmap(journal);
	return result;
}

void
journal_within(struct journal *journal, const struct journal_span *span)
{
	journal->span = span != NULL ? *span :
	    (struct journal_span){ INT64_MIN, INT64_MAX };
}

static int
open_since(const char *log_dir, int64_t since_ms, struct journal **out,
    struct err *err)
{
	int dir_fd = open(log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct journal *journal;
	int result = 1;

	if (dir_fd < 0)
		return err_sys(err, "cannot read the log directory %s",
		    log_dir);
	journal = mem_alloc(1, sizeof(*journal));
	journal_within(journal, NULL);
	journal->part = SIZE_MAX;
	str_init(&journal->text);
	for (int left = TRIES; left > 0 && result > 0; left--)
		result = parts_map(journal, dir_fd, since_ms, err);
	close(dir_fd);
	*out = journal;
	if (result == 0)
		return 0;
	if (result > 0)
		err_set(err, "the files of %s change too fast", log_dir);
	journal_close(out);
	return -1;
}

int
journal_days_open(const char *log_dir, unsigned days, struct journal **out,
    struct err *err)
{
	return open_since(log_dir, (clock_wall_us() / 1000 / JOURNAL_DAY_MS -
	    days) * JOURNAL_DAY_MS, out, err);
}

int
journal_open_all(const char *log_dir, struct journal **out, struct err *err)
{
	return open_since(log_dir, INT64_MIN, out, err);
}

void
journal_close(struct journal **journal)
{
	if (*journal == NULL)
		return;
	parts_unmap(*journal);
	str_release(&(*journal)->text);
	mem_free(journal);
}

void
journal_want(struct journal *journal, const struct frame_key *keys,
    size_t count)
{
	journal->keys = keys;
	journal->key_count = count;
}

size_t
journal_skipped(const struct journal *journal)
{
	return journal->skipped;
}

const char *
journal_part(const struct journal *journal, size_t file)
{
	return journal->parts[file].name;
}

/* A last line without LF is still being written: not a line. */
static bool
journal_line_take(struct slice text, size_t *offset, struct slice *out_line)
{
	struct slice rest = slice_from(text, *offset);
	const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;

	if (end == NULL)
		return false;
	out_line->p = rest.p;
	out_line->n = (size_t)(end - rest.p);
	*offset += out_line->n + 1;
	return true;
}

static bool
journal_is_within(const struct journal *journal, int64_t first_ms,
    int64_t last_ms)
{
	return last_ms >= journal->span.since_ms &&
	    first_ms < journal->span.until_ms;
}

static bool
frame_is_meant(const struct journal *journal, const struct frame *frame)
{
	if (!journal_is_within(journal, frame->first_ms, frame->last_ms))
		return false;
	if (journal->keys == NULL)
		return true;
	for (size_t i = 0; i < journal->key_count; i++)
		if (frame_may_have(frame, &journal->keys[i]))
			return true;
	return false;
}

/* The next frame of this part that is meant, unpacked. */
static bool
frame_load(struct journal *journal, struct journal_cursor *cursor)
{
	struct slice map = journal->parts[cursor->file].map;
	struct frame frame;

	while (frame_next(map, &cursor->frame, &frame)) {
		if (!frame_is_meant(journal, &frame)) {
			journal->skipped++;
			continue;
		}
		if (!frame_unpack(&frame, &journal->text))
			continue;
		journal->part = cursor->file;
		journal->frame = cursor->frame;
		cursor->offset = 0;
		return true;
	}
	return false;
}

static bool
packed_next(struct journal *journal, struct journal_cursor *cursor,
    struct slice *out_line)
{
	for (;;) {
		if (journal->part == cursor->file &&
		    journal->frame == cursor->frame &&
		    journal_line_take(str_slice(&journal->text),
		    &cursor->offset,
		    out_line))
			return true;
		if (!frame_load(journal, cursor))
			return false;
	}
}

bool
journal_next_raw(struct journal *journal, struct journal_cursor *cursor,
    struct slice *out_line)
{
	while (cursor->file < journal->count) {
		const struct part *part = &journal->parts[cursor->file];

		if (journal_is_within(journal, part->span.since_ms,
		    part->span.until_ms) && (part->is_packed ?
		    packed_next(journal, cursor, out_line) :
		    journal_line_take(part->map, &cursor->offset, out_line)))
			return true;
		cursor->file++;
		cursor->offset = 0;
		cursor->frame = 0;
	}
	return false;
}

bool
journal_next(struct journal *journal, struct journal_cursor *cursor,
    struct slice *out_line)
{
	if (!journal_next_raw(journal, cursor, out_line))
		return false;
	*out_line = journal_line_whole(*out_line);
	return true;
}
