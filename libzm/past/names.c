/* names.c - what the files of the journal are called, and what that says
 *
 * In     a log directory
 * Out    its journal files, oldest first
 * Trusts no name: what has another shape is somebody else's
 * Spec   names.h; doc/INTERNALS.md section 9
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "past/names.h"

#include "base/banned.h"

static bool
names_digits(const char *text, size_t count, int *out)
{
	*out = 0;
	for (size_t i = 0; i < count; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*out = *out * 10 + (text[i] - '0');
	}
	return true;
}

/* "2026-11-20" */
static bool
day_parse(const char *text, int64_t *out_ms)
{
	struct tm tm;

	memset(&tm, 0, sizeof(tm));
	if (strlen(text) < 10 || text[4] != '-' || text[7] != '-' ||
	    !names_digits(text, 4, &tm.tm_year) ||
	    !names_digits(text + 5, 2, &tm.tm_mon) ||
	    !names_digits(text + 8, 2, &tm.tm_mday))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	*out_ms = (int64_t)timegm(&tm) * 1000;
	return true;
}

bool
journal_name_parse(const char *text, struct journal_name *out)
{
	const char *rest;
	int number;

	memset(out, 0, sizeof(*out));
	if (strncmp(text, "events-", 7) != 0 ||
	    strlen(text) >= sizeof(out->text) ||
	    !day_parse(text + 7, &out->since_ms))
		return false;
	rest = text + 7 + 10;
	out->until_ms = out->since_ms + JOURNAL_DAY_MS;
	if (rest[0] == '.' && names_digits(rest + 1, 3, &number) &&
	    number > 0) {
		out->number = (unsigned)number;
		rest += 4;
	}
	out->is_packed = out->number > 0 && strcmp(rest, ".jsonl.zst") == 0;
	snprintf(out->text, sizeof(out->text), "%s", text);
	return out->is_packed || strcmp(rest, ".jsonl") == 0;
}

/* What is being written comes after the closed parts of its day. */
static int
journal_name_compare(const void *left, const void *right)
{
	const struct journal_name *a = left, *b = right;
	unsigned x = a->number - 1, y = b->number - 1;

	if (a->since_ms != b->since_ms)
		return a->since_ms < b->since_ms ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return (int)b->is_packed - (int)a->is_packed;
}

int
names_list(int dir_fd, struct journal_names *out, struct err *err)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct journal_name name;
	struct dirent *entry;
	size_t room = 0;

	*out = (struct journal_names){ NULL, 0 };
	if (dir == NULL) {
		err_sys(err, "cannot read the log directory");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((entry = readdir(dir)) != NULL &&
	    out->count < JOURNAL_FILES_MAX) {
		if (!journal_name_parse(entry->d_name, &name))
			continue;
		if (out->count == room) {
			room = room ? room * 2 : 64;
			out->rows = mem_grow(out->rows, room, sizeof(name));
		}
		out->rows[out->count++] = name;
	}
	closedir(dir);
	if (out->count > 0)
		qsort(out->rows, out->count, sizeof(name),
		    journal_name_compare);
	for (size_t i = 1; i < out->count; i++)
		out->rows[i].is_left_over = out->rows[i].number > 0 &&
		    out->rows[i - 1].since_ms == out->rows[i].since_ms &&
		    out->rows[i - 1].number == out->rows[i].number;
	return 0;
}

void
names_release(struct journal_names *names)
{
	mem_free(&names->rows);
	names->count = 0;
}
