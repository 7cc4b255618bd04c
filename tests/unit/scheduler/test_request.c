/* test_request.c - lines of the operator's socket; who may; standing orders
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "scheduler/plan/orders.h"
#include "daemon/rights.h"
#include "scheduler/control/request.h"

enum { NOW = 1795381442 };

static const struct {
	const char	*line, *code, *want;
} rows[] = {
	{ "{\"v\":1,\"op\":\"list\"}", "", "" },
	{ "{\"v\":1,\"op\":\"hold\",\"select\":\"all\"}", "", "all" },
	{ "{\"v\":1,\"op\":\"hold\",\"state\":\"waiting\","
	    "\"larger\":1000}", "", "state=\"waiting\" and size>=1000B" },
	{ "{\"v\":1,\"op\":\"hold\",\"older_s\":60,\"younger_s\":120}", "",
	    "age>=60s and age<120s" },
	{ "{\"v\":1,\"op\":\"hold\",\"host\":\"*.x\",\"sender\":\"<>\"}", "",
	    "from=\"<>\" and dest=\"*/*.x\"" },
	{ "{\"v\":1,\"op\":\"hold\",\"channel\":\"smtp\",\"select\":"
	    "\"a:b or all\"}", "bad-request", "selector" },
	{ "{\"v\":1,\"op\":\"hold\",\"channel\":\"smtp\",\"select\":"
	    "\"from:b or age>1h\"}", "",
	    "(from=\"b\" or age>3600s) and dest=\"smtp/*\"" },
	{ "{\"v\":1,\"op\":\"hold\",\"ids\":[\"361g9eyp5bafph4\", "
	    "\"361G9EYP5BA\"]}", "", "361g9eyp5bafph4 or 361g9eyp5ba" },
	{ "{\"v\":1,\"op\":\"hold\",\"id\":\"361g9eyp5bafph4\",\"rcpt\":"
	    "\"@x\"}", "", "361g9eyp5bafph4 and to=\"@x\"" },
	{ "{\"v\":1,\"op\":\"hold\",\"ids\":[\"361g\"]}", "bad-request",
	    "ids" },
	{ "{\"v\":1,\"op\":\"hold\",\"ids\":[]}", "bad-request", "ids" },
	{ "{\"v\":1,\"op\":\"hold\"}", "nothing-selected", "hold what" },
	{ "{\"v\":1,\"op\":\"delete\",\"reason\":\"x\"}",
	    "nothing-selected", "" },
	{ "{\"v\":1,\"op\":\"hold\",\"sendr\":\"x\"}", "bad-request",
	    "sendr" },
	{ "{\"v\":1,\"op\":\"hold\",\"state\":\"a\",\"state\":\"b\"}",
	    "bad-request", "two fields" },
	{ "{\"v\":1,\"op\":\"hold\",\"state\":\"a\\\"b\"}", "bad-request",
	    "state" },
	{ "{\"v\":1,\"op\":\"hold\",\"reason\":\"a\\nb\"}", "bad-request",
	    "reason" },
	{ "{\"v\":1,\"op\":\"list\",\"until\":5}", "bad-request", "until" },
	{ "{\"v\":2,\"op\":\"list\"}", "version", "" },
	{ "{\"op\":\"list\"}", "bad-request", "" },
	{ "{\"v\":1}", "bad-request", "no op" },
	{ "{\"v\":1,\"op\":\"burn\"}", "unknown-op", "list count" },
	{ "{\"v\":1,\"op\":\"list\"", "bad-request", "no op" },
	{ "{\"v\":1,\"op\":\"list\",", "bad-request", "flat JSON" },
	{ "{\"v\":1,\"op\":\"list\"} x", "bad-request", "flat JSON" },
	{ "{", "bad-request", "" },
	{ "{\"v\":1,\"op\":\"why\"}", "bad-request", "which messages" },
	{ "{\"v\":1,\"op\":\"searches\",\"who\":\"ann(web)\"}", "", "" },
	{ "{\"v\":1,\"op\":\"save-search\",\"name\":\"a\",\"select\":"
	    "\"all\"}", "", "" },
	{ "{\"v\":1,\"op\":\"save-search\",\"name\":\"a\"}",
	    "bad-request", "select" },
	{ "{\"v\":1,\"op\":\"save-search\",\"name\":\"\",\"select\":"
	    "\"all\"}", "bad-request", "a name" },
	{ "{\"v\":1,\"op\":\"save-search\",\"name\":\"a\",\"select\":"
	    "\"all) or (all\"}", "bad-request", "bracket" },
	{ "{\"v\":1,\"op\":\"save-search\",\"name\":\"a\",\"select\":"
	    "\"x:y\"}", "bad-request", "is no key" },
	{ "{\"v\":1,\"op\":\"remove-search\",\"name\":\"a\",\"select\":"
	    "\"all\"}", "bad-request", "select" },
	{ "{\"v\":1,\"op\":\"remove-search\"}", "bad-request", "a name" },
	{ "{\"v\":1,\"op\":\"schedule\",\"select\":\"all\"}", "bad-request",
	    "next or expire" },
	{ "{\"v\":1,\"op\":\"schedule\",\"select\":\"all\",\"next\":"
	    "\"-2h\"}", "bad-request", "next" },
	{ "{\"v\":1,\"op\":\"move\",\"select\":\"all\"}", "bad-request",
	    "to" },
	{ "{\"v\":1,\"op\":\"move\",\"to\":\"b\"}", "nothing-selected",
	    "move what" },
	{ "{\"v\":1,\"op\":\"move\",\"select\":\"all\",\"to\":\"b\","
	    "\"undo\":true}", "bad-request", "undo" },
	{ "{\"v\":1,\"op\":\"move\",\"select\":\"all\",\"undo\":true}", "",
	    "all" },
	{ "{\"v\":1,\"op\":\"suspend\"}", "bad-request", "destination" },
	{ "{\"v\":1,\"op\":\"suspend\",\"host\":\"x\"}", "", "" },
	{ "{\"v\":1,\"op\":\"pin\",\"host\":\"x\"}", "bad-request",
	    "limit" },
	{ "{\"v\":1,\"op\":\"pin\",\"host\":\"x\",\"limit\":10001}",
	    "bad-request", "limit" },
	{ "{\"v\":1,\"op\":\"etrn\",\"host\":\"x\",\"channel\":\"y\"}",
	    "bad-request", "etrn" },
	{ "{\"v\":1,\"op\":\"list\",\"offsets\":[\"7\"]}", "bad-request",
	    "one id" },
	{ "{\"v\":1,\"op\":\"list\",\"id\":\"361g9eyp5bafph4\","
	    "\"offsets\":[\"7\",\"8\"]}", "", "361g9eyp5bafph4" },
};

