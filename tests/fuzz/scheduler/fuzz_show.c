/* fuzz_show.c - the scheduler's lines with hostile names in ZMailer's words
 *
 * In     the first line: channel and host that are asked for; then lines of
 *        the control protocol
 *
 * Whatever is in them: the answer is whole lines without controls, none is
 * the dot that ends an answer, and those by tabs have all their fields.
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "base/str.h"
#include "grammar/mailq_show.h"
#include "tests/fuzz/fuzz.h"

static const struct { show_fn *fn; int lines, tabs; } rows[] = {
	{ show_thread, 1, -1 },		/* at most so many; -1: any */
	{ show_thread2, 1, 13 },
	{ show_totals, 1, -1 },
	{ show_counters, 10, -1 },
	{ show_group, 1, -1 },
	{ show_rcpt, 1, 8 },
	{ show_thread_head, 1, -1 },
};

static void
check(size_t row, struct slice text)
{
	struct slice rest = text, line;
	int lines = 0;

	MUST(text.n == 0 || text.p[text.n - 1] == '\n');
	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		int tabs = 0;

		lines++;
		MUST(!slice_starts(line, ".") || slice_starts(line, ".."));
		for (size_t i = 0; i < line.n; i++) {
			MUST(line.p[i] == '\t' ||
			    ((unsigned char)line.p[i] >= ' ' &&
			    line.p[i] != 0x7f));
			tabs += line.p[i] == '\t';
		}
		MUST(rows[row].tabs < 0 || tabs == rows[row].tabs);
	}
	MUST(lines <= rows[row].lines);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = fuzz_slice(data, size), line, channel;
	struct show show = { .now_s = 1700000000 };
	struct arena *arena = arena_new();
	struct str out = STR_INIT;

	if (slice_cut(&rest, '\n', &line)) {
		slice_cut(&line, '/', &channel);
		show.channel = slice_dup(arena, channel);
		show.host = slice_dup(arena, line);
	} else {
		show.channel = show.host = "";
	}
	while (slice_cut(&rest, '\n', &line))
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			str_reset(&out);
			rows[i].fn(&show, line, &out);
			check(i, str_slice(&out));
		}
	str_release(&out);
	arena_free(&arena);
	return 0;
}
