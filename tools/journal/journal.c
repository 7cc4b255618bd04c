/* journal.c - the event files, mapped, line by line
 *
 * In     LOGDIR/events-YYYY-MM-DD.jsonl
 * Out    lines, oldest file first
 * Holds  the maps
 * Trusts no line: what is damaged is skipped by the readers
 * Spec   zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

enum { FILES_MAX = 400, NAME_BYTES = 24, DAY_S = 86400 };
/* "events-2026-11-20.jsonl" */
static const char name_shape[] = "events-dddd-dd-dd.jsonl";

struct journal {
	struct slice	files[FILES_MAX];
	size_t		count;
};

static bool
name_is_ours(const char *name)
{
	size_t i;

	for (i = 0; name_shape[i] != '\0'; i++)
		if (name_shape[i] == 'd' && i > 6 && i < 17 ?
		    name[i] < '0' || name[i] > '9' : name[i] != name_shape[i])
			return false;
	return name[i] == '\0';
}

static int
name_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Names from the day `first` on, sorted; -1 when it cannot be read. */
static int
names_list(const char *log_dir, const char *first,
    char names[FILES_MAX][NAME_BYTES])
{
	DIR *dir = opendir(log_dir);
	struct dirent *entry;
	int count = 0;

	if (dir == NULL)
		return -1;
	while ((entry = readdir(dir)) != NULL && count < FILES_MAX)
		if (name_is_ours(entry->d_name) &&
		    strcmp(entry->d_name, first) >= 0)
			snprintf(names[count++], NAME_BYTES, "%.23s",
			    entry->d_name);
	closedir(dir);
	qsort(names, (size_t)count, NAME_BYTES, name_compare);
	return count;
}

static int
file_map(struct journal *journal, int dir_fd, const char *name,
    struct err *err)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	void *map = NULL;

	if (fd < 0)
		return err_sys(err, "cannot read %s", name);
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd,
		    0);
	close(fd);
	if (map == MAP_FAILED)
		return err_sys(err, "cannot map %s", name);
	if (map != NULL)
		journal->files[journal->count++] =
		    (struct slice){ map, (size_t)st.st_size };
	return 0;
}

int
journal_open(const char *log_dir, unsigned days, struct journal **out,
    struct err *err)
{
	static char names[FILES_MAX][NAME_BYTES];
	struct journal *journal;
	char day[CLOCK_TEXT_BYTES], first[NAME_BYTES];
	int dir_fd, count, result = 0;

