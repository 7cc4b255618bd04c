/* test_route.c - addresses of others and of ours, row by row
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <sys/stat.h>
#include <unistd.h>

#include "helper.h"
#include "router/route/routing.h"

struct row {
	const char	*in, *want;
};

static void
check_rows(struct fixture *fixture, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *got = fixture_route(fixture, rows[i].in);

		cr_expect_str_eq(got, rows[i].want, "%s: got %s, want %s",
		    rows[i].in, got, rows[i].want);
	}
}
#define CHECK(fixture, rows) \
	check_rows((fixture), (rows), sizeof(rows) / sizeof((rows)[0]))

Test(route, elsewhere_goes_by_the_first_route_that_fits)
{
	static const struct row rows[] = {
		{ "b@example.net", "smtp example.net b@example.net" },
		{ "b@EXAMPLE.Org", "smtp example.org b@example.org" },
		{ "b@[192.0.2.1]", "smtp [192.0.2.1] b@[192.0.2.1]" },
		{ "x@partner.example", "smtp [relay.example]:2525 "
		    "x@partner.example" },
		{ "x@a.partner.example", "smtp a.partner.example "
		    "x@a.partner.example" },
		{ "x@a.old.example", "error 5.1.2_given_up "
		    "x@a.old.example" },
		{ "x@old.example", "smtp old.example x@old.example" },
		{ "x@wait.example", "hold - x@wait.example" },
		{ "x@inside.example", "lmtp unix:/run/lmtp "
		    "x@inside.example" },
		{ "\"x y\"@nowhere.example",
		    "smtp nowhere.example \"x y\"@nowhere.example" },
	};
	struct fixture f;

	fixture_open(&f, "host mx.test\n"
	    "route partner.example via relay.example:2525\n"
	    "route .old.example via error \"5.1.2 given up\"\n"
	    "route wait.example via hold\n"
	    "route inside.example via lmtp unix:/run/lmtp\n"
	    "route *.partner.example via mx\n",
	    NULL, NULL, NULL);
	CHECK(&f, rows);
	fixture_close(&f);
}

/* Who sends: nobody is not everybody; a table is asked for each parent. */
Test(route, by_who_sends)
{
	static const struct { const char *sender, *port; } rows[] = {
		{ "", "11" }, { "a@src.test", "12" },
		{ "a@y.src.test", "12" }, { "a@x.y.src.test", "12" },
		{ "a@w.x.y.src.test", "12" }, { "a@notsrc.test", "13" },
		{ "one@list.test", "12" }, { "two@list.test", "13" },
		{ "b@all.test", "12" }, { "b@sub.all.test", "13" },
	}, *row;
	struct fixture f;
	char want[80];

	fixture_open(&f, "host mx.test\ntable by { src.test -; .src.test -; "
	    "one@list.test -; @all.test - }\n"
	    "route * from <by> via [127.0.0.1]:12\n"
	    "route * from * via [127.0.0.1]:13\n"
	    "route * via [127.0.0.1]:11\n", NULL, NULL, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got;

		row = &rows[i];
		rcpts_reset(&f.rcpts, 0, NULL, slice_of(row->sender));
		got = fixture_route(&f, "x@far.test");
		snprintf(want, sizeof(want), "smtp [127.0.0.1]:%s x@far.test",
		    row->port);
		cr_expect_str_eq(got, want, "%s: %s, not %s", row->sender,
		    got, want);
	}
	fixture_close(&f);
}

