/* record_files.c - the files of what sessions said: kept in bounds, read
 *
 * In     LOGDIR/record-DAY.jsonl
 * Out    lines of a window; fewer files
 * Holds  one open file, one line
 * Trusts nothing in a line but that it ends
 * Spec   zmailer-replay(8); doc/INTERNALS.md section 9
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "past/names.h"
#include "tools/journal/record_files.h"

#include "base/banned.h"

enum { RECORD_DAYS_MAX = 400, RECORD_LINE_MAX = 1 << 20 };

struct record_file {
	char		text[JOURNAL_NAME_BYTES];
	int64_t		since_ms, until_ms;
	uint64_t	bytes;
};

struct record_list {
	struct record_file	*rows;	/* oldest first */
	size_t			 count;
};

/* "record-2026-11-20.jsonl", as a name of the journal has its day. */
static bool
record_name_parse(const char *text, struct journal_name *out)
{
	char alike[JOURNAL_NAME_BYTES];

	if (strncmp(text, "record-", 7) != 0)
		return false;
	snprintf(alike, sizeof(alike), "events-%s", text + 7);
	return journal_name_parse(alike, out) && out->number == 0;
}

static int
record_file_compare(const void *left, const void *right)
{
	const struct record_file *a = left, *b = right;

	return a->since_ms < b->since_ms ? -1 : a->since_ms > b->since_ms;
}

static void
record_list_add(struct record_list *list, int dir_fd, const char *text)
{
	struct journal_name name;
	struct record_file *row;
	struct stat st;

	if (list->count == RECORD_DAYS_MAX || !record_name_parse(text, &name) ||
	    fstatat(dir_fd, text, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode))
		return;
	row = &list->rows[list->count++];
	*row = (struct record_file){ .since_ms = name.since_ms,
	    .until_ms = name.until_ms, .bytes = (uint64_t)st.st_size };
	strlcpy(row->text, text, sizeof(row->text));
}

static int
record_list_fill(int dir_fd, struct record_list *out, struct err *err)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	*out = (struct record_list){ NULL, 0 };
	if (dir == NULL) {
		err_sys(err, "cannot read the log directory");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	out->rows = mem_alloc(RECORD_DAYS_MAX, sizeof(*out->rows));
	while ((entry = readdir(dir)) != NULL)
		record_list_add(out, dir_fd, entry->d_name);
	closedir(dir);
	qsort(out->rows, out->count, sizeof(*out->rows), record_file_compare);
	return 0;
}

unsigned
record_files_keep(const struct conf *conf, int dir_fd, int64_t now_ms)
{
	struct record_list list;
	struct err err;
	uint64_t bytes = 0;
	unsigned removed = 0;

	if (record_list_fill(dir_fd, &list, &err) < 0)
		return 0;
	for (size_t i = 0; i < list.count; i++)
		bytes += list.rows[i].bytes;
	for (size_t i = 0; i < list.count; i++) {
		const struct record_file *file = &list.rows[i];
		bool is_over = file->until_ms <= now_ms - conf->record_ms;

		if (conf->record_ms > 0 && !is_over &&
		    (bytes <= conf->record_max_bytes ||
		    file->until_ms > now_ms))
			continue;
		if (unlinkat(dir_fd, file->text, 0) != 0) {
			warning("cannot remove %s: %s", file->text,
			    strerror(errno));
			continue;
		}
		bytes -= file->bytes;
		removed++;
	}
	mem_free(&list.rows);
	return removed;
}

/* ---- reading ------------------------------------------------------------ */

struct record_reader {
	struct journal_span	 span;
	struct record_list	 list;
	int			 dir_fd;
	size_t			 next;	/* file to be opened */
	FILE			*file;
	char			*line;
	size_t			 capacity;
	uint64_t		 all_bytes, read_bytes;
};

static bool
record_file_is_meant(const struct record_reader *reader,
    const struct record_file *file)
{
	return file->since_ms < reader->span.until_ms &&
	    file->until_ms > reader->span.since_ms;
}

/* Each file is opened once at the beginning, so that what may not be read is
 * said before anything is printed. */
static int
record_reader_look(struct record_reader *reader, struct err *err)
{
	for (size_t i = 0; i < reader->list.count; i++) {
		const struct record_file *file = &reader->list.rows[i];

		if (!record_file_is_meant(reader, file))
			continue;
		if (faccessat(reader->dir_fd, file->text, R_OK,
		    AT_EACCESS) != 0)
			return err_sys(err, "cannot read %s", file->text);
		reader->all_bytes += file->bytes;
	}
	return 0;
}

int
record_reader_open(const char *log_dir, const struct journal_span *span,
    struct record_reader **out, struct err *err)
{
	struct record_reader *reader = mem_alloc(1, sizeof(*reader));

	*out = NULL;
	reader->span = *span;
	reader->dir_fd = open(log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (reader->dir_fd < 0)
		err_sys(err, "cannot open %s", log_dir);
	else if (record_list_fill(reader->dir_fd, &reader->list, err) == 0 &&
	    record_reader_look(reader, err) == 0) {
		*out = reader;
		return 0;
	}
	record_reader_close(&reader);
	return -1;
}

void
record_reader_close(struct record_reader **reader)
{
	struct record_reader *r = *reader;

	if (r == NULL)
		return;
	if (r->file != NULL)
		fclose(r->file);
	if (r->dir_fd >= 0)
		close(r->dir_fd);
	mem_free(&r->line);
	mem_free(&r->list.rows);
	mem_free(reader);
}

/* false: there is no more. */
static bool
record_reader_advance(struct record_reader *reader)
{
	while (reader->next < reader->list.count) {
		const struct record_file *file =
		    &reader->list.rows[reader->next++];
		int fd;

		if (!record_file_is_meant(reader, file))
			continue;
		fd = openat(reader->dir_fd, file->text,
		    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		reader->file = fd < 0 ? NULL : fdopen(fd, "r");
		if (reader->file != NULL)
			return true;
		if (fd >= 0)
			close(fd);
	}
	return false;
}

bool
record_reader_next(struct record_reader *reader, struct slice *out)
{
	ssize_t n;

	while (reader->file != NULL || record_reader_advance(reader)) {
		int64_t at_ms;

		n = getline(&reader->line, &reader->capacity, reader->file);
		if (n <= 0) {
			fclose(reader->file);
			reader->file = NULL;
			continue;
		}
		reader->read_bytes += (uint64_t)n;
		*out = (struct slice){ reader->line, (size_t)n };
		if (slice_ends(*out, "\n"))
			out->n--;
		at_ms = journal_line_ms(*out);
		if (out->n < RECORD_LINE_MAX &&
		    at_ms >= reader->span.since_ms &&
		    at_ms < reader->span.until_ms)
			return true;
	}
	return false;
}

void
record_reader_progress(const struct record_reader *reader, uint64_t *out_all,
    uint64_t *out_read)
{
	*out_all = reader->all_bytes;
	*out_read = reader->read_bytes;
}
