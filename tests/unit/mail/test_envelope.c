/* test_envelope.c - envelope lines, both ways
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "mail/envelope.h"

#define ID "id 0123456789abc\n"

static int
parse(struct arena *arena, const char *text, struct envelope *out,
    struct err *err)
{
	return envelope_parse(arena, slice_of(text), out, err);
}

Test(envelope, what_is_written_is_read)
{
	struct envelope_rcpt rcpts[2] = {
		{ .path = { SLICE("bob"), SLICE("example.net") },
		    .notify = DSN_NOTIFY_SUCCESS | DSN_NOTIFY_FAILURE,
		    .orcpt = SLICE("rfc822;bob+2Bx@example.net") },
		{ .path = { SLICE("\"a b\""), SLICE("[192.0.2.1]") } },
	};
	struct envelope in = { .is_external = true,
	    .is_to_sign = true,
	    .from = { SLICE("alice"), SLICE("example.org") },
	    .rcvdfrom = SLICE("mx ([192.0.2.9]:1234 helo=x)"),
	    .with = SLICE("ESMTPS"), .bodytype = SLICE("8BITMIME"),
	    .user = SLICE("alice"), .envid = SLICE("QQ314159"),
	    .ret = DSN_RET_HDRS, .dsn_of = SLICE("0123456789xyz"),
	    .rcpts = rcpts, .rcpt_count = 2 }, out;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err = { "" };

	memcpy(in.id, "0123456789abc", 14);
	cr_assert_eq(envelope_add(&text, &in, &err), 0, "%s", err.text);
	str_adds(&text, "Subject: x\n\nbody\n");
	cr_assert_eq(envelope_parse(arena, str_slice(&text), &out, &err), 0,
	    "%s\n%s", err.text, text.buf);
	cr_expect_str_eq(out.id, in.id);
	cr_expect(out.is_external && out.is_to_sign);
	cr_expect(!out.is_error && !out.header_rcpts);
	cr_expect(path_equal(&out.from, &in.from));
	cr_expect(slice_equal(out.rcvdfrom, in.rcvdfrom));
	cr_expect(slice_equal(out.with, in.with));
	cr_expect(slice_equal(out.bodytype, in.bodytype));
	cr_expect(slice_equal(out.user, in.user));
	cr_expect(slice_equal(out.envid, in.envid));
	cr_expect(slice_equal(out.dsn_of, in.dsn_of));
	cr_expect_eq(out.ret, DSN_RET_HDRS);
	cr_assert_eq(out.rcpt_count, 2);
	cr_expect_eq(out.rcpts[0].notify, rcpts[0].notify);
	cr_expect(slice_equal(out.rcpts[0].orcpt, rcpts[0].orcpt));
	cr_expect_eq(out.rcpts[1].notify, 0);
	cr_expect_eq(out.rcpts[1].orcpt.n, 0);
	cr_expect(path_equal(&out.rcpts[1].path, &rcpts[1].path));
	cr_expect(slice_starts(slice_from(str_slice(&text), out.header_offset),
	    "Subject: x"));
	str_release(&text);
	arena_free(&arena);
}

Test(envelope, bad_lines_are_refused)
{
	static const struct { const char *in, *err; } rows[] = {
		{ "", "no env-end" },
		{ "to <b@x.org>\n", "no env-end" },
		{ "frm <a@x.org>\nto <b@x.org>\nenv-end\n",
		    "envelope line 1: unknown keyword 'frm'" },
		{ ID ID "to <b@x.org>\nenv-end\n", "'id' a second time" },
		{ "from <a@x.org>\nfrom <c@x.org>\nto <b@x.org>\nenv-end\n",
		    "envelope line 2: 'from' a second time" },
		{ "from <a@x.org>\nchannel error\nto <b@x.org>\nenv-end\n",
		    "both" },
		{ "from <a@x.org>\nenv-end\n", "no recipient" },
		{ "env-end\n", "no recipient" },
		{ "sign rsa\nto <b@x.org>\nenv-end\n", "takes no value" },
		{ "external yes\nto <b@x.org>\nenv-end\n", "takes no value" },
		{ "from\nto <b@x.org>\nenv-end\n", "needs a value" },
		{ "to <b@x.org>\n\nenv-end\n", "empty line" },
		{ "to <b@x.org> x\nenv-end\n", "line 1" },
		{ "to <>\nenv-end\n", "line 1" },
		{ "to <b@x.org>\r\nenv-end\n", "control character \\x0d" },
		{ "with A B\nto <b@x.org>\nenv-end\n", "one word" },
		{ "with A\tB\nto <b@x.org>\nenv-end\n", "control" },
		{ "bodytype 9BIT\nto <b@x.org>\nenv-end\n", "body type" },
		{ "channel smtp\nto <b@x.org>\nenv-end\n", "channel" },
		{ "id OIL\nto <b@x.org>\nenv-end\n", "spool id" },
		{ "report-of 1\nto <b@x.org>\nenv-end\n", "spool id" },
		{ "todsn NOTIFY=NEVER\nenv-end\n", "without its 'to'" },
		{ "todsn NOTIFY=NEVER\ntodsn NOTIFY=NEVER\nto <b@x.org>\n"
		    "env-end\n", "without its 'to'" },
		{ "todsn NOTIFY=NEVER,SUCCESS\nto <b@x.org>\nenv-end\n",
		    "line 1" },
		{ "todsn FOO=1\nto <b@x.org>\nenv-end\n", "FOO" },
		{ "todsn ORCPT=nonsense\nto <b@x.org>\nenv-end\n", "line 1" },
		{ "notaryret ALL\nto <b@x.org>\nenv-end\n", "line 1" },
		{ "envid a=b\nto <b@x.org>\nenv-end\n", "line 1" },
		{ "To: <b@x.org>\nenv-end\n", "unknown keyword" },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct envelope out;
		struct err err = { "" };

		cr_expect_eq(parse(arena, rows[i].in, &out, &err), -1, "%s",
		    rows[i].in);
		cr_expect_not_null(strstr(err.text, rows[i].err),
		    "%s: '%s' has no '%s'", rows[i].in, err.text, rows[i].err);
	}
	arena_free(&arena);
}

Test(envelope, good_oddities_are_taken)
{
	static const struct { const char *in; size_t rcpts; } rows[] = {
		{ "to bond\nenv-end\n\n", 1 },
		{ "header-recipients\nenv-end\nTo: x\n\n", 0 },
		{ "channel error\nto <b@x.org>\nenv-end\n", 1 },
		{ "comment x y z\ncomment more\nto <b@x.org>\nenv-end\n", 1 },
		{ "to <Postmaster>\nto postmaster\nenv-end\n", 2 },
		{ "complete 000000000000 00000000\nto <b@x.org>\nenv-end\n",
		    1 },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct envelope out;
		struct err err = { "" };

		cr_expect_eq(parse(arena, rows[i].in, &out, &err), 0,
		    "%s: %s", rows[i].in, err.text);
		cr_expect_eq(out.rcpt_count, rows[i].rcpts);
	}
	arena_free(&arena);
}

Test(envelope, line_limit_holds)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct envelope out;
	struct err err = { "" };

	str_adds(&text, "user ");
	memset(str_room(&text, 5000), 'x', 5000);
	text.len += ENVELOPE_LINE_BYTES_MAX - 5 - 1;
	str_adds(&text, "\nto <b@x.org>\nenv-end\n");
	cr_expect_eq(envelope_parse(arena, str_slice(&text), &out, &err), 0,
	    "%s", err.text);
	str_reset(&text);
	str_adds(&text, "user ");
	memset(str_room(&text, 5000), 'x', 5000);
	text.len += ENVELOPE_LINE_BYTES_MAX - 5;
	str_adds(&text, "\nto <b@x.org>\nenv-end\n");
	cr_expect_eq(envelope_parse(arena, str_slice(&text), &out, &err), -1);
	str_release(&text);
	arena_free(&arena);
}

Test(envelope, no_value_becomes_a_second_line)
{
	static const char *const bad[] =
	    { "x\nto <evil@x.org>", "x\r", "a\tb", "\177", "a\001" };
	struct str text = STR_INIT;
	struct err err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct envelope in = { .rcvdfrom = slice_of(bad[i]) };
		struct envelope_rcpt rcpt = { .path = { slice_of(bad[i]),
		    SLICE("x.org") } };
		struct envelope_rcpt orcpt = { .path = { SLICE("a"),
		    SLICE("x.org") }, .orcpt = slice_of(bad[i]) };

		str_reset(&text);
		cr_expect_eq(envelope_add_head(&text, &in, &err), -1);
		cr_expect_eq(text.len, 0, "%s", text.buf);
		cr_expect_eq(envelope_add_rcpt(&text, &rcpt, &err), -1);
		cr_expect_eq(text.len, 0, "%s", text.buf);
		cr_expect_eq(envelope_add_rcpt(&text, &orcpt, &err), -1);
		cr_expect_eq(text.len, 0, "%s", text.buf);
	}
	str_release(&text);
}

/* Whatever part of the file is there, and however much stands after. */
Test(envelope, the_front_alone_can_be_read)
{
	static const char text[] = "id 361g9eyp5bafph4\n"
	    "rcvdfrom c1.test ([192.0.2.7])\nwith ESMTPA\nuser carol\n"
	    "from <a@src.test>\nto <b@example.net>\nto <c@exam";
	struct envelope out;
	struct err err;

	cr_assert_eq(envelope_peek(slice_of(text), &out, &err), 0);
	cr_assert(slice_is(out.rcvdfrom, "c1.test ([192.0.2.7])"));
	cr_assert(slice_is(out.with, "ESMTPA"));
	cr_assert(slice_is(out.user, "carol"));
	cr_assert_eq(out.rcpt_count, 0);
	cr_assert_eq(envelope_peek(slice_first(slice_of(text), 30), &out,
	    &err), 0);
	cr_assert_eq(out.rcvdfrom.n, 0);
	cr_assert_eq(envelope_peek(SLICE("frm x\n"), &out, &err), -1);
}
