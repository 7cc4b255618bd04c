/* clock.c - wall clock, steady clock, and the clock that a test can move
 *
 * In     clock_gettime, the file named by ZMAILER_TEST_CLOCK
 * Out    microseconds, milliseconds, and their text forms
 * Holds  the mapping of the test's file
 * Spec   RFC 3339 section 5.6; RFC 5322 section 3.3
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

#define ZM_MAKES_MOMENTS
#include "base/banned.h"

enum { TEST_NAP_MS = 20 };

enum { BOTH, WALL, OFFSETS };

/* What is not in the file is 0: the rest of its page. */
static const volatile int64_t *
test_offsets(void)
{
	static const volatile int64_t *offset;
	static int asked;
	const char *path;
	int fd;
	void *map;

	if (asked)
		return offset;
	asked = 1;
	path = getenv("ZMAILER_TEST_CLOCK");
	if (path == NULL)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fatal("ZMAILER_TEST_CLOCK names %s, which cannot be opened",
		    path);
	map = mmap(NULL, OFFSETS * sizeof(*offset), PROT_READ, MAP_SHARED, fd,
	    0);
	close(fd);
	if (map == MAP_FAILED)
		fatal("ZMAILER_TEST_CLOCK: %s cannot be mapped", path);
	offset = map;
	return offset;
}

static int64_t
read_clock_us(clockid_t which)
{
	const volatile int64_t *offsets = test_offsets();
	int64_t ahead_s = 0;
	struct timespec ts;

	if (offsets != NULL)
		ahead_s = offsets[BOTH] + (which == CLOCK_REALTIME ?
		    offsets[WALL] : 0);
	clock_gettime(which, &ts);
	return ((int64_t)ts.tv_sec + ahead_s) * 1000000 + ts.tv_nsec / 1000;
}

void
clock_file_now(struct timespec *out_least, struct timespec *out_most)
{
#ifdef CLOCK_REALTIME_COARSE
	const clockid_t ticks = CLOCK_REALTIME_COARSE;
#else
	const clockid_t ticks = CLOCK_REALTIME;
#endif

	if (out_least != NULL)
		clock_gettime(ticks, out_least);
	if (out_most != NULL)
		clock_gettime(CLOCK_REALTIME, out_most);
}

static int64_t held_wall_us;

void
clock_hold_wall(int64_t wall_us)
{
	held_wall_us = wall_us;
}

int64_t
clock_wall_us(void)
{
	if (held_wall_us != 0)
		return held_wall_us;
	return read_clock_us(CLOCK_REALTIME);
}

int64_t
clock_wall_s(void)
{
	return clock_wall_us() / 1000000;
}

int64_t
clock_steady_us(void)
{
#ifdef CLOCK_BOOTTIME
	return read_clock_us(CLOCK_BOOTTIME);
#else
	return read_clock_us(CLOCK_MONOTONIC);
#endif
}

int64_t
clock_steady_ms(void)
{
	return clock_steady_us() / 1000;
}

int64_t
clock_wall_of_s(int64_t at_ms)
{
	int64_t ahead_us = clock_wall_us() - clock_steady_us();

	return (ahead_us + at_ms * 1000) / 1000000;
}

int64_t
clock_real_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int
clock_nap_ms(void)
{
	return test_offsets() ? TEST_NAP_MS : -1;
}

/* The date of a day since 1970 (in UTC), by eras of 400 years that begin in
 * March.  gmtime_r would do, but reads the file of the local time zone at its
 * first use, which a program that ends at once does not need. */
static void
date_of_day(int64_t day, int *out_year, int *out_month, int *out_mday)
{
	enum { ERA_DAYS = 146097, MARCH_1_OF_0 = 719468 };
	int64_t era, year;
	int of_era, of_year, month;

	day += MARCH_1_OF_0;
	era = (day >= 0 ? day : day - ERA_DAYS + 1) / ERA_DAYS;
	of_era = (int)(day - era * ERA_DAYS);
	year = (of_era - of_era / 1460 + of_era / 36524 -
	    of_era / (ERA_DAYS - 1)) / 365;
	of_year = of_era - (int)(365 * year + year / 4 - year / 100);
	month = (5 * of_year + 2) / 153;
	*out_mday = of_year - (153 * month + 2) / 5 + 1;
	*out_month = month < 10 ? month + 3 : month - 9;
	*out_year = (int)(year + era * 400 + (*out_month <= 2));
}

/* count digits of a number and what stands after them: printf takes longer for
 * the time of an event than all its other parts do together. */
