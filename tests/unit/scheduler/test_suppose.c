/* test_suppose.c - mail that waits, under configurations that nobody has
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "scheduler/control/suppose.h"
#include "tests/unit/scheduler/yard.h"

enum { NOW_S = 1800000000 };

/* at: seconds from now on; 0: at once, or nobody knows. */
static const struct row {
	const char	*conf, *line;
	enum cause	 cause;
	int64_t		 at_s;
	bool		 is_unknown, is_after_success;
	const char	*by;
} rows[] = {
	/* its own time: the list by the number of tries, no jitter */
	{ "schedule */* { retry 1h 2h }", "\"code\":\"timer\",\"tries\":1,"
	    "\"last\":1799999400", CAUSE_TIMER, 3000, .by = "list" },
	{ "schedule */* { retry 1h 2h }", "\"code\":\"timer\",\"tries\":2,"
	    "\"last\":1799999400", CAUSE_TIMER, 6600, .by = "list" },
	{ "schedule smtp/x.test { retry 5m }\nschedule */* { retry 1h }",
	    "\"code\":\"timer\",\"tries\":1,\"last\":1799999400",
	    .cause = CAUSE_LINE },
	/* a rule about such words, and the next hop's own wish */
	{ "schedule */* { retry 5m; retry on mailbox-full 4h }",
	    "\"code\":\"timer\",\"tries\":1,\"last\":1799999400,"
	    "\"text\":\"452 4.2.2 full\",\"code_last\":\"4.2.2\"",
	    CAUSE_TIMER, 13800, .by = "rule" },
	{ "schedule */* { retry on mailbox-full suspend 4h }",
	    "\"code\":\"timer\",\"tries\":1,\"last\":1799999400,"
	    "\"text\":\"452 4.2.2 full\",\"code_last\":\"4.2.2\"",
	    CAUSE_RULE, 13800, .by = "rule" },
	{ "schedule */* { retry 1m }", "\"code\":\"timer\",\"tries\":1,"
	    "\"last\":1799999400,\"wish\":1800000900", CAUSE_TIMER, 900,
	    .by = "wish" },
	{ "schedule */* { retry on mailbox-full end }",
	    "\"code\":\"timer\",\"tries\":1,\"last\":1799999400,"
	    "\"text\":\"452 4.2.2 full\",\"code_last\":\"4.2.2\"",
	    .is_unknown = true },
	/* mail that its destination asks for */
	{ "schedule */* { }", "\"code\":\"queue-only\"", .cause = CAUSE_LINE },
	/* sessions */
	{ "schedule */* { parallel 2; feedback no }", "\"code\":\"limit\","
	    "\"sessions\":2,\"allowed\":2", .cause = CAUSE_LIMIT },
	{ "schedule */* { parallel 3; feedback no }", "\"code\":\"limit\","
	    "\"sessions\":2,\"allowed\":2", .cause = CAUSE_LINE },
	{ "schedule */* { parallel 3 }", "\"code\":\"limit\","
	    "\"sessions\":2,\"allowed\":2", CAUSE_LINE,
	    .is_after_success = true },
	{ "schedule */* { parallel 30 }", "\"code\":\"limit\","
	    "\"sessions\":2,\"allowed\":2,\"learned\":true",
	    .cause = CAUSE_LIMIT },
	/* a rate, and a pause that its host made */
	{ "schedule */* { rate 1/1h }", "\"code\":\"rate\",\"taken_ms\":60000,"
	    "\"free_ms\":3540000", CAUSE_RATE, .at_s = 3540 },
	{ "schedule */* { rate 60/1h }", "\"code\":\"rate\","
	    "\"taken_ms\":60000,\"free_ms\":3540000", .cause = CAUSE_LINE },
	{ "schedule */* { rate 60/1h }", "\"code\":\"rate\",\"taken_ms\":1000,"
	    "\"free_ms\":9000,\"slow_us\":10000000", CAUSE_RATE, .at_s = 9 },
	/* agents that others have, too */
	{ "schedule */* { agents 2 }", "\"code\":\"agents\","
	    "\"agents_clause\":2,\"agents_channel\":2,\"agents_all\":2",
	    .cause = CAUSE_AGENTS },
	{ "schedule */* { agents 3 }", "\"code\":\"agents\","
	    "\"agents_clause\":2,\"agents_channel\":2,\"agents_all\":2",
	    .cause = CAUSE_LINE },
	{ "schedule */* { agents 3; channel-agents 9 }", "\"code\":\"agents\","
	    "\"agents_clause\":2,\"agents_channel\":9,\"agents_all\":9",
	    .cause = CAUSE_AGENTS },
	{ "limit agents 9", "\"code\":\"agents\",\"agents_clause\":2,"
	    "\"agents_channel\":2,\"agents_all\":9", .cause = CAUSE_AGENTS },
	{ "zone news { sender @src.test; agents 2 }", "\"code\":\"zone\","
	    "\"zone\":\"news\",\"agents_clause\":1,\"agents_zone\":2",
	    .cause = CAUSE_ZONE },
	{ "zone news { sender @src.test; agents 3 }", "\"code\":\"zone\","
	    "\"zone\":\"news\",\"agents_clause\":1,\"agents_zone\":2",
	    .cause = CAUSE_LINE },
	{ "schedule */* { provider 2 }", "\"code\":\"provider\","
	    "\"provider\":\"mx\",\"provider_sessions\":2",
	    .cause = CAUSE_PROVIDER },
	{ "schedule */* { provider 3 }", "\"code\":\"provider\","
	    "\"provider\":\"mx\",\"provider_sessions\":2",
	    .cause = CAUSE_LINE },
	{ "schedule */* { provider 3 }", "\"code\":\"provider\","
	    "\"provider\":\"mx\",\"provider_sessions\":2,"
	    "\"provider_learned\":2", .cause = CAUSE_PROVIDER },
	/* what lies with others */
	{ "", "\"code\":\"host-down\"", .is_unknown = true },
	{ "", "\"code\":\"suspended\"", .is_unknown = true },
};

