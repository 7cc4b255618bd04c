/* seal_read.c - lines of the journal are held against their seals
 *
 * In     the lines of all parts, in their order
 * Out    what was altered, removed, added; how far seals go
 * Holds  the sums of the lines that no seal has covered yet, at most
 *        SEAL_WAITING_MAX
 * Trusts nothing: a seal that makes no sense is a fault like another
 * Spec   seal.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tools/journal/journal.h"
#include "tools/journal/seal_internal.h"

#include "base/banned.h"

enum {
	CLOSED_AT = 32,		/* as in seal.c */
	PART_NAME_BYTES = 64
};

struct waiting {		/* a line that no seal has covered yet */
	struct seal_line sum;
	size_t		 number;
	int64_t		 at_ms;
};

struct part_end {		/* as found, or as journal.closed tells it */
	char		 part[PART_NAME_BYTES];
	char		 sum[SEAL_SUM_BYTES];
	uint64_t	 bytes;
	size_t		 number;	/* of its last line */
};

struct part_ends {
	struct part_end	*rows;
	size_t		 count;
};

struct seal_reader {
	const char	*known;
	seal_fault_fn	*fn;
	void		*context;
	struct part_end	 now;		/* the part that is being read */
	struct waiting	*waiting;
	size_t		 first, count;	/* of waiting */
	struct part_ends found, told;
	struct seal_sums sums;
	struct str	 value;
};

/* What a seal says. */
struct seal {
	size_t		 count;
	char		 sum[SEAL_SUM_BYTES];
	struct slice	 marks;
};

struct seal_reader *
seal_reader_new(const char *known, seal_fault_fn *fn, void *context)
{
	struct seal_reader *reader = mem_alloc(1, sizeof(*reader));

	reader->known = known;
	reader->fn = fn;
	reader->context = context;
	reader->sums.last_ms = -1;
	str_init(&reader->value);
	return reader;
}

void
seal_reader_free(struct seal_reader **reader)
{
	if (*reader == NULL)
		return;
	mem_free(&(*reader)->waiting);
	mem_free(&(*reader)->found.rows);
	mem_free(&(*reader)->told.rows);
	str_release(&(*reader)->value);
	mem_free(reader);
}

static void
seal_tell(struct seal_reader *reader, enum seal_fault fault,
    const struct waiting *at, size_t count)
{
	reader->fn(reader->context, fault, reader->now.part,
	    at != NULL ? at->number : reader->now.number,
	    at != NULL ? at->at_ms : -1, count);
}

/* ---- lines that wait for their seal ------------------------------------ */

static struct waiting *
waiting_at(const struct seal_reader *reader, size_t i)
{
	return i < reader->count ? &reader->waiting[reader->first + i] : NULL;
}

static void
waiting_drop(struct seal_reader *reader, size_t count)
{
	reader->first += count;
	reader->count -= count;
	if (reader->count == 0)
		reader->first = 0;
}

/* The array has room for twice what waits, so that moving is rare. */
static void
waiting_add(struct seal_reader *reader, struct slice line)
{
	struct waiting *row;

	if (reader->count == SEAL_WAITING_MAX)
		waiting_drop(reader, SEAL_WAITING_MAX / 2);
	if (reader->first > reader->count) {
		memmove(reader->waiting, reader->waiting + reader->first,
		    reader->count * sizeof(*row));
		reader->first = 0;
	}
	if (((reader->first + reader->count) & 1023) == 0)
		reader->waiting = mem_grow(reader->waiting,
		    reader->first + reader->count + 1024, sizeof(*row));
	row = &reader->waiting[reader->first + reader->count++];
	seal_line_of(line, &row->sum);
	row->number = reader->now.number;
	row->at_ms = journal_line_ms(line);
}

/* ---- what differs ------------------------------------------------------ */

