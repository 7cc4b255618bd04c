/* fuzz_rehearsal.c - rows of facts against rules of every kind
 *
 * The rows reach the whole policy: addresses, names, lists and answers of
 * helpers come from the bytes.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "smtpserver/rehearse/rehearsal.h"

#include "base/banned.h"

static const char rules[] = "host mx.example.org\ndomain example.org\n"
    "table t { a@b.test -; @c.test -; .d.test -; e@ -; f.test -; g - }\n"
    "table n { 192.0.2.0/24 -; 2001:db8::/32 - }\n"
    "dnsbl bl.test weight 2\ndnsbl m.test answer 127.0.0.10/31\n"
    "dnswl wl.test\n"
    "reject shadow from <n> sender <t> to <t> helo <t> user <t>\n"
    "reject shadow name <t>\nreject name .dyn.test\n"
    "accept from <n> for any\naccept auth listener :587\n"
    "reject helo literal\nreject helo unqualified\nreject helo ours\n"
    "defer listed 2\nreject listed m.test\nreject size 1M\n"
    "limit rate 5/1m per sender else reject\nlimit parallel 3 per net\n"
    "greylist listed 1\nreject sender-unknown\nreject tls no user none "
    "listener submission\nfreeze sender *@odd.test\nreject to *x*@*\n";

static struct rehearsal *
theatre(void)
{
	static struct rehearsal rehearsal;
	struct conf_report report;
	struct arena *arena;

	if (rehearsal.conf != NULL)
		return &rehearsal;
	arena = arena_new();
	rehearsal.conf = conf_parse("fuzz.conf", slice_of(rules), arena,
	    &report);
	MUST(rehearsal.conf != NULL);
	rehearsal.policy = policy_new(rehearsal.conf);
	arena_free(&arena);
	return &rehearsal;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = { (const char *)data, size }, line;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		struct rehearsal_outcome outcome;
		struct rehearsal_row row;
		struct str why = STR_INIT;
		struct err err = { "" };
		enum rehearsal_line parsed = rehearsal_parse(line, &row,
		    &err);

		MUST(parsed != REHEARSAL_LINE_BAD || err.text[0] != '\0');
		if (parsed == REHEARSAL_LINE_ROW) {
			int run = rehearsal_run(theatre(), &row, &outcome,
			    &err);

			MUST(run == 0 || err.text[0] != '\0');
			if (run == 0 && row.has_expectation)
				MUST(rehearsal_is_expected(&row, &outcome,
				    &why) == (why.len == 0));
			rehearsal_outcome_release(&outcome);
		}
		rehearsal_row_release(&row);
		str_release(&why);
	}
	return 0;
}
