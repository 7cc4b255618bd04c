/* test_rewrite.c - addresses that become others, and the header sets
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "helper.h"
#include "router/message/message.h"
#include "router/route/rewrite.h"

#define ID "01jd3x8k2mc4n7"

static const char tables[] = "host mx.our.test\n"
    "table names { alice Alice.Miller@our.test\n bob @old.test\n"
    "x@far.test y\n @gone.test @new.test\n bad a@b@c }\n"
    "table out { @our.test @public.test\n ann@public.test a.n@isp.test }\n"
    "domain our.test mx.our.test { users any }\n";

struct trial {
	struct fixture	 fixture;
	struct message	 message;
	struct control_file	 control;
	struct str	 text;
	struct err	 err;
};

static void
trial_open(struct trial *t, const char *statements)
{
	memset(t, 0, sizeof(*t));
	str_init(&t->text);
	str_addf(&t->text, "%s%s", tables, statements);
	fixture_open(&t->fixture, t->text.buf, NULL, NULL, NULL);
	message_init(&t->message);
}

static void
trial_close(struct trial *t)
{
	message_release(&t->message);
	str_release(&t->text);
	fixture_close(&t->fixture);
}

static enum message_fate
plan(struct trial *t, const char *text)
{
	enum message_fate fate;

	message_reset(&t->message);
	fate = message_route(&t->message, t->fixture.router, slice_of(text),
	    4711, NULL, &t->err);
	if (fate == MESSAGE_ROUTED)
		cr_assert_eq(control_file_parse(t->fixture.arena,
		    str_slice(&t->message.control_text), &t->control, &t->err),
		    0,
		    "%s", t->err.text);
	return fate;
}

/* ---- one address ------------------------------------------------------ */

enum { IN_SENDER = REWRITE_SENDERS | REWRITE_ENVELOPE,
	IN_RCPT = REWRITE_RCPTS | REWRITE_ENVELOPE,
	IN_FROM = REWRITE_SENDERS | REWRITE_HEADERS,
	IN_TO = REWRITE_RCPTS | REWRITE_HEADERS };

