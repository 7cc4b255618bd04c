/* test_dmarc_reports.c - what is noted for reports, and who hears them
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/dmarc/hears.h"
#include "origin/dmarc/note.h"
#include "tests/unit/origin/answers_case.h"

#include "base/banned.h"

TestSuite(dmarc_reports, .init = setup, .fini = teardown, .timeout = 60);

/* ---- notes -------------------------------------------------------------- */

static struct dmarc judged = { .domain = SLICE("a.test"),
	.record = SLICE("v=DMARC1; p=reject; np=none; aspf=s; t=y; "
	    "rua=mailto:x@a.test"),
	.record_at = SLICE("test"), .asked = DMARC_REJECT,
	.is_spf_aligned = true, .is_dkim_aligned = true,
	.rua = SLICE("mailto:x@a.test") };

Test(dmarc_reports, a_note_there_and_back)
{
	struct spf spf = { .domain = SLICE("b;/ \n.test") };
	struct dkim dkims[] = {
		{ .origin = ORIGIN_FAIL, .domain = SLICE("c.test"),
		    .selector = SLICE("one") },
		{ .origin = ORIGIN_PASS, .domain = SLICE("d.test"),
		    .selector = SLICE("two") },
		{ .origin = ORIGIN_PASS, .domain = SLICE("A.test"),
		    .selector = SLICE("three") },
	};
	struct dmarc_note note, again;
	struct str text = STR_INIT, once_more = STR_INIT;

	cr_assert(dmarc_note_of(&judged, &spf, dkims, 3, &note));
	dmarc_note_add(&text, &note);
	cr_expect_str_eq(text.buf, "from=a.test;at=test;p=reject;sp=reject;"
	    "np=none;adkim=r;aspf=s;t=y;asked=reject;aligned=spf,dkim;"
	    "mfrom=b????.test;dkim=A.test/three/pass;dkim=d.test/two/pass;"
	    "dkim=c.test/one/fail");
	cr_assert(dmarc_note_read(str_slice(&text), &again));
	cr_expect_eq(again.dkim_count, 3);
	cr_expect(again.is_spf_strict && again.is_testing);
	cr_expect(!again.is_set_aside);
	dmarc_note_add(&once_more, &again);
	cr_expect_str_eq(once_more.buf, text.buf);
	str_adds(&text, ";done=quarantine");
	cr_assert(dmarc_note_read(str_slice(&text), &again));
	cr_expect(again.is_set_aside);
	str_release(&text);
	str_release(&once_more);
}

Test(dmarc_reports, nothing_is_noted_for_who_does_not_ask)
{
	struct dmarc none = judged;
	struct dmarc_note note;
	struct spf spf = { .domain = SLICE("b.test") };

	none.rua = SLICE("");
	cr_expect(!dmarc_note_of(&none, &spf, NULL, 0, &note));
	none = (struct dmarc){ .origin = ORIGIN_NONE };
	cr_expect(!dmarc_note_of(&none, &spf, NULL, 0, &note));
}

/* A note has an end, whatever strangers write. */
Test(dmarc_reports, a_note_is_bounded)
{
	static char name[5000];
	struct dkim dkims[DKIM_SIGNATURES_MAX];
	struct dmarc long_one = judged;
	struct spf spf;
	struct dmarc_note note;
	struct str text = STR_INIT;

	memset(name, 'x', sizeof(name));
	for (size_t i = 0; i < DKIM_SIGNATURES_MAX; i++)
		dkims[i] = (struct dkim){ .origin = ORIGIN_PASS,
		    .domain = { name, sizeof(name) },
		    .selector = { name, sizeof(name) } };
	dkims[7].domain = SLICE("e.test");
	dkims[7].selector = SLICE("s");
	long_one.domain = long_one.record_at = spf.domain =
	    (struct slice){ name, sizeof(name) };
	cr_assert(dmarc_note_of(&long_one, &spf, dkims, DKIM_SIGNATURES_MAX,
	    &note));
	dmarc_note_add(&text, &note);
	cr_expect_leq(text.len, DMARC_NOTE_BYTES);
	cr_assert(dmarc_note_read(str_slice(&text), &note));
	cr_expect_eq(note.author.n, DMARC_NOTE_NAME_BYTES);
	cr_expect_eq(note.dkim_count, 1);
	cr_expect(slice_is(note.dkims[0].domain, "e.test"));
	str_release(&text);
}

/* ---- who hears ---------------------------------------------------------- */

#define ASKS(domain, rua) "_dmarc." domain " TXT v=DMARC1; p=none; rua=" \
	rua "\n"
