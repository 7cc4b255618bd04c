/* test_answers.c - answers of the DNS, asked for and put in
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/origin/answers_case.h"

#include "base/banned.h"

TestSuite(answers, .init = setup, .fini = teardown, .timeout = 60);

Test(answers, a_question_stays_until_it_is_answered)
{
	struct answer_record record = { .text = SLICE("v=spf1 -all") };
	struct origin_answer put = { .type = DNS_TYPE_TXT, .name =
	    SLICE("a.test"),
	    .status = ANSWER_SECURE, .records = &record, .record_count = 1 };
	const struct origin_answer *answer;

	cr_assert_null(answers_question(answers));
	cr_assert_null(answers_look(answers, DNS_TYPE_TXT, SLICE("A.test.")));
	cr_assert_null(answers_look(answers, DNS_TYPE_MX, SLICE("a.test")));
	cr_assert_null(answers_look(answers, DNS_TYPE_TXT, SLICE("a.test")));
	answer = answers_question(answers);
	cr_assert_eq(answer->type, DNS_TYPE_TXT);
	cr_assert(slice_is(answer->name, "a.test"));
	answers_put(answers, &put);
	cr_assert_eq(answers_question(answers)->type, DNS_TYPE_MX);
	answer = answers_look(answers, DNS_TYPE_TXT, SLICE("a.TEST"));
	cr_assert_eq(answer->status, ANSWER_SECURE);
	cr_assert(answer_has(answer) && !answer_is_trouble(answer));
	cr_assert(slice_is(answer->records[0].text, "v=spf1 -all"));
	answers_close(answers);
	cr_assert_eq(answers_look(answers, DNS_TYPE_A, SLICE("a.test"))
	    ->status, ANSWER_NONE);
}

Test(answers, names_that_cannot_be_are_never_asked)
{
	static char long_name[300];
	static const char *const names[] = { "", ".", "a..b", ".a", long_name,
	    "a123456789b123456789c123456789d123456789e123456789f123456789abcd."
	    "test" };

	for (size_t i = 0; i + 1 < sizeof(long_name); i++)
		long_name[i] = i % 2 ? '.' : 'a';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_assert_eq(answers_look(answers, DNS_TYPE_TXT,
		    slice_of(names[i]))->status, ANSWER_NONE, "%s", names[i]);
	cr_assert_null(answers_question(answers));
}

Test(answers, more_than_there_is_room_for_is_trouble)
{
	static struct answer_record records[ANSWER_RECORDS_MAX + 1];
	struct origin_answer put = { .type = DNS_TYPE_A, .name =
	    SLICE("many.test"), .status = ANSWER_INSECURE, .records = records,
	    .record_count = ANSWER_RECORDS_MAX + 1 };
	char name[32];

	answers_put(answers, &put);
	cr_assert(answer_is_trouble(answers_look(answers, DNS_TYPE_A,
	    SLICE("many.test"))));
	for (int i = 1; i < ANSWERS_MAX; i++) {
		snprintf(name, sizeof(name), "n%d.test", i);
		cr_assert_null(answers_look(answers, DNS_TYPE_A,
		    slice_of(name)));
	}
	cr_assert(answer_is_trouble(answers_look(answers, DNS_TYPE_A,
	    SLICE("one-more.test"))));
}

Test(answers, a_zone_is_read)
{
	const struct origin_answer *answer;
	struct err err;

	cr_assert_eq(answers_read_zone(answers, slice_of(
	    "# a comment\n; another\n\n"
	    "a.test A 192.0.2.1\r\nA.test. a 192.0.2.2\n"
	    "a.test\tAAAA 2001:db8::1\n"
	    "a.test MX 10 Mx.A.test.\n"
	    "t.test TXT \"v=spf1 \" \"a \\\"\\\\ -all\"\n"
	    "u.test TXT k=rsa; p=  x y\n"
	    "c.test CNAME d.test\nd.test CNAME a.test\n"
	    "l.test CNAME l.test\n"
	    "s.test SERVFAIL\nb.test TXT BOGUS\n"
	    "k.test. 300 IN TXT ( ; as zmailer dkim record prints it\n"
	    "\t\"v=DKIM1; k=rsa; p=\" ; one\n\n\t\"(x);y)\" )\n"
	    "m.test. IN TXT (\"one line\")\r\n"
	    "w.test in 300 A 192.0.2.3\n"
	    "1.2.0.192.in-addr.arpa PTR a.test.\n"), &err), 0, "%s", err.text);
	answer = answers_look(answers, DNS_TYPE_TXT, SLICE("k.test"));
	cr_assert(slice_is(answer->records[0].text,
	    "v=DKIM1; k=rsa; p=(x);y)"));
	answer = answers_look(answers, DNS_TYPE_TXT, SLICE("m.test"));
	cr_assert(slice_is(answer->records[0].text, "one line"));
	answer = answers_look(answers, DNS_TYPE_A, SLICE("w.test"));
	cr_assert_eq(answer->record_count, 1);
	answer = answers_look(answers, DNS_TYPE_A, SLICE("c.test"));
	cr_assert_eq(answer->record_count, 2);
	cr_assert_eq(answer->records[1].address.bytes[15], 2);
	answer = answers_look(answers, DNS_TYPE_MX, SLICE("a.test"));
	cr_assert_eq(answer->records[0].preference, 10);
	cr_assert(slice_is(answer->records[0].text, "mx.a.test"));
	answer = answers_look(answers, DNS_TYPE_TXT, SLICE("t.test"));
	cr_assert(slice_is(answer->records[0].text, "v=spf1 a \"\\ -all"));
	answer = answers_look(answers, DNS_TYPE_TXT, SLICE("u.test"));
	cr_assert(slice_is(answer->records[0].text, "k=rsa; p=  x y"));
	cr_assert_eq(answers_look(answers, DNS_TYPE_TXT, SLICE("b.test"))
	    ->status, ANSWER_BOGUS);
	cr_assert_eq(answers_look(answers, DNS_TYPE_MX, SLICE("s.test"))
	    ->status, ANSWER_SERVFAIL);
	cr_assert_eq(answers_look(answers, DNS_TYPE_A, SLICE("l.test"))
	    ->status, ANSWER_SERVFAIL);
	answer = answers_look(answers, DNS_TYPE_TXT, SLICE("a.test"));
	cr_assert(answer->status == ANSWER_NONE && !answer->is_no_name);
	answer = answers_look(answers, DNS_TYPE_TXT, SLICE("nobody.test"));
	cr_assert(answer->status == ANSWER_NONE && answer->is_no_name);
}

Test(answers, a_bad_zone_is_refused_by_line)
{
	static const char *const zones[] = { "a.test", "a.test A",
	    "a.test A 192.0.2.0/24", "a.test A 2001:db8::1",
	    "a.test AAAA 192.0.2.1", "a.test MX mx.test",
	    "a.test MX 65536 mx.test", "a.test SRV 1 2 3 x.test",
	    "a.test TXT \"open", "a.test \033[1m x",
	    "a.test IN", "a.test IN TXT (\n\"x\"\n" };
	struct err err;

	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		struct str zone = STR_INIT;

		str_addf(&zone, "b.test A 192.0.2.1\n%s\n", zones[i]);
		cr_assert_eq(answers_read_zone(answers, (struct slice){
		    zone.buf, zone.len }, &err), -1, "%s", zones[i]);
		cr_assert(strstr(err.text, "line 2: ") == err.text, "%s",
		    err.text);
		str_release(&zone);
	}
}

/* An answer of one TXT record, "hi", to a question for a.test. */
#define WIRE "\x12\x34\x81\x80\0\1\0\1\0\0\0\0" \
	"\1a\4test\0\0\x10\0\1" \
	"\xc0\x0c\0\x10\0\1\0\0\0\x3c\0\3\2hi"

