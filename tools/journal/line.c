/* line.c - one line of the journal: its parts, and how people see it
 *
 * In     a line as event.c wrote it
 * Out    id, time, values; text for a terminal
 * Trusts nothing: controls are escaped, what is no line says no time
 * Spec   zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

enum { LEAST_MOMENT_S = 86400 * 365 };	/* a smaller number is a span */

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

bool
journal_key_is_fixed(struct slice key)
{
	static const char *const fixed[] = { "t", "id", "ev", "d", "pid" };

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (slice_is(key, fixed[i]))
			return true;
	return false;
}

/* In quotes when a reader could not tell where it ends. */
static void
line_value_add(struct str *out, const struct str *value)
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

/* What counts seconds since 1970 is no number for people. */
static bool
line_moment_add(struct str *out, struct slice key, const struct str *value)
{
	static const char *const keys[] = { "next", "since", "until",
		"expires" };
	char moment[CLOCK_TEXT_BYTES];
	uint64_t number;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (slice_is(key, keys[i]) && slice_number(str_slice(value),
		    LEAST_MOMENT_S, INT64_MAX / 1000, &number)) {
			clock_local((int64_t)number, moment);
			str_addf(out, "\"%s\"", moment);
			return true;
		}
	return false;
}

void
journal_line_values(struct slice line, struct str *out)
{
	struct str value = STR_INIT;
	struct slice key;
	size_t cursor = 0;
	bool is_first = true;

	while (json_next(line, &cursor, &key, &value)) {
		if (journal_key_is_fixed(key))
			continue;
		str_adds(out, is_first ? "" : " ");
		str_add_escaped(out, key);
		str_addc(out, '=');
		if (!line_moment_add(out, key, &value))
			line_value_add(out, &value);
		is_first = false;
	}
	str_release(&value);
}

void
journal_line_word(struct slice line, const char *key, struct str *out)
{
	str_reset(out);
	json_add_escaped(out, line, key);
}

void
journal_line_print(struct slice line, struct str *out)
{
	struct str program = STR_INIT, name = STR_INIT, id = STR_INIT;
	char date[CLOCK_TEXT_BYTES], time[CLOCK_TEXT_BYTES];
	int64_t at_ms = journal_line_ms(line);

	if (at_ms < 0)
		return;
	clock_local(at_ms / 1000, date);
	clock_local_time(at_ms, time);
	journal_line_word(line, "d", &program);
	journal_line_word(line, "ev", &name);
	journal_line_word(line, "id", &id);
	str_addf(out, "%.10s %s%s  ", date, time, date + strlen("DDDD-DD-DD "
	    "HH:MM:SS"));
	str_addf(out, "%-10s  %-15s  %-17s ", program.buf,
	    id.len ? id.buf : "-", name.buf);
	journal_line_values(line, out);
	str_addc(out, '\n');
	str_release(&program);
	str_release(&name);
	str_release(&id);
}