#define AGREES(domain, record) domain "._report._dmarc.there.test TXT " \
	record "\n"
static const char zone[] =
    ASKS("own.test", "mailto:a@own.test,mailto:a@own.test,"
	"mailto:b@mx.own.test!10m")
    "_dmarc.mute.test TXT v=DMARC1; p=none\n"
    ASKS("web.test", "https://web.test/")
    ASKS("out.test", "mailto:o@there.test")
    AGREES("out.test", "v=DMARC1")
    ASKS("victim.test", "mailto:v@there.test")
    ASKS("half.test", "mailto:v@there.test,mailto:h@half.test")
    ASKS("moved.test", "mailto:m@there.test!5k")
    AGREES("moved.test", "v=spf1 -all")
    AGREES("moved.test", "v=DMARC1; rua=mailto:n@there.test")
    ASKS("lured.test", "mailto:l@there.test")
    AGREES("lured.test", "v=DMARC1; rua=mailto:l@there.test,"
	"mailto:l@else.test")
    ASKS("liar.test", "mailto:l@there.test")
    AGREES("liar.test", "DMARC1")
    ASKS("sick.test", "mailto:s@there.test")
    AGREES("sick.test", "SERVFAIL")
    ASKS("hard.test", "mailto:s@there.test,mailto:h@hard.test")
    AGREES("hard.test", "SERVFAIL")
    "_dmarc.down.test TXT SERVFAIL\n"
    ASKS("two.test", "mailto:a@two.test")
    ASKS("two.test", "mailto:b@two.test")
    "_dmarc.psd TXT v=DMARC1; p=none; psd=y; rua=mailto:p@psd\n"
    ASKS("a.psd", "mailto:x@b.psd")
    ASKS("many.test", "mailto:1@many.test,mailto:2@many.test,"
	"mailto:3@many.test,mailto:4@many.test,mailto:5@many.test");

Test(dmarc_reports, who_hears)
{
	static const struct {
		const char *domain;
		enum origin want;
		const char *to;
	} rows[] = {
		{ "own.test", ORIGIN_PASS, "a@own.test b@mx.own.test" },
		{ "mute.test", ORIGIN_NONE, "" },
		{ "web.test", ORIGIN_NONE, "" },
		{ "out.test", ORIGIN_PASS, "o@there.test" },
		{ "victim.test", ORIGIN_NONE, "" },
		{ "half.test", ORIGIN_PASS, "h@half.test" },
		{ "moved.test", ORIGIN_PASS, "n@there.test" },
		{ "lured.test", ORIGIN_NONE, "" },
		{ "liar.test", ORIGIN_NONE, "" },
		{ "sick.test", ORIGIN_TEMPERROR, "" },
		{ "hard.test", ORIGIN_PASS, "h@hard.test" },
		{ "down.test", ORIGIN_TEMPERROR, "" },
		{ "two.test", ORIGIN_NONE, "" },
		{ "no-record.test", ORIGIN_NONE, "" },
		/* below a public suffix: another organization */
		{ "a.psd", ORIGIN_NONE, "" },
		{ "many.test", ORIGIN_PASS, "1@many.test 2@many.test "
		    "3@many.test 4@many.test" },
	};
	struct err err;

	cr_assert_eq(answers_read_zone(answers, slice_of(zone), &err), 0,
	    "%s", err.text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dmarc_hears hears;
		struct str to = STR_INIT;

		cr_expect_eq(dmarc_hear(answers, slice_of(rows[i].domain),
		    arena, &hears), rows[i].want, "%s", rows[i].domain);
		for (size_t k = 0; k < hears.count; k++)
			str_addf(&to, "%s%s", k > 0 ? " " : "",
			    hears.to[k].text);
		cr_expect_str_eq(to.buf, rows[i].to, "%s", rows[i].domain);
		cr_expect_eq(*hears.reason != '\0' || hears.count > 0 ||
		    rows[i].want == ORIGIN_TEMPERROR, true, "%s",
		    rows[i].domain);
		str_release(&to);
	}
}

/* Nothing is guessed while an answer is not there. */
Test(dmarc_reports, what_is_not_known_is_asked_for)
{
	struct dmarc_hears hears;

	cr_expect_eq(dmarc_hear(answers, SLICE("own.test"), arena, &hears),
	    ORIGIN_ASKS);
	cr_assert_not_null(answers_question(answers));
	cr_expect(slice_is(answers_question(answers)->name,
	    "_dmarc.own.test"));
}
