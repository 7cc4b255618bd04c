/* test_message.c - a message file goes in, a control file comes out
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "helper.h"
#include "router/message/message.h"

#define ID "01jd3x8k2mc4n7"

static const char conf_text[] = "host mx.test\n"
    "table aliases file:DIR/aliases\n"
    "domain mx.test { users any }\n"
    "limit received 5\nlimit header 8K\n";

struct trial {
	struct fixture	 fixture;
	struct message	 message;
	struct control_file	 control;
	struct str	 file;
	struct err	 err;
};

static void
trial_open(struct trial *t)
{
	memset(t, 0, sizeof(*t));
	fixture_open(&t->fixture, conf_text, "list: ann, b@far.test\n"
	    "owner-list: boss\nlost: :include:DIR/none\n", NULL, NULL);
	message_init(&t->message);
	str_init(&t->file);
}

static void
trial_close(struct trial *t)
{
	message_release(&t->message);
	str_release(&t->file);
	fixture_close(&t->fixture);
}

static void
seal(struct str *out, const char *text)
{
	str_reset(out);
	str_addf(out, "complete %012zu %08" PRIx32 "\n", strlen(text),
	    crc32c(0, text, strlen(text)));
	str_adds(out, text);
}

/* Plan a file with its first line; then read the plan back. */
static enum message_fate
plan(struct trial *t, const char *text)
{
	enum message_fate fate;

	seal(&t->file, text);
	message_reset(&t->message);
	fate = message_route(&t->message, t->fixture.router,
	    str_slice(&t->file), 4711, NULL, &t->err);
	if (fate == MESSAGE_ROUTED)
		cr_assert_eq(control_file_parse(t->fixture.arena,
		    str_slice(&t->message.control_text), &t->control, &t->err),
		    0,
		    "%s", t->err.text);
	return fate;
}

#define RECEIVED "Received: from c.test ([192.0.2.1]:99 helo=c.test)\n" \
	"\tby mx.test (zmailer) with ESMTP id " ID "\n" \
	"\tfor <b@far.test>; "

static const char relayed[] = "id " ID "\nexternal\n"
    "rcvdfrom c.test ([192.0.2.1]:99 helo=c.test)\nwith ESMTP\n"
    "from <a@src.test>\nto <b@far.test>\nenv-end\n"
    "Return-Path: <x@y>\nSubject:  two  blanks\n\tfold \nBcc: secret\n"
    "X-Odd:\xff\xfe\nTo: b@far.test\n\nbody\n.dot\n";

Test(message, a_relayed_header_keeps_its_bytes)
{
	struct trial t;
	struct slice header, rest;

	trial_open(&t);
	cr_assert_eq(plan(&t, relayed), MESSAGE_ROUTED, "%s", t.err.text);
	cr_assert_eq(t.control.group_count, 1);
	header = t.control.groups[0].header;
	cr_assert(slice_starts(header, RECEIVED), SLICE_FMT,
	    SLICE_ARG(header));
	rest = slice_from(header, sizeof(RECEIVED) - 1);
	rest = slice_from(rest, slice_find(rest, '\n') + 1);
	cr_expect(slice_is(rest, "Return-Path: <x@y>\n"
	    "Subject:  two  blanks\n\tfold \nBcc: secret\n"
	    "X-Odd:\xff\xfe\nTo: b@far.test\n"), SLICE_FMT,
	    SLICE_ARG(rest));
	cr_expect(slice_is(slice_from(str_slice(&t.file),
	    t.control.body_offset),
	    "body\n.dot\n"));
	cr_expect_eq(t.control.size_bytes, header.n + 1 + 10);
	cr_expect_eq(t.control.inode, 4711);
	cr_expect_str_eq(t.control.id, ID);
	cr_expect(slice_is(t.control.groups[0].sender, "a@src.test"));
	cr_expect(slice_is(t.control.groups[0].rcpts[0].user, "b@far.test"));
	trial_close(&t);
}

/* Who shares agents' time with whom: the user, else the client, else the
 * sender's domain. */
