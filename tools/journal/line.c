/* line.c - one line of the journal: its parts, and how people see it
 *
 * In     a line as event.c wrote it
 * Out    values; text for a terminal
 * Trusts nothing: controls are escaped
 * Spec   zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

enum { LEAST_MOMENT_S = 86400 * 365 };	/* a smaller number is a span */

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
	str_addf(out, "%-10s  %-20s  %-17s ", program.buf,
	    id.len ? id.buf : "-", name.buf);
	journal_line_values(line, out);
	str_addc(out, '\n');
	str_release(&program);
	str_release(&name);
	str_release(&id);
}
