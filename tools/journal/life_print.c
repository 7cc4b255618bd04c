/* life_print.c - the life of messages as tables
 *
 * In     the lines of a struct life
 * Out    text for a terminal
 * Spec   zmailer(8), trace
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

/* "+12ms" "+3.2s" "+4m10s" */
static void
span_text(int64_t ms, char *out, size_t size)
{
	char span[CLOCK_TEXT_BYTES];

	if (ms < 1000) {
		snprintf(out, size, "+%lldms", (long long)(ms < 0 ? 0 : ms));
	} else if (ms < 60000) {
		snprintf(out, size, "+%lld.%llds", (long long)(ms / 1000),
		    (long long)(ms % 1000 / 100));
	} else {
		clock_span(ms / 1000, span);
		snprintf(out, size, "+%s", span);
	}
}

void
life_print(const struct life *life, struct str *out)
{
	struct str program = STR_INIT, name = STR_INIT;
	int64_t first_ms = 0;
	char span[CLOCK_TEXT_BYTES + 1], date[CLOCK_TEXT_BYTES];

	for (size_t i = 0; i < life->count; i++) {
		const struct life_line *row = &life->lines[i];

		if (i == 0 || !slice_equal(row->id, row[-1].id)) {
			first_ms = row->at_ms;
			clock_local(first_ms / 1000, date);
			str_addf(out, "%s" SLICE_FMT "   %s\n",
			    i == 0 ? "" : "\n", SLICE_ARG(row->id), date);
		}
		span_text(row->at_ms - first_ms, span, sizeof(span));
		journal_line_word(row->line, "d", &program);
		journal_line_word(row->line, "ev", &name);
		str_addf(out, "%9s  %-10s  %-17s ", span, program.buf,
		    name.buf);
		journal_line_values(row->line, out);
		str_addc(out, '\n');
	}
	str_release(&program);
	str_release(&name);
}