Test(request, rows)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str choice = STR_INIT;
		struct request request;
		const char *code = "";
		struct err err = { "" };
		int got = request_parse(arena, slice_of(rows[i].line), NOW,
		    &request, &code, &err);

		cr_expect_eq(got, rows[i].code[0] == '\0' ? 0 : -1, "%s: %s",
		    rows[i].line, err.text);
		if (got < 0) {
			cr_expect_str_eq(code, rows[i].code, "%s",
			    rows[i].line);
			cr_expect_not_null(strstr(err.text, rows[i].want),
			    "%s: %s", rows[i].line, err.text);
			continue;
		}
		request_add_choice(&choice, &request);
		cr_expect_str_eq(choice.len > 0 ? choice.buf : "",
		    rows[i].want, "%s", rows[i].line);
		str_release(&choice);
	}
	arena_free(&arena);
}

Test(request, moments_are_absolute_or_from_now)
{
	struct arena *arena = arena_new();
	struct request request;
	const char *code;
	struct err err;

	cr_assert_eq(request_parse(arena, SLICE("{\"v\":1,\"op\":\"hold\","
	    "\"select\":\"all\",\"until\":\"+2h\",\"tag\":\"t1\"}"), NOW,
	    &request, &code, &err), 0, "%s", err.text);
	cr_expect_eq(request.until_s, NOW + 7200);
	cr_expect_str_eq(request.tag, "t1");
	cr_assert_eq(request_parse(arena, SLICE("{\"v\":1,\"op\":\"hold\","
	    "\"select\":\"all\",\"until\":1800000000}"), NOW, &request,
	    &code, &err), 0);
	cr_expect_eq(request.until_s, 1800000000);
	cr_expect_eq(request.limit, -1);
	arena_free(&arena);
}

Test(peer, everybody_is_somebody)
{
	static const struct peer_rules rules = { .writers = { 0, 100 },
	    .readers = { 101, 103 }, .etrn = 102, .admins = 50,
	    .operators = 51 };
	static const struct {
		uid_t		uid;
		gid_t		group;
		enum right	want;
	} peers[] = {
		{ 0, 0, RIGHT_WRITE }, { 100, 9, RIGHT_WRITE },
		{ 1000, 50, RIGHT_WRITE }, { 1000, 51, RIGHT_READ },
		{ 101, 9, RIGHT_READ }, { 103, 51, RIGHT_READ },
		{ 102, 9, RIGHT_ETRN }, { 102, 51, RIGHT_ETRN },
		{ 1000, 9, RIGHT_OWN }, { (uid_t)-1, 0, RIGHT_OWN },
		{ 1000, (gid_t)-1, RIGHT_OWN },
	};

	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
		cr_expect_eq(peer_right(&rules, peers[i].uid,
		    &peers[i].group, 1), peers[i].want, "%u %u",
		    peers[i].uid, peers[i].group);
}

Test(peer, no_group_is_not_a_group)
{
	static const struct peer_rules rules = { .writers = { 0, 0 },
	    .readers = { (uid_t)-1, (uid_t)-1 }, .etrn = (uid_t)-1,
	    .admins = (gid_t)-1, .operators = (gid_t)-1 };
	gid_t none = (gid_t)-1;

	cr_expect_eq(peer_right(&rules, 1000, &none, 1), RIGHT_OWN);
}