/* The first line from at on that has this mark; or count. */
static size_t
waiting_find(const struct seal_reader *reader, size_t at, const char *mark)
{
	for (; at < reader->count; at++) {
		char own[SEAL_MARK_BYTES];

		seal_mark_of(&waiting_at(reader, at)->sum, own);
		if (memcmp(own, mark, sizeof(own)) == 0)
			break;
	}
	return at;
}

/* Between two lines that agree: `gone` were sealed, and from `at` to `to`
 * others stand there now. */
static void
gap_tell(struct seal_reader *reader, size_t at, size_t to, size_t gone)
{
	for (; at < to && gone > 0; at++, gone--)
		seal_tell(reader, SEAL_ALTERED, waiting_at(reader, at), 1);
	if (at < to)
		seal_tell(reader, SEAL_ADDED, waiting_at(reader, at),
		    to - at);
	if (gone > 0)
		seal_tell(reader, SEAL_REMOVED, waiting_at(reader, to), gone);
}

/* A mark is short: a line can be made that has another's.  Then the sum alone
 * tells, and none of these lines is to be believed. */
static void
seal_tell_all(struct seal_reader *reader, size_t count)
{
	if (count > 0)
		seal_tell(reader, SEAL_ALTERED, waiting_at(reader, 0), count);
}

/* The sum is not that of these lines.  Returns how many of the waiting lines
 * are of this seal. */
static size_t
seal_compare(struct seal_reader *reader, const struct seal *seal)
{
	size_t at = 0, gone = 0;
	bool is_told = false;

	for (size_t i = 0; i < seal->count; i++) {
		size_t found = waiting_find(reader, at,
		    seal->marks.p + i * SEAL_MARK_BYTES);

		if (found == reader->count) {
			gone++;
			continue;
		}
		is_told = is_told || gone > 0 || found > at;
		gap_tell(reader, at, found, gone);
		at = found + 1;
		gone = 0;
	}
	if (gone > 0) {
		/* as many others may stand there, or lines of later */
		size_t to = reader->count - at <= gone ? reader->count : at;

		gap_tell(reader, at, to, gone);
		at = to;
	} else if (!is_told) {
		seal_tell_all(reader, at);
	}
	return at;
}

static bool
waiting_has_sum(const struct seal_reader *reader, const struct seal *seal)
{
	struct seal_line *lines;
	char sum[SEAL_SUM_BYTES];

	if (reader->count < seal->count)
		return false;
	lines = mem_alloc(seal->count, sizeof(*lines));
	for (size_t i = 0; i < seal->count; i++)
		lines[i] = waiting_at(reader, i)->sum;
	seal_sum_of(lines, seal->count, sum);
	mem_free(&lines);
	return strcmp(sum, seal->sum) == 0;
}

/* ---- seals ------------------------------------------------------------- */

static bool
seal_parse(struct slice line, struct str *marks, struct seal *out)
{
	struct str sum = STR_INIT;
	int64_t count = json_get_number(line, "lines");
	bool is_good = count > 0 && count <= SEAL_LINES_MAX &&
	    json_get(line, "marks", marks) &&
	    marks->len == (size_t)count * SEAL_MARK_BYTES &&
	    json_get(line, "sum", &sum) && sum.len == SEAL_SUM_BYTES - 1;

	if (is_good) {
		out->count = (size_t)count;
		out->marks = str_slice(marks);
		strlcpy(out->sum, sum.buf, sizeof(out->sum));
	}
	str_release(&sum);
	return is_good;
}

static void
seal_take(struct seal_reader *reader, struct slice line)
{
	struct seal seal;
	size_t count;

	if (!seal_parse(line, &reader->value, &seal)) {
		seal_tell(reader, SEAL_BROKEN, NULL, 1);
		return;
	}
	count = waiting_has_sum(reader, &seal) ? seal.count :
	    seal_compare(reader, &seal);
	waiting_drop(reader, count);
	reader->sums.covered += count;
	reader->sums.seals++;
	reader->sums.last_ms = journal_line_ms(line);
	strlcpy(reader->sums.last, seal.sum, sizeof(reader->sums.last));
	strlcpy(reader->now.sum, seal.sum, sizeof(reader->now.sum));
	if (reader->known != NULL && strcmp(reader->known, seal.sum) == 0)
		reader->sums.is_known = true;
}

