/* test_dmarc.c - does the author's domain stand by this mail?
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/dmarc/record.h"
#include "tests/unit/origin/answers_case.h"

#include "base/banned.h"

TestSuite(dmarc, .init = setup, .fini = teardown, .timeout = 60);

Test(dmarc, records_are_read)
{
	static const struct {
		const char	 *text;
		enum dmarc_read	  read;
		enum dmarc_policy p, sp, np;
	} rows[] = {
		{ "v=DMARC1; p=reject", DMARC_READ, 2, 2, 2 },
		{ " v = DMARC1 ;p = Quarantine ; sp=none", DMARC_READ, 1, 0,
		    0 },
		{ "v=DMARC1;p=none;sp=quarantine;np=reject;", DMARC_READ, 0,
		    1, 2 },
		{ "v=DMARC1;np=reject;p=none", DMARC_READ, 0, 0, 2 },
		{ "v=DMARC1; p=reject; unknown=x; ; =; y", DMARC_READ, 2, 2,
		    2 },
		/* section 4.7: no p, but a rua */
		{ "v=DMARC1; rua=mailto:a@b.test", DMARC_READ, 0, 0, 0 },
		{ "v=DMARC1; p=refuse; rua=mailto:a@b.test", DMARC_READ, 0,
		    0, 0 },
		{ "v=DMARC1; p=reject; sp=x; rua=mailto:a@b.test",
		    DMARC_READ, 0, 0, 0 },
		{ "v=DMARC1", DMARC_READ_BAD, 0, 0, 0 },
		{ "v=DMARC1; rua=nowhere", DMARC_READ_BAD, 0, 0, 0 },
		{ "v=DMARC1; p=reject; np=x", DMARC_READ_BAD, 0, 0, 0 },
		{ "v=DMARC12; p=reject", DMARC_READ_OTHER, 0, 0, 0 },
		{ "v=dmarc1; p=reject", DMARC_READ_OTHER, 0, 0, 0 },
		{ "p=reject; v=DMARC1", DMARC_READ_OTHER, 0, 0, 0 },
		{ "v=spf1 -all", DMARC_READ_OTHER, 0, 0, 0 },
		{ "", DMARC_READ_OTHER, 0, 0, 0 },
	};
	struct dmarc_record record;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(dmarc_read(slice_of(rows[i].text), &record),
		    rows[i].read, "%s", rows[i].text);
		if (rows[i].read != DMARC_READ)
			continue;
		cr_expect(record.p == rows[i].p && record.sp == rows[i].sp &&
		    record.np == rows[i].np, "%s: %d %d %d", rows[i].text,
		    record.p, record.sp, record.np);
	}
}

static const char zone[] =
    "_dmarc.example.com TXT v=DMARC1; p=reject; rua=mailto:d@example.com\n"
    "example.com A 192.0.2.1\nwww.example.com A 192.0.2.1\n"
    "_dmarc.strict.test TXT v=DMARC1; p=reject; aspf=s; adkim=s\n"
    "_dmarc.sub.test TXT v=DMARC1; p=none; sp=quarantine; np=reject\n"
    "there.sub.test A 192.0.2.1\n"
    "_dmarc.try.test TXT v=DMARC1; p=reject; t=y\n"
    "_dmarc.bank TXT v=DMARC1; p=reject; psd=y\n"
    "_dmarc.own.example.com TXT v=DMARC1; p=none; psd=n\n"
    "_dmarc.two.test TXT v=DMARC1; p=reject\n"
    "_dmarc.two.test TXT v=DMARC1; p=none\n"
    "_dmarc.noise.test TXT v=spf1 -all\n"
    "_dmarc.noise.test TXT v=DMARC1; p=quarantine\n"
    "_dmarc.deaf.test SERVFAIL\n"
    "_dmarc.deaf.example.com SERVFAIL\n"
    "_dmarc.lying.test TXT BOGUS\n"
    "_dmarc.d.e.f.g.h.i.test TXT v=DMARC1; p=reject\n"
    "_dmarc.c.d.e.f.g.h.i.test TXT v=DMARC1; p=none\n";

struct row {
	const char	 *author;
	enum origin	  spf;
	const char	 *spf_domain;
	enum origin	  dkim;
	const char	 *dkim_domain;
	enum origin	  origin;
	enum dmarc_policy policy;
	const char	 *record_at, *organization;
};

