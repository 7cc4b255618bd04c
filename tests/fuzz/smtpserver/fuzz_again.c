/* fuzz_again.c - whatever stands in a record, a replay of it goes on
 *
 * Each line is decided, or is said to be none.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/rehearse/again.h"
#include "tests/fuzz/fuzz.h"

#include "base/banned.h"

static const char rules[] =
    "listen 127.0.0.1:25 decide early\nlimit session-messages 3\n"
    "domain here.test { users any }\ndnsbl m.test\n"
    "reject helo literal\nreject helo unqualified\nreject listed m.test\n"
    "limit rate 5/1m per sender else reject\nlimit parallel 3 per net\n"
    "greylist sender *@grey.test\nreject size 1M\nverify off\n"
    "reject tls no user none sender @s.test\nfreeze sender *@odd.test\n"
    "milter unix:/m/a except 192.0.2.0/25\nmilter unix:/m/b fail accept\n"
    "content-filter /m/e fail quarantine\nverify-origin yes\n"
    "reject dmarc fail sender *@late.test\n"
    "route cut.test via 127.0.0.1:26 cut-through\n";

static struct again *
again_house(void)
{
	static struct again again;
	struct conf_report report;
	struct arena *arena;
	struct str text = STR_INIT;
	struct err err;

	if (again.buckets != NULL)
		return &again;
	arena = arena_new();
	again.rehearsal.conf = conf_parse("fuzz.conf", slice_of(rules), arena,
	    &report);
	if (again.rehearsal.conf == NULL)
		conf_report_print(&report, "fuzz.conf", &text);
	MUST(again.rehearsal.conf != NULL);
	again.rehearsal.policy = policy_new(again.rehearsal.conf);
	again.buckets = buckets_new();
	again.greylist = greylist_open(NULL, 0, &err);
	arena_free(&arena);
	str_release(&text);
	return &again;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = { (const char *)data, size }, line;
	struct again_row row;

	again_row_init(&row);
	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		struct rehearsal_outcome outcome;
		struct err err = { "" };
		const char *by;

		if (again_parse(line, &row, &err) < 0) {
			MUST(err.text[0] != '\0');
			continue;
		}
		if (again_run(again_house(), &row, &outcome, &by, &err) < 0)
			MUST(err.text[0] != '\0');
		else
			MUST(outcome.result == REHEARSAL_NEED ||
			    outcome.code >= 200);
		rehearsal_outcome_release(&outcome);
	}
	again_row_release(&row);
	return 0;
}
