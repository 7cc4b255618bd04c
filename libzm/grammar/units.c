/* units.c - numbers with units, and globs
 *
 * In     words of the configuration
 * Out    milliseconds, bytes, rates; and their shortest text
 * Trusts nothing: products and sums are checked
 * Spec   zmailer.conf(5)
 *
 *   span  = "0" / 1*( number ( "ms" / "s" / "m" / "h" / "d" / "w" ) )
 *   bytes = "0" / number ( "B" / "K" / "M" / "G" / "T" )   ; any case
 *   rate  = number "/" span
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/units.h"

#include "base/banned.h"

struct unit {
	const char	*name;
	uint64_t	 factor;
};

/* Largest first: the way back takes the first that divides. */
static const struct unit span_units[] = {
	{ "w", 7 * 86400000 }, { "d", 86400000 }, { "h", 3600000 },
	{ "m", 60000 }, { "s", 1000 }, { "ms", 1 },
};

static const struct unit byte_units[] = {
	{ "T", (uint64_t)1 << 40 }, { "G", 1 << 30 }, { "M", 1 << 20 },
	{ "K", 1 << 10 }, { "B", 1 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* number unit at the front of *text, which moves after it. */
static int
units_take(struct slice *text, const struct unit *units, size_t count,
    uint64_t *out_value, struct err *err)
{
	size_t digits = 0, letters;
	struct slice name;
	uint64_t number;

	while (digits < text->n && ascii_is_digit(text->p[digits]))
		digits++;
	letters = digits;
	while (letters < text->n && !ascii_is_digit(text->p[letters]))
		letters++;
	name = (struct slice){ text->p + digits, letters - digits };
	if (digits == 0 || !slice_number(slice_first(*text, digits), 0,
	    UINT64_MAX, &number))
		return err_set(err, "'" SLICE_FMT "' is not a number",
		    SLICE_ARG(slice_first(*text, 40)));
	if (name.n == 0)
		return err_set(err, "'" SLICE_FMT "' needs a unit: one of %s",
		    SLICE_ARG(slice_first(*text, 40)),
		    units == span_units ? "ms s m h d w" : "B K M G T");
	for (size_t i = 0; i < count; i++) {
		if (units == span_units ? !slice_is(name, units[i].name)
		    : !slice_is_nocase(name, units[i].name))
			continue;
		if (number > (uint64_t)INT64_MAX / units[i].factor)
			return err_set(err, "'" SLICE_FMT "' is too large",
			    SLICE_ARG(slice_first(*text, 40)));
		*out_value = number * units[i].factor;
		*text = slice_from(*text, letters);
		return 1;
	}
	return err_set(err, "'" SLICE_FMT "' is not a unit: use one of %s",
	    SLICE_ARG(slice_first(name, 40)),
	    units == span_units ? "ms s m h d w" : "B K M G T");
}

int
units_span_ms(struct slice text, int64_t *out_ms, struct err *err)
{
	uint64_t sum = 0, part;

	if (slice_is(text, "0")) {
		*out_ms = 0;
		return 0;
	}
	if (text.n == 0)
		return err_set(err, "a span of time is needed, as in 5m");
	while (text.n > 0) {
		if (units_take(&text, span_units, COUNT(span_units), &part,
		    err) < 0)
			return -1;
		if (part > (uint64_t)INT64_MAX - sum)
			return err_set(err, "the span is too large");
		sum += part;
	}
	*out_ms = (int64_t)sum;
	return 0;
}

int
units_bytes(struct slice text, uint64_t *out_bytes, struct err *err)
{
	uint64_t bytes;

	if (slice_is(text, "0")) {
		*out_bytes = 0;
		return 0;
	}
	if (text.n == 0)
		return err_set(err, "a size is needed, as in 25M");
	if (units_take(&text, byte_units, COUNT(byte_units), &bytes, err) < 0)
		return -1;
	if (text.n > 0)
		return err_set(err, "'" SLICE_FMT "' after a size",
		    SLICE_ARG(slice_first(text, 40)));
	*out_bytes = bytes;
	return 0;
}

int
units_rate(struct slice text, uint64_t *out_count, int64_t *out_per_ms,
    struct err *err)
{
	size_t slash = slice_find(text, '/');
	uint64_t count;
	int64_t per_ms;

	if (slash == text.n || !slice_number(slice_first(text, slash), 0,
	    UINT64_MAX, &count))
		return err_set(err, "'" SLICE_FMT "' is not a rate; write "
		    "600/1m", SLICE_ARG(slice_first(text, 40)));
	if (units_span_ms(slice_from(text, slash + 1), &per_ms, err) < 0)
		return -1;
	if (per_ms == 0)
		return err_set(err, "a rate needs a span that is not 0");
	*out_count = count;
	*out_per_ms = per_ms;
	return 0;
}

static void
add_shortest(struct str *out, uint64_t value, const struct unit *units,
    size_t count)
{
	size_t i = 0;

	if (value == 0) {
		str_addc(out, '0');
		return;
	}
	while (i + 1 < count && value % units[i].factor != 0)
		i++;
	str_addf(out, "%llu%s", (unsigned long long)(value / units[i].factor),
	    units[i].name);
}

void
units_add_span(struct str *out, int64_t ms)
{
	add_shortest(out, ms < 0 ? 0 : (uint64_t)ms, span_units,
	    COUNT(span_units));
}

void
units_add_bytes(struct str *out, uint64_t bytes)
{
	add_shortest(out, bytes, byte_units, COUNT(byte_units));
}

bool
glob_match(struct slice pattern, struct slice text)
{
	size_t p = 0, t = 0, star = SIZE_MAX, star_text = 0;

	/* On a mismatch only the last star takes one byte more: what an
	 * earlier one could take instead would not help. */
	while (t < text.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			star_text = t;
		} else if (p < pattern.n && (pattern.p[p] == '?' ||
		    ascii_lower(pattern.p[p]) == ascii_lower(text.p[t]))) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++star_text;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}