static char *
digits_put(char *at, unsigned number, int count, char after)
{
	for (int i = count; i-- > 0; number /= 10)
		at[i] = (char)('0' + number % 10);
	at[count] = after;
	return at + count + 1;
}

void
clock_rfc3339(int64_t wall_us, char out_text[CLOCK_TEXT_BYTES])
{
	int64_t ms = wall_us / 1000, day;
	int year, month, mday;
	unsigned of_day;

	if (wall_us < 0 && ms * 1000 != wall_us)
		ms--;
	day = ms / 86400000;
	if (ms < 0 && day * 86400000 != ms)
		day--;
	of_day = (unsigned)(ms - day * 86400000);
	date_of_day(day, &year, &month, &mday);
	out_text = digits_put(out_text, (unsigned)year, 4, '-');
	out_text = digits_put(out_text, (unsigned)month, 2, '-');
	out_text = digits_put(out_text, (unsigned)mday, 2, 'T');
	out_text = digits_put(out_text, of_day / 3600000, 2, ':');
	out_text = digits_put(out_text, of_day / 60000 % 60, 2, ':');
	out_text = digits_put(out_text, of_day / 1000 % 60, 2, '.');
	*digits_put(out_text, of_day % 1000, 3, 'Z') = '\0';
}

void
clock_rfc5322(int64_t wall_s, char out_text[CLOCK_TEXT_BYTES])
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t seconds = (time_t)wall_s;
	struct tm tm;
	char zone[8];

	localtime_r(&seconds, &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(out_text, CLOCK_TEXT_BYTES,
	    "%.3s, %d %.3s %04d %02d:%02d:%02d %s", days + 3 * tm.tm_wday,
	    tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour,
	    tm.tm_min, tm.tm_sec, zone);
}

void
clock_local(int64_t wall_s, char out_text[CLOCK_TEXT_BYTES])
{
	time_t seconds = (time_t)wall_s;
	struct tm tm;

	if (localtime_r(&seconds, &tm) == NULL || strftime(out_text,
	    CLOCK_TEXT_BYTES, "%Y-%m-%d %H:%M:%S %Z", &tm) == 0)
		snprintf(out_text, CLOCK_TEXT_BYTES, "@%lld",
		    (long long)wall_s);
}

void
clock_local_time(int64_t wall_ms, char out_text[CLOCK_TEXT_BYTES])
{
	struct tm tm;

	clock_local_parts(wall_ms / 1000, &tm);
	snprintf(out_text, CLOCK_TEXT_BYTES, "%02d:%02d:%02d.%03d",
	    tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(wall_ms % 1000));
}

void
clock_local_mailq(int64_t wall_s, char out_text[CLOCK_TEXT_BYTES])
{
	struct tm tm;

	clock_local_parts(wall_s, &tm);
	if (strftime(out_text, CLOCK_TEXT_BYTES, "%a %b %e %H:%M:%S",
	    &tm) == 0)
		snprintf(out_text, CLOCK_TEXT_BYTES, "?");
}

void
clock_mbox(int64_t wall_s, char out_text[CLOCK_TEXT_BYTES])
{
	time_t seconds = (time_t)wall_s;
	struct tm tm;

	if (gmtime_r(&seconds, &tm) == NULL || strftime(out_text,
	    CLOCK_TEXT_BYTES, "%a %b %e %H:%M:%S %Y", &tm) == 0)
		out_text[0] = '\0';
}

void
clock_local_parts(int64_t wall_s, struct tm *out)
{
	time_t seconds = (time_t)wall_s;

	if (localtime_r(&seconds, out) == NULL)
		memset(out, 0, sizeof(*out));
}

void
clock_span(int64_t span_s, char out_text[CLOCK_TEXT_BYTES])
{
	static const struct { int64_t s; char name; } units[] = {
		{ 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' },
	};
	size_t i = 0;
	int64_t rest;

	if (span_s < 0)
		span_s = 0;
	while (i < 3 && span_s < units[i].s)
		i++;
	rest = i < 3 ? span_s % units[i].s / units[i + 1].s : 0;
	if (rest > 0)
		snprintf(out_text, CLOCK_TEXT_BYTES, "%lld%c%lld%c",
		    (long long)(span_s / units[i].s), units[i].name,
		    (long long)rest, units[i + 1].name);
	else
		snprintf(out_text, CLOCK_TEXT_BYTES, "%lld%c",
		    (long long)(span_s / units[i].s), units[i].name);
}

int64_t
clock_since_s(int64_t then_s)
{
	int64_t past_s = clock_wall_s() - then_s;

	if (past_s < -CLOCK_AHEAD_S)
		return CLOCK_LONG_AGO_S;
	return past_s > 0 ? past_s : 0;
}
