/* test_units.c - numbers with units, and globs
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "grammar/units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(units, spans)
{
	static const struct {
		const char	*in;
		int		 rc;
		int64_t		 want;
		const char	*text;	/* shortest form, or words of err */
	} rows[] = {
		{ "0", 0, 0, "0" }, { "250ms", 0, 250, "250ms" },
		{ "30s", 0, 30000, "30s" }, { "60s", 0, 60000, "1m" },
		{ "5m", 0, 300000, "5m" }, { "2h", 0, 7200000, "2h" },
		{ "5d", 0, 432000000, "5d" }, { "1w", 0, 604800000, "1w" },
		{ "1d12h", 0, 129600000, "36h" }, { "0s", 0, 0, "0" },
		{ "1h30m10s5ms", 0, 5410005, "5410005ms" },
		{ "", -1, 0, "is needed" }, { "5", -1, 0, "needs a unit" },
		{ "5x", -1, 0, "'x' is not a unit" }, { "m", -1, 0, "'m'" },
		{ "5M", -1, 0, "'M' is not a unit" }, { "-5m", -1, 0, "'-5m'" },
		{ "5 m", -1, 0, "' m'" }, { "1.5h", -1, 0, "'.'" },
		{ "1d5", -1, 0, "'5' needs a unit" },
		{ "99999999999999w", -1, 0, "too large" },
		{ "99999999999999999999s", -1, 0, "not a number" },
		{ "15250284452w15250284452w", -1, 0, "too large" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str text = STR_INIT;
		struct err err = { "" };
		int64_t ms = 0;

		cr_expect_eq(units_span_ms(slice_of(rows[i].in), &ms, &err),
		    rows[i].rc, "%s", rows[i].in);
		cr_expect_eq(ms, rows[i].want, "%s", rows[i].in);
		units_add_span(&text, ms);
		if (rows[i].rc == 0)
			cr_expect_str_eq(text.buf, rows[i].text);
		else
			cr_expect_not_null(strstr(err.text, rows[i].text),
			    "%s: %s", rows[i].in, err.text);
		str_release(&text);
	}
}

Test(units, sizes)
{
	static const struct {
		const char	*in;
		int		 rc;
		uint64_t	 want;
		const char	*text;
	} rows[] = {
		{ "0", 0, 0, "0" }, { "512B", 0, 512, "512B" },
		{ "64K", 0, 65536, "64K" }, { "64k", 0, 65536, "64K" },
		{ "25M", 0, 26214400, "25M" }, { "1024M", 0, 1 << 30, "1G" },
		{ "2T", 0, (uint64_t)2 << 40, "2T" },
		{ "1025B", 0, 1025, "1025B" },
		{ "", -1, 0, "is needed" }, { "25", -1, 0, "needs a unit" },
		{ "25MB", -1, 0, "'MB' is not a unit" },
		{ "1M1K", -1, 0, "after a size" }, { "K", -1, 0, "'K'" },
		{ "9999999999T", -1, 0, "too large" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str text = STR_INIT;
		struct err err = { "" };
		uint64_t bytes = 0;

		cr_expect_eq(units_bytes(slice_of(rows[i].in), &bytes, &err),
		    rows[i].rc, "%s", rows[i].in);
		cr_expect_eq(bytes, rows[i].want, "%s", rows[i].in);
		units_add_bytes(&text, bytes);
		if (rows[i].rc == 0)
			cr_expect_str_eq(text.buf, rows[i].text);
		else
			cr_expect_not_null(strstr(err.text, rows[i].text),
			    "%s: %s", rows[i].in, err.text);
		str_release(&text);
	}
}

Test(units, rates)
{
	static const struct {
		const char	*in;
		int		 rc;
		uint64_t	 count;
		int64_t		 per_ms;
	} rows[] = {
		{ "600/1m", 0, 600, 60000 }, { "0/1s", 0, 0, 1000 },
		{ "1/1d12h", 0, 1, 129600000 },
		{ "600", -1, 0, 0 }, { "600/", -1, 0, 0 }, { "/1m", -1, 0, 0 },
		{ "600/0", -1, 0, 0 }, { "600/5", -1, 0, 0 },
		{ "x/1m", -1, 0, 0 }, { "", -1, 0, 0 }, { "1/1m/2", -1, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { "" };
		uint64_t count = 0;
		int64_t per_ms = 0;

		cr_expect_eq(units_rate(slice_of(rows[i].in), &count, &per_ms,
		    &err), rows[i].rc, "%s", rows[i].in);
		cr_expect_eq(count, rows[i].count);
		cr_expect_eq(per_ms, rows[i].per_ms);
		cr_expect_eq(err.text[0] != '\0', rows[i].rc < 0);
	}
}

Test(units, globs)
{
	static const struct {
		const char	*pattern, *text;
		bool		 want;
	} rows[] = {
		{ "", "", true }, { "", "a", false }, { "*", "", true },
		{ "*", "abc", true }, { "a", "A", true }, { "A", "a", true },
		{ "a?c", "abc", true }, { "a?c", "ac", false },
		{ "?", "", false }, { "*.org", "example.ORG", true },
		{ "*.org", "example.com", false }, { "a*b*c", "aXbYc", true },
		{ "a*b*c", "aXcYb", false }, { "*a*", "bab", true },
		{ "**", "x", true }, { "a*", "b", false }, { "*b", "ab", true },
		{ "*ab", "aab", true }, { "[a]", "a", false },
		{ "[a]", "[A]", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(glob_match(slice_of(rows[i].pattern),
		    slice_of(rows[i].text)), rows[i].want, "%s %s",
		    rows[i].pattern, rows[i].text);
}

Test(units, a_hostile_glob_ends, .timeout = 10)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < 5000; i++)
		str_addc(&text, 'a');
	cr_expect_not(glob_match(SLICE("*a*a*a*a*a*a*a*a*a*a*a*a*b"),
	    str_slice(&text)));
	str_release(&text);
}
