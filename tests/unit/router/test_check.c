/* test_check.c - would this recipient be served, by rows
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "helper.h"
#include "router/ask/check.h"

struct row {
	const char	*in, *want;
};

static void
check_rows(struct fixture *fixture, const struct row *rows, size_t count)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < count; i++) {
		struct str got = STR_INIT;

		router_check_line(fixture->router, arena, slice_of(rows[i].in),
		    &got);
		cr_expect_str_eq(got.buf, rows[i].want, "%s: got %s, want %s",
		    rows[i].in, got.buf, rows[i].want);
		str_release(&got);
		arena_reset(arena);
	}
	arena_free(&arena);
}
#define CHECK(fixture, rows) \
	check_rows((fixture), (rows), sizeof(rows) / sizeof((rows)[0]))

Test(check, recipients)
{
	static const struct row rows[] = {
		{ "rcpt alice@here.test", "ok served" },
		{ "rcpt ALICE@Here.Test", "ok served" },
		{ "rcpt nobody@here.test", "ok refused nouser" },
		{ "rcpt alice+x@here.test", "ok served" },
		{ "rcpt nobody+x@here.test", "ok refused nouser" },
		{ "rcpt \"alice\"@here.test", "ok served" },
		{ "rcpt postmaster@here.test", "ok served" },
		{ "rcpt postmaster", "ok served" },
		/* aliases: to somebody, to nobody, to a list, to itself */
		{ "rcpt good@here.test", "ok served" },
		{ "rcpt bad@here.test", "ok refused nouser" },
		{ "rcpt far@here.test", "ok served" },
		{ "rcpt list@here.test", "ok served" },
		{ "rcpt gone@here.test", "ok served" },
		{ "rcpt prog@here.test", "ok served" },
		{ "rcpt round@here.test", "ok refused aliasloop" },
		/* a domain that takes all, one of the other's names */
		{ "rcpt anybody@any.test", "ok served" },
		{ "rcpt alice@twin.test", "ok served" },
		{ "rcpt nobody@twin.test", "ok refused nouser" },
		/* elsewhere */
		{ "rcpt x@far.test", "ok served" },
		{ "rcpt x@no.test", "ok refused 5.1.2_not_from_here" },
		/* who gets mail for a list; programs are left out */
		{ "list far@here.test", "ok members 1 x@far.test" },
		{ "list alice@here.test", "ok members 1 alice@here.test" },
		{ "list nobody@here.test", "ok refused nouser" },
		{ "list prog@here.test", "ok refused nouser" },
		{ "list round@here.test", "ok refused nouser" },
		{ "list", "trouble not a question: "
		    "the address ends in the local part" },
		/* no questions */
		{ "rcpt", "trouble not a question: "
		    "the address ends in the local part" },
		{ "", "trouble not a question: " },
		{ "expn alice@here.test", "trouble not a question: " },
	};
	struct fixture f;

	fixture_open(&f, "host mx.test\npostmaster alice@here.test\n"
	    "table aliases file:DIR/aliases\ntable people file:DIR/people\n"
	    "domain here.test { users <people>; aliases <aliases>; "
	    "deliver lmtp unix:/x }\n"
	    "domain twin.test { users <people2>; aliases <aliases>; "
	    "deliver lmtp unix:/x }\n"
	    "table people2 file:DIR/people2\n"
	    "domain any.test { users any; deliver lmtp unix:/x }\n"
	    "route no.test via error \"5.1.2 not from here\"\n",
	    "good: alice\nbad: nobody\nfar: x@far.test\n"
	    "list: nobody, nobody2\ngone: :include:/not/there\n"
	    "@twin.test: @here.test\n"
	    "prog: \"|/bin/true\"\nround: round2\nround2: round\n",
	    NULL, "alice\n");
	fixture_write(&f, "people2", "carol\n");
	CHECK(&f, rows);
	fixture_close(&f);
}
