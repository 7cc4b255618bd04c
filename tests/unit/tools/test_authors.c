/* test_authors.c - mail of a day, counted by author's domain, and as XML
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tools/zmailer/report/send/authors.h"
#include "tools/zmailer/report/send/xml.h"

static struct authors authors;

static void
begin(void)
{
	authors_init(&authors, "2026-11-20");
}

static void
end(void)
{
	authors_release(&authors);
}

TestSuite(authors, .init = begin, .fini = end, .timeout = 120);

#define NOTE(domain, rest) "from=" domain ";at=" domain ";p=reject;" \
	"sp=none;np=none;adkim=s;aspf=r;" rest

static void
take(const char *day, const char *client, const char *dmarc,
    const char *note, const char *more)
{
	char line[2048];

	snprintf(line, sizeof(line), "{\"t\":\"%sT10:00:00.000Z\",\"ev\":"
	    "\"message.accepted\",\"client\":\"%s\",\"from\":\"u@s.test\","
	    "\"spf\":\"softfail\",\"dmarc\":\"%s\",\"report\":\"%s\"%s}",
	    day, client, dmarc, note, more);
	authors_take_line(&authors, slice_of(line));
}

static void
take_plain(const char *client, const char *note)
{
	take("2026-11-20", client, "fail", note, "");
}

/* What the first row of a domain tells. */
static struct authors_message
row(size_t domain)
{
	struct authors_message message;

	cr_assert_gt(authors.domain_count, domain);
	cr_assert_neq(authors.domains[domain].first, 0);
	authors_key_read(authors.rows[authors.domains[domain].first - 1].key,
	    &message);
	return message;
}

Test(authors, what_is_the_same_is_a_row)
{
	const char *one = NOTE("a.test", "t=n;asked=reject;aligned=;"
	    "mfrom=s.test;dkim=b.test/s1/fail");
	const char *two = NOTE("a.test", "t=n;asked=reject;aligned=;"
	    "mfrom=s.test;dkim=b.test/s2/fail");
	const struct authors_domain *domain;
	struct authors_message message;

	take_plain("192.0.2.1:1", one);
	take_plain("192.0.2.1:2", one);
	take_plain("192.0.2.2:1", one);
	take_plain("192.0.2.1:1", two);
	take_plain("[2001:db8::1]:1", one);
	cr_assert_eq(authors.domain_count, 1);
	domain = &authors.domains[0];
	cr_expect_str_eq(domain->name, "a.test");
	cr_expect_eq(domain->messages, 5);
	cr_expect_eq(domain->failed, 5);
	cr_expect_eq(domain->row_count, 4);
	cr_expect_eq(authors.rows[0].count, 2);
	cr_expect(domain->is_dkim_strict && !domain->is_spf_strict);
	cr_expect_eq(domain->p, DMARC_REJECT);
	cr_expect_eq(domain->sp, DMARC_NONE);
	message = row(0);
	cr_expect(slice_is(message.client, "192.0.2.1"));
	cr_expect(message.has_from && slice_is(message.from, "s.test"));
	cr_expect_eq(message.spf, ORIGIN_SOFTFAIL);
	cr_expect_eq(message.note.dkim_count, 1);
	cr_expect(slice_is(message.note.dkims[0].selector, "s1"));
	authors_key_read(authors.rows[3].key, &message);
	cr_expect(slice_is(message.client, "2001:db8::1"));
}