Test(route, a_table_is_searched_from_the_address_to_the_root)
{
	static const struct row rows[] = {
		{ "boss@gate.example", "smtp vip.example boss@gate.example" },
		{ "else@gate.example", "smtp [gate.relay]:25 "
		    "else@gate.example" },
		{ "x@a.gate.example", "smtp x400.example x@a.gate.example" },
		{ "x@b.a.gate.example", "smtp x400.example "
		    "x@b.a.gate.example" },
		{ "x@skip.example", "uucp hub hub-user" },
		{ "x@plain.example", "smtp plain.example x@plain.example" },
		{ "x@smtpx.example", "smtpx smtpx.example x@smtpx.example" },
		{ "x@gone.example", "error virtual_user_unknown "
		    "x@gone.example" },
		{ "x@form.example", "error nouser x@form.example" },
		{ "x@bit.example", "bitbucket - x@bit.example" },
		{ "x@other.example", "smtp other.example x@other.example" },
	};
	struct fixture f;

	fixture_open(&f, "host mx.test\ntable r file:DIR/routes\n"
	    "routes <r>\nroute skip.example via error \"never\"\n", NULL,
	    "boss@gate.example smtp!vip.example\n"
	    "gate.example gate.relay\n"
	    ".gate.example smtp!x400.example\n"
	    "skip.example uucp!hub!hub-user\n"
	    "plain.example smtp!\n"
	    "smtpx.example smtpx!\n"
	    "gone.example error!virtual user unknown\n"
	    "form.example error!nouser\n"
	    "bit.example bitbucket!\n", NULL);
	CHECK(&f, rows);
	fixture_close(&f);
}

Test(route, ignore_goes_on_to_the_next_statement)
{
	struct fixture f;

	fixture_open(&f, "host mx.test\ntable r file:DIR/routes\n"
	    "routes <r>\nroute * via smart.example:25\n", NULL,
	    "direct.example ignore!smtp\n. smtp!last.example\n", NULL);
	cr_expect_str_eq(fixture_route(&f, "x@direct.example"),
	    "smtp last.example x@direct.example");
	fixture_close(&f);
}

Test(route, a_broken_or_missing_table_is_trouble)
{
	struct fixture f;

	fixture_open(&f, "host mx.test\ntable Routes-1 file:DIR/routes\n"
	    "routes <Routes-1>\n", NULL, NULL, NULL);
	cr_expect_str_eq(fixture_route(&f, "x@a.example"),
	    "trouble: table-routes-1");
	fixture_close(&f);

	fixture_open(&f, "host mx.test\ntable r file:DIR/routes\n"
	    "routes <r>\n", NULL, "a.example smtp!two words\n"
	    "b.example smtp!fine\n", NULL);
	cr_expect_str_eq(fixture_route(&f, "x@a.example"),
	    "trouble: table-r");
	cr_expect_str_eq(fixture_route(&f, "x@b.example"),
	    "smtp fine x@b.example");
	fixture_close(&f);
}

