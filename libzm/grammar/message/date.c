/* date.c - moments as the RFCs write them
 *
 * In     text
 * Out    seconds since 1970
 * Trusts nothing; no clock and no time zone of the machine is asked
 * Spec   RFC 3339 section 5.6
 *
 *   date-time = 4DIGIT "-" 2DIGIT "-" 2DIGIT "T" 2DIGIT ":" 2DIGIT ":"
 *               2DIGIT [ "." 1*DIGIT ] ( "Z" / ( "+" / "-" ) 2DIGIT ":"
 *               2DIGIT )                           ; T and Z in any case
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/ascii.h"
#include "grammar/message/date.h"

#include "base/banned.h"

enum { DAY_S = 86400, HOUR_S = 3600, MINUTE_S = 60, YEAR_FIRST = 1970 };

static bool
is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned
month_days(unsigned year, unsigned month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31,
	    30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970-01-01 to the first day of a year. */
static int64_t
year_days(unsigned year)
{
	int64_t y = (int64_t)year - 1;

	return (y * 365 + y / 4 - y / 100 + y / 400) - 719162;
}

/* digits of *text and the byte after them, unless end is NUL. */
static bool
date_take_char(struct slice *text, size_t digits, unsigned min,
    unsigned max, char end, unsigned *out)
{
	uint64_t number;
	size_t n = digits + (end != '\0');

	if (text->n < n || !slice_number(slice_first(*text, digits), min, max,
	    &number) || (end != '\0' && (text->p[digits] | 32) != (end | 32)))
		return false;
	*out = (unsigned)number;
	*text = slice_from(*text, n);
	return true;
}

/* "Z", "+01:00": seconds east of UTC. */
static bool
take_zone(struct slice text, int64_t *out_s)
{
	bool is_west = slice_starts(text, "-");
	unsigned hours, minutes;

	*out_s = 0;
	if (slice_is_nocase(text, "Z"))
		return true;
	if (!is_west && !slice_starts(text, "+"))
		return false;
	text = slice_from(text, 1);
	if (!date_take_char(&text, 2, 0, 23, ':', &hours) ||
	    !date_take_char(&text, 2, 0, 59, '\0', &minutes) || text.n > 0)
		return false;
	*out_s = (int64_t)hours * HOUR_S + (int64_t)minutes * MINUTE_S;
	if (is_west)
		*out_s = -*out_s;
	return true;
}

static void
skip_fraction(struct slice *text)
{
	size_t n = 1;

	if (!slice_starts(*text, "."))
		return;
	while (n < text->n && ascii_is_digit(text->p[n]))
		n++;
	if (n > 1)
		*text = slice_from(*text, n);
}

int
date_parse(struct slice text, int64_t *out_s, struct err *err)
{
	unsigned year, month, day, hour, minute, second;
	int64_t east_s;

	if (!date_take_char(&text, 4, YEAR_FIRST, 9999, '-', &year) ||
	    !date_take_char(&text, 2, 1, 12, '-', &month) ||
	    !date_take_char(&text, 2, 1, month_days(year, month), 'T', &day) ||
	    !date_take_char(&text, 2, 0, 23, ':', &hour) ||
	    !date_take_char(&text, 2, 0, 59, ':', &minute) ||
	    !date_take_char(&text, 2, 0, 60, '\0', &second))
		goto bad;
	skip_fraction(&text);
	if (!take_zone(text, &east_s))
		goto bad;
	*out_s = year_days(year) + day - 1;
	for (unsigned m = 1; m < month; m++)
		*out_s += month_days(year, m);
	*out_s = *out_s * DAY_S + (int64_t)hour * HOUR_S +
	    (int64_t)minute * MINUTE_S + (second < 60 ? second : 59) - east_s;
	if (*out_s >= 0)
		return 0;
bad:
	return err_set(err, "write a moment as 2026-11-20T21:04:00Z");
}

void
date_add(struct str *out, int64_t wall_s)
{
	int64_t days = wall_s / DAY_S, rest = wall_s % DAY_S;
	unsigned year = (unsigned)(YEAR_FIRST + days / 366), month = 1;

	while (year_days(year + 1) <= days)
		year++;
	days -= year_days(year);
	while (days >= month_days(year, month))
		days -= month_days(year, month++);
	str_addf(out, "%04u-%02u-%02uT%02u:%02u:%02uZ", year, month,
	    (unsigned)days + 1, (unsigned)(rest / HOUR_S),
	    (unsigned)(rest / MINUTE_S % 60), (unsigned)(rest % MINUTE_S));
}

bool
date_is_over(struct slice text, int64_t now_s)
{
	struct slice word;
	int64_t until_s;

	return slice_word(&text, &word) && slice_starts(word, "until=") &&
	    date_parse(slice_from(word, 6), &until_s, NULL) == 0 &&
	    until_s <= now_s;
}