Test(message, the_source_is_who_brought_it)
{
	static const struct { const char *lines, *want; } rows[] = {
		{ "user bob\nrcvdfrom c.test ([192.0.2.1]:99 helo=c.test)\n",
		    "bob" },
		{ "rcvdfrom c.test ([192.0.2.1]:99 helo=c.test)\n",
		    "192.0.2.1" },
		{ "rcvdfrom c.test ([2001:db8::1]:99 helo=c.test)\n",
		    "2001:db8::1" },
		{ "", "src.test" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = STR_INIT;
		struct trial t;

		trial_open(&t);
		str_addf(&text, "id " ID "\nexternal\n%sfrom <a@src.test>\n"
		    "to <b@far.test>\nenv-end\nSubject: x\n\nbody\n",
		    rows[i].lines);
		cr_assert_eq(plan(&t, text.buf), MESSAGE_ROUTED, "%s",
		    t.err.text);
		cr_expect(slice_is(t.control.source, rows[i].want), "row %zu: "
		    SLICE_FMT, i, SLICE_ARG(t.control.source));
		trial_close(&t);
		str_release(&text);
	}
}

/* Whoever writes Precedence can only make the mail wait. */
Test(message, precedence_lowers_the_priority_that_nobody_asked_for)
{
	static const struct { const char *terms, *field; int want; } rows[] = {
		{ "", "Precedence: bulk\n", -2 },
		{ "", "precedence:  List \n", -1 },
		{ "", "Precedence: junk\n", -3 },
		{ "", "Precedence: special-delivery\n", 0 },
		{ "", "X-Precedence: bulk\n", 0 },
		{ "terms priority=4\n", "Precedence: bulk\n", 4 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = STR_INIT;
		struct trial t;

		trial_open(&t);
		str_addf(&text, "id " ID "\nexternal\n%sfrom <a@src.test>\n"
		    "to <b@far.test>\nenv-end\n%sSubject: x\n\nbody\n",
		    rows[i].terms, rows[i].field);
		cr_assert_eq(plan(&t, text.buf), MESSAGE_ROUTED, "%s",
		    t.err.text);
		cr_expect_eq(t.control.terms.priority, rows[i].want, "row %zu",
		    i);
		trial_close(&t);
		str_release(&text);
	}
}

Test(message, a_local_submission_is_completed)
{
	struct trial t;
	struct slice header;

	trial_open(&t);
	cr_assert_eq(plan(&t, "id " ID "\nuser ann\nfrom ann\nto bob\n"
	    "env-end\nReturn-Path: <old@x>\nBcc: secret\nSubject: x\n"
	    "resent-bcc: y\n\nhi\n"), MESSAGE_ROUTED, "%s", t.err.text);
	header = t.control.groups[0].header;
	cr_expect(memmem(header.p, header.n, "old@x", 5) == NULL);
	cr_expect(memmem(header.p, header.n, "secret", 6) == NULL);
	cr_expect(memmem(header.p, header.n, "resent-bcc", 10) == NULL);
	cr_expect(memmem(header.p, header.n, "\nDate: ", 7) != NULL);
	cr_expect(memmem(header.p, header.n, "\nFrom: ann@mx.test\n", 19)
	    != NULL);
	cr_expect(memmem(header.p, header.n, "\nMessage-Id: <" ID
	    "@mx.test>\n", 37) != NULL);
	cr_expect(slice_is(t.control.msgid, "<" ID "@mx.test>"));
	cr_expect(slice_is(t.control.groups[0].sender, "ann@mx.test"));
	cr_expect_eq(t.control.groups[0].rcpts[0].host.n, 0);
	trial_close(&t);
}

Test(message, recipients_of_the_header)
{
	static const struct { const char *header, *want; } rows[] = {
		{ "To: b@far.test, Ann <ann@mx.test>\nCc: (x) c@far.test\n"
		    "Bcc: d@far.test\n",
		    "b@far.test ann c@far.test d@far.test" },
		{ "To: b@far.test\nResent-To: r@far.test\n", "r@far.test" },
		{ "To: group: g@far.test, h@far.test;\n",
		    "g@far.test h@far.test" },
		{ "Subject: none\n", "unlisted-recipients" },
		{ "To: undisclosed-recipients:;\n", "unlisted-recipients" },
		{ "To: b@far.test, <bad, b@far.test\n", NULL },
	};
	struct trial t;
	struct str text = STR_INIT, got = STR_INIT;

	trial_open(&t);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		str_reset(&text);
		str_addf(&text, "id " ID "\nfrom ann\nheader-recipients\n"
		    "env-end\n%s\nbody\n", rows[i].header);
		cr_assert_eq(plan(&t, text.buf), MESSAGE_ROUTED, "%s",
		    t.err.text);
		str_reset(&got);
		for (size_t k = 0; k < t.control.groups[0].rcpt_count; k++)
			str_addf(&got, "%s" SLICE_FMT, k ? " " : "",
			    SLICE_ARG(t.control.groups[0].rcpts[k].user));
		if (rows[i].want != NULL)
			cr_expect_str_eq(got.buf, rows[i].want, "%s: got %s",
			    rows[i].header, got.buf);
		else
			cr_expect(slice_is(t.control.groups[0].rcpts[1].host,
			    "badaddress"), "%s", got.buf);
	}
	str_release(&text);
	str_release(&got);
	trial_close(&t);
}

Test(message, a_loop_and_a_large_header_come_back)
{
	struct trial t;
	struct str text = STR_INIT;

	trial_open(&t);
	for (int count = 5; count <= 6; count++) {
		str_reset(&text);
		str_adds(&text, "id " ID "\nexternal\nfrom <a@src.test>\n"
		    "to <ann@mx.test>\nto <b@far.test>\nenv-end\n");
		for (int i = 0; i < count; i++)
			str_adds(&text, "Received: by x\n");
		str_adds(&text, "\nbody\n");
		cr_assert_eq(plan(&t, text.buf), MESSAGE_ROUTED);
		cr_expect_eq(t.control.groups[0].rcpt_count, 2);
		cr_expect_eq(slice_is(t.control.groups[0].rcpts[1].host,
		    "loopexceeded"), count > 5);
	}
	str_reset(&text);
	str_adds(&text, "id " ID "\nexternal\nfrom <a@src.test>\n"
	    "to <ann@mx.test>\nenv-end\n");
	for (int i = 0; i < 1000; i++)
		str_adds(&text, "X-Filler: aaaaaaaaaa\n");
	str_adds(&text, "\nbody\n");
	cr_assert_eq(plan(&t, text.buf), MESSAGE_ROUTED);
	cr_expect(slice_is(t.control.groups[0].rcpts[0].host, "headerlimit"));
	cr_expect(t.control.groups[0].header.n < 9000);
	str_release(&text);
	trial_close(&t);
}

Test(message, a_list_with_an_owner_is_a_group_of_its_own)
{
	struct trial t;

	trial_open(&t);
	cr_assert_eq(plan(&t, "id " ID "\nexternal\nfrom <a@src.test>\n"
	    "to <zoe@mx.test>\nto <list@mx.test>\nenv-end\nTo: x\n\n"),
	    MESSAGE_ROUTED, "%s", t.err.text);
	cr_assert_eq(t.control.group_count, 2);
	cr_expect(slice_is(t.control.groups[0].sender, "a@src.test"));
	cr_expect_eq(t.control.groups[0].rcpt_count, 1);
	cr_expect(slice_is(t.control.groups[1].sender, "owner-list@mx.test"));
	cr_expect_eq(t.control.groups[1].rcpt_count, 2);
	cr_expect(slice_is(t.control.errors_to, "a@src.test"));

	cr_assert_eq(plan(&t, "id " ID "\nchannel error\n"
	    "to <list@mx.test>\nenv-end\nTo: x\n\n"), MESSAGE_ROUTED);
	cr_assert_eq(t.control.group_count, 1);
	cr_expect_eq(t.control.groups[0].sender.n, 0);
	cr_expect_eq(t.control.errors_to.n, 0);
	trial_close(&t);
}

Test(message, what_is_broken_and_what_must_wait)
{
	static const struct {
		const char		*text;
		enum message_fate	 fate;
		const char		*why;
	} rows[] = {
		{ "id " ID "\nfrom <a@b.test>\nto <lost@mx.test>\n"
		    "env-end\n\n", MESSAGE_DEFERRED, "include" },
		{ "id " ID "\nnonsense\nenv-end\n\n", MESSAGE_BROKEN,
		    "badenvelope" },
		{ "id " ID "\nfrom <a@b.test>\n", MESSAGE_BROKEN,
		    "badenvelope" },
		{ "", MESSAGE_BROKEN, "badenvelope" },
		{ "id " ID "\nchannel error\nheader-recipients\nenv-end\n\n",
		    MESSAGE_BROKEN, "norecipients" },
	};
	struct trial t;

	trial_open(&t);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(plan(&t, rows[i].text), rows[i].fate, "%s",
		    rows[i].text);
		cr_expect_str_eq(t.message.why, rows[i].why);
		cr_expect(t.err.text[0] != 0);
	}
	trial_close(&t);
}

