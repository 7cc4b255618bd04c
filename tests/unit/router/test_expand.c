/* test_expand.c - every way a name becomes others
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
#include "mail/table/table.h"
#include "router/ask/check.h"

struct row {
	const char *in, *want;
};

/* Each row has its own message: nothing is known from the row before. */
static void
check_rows(struct fixture *f, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *got;

		rcpts_reset(&f->rcpts, 0, NULL, SLICE("s@src.test"));
		got = fixture_route(f, rows[i].in);
		cr_expect_str_eq(got, rows[i].want, "%s: got %s, want %s",
		    rows[i].in, got, rows[i].want);
	}
}
#define CHECK(f, rows) check_rows(f, rows, sizeof(rows) / sizeof(*rows))

static const char *
sender(const struct fixture *f, size_t i)
{
	static char text[4][300];
	static unsigned turn;
	char *out = text[turn++ % 4];
	const struct rcpt_sender *s =
	    f->rcpts.senders[f->rcpts.list[i].sender];

	snprintf(out, sizeof(text[0]), SLICE_FMT "|" SLICE_FMT "|" SLICE_FMT,
	    SLICE_ARG(s->address), SLICE_ARG(s->verp),
	    SLICE_ARG(s->errors_to));
	return out;
}

/* ---- tables in order ------------------------------------------------- */

Test(expand, several_tables_of_aliases)
{
	static const struct row rows[] = {
		{ "ann@mx.test", "local - first" },
		{ "bob@mx.test", "local - second" },
		{ "list@mx.test", "local - x" },
		{ "list-request@mx.test", "local - boss" },
		{ "list-owner@mx.test", "local - boss" },
		{ "list-bounces@mx.test", "local - list-bounces" },
		{ "other-request@mx.test", "local - special" },
		{ "who@virtual.test", "smtp far.test who@far.test" },
		{ "nobody@none.test", "error nouser nobody@none.test" },
		{ "ann@none.test", "local - first" },
	};
	struct fixture f;

	fixture_open(&f, "host mx.test\ntable one file:DIR/aliases\n"
	    "table two file:DIR/people\n"
	    "domain mx.test { users any; aliases <one> <two> }\n"
	    "domain virtual.test { users none; aliases <one> <two> }\n"
	    "domain none.test { users none; aliases <one> <two> }\n",
	    "ann: \\first@mx.test\nlist: \\x\n", NULL,
	    "ann: \\wrong\nbob: \\second\nowner-list: \\boss\n"
	    "other-request: \\special\n@virtual.test: @far.test\n");
	CHECK(&f, rows);
	fixture_close(&f);
}

Test(expand, virtual_addresses_come_first)
{
	static const struct row rows[] = {
		{ "Ann@Shop.test", "smtp far.test ann@far.test; local - bob" },
		{ "ann+x@shop.test", "smtp far.test ann@far.test; "
		    "local - bob" },
		{ "any@all.test", "local - everybody" },
		{ "User@old.test", "smtp new.test User@new.test" },
		{ "self@mx.test", "local - self; "
		    "smtp copy.test all@copy.test" },
		{ "ring@mx.test", "error aliasloop ring@mx.test" },
		{ "team-red@pattern.test", "smtp red.test team@red.test" },
		{ "other@pattern.test", "smtp pattern.test "
		    "other@pattern.test" },
		{ "plain@mx.test", "local - plain" },
	};
	struct fixture f;

	if (table_spec_check("pcre:/x", NULL) != 0)
		cr_skip_test("built without pcre");
	fixture_open(&f, "host mx.test\ntable v file:DIR/aliases\n"
	    "table p pcre:DIR/routes\ntable none { x y }\n"
	    "virtual <v> <p>\n"
	    "domain mx.test { users any; aliases <none> }\n",
	    "ann@shop.test: ann@far.test, bob@mx.test\n"
	    "@all.test everybody@mx.test\n@old.test @new.test\n"
	    "self@mx.test self@mx.test, all@copy.test\n"
	    "ring@mx.test: ring2@mx.test\nring2@mx.test: ring@mx.test\n",
	    "/^(\\w+)-(\\w+)@pattern\\.test$/ $1@$2.test\n", NULL);
	CHECK(&f, rows);
	fixture_close(&f);
}