Test(orders, lines_come_back_and_nonsense_is_left_out)
{
	struct orders orders = { .generation = 1 };
	struct str text = STR_INIT, again = STR_INIT;

	orders_parse(&orders, SLICE(
	    "{\"order\":\"suspend\",\"channel\":\"smtp\",\"host\":\"*.x\","
	    "\"limit\":0,\"since\":5,\"until\":9,\"by\":\"al\","
	    "\"reason\":\"a \\\"storm\\\"\"}\n"
	    "\n"
	    "{\"order\":\"burn\",\"channel\":\"*\",\"host\":\"*\"}\n"
	    "nonsense\n"
	    "{\"order\":\"pin\",\"channel\":\"*\",\"host\":\"y\"}\n"
	    "{\"order\":\"pin\",\"channel\":\"*\",\"host\":\"y\","
	    "\"limit\":3,\"since\":5,\"until\":0,\"by\":\"\","
	    "\"reason\":\"\"}\n"
	    "{\"order\":\"drain\",\"channel\":\"*\",\"host\":\"*\","
	    "\"limit\":0,\"since\":5,\"until\":0,\"by\":\"\","
	    "\"reason\":\"\"}\n"));
	cr_expect_eq(orders.count, 3);
	cr_expect(orders.is_draining);
	cr_expect_not_null(orders_find(&orders, ORDER_SUSPEND, SLICE("smtp"),
	    SLICE("MX.x")));
	cr_expect_null(orders_find(&orders, ORDER_SUSPEND, SLICE("lmtp"),
	    SLICE("mx.x")));
	cr_expect_eq(orders_find(&orders, ORDER_PIN, SLICE("smtp"),
	    SLICE("y"))->limit, 3);
	cr_expect_eq(orders_next_s(&orders), 9);
	orders_format(&orders, &text);
	orders_release(&orders);
	orders_parse(&orders, str_slice(&text));
	orders_format(&orders, &again);
	cr_expect_str_eq(text.buf, again.buf);
	cr_expect(orders_expire(&orders, 9));
	cr_expect_not(orders_expire(&orders, 9));
	cr_expect_eq(orders.count, 2);
	orders_release(&orders);
	str_release(&text);
	str_release(&again);
}

Test(orders, searches_are_bounded_and_take_no_room_from_orders)
{
	struct orders orders = { .generation = 1 };
	struct str text = STR_INIT, again = STR_INIT;

	for (int i = 0; i < SEARCHES_MAX + 9; i++)
		str_addf(&text, "{\"order\":\"search\",\"owner\":\"u%d\","
		    "\"name\":\"%d\",\"select\":\"state=\\\"held\\\"\"}\n",
		    i / 9, i);
	str_adds(&text, "{\"order\":\"search\",\"owner\":\"a\"}\n"
	    "{\"order\":\"suspend\",\"channel\":\"*\",\"host\":\"y\"}\n");
	orders_parse(&orders, str_slice(&text));
	cr_expect_eq(orders.count, SEARCHES_MAX + 1);
	cr_expect_not_null(orders_find(&orders, ORDER_SUSPEND, SLICE("smtp"),
	    SLICE("y")));
	cr_expect_str_eq(orders.all[0].reason, "state=\"held\"");
	str_reset(&text);
	orders_format(&orders, &text);
	orders_release(&orders);
	orders_parse(&orders, str_slice(&text));
	orders_format(&orders, &again);
	cr_expect_str_eq(text.buf, again.buf);
	orders_release(&orders);
	str_release(&text);
	str_release(&again);
}

/* What may be asked with each right; what is said here of none needs the
 * right to write. */
Test(request, who_may_what)
{
	static const struct {
		enum request_op op;
		enum right right;
	} rights[] = {
		{ OP_LIST, RIGHT_OWN }, { OP_COUNT, RIGHT_OWN },
		{ OP_WHY, RIGHT_OWN }, { OP_DELETE, RIGHT_OWN },
		{ OP_ETRN, RIGHT_ETRN }, { OP_DESTINATIONS, RIGHT_READ },
		{ OP_ORDERS, RIGHT_READ }, { OP_EVENTS, RIGHT_READ },
		{ OP_NEXT, RIGHT_READ }, { OP_QUEUE, RIGHT_READ },
		{ OP_GROUPS, RIGHT_READ }, { OP_JOB, RIGHT_OWN },
		{ OP_TURNS, RIGHT_READ },
		{ OP_CONNECTIONS, RIGHT_READ }, { OP_ARRIVALS, RIGHT_READ },
		{ OP_OBJECTIVES, RIGHT_READ }, { OP_HISTORY, RIGHT_READ },
		{ OP_FOR, RIGHT_OWN }, { OP_MOVES, RIGHT_READ },
		{ OP_SEARCHES, RIGHT_READ }
	};

	for (int op = 0; op < OP_COUNT_OF; op++) {
		enum right want = RIGHT_WRITE;

		for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
			if ((int)rights[i].op == op)
				want = rights[i].right;
		cr_expect_eq(request_rows[op].right, want, "%s",
		    request_rows[op].name);
	}
}
