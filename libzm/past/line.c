/* line.c - one line of the journal, as far as a reader needs it
 *
 * In     a line as event.c wrote it
 * Out    its id, its time, a value
 * Trusts nothing: what is no line says no time
 * Spec   line.h; zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "past/line.h"

#include "base/banned.h"

/* No text has the begin of a line in it: its quotes would have a backslash
 * before them.  What stands before the last begin was cut by a full disk, and
 * its writer wrote that line again. */
struct slice
journal_line_whole(struct slice line)
{
	static const char begin[] = "{\"t\":\"";
	const char *found;
	size_t n = sizeof(begin) - 1;

	while (line.n > 1 && memchr(line.p + 1, '{', line.n - 1) != NULL &&
	    (found = memmem(line.p + 1, line.n - 1, begin, n)) != NULL)
		line = slice_from(line, (size_t)(found - line.p));
	return line;
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

/* A quote inside of a value stands after a backslash, so that what is found
 * is a key. */
bool
journal_line_has(struct slice line, const char *key, struct slice *out_value)
{
	char pattern[40];
	int n = snprintf(pattern, sizeof(pattern), "\"%s\":\"", key);
	const char *at = memmem(line.p, line.n, pattern, (size_t)n);
	struct slice rest;

	if (at == NULL)
		return false;
	rest = slice_from(line, (size_t)(at - line.p) + (size_t)n);
	if (out_value != NULL)
		*out_value = slice_first(rest, slice_find(rest, '"'));
	return true;
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
