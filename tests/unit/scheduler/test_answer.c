/* test_answer.c - lines of agents, good ones and nonsense
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "scheduler/jobs/answer.h"

Test(answer, a_verdict_is_taken_apart)
{
	struct answer answer;
	struct err err;

	cr_assert_eq(answer_parse(slice_of("D/J/4711/184\t+900\tdeferred "
	    "4.7.1\tmx1.example.net[192.0.2.1]:25\t450 4.7.1 later"), &answer,
	    &err), 0, "%s", err.text);
	cr_expect_eq(answer.kind, ANSWER_VERDICT);
	cr_expect(slice_is(answer.name, "D/J/4711"));
	cr_expect_eq(answer.inode, 4711);
	cr_expect_eq(answer.offset, 184);
	cr_expect(answer.has_next);
	cr_expect_eq(answer.next_s, 900);
	cr_expect_eq(answer.verdict, VERDICT_DEFERRED);
	cr_expect_not(answer.host_trouble);
	cr_expect(slice_is(answer.status, "4.7.1"));
	cr_expect(slice_is(answer.who, "mx1.example.net[192.0.2.1]:25"));
	cr_expect(slice_is(answer.text, "450 4.7.1 later"));
}

Test(answer, every_kind_has_its_word)
{
	static const struct {
		const char	*word;
		enum verdict_kind kind;
		bool		 host_trouble;
	} rows[] = {
		{ "delivered 2.0.0", VERDICT_DELIVERED, false },
		{ "relayed 2.1.5", VERDICT_RELAYED, false },
		{ "expanded 2.0.0", VERDICT_EXPANDED, false },
		{ "deferred 4.3.2", VERDICT_DEFERRED, false },
		{ "deferall 4.4.1", VERDICT_DEFERRED, true },
		{ "failed 5.1.1", VERDICT_FAILED, false },
		{ "failed 4.7.1", VERDICT_FAILED, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str line = STR_INIT;
		struct answer answer;
		struct err err;

		str_addf(&line, "7/9\t-\t%s\t\t", rows[i].word);
		cr_assert_eq(answer_parse(str_slice(&line), &answer, &err), 0,
		    "%s: %s", rows[i].word, err.text);
		cr_expect_eq(answer.verdict, rows[i].kind);
		cr_expect_eq(answer.host_trouble, rows[i].host_trouble);
		cr_expect_not(answer.has_next);
		str_release(&line);
	}
}

Test(answer, remarks)
{
	struct answer answer;
	struct err err;

	cr_assert_eq(answer_parse(SLICE("#hungry"), &answer, &err), 0);
	cr_expect_eq(answer.kind, ANSWER_HUNGRY);
	cr_assert_eq(answer_parse(SLICE("#resync A/12"), &answer, &err), 0);
	cr_expect_eq(answer.kind, ANSWER_RESYNC);
	cr_expect_eq(answer.inode, 12);
	cr_assert_eq(answer_parse(SLICE("#hungry "), &answer, &err), 0);
	cr_expect_eq(answer.kind, ANSWER_REMARK);
	cr_assert_eq(answer_parse(SLICE("#"), &answer, &err), 0);
	cr_expect_eq(answer.kind, ANSWER_REMARK);
	cr_expect_eq(answer_parse(SLICE("#resync "), &answer, &err), -1);
	cr_expect_eq(answer_parse(SLICE("#resync x/y"), &answer, &err), -1);
}

Test(answer, a_connection_has_a_peer_and_words_about_tls)
{
	struct answer answer;
	struct err err;

	cr_assert_eq(answer_parse(SLICE("#connected mx.test[192.0.2.1]:25\t"
	    "TLSv1.3 x 256 bits"), &answer, &err), 0, "%s", err.text);
	cr_expect_eq(answer.kind, ANSWER_CONNECTED);
	cr_expect(slice_is(answer.who, "mx.test[192.0.2.1]:25"));
	cr_expect(slice_is(answer.text, "TLSv1.3 x 256 bits"));
	cr_assert_eq(answer_parse(SLICE("#connected /run/lmtp\t"), &answer,
	    &err), 0, "%s", err.text);
	cr_expect_eq(answer.text.n, 0);
	cr_expect_eq(answer_parse(SLICE("#closed"), &answer, &err), 0);
	cr_expect_eq(answer.kind, ANSWER_CLOSED);
}

Test(answer, nonsense_is_named)
{
	static const char *const rows[] = {
		"#warm ", "#warm maybe", "#warm no", "#warm no \x01",
		"#connected ", "#connected x", "#connected \tx",
		"#connected x\ty\tz", "#connected x\x01\ty",
		"", "x", "hungry", "1/2", "1/2\t-", "1/2\t-\tdelivered 2.0.0",
		"1/2\t-\tdelivered 2.0.0\tw",		/* no text */
		"1\t-\tdelivered 2.0.0\tw\tt",		/* no offset */
		"/2\t-\tdelivered 2.0.0\tw\tt",
		"x/2\t-\tdelivered 2.0.0\tw\tt",
		"0/2\t-\tdelivered 2.0.0\tw\tt",
		"1/0\t-\tdelivered 2.0.0\tw\tt",
		"1/-2\t-\tdelivered 2.0.0\tw\tt",
		"1/4294967296\t-\tdelivered 2.0.0\tw\tt",
		"1/2\t\tdelivered 2.0.0\tw\tt",
		"1/2\t900\tdelivered 2.0.0\tw\tt",
		"1/2\t+\tdelivered 2.0.0\tw\tt",
		"1/2\t+99999999999\tdelivered 2.0.0\tw\tt",
		"1/2\t-\tdelivered\tw\tt",
		"1/2\t-\tDelivered 2.0.0\tw\tt",
		"1/2\t-\tdelivered  2.0.0\tw\tt",
		"1/2\t-\tdelivered 2.0\tw\tt",
		"1/2\t-\tdelivered 3.0.0\tw\tt",
		"1/2\t-\tdelivered 2.0.0.0\tw\tt",
		"1/2\t-\tdelivered 2.1000.0\tw\tt",
		"1/2\t-\tdelivered 2..0\tw\tt",
		"1/2\t-\tdelivered 2.0.0\tw\tt\tu",	/* a tab in the text */
		"1/2\t-\tdelivered 2.0.0\tw\tt\r",
		"1/2\t-\tdelivered 2.0.0\tw\x7f\tt",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer answer;
		struct err err = { "" };

		cr_expect_eq(answer_parse(slice_of(rows[i]), &answer, &err),
		    -1, "%s", rows[i]);
		cr_expect_neq(err.text[0], '\0');
	}
}

Test(answer, bounds)
{
	struct str line = STR_INIT;
	struct answer answer;
	struct err err;

	str_adds(&line, "1/2\t-\tdelivered 2.0.0\tw\t");
	while (line.len < 24 + VERDICT_TEXT_BYTES - 1)
		str_addc(&line, 'x');
	cr_expect_eq(answer_parse(str_slice(&line), &answer, &err), 0);
	str_adds(&line, "xx");
	cr_expect_eq(answer_parse(str_slice(&line), &answer, &err), -1);
	str_reset(&line);
	str_addc(&line, '#');
	while (line.len <= ANSWER_LINE_BYTES_MAX)
		str_addc(&line, 'x');
	cr_expect_eq(answer_parse(str_slice(&line), &answer, &err), -1);
	line.len--;
	cr_expect_eq(answer_parse(str_slice(&line), &answer, &err), 0);
	str_release(&line);
}