Test(message, a_file_that_does_not_fit_its_first_line_is_incomplete)
{
	struct trial t;
	size_t n;

	trial_open(&t);
	cr_assert_eq(plan(&t, relayed), MESSAGE_ROUTED);
	n = t.file.len;
	for (size_t cut = 9; cut < n; cut++) {
		char *exact = mem_alloc(cut, 1);

		memcpy(exact, t.file.buf, cut);
		message_reset(&t.message);
		cr_assert_eq(message_route(&t.message, t.fixture.router,
		    (struct slice){ exact, cut }, 1, NULL, &t.err),
		    MESSAGE_BROKEN, "cut at %zu", cut);
		cr_assert_str_eq(t.message.why, "incomplete");
		mem_free(&exact);
	}
	t.file.buf[n - 2] ^= 1;
	message_reset(&t.message);
	cr_expect_eq(message_route(&t.message, t.fixture.router,
	    str_slice(&t.file), 1, NULL, &t.err), MESSAGE_BROKEN);
	cr_expect_str_eq(t.message.why, "incomplete");

	/* written by a person, without that line */
	message_reset(&t.message);
	cr_expect_eq(message_route(&t.message, t.fixture.router,
	    slice_of(relayed), 1, NULL, &t.err), MESSAGE_ROUTED);
	trial_close(&t);
}