Test(authors, what_was_done_and_why)
{
	static const struct {
		const char *dmarc, *rest, *more;
		enum authors_done done;
		enum authors_reason reason;
	} rows[] = {
		{ "pass", "t=n;asked=reject;aligned=spf", "",
		    AUTHORS_PASSED, AUTHORS_AS_ASKED },
		{ "pass", "t=n;asked=none;aligned=spf", "",
		    AUTHORS_NONE, AUTHORS_AS_ASKED },
		{ "pass", "t=y;asked=quarantine;aligned=spf", "",
		    AUTHORS_NONE, AUTHORS_AS_ASKED },
		{ "fail", "t=n;asked=none;aligned=", "",
		    AUTHORS_NONE, AUTHORS_AS_ASKED },
		{ "fail", "t=n;asked=reject;aligned=", "",
		    AUTHORS_NONE, AUTHORS_LOCAL },
		{ "fail", "t=n;asked=reject;aligned=;done=quarantine", "",
		    AUTHORS_QUARANTINED, AUTHORS_LOCAL },
		{ "fail", "t=n;asked=quarantine;aligned=;done=quarantine", "",
		    AUTHORS_QUARANTINED, AUTHORS_AS_ASKED },
		{ "fail", "t=n;asked=none;aligned=;done=quarantine", "",
		    AUTHORS_QUARANTINED, AUTHORS_LOCAL },
		{ "fail", "t=y;asked=quarantine;aligned=", "",
		    AUTHORS_NONE, AUTHORS_TESTING },
		{ "fail", "t=y;asked=reject;aligned=;done=quarantine", "",
		    AUTHORS_QUARANTINED, AUTHORS_TESTING },
		{ "fail", "t=y;asked=reject;aligned=", "",
		    AUTHORS_NONE, AUTHORS_LOCAL },
		{ "fail", "t=n;asked=reject;aligned=",
		    ",\"sealer\":\"l.test\"", AUTHORS_NONE,
		    AUTHORS_FORWARDED },
		{ "temperror", "t=n;asked=reject;aligned=", "",
		    AUTHORS_NONE, AUTHORS_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char note[256];
		struct authors_message message;

		snprintf(note, sizeof(note), "from=r%zu.test;at=r%zu.test;%s",
		    i, i, rows[i].rest);
		take("2026-11-20", "192.0.2.1:1", rows[i].dmarc, note,
		    rows[i].more);
		message = row(i);
		cr_expect_eq(message.done, rows[i].done, "row %zu", i);
		cr_expect_eq(message.reason, rows[i].reason, "row %zu", i);
		cr_expect_eq(message.sealer.n > 0, rows[i].reason ==
		    AUTHORS_FORWARDED, "row %zu", i);
	}
}

Test(authors, of_other_days_and_damaged_lines_are_left_out)
{
	static const char *const notes[] = { "", "x", "from=a.test",
		"from=;at=a.test", "at=a.test", "from=a.test;at=",
		"from=a.test;at=a test", "from=a.test;at=../a",
		"from=a.test;at=a.test;p=all", "from=a.test;at=a.test;adkim=",
		"from=a.test;at=a.test;adkim=rs", "from=a.test;at=a.test;",
		"from=a.test;at=a.test;aligned=dkim,spf",
		"from=a.test;at=a.test;dkim=a/b",
		"from=a.test;at=a.test;dkim=a/b/c",
		"from=a.test;at=a.test;done=reject",
		"from=a.test;at=a.test;other=1", "from=a.test;at=a.test;p",
		"from=a.test;at=a.test;dkim=a/b/pass;dkim=a/b/pass;"
		"dkim=a/b/pass;dkim=a/b/pass;dkim=a/b/pass;dkim=a/b/pass;"
		"dkim=a/b/pass;dkim=a/b/pass;dkim=a/b/pass" };

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		take_plain("192.0.2.1:1", notes[i]);
		cr_expect_eq(authors.domain_count, 0, "row %zu", i);
	}
	take("2026-11-19", "192.0.2.1:1", "fail", "from=a.test;at=a.test", "");
	take("2026-11-21", "192.0.2.1:1", "fail", "from=a.test;at=a.test", "");
	take_plain("", "from=a.test;at=a.test");
	take_plain("unix", "from=a.test;at=a.test");
	authors_take_line(&authors, SLICE("{\"t\":\"2026-11-20T\",\"ev\":"
	    "\"message.accepted\",\"report\":\"from=a.test"));
	cr_expect_eq(authors.domain_count, 0);
	take_plain("192.0.2.1:1", "from=a.test;at=a.test");
	cr_expect_eq(authors.domain_count, 1);
}

Test(authors, who_was_told_is_known)
{
	static const struct {
		const char *kind, *day;
		bool is_told;
	} rows[] = {
		{ "tls", "2026-11-20", false },
		{ "dmarc", "2026-11-19", false },
		{ "dmarc", "2026-11-20", true },
	};
	char line[256];

	take_plain("192.0.2.1:1", "from=a.test;at=a.test");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(line, sizeof(line), "{\"t\":\"2026-11-21T00:00:00Z\","
		    "\"ev\":\"report.sent\",\"kind\":\"%s\",\"domain\":"
		    "\"a.test\",\"day\":\"%s\"}", rows[i].kind, rows[i].day);
		authors_take_line(&authors, slice_of(line));
		cr_expect_eq(authors.domains[0].is_told, rows[i].is_told,
		    "row %zu", i);
	}
}

