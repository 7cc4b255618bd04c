/* fuzz_classify.c - rules of a site, then replies of anybody
 *
 * Up to the first NUL the input is rules, after it replies, a line each.
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/classify.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = fuzz_slice(data, size), rules, line;
	struct mail_finding found;
	struct err err = { "" };
	int got;

	slice_cut(&rest, '\0', &rules);
	got = classify_load(rules, &err);
	MUST(got == 0 || (got == -1 && err.text[0] != '\0'));
	while (slice_cut(&rest, '\n', &line)) {
		classify_reply(line, SLICE("4.0.0"), &found);
		MUST(found.class < CLASS_COUNT && found.scope < SCOPE_COUNT);
		MUST(mail_class_parse(slice_of(
		    mail_class_name(found.class))) == (int)found.class);
	}
	return 0;
}