Test(message, a_broken_line_stays_in_the_header)
{
	struct trial t;

	trial_open(&t);
	cr_assert_eq(plan(&t, "id " ID "\nexternal\nfrom <a@b.test>\n"
	    "to <ann@mx.test>\nenv-end\nFrom a@b.test Fri Nov 20\nSubject: x\n"
	    "no field here\n of ours\nTo: y\n\nbody\n"),
	    MESSAGE_ROUTED);
	cr_expect(slice_is(slice_from(str_slice(&t.file),
	    t.control.body_offset),
	    "body\n"));
	cr_expect(slice_ends(t.control.groups[0].header,
	    "+0000\nSubject: x\nno field here\n of ours\nTo: y\n"));

	cr_assert_eq(plan(&t, "id " ID "\nexternal\nfrom <a@b.test>\n"
	    "to <ann@mx.test>\nenv-end\nno field here\nTo: y\n\nz\n"),
	    MESSAGE_ROUTED);
	cr_expect(slice_is(slice_from(str_slice(&t.file),
	    t.control.body_offset),
	    "no field here\nTo: y\n\nz\n"));
	cr_expect(slice_ends(t.control.groups[0].header, "+0000\n"));

	cr_assert_eq(plan(&t, "id " ID "\nexternal\nfrom <a@b.test>\n"
	    "to <ann@mx.test>\nenv-end\nSubject: no line end"),
	    MESSAGE_ROUTED);
	cr_expect(slice_ends(t.control.groups[0].header,
	    "\nSubject: no line end\n"));
	trial_close(&t);
}

/* ---- the trace field ------------------------------------------------- */

Test(received, no_byte_of_the_client_gets_out_of_its_comment)
{
	static const struct { const char *from, *want; } rows[] = {
		{ "c.test ([192.0.2.1]:25 helo=c.test)",
		    "from c.test ([192.0.2.1]:25 helo=c.test)\n\t" },
		{ "[192.0.2.1] (x)", "from [192.0.2.1] (x)\n\t" },
		{ "c.test", "from c.test\n\t" },
		{ "c.test (helo=a) by evil; (x)",
		    "from c.test (helo=a\\) by evil; \\(x)\n\t" },
		{ "a(b c.test (x)",
		    "from unknown (a\\(b c.test \\(x\\))\n\t" },
		{ "c.test (helo=\\)", "from c.test (helo=\\\\)\n\t" },
		{ "c.test (\xc3\xbc\x7f)", "from c.test (\?\?\?)\n\t" },
		{ "evil;by (x)", "from unknown (evil;by \\(x\\))\n\t" },
		{ "", "" },
	};
	struct envelope envelope = { .id = ID, .with = SLICE("ESMTP") };
	struct str got = STR_INIT, want = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		envelope.rcvdfrom = slice_of(rows[i].from);
		str_reset(&got);
		received_add(&got, &envelope, "mx.test");
		str_reset(&want);
		str_addf(&want, "Received: %sby mx.test (zmailer) with ESMTP "
		    "id " ID "; ", rows[i].want);
		cr_expect(slice_starts(str_slice(&got), want.buf),
		    "got %s want %s", got.buf, want.buf);
		cr_expect_eq(got.buf[got.len - 1], '\n');
	}
	str_release(&got);
	str_release(&want);
}

Test(received, a_long_helo_is_cut_and_a_strange_protocol_left_out)
{
	struct envelope envelope = { .id = ID, .with = SLICE("E SMTP") };
	struct str from = STR_INIT, got = STR_INIT;

	str_adds(&from, "c.test (helo=");
	for (int i = 0; i < 3000; i++)
		str_addc(&from, '(');
	str_addc(&from, ')');
	envelope.rcvdfrom = str_slice(&from);
	received_add(&got, &envelope, "mx.test");
	cr_expect(got.len < 998);
	cr_expect(strstr(got.buf, "with") == NULL);
	str_release(&from);
	str_release(&got);
}

Test(received, several_recipients_do_not_learn_of_each_other)
{
	struct envelope_rcpt rcpts[2] = {
		{ .path = { SLICE("a"), SLICE("x.test") } },
		{ .path = { SLICE("b"), SLICE("x.test") } } };
	struct envelope envelope = { .id = ID, .rcpts = rcpts,
	    .rcpt_count = 2 };
	struct str got = STR_INIT;

	received_add(&got, &envelope, "mx.test");
	cr_expect(strstr(got.buf, "for <") == NULL);
	envelope.rcpt_count = 1;
	received_add(&got, &envelope, "mx.test");
	cr_expect(strstr(got.buf, "for <a@x.test>;") != NULL);
	str_release(&got);
}