static void
expect_row(const struct row *row)
{
	struct spf spf = { .origin = row->spf,
	    .domain = slice_of(row->spf_domain) };
	struct dkim dkim = { .origin = row->dkim,
	    .domain = slice_of(row->dkim_domain) };
	struct dmarc out;

	cr_expect_eq(dmarc_judge(answers, slice_of(row->author), &spf, &dkim,
	    1, arena, &out), row->origin, "%s: %s, not %s: %s", row->author,
	    origin_text(out.origin), origin_text(row->origin), out.reason);
	cr_expect_eq(out.policy, row->policy, "%s: %d", row->author,
	    out.policy);
	cr_expect(slice_is(out.record_at, row->record_at), "%s: %.*s",
	    row->author, SLICE_ARG(out.record_at));
	if (row->organization != NULL)
		cr_expect(slice_is(out.organization, row->organization),
		    "%s: %.*s", row->author, SLICE_ARG(out.organization));
	cr_expect(out.reason != NULL && out.reason[0] != '\0');
}

#define NO ORIGIN_NONE, ""

Test(dmarc, policies_are_found_and_alignment_judged)
{
	static const struct row rows[] = {
		/* the domain's own record; one mechanism is enough */
		{ "example.com", ORIGIN_PASS, "example.com", NO, ORIGIN_PASS,
		    DMARC_REJECT, "example.com", "example.com" },
		{ "Example.COM", NO, ORIGIN_PASS, "example.com", ORIGIN_PASS,
		    DMARC_REJECT, "example.com", "example.com" },
		{ "example.com", NO, NO, ORIGIN_FAIL, DMARC_REJECT,
		    "example.com", "example.com" },
		{ "example.com", ORIGIN_SOFTFAIL, "example.com", ORIGIN_FAIL,
		    "example.com", ORIGIN_FAIL, DMARC_REJECT, "example.com",
		    NULL },
		/* relaxed: of the same organization, both ways */
		{ "www.example.com", ORIGIN_PASS, "mail.example.com", NO,
		    ORIGIN_PASS, DMARC_REJECT, "example.com", "example.com" },
		{ "example.com", NO, ORIGIN_PASS, "a.b.example.com",
		    ORIGIN_PASS, DMARC_REJECT, "example.com", NULL },
		{ "example.com", ORIGIN_PASS, "example.net", ORIGIN_PASS,
		    "badexample.com", ORIGIN_FAIL, DMARC_REJECT,
		    "example.com", NULL },
		/* strict */
		{ "strict.test", ORIGIN_PASS, "a.strict.test", ORIGIN_PASS,
		    "b.strict.test", ORIGIN_FAIL, DMARC_REJECT, "strict.test",
		    NULL },
		{ "strict.test", ORIGIN_PASS, "strict.test", NO, ORIGIN_PASS,
		    DMARC_REJECT, "strict.test", NULL },
		/* sp for names below, np for those that do not exist */
		{ "sub.test", NO, NO, ORIGIN_FAIL, DMARC_NONE, "sub.test",
		    NULL },
		{ "there.sub.test", NO, NO, ORIGIN_FAIL, DMARC_QUARANTINE,
		    "sub.test", "sub.test" },
		{ "gone.sub.test", NO, NO, ORIGIN_FAIL, DMARC_REJECT,
		    "sub.test", NULL },
		/* t=y weakens by a step */
		{ "try.test", NO, NO, ORIGIN_FAIL, DMARC_QUARANTINE,
		    "try.test", NULL },
		/* a public suffix: who registered below it */
		{ "a.b.bank", ORIGIN_PASS, "c.b.bank", NO, ORIGIN_PASS,
		    DMARC_REJECT, "bank", "b.bank" },
		{ "a.b.bank", ORIGIN_PASS, "a.c.bank", NO, ORIGIN_FAIL,
		    DMARC_REJECT, "bank", "b.bank" },
		{ "bank", ORIGIN_PASS, "bank", NO, ORIGIN_PASS, DMARC_REJECT,
		    "bank", "bank" },
		/* an organization of its own below another */
		{ "a.own.example.com", ORIGIN_PASS, "example.com", NO,
		    ORIGIN_FAIL, DMARC_NONE, "own.example.com",
		    "own.example.com" },
		/* records that are none */
		{ "two.test", ORIGIN_PASS, "two.test", NO, ORIGIN_PERMERROR,
		    DMARC_NONE, "two.test", NULL },
		{ "noise.test", NO, NO, ORIGIN_FAIL, DMARC_QUARANTINE,
		    "noise.test", NULL },
		{ "nobody.test", ORIGIN_PASS, "nobody.test", NO, ORIGIN_NONE,
		    DMARC_NONE, "", NULL },
		{ "", NO, NO, ORIGIN_NONE, DMARC_NONE, "", NULL },
		/* trouble is never a fail */
		{ "deaf.test", ORIGIN_PASS, "deaf.test", NO,
		    ORIGIN_TEMPERROR, DMARC_NONE, "", NULL },
		{ "a.lying.test", NO, NO, ORIGIN_TEMPERROR, DMARC_NONE, "",
		    NULL },
		{ "example.com", ORIGIN_TEMPERROR, "example.com", NO,
		    ORIGIN_TEMPERROR, DMARC_REJECT, "example.com", NULL },
		{ "example.com", ORIGIN_TEMPERROR, "example.com",
		    ORIGIN_PASS, "example.com", ORIGIN_PASS, DMARC_REJECT,
		    "example.com", NULL },
		{ "example.com", ORIGIN_PASS, "x.deaf.example.com", NO,
		    ORIGIN_TEMPERROR, DMARC_REJECT, "example.com", NULL },
		/* but what is in no such organization is not asked about: a
		 * stranger whose servers fail would not fail himself */
		{ "example.com", ORIGIN_PASS, "x.deaf.test", ORIGIN_PASS,
		    "deaf.test", ORIGIN_FAIL, DMARC_REJECT, "example.com",
		    NULL },
		{ "www.example.com", NO, ORIGIN_TEMPERROR, "deaf.test",
		    ORIGIN_FAIL, DMARC_REJECT, "example.com", NULL },
		{ "example.com", ORIGIN_TEMPERROR, "other.test", NO,
		    ORIGIN_FAIL, DMARC_REJECT, "example.com", NULL },
		/* names of many labels: itself, then seven and fewer */
		{ "a.b.c.d.e.f.g.h.i.test", NO, NO, ORIGIN_FAIL,
		    DMARC_REJECT, "d.e.f.g.h.i.test", "d.e.f.g.h.i.test" },
	};
	struct err err;

	cr_assert_eq(answers_read_zone(answers, slice_of(zone), &err), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_row(&rows[i]);
}

Test(dmarc, questions_are_few)
{
	struct origin_answer put = { .type = DNS_TYPE_TXT, .status =
	    ANSWER_NONE };
	struct dmarc out;
	int asked = 0;

	while (dmarc_judge(answers, SLICE("a.b.c.d.e.f.g.h.i.j.k.test"), NULL,
	    NULL, 0, arena, &out) == ORIGIN_ASKS) {
		put.name = answers_question(answers)->name;
		answers_put(answers, &put);
		asked++;
	}
	cr_expect_eq(asked, DMARC_QUESTIONS_MAX);
	cr_expect_eq(out.origin, ORIGIN_NONE);
}

Test(dmarc, all_of_a_walk_is_asked_at_once)
{
	const struct origin_answer *question;
	struct dmarc out;
	size_t cursor = 0, asked = 0;

	cr_assert_eq(dmarc_judge(answers, SLICE("a.b.example.com"), NULL,
	    NULL, 0, arena, &out), ORIGIN_ASKS);
	while ((question = answers_next_question(answers, &cursor)) != NULL) {
		cr_expect(slice_starts(question->name, "_dmarc."));
		asked++;
	}
	cr_expect_eq(asked, 4);
}

Test(dmarc, an_author_has_one_domain)
{
	static const struct {
		const char	*message, *domain;
		enum origin	 instead;
	} rows[] = {
		{ "From: a@Example.com\n\nx", "example.com", ORIGIN_NONE },
		{ "Subject: x\r\nFROM: \"b@c.test\" <a@example.com>\r\n\r\n",
		    "example.com", ORIGIN_NONE },
		{ "From: a@x.test, b@X.test\n\n", "x.test", ORIGIN_NONE },
		{ "From: a@b\xc3\xbc" "cher.test\n\n", "xn--bcher-kva.test",
		    ORIGIN_NONE },
		{ "From: a@x.test, b@y.test\n\n", NULL, ORIGIN_SEVERAL },
		{ "From: g: a@x.test, b@y.test;\n\n", NULL,
		    ORIGIN_SEVERAL },
		{ "From: a@x.test\nFrom: a@x.test\n\n", NULL,
		    ORIGIN_PERMERROR },
		{ "From: a@x.test, b@y.test\nFrom: a@x.test\n\n", NULL,
		    ORIGIN_PERMERROR },
		{ "From: a@x.test, <b@\n\n", NULL, ORIGIN_PERMERROR },
		{ "From: a@x.test b@y.test\n\n", NULL, ORIGIN_PERMERROR },
		/* what names no domain exempts nobody */
		{ "From: a, b@y.test\n\n", "y.test", ORIGIN_NONE },
		{ "From: b@y.test, a\n\n", "y.test", ORIGIN_NONE },
		{ "From: a@x.test, b, c@y.test\n\n", NULL, ORIGIN_SEVERAL },
		{ "From: nobody:;\n\n", NULL, ORIGIN_NONE },
		{ "From: a\n\n", NULL, ORIGIN_NONE },
		{ "From: \n\n", NULL, ORIGIN_NONE },
		{ "From: <>\n\n", NULL, ORIGIN_PERMERROR },
		{ "To: a@x.test\n\nFrom: a@x.test\n", NULL, ORIGIN_NONE },
		/* what is no field ends no header for the router either */
		{ "From e@evil.test now\nFrom: a@x.test\n\n", "x.test",
		    ORIGIN_NONE },
		{ "To: b\nno field\n of it\nFrom: a@x.test\n\n",
		    "x.test", ORIGIN_NONE },
		{ "From: a@x.test\nno field\nFrom: b@y.test\n\n", NULL,
		    ORIGIN_PERMERROR },
		{ "", NULL, ORIGIN_NONE },
	};
	struct slice domain;
	struct dmarc instead;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(dmarc_author(slice_of(rows[i].message), arena,
		    &domain, &instead), rows[i].domain != NULL, "%s",
		    rows[i].message);
		cr_expect_eq(instead.origin, rows[i].instead, "%s",
		    rows[i].message);
		if (rows[i].domain != NULL)
			cr_expect(slice_is(domain, rows[i].domain), "%s: %.*s",
			    rows[i].message, SLICE_ARG(domain));
	}
}

