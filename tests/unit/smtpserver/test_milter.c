/* test_milter.c - packets of the milter protocol, changes to a message
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "smtpserver/session/filter/said.h"
#include "smtpserver/milter/filter.h"
#include "smtpserver/milter/hungry.h"
#include "smtpserver/milter/packet.h"

Test(milter, a_packet_there_and_back)
{
	struct str out = STR_INIT;
	struct packet packet;
	struct slice text;
	struct err err;
	uint32_t number;
	size_t used, start = packet_begin(&out, MILTER_HEADER);

	packet_add_text(&out, SLICE("Subject"));
	packet_add_number(&out, 0x01020304);
	packet_end(&out, start);
	for (size_t n = 0; n < out.len; n++)
		cr_expect_eq(packet_read(slice_first(str_slice(&out), n),
		    &packet, &used, &err), PACKET_PART);
	cr_assert_eq(packet_read(str_slice(&out), &packet, &used, &err),
	    PACKET_WHOLE);
	cr_expect_eq(used, out.len);
	cr_expect_eq(packet.letter, 'L');
	cr_expect(packet_text(&packet.data, &text));
	cr_expect(slice_is(text, "Subject"));
	cr_expect(packet_number(&packet.data, &number));
	cr_expect_eq(number, 0x01020304);
	cr_expect(!packet_text(&packet.data, &text));
	str_release(&out);
}

Test(milter, bad_lengths)
{
	static const struct {
		struct slice		in;
		enum packet_found	want;
	} rows[] = {
		{ SLICE("\0\0\0\0c"), PACKET_BAD },
		{ SLICE("\xff\xff\xff\xff" "c"), PACKET_BAD },
		{ SLICE("\0\x10\0\x01" "c"), PACKET_BAD },
		{ SLICE("\0\0\0\x01"), PACKET_PART },
		{ SLICE("\0\0\0\x01" "c"), PACKET_WHOLE },
	};
	struct packet packet;
	struct err err;
	size_t used;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(packet_read(rows[i].in, &packet, &used, &err),
		    rows[i].want, "row %zu", i);
}

Test(milter, replies_in_its_own_words)
{
	static const struct {
		struct slice in;
		unsigned code;
		const char *status, *text;
	} rows[] = {
		{ SLICE("550 5.7.1 no\0"), 550, "5.7.1", "no" },
		{ SLICE("451 later\0"), 451, "", "later" },
		{ SLICE("550 4.7.1 x\0"), 550, "", "4.7.1 x" },
		{ SLICE("554\0"), 554, "", "" },
		{ SLICE("550 5.7.1 a\r\n550 b\0"), 550, "5.7.1", "a" },
		{ SLICE("550 5.7.1 \033[2J\0"), 550, "5.7.1", "?[2J" },
		{ SLICE("250 ok\0"), 0, "", "" },
		{ SLICE("5\0"), 0, "", "" },
		{ SLICE("550 unterminated"), 0, "", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = STR_INIT;
		struct slice status = { NULL, 0 };
		unsigned code = 0;
		bool is_reply = packet_reply(rows[i].in, &code, &status,
		    &text);

		cr_expect_eq(is_reply, rows[i].code != 0, "row %zu", i);
		if (is_reply) {
			cr_expect_eq(code, rows[i].code);
			cr_expect(slice_is(status, rows[i].status),
			    "row %zu", i);
			cr_expect_str_eq(text.buf, rows[i].text);
		}
		str_release(&text);
	}
}

/* A draft as a session leaves it. */
static int
draft_of(const char *message)
{
	FILE *file = tmpfile();
	int fd = dup(fileno(file));

	fclose(file);
	dprintf(fd, "%30s\nid 361g9eyp5bafph4\nfrom <a@b.test>\n"
	    "to <c@d.test>\nenv-end\n%s", "", message);
	return fd;
}