/* However many domains and rows there are, memory has an end. */
Test(authors, are_bounded)
{
	char client[64], note[128];

	for (unsigned i = 0; i < AUTHORS_ROWS_MAX + 10; i++) {
		snprintf(client, sizeof(client), "10.%u.%u.%u:25", i >> 16,
		    i >> 8 & 255, i & 255);
		take_plain(client, "from=big.test;at=big.test");
	}
	cr_expect_eq(authors.domains[0].row_count, AUTHORS_ROWS_MAX);
	cr_expect_eq(authors.domains[0].left_out, 10);
	cr_expect_eq(authors.domains[0].messages, AUTHORS_ROWS_MAX);
	for (unsigned i = 0; i < AUTHORS_DOMAINS_MAX + 10; i++) {
		snprintf(note, sizeof(note), "from=d%u.test;at=d%u.test", i,
		    i);
		take_plain("192.0.2.1:25", note);
	}
	cr_expect_eq(authors.domain_count, AUTHORS_DOMAINS_MAX);
	cr_expect_eq(authors.left_out, 11);
	for (unsigned i = 0; i < AUTHORS_ROWS_ALL_MAX; i++) {
		snprintf(client, sizeof(client), "10.%u.%u.%u:25", i >> 16,
		    i >> 8 & 255, i & 255);
		snprintf(note, sizeof(note), "from=d%u.test;at=d%u.test",
		    i % 1000, i % 1000);
		take_plain(client, note);
	}
	cr_expect_eq(authors.row_count, AUTHORS_ROWS_ALL_MAX);
	/* a row that is there counts on */
	take_plain("10.0.0.0:1", "from=big.test;at=big.test");
	cr_expect_eq(authors.domains[0].messages, AUTHORS_ROWS_MAX + 1);
}

Test(authors, as_xml)
{
	static const char want[] = "<record>\n<row>\n<source_ip>192.0.2.1"
	    "</source_ip>\n<count>1</count>\n<policy_evaluated>\n"
	    "<disposition>none</disposition>\n<dkim>fail</dkim>\n<spf>fail"
	    "</spf>\n<reason>\n<type>local_policy</type>\n</reason>\n"
	    "</policy_evaluated>\n</row>\n<identifiers>\n<header_from>"
	    "&lt;&amp;.test</header_from>\n<envelope_from>s.test"
	    "</envelope_from>\n</identifiers>\n<auth_results>\n<dkim>\n"
	    "<domain>b.test</domain>\n<selector></selector>\n<result>neutral"
	    "</result>\n</dkim>\n<spf>\n<domain></domain>\n<scope>mfrom"
	    "</scope>\n<result>softfail</result>\n</spf>\n</auth_results>\n"
	    "</record>\n</feedback>\n";
	struct authors_letter letter = { .organization = "mx.test",
	    .contact = "d@mx.test", .id = "1@mx.test", .begin_s = 1,
	    .end_s = 2 };
	struct str out = STR_INIT;

	take_plain("192.0.2.1:1", "from=<&.test;at=a.test;asked=reject;"
	    "dkim=b.test//neutral");
	authors_add_report(&out, &authors, &authors.domains[0], &letter);
	cr_assert_not_null(strstr(out.buf, "<record>"));
	cr_expect_str_eq(strstr(out.buf, "<record>"), want);
	cr_expect_not_null(strstr(out.buf, "<date_range>\n<begin>1</begin>\n"
	    "<end>2</end>\n</date_range>"));
	str_release(&out);
}

Test(xml, every_value_is_escaped)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "", "" }, { "plain.test", "plain.test" },
		{ "<a b=\"c\" d='e'>&amp;", "&lt;a b=&quot;c&quot; "
		    "d=&apos;e&apos;&gt;&amp;amp;" },
		{ "]]>", "]]&gt;" },
		{ "\001\037\177\n\t", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		    "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc3\xa4.test", "\xc3\xa4.test" },
		{ "\xf0\x9f\x93\xa7", "\xf0\x9f\x93\xa7" },
		/* no UTF-8: alone, cut, too long, a surrogate */
		{ "\xff", "\xef\xbf\xbd" },
		{ "\xc3", "\xef\xbf\xbd" },
		{ "\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		/* no character of XML, a control of C1, a direction */
		{ "\xef\xbf\xbe\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc2\x85", "\xef\xbf\xbd" },
		{ "\xe2\x80\xae", "\xef\xbf\xbd" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = STR_INIT, want = STR_INIT;

		xml_text(&out, "v", slice_of(rows[i].in));
		str_addf(&want, "<v>%s</v>\n", rows[i].want);
		cr_expect_str_eq(out.buf, want.buf, "row %zu", i);
		str_release(&out);
		str_release(&want);
	}
}
