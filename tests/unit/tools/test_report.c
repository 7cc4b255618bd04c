/* test_report.c - the journal counted
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tools/zmailer/report/capacity.h"
#include "tools/zmailer/report/report.h"

static struct report report;

static void
setup(void)
{
	report_init(&report);
}

static void
teardown(void)
{
	report_count_release(&report);
}

TestSuite(report, .init = setup, .fini = teardown);

static void
feed(const char *text)
{
	report_count_line(&report, slice_of(text));
}

Test(report, lines_are_counted)
{
	struct str out = STR_INIT;

	feed("{\"ev\":\"message.accepted\",\"size\":\"2048\"}\n");
	feed("{\"ev\":\"message.routed\",\"ms\":\"3\"}\n");
	feed("{\"ev\":\"rcpt.ok\",\"channel\":\"smtp\",\"host\":\"a.test\","
	    "\"ms\":\"40\",\"delay\":\"2\"}\n");
	feed("{\"ev\":\"rcpt.defer\",\"channel\":\"smtp\",\"host\":\"b.test\","
	    "\"class\":\"quota\",\"code\":\"4.2.2\",\"reply\":\"452 full "
	    "\\u001b[2J\"}\n");
	feed("{\"ev\":\"rcpt.fail\",\"channel\":\"smtp\",\"host\":\"b.test\","
	    "\"class\":\"quota\",\"code\":\"4.2.2\",\"reply\":\"x\"}\n");
	feed("not a line\n");
	feed("");
	cr_expect_eq(report.accepted, 1);
	cr_expect_eq(report.bytes, 2048);
	cr_expect_eq(report.ok, 1);
	cr_expect_eq(report.deferred, 1);
	cr_expect_eq(report.failed, 1);
	cr_expect_eq(report_percentile(&report.routing, 50), 3);
	report_print(&report, &out);
	cr_expect_not_null(strstr(out.buf, "smtp/b.test"));
	cr_expect_not_null(strstr(out.buf, "quota 4.2.2"));
	cr_expect_not_null(strstr(out.buf, "452 full"));
	cr_expect_null(strchr(out.buf, '\033'));
	str_release(&out);
}

Test(report, percentiles_are_near)
{
	char line[80];

	cr_expect_eq(report_percentile(&report.routing, 50), -1);
	for (int i = 1; i <= 1000; i++) {
		snprintf(line, sizeof(line),
		    "{\"ev\":\"message.routed\",\"ms\":\"%d\"}\n", i);
		feed(line);
	}
	for (unsigned p = 10; p <= 100; p += 10) {
		int64_t got = report_percentile(&report.routing, p);
		int64_t want = (int64_t)p * 10;

		cr_expect(got >= want && got <= want + want / 8 + 1,
		    "%u %%: %lld", p, (long long)got);
	}
	feed("{\"ev\":\"message.routed\",\"ms\":\"9223372036854775807\"}\n");
	cr_expect_gt(report_percentile(&report.routing, 100), 1000);
}

Test(report, names_are_bounded)
{
	struct str out = STR_INIT;
	char line[100];

	for (int i = 0; i < REPORT_NAMES_MAX + 50; i++) {
		snprintf(line, sizeof(line), "{\"ev\":\"rcpt.ok\","
		    "\"channel\":\"smtp\",\"host\":\"h%d\"}\n", i);
		feed(line);
	}
	cr_expect_eq(report.hosts.count, REPORT_NAMES_MAX);
	report_print_json(&report, &out);
	cr_expect_not_null(strstr(out.buf, "\"name\":\"(others)\",\"ok\":50"));
	str_release(&out);
}

/* What gives way first is what does least in a second; what is not known
 * is not it. */
Test(report, capacity_ends_where_least_goes_through)
{
	static const struct {
		int64_t		 us[3];
		unsigned	 at_a_time[3];
		const char	*first;		/* NULL: none is known */
		uint64_t	 rate;
	} rows[] = {
		{ { 500, 1000, 50000 }, { 2, 2, 100 }, "route", 2000 },
		{ { 500, 1000, 50000 }, { 2, 2, 10 }, "deliver", 200 },
		{ { 20000, 1000, 50000 }, { 2, 2, 100 }, "accept", 100 },
		{ { 500, -1, -1 }, { 2, 2, 100 }, "accept", 4000 },
		{ { -1, -1, -1 }, { 2, 2, 100 }, NULL, 0 },
		{ { 0, 0, 0 }, { 3, 2, 1 }, "deliver", 1000000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct capacity capacity = { .sync_us = -1 };
		const struct capacity_stage *first;

		for (int k = 0; k < 3; k++)
			capacity.stages[k] = (struct capacity_stage){
			    k == 0 ? "accept" : k == 1 ? "route" : "deliver",
			    rows[i].us[k], rows[i].at_a_time[k], "" };
		first = capacity_first(&capacity);
		if (rows[i].first == NULL) {
			cr_expect_null(first);
			continue;
		}
		cr_assert_not_null(first);
		cr_expect_str_eq(first->name, rows[i].first, "row %zu", i);
		cr_expect_eq(capacity_rate(first), rows[i].rate, "row %zu",
		    i);
	}
}