static void
print(const struct filter_mail *mail, struct str *out)
{
	str_reset(out);
	for (size_t i = 0; i < mail->field_count; i++) {
		str_add_slice(out, mail->fields[i].name);
		str_addc(out, ':');
		str_add_slice(out, mail->fields[i].value);
		str_addc(out, '|');
	}
}

Test(milter, header_changes)
{
	int fd = draft_of("A: 1\nB: 2\n\tmore\nA: 3\n\nbody\n");
	struct str out = STR_INIT;
	struct filter_mail mail;
	struct err err;

	cr_assert_eq(filter_mail_open(&mail, fd, &err), 0, "%s", err.text);
	cr_expect(slice_is(mail.body, "body\n"));
	cr_expect(!mail.is_changed);
	filter_mail_change(&mail, 2, SLICE("a"), SLICE("three"));
	filter_mail_change(&mail, 1, SLICE("B"), SLICE(""));
	filter_mail_insert(&mail, 0, SLICE("First"), SLICE("x\r\n y"));
	filter_mail_add(&mail, SLICE("Last"), SLICE("a\r\nEvil: 1"));
	filter_mail_add(&mail, SLICE("Bad Name"), SLICE("x"));
	filter_mail_add(&mail, SLICE("Bad:"), SLICE("x"));
	filter_mail_change(&mail, 1, SLICE("New"), SLICE("n"));
	print(&mail, &out);
	cr_expect_str_eq(out.buf, "First: x\n y|A: 1|A: three|Last: a|"
	    "New: n|");
	cr_expect(mail.is_changed);
	str_release(&out);
	filter_mail_close(&mail);
	close(fd);
}

