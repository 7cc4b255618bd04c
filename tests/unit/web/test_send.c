/* test_send.c - messages of programs: what they become, and the file of keys
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "web/send/answer.h"
#include "web/send/compose.h"
#include "web/send/key_table.h"
#include "web/send/letter.h"
#include "web/send/taken.h"

/* ---- messages ----------------------------------------------------------- */

/* want NULL: it is refused, and the words have err in them. */
static const struct {
	const char	*body, *query, *from, *rcpts, *want, *err;
} messages[] = {
	{ "From: a@b\nTo: c@d\n\nhi\n", "", "a@b", "c@d ",
	    "From: a@b\nTo: c@d\n\nhi\n", NULL },
	{ "From: a@b\r\nBcc: x@y\r\n\r\nhi", "", "a@b", "x@y ",
	    "From: a@b\n\nhi", NULL },
	{ "Sender: s@t\nFrom: a@b, c@d\nTo: c@d, c@d\nCc: A <e@f>\n\n", "",
	    "s@t", "c@d e@f ", "Sender: s@t\nFrom: a@b, c@d\nTo: c@d, c@d\n"
	    "Cc: A <e@f>\n\n", NULL },
	{ "From: a@b\nSender: s@t\nTo: c@d\n\n", "", "s@t", "c@d ",
	    "From: a@b\nSender: s@t\nTo: c@d\n\n", NULL },
	{ "From: a@b\nTo: c@d\n\n", "from=&to=e%40f&to=g%40h", "", "e@f g@h ",
	    "From: a@b\nTo: c@d\n\n", NULL },
	{ "From: a@b\nTo: c@d", "", "a@b", "c@d ", "From: a@b\nTo: c@d\n\n",
	    NULL },
	{ "X: y\nTo: c@d\n\n", "", NULL, NULL, NULL, "no From" },
	{ "From: a@b\n\n", "", NULL, NULL, NULL, "nobody gets it" },
	{ "From: a@b\nTo: c@d\n\na\rb", "", NULL, NULL, NULL, "CR" },
	{ "From: a@b\nTo: c@d\r\rX: y\n\n", "", NULL, NULL, NULL, "CR" },
	{ "hello\n", "", NULL, NULL, NULL, "header" },
	{ "\n", "", NULL, NULL, NULL, "header" },
	{ "From: a@b\nhello\n\n", "to=c@d", NULL, NULL, NULL, "header" },
	{ "From: a@b\nMessage-ID: x\n\n", "to=c@d", NULL, NULL, NULL,
	    "Message-ID" },
	{ "From: a@b\n\n", "to=c@d&cc=e@f", NULL, NULL, NULL, "cc" },
	{ "From: a@b\n\n", "to=<c@d>x", NULL, NULL, NULL, "to" },
	{ "Resent-To: a@b\nFrom: a@b\n\n", "", NULL, NULL, NULL, "Resent" },
};

Test(send_letter, messages)
{
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		struct str rcpts = STR_INIT;
		struct letter letter;
		struct err err = { "" };
		int result;

		letter_init(&letter);
		result = letter_read_message(&letter, slice_of(
		    messages[i].body), slice_of(messages[i].query), &err);
		cr_expect_eq(result, messages[i].want != NULL ? 0 : -1,
		    "row %zu: %s", i, err.text);
		if (result == 0 && messages[i].want != NULL) {
			for (size_t k = 0; k < letter.rcpt_count; k++)
				str_addf(&rcpts, SLICE_FMT " ",
				    SLICE_ARG(letter.rcpts[k]));
			cr_expect(slice_is(letter.from, messages[i].from),
			    "row %zu", i);
			cr_expect_str_eq(rcpts.buf, messages[i].rcpts);
			cr_expect_str_eq(letter.message.buf,
			    messages[i].want);
		} else if (messages[i].err != NULL) {
			cr_expect(strstr(err.text, messages[i].err) != NULL,
			    "row %zu: %s", i, err.text);
		}
		str_release(&rcpts);
		letter_release(&letter);
	}
}

Test(send_letter, a_key_makes_the_same_id)
{
	char hex[LETTER_KEY_BYTES + 1];
	struct letter letter;
	struct err err;

	memset(hex, 'a', sizeof(hex) - 1);
	hex[sizeof(hex) - 1] = '\0';
	letter_init(&letter);
	cr_assert_eq(letter_read_message(&letter, SLICE("From: a@b\nTo: c@d\n"
	    "Date: x\n\n"), SLICE(""), &err), 0);
	letter_finish(&letter, hex, 0);
	cr_expect_str_eq(letter.message.buf, "Message-ID: <aaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaa.key@b>\nFrom: a@b\nTo: c@d\nDate: x\n\n");
	cr_expect(slice_is(letter.id, "<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aa.key@b>"));
	letter_release(&letter);
}