Test(route, a_domain_is_an_a_label)
{
	struct arena *arena = arena_new();
	struct slice out;
	struct err err;
	static const struct { const char *in, *want; } rows[] = {
		{ "Example.ORG", "example.org" },
		{ "example.org.", "example.org" },
		{ "b\xc3\xbc" "cher.example", "xn--bcher-kva.example" },
		{ "B\xc3\x9c" "CHER.Example", "xn--bcher-kva.example" },
		{ "[IPv6:2001:db8::1]", "[IPv6:2001:db8::1]" },
		{ "", NULL },
		{ ".", NULL },
		{ "\xff\xfe", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int got = router_domain(arena, slice_of(rows[i].in), &out,
		    &err);

		cr_expect_eq(got, rows[i].want ? 0 : -1, "%s", rows[i].in);
		if (got == 0 && rows[i].want != NULL)
			cr_expect(slice_is(out, rows[i].want), "%s",
			    rows[i].in);
	}
	arena_free(&arena);
}

Test(route, ours_by_account)
{
	static const struct row rows[] = {
		{ "root@mx.test", "local - root" },
		{ "ROOT@MX.test", "local - root" },
		{ "root+tag@mx.test", "local - root" },
		{ "root", "local - root" },
		{ "no-such-user@mx.test", "error nouser no-such-user@mx.test" },
		{ "\"../etc/passwd\"@mx.test",
		    "error nouser \"../etc/passwd\"@mx.test" },
		{ "\"|sh\"@mx.test", "error nouser \"|sh\"@mx.test" },
		{ "\":include:/etc/passwd\"@mx.test",
		    "error nouser \":include:/etc/passwd\"@mx.test" },
		{ "postmaster@mx.test", "local - root" },
		{ "PostMaster@MX.test", "local - root" },
		{ "postmaster", "local - root" },
		{ "mailer-daemon@mx.test", "local - root" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;

		fixture_open(&f, "host mx.test\ntable aliases { nobody x }\n",
		    NULL, NULL, NULL);
		cr_expect_str_eq(fixture_route(&f, rows[i].in), rows[i].want,
		    "%s", rows[i].in);
		fixture_close(&f);
	}
}

Test(route, ours_by_table_and_by_another_program)
{
	static const struct row rows[] = {
		{ "bob@people.test", "local - bob" },
		{ "carol@people.test", "local - carol" },
		{ "carol@any.test", "lmtp unix:/run/lmtp carol@any.test" },
		{ "Carol+tag@any.test",
		    "lmtp unix:/run/lmtp Carol+tag@any.test" },
		{ "dave@people.test", "error nouser dave@people.test" },
		{ "dave@sub.any.test", "smtp sub.any.test dave@sub.any.test" },
		{ "boxed+x@box.test", "local - boxed" },
		{ "\"a/b\"@box.test", "error nouser \"a/b\"@box.test" },
		{ "postmaster@people.test", "smtp else.test chief@else.test" },
	};
	struct fixture f;

	fixture_open(&f, "host mx.test\npostmaster chief@else.test\n"
	    "table aliases { nobody x }\n"
	    "table people file:DIR/people\n"
	    "domain people.test { users <people> }\n"
	    "domain any.test { users any; deliver lmtp unix:/run/lmtp }\n"
	    "domain box.test { users any }\n", NULL, NULL,
	    "bob\ncarol@people.test yes\n");
	CHECK(&f, rows);
	fixture_close(&f);
}

/* RFC 5321 section 4.5.1: also where nobody was named, or who was named is
 * gone. */
Test(route, postmaster_is_always_taken)
{
	static const char *const confs[] = {
		"table aliases { nobody x }\n"
		"domain people.test { users <people> }\n",
		"table aliases { nobody x }\npostmaster gone\n"
		"domain people.test { users <people> }\n",
		"table aliases { postmaster gone }\n"
		"domain people.test { users <people>; aliases <aliases> }\n",
	};
	static const struct row rows[] = {
		{ "postmaster@people.test", "local - root" },
		{ "PostMaster@People.test", "local - root" },
		{ "postmaster", "local - root" },
		{ "root@people.test", "error nouser root@people.test" },
		{ "gone@people.test", "error nouser gone@people.test" },
	};

	for (size_t k = 0; k < sizeof(confs) / sizeof(confs[0]); k++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct fixture f;
			char text[400];

			snprintf(text, sizeof(text), "host people.test\n"
			    "table people file:DIR/people\n%s", confs[k]);
			fixture_open(&f, text, NULL, NULL, "bob\n");
			cr_expect_str_eq(fixture_route(&f, rows[i].in),
			    rows[i].want, "%s in\n%s", rows[i].in, confs[k]);
			fixture_close(&f);
		}
}

Test(route, no_relay_through_percent_or_bang)
{
	struct fixture f;

	fixture_open(&f, "host mx.test\ntable aliases { nobody x }\n", NULL,
	    NULL, NULL);
	cr_expect_str_eq(fixture_route(&f, "x%far.example@mx.test"),
	    "error nouser x%far.example@mx.test");
	cr_expect_str_eq(fixture_route(&f, "far.example!x@mx.test"),
	    "error nouser far.example!x@mx.test");
	fixture_close(&f);
}

Test(route, the_same_place_is_there_once)
{
	struct fixture f;

	fixture_open(&f, "host mx.test\ntable aliases { nobody x }\n", NULL,
	    NULL, NULL);
	cr_expect_str_eq(fixture_route(&f, "root@mx.test"), "local - root");
	cr_expect_str_eq(fixture_route(&f, "ROOT+a@mx.test"), "");
	cr_expect_str_eq(fixture_route(&f, "b@far.example"),
	    "smtp far.example b@far.example");
	cr_expect_str_eq(fixture_route(&f, "b@FAR.example"), "");
	cr_expect_str_eq(fixture_route(&f, "B@far.example"),
	    "smtp far.example B@far.example");
	fixture_close(&f);
}

Test(route, ways_in_a_value)
{
	static const struct { const char *in; int result; unsigned ways;
		const char *last; int64_t after_s; } rows[] = {
		{ "mx", 1, 0, NULL, 0 },
		{ "mx else [192.0.2.1]", 1, 1, "[192.0.2.1]:25", 0 },
		{ "mx else [192.0.2.1] else after 2h [192.0.2.2]", 1, 2,
		    "[192.0.2.2]:25", 7200 },
		{ "a else b else c else d else e else f else g else h", 1, 7,
		    "[h]:25", 0 },
		{ "a else b else c else d else e else f else g else h else i",
		    -1, 0, NULL, 0 },
		{ "mx else", -1, 0, NULL, 0 },
		{ "mx else after [192.0.2.1]", -1, 0, NULL, 0 },
		{ "mx else after 1h", -1, 0, NULL, 0 },
		{ "mx else two words", -1, 0, NULL, 0 },
		{ "error this else that", 1, 0, NULL, 0 },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct route_target target;
		struct err err = { "" };
		int got = route_value_parse(arena, slice_of(rows[i].in),
		    SLICE("d.test"), &target, &err);

		cr_expect_eq(got, rows[i].result, "%s: %d %s", rows[i].in,
		    got, err.text);
		if (got != 1 || rows[i].result != 1)
			continue;
		cr_assert_eq(target.way_count, rows[i].ways, "%s",
		    rows[i].in);
		if (rows[i].ways > 0) {
			const struct control_way *last =
			    &target.ways[target.way_count - 1];

			cr_expect(slice_is(last->host, rows[i].last), "%s: "
			    SLICE_FMT, rows[i].in, SLICE_ARG(last->host));
			cr_expect_eq(last->after_s, rows[i].after_s);
		}
	}
	arena_free(&arena);
}

Test(route, values_of_a_table)
{
	static const struct {
		const char *in;
		int result;
		const char *channel, *host;
	} rows[] = {
		{ "mx", 1, "smtp", "d.test" },
		{ "smtp!h", 1, "smtp", "h" },
		{ "SMTP!h", 1, "smtp", "h" },
		{ "[192.0.2.1]:2525", 1, "smtp", "[192.0.2.1]:2525" },
		{ "lmtp unix:/a", 1, "lmtp", "unix:/a" },
		{ "hold", 1, "hold", "-" },
		{ "hold!", 1, "hold", "-" },
		{ "error!", 1, "error", "unresolvable" },
		{ "error!a b", 1, "error", "a_b" },
		{ "error \"x\"", 1, "error", "\"x\"" },
		{ "ignore!", 0, NULL, NULL },
		{ "", -1, NULL, NULL },
		{ "!", -1, NULL, NULL },
		{ "smtp!a b", -1, NULL, NULL },
		{ "lmtp unix:/run\xff\tx", -1, NULL, NULL },
		{ "x y!z", -1, NULL, NULL },
		{ "a@b!c", -1, NULL, NULL },
		{ "\x01!x", -1, NULL, NULL },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct route_target target;
		struct err err = { "" };
		int got = route_value_parse(arena, slice_of(rows[i].in),
		    SLICE("d.test"), &target, &err);

		cr_expect_eq(got, rows[i].result, "%s: %d %s", rows[i].in,
		    got, err.text);
		if (got == 1 && rows[i].result == 1) {
			cr_expect(slice_is(target.channel, rows[i].channel),
			    "%s", rows[i].in);
			cr_expect(slice_is(target.host, rows[i].host),
			    "%s: " SLICE_FMT, rows[i].in,
			    SLICE_ARG(target.host));
		}
	}
	arena_free(&arena);
}