Test(milter, odd_messages)
{
	static const struct { const char *in, *fields, *body; } rows[] = {
		{ "", "", "" },
		{ "\n", "", "" },
		{ "\nbody", "", "body" },
		{ "A: 1\n", "A: 1|", "" },
		{ "A: 1", "A: 1|", "" },
		{ "no colon\n\nb", "", "no colon\n\nb" },
		{ "A: 1\nno colon\n\nb", "A: 1|", "no colon\n\nb" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = draft_of(rows[i].in);
		struct str out = STR_INIT;
		struct filter_mail mail;
		struct err err;

		cr_assert_eq(filter_mail_open(&mail, fd, &err), 0,
		    "row %zu: %s", i, err.text);
		print(&mail, &out);
		cr_expect_str_eq(out.buf, rows[i].fields, "row %zu: %s", i,
		    out.buf);
		cr_expect(slice_is(mail.body, rows[i].body), "row %zu", i);
		str_release(&out);
		filter_mail_close(&mail);
		close(fd);
	}
}

Test(milter, envelope_changes)
{
	int fd = draft_of("A: 1\n\nbody\n");
	struct filter_mail mail;
	struct err err;

	cr_assert_eq(filter_mail_open(&mail, fd, &err), 0, "%s", err.text);
	cr_expect_eq(filter_mail_add_rcpt(&mail, SLICE("<e@f.test>"), &err),
	    0);
	cr_expect_eq(filter_mail_add_rcpt(&mail, SLICE("e@F.test"), &err), 0);
	cr_expect_eq(mail.envelope.rcpt_count, 2);
	cr_expect_eq(filter_mail_add_rcpt(&mail, SLICE("<a b>"), &err), -1);
	cr_expect_eq(filter_mail_add_rcpt(&mail, SLICE("<>"), &err), -1);
	filter_mail_delete_rcpt(&mail, SLICE("<c@D.test>"));
	cr_expect_eq(mail.envelope.rcpt_count, 1);
	cr_expect_eq(filter_mail_set_from(&mail, SLICE("<>"), &err), 0);
	cr_expect(mail.envelope.is_error);
	filter_mail_close(&mail);
	close(fd);
}

Test(milter, answers_of_the_helper)
{
	static const struct { const char *in; int want; } rows[] = {
		{ "pass", 0 }, { "pass freeze=milter", 0 },
		{ "pass file=new/A/x bytes=12 crc=00ff00ff", 0 },
		{ "pass file=x", -1 }, { "pass what", -1 },
		{ "pass file=x bytes=1 crc=00FF00FF", -1 },
		{ "refuse 550 5.7.1 no way", 0 }, { "refuse 250 2.0.0 x", -1 },
		{ "refuse 550", -1 }, { "discard", 0 }, { "", -1 },
		{ "perhaps", -1 },
		{ "pass said=fail:unix:/a said=freeze:b freeze=milter", 0 },
		{ "pass freeze=milter said=fail:a", -1 },
		{ "discard said=discard:inet:h:1", 0 },
		{ "refuse said=refuse:a 450 4.7.1 x", 0 },
		{ "refuse said=refuse:a", -1 },
	};
	struct filter_verdict verdict;
	struct str said = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(filter_answer_parse(slice_of(rows[i].in),
		    &verdict), rows[i].want, "%s", rows[i].in);
	filter_answer_parse(SLICE("refuse 550 5.7.1 no way"), &verdict);
	cr_expect_eq(verdict.code, 550);
	cr_expect_str_eq(verdict.text, "no way");
	cr_expect_eq(verdict.said.n, 0);
	cr_expect_eq(filter_answer_parse(SLICE("refuse said=fail:unix:/a+20b  "
	    "said=refuse:unix:/c said=odd:/d said=pass said=pass:+0A 550 "
	    "5.7.1 said=no"), &verdict), 0);
	cr_expect_str_eq(verdict.text, "said=no");
	said_take(&said, "milter", verdict.said);
	cr_expect_str_eq(said.buf, "milter\x1funix:/a b\x1f" "fail\n"
	    "milter\x1funix:/c\x1frefuse\n");
	str_release(&said);
}

/* The last word of each; a line that is none hides no other. */
Test(milter, what_was_said_is_found)
{
	struct slice all = SLICE("milter\x1f" "a\x1f" "fail\nmilter\n\x1f\n"
	    "content-filter\x1f" "a\x1fpass\nmilter\x1f" "a\x1fpass");

	cr_expect(slice_is(said_find(all, "milter", SLICE("a")), "pass"));
	cr_expect(slice_is(said_find(all, "content-filter", SLICE("a")),
	    "pass"));
	cr_expect_eq(said_find(all, "milter", SLICE("b")).n, 0);
	cr_expect_eq(said_find(SLICE(""), "milter", SLICE("a")).n, 0);
}

Test(milter, what_a_content_filter_says)
{
	static const struct { const char *in; int want; const char *out; }
	    rows[] = {
		{ "0", 0, "pass" }, { "0 250 2.0.0 fine", 0, "pass" },
		{ "-0 x", 0, "pass" },
		{ "-1 554 5.7.1 no", 0, "refuse 554 5.7.1 no" },
		{ "-1 451 4.7.1 no", 0, "refuse 451 4.7.1 no" },
		{ "-1 554 4.7.1 no", 0, "refuse 554 5.7.1 4.7.1 no" },
		{ "-7 no", 0, "refuse 552 5.7.1 no" },
		{ "-7", 0, "refuse 552 5.7.1 refused by a content filter" },
		{ "-1 554 a\rb", 0, "refuse 554 5.7.1 a" },
		{ "-1 554 \033[2J", 0, "refuse 554 5.7.1 ?[2J" },
		{ "-1 250 x", 0, "refuse 552 5.7.1 250 x" },
		{ "951 x", 0, "pass freeze=content-951 because it "
		    "said 951 x" },
		{ "", -1, "" }, { "x", -1, "" }, { "-", -1, "" },
		{ "99999999999", -1, "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct filter_verdict verdict;
		struct str out = STR_INIT;

		cr_expect_eq(hungry_verdict(slice_of(rows[i].in), &out),
		    rows[i].want, "row %zu", i);
		cr_expect_str_eq(out.buf, rows[i].out, "row %zu", i);
		if (rows[i].want == 0)
			cr_expect_eq(filter_answer_parse(str_slice(&out),
			    &verdict), 0, "row %zu", i);
		str_release(&out);
	}
}