/* A long list of one domain is of that domain; an endless one is not read. */
Test(dmarc, many_authors_are_not_exempt)
{
	struct str message = STR_INIT;
	struct slice domain;
	struct dmarc instead;

	for (int count = 60; count <= 60000; count *= 1000) {
		str_reset(&message);
		str_adds(&message, "From: a@x.test");
		for (int i = 1; i < count; i++)
			str_addf(&message, ", a%d@x.test", i);
		str_adds(&message, "\n\nx");
		cr_expect_eq(dmarc_author(str_slice(&message), arena, &domain,
		    &instead), count == 60);
		cr_expect_eq(instead.origin, count == 60 ? ORIGIN_NONE :
		    ORIGIN_PERMERROR);
	}
	str_release(&message);
}

/* Text was added to what the author signed (l=): it speaks for nobody.  A
 * key with t=y proves no less than another. */
Test(dmarc, a_signature_of_a_part_speaks_for_nobody)
{
	struct dkim dkim = { .origin = ORIGIN_PASS,
	    .domain = SLICE("example.com"), .is_testing = true };
	struct dmarc out;
	struct err err;

	cr_assert_eq(answers_read_zone(answers, slice_of(zone), &err), 0);
	cr_expect_eq(dmarc_judge(answers, SLICE("example.com"), NULL, &dkim,
	    1, arena, &out), ORIGIN_PASS);
	dkim.unsigned_bytes = 10;
	cr_expect_eq(dmarc_judge(answers, SLICE("example.com"), NULL, &dkim,
	    1, arena, &out), ORIGIN_FAIL);
	cr_expect(!out.is_dkim_aligned);
}
