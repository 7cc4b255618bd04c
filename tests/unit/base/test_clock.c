/* test_clock.c - clocks, their texts, and the one that a test moves
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(clock, rfc_3339)
{
	static const struct { int64_t us; const char *want; } rows[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ 1795208640123456, "2026-11-20T21:04:00.123Z" },
		{ 951782400999999, "2000-02-29T00:00:00.999Z" },
		{ 4102444799000000, "2099-12-31T23:59:59.000Z" },
	};
	char text[CLOCK_TEXT_BYTES];

	for (size_t i = 0; i < COUNT(rows); i++) {
		clock_rfc3339(rows[i].us, text);
		cr_expect_str_eq(text, rows[i].want);
	}
}

/* The C library's gmtime, which this is in place of, agrees about each day. */
Test(clock, rfc_3339_of_each_day)
{
	char text[CLOCK_TEXT_BYTES], want[CLOCK_TEXT_BYTES];

	for (int64_t day = -1000; day < 150000; day++) {
		time_t at = (time_t)(day * 86400 + 86399);
		struct tm tm;

		gmtime_r(&at, &tm);
		strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.001Z", &tm);
		clock_rfc3339((int64_t)at * 1000000 + 1999, text);
		cr_assert_str_eq(text, want);
	}
}

Test(clock, rfc_5322)
{
	static const struct {
		const char	*zone;
		int64_t		 s;
		const char	*want;
	} rows[] = {
		{ "UTC0", 0, "Thu, 1 Jan 1970 00:00:00 +0000" },
		{ "UTC0", 1795208640, "Fri, 20 Nov 2026 21:04:00 +0000" },
		{ "XST-5:30", 1795208640, "Sat, 21 Nov 2026 02:34:00 +0530" },
		{ "XST8", 1795208640, "Fri, 20 Nov 2026 13:04:00 -0800" },
	};
	char text[CLOCK_TEXT_BYTES];

	for (size_t i = 0; i < COUNT(rows); i++) {
		setenv("TZ", rows[i].zone, 1);
		tzset();
		clock_rfc5322(rows[i].s, text);
		cr_expect_str_eq(text, rows[i].want);
	}
}

Test(clock, spans)
{
	static const struct { int64_t s; const char *want; } rows[] = {
		{ 0, "0s" }, { -5, "0s" }, { 45, "45s" }, { 60, "1m" },
		{ 61, "1m1s" }, { 3599, "59m59s" }, { 3600, "1h" },
		{ 11520, "3h12m" }, { 11521, "3h12m" }, { 86400, "1d" },
		{ 432000, "5d" }, { 90000, "1d1h" }, { 86460, "1d" },
	};
	char text[CLOCK_TEXT_BYTES];

	for (size_t i = 0; i < COUNT(rows); i++) {
		clock_span(rows[i].s, text);
		cr_expect_str_eq(text, rows[i].want);
	}
}

Test(clock, runs_by_itself)
{
	int64_t before = (int64_t)time(NULL), now = clock_wall_s();
	int64_t steady_ms = clock_steady_ms();

	unsetenv("ZMAILER_TEST_CLOCK");
	cr_expect_geq(now, before);
	cr_expect_leq(now, (int64_t)time(NULL));
	cr_expect_geq(clock_steady_ms(), steady_ms);
	cr_expect_eq(clock_nap_ms(), -1);
}

/* Asked at other moments of a second, it says the same. */
Test(clock, a_moment_does_not_flicker)
{
	int64_t wall_us = clock_wall_us(), at_ms, want_s;

	/* half past a second, an hour from now: no boundary is near */
	at_ms = clock_steady_ms() + 3600000 + 500 - wall_us / 1000 % 1000;
	want_s = wall_us / 1000000 + 3600;
	for (int i = 0; i < 21; i++) {
		cr_expect_eq(clock_wall_of_s(at_ms), want_s, "at %d: %lld", i,
		    (long long)(clock_wall_of_s(at_ms) - want_s));
		usleep(50000);
	}
}

static void
move(int fd, int64_t by_s)
{
	cr_assert_eq(pwrite(fd, &by_s, sizeof(by_s), 0), sizeof(by_s));
}

Test(clock, can_be_moved)
{
	char path[] = "/tmp/zm-clock-XXXXXX";
	int fd = mkstemp(path);
	int64_t wall_s, steady_ms;

	cr_assert_geq(fd, 0);
	move(fd, 0);
	setenv("ZMAILER_TEST_CLOCK", path, 1);
	wall_s = clock_wall_s();
	steady_ms = clock_steady_ms();
	cr_expect_eq(clock_nap_ms(), 20);
	move(fd, 3600);
	cr_expect_geq(clock_wall_s(), wall_s + 3600);
	cr_expect_lt(clock_wall_s(), wall_s + 3660);
	cr_expect_geq(clock_steady_ms(), steady_ms + 3600000);
	move(fd, 0);
	cr_expect_lt(clock_wall_s(), wall_s + 60);
	close(fd);
	unlink(path);
}

Test(clock, what_is_to_come_was_long_ago)
{
	clock_hold_wall(INT64_C(1000000) * 1000000);
	cr_expect_eq(clock_since_s(1000000 - 77), 77);
	cr_expect_eq(clock_since_s(1000000), 0);
	cr_expect_eq(clock_since_s(1000000 + CLOCK_AHEAD_S), 0);
	cr_expect_eq(clock_since_s(1000000 + CLOCK_AHEAD_S + 1),
	    CLOCK_LONG_AGO_S);
	cr_expect_eq(clock_since_s(INT32_MAX), CLOCK_LONG_AGO_S);
	clock_hold_wall(0);
}

Test(clock, a_test_clock_that_is_not_there_is_fatal, .exit_code = EXIT_FATAL)
{
	setenv("ZMAILER_TEST_CLOCK", "/nonexistent/clock", 1);
	clock_wall_s();
}