/* ---- parts ------------------------------------------------------------- */

static struct part_end *
part_end_add(struct part_ends *ends)
{
	ends->rows = mem_grow(ends->rows, ends->count + 1,
	    sizeof(*ends->rows));
	memset(&ends->rows[ends->count], 0, sizeof(*ends->rows));
	return &ends->rows[ends->count++];
}

static const struct part_end *
part_end_find(const struct part_ends *ends, const char *part)
{
	for (size_t i = 0; i < ends->count; i++)
		if (strcmp(ends->rows[i].part, part) == 0)
			return &ends->rows[i];
	return NULL;
}

/* "events-2026-11-22.001.jsonl" of itself and of its packed form. */
static void
part_name_of(struct slice name, char out[PART_NAME_BYTES])
{
	if (slice_ends(name, ".zst"))
		name.n -= 4;
	snprintf(out, PART_NAME_BYTES, SLICE_FMT, SLICE_ARG(name));
}

static void
part_leave(struct seal_reader *reader)
{
	if (reader->now.part[0] != '\0')
		*part_end_add(&reader->found) = reader->now;
	reader->sums.open_lines = reader->count;
	reader->first = reader->count = 0;
}

void
seal_read_part(struct seal_reader *reader, const char *part)
{
	part_leave(reader);
	memset(&reader->now, 0, sizeof(reader->now));
	part_name_of(slice_of(part), reader->now.part);
}

static void
closed_take(struct seal_reader *reader, struct slice line)
{
	struct part_end *told;

	if (!json_get(line, "file", &reader->value))
		return;
	told = part_end_add(&reader->told);
	part_name_of(str_slice(&reader->value), told->part);
	if (json_get(line, "sum", &reader->value))
		strlcpy(told->sum, reader->value.buf, sizeof(told->sum));
	told->bytes = (uint64_t)json_get_number(line, "bytes");
}

void
seal_read_line(struct seal_reader *reader, struct slice line)
{
	static const char closed[] = "\"ev\":\"journal.closed\",";

	reader->now.number++;
	reader->now.bytes += line.n + 1;
	reader->sums.lines++;
	if (seal_is(line))
		seal_take(reader, line);
	else if (slice_starts(slice_from(line, CLOSED_AT), closed))
		closed_take(reader, line);
	waiting_add(reader, line);
}

/* Whether a part is there from its begin to its end, as it was closed. */
static void
closed_compare(struct seal_reader *reader, const struct part_end *told)
{
	const struct part_end *found = part_end_find(&reader->found,
	    told->part);
	bool is_older = reader->found.count > 0 &&
	    strcmp(told->part, reader->found.rows[0].part) < 0;

	if (found == NULL && !is_older)
		reader->fn(reader->context, SEAL_MISSING, told->part, 0, -1,
		    1);
	else if (found != NULL && (found->bytes != told->bytes ||
	    strcmp(found->sum, told->sum) != 0))
		reader->fn(reader->context, SEAL_CUT, told->part,
		    found->number, -1, 1);
}

void
seal_read_end(struct seal_reader *reader, struct seal_sums *out)
{
	part_leave(reader);
	for (size_t i = 0; i < reader->told.count; i++) {
		struct part_end *told = &reader->told.rows[i];
		const struct part_ends later = { told + 1,
		    reader->told.count - i - 1 };

		/* told twice (a crash in between): the later one counts */
		if (part_end_find(&later, told->part) == NULL)
			closed_compare(reader, told);
	}
	*out = reader->sums;
}
