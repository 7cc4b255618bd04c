/* fuzz_journal.c - whatever stands in the journal is told on one clean line
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

/* No control reaches the terminal, whoever wrote the line. */
static void
check_clean(const struct str *text)
{
	for (size_t i = 0; i < text->len; i++)
		MUST((text->buf[i] >= ' ' && text->buf[i] <= '~') ||
		    (text->buf[i] == '\n' && i + 1 == text->len));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = fuzz_slice(data, size), line, id;
	struct str text = STR_INIT;

	while (slice_cut(&rest, '\n', &line)) {
		id = journal_line_id(line);
		MUST(fuzz_inside(id, line));
		str_reset(&text);
		journal_line_print(line, &text);
		check_clean(&text);
		journal_line_word(line, "ev", &text);
		check_clean(&text);
	}
	str_release(&text);
	return 0;
}