Test(send_compose, names_and_types)
{
	static const char *const good[] = { "X-Tag", "List-Unsubscribe",
	    "In-Reply-To", "Contents" };
	static const char *const bad[] = { "", "a:b", "a b", "a\n", "Subject",
	    "content-id", "RECEIVED", "Resent-Bcc", "arc-seal",
	    "mime-version", "dkim-signature" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(compose_may_name(slice_of(good[i])), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(compose_may_name(slice_of(bad[i])), "%s",
		    bad[i]);
	cr_expect(compose_is_type(SLICE("image/svg+xml")));
	cr_expect_not(compose_is_type(SLICE("image/")));
	cr_expect_not(compose_is_type(SLICE("image")));
	cr_expect_not(compose_is_type(SLICE("a/b; c=d")));
	cr_expect_not(compose_is_type(SLICE("Multipart/x")));
	cr_expect_not(compose_is_type(SLICE("message/rfc822")));
	cr_expect(compose_is_text(SLICE("gr\xc3\xbc\xc3\x9f")));
	cr_expect_not(compose_is_text(SLICE("\xff")));
	cr_expect_not(compose_is_text(SLICE("\xc2\x85")));
	cr_expect_not(compose_is_text(SLICE("a\tb")));
}

Test(send_compose, fields)
{
	struct str out = STR_INIT;

	compose_field(&out, "Subject", SLICE("plain"));
	compose_field(&out, "Subject", SLICE("gr\xc3\xbc"));
	compose_field(&out, "Subject", SLICE("=?utf-8?q?x?="));
	compose_mailbox(&out, SLICE("A \"B\" \\C"), SLICE("a@b"));
	compose_mailbox(&out, SLICE(""), SLICE("a@b"));
	cr_expect_str_eq(out.buf, "Subject: plain\n"
	    "Subject: =?utf-8?q?gr=C3=BC?=\n"
	    "Subject:\n =?utf-8?q?=3D=3Futf=2D8=3Fq=3Fx=3F=3D?=\n"
	    "\"A \\\"B\\\" \\\\C\" <a@b><a@b>");
	str_release(&out);
}

/* ---- outcomes ----------------------------------------------------------- */

Test(send_answer, refused_ones_in_a_word_and_back)
{
	struct rcpt_outcome outcomes[3] = { { 250, SLICE("ok") },
	    { 550, SLICE("550 no \\x0d") }, { 451, SLICE("") } }, back[3];
	struct arena *arena = arena_new();
	struct str out = STR_INIT;

	answer_pack(&out, outcomes, 3);
	answer_unpack(str_slice(&out), arena, back, 3);
	cr_expect_eq(back[0].code, 250);
	cr_expect_eq(back[1].code, 550);
	cr_expect(slice_is(back[1].text, "550 no \\x0d"));
	cr_expect_eq(back[2].code, 451);
	str_reset(&out);
	answer_pack(&out, outcomes, 1);
	cr_expect_str_eq(out.buf, "-");
	answer_unpack(SLICE("7:550:YQ=="), arena, back, 3);
	cr_expect_eq(back[2].code, 250);
	str_release(&out);
	arena_free(&arena);
	cr_expect_eq(answer_status(550, SLICE("550 5.1.1 x")), 422);
	cr_expect_eq(answer_status(450, SLICE("450 4.7.1 x")), 429);
	cr_expect_eq(answer_status(452, SLICE("452 4.3.1 x")), 503);
	cr_expect_eq(answer_status(421, SLICE("421 4.7.0 x")), 503);
}

/* ---- keys --------------------------------------------------------------- */

#define SUM "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OTHER "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static const struct {
	const char	*line;
	int		 want;
} lines[] = {
	{ "D 5 " SUM " 362fkve3tpfvr0h", -1 },	/* before its B */
	{ "B 5 " SUM " " OTHER " -", 0 },
	{ "D 5 " SUM " 362fkve3tpfvr0h", 0 },
	{ "B 6 " OTHER " " SUM " 0:550:YQ==", 0 },
	{ "D 6 " OTHER " ../x", -1 },
	{ "D 6 " OTHER, -1 },
	{ "D 6 " OTHER " --", -1 },
	{ "D 6 " OTHER " ", -1 },
	{ "B 6 " OTHER " " SUM, -1 },
	{ "B 6 " OTHER " " SUM " - ", -1 },
	{ "B 6 " OTHER " " SUM " \x7f", -1 },
	{ "B 6 " OTHER " xx -", -1 },
	{ "B -6 " OTHER " " SUM " -", -1 },
	{ "B 0 " OTHER " " SUM " -", -1 },
	{ "X 6 " SUM " x", -1 },
	{ "C 6 " SUM, -1 }, { "", -1 }, { "B", -1 }, { "BB 6 " SUM, -1 },
};

Test(send_keys, lines)
{
	struct key_table table;
	struct str out = STR_INIT;

	key_table_init(&table);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		cr_expect_eq(key_table_take(&table, slice_of(lines[i].line)),
		    lines[i].want, "%s", lines[i].line);
	key_table_write(&table, 7, &out);
	cr_expect_str_eq(out.buf, "B 5 " SUM " " OTHER " -\n"
	    "D 5 " SUM " 362fkve3tpfvr0h\n"
	    "B 6 " OTHER " " SUM " 0:550:YQ==\n");
	cr_expect_eq(key_table_take(&table, SLICE("X 6 " OTHER)), 0);
	cr_expect_eq(table.count, 1);
	key_table_expire(&table, 5 + KEYS_FOR_S);
	cr_expect_eq(table.count, 0);
	cr_expect_eq(table.refused_bytes, 0);
	/* one that came again after its day: the last line counts */
	cr_expect_eq(key_table_take(&table, SLICE("B 5 " SUM " " SUM " -")),
	    0);
	cr_expect_eq(key_table_take(&table, SLICE("B 9 " SUM " " OTHER " -")),
	    0);
	cr_expect_eq(TAILQ_FIRST(&table.all)->at_s, 9);
	key_table_release(&table);
	str_release(&out);
}

Test(send_keys, so_many_and_no_more)
{
	struct key_table table;
	struct key_sums sums = { .key = { 0 } };

	key_table_init(&table);
	for (unsigned i = 0; i < KEYS_MAX; i++) {
		memcpy(sums.key, &i, sizeof(i));
		cr_assert_not_null(key_table_add(&table, &sums, 1,
		    SLICE("-")));
	}
	sums.key[31] = 1;
	cr_expect_null(key_table_add(&table, &sums, 1, SLICE("-")));
	key_table_expire(&table, 1 + KEYS_FOR_S);
	cr_expect_not_null(key_table_add(&table, &sums, 1, SLICE("-")));
	key_table_release(&table);
}

/* ---- the journal's word ------------------------------------------------- */

#define AT "\"t\":\"1970-01-01T00:16:40.5Z\""
#define LATE "\"t\":\"1970-01-01T00:20:40Z\""
#define IN(id, t) "{\"v\":1," t ",\"id\":\"" id \
	"\",\"ev\":\"message.accepted\"}\n"
#define ROUTED(id, t) "{\"v\":1," t ",\"id\":\"" id \
	"\",\"ev\":\"message.routed\"}\n"
#define ID "362fkve3tpfvr0h"

Test(send_taken, lines)
{
	static const struct {
		const char		*lines;
		enum taken_answer	 ids, sender;
	} rows[] = {
		{ "", TAKEN_OPEN, TAKEN_NO },
		{ ROUTED(ID, AT), TAKEN_YES, TAKEN_NO },
		{ IN(ID, AT) ROUTED(ID, AT), TAKEN_YES, TAKEN_NO },
		{ IN(ID, AT), TAKEN_OPEN, TAKEN_LATER },
		{ IN(ID, LATE), TAKEN_OPEN, TAKEN_NO },
		{ ROUTED("../x", AT), TAKEN_OPEN, TAKEN_NO },
		{ ROUTED(ID, "\"t\":\"1970-01-01T00:16:00Z\""), TAKEN_OPEN,
		    TAKEN_NO },
		{ "nonsense\n{}\n{\"ev\":1}\n", TAKEN_OPEN, TAKEN_NO },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct taken_question taken = { .at_s = 1000,
		    .answer = TAKEN_OPEN };

		taken_read_ids(&taken, slice_of(rows[i].lines));
		cr_expect_eq(taken.answer, rows[i].ids, "row %zu", i);
		taken_read_sender(&taken, slice_of(rows[i].lines));
		cr_expect_eq(taken.answer, rows[i].sender, "row %zu", i);
	}
	cr_expect(taken_can(SLICE("<a@b>")));
	cr_expect_not(taken_can(SLICE("<a b@c>")));
	cr_expect_not(taken_can(SLICE("a@b")));
	cr_expect_not(taken_can(SLICE("<\"a\"@b>")));
}
