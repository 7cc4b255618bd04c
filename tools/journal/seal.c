/* seal.c - lines of the journal are sealed
 *
 * In     the lines of a part that no seal covers yet
 * Out    seals, each one line
 * Holds  nothing: where it went on is in the last seal
 * Trusts no seal that it finds: its numbers are held against the file
 * Spec   seal.h; doc/INTERNALS.md section 9
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/base64.h"
#include "journal/event.h"
#include "tools/journal/seal_internal.h"

#include "base/banned.h"

enum {
	EVENT_AT = 32,		/* {"t":"2026-11-20T21:04:00.123Z",... */
	WRITE_BYTES = 256 * 1024
};

/* ---- sums -------------------------------------------------------------- */

bool
seal_is(struct slice line)
{
	static const char sign[] = "\"ev\":\"journal.sealed\",";

	return slice_starts(slice_from(line, EVENT_AT), sign);
}

void
seal_line_of(struct slice line, struct seal_line *out)
{
	if (digest(DIGEST_SHA256, line, out->digest) < 0)
		panic("SHA-256 is not there");
}

void
seal_mark_of(const struct seal_line *line, char out[SEAL_MARK_BYTES])
{
	struct str text = STR_INIT;

	base64_add(&text, (struct slice){ (const char *)line->digest, 3 });
	memcpy(out, text.buf, SEAL_MARK_BYTES);
	str_release(&text);
}

void
seal_sum_of(const struct seal_line *lines, size_t count,
    char out[SEAL_SUM_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	struct seal_line all;

	seal_line_of((struct slice){ (const char *)lines,
	    count * sizeof(*lines) }, &all);
	for (size_t i = 0; i < sizeof(all.digest); i++) {
		out[i * 2] = digits[all.digest[i] >> 4];
		out[i * 2 + 1] = digits[all.digest[i] & 15];
	}
	out[SEAL_SUM_BYTES - 1] = '\0';
}

/* ---- where the last one ended ------------------------------------------ */

/* The last line of text that ends with LF before end; *end moves to its
 * first byte. */
static bool
line_before(struct slice text, size_t *end, struct slice *out)
{
	const char *lf;

	if (*end == 0)
		return false;
	lf = *end < 2 ? NULL : memrchr(text.p, '\n', *end - 1);
	out->p = lf != NULL ? lf + 1 : text.p;
	out->n = (size_t)(text.p + *end - 1 - out->p);
	*end = (size_t)(out->p - text.p);
	return true;
}

/* From where on lines are to be covered; what the last seal says of it is
 * taken when it can be true. */
static size_t
seal_begin(struct slice text, struct seal_end *out)
{
	size_t end = text.n;
	struct slice line;

	while (line_before(text, &end, &line)) {
		struct str sum = STR_INIT;
		int64_t to;

		if (!seal_is(line))
			continue;
		to = json_get_number(line, "to");
		if (json_get(line, "sum", &sum))
			strlcpy(out->sum, sum.buf, sizeof(out->sum));
		str_release(&sum);
		return to <= 0 || (uint64_t)to > end ||
		    text.p[to - 1] != '\n' ? end : (size_t)to;
	}
	return 0;
}

/* Nothing but the last seal itself? */
static bool
is_covered(struct slice rest)
{
	size_t end = slice_find(rest, '\n');

	return rest.n == 0 || (end + 1 == rest.n && seal_is(slice_first(rest,
	    end)));
}

/* ---- a seal ------------------------------------------------------------ */

static void
seal_add(struct str *out, const struct seal_line *lines, size_t count,
    size_t to, char sum[SEAL_SUM_BYTES])
{
	char now_text[CLOCK_TEXT_BYTES];
	struct str marks = STR_INIT;

	for (size_t i = 0; i < count; i++) {
		char mark[SEAL_MARK_BYTES];

		seal_mark_of(&lines[i], mark);
		str_add(&marks, mark, sizeof(mark));
	}
	seal_sum_of(lines, count, sum);
	clock_rfc3339(clock_wall_us(), now_text);
	json_open(out);
	json_text(out, "t", slice_of(now_text));
	json_text(out, "ev", slice_of(event_rows[EV_JOURNAL_SEALED].name));
	json_text(out, "d", slice_of(err_program_name()));
	json_number(out, "pid", getpid());
	json_number(out, "lines", (int64_t)count);
	json_number(out, "to", (int64_t)to);
	json_text(out, "sum", slice_of(sum));
	json_text(out, "marks", str_slice(&marks));
	json_close(out);
	str_release(&marks);
}

static int
seal_write(int fd, struct str *text, struct err *err)
{
	ssize_t n = write(fd, text->buf, text->len);

	if (n == (ssize_t)text->len) {
		str_reset(text);
		return 0;
	}
	if (n >= 0)
		errno = ENOSPC;
	return err_sys(err, "cannot write a seal");
}

/* The lines of text from begin on, a seal for each thousand.  is_torn: the
 * file ends in half a line (the disk was full), and nobody writes the rest. */
static int
seal_lines(int fd, struct slice text, size_t begin, bool is_torn,
    struct seal_end *out, struct err *err)
{
	struct seal_line *lines = mem_alloc(SEAL_LINES_MAX, sizeof(*lines));
	struct str seals = STR_INIT;
	int result = 0;

	if (is_torn)
		str_addc(&seals, '\n');
	while (result == 0 && begin < text.n) {
		size_t count = 0;

		while (begin < text.n && count < SEAL_LINES_MAX) {
			struct slice rest = slice_from(text, begin);
			size_t end = slice_find(rest, '\n');

			seal_line_of(slice_first(rest, end), &lines[count++]);
			begin += end + 1;
		}
		seal_add(&seals, lines, count, begin, out->sum);
		out->seals++;
		if (seals.len >= WRITE_BYTES || begin >= text.n)
			result = seal_write(fd, &seals, err);
	}
	str_release(&seals);
	mem_free(&lines);
	return result;
}

/* One round; seals of a round cover no other of it, so more than one need
 * another.  1: something was written; 0; -1. */
static int
seal_round(int fd, struct seal_end *out, struct err *err)
{
	struct slice text;
	struct stat st;
	unsigned before = out->seals;
	size_t begin, last;
	void *map;
	int result = 0;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "cannot look at a part of the journal");
	if (st.st_size == 0)
		return 0;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "cannot map a part of the journal");
	text = (struct slice){ map, (size_t)st.st_size };
	for (last = text.n; last > 0 && text.p[last - 1] != '\n'; last--)
		;
	text = slice_first(text, last);
	begin = seal_begin(text, out);
	if (!is_covered(slice_from(text, begin)))
		result = seal_lines(fd, text, begin, last < (size_t)st.st_size,
		    out, err);
	munmap(map, (size_t)st.st_size);
	return result < 0 ? -1 : out->seals > before;
}

int
seal_part(int fd, struct seal_end *out, struct err *err)
{
	unsigned before;
	struct stat st;
	int result;

	memset(out, 0, sizeof(*out));
	do {
		before = out->seals;
		result = seal_round(fd, out, err);
	} while (result > 0 && out->seals - before > 1);
	if (result < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(err, "cannot look at a part of the journal");
	out->bytes = (uint64_t)st.st_size;
	return 0;
}