Test(rewrite, an_address_on_the_way_in)
{
	static const struct {
		const char *statements;
		unsigned of;
		const char *in, *want;	/* NULL: it stays; "!": trouble */
	} rows[] = {
		{ "canonical <names>", IN_SENDER, "alice@our.test",
		    "Alice.Miller@our.test" },
		{ "canonical <names>", IN_RCPT, "ALICE@OUR.TEST",
		    "Alice.Miller@our.test" },
		{ "canonical <names>", IN_FROM, "alice",
		    "Alice.Miller@our.test" },
		{ "canonical <names>", IN_TO, "alice+news@our.test",
		    "Alice.Miller+news@our.test" },
		{ "canonical <names>", IN_TO, "\"alice\"@our.test",
		    "Alice.Miller@our.test" },
		{ "canonical <names>", IN_TO, "alice@far.test", NULL },
		{ "canonical <names>", IN_TO, "bob+x@our.test",
		    "bob+x@old.test" },
		{ "canonical <names>", IN_TO, "x@far.test", "y@far.test" },
		{ "canonical <names>", IN_TO, "Any.One@gone.test",
		    "Any.One@new.test" },
		{ "canonical <names>", IN_TO, "bad@our.test", "!" },
		{ "canonical <names>", IN_TO, "a@[192.0.2.1]", NULL },
		{ "canonical <names> senders", IN_TO, "alice@our.test", NULL },
		{ "canonical <names> recipients", IN_FROM, "alice@our.test",
		    NULL },
		{ "canonical <names> envelope", IN_TO, "alice@our.test",
		    NULL },
		{ "canonical <names> headers", IN_RCPT, "alice@our.test",
		    NULL },
		{ "canonical <names>", IN_TO | REWRITE_STRANGERS,
		    "alice@our.test", NULL },
		{ "canonical <names>", IN_SENDER | REWRITE_STRANGERS,
		    "alice@our.test", "Alice.Miller@our.test" },
		{ "canonical <names> strangers", IN_TO | REWRITE_STRANGERS,
		    "alice@our.test", "Alice.Miller@our.test" },
		{ "canonical <out>\ncanonical <names>", IN_TO,
		    "alice@our.test", "alice@public.test" },
		{ "masquerade our.test", IN_FROM, "a@host.our.test",
		    "a@our.test" },
		{ "masquerade our.test", IN_FROM, "a@our.test", NULL },
		{ "masquerade our.test", IN_FROM, "a@notour.test", NULL },
		{ "masquerade our.test", IN_SENDER, "a@h.our.test",
		    "a@our.test" },
		{ "masquerade our.test", IN_RCPT, "a@h.our.test", NULL },
		{ "masquerade our.test", IN_FROM | REWRITE_STRANGERS,
		    "a@h.our.test", NULL },
		{ "masquerade our.test keep lab.our.test except root",
		    IN_FROM, "a@x.lab.our.test", NULL },
		{ "masquerade our.test keep lab.our.test except root",
		    IN_FROM, "root@h.our.test", NULL },
		{ "masquerade our.test b.our.test", IN_FROM, "a@c.b.our.test",
		    "a@b.our.test" },
		{ "qualify our.test", IN_FROM, "carl", "carl@our.test" },
		{ "qualify our.test", IN_FROM | REWRITE_STRANGERS, "carl",
		    NULL },
		{ "qualify our.test\ncanonical <names>", IN_FROM, "alice",
		    "Alice.Miller@our.test" },
		{ "", IN_FROM, "alice@our.test", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str got = STR_INIT;
		struct routing routing = { 0 };
		struct slice rest;
		struct path path;
		struct trial t;
		int result;

		trial_open(&t, rows[i].statements);
		routing.router = t.fixture.router;
		routing.rcpts = &t.fixture.rcpts;
		cr_assert_eq(path_parse(slice_of(rows[i].in), PATH_BARE_OK |
		    PATH_LOCAL_OK, &path, &rest, &t.err), 0);
		result = rewrite_path(&routing, rows[i].of, &path, &t.err);
		path_add(&got, &path);
		if (rows[i].want == NULL)
			cr_expect(result == 0 && strcmp(got.buf,
			    rows[i].in) == 0, "row %zu: %s", i, got.buf);
		else if (strcmp(rows[i].want, "!") == 0)
			cr_expect_eq(result, -1, "row %zu", i);
		else
			cr_expect(result == 1 && strcmp(got.buf,
			    rows[i].want) == 0, "row %zu: %s", i, got.buf);
		str_release(&got);
		trial_close(&t);
	}
}

/* ---- a header --------------------------------------------------------- */

Test(rewrite, only_the_bytes_of_an_address_change)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "From: \"A. (x)\" <alice@our.test> (why)\n",
		    "From: \"A. (x)\" <Alice.Miller@our.test> (why)\n" },
		{ "from:alice,bob\n",
		    "from:Alice.Miller@our.test,bob@old.test\n" },
		{ "Subject: alice@our.test\n", NULL },
		{ "To: friends: x@far.test,\n\talice@our.test ;\n",
		    "To: friends: y@far.test,\n\tAlice.Miller@our.test ;\n" },
		{ "To: <@a.test,@b.test:alice@our.test>\n",
		    "To: <@a.test,@b.test:Alice.Miller@our.test>\n" },
		{ "To: alice (c) @ our.test\n",
		    "To: Alice.Miller@our.test\n" },
		{ "To: =?utf-8?q?alice=40our=2Etest?= <z@far.test>\n", NULL },
		{ "Cc: broken <, alice@our.test\n",
		    "Cc: broken <, Alice.Miller@our.test\n" },
		{ "Cc: broken <alice@our.test\n", NULL },
		{ "Cc: two words, alice@our.test\n",
		    "Cc: two words, Alice.Miller@our.test\n" },
		{ "no field at all\nResent-To: alice@our.test\n",
		    "no field at all\nResent-To: Alice.Miller@our.test\n" },
		{ "To: a@far.test\nX: \xff\n y\n", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *want = rows[i].want;
		struct routing routing = { 0 };
		struct str got = STR_INIT;
		struct trial t;
		int result;

		trial_open(&t, "canonical <names>");
		routing.router = t.fixture.router;
		routing.rcpts = &t.fixture.rcpts;
		str_adds(&got, "before ");
		result = rewrite_header(&routing, 0, false,
		    slice_of(rows[i].in), &got, &t.err);
		cr_expect_eq(result, want != NULL, "row %zu", i);
		cr_expect_str_eq(got.buf + 7, want ? want : "", "row %zu", i);
		str_release(&got);
		trial_close(&t);
	}
}

Test(rewrite, no_line_becomes_longer_than_a_line_may_be)
{
	struct str in = STR_INIT, out = STR_INIT;
	struct routing routing = { 0 };
	struct slice rest, line;
	struct trial t;

	trial_open(&t, "canonical <names>");
	routing.router = t.fixture.router;
	routing.rcpts = &t.fixture.rcpts;
	str_adds(&in, "To: alice");
	for (int i = 0; i < 139; i++)
		str_adds(&in, ", alice");
	str_addc(&in, '\n');
	cr_assert_lt(in.len, 998);
	cr_assert_eq(rewrite_header(&routing, 0, false, str_slice(&in), &out,
	    &t.err), 1);
	rest = str_slice(&out);
	while (slice_cut(&rest, '\n', &line))
		cr_expect_leq(line.n, 998);
	str_release(&in);
	str_release(&out);
	trial_close(&t);
}