Test(suppose, the_planner_says_what_would_bind)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct yard yard = { .is_open = false };
		struct supposition found;
		struct supposed supposed;
		char line[500];
		struct err err;

		yard_open(&yard, row->conf);
		snprintf(line, sizeof(line), "{%s,\"channel\":\"smtp\","
		    "\"host\":\"x.test\"}", row->line);
		cr_assert_eq(supposed_read(slice_of(line), &supposed, &err),
		    0, "row %zu: %s", i, err.text);
		suppose_judge(yard.conf, &supposed, NOW_S, &found);
		cr_expect_eq(found.is_known, !row->is_unknown, "row %zu", i);
		if (found.is_known) {
			cr_expect_eq(found.cause, row->cause, "row %zu: %s",
			    i, cause_rows[found.cause].code);
			cr_expect_eq(found.is_after_success,
			    row->is_after_success, "row %zu", i);
		}
		/* of a rate the clock of now counts */
		if (found.is_known && row->cause == CAUSE_RATE)
			cr_expect_leq(llabs(found.at_s - clock_wall_s() -
			    row->at_s), 2, "row %zu: %lld", i,
			    (long long)(found.at_s - clock_wall_s()));
		else if (row->at_s > 0)
			cr_expect_eq(found.at_s - NOW_S, row->at_s,
			    "row %zu: %lld", i, (long long)(found.at_s -
			    NOW_S));
		if (row->by != NULL)
			cr_expect_str_eq(found.by, row->by, "row %zu", i);
		supposed_release(&supposed);
		yard_close(&yard);
	}
}

Test(suppose, what_is_no_line_of_why_is_refused)
{
	static const char *const bad[] = { "", "{", "{}", "why",
		"{\"code\":\"timer\"}", ("{\"code\":\"nothing\","
		"\"channel\":\"smtp\",\"host\":\"x\"}"),
		"{\"code\":\"timer\",\"channel\":\"smtp\"}" };
	struct supposed supposed;
	struct err err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(supposed_read(slice_of(bad[i]), &supposed, &err),
		    -1, "%s", bad[i]);
		supposed_release(&supposed);
	}
}
