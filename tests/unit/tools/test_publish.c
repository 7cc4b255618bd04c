/* test_publish.c - what is published, and orders about it
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include <criterion/criterion.h>

#include "tools/publish/figures.h"
#include "tools/publish/order.h"

#include "base/banned.h"

static int
set_parse(const char *name, const char *more)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct publish_set set;
	struct err err;
	int result;

	str_addf(&text, "{\"file\":\"%s\",\"bytes\":2}\nab\n%s", name, more);
	result = publish_set_parse(str_slice(&text), arena, &set, &err);
	str_release(&text);
	arena_free(&arena);
	return result;
}

Test(publish, names_lead_nowhere_else)
{
	static const char *const good[] = { "a", "zmailer.conf", "a/b/c",
		"a..b", "a.", "A-1_2" };
	static const char *const bad[] = { "", "/a", "../a", "a/../b", "..",
		".", "./a", ".a", "a/.b", "a//b", "a/", "a b", "a\\nb",
		"a\\u0000b", "\\u00e4", "\\u001b" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect_eq(set_parse(good[i], "end\n"), 0, "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(set_parse(bad[i], "end\n"), -1, "%s", bad[i]);
}

Test(publish, what_is_cut_off_or_comes_twice_is_nothing)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct publish_set set;
	struct err err;

	cr_expect_eq(set_parse("a", ""), -1);
	cr_expect_eq(set_parse("a", "en"), -1);
	cr_expect_eq(set_parse("a", "end\nx"), -1);
	cr_expect_eq(set_parse("a", "{\"file\":\"a\",\"bytes\":0}\n\nend\n"),
	    -1);
	cr_expect_eq(set_parse("a", "{\"file\":\"b\",\"bytes\":0}\n\nend\n"),
	    0);
	cr_expect_eq(publish_set_parse(SLICE("end\n"), arena, &set, &err),
	    -1);
	for (int i = 0; i <= PUBLISH_FILES_MAX; i++)
		str_addf(&text, "{\"file\":\"f%d\",\"bytes\":0}\n\n", i);
	str_adds(&text, "end\n");
	cr_expect_eq(publish_set_parse(str_slice(&text), arena, &set, &err),
	    -1);
	str_release(&text);
	arena_free(&arena);
}

Test(publish, a_sum_tells_names_from_texts)
{
	const struct publish_file one[] = { { "a", SLICE("bc") } },
	    two[] = { { "ab", SLICE("c") } };
	char a[PUBLISH_SUM_BYTES], b[PUBLISH_SUM_BYTES];

	publish_set_sum(one, 1, a);
	publish_set_sum(two, 1, b);
	cr_expect_eq(strlen(a), 64);
	cr_expect_str_neq(a, b);
}

Test(publish, orders_are_as_they_are_written)
{
	static const struct {
		const char *line;
		int want;
		size_t number;
	} rows[] = {
		{ "offer 0123456789abcdef 16777216", 0, 16777216 },
		{ "offer 0123456789abcdef 1 604800", 0, 1 },
		{ "take 0123456789abcdef 604800", 0, 604800 },
		{ "keep 0123456789abcdef", 0, 0 },
		{ "look 0123456789abcdef", 0, 0 },
		{ "offer 0123456789abcdef 16777217", -1, 0 },
		{ "offer 0123456789abcdef 0", -1, 0 },
		{ "offer 0123456789abcdef 1 604801", -1, 0 },
		{ "offer 0123456789abcdef 1 0", -1, 0 },
		{ "offer 0123456789abcdef 1 1 1", -1, 0 },
		{ "offer 0123456789abcdef -1", -1, 0 },
		{ "offer 0123456789abcdef", -1, 0 },
		{ "take 0123456789abcdef 604801", -1, 0 },
		{ "keep 0123456789abcdef 1", -1, 0 },
		{ "keep 0123456789ABCDEF", -1, 0 },
		{ "keep 0123456789abcde", -1, 0 },
		{ "keep ../../../../../x", -1, 0 },
		{ "eat 0123456789abcdef", -1, 0 }, { "", -1, 0 },
	};
	struct publish_order order;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(publish_order_parse(slice_of(rows[i].line),
		    &order), rows[i].want, "%s", rows[i].line);
		if (rows[i].want == 0)
			cr_expect_eq(order.number, rows[i].number);
	}
}

Test(publish, ten_more_and_twice_the_share_is_worse)
{
	static const struct {
		struct figures before, now;
		bool want;
	} rows[] = {
		{ { 0 }, { .accepted = 1, .refused = 9 }, false },
		{ { 0 }, { .accepted = 1, .refused = 10 }, true },
		{ { .accepted = 90, .refused = 10 },
		    { .accepted = 81, .refused = 19 }, false },
		{ { .accepted = 90, .refused = 10 },
		    { .accepted = 80, .refused = 20 }, true },
		{ { .delivered = 990, .failed = 10 },
		    { .delivered = 500, .failed = 9 }, false },
		{ { .delivered = 990, .failed = 10 },
		    { .delivered = 100, .failed = 10 }, true },
		/* no share is twice 60 of 100 */
		{ { .accepted = 40, .refused = 60 },
		    { .refused = 25 }, true },
		{ { .accepted = 40, .refused = 60 },
		    { .accepted = 20, .refused = 80 }, true },
		{ { .accepted = 40, .refused = 60 },
		    { .accepted = 40, .refused = 60 }, false },
		{ { .accepted = 10, .refused = 90 },
		    { .accepted = 2, .refused = 38 }, false },
		{ { .refused = 100 }, { .refused = 100 }, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(figures_are_worse(&rows[i].before, &rows[i].now),
		    rows[i].want, "row %zu", i);
}

Test(publish, figures_are_sums_of_metrics)
{
	struct figures f;

	figures_read(SLICE("zmailer_smtpserver_messages_total{"
	    "result=\"accepted\",listener=\"a\"} 7\n"
	    "zmailer_smtpserver_messages_total{result=\"refused\"} 70\n"
	    "zmailer_smtpserver_rejects_total{stage=\"rcpt\"} 3\n"
	    "zmailer_smtpserver_rejects_total{stage=\"data\"} 2\n"
	    "zmailer_smtpserver_rejects_total{stage=\"mail\"} 9\n"
	    "zmailer_deliveries_total{result=\"deferred\"} 1\n"
	    "zmailer_deliveries_total{result=\"failed\"} 4.0\n"
	    "zmailer_deliveries_total{result=\"ok\"} 8\n# EOF\n"), &f);
	cr_expect_eq(f.accepted, 7);
	cr_expect_eq(f.refused, 5);
	cr_expect_eq(f.failed, 5);
	cr_expect_eq(f.delivered, 8);
}
