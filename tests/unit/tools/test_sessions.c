/* test_sessions.c - connections of a day, counted by domain
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tools/zmailer/report/send/sessions.h"

static struct sessions sessions;

static void
begin(void)
{
	sessions_init(&sessions, "2026-11-20");
}

static void
end(void)
{
	sessions_release(&sessions);
}

TestSuite(sessions, .init = begin, .fini = end);

static void
take(const char *line)
{
	sessions_take_line(&sessions, slice_of(line));
}

static void
take_session(const char *day, const char *domain, const char *policy,
    const char *result)
{
	char line[512];

	snprintf(line, sizeof(line), "{\"t\":\"%sT10:00:00.000Z\",\"ev\":"
	    "\"tls.session\",\"domain\":\"%s\",\"policy\":\"%s\",\"host\":"
	    "\"mx.%s[192.0.2.1]:25\",\"result\":\"%s\",\"address\":"
	    "\"192.0.2.1\"}", day, domain, policy, domain, result);
	take(line);
}

Test(sessions, are_counted_by_domain_policy_and_failure)
{
	const struct sessions_count *count;

	take_session("2026-11-20", "a.test", "sts", "success");
	take_session("2026-11-20", "a.test", "sts", "validation-failure");
	take_session("2026-11-20", "a.test", "sts", "validation-failure");
	take_session("2026-11-20", "a.test", "sts", "certificate-expired");
	take_session("2026-11-20", "a.test", "tlsa", "success");
	take_session("2026-11-20", "b.test", "sts", "success");
	take("{\"t\":\"2026-11-20T11:00:00.000Z\",\"ev\":\"sts.trouble\","
	    "\"domain\":\"b.test\",\"result\":\"sts-policy-invalid\"}");
	cr_assert_eq(sessions.domain_count, 2);
	cr_assert_str_eq(sessions.domains[0].name, "a.test");
	count = &sessions.domains[0].by[SESSIONS_STS];
	cr_assert_eq(count->ok, 1);
	cr_assert_eq(count->failed, 3);
	cr_assert_eq(count->failure_count, 2);
	cr_assert_str_eq(count->failures[0].result, "validation-failure");
	cr_assert_str_eq(count->failures[0].host, "mx.a.test");
	cr_assert_str_eq(count->failures[0].address, "192.0.2.1");
	cr_assert_eq(count->failures[0].count, 2);
	cr_assert_eq(sessions.domains[0].by[SESSIONS_TLSA].ok, 1);
	count = &sessions.domains[1].by[SESSIONS_STS];
	cr_assert_eq(count->failed, 1);
	cr_assert_str_eq(count->failures[0].host, "");
	cr_assert_eq(count->host_count, 1);
}

/* They would stand in the header of a mail. */
Test(sessions, names_that_are_no_domain_are_left_out)
{
	take_session("2026-11-20", "a.test\\nBcc: v@b.test", "sts", "success");
	take_session("2026-11-20", "a\xc3\xa4.test", "sts", "success");
	take_session("2026-11-20", "", "sts", "success");
	cr_assert_eq(sessions.domain_count, 0);
}

Test(sessions, of_other_days_and_damaged_lines_are_left_out)
{
	take_session("2026-11-19", "a.test", "sts", "success");
	take_session("2026-11-21", "a.test", "sts", "success");
	take("{\"t\":\"2026-11-20T10:00:00.000Z\",\"ev\":\"tls.session\"}");
	take("{\"t\":\"2026-11-20T10:00:00.000Z\",\"ev\":\"tls.session\","
	    "\"domain\":");
	take("");
	cr_assert_eq(sessions.domain_count, 0);
}

Test(sessions, who_was_told_of_the_day_is_known)
{
	take_session("2026-11-20", "a.test", "sts", "success");
	take("{\"t\":\"2026-11-21T00:30:00.000Z\",\"ev\":\"report.sent\","
	    "\"kind\":\"tls\",\"domain\":\"a.test\",\"day\":\"2026-11-19\"}");
	cr_assert(!sessions.domains[0].is_told);
	take("{\"t\":\"2026-11-21T00:30:00.000Z\",\"ev\":\"report.sent\","
	    "\"kind\":\"tls\",\"domain\":\"a.test\",\"day\":\"2026-11-20\"}");
	cr_assert(sessions.domains[0].is_told);
}

