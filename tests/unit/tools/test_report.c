/* test_report.c - the journal counted
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tools/zmailer/report/capacity.h"
#include "tools/zmailer/report/report.h"

static struct mail_report report;

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

/* ---- who has most -------------------------------------------------------- */

#define ROUTED(id, from, user, size) "{\"id\":\"" id "\",\"ev\":" \
	"\"message.routed\",\"from\":\"" from "\",\"user\":\"" user \
	"\",\"size\":\"" size "\"}"
#define OUTCOME(id, ev, to) \
	"{\"id\":\"" id "\",\"ev\":\"" ev "\",\"to\":\"" to "\"}"

static const struct tops_row *
top_of(enum tops_sort sort, const char *name)
{
	const struct tops_table *table = &report.tops.tables[sort];

	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i].name, name) == 0)
			return &table->rows[i];
	return NULL;
}

static void
top_is(enum tops_sort sort, const char *name, uint64_t count, uint64_t bytes,
    uint64_t failures)
{
	const struct tops_row *row = top_of(sort, name);

	cr_assert_not_null(row, "%s", name);
	cr_expect_eq(row->numbers[TOPS_BY_COUNT], count, "%s", name);
	cr_expect_eq(row->numbers[TOPS_BY_BYTES], bytes, "%s", name);
	cr_expect_eq(row->numbers[TOPS_BY_FAILURES], failures, "%s", name);
}

Test(report, failures_belong_to_who_sent_the_message)
{
	feed("{\"id\":\"361a\",\"ev\":\"message.accepted\",\"client\":"
	    "\"[2001:db8::1]:4711\",\"size\":\"100\"}");
	feed(ROUTED("361a", "a@x.test", "ursula", "120"));
	feed(ROUTED("361b", "", "", "10"));
	feed(OUTCOME("361a", "rcpt.ok", "b@Y.Test"));
	feed(OUTCOME("361a", "rcpt.fail", "c@y.test"));
	feed(OUTCOME("361b", "rcpt.fail", "root"));
	feed(OUTCOME("361c", "rcpt.fail", "d@z.test"));	/* of long ago */
	feed("{\"ev\":\"auth.failed\",\"client\":\"192.0.2.9:25\","
	    "\"user\":\"ursula\"}");
	feed("{\"ev\":\"command.refused\",\"client\":\"192.0.2.9:26\","
	    "\"from\":\"spam@x.test\"}");
	feed("{\"ev\":\"session.refused\",\"client\":\"192.0.2.9:27\"}");
	top_is(TOPS_SENDERS, "a@x.test", 1, 120, 1);
	top_is(TOPS_SENDERS, "<>", 1, 10, 1);
	top_is(TOPS_SENDERS, "spam@x.test", 0, 0, 1);
	top_is(TOPS_USERS, "ursula", 1, 120, 2);
	top_is(TOPS_CLIENTS, "[2001:db8::1]", 1, 100, 1);
	top_is(TOPS_CLIENTS, "192.0.2.9", 0, 0, 3);
	top_is(TOPS_DOMAINS, "y.test", 2, 240, 1);
	top_is(TOPS_DOMAINS, "(local)", 1, 10, 1);
	top_is(TOPS_DOMAINS, "z.test", 1, 0, 1);
}

Test(report, the_largest_come_first_by_each_number)
{
	static const struct {
		enum tops_by by;
		const char *first;
	} rows[] = {
		{ TOPS_BY_COUNT, "often@x.test" }, { TOPS_BY_BYTES,
		    "large@x.test" }, { TOPS_BY_FAILURES, "bad@x.test" },
	};

	feed(ROUTED("361a", "often@x.test", "", "1"));
	feed(ROUTED("361b", "often@x.test", "", "1"));
	feed(ROUTED("361c", "large@x.test", "", "1000000"));
	feed(ROUTED("361d", "bad@x.test", "", "1"));
	feed(OUTCOME("361d", "rcpt.fail", "c@y.test"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tops_order(&report.tops, TOPS_SENDERS, rows[i].by);
		cr_expect_str_eq(report.tops.tables[TOPS_SENDERS].rows[0].name,
		    rows[i].first);
	}
	/* counting goes on after it */
	feed(OUTCOME("361c", "rcpt.fail", "c@y.test"));
	top_is(TOPS_SENDERS, "large@x.test", 1, 1000000, 1);
	cr_expect_eq(tops_sort_parse("clients"), TOPS_CLIENTS);
	cr_expect_eq(tops_by_parse("failures"), TOPS_BY_FAILURES);
	cr_expect_eq(tops_sort_parse("x"), -1);
	cr_expect_eq(tops_by_parse(""), -1);
}

Test(report, a_flood_of_names_hides_nobody_and_keeps_to_its_room)
{
	char line[200];
	const struct tops_table *table = &report.tops.tables[TOPS_SENDERS];
	uint64_t all;

	for (int i = 0; i < 100000; i++) {
		snprintf(line, sizeof(line), ROUTED("%d", "flood%d@x.test",
		    "", "10"), i, i);
		feed(line);
		if (i % 100 == 0)
			feed(ROUTED("361a", "often@x.test", "", "10"));
	}
	cr_expect_leq(table->count, TOPS_NAMES_MAX);
	cr_expect_gt(table->forgotten, 90000);
	top_is(TOPS_SENDERS, "often@x.test", 1000, 10000, 0);
	all = table->others[TOPS_BY_COUNT];
	for (size_t i = 0; i < table->count; i++)
		all += table->rows[i].numbers[TOPS_BY_COUNT];
	cr_expect_eq(all, 101000);
}

Test(report, hostile_names_break_no_table)
{
	static const char *const hostile[] = {
		"\\u001b[2J\\u001b[31mroot", "a\\nTOTAL  9999", "\\t\\t",
		("\xe2\x80\xae" "evil"), "\\u0000x", "%s%n", "a\\\"b\\\\",
	};
	struct str out = STR_INIT;
	char line[2000], longest[600];
	size_t lines = 0;

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		snprintf(line, sizeof(line), ROUTED("361%zu", "%s", "", "1"),
		    i, hostile[i]);
		feed(line);
	}
	snprintf(line, sizeof(line), ROUTED("362a", "%s", "", "1"), longest);
	feed(line);
	tops_print(&report.tops, TOPS_SENDERS, TOPS_BY_COUNT, 20, &out);
	for (size_t i = 0; i < out.len; i++) {
		unsigned char c = (unsigned char)out.buf[i];

		cr_expect(c == '\n' || (c >= ' ' && c < 127), "%02x", c);
		lines += c == '\n';
	}
	cr_expect_eq(lines, 1 + sizeof(hostile) / sizeof(hostile[0]) + 1);
	for (struct slice rest = str_slice(&out), one; slice_cut(&rest, '\n',
	    &one);)
		cr_expect_leq(one.n, 80);
	str_reset(&out);
	tops_print_json(&report.tops, TOPS_SENDERS, TOPS_BY_COUNT, 20, &out);
	cr_expect_null(strchr(out.buf, '\033'));
	str_release(&out);
}