	clock_rfc3339(clock_wall_us() - (int64_t)days * DAY_S * 1000000, day);
	snprintf(first, sizeof(first), "events-%.10s", day);
	dir_fd = open(log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	count = dir_fd < 0 ? -1 : names_list(log_dir, first, names);
	if (count < 0) {
		err_sys(err, "cannot read the log directory %s", log_dir);
		if (dir_fd >= 0)
			close(dir_fd);
		return -1;
	}
	journal = mem_alloc(1, sizeof(*journal));
	for (int i = 0; i < count && result == 0; i++)
		result = file_map(journal, dir_fd, names[i], err);
	close(dir_fd);
	*out = journal;
	if (result < 0)
		journal_close(out);
	return result;
}

void
journal_close(struct journal **journal)
{
	if (*journal == NULL)
		return;
	for (size_t i = 0; i < (*journal)->count; i++)
		munmap((void *)(uintptr_t)(*journal)->files[i].p,
		    (*journal)->files[i].n);
	mem_free(journal);
}

/* A last line without LF is still being written: not a line. */
bool
journal_next(const struct journal *journal, struct journal_cursor *cursor,
    struct slice *out_line)
{
	while (cursor->file < journal->count) {
		struct slice rest = slice_from(journal->files[cursor->file],
		    cursor->offset);
		const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;

		if (end != NULL) {
			out_line->p = rest.p;
			out_line->n = (size_t)(end - rest.p);
			cursor->offset += out_line->n + 1;
			return true;
		}
		cursor->file++;
		cursor->offset = 0;
	}
	return false;
}

struct slice
journal_line_id(struct slice line)
{
	static const char key[] = "\"id\":\"";
	/* {"t":"2026-11-20T21:04:00.123Z","id":"... */
	struct slice rest = slice_first(slice_from(line, 32), 80);
	size_t end;

	if (!slice_starts(rest, key))
		return SLICE("");
	rest = slice_from(rest, sizeof(key) - 1);
	end = slice_find(rest, '"');
	return end == rest.n ? SLICE("") : slice_first(rest, end);
}

static bool
digits_take(struct slice text, size_t at, size_t n, int *out)
{
	uint64_t value;

	if (!slice_number(slice_first(slice_from(text, at), n), 0, 9999,
	    &value))
		return false;
	*out = (int)value;
	return true;
}

/* "dddd-dd-ddTdd:dd:dd.dddZ": all but the digits. */
static bool
time_has_shape(struct slice text)
{
	static const char shape[] = "0000-00-00T00:00:00.000Z";

	if (text.n < sizeof(shape) - 1)
		return false;
	for (size_t i = 0; i < sizeof(shape) - 1; i++)
		if (shape[i] != '0' && text.p[i] != shape[i])
			return false;
	return true;
}

int64_t
journal_line_ms(struct slice line)
{
	struct slice text = slice_from(line, 6);
	struct tm tm;
	int ms;

	memset(&tm, 0, sizeof(tm));
	if (!slice_starts(line, "{\"t\":\"") || !time_has_shape(text) ||
	    !digits_take(text, 0, 4, &tm.tm_year) ||
	    !digits_take(text, 5, 2, &tm.tm_mon) ||
	    !digits_take(text, 8, 2, &tm.tm_mday) ||
	    !digits_take(text, 11, 2, &tm.tm_hour) ||
	    !digits_take(text, 14, 2, &tm.tm_min) ||
	    !digits_take(text, 17, 2, &tm.tm_sec) ||
	    !digits_take(text, 20, 3, &ms))
		return -1;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (int64_t)timegm(&tm) * 1000 + ms;
}

static bool
key_is_fixed(struct slice key)
{
	static const char *const fixed[] = { "t", "id", "ev", "d", "pid" };

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (slice_is(key, fixed[i]))
			return true;
	return false;
}

/* In quotes when a reader could not tell where it ends. */
static void
value_add(struct str *out, const struct str *value)
{
	struct slice rest = str_slice(value), piece;

	if (value->len > 0 && strpbrk(value->buf, " \t\"'") == NULL) {
		str_add_escaped(out, rest);
		return;
	}
	for (const char *between = "\""; slice_cut(&rest, '"', &piece);
	    between = "\\\"") {
		str_adds(out, between);
		str_add_escaped(out, piece);
	}
	str_addc(out, '"');
}

void
journal_line_values(struct slice line, struct str *out)
{
	struct str value = STR_INIT;
	struct slice key;
	size_t cursor = 0;
	bool is_first = true;

	while (json_next(line, &cursor, &key, &value)) {
		if (key_is_fixed(key))
			continue;
		str_adds(out, is_first ? "" : " ");
		str_add_escaped(out, key);
		str_addc(out, '=');
		value_add(out, &value);
		is_first = false;
	}
	str_release(&value);
}

void
journal_line_word(struct slice line, const char *key, struct str *out)
{
	struct str value = STR_INIT;

	str_reset(out);
	if (json_get(line, key, &value))
		str_add_escaped(out, str_slice(&value));
	str_release(&value);
}

void
journal_line_print(struct slice line, struct str *out)
{
	struct str program = STR_INIT, name = STR_INIT, id = STR_INIT;

	if (journal_line_ms(line) < 0)
		return;
	journal_line_word(line, "d", &program);
	journal_line_word(line, "ev", &name);
	journal_line_word(line, "id", &id);
	str_addf(out, "%.10s %.12s  ", line.p + 6, line.p + 17);
	str_addf(out, "%-10s  %-15s  %-17s ", program.buf,
	    id.len ? id.buf : "-", name.buf);
	journal_line_values(line, out);
	str_addc(out, '\n');
	str_release(&program);
	str_release(&name);
	str_release(&id);
}
