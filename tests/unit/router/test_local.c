/* test_local.c - aliases opened: loops, bombs, lists, owners
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grammar/smtp/dsn.h"
#include "helper.h"

static const char conf_text[] = "host mx.test\n"
    "table aliases file:DIR/aliases\n"
    "domain mx.test other.test { users any }\n"
    "domain real.test { users passwd }\n"
    "limit expansion 1000\nlimit expansion-depth 12\n";

/* Each row has its own message: nothing is known from the row before. */
static void
check(const char *aliases, const char *in, const char *want)
{
	struct fixture f;
	const char *got;

	fixture_open(&f, conf_text, aliases, NULL, NULL);
	got = fixture_route(&f, in);
	cr_expect_str_eq(got, want, "%s: got %s, want %s", in, got, want);
	fixture_close(&f);
}

Test(local, aliases)
{
	static const char aliases[] =
	    "team: ann, bob@mx.test, carl@far.test\n"
	    "nested: team, dora\n"
	    "bob: bob, archive\n"
	    "direct: \\bob\n"
	    "prog: \"|/bin/prog a, b\"\n"
	    "file: /var/mail/all\n"
	    "x@other.test: special\n"
	    "x: plain\n"
	    "@other.test: everybody\n"
	    "Mixed.Case: ann\n"
	    "sieve+spam: junk\n"
	    "sieve: inbox\n"
	    "broken: a b\n"
	    "half: a b, ann\n"
	    "away: far.away@far.test\n"
	    "postmaster: ann\n";
	static const struct { const char *in, *want; } rows[] = {
		{ "team@mx.test", "local - ann; local - bob; local - archive; "
		    "smtp far.test carl@far.test" },
		{ "nested@mx.test", "local - ann; local - bob; "
		    "local - archive; smtp far.test carl@far.test; "
		    "local - dora" },
		{ "bob@mx.test", "local - bob; local - archive" },
		{ "direct@mx.test", "local - bob" },
		{ "prog@mx.test", "pipe - /bin/prog a, b" },
		{ "file@mx.test", "local file /var/mail/all" },
		{ "x@other.test", "local - special" },
		{ "X@mx.test", "local - plain" },
		{ "MIXED.case@mx.test", "local - ann" },
		{ "sieve+spam@mx.test", "local - junk" },
		{ "sieve+ham@mx.test", "local - inbox" },
		{ "broken@mx.test", "trouble: table-aliases" },
		{ "half@mx.test", "trouble: table-aliases" },
		{ "away@mx.test", "smtp far.test far.away@far.test" },
		{ "postmaster@mx.test", "local - ann" },
		{ "mailer-daemon@real.test", "local - root" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(aliases, rows[i].in, rows[i].want);
}

Test(local, loops_end)
{
	check("a: b\nb: a\n", "a@mx.test", "error aliasloop a@mx.test");
	check("a: b, x\nb: a, y\n", "a@mx.test", "local - y; local - x");
	check("a: a\n", "a@mx.test", "local - a");
	check("a: A@MX.test\n", "a@mx.test", "local - a");
	check("a: a@other.test\n", "a@mx.test", "local - a");
	check("ghost: ghost\n", "ghost@real.test",
	    "error nouser ghost@real.test");
	check("@real.test: @real.test\n", "who@real.test",
	    "error nouser who@real.test");
	check("@real.test: @far.test\n", "who@real.test",
	    "smtp far.test who@far.test");
	check("empty: ,\n", "empty@mx.test", "error emptylist empty@mx.test");
}

Test(local, a_tree_of_two_to_the_twenty_is_walked_once)
{
	struct str aliases = STR_INIT;

	for (int i = 0; i < 11; i++)
		str_addf(&aliases, "a%d: a%d, a%d\n", i, i + 1, i + 1);
	check(aliases.buf, "a0@mx.test", "local - a11");
	str_release(&aliases);
}

Test(local, too_deep_and_too_many_give_one_error)
{
	struct str aliases = STR_INIT;

	for (int i = 0; i < 40; i++)
		str_addf(&aliases, "d%d: d%d, x%d\n", i, i + 1, i);
	check(aliases.buf, "d0@mx.test", "error expansion d0@mx.test");
	check(aliases.buf, "d35@mx.test", "local - d40; local - x39; "
	    "local - x38; local - x37; local - x36; local - x35");
	str_reset(&aliases);
	str_adds(&aliases, "many: u0");
	for (int i = 1; i < 1001; i++)
		str_addf(&aliases, ",u%d", i);
	str_adds(&aliases, "\nboth: many, more\n");
	check(aliases.buf, "many@mx.test", "error expansion many@mx.test");
	check(aliases.buf, "both@mx.test", "error expansion both@mx.test");
	str_release(&aliases);
}

/* What one recipient's failed alias had opened is open again for the next:
 * else the second would silently get nothing. */
Test(local, an_undone_alias_leaves_nothing_behind)
{
	struct str aliases = STR_INIT;
	struct fixture f;

	str_adds(&aliases, "small: ann, bob\nbig: small, u0");
	for (int i = 1; i < 1001; i++)
		str_addf(&aliases, ",u%d", i);
	str_adds(&aliases, "\n");
	fixture_open(&f, conf_text, aliases.buf, NULL, NULL);
	cr_expect_str_eq(fixture_route(&f, "zoe@mx.test"), "local - zoe");
	cr_expect_str_eq(fixture_route(&f, "big@mx.test"),
	    "error expansion big@mx.test");
	cr_expect_str_eq(fixture_route(&f, "small@mx.test"),
	    "local - ann; local - bob");
	cr_expect_str_eq(fixture_route(&f, "u7@mx.test"), "local - u7");
	cr_expect_str_eq(fixture_route(&f, "zoe@mx.test"), "");
	fixture_close(&f);
	str_release(&aliases);
}

Test(local, lists_in_files)
{
	struct fixture f;
	char path[128];

	fixture_open(&f, conf_text, "list: :include:DIR/members\n"
	    "inner: :include:DIR/outer\n"
	    "lost: :include:DIR/nothing\n"
	    "open: :include:DIR/writable\n"
	    "dir: :include:DIR\n", NULL, NULL);
	fixture_write(&f, "members", "# people\nann\nBob <bob@far.test>, \n"
	    "|prog arg\n");
	fixture_write(&f, "outer", ":include:DIR/members\ncarl\n"
	    ":include:DIR/outer\n");
	fixture_write(&f, "writable", "x\n");
	snprintf(path, sizeof(path), "%s/writable", f.dir);
	cr_assert_eq(chmod(path, 0666), 0);
	cr_expect_str_eq(fixture_route(&f, "list@mx.test"), "local - ann; "
	    "smtp far.test bob@far.test; pipe - prog arg");
	cr_expect_str_eq(fixture_route(&f, "inner@mx.test"), "local - carl");
	cr_expect_str_eq(fixture_route(&f, "lost@mx.test"),
	    "trouble: include");
	cr_expect_str_eq(fixture_route(&f, "open@mx.test"),
	    "trouble: include");
	cr_expect_str_eq(fixture_route(&f, "dir@mx.test"),
	    "trouble: include");
	fixture_close(&f);
}

Test(local, a_list_with_an_owner_has_it_as_sender)
{
	struct fixture f;
	const struct draft_rcpt *p;

	fixture_open(&f, conf_text, "list: ann, inner\nowner-list: boss\n"
	    "inner: carl\nowner-inner: chief\nplain: dora\n", NULL, NULL);
	fixture_route(&f, "list@mx.test");
	fixture_route(&f, "plain@mx.test");
	p = f.rcpts.list;
	cr_assert_eq(f.rcpts.count, 3);
	cr_expect(slice_is(f.rcpts.senders[p[0].sender]->address,
	    "owner-list@mx.test"));
	cr_expect(slice_is(f.rcpts.senders[p[1].sender]->address,
	    "owner-inner@mx.test"));
	cr_expect_eq(p[2].sender, 0);
	fixture_close(&f);
}

Test(local, what_the_sender_asked_for_follows_the_alias)
{
	struct fixture f;
	struct given_rcpt given = { .notify = DSN_NOTIFY_SUCCESS,
	    .path = { SLICE("team"), SLICE("mx.test") } };
	struct err err;

	fixture_open(&f, conf_text, "team: ann\nlist: bob\nowner-list: x\n",
	    NULL, NULL);
	cr_assert_eq(router_address(f.router, &f.rcpts, &given, &err),
	    ROUTE_ROUTED);
	given.path.local = SLICE("list");
	cr_assert_eq(router_address(f.router, &f.rcpts, &given, &err),
	    ROUTE_ROUTED);
	given.path.local = SLICE("z");
	given.orcpt = SLICE("rfc822;first@x.test");
	cr_assert_eq(router_address(f.router, &f.rcpts, &given, &err),
	    ROUTE_ROUTED);
	cr_assert_eq(f.rcpts.count, 4);
	cr_expect_eq(f.rcpts.list[0].notify, DSN_NOTIFY_SUCCESS);
	cr_expect(slice_is(f.rcpts.list[0].orcpt, "rfc822;team@mx.test"));
	/* the list answers for itself, its members know of nothing */
	cr_expect_eq(f.rcpts.list[1].done, RCPT_DELIVERED);
	cr_expect_eq(f.rcpts.list[1].notify, DSN_NOTIFY_SUCCESS);
	cr_expect_eq(f.rcpts.list[2].notify, 0);
	cr_expect_eq(f.rcpts.list[2].orcpt.n, 0);
	cr_expect(slice_is(f.rcpts.list[3].orcpt, "rfc822;first@x.test"));
	fixture_close(&f);
}

Test(local, the_rule_names_file_and_line)
{
	struct fixture f;
	struct str rule = STR_INIT;

	fixture_open(&f, conf_text, "# first line\nteam: ann\n", NULL, NULL);
	fixture_route(&f, "team@mx.test");
	fixture_route(&f, "bob@mx.test");
	fixture_route(&f, "x@far.test");
	rcpt_rule_add(&rule, &f.rcpts.list[0].rule);
	str_addc(&rule, '|');
	rcpt_rule_add(&rule, &f.rcpts.list[1].rule);
	str_addc(&rule, '|');
	rcpt_rule_add(&rule, &f.rcpts.list[2].rule);
	cr_expect_str_eq(rule.buf,
	    "alias aliases:2|domain test.conf:3|default");
	str_release(&rule);
	fixture_close(&f);
}