/* ---- a message -------------------------------------------------------- */

#define RECEIVED_ENDS "\nFrom: "

static struct slice
behind_received(struct slice header)
{
	const char *p = memmem(header.p, header.n, RECEIVED_ENDS, 7);

	cr_assert_not_null(p);
	return slice_from(header, (size_t)(p - header.p) + 1);
}

static const char ours[] = "id " ID "\nuser ann\nfrom ann\n"
    "to <bob@our.test>\nto <c@far.test>\nto <d@partner.test>\n"
    "to <e@far.test>\nenv-end\n"
    "From: ann@our.test\nTo: c@far.test, bob@our.test\nDate: x\n"
    "Message-Id: <1@x>\n\nbody ann@our.test\n";

/* One body; those inside, outside and at the partner have each a header. */
Test(rewrite, groups_of_recipients_have_headers_of_their_own)
{
	struct trial t;
	const struct control_group *g;

	trial_open(&t, "generic <names> to partner.test\ngeneric <out>\n");
	cr_assert_eq(plan(&t, ours), MESSAGE_ROUTED, "%s", t.err.text);
	cr_assert_eq(t.control.group_count, 2 + 1);
	g = t.control.groups;
	cr_expect(slice_is(g[0].rcpts[0].user, "bob"));
	cr_expect(slice_is(g[0].sender, "ann@mx.our.test"));
	cr_expect(slice_is(behind_received(g[0].header), "From: ann@our.test\n"
	    "To: c@far.test, bob@our.test\nDate: x\nMessage-Id: <1@x>\n"));
	/* the partner's differs in nothing that names knows but bob */
	cr_expect(slice_is(g[1].rcpts[0].user, "d@partner.test"));
	cr_expect(slice_is(behind_received(g[1].header), "From: ann@our.test\n"
	    "To: c@far.test, bob@old.test\nDate: x\nMessage-Id: <1@x>\n"));
	cr_expect_eq(g[2].rcpt_count, 2);
	cr_expect(slice_is(behind_received(g[2].header),
	    "From: ann@public.test\nTo: c@far.test, bob@public.test\n"
	    "Date: x\nMessage-Id: <1@x>\n"));
	trial_close(&t);
}

Test(rewrite, reports_go_to_the_address_inside)
{
	struct trial t;
	const struct control_group *g;

	trial_open(&t, "generic <out>\nmasquerade our.test\n");
	cr_assert_eq(plan(&t, ours), MESSAGE_ROUTED, "%s", t.err.text);
	g = &t.control.groups[t.control.group_count - 1];
	cr_expect(slice_is(g->sender, "ann@public.test"), SLICE_FMT,
	    SLICE_ARG(g->sender));
	cr_expect(slice_is(control_group_errors(&t.control, g),
	    "ann@our.test"));
	trial_close(&t);
}

Test(rewrite, a_recipient_that_changed_is_told_what_it_was)
{
	struct trial t;

	trial_open(&t, "canonical <names>\n");
	cr_assert_eq(plan(&t, "id " ID "\nexternal\nfrom <a@src.test>\n"
	    "to <q@gone.test>\nenv-end\nTo: q@gone.test\n\nb\n"),
	    MESSAGE_ROUTED);
	cr_expect(slice_is(t.control.groups[0].rcpts[0].user, "q@new.test"));
	cr_expect(slice_is(t.control.groups[0].rcpts[0].orcpt,
	    "rfc822;q@gone.test"));
	cr_expect(slice_is(t.message.rcpts.list[0].to, "q@gone.test"));
	cr_expect(slice_ends(t.control.groups[0].header, "To: q@gone.test\n"));
	trial_close(&t);
}

/* The table is asked when the header is made: it may have gone by then. */
Test(rewrite, a_broken_table_makes_mail_wait)
{
	struct trial t;

	trial_open(&t, "table gone file:DIR/none/x\ngeneric <gone>\n");
	cr_expect_eq(plan(&t, ours), MESSAGE_DEFERRED);
	cr_expect_str_eq(t.message.why, "table-gone");
	trial_close(&t);
	trial_open(&t, "canonical <names>\n");
	cr_expect_eq(plan(&t, "id " ID "\nuser x\nfrom bad@our.test\n"
	    "to <a@our.test>\nenv-end\n\n"), MESSAGE_DEFERRED);
	cr_expect_str_eq(t.message.why, "table-names");
	trial_close(&t);
}
