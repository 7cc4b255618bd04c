/* life_print.c - the life of messages in sentences
 *
 * In     the lines of a struct life
 * Out    text for a terminal: a step a line, the moment in front of it
 * Spec   zmailer-trace(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

enum { INDENT_COLS = 14 };

/* "ID   2026-11-20 23:59:59 CET"; of the same message only a day that is
 * another one. */
static void
life_head_add(const struct life *life, size_t i, struct str *out)
{
	const struct life_line *row = &life->lines[i];
	char date[CLOCK_TEXT_BYTES], before[CLOCK_TEXT_BYTES] = "";

	clock_local(row->at_ms / 1000, date);
	if (i > 0)
		clock_local(row[-1].at_ms / 1000, before);
	if (i == 0 || !slice_equal(row->id, row[-1].id))
		str_addf(out, "%s" SLICE_FMT "   %s\n", i == 0 ? "" : "\n",
		    SLICE_ARG(row->id), date);
	else if (strncmp(date, before, 10) != 0)
		str_addf(out, "%.10s\n", date);
}

void
life_print(const struct life *life, struct str *out)
{
	struct str text = STR_INIT;
	char moment[CLOCK_TEXT_BYTES];

	for (size_t i = 0; i < life->count; i++) {
		life_head_add(life, i, out);
		clock_local_time(life->lines[i].at_ms, moment);
		str_addf(out, "%-*s", INDENT_COLS, moment);
		journal_tell(life->lines[i].line, &text);
		journal_wrap(str_slice(&text), INDENT_COLS, out);
	}
	str_release(&text);
}