Test(sessions, are_bounded)
{
	char name[64];

	for (unsigned i = 0; i < SESSIONS_DOMAINS_MAX + 10; i++) {
		snprintf(name, sizeof(name), "d%u.test", i);
		take_session("2026-11-20", name, "sts", "success");
	}
	cr_assert_eq(sessions.domain_count, SESSIONS_DOMAINS_MAX);
	cr_assert_eq(sessions.left_out, 10);
	for (unsigned i = 0; i < SESSIONS_FAILURES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "odd-%u", i);
		take_session("2026-11-20", "d0.test", "sts", name);
	}
	cr_assert_eq(sessions.domains[0].by[SESSIONS_STS].failure_count,
	    SESSIONS_FAILURES_MAX);
	cr_assert_eq(sessions.domains[0].by[SESSIONS_STS].failed,
	    SESSIONS_FAILURES_MAX + 10);
}

static void
take_records(const char *records)
{
	char line[4096];

	snprintf(line, sizeof(line), "{\"t\":\"2026-11-20T10:00:00.000Z\","
	    "\"ev\":\"tls.session\",\"domain\":\"a.test\",\"policy\":"
	    "\"tlsa\",\"host\":\"mx.a.test\",\"result\":\"success\","
	    "\"records\":\"%s\"}", records);
	take(line);
}

/* RFC 8460 section 4.4: the policy of DANE is its records. */
Test(sessions, records_of_hosts_are_told_once)
{
	struct sessions_letter letter = { .organization = "mx.test",
		.contact = "r@mx.test", .id = "1", .policies = { "", "" } };
	struct str out = STR_INIT;

	take_records("3 1 1 00ff,2 0 1 aa");
	take_records("2 0 1 aa,3 1 1 01");
	sessions_add_report(&out, &sessions, &sessions.domains[0], &letter);
	cr_assert_not_null(strstr(out.buf, "{\"policy-type\":\"tlsa\","
	    "\"policy-string\":[\"3 1 1 00ff\",\"2 0 1 aa\",\"3 1 1 01\"],"
	    "\"policy-domain\":\"a.test\""), "%s", out.buf);
	str_release(&out);
}

Test(sessions, records_are_bounded)
{
	const struct sessions_count *count;
	char text[SESSIONS_RECORD_BYTES_MAX + 2];

	take_session("2026-11-20", "a.test", "tlsa", "success");
	count = &sessions.domains[0].by[SESSIONS_TLSA];
	cr_assert_eq(count->record_count, 0);
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	take_records(text);
	take_records(",,");
	cr_assert_eq(count->record_count, 0);
	text[sizeof(text) - 2] = '\0';
	take_records(text);
	cr_assert_eq(count->record_count, 1);
	for (unsigned i = 0; i < SESSIONS_RECORDS_MAX + 10; i++) {
		snprintf(text, sizeof(text), "3 1 1 %02x", i);
		take_records(text);
	}
	cr_assert_eq(count->record_count, SESSIONS_RECORDS_MAX);
}

Test(sessions, a_report_is_one_line_of_json)
{
	struct sessions_letter letter = { .organization = "mx.test",
		.contact = "r@mx.test", .id = "1", .policies = {
		"version: STSv1\nmode: testing\n", "" } };
	struct str out = STR_INIT;

	take_session("2026-11-20", "a.test", "sts", "od\\\"d");
	sessions_add_report(&out, &sessions, &sessions.domains[0], &letter);
	cr_assert_str_eq(out.buf, "{\"organization-name\":\"mx.test\","
	    "\"date-range\":{\"start-datetime\":\"2026-11-20T00:00:00Z\","
	    "\"end-datetime\":\"2026-11-20T23:59:59Z\"},\"contact-info\":"
	    "\"r@mx.test\",\"report-id\":\"1\",\"policies\":[{\"policy\":{"
	    "\"policy-type\":\"sts\",\"policy-string\":[\"version: STSv1\","
	    "\"mode: testing\"],\"policy-domain\":\"a.test\",\"mx-host\":["
	    "\"mx.a.test\"]},\"summary\":{\"total-successful-session-count\":"
	    "0,\"total-failure-session-count\":1},\"failure-details\":[{"
	    "\"result-type\":\"od\\\"d\",\"receiving-mx-hostname\":"
	    "\"mx.a.test\",\"receiving-ip\":\"192.0.2.1\","
	    "\"failed-session-count\":1}]}]}\n");
	str_release(&out);
}