Test(answers, what_a_server_sent)
{
	static const struct {
		enum dns_result		result;
		struct slice		bytes;
		enum answer_status	want;
		bool			is_no_name;
	} rows[] = {
		{ DNS_OK, SLICE(WIRE), ANSWER_INSECURE, false },
		{ DNS_OK, SLICE("\x12\x34\x81\x80\0\1\0\1"), ANSWER_SERVFAIL,
		    false },
		{ DNS_OK, SLICE(""), ANSWER_SERVFAIL, false },
		{ DNS_NONE, SLICE(""), ANSWER_NONE, false },
		{ DNS_NO_NAME, SLICE(""), ANSWER_NONE, true },
		{ DNS_TRY_AGAIN, SLICE(""), ANSWER_SERVFAIL, false },
		{ DNS_BAD, SLICE(""), ANSWER_SERVFAIL, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answers *one = answers_new(arena);
		const struct origin_answer *answer;
		size_t cursor = 0;

		cr_assert_null(answers_look(one, DNS_TYPE_TXT,
		    SLICE("a.test")));
		cr_assert_not_null(answers_next_question(one, &cursor));
		cr_assert_null(answers_next_question(one, &cursor));
		answers_put_wire(one, DNS_TYPE_TXT, SLICE("a.test"),
		    rows[i].result, rows[i].bytes);
		answer = answers_look(one, DNS_TYPE_TXT, SLICE("a.test"));
		cr_expect_eq(answer->status, rows[i].want, "row %zu", i);
		cr_expect_eq(answer->is_no_name, rows[i].is_no_name,
		    "row %zu", i);
		cr_expect_eq(answer->record_count, i == 0 ? 1 : 0);
		if (answer->record_count == 1)
			cr_expect(slice_is(answer->records[0].text, "hi"));
		cursor = 0;
		cr_expect_null(answers_next_question(one, &cursor));
	}
}
