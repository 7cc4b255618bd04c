/* fuzz_notify_line.c - a line about a receiver: what was read is written as a
 * line that says the same
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/consult/notify_ask.h"
#include "tests/fuzz/fuzz.h"

#include "base/banned.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = fuzz_slice(data, size), line;
	struct notify_line first, second;
	struct str again = STR_INIT;

	if (!notify_line_parse(text, &first)) {
		MUST(first.state <= NOTIFY_OVER + 1);
		return 0;
	}
	MUST(first.state <= NOTIFY_OVER && first.since_s >= 0);
	MUST(first.name.n > 0 && fuzz_inside(first.name, text) &&
	    fuzz_inside(first.words, text));
	notify_line_add(&again, &first);
	text = str_slice(&again);
	/* a name may hold any byte but blanks: the process writes a URL */
	if (!fuzz_has_control(first.name)) {
		line = slice_first(text, text.n - 1);
		MUST(!fuzz_has_control(line));
		MUST(notify_line_parse(line, &second));
		MUST(second.state == first.state &&
		    second.since_s == first.since_s &&
		    slice_equal(second.name, first.name));
	}
	str_release(&again);
	return 0;
}