Test(expand, details)
{
	static const char conf[] = "host mx.test\nrecipient-delimiter %s\n"
	    "table aliases file:DIR/aliases\ndomain mx.test { users any }\n";
	static const struct { const char *delimiters, *in, *want; } rows[] = {
		{ "+-", "ann+x@mx.test", "local - ann" },
		{ "+-", "ann-x@mx.test", "local - ann" },
		{ "+-", "a-b+x@mx.test", "local - a" },
		{ "+", "a-b+x@mx.test", "local - a-b" },
		{ "none", "ann+x@mx.test", "local - ann+x" },
		{ "+", "+x@mx.test", "local - +x" },
		{ "+", "x+@mx.test", "local - x+" },
		{ "+", "bob+keep@mx.test", "local - kept" },
		{ "+", "bob+lose@mx.test", "local - carl" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[200];
		struct fixture f;

		snprintf(text, sizeof(text), conf, rows[i].delimiters);
		fixture_open(&f, text, "bob+keep: kept\nbob: carl\n", NULL,
		    NULL);
		cr_expect_str_eq(fixture_route(&f, rows[i].in), rows[i].want,
		    "%s %s", rows[i].delimiters, rows[i].in);
		fixture_close(&f);
	}
}

Test(expand, a_table_of_users_may_name_the_mailbox)
{
	static const struct row rows[] = {
		{ "bob@a.test", "local - bob-a" },
		{ "bob@b.test", "local - bob" },
		{ "Carl+x@a.test", "local - carl" },
		{ "x@a.test", "error nouser x@a.test" },
		{ "evil@a.test", "local - evil" },
	};
	struct fixture f;

	fixture_open(&f, "host mx.test\ntable people file:DIR/people\n"
	    "domain a.test b.test { users <people> }\n", NULL, NULL,
	    "bob@a.test: \\Bob-A\nbob: yes\ncarl\nevil \\../../etc\n");
	CHECK(&f, rows);
	fixture_close(&f);
}

/* ---- list statements ------------------------------------------------- */

static const char list_conf[] = "host mx.test\n"
    "table aliases file:DIR/aliases\n"
    "domain lists.test { users any }\n"
    "list News@lists.test members DIR/news owner ann@lists.test\n"
    "list verp@lists.test members DIR/news owner ann verp\n"
    "list told@lists.test members DIR/one owner ann errors-to x@e.test\n"
    "list gone@lists.test members DIR/gone owner ann\n"
    "list empty@lists.test members DIR/empty owner ann\n";

static void
open_lists(struct fixture *f)
{
	fixture_open(f, list_conf, "news: wrong\n", NULL, NULL);
	fixture_write(f, "news", "# members\nbob\ncarl@far.test, "
	    "Dora <dora@far.test>\nthis is no address\n\"q x\"@far.test\n");
	fixture_write(f, "one", "zoe\n");
	fixture_write(f, "empty", "# nobody\n");
}

Test(expand, lists)
{
	static const struct row rows[] = {
		{ "NEWS@lists.test", "local - bob; smtp far.test "
		    "carl@far.test; smtp far.test dora@far.test; "
		    "smtp far.test \"q x\"@far.test" },
		{ "owner-news@lists.test", "local - ann" },
		{ "owner-news+carl=far.test@lists.test", "local - ann" },
		{ "news-owner@lists.test", "local - ann" },
		{ "news-request@lists.test", "local - ann" },
		{ "news-other@lists.test", "local - news-other" },
		{ "gone@lists.test", "trouble: include" },
		{ "empty@lists.test", "error emptylist empty@lists.test" },
	};
	struct fixture f;

	open_lists(&f);
	CHECK(&f, rows);
	fixture_close(&f);
}

Test(expand, senders_of_lists)
{
	struct fixture f;

	open_lists(&f);
	rcpts_reset(&f.rcpts, 0, NULL, SLICE("s@src.test"));
	fixture_route(&f, "news@lists.test");
	cr_expect_str_eq(sender(&f, 0), "owner-news@lists.test||");
	rcpts_reset(&f.rcpts, 0, NULL, SLICE("s@src.test"));
	fixture_route(&f, "verp@lists.test");
	cr_expect_str_eq(sender(&f, 0),
	    "owner-verp|lists.test|owner-verp@lists.test");
	rcpts_reset(&f.rcpts, 0, NULL, SLICE("s@src.test"));
	fixture_route(&f, "told@lists.test");
	cr_expect_str_eq(sender(&f, 0), "owner-told@lists.test||x@e.test");
	fixture_close(&f);
}

/* The owner of a list is no list: who writes to it keeps his name. */
Test(expand, owners_have_no_owner)
{
	struct fixture f;

	fixture_open(&f, "host mx.test\ntable one file:DIR/aliases\n"
	    "domain mx.test { users any; aliases <one> }\n",
	    "list: \\x\nowner-list: \\y\nowner-owner-list: \\z\n", NULL,
	    NULL);
	rcpts_reset(&f.rcpts, 0, NULL, SLICE("s@src.test"));
	fixture_route(&f, "owner-list@mx.test");
	cr_expect_str_eq(sender(&f, 0), "s@src.test||");
	rcpts_reset(&f.rcpts, 0, NULL, SLICE("s@src.test"));
	fixture_route(&f, "list@mx.test");
	cr_expect_str_eq(sender(&f, 0), "owner-list@mx.test||");
	fixture_close(&f);
}

Test(expand, as_deep_as_the_limit_and_no_deeper)
{
	static const struct row rows[] = {
		{ "b@mx.test", "local - x" },
		{ "a@mx.test", "local - x" },
		{ "o@mx.test", "error expansion o@mx.test" },
	};
	struct fixture f;

	fixture_open(&f, "host mx.test\ntable one file:DIR/aliases\n"
	    "limit expansion-depth 3\n"
	    "domain mx.test { users any; aliases <one> }\n",
	    "o: a\na: b\nb: c\nc: \\x\n", NULL, NULL);
	CHECK(&f, rows);
	fixture_close(&f);
}

/* ---- who may say what ------------------------------------------------ */

Test(expand, files_that_others_can_write_are_not_believed)
{
	struct fixture f;
	char path[128];

	open_lists(&f);
	snprintf(path, sizeof(path), "%s/one", f.dir);
	chmod(path, 0664);
	cr_expect_str_eq(fixture_route(&f, "told@lists.test"),
	    "trouble: include");
	chmod(path, 0644);
	chmod(f.dir, 0777);
	rcpts_reset(&f.rcpts, 0, NULL, SLICE(""));
	cr_expect_str_eq(fixture_route(&f, "told@lists.test"),
	    "trouble: include");
	chmod(f.dir, 01777);
	rcpts_reset(&f.rcpts, 0, NULL, SLICE(""));
	cr_expect_str_eq(fixture_route(&f, "told@lists.test"), "local - zoe");
	fixture_close(&f);
}

/* What a file says is said in the name of its owner; root's is nobody. */
Test(expand, programs_run_as_the_owner_of_the_table)
{
	struct fixture f;
	char path[128];

	if (geteuid() != 0)
		cr_skip_test("needs root to give files away");
	fixture_open(&f, list_conf, "p: |prog\nq: :include:DIR/q\n", NULL,
	    NULL);
	snprintf(path, sizeof(path), "%s/aliases", f.dir);
	cr_assert_eq(chown(path, 12345, -1), 0);
	fixture_write(&f, "q", "|prog2\n:include:DIR/secret\n");
	fixture_write(&f, "secret", "x\n");
	snprintf(path, sizeof(path), "%s/q", f.dir);
	cr_assert_eq(chown(path, 12346, -1), 0);
	cr_expect_str_eq(fixture_route(&f, "p@lists.test"), "pipe - prog");
	cr_expect_eq(f.rcpts.list[0].uid, 12345);
	cr_expect_str_eq(fixture_route(&f, "q@lists.test"),
	    "pipe - prog2; local - x");
	cr_expect_eq(f.rcpts.list[1].uid, 12346);
	/* what its owner could not read is not read for him */
	snprintf(path, sizeof(path), "%s/secret", f.dir);
	cr_assert_eq(chmod(path, 0600), 0);
	rcpts_reset(&f.rcpts, 0, NULL, SLICE(""));
	cr_expect_str_eq(fixture_route(&f, "q@lists.test"),
	    "trouble: include");
	fixture_close(&f);
}

Test(expand, a_broken_alias_names_its_line)
{
	struct fixture f;
	struct given_rcpt given = { .path = { SLICE("bad"),
	    SLICE("lists.test") } };
	struct err err = { "" };

	fixture_open(&f, list_conf, "good: ann\nbad: ann, a b\n", NULL, NULL);
	cr_expect_eq(router_address(f.router, &f.rcpts, &given, &err), -1);
	cr_expect(strstr(err.text, "/aliases:2: 'a b' is not an address") !=
	    NULL, "%s", err.text);
	cr_expect_str_eq(f.rcpts.trouble, "table-aliases");
	fixture_close(&f);
}

/* ---- reports --------------------------------------------------------- */

static void
ask(struct fixture *f, const char *local, unsigned notify)
{
	struct given_rcpt given = { .notify = notify,
	    .path = { slice_of(local), SLICE("lists.test") } };
	struct err err;

	rcpts_reset(&f->rcpts, 0, NULL, SLICE("s@src.test"));
	cr_assert_eq(router_address(f->router, &f->rcpts, &given, &err),
	    ROUTE_ROUTED);
}

Test(expand, who_reports_success)
{
	struct fixture f;
	const struct draft_rcpt *p;

	open_lists(&f);
	fixture_write(&f, "aliases", "one: ann\ntwo: ann, bob\n"
	    "prog: |x\n");
	ask(&f, "one", DSN_NOTIFY_SUCCESS);
	cr_assert_eq(f.rcpts.count, 1);
	cr_expect_eq(f.rcpts.list[0].notify, DSN_NOTIFY_SUCCESS);
	ask(&f, "prog", DSN_NOTIFY_SUCCESS);
	cr_assert_eq(f.rcpts.count, 1);
	cr_expect_eq(f.rcpts.list[0].notify, DSN_NOTIFY_SUCCESS);

	ask(&f, "two", DSN_NOTIFY_SUCCESS | DSN_NOTIFY_FAILURE);
	p = f.rcpts.list;
	cr_assert_eq(f.rcpts.count, 3);
	cr_expect_eq(p[0].done, RCPT_EXPANDED);
	cr_expect(slice_is(p[0].user, "two@lists.test"));
	cr_expect_eq(p[1].notify, DSN_NOTIFY_FAILURE);
	cr_expect(slice_is(p[1].orcpt, "rfc822;two@lists.test"));
	ask(&f, "two", DSN_NOTIFY_SUCCESS);
	cr_expect_eq(f.rcpts.list[1].notify, DSN_NOTIFY_NEVER);
	ask(&f, "two", DSN_NOTIFY_FAILURE);
	cr_expect_eq(f.rcpts.count, 2);

	ask(&f, "told", DSN_NOTIFY_SUCCESS | DSN_NOTIFY_DELAY);
	p = f.rcpts.list;
	cr_assert_eq(f.rcpts.count, 2);
	cr_expect_eq(p[0].done, RCPT_DELIVERED);
	cr_expect_eq(p[0].sender, 0);
	cr_expect_eq(p[1].notify, 0);
	cr_expect_eq(p[1].orcpt.n, 0);
	/* nobody is told that an empty list has it */
	ask(&f, "empty", DSN_NOTIFY_SUCCESS);
	cr_assert_eq(f.rcpts.count, 1);
	cr_expect(slice_is(f.rcpts.list[0].channel, "error"));
	fixture_close(&f);
}

/* ---- what is sent on ------------------------------------------------- */

static const char srs_conf[] = "host mx.test\n"
    "table aliases file:DIR/aliases\n"
    "domain mx.test srs.test { users any }\nsrs srs.test key DIR/keys\n";

static const char *
redirected(struct fixture *f, const char *from, const char *to)
{
	rcpts_reset(&f->rcpts, 0, NULL, slice_of(from));
	fixture_route(f, to);
	return sender(f, 0);
}

Test(expand, only_what_is_redirected_gets_another_sender)
{
	struct fixture f;
	struct slice made;
	char back[300];
	const char *got;

	fixture_open(&f, srs_conf, "away: a@far.test\nlist: b@far.test\n"
	    "owner-list: ann\nhere: ann\n", NULL, NULL);
	fixture_write(&f, "keys", "2026 0123456789abcdef\n");
	got = redirected(&f, "x@src.test", "away@mx.test");
	cr_expect_eq(strncmp(got, "SRS0=", 5), 0, "%s", got);
	cr_expect(strstr(got, "=src.test=x@srs.test||x@src.test") != NULL,
	    "%s", got);
	made = slice_first(slice_of(got), slice_find(slice_of(got), '|'));
	snprintf(back, sizeof(back), SLICE_FMT, SLICE_ARG(made));
	rcpts_reset(&f.rcpts, 0, NULL, SLICE(""));
	cr_expect_str_eq(fixture_route(&f, back), "smtp src.test x@src.test");
	back[6] = back[6] == 'A' ? 'B' : 'A';
	rcpts_reset(&f.rcpts, 0, NULL, SLICE(""));
	cr_expect_eq(strncmp(fixture_route(&f, back), "error returnaddress ",
	    20), 0);

	cr_expect_str_eq(redirected(&f, "x@src.test", "b@far.test"),
	    "x@src.test||");
	cr_expect_str_eq(redirected(&f, "x@src.test", "here@mx.test"),
	    "x@src.test||");
	cr_expect_str_eq(redirected(&f, "x@src.test", "list@mx.test"),
	    "owner-list@mx.test||");
	cr_expect_str_eq(redirected(&f, "u@mx.test", "away@mx.test"),
	    "u@mx.test||");
	cr_expect_str_eq(redirected(&f, "", "away@mx.test"), "||");
	fixture_close(&f);
}

Test(expand, a_missing_key_is_trouble)
{
	struct fixture f;

	fixture_open(&f, srs_conf, "away: a@far.test\n", NULL, NULL);
	rcpts_reset(&f.rcpts, 0, NULL, SLICE("x@src.test"));
	cr_expect_str_eq(fixture_route(&f, "away@mx.test"), "trouble: srs");
	fixture_write(&f, "keys", "2026 short\n");
	fixture_close(&f);
}

/* ---- a check opens nothing ------------------------------------------- */

Test(expand, a_check_says_the_same_without_opening)
{
	static const struct { const char *in; enum check_result want; }
	    rows[] = {
		{ "news", CHECK_SERVED }, { "gone", CHECK_SERVED },
		{ "owner-news", CHECK_SERVED }, { "many", CHECK_SERVED },
		{ "lost", CHECK_SERVED },
	};
	struct fixture f;

	fixture_open(&f, list_conf, "many: :include:/nowhere\n"
	    "lost: nobody\n", NULL, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct path path = { slice_of(rows[i].in),
			SLICE("lists.test") };
		struct slice form;
		struct err err;

		cr_expect_eq(router_check(f.router, f.arena, &path, &form,
		    &err), rows[i].want, "%s", rows[i].in);
	}
	fixture_close(&f);
}
