/* mend.c - what was meant by a number, a unit, a choice, a port
 *
 * In     words that are no value of their type
 * Out    a hint that names the replacement, or none
 * Holds  nothing
 * Spec   zmailer.conf(5), VALUES
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/read/read.h"
#include "grammar/units.h"

#include "base/banned.h"

enum { FRACTION_DIGITS_MAX = 3, WHOLE_MAX = 1000000000, DAY_MS = 86400000 };

struct unit_word {
	const char	*word;		/* without the s of many */
	uint64_t	 factor;
};

static const struct unit_word span_words[] = {
	{ "ms", 1 }, { "msec", 1 }, { "s", 1000 }, { "sec", 1000 },
	{ "second", 1000 }, { "m", 60000 }, { "min", 60000 },
	{ "minute", 60000 }, { "h", 3600000 }, { "hr", 3600000 },
	{ "hour", 3600000 }, { "d", DAY_MS }, { "day", DAY_MS },
	{ "w", 7 * (uint64_t)DAY_MS }, { "wk", 7 * (uint64_t)DAY_MS },
	{ "week", 7 * (uint64_t)DAY_MS }, { "month", 30 * (uint64_t)DAY_MS },
	{ "y", 365 * (uint64_t)DAY_MS }, { "year", 365 * (uint64_t)DAY_MS },
	{ NULL, 0 }
};

static const struct unit_word size_words[] = {
	{ "b", 1 }, { "byte", 1 }, { "k", 1 << 10 }, { "kb", 1 << 10 },
	{ "kib", 1 << 10 }, { "kbyte", 1 << 10 }, { "m", 1 << 20 },
	{ "mb", 1 << 20 }, { "mib", 1 << 20 }, { "mbyte", 1 << 20 },
	{ "meg", 1 << 20 }, { "g", 1 << 30 }, { "gb", 1 << 30 },
	{ "gib", 1 << 30 }, { "gbyte", 1 << 30 }, { NULL, 0 }
};

/* "1.5", "1,000": in thousandths, and what follows it. */
static bool
decimal_take(struct slice *text, uint64_t *out_thousandths)
{
	uint64_t whole = 0, part = 0;
	unsigned places = 0;
	size_t i = 0;

	for (; i < text->n && (ascii_is_digit(text->p[i]) ||
	    (text->p[i] == ',' && i > 0)); i++)
		if (text->p[i] != ',')
			whole = whole * 10 + (unsigned)(text->p[i] - '0');
		else if (whole > WHOLE_MAX)
			return false;
	if (i == 0 || i > FRACTION_DIGITS_MAX * 4)
		return false;
	if (i < text->n && text->p[i] == '.') {
		for (i++; i < text->n && ascii_is_digit(text->p[i]); i++)
			if (places < FRACTION_DIGITS_MAX) {
				part = part * 10 +
				    (unsigned)(text->p[i] - '0');
				places++;
			}
	}
	for (; places < FRACTION_DIGITS_MAX; places++)
		part *= 10;
	*out_thousandths = whole * 1000 + part;
	*text = slice_from(*text, i);
	return true;
}

static uint64_t
unit_factor(const struct unit_word *words, struct slice word)
{
	if (slice_ends(word, "."))
		word.n--;
	for (const struct unit_word *unit = words; unit->word != NULL; unit++) {
		size_t n = strlen(unit->word);

		if (slice_is_nocase(slice_first(word, n), unit->word) &&
		    (word.n == n || (word.n == n + 1 && n > 1 &&
		    ascii_lower(word.p[n]) == 's')))
			return unit->factor;
	}
	return 0;
}

/* A number with a unit, in whatever form; 0: it is none. */
static uint64_t
amount_of(const struct unit_word *words, struct slice text, struct slice next)
{
	uint64_t thousandths, factor;

	if (slice_starts(text, "-") || slice_starts(text, "+"))
		text = slice_from(text, 1);
	if (!decimal_take(&text, &thousandths))
		return 0;
	factor = unit_factor(words, text.n > 0 ? text : next);
	return thousandths > UINT64_MAX / (factor + 1) ? 0 :
	    thousandths * factor / 1000;
}

static const char *
hint_span(struct arena *arena, const char *front, uint64_t ms,
    const char *after)
{
	struct str text = STR_INIT;
	const char *hint;

	units_add_span(&text, (int64_t)ms);
	hint = arena_printf(arena, "%s%s%s", front, text.buf, after);
	str_release(&text);
	return hint;
}

const char *
conf_mend_span(struct arena *arena, struct slice text, struct slice next)
{
	uint64_t ms = amount_of(span_words, text, next), number;

	if (ms > 0)
		return hint_span(arena, "write ", ms, "");
	if (slice_number(text, 1, WHOLE_MAX, &number))
		return arena_printf(arena, "write " SLICE_FMT "s for seconds, "
		    SLICE_FMT "m for minutes", SLICE_ARG(text),
		    SLICE_ARG(text));
	return NULL;
}

const char *
conf_mend_size(struct arena *arena, struct slice text, struct slice next)
{
	uint64_t bytes = amount_of(size_words, text, next);
	struct str shown = STR_INIT;
	const char *hint;

	if (bytes == 0 && !slice_number(text, 1, UINT64_MAX, &bytes))
		return NULL;
	units_add_bytes(&shown, bytes);
	hint = arena_printf(arena, "write %s", shown.buf);
	str_release(&shown);
	return hint;
}

const char *
conf_mend_number(struct arena *arena, struct slice text)
{
	uint64_t thousandths;

	if (!decimal_take(&text, &thousandths) || thousandths % 1000 != 0)
		return NULL;
	if (slice_is_nocase(text, "k"))
		thousandths *= 1000;
	else if (text.n > 0)
		return NULL;
	return arena_printf(arena, "write %llu",
	    (unsigned long long)(thousandths / 1000));
}

/* "60/min", "60 per minute", "60/hour". */
const char *
conf_mend_rate(struct arena *arena, struct slice text, struct slice next)
{
	struct slice rest = text, count;
	uint64_t ms, number;

	slice_cut(&rest, '/', &count);
	if (!slice_number(count, 1, WHOLE_MAX, &number))
		return NULL;
	if (rest.p == NULL)
		rest = next;
	if (slice_starts(rest, "/"))
		rest = slice_from(rest, 1);
	ms = unit_factor(span_words, rest);
	if (ms == 0)
		ms = amount_of(span_words, rest, SLICE(""));
	return ms > 0 ? hint_span(arena, arena_printf(arena, "write %llu/",
	    (unsigned long long)number), ms, "") :
	    arena_printf(arena, "write %llu/1m for so many a minute",
	    (unsigned long long)number);
}

/* "2030-01-01", "2030-01-01 10:00": the rest is filled in. */
const char *
conf_mend_moment(struct arena *arena, struct slice text)
{
	static const char shape[] = "0000-00-00";

	for (size_t i = 0; i < sizeof(shape) - 1; i++)
		if (i >= text.n || (shape[i] == '0' ?
		    !ascii_is_digit(text.p[i]) : text.p[i] != shape[i]))
			return NULL;
	return arena_printf(arena, "write " SLICE_FMT "T00:00:00Z, with the "
	    "time and its zone", SLICE_ARG(slice_first(text,
	    sizeof(shape) - 1)));
}

static bool
is_one_of(struct slice word, const char *words)
{
	struct slice rest = slice_of(words), one;

	while (slice_word(&rest, &one))
		if (slice_equal_nocase(one, word))
			return true;
	return false;
}

const char *
conf_mend_choice(struct arena *arena, struct slice text, struct slice choices)
{
	static const char yes[] = "yes on true 1 y enable enabled";
	static const char no[] = "no off false 0 n disable disabled never";
	const char *same = is_one_of(text, yes) ? yes :
	    is_one_of(text, no) ? no : NULL;
	struct slice one;

	while (slice_cut(&choices, ',', &one)) {
		if (slice_equal_nocase(one, text) ||
		    (same != NULL && is_one_of(one, same)))
			return arena_printf(arena, "write " SLICE_FMT,
			    SLICE_ARG(one));
	}
	return NULL;
}

/* ---- ports and networks -------------------------------------------------- */

static const struct {
	const char	*name, *write;
} port_names[] = {
	{ "smtp", "25" },
	{ "mail", "25" },
	{ "submission", "587 submission" },
	{ "smtps", "465 submission tls" },
	{ "submissions", "465 submission tls" },
	{ "lmtp", "24 lmtp" },
};

const char *
conf_mend_listen(struct arena *arena, struct slice text)
{
	struct slice host = text;
	struct net net;
	size_t colon = text.n;
	uint64_t port;

	for (size_t i = 0; i < sizeof(port_names) / sizeof(*port_names); i++)
		if (slice_is_nocase(text, port_names[i].name))
			return arena_printf(arena, "write %s",
			    port_names[i].write);
	if (slice_number(text, 0, UINT64_MAX, &port))
		return "a port is a number from 1 to 65535";
	if (slice_starts(text, "/"))
		return arena_printf(arena, "write unix:" SLICE_FMT,
		    SLICE_ARG(text));
	if (net_parse(text, &net, NULL) == 0 && slice_find(text, '/') ==
	    text.n && (slice_find(text, ':') == text.n ||
	    slice_starts(text, "[")))
		return arena_printf(arena, "write " SLICE_FMT ":25",
		    SLICE_ARG(text));
	while (colon > 0 && text.p[colon - 1] != ':')
		colon--;
	if (colon == 0 || !slice_number(slice_from(text, colon), 1, 65535,
	    &port))
		return colon == 0 ? NULL :
		    "a port is a number from 1 to 65535";
	host.n = colon - 1;
	if (host.n == 0)
		return arena_printf(arena, "write %u", (unsigned)port);
	if (slice_is_nocase(host, "localhost"))
		return arena_printf(arena, "write 127.0.0.1:%u",
		    (unsigned)port);
	if (slice_find(host, ':') < host.n &&
	    net_parse(host, &net, NULL) == 0)
		return arena_printf(arena, "write [" SLICE_FMT "]:%u",
		    SLICE_ARG(host), (unsigned)port);
	return NULL;
}

/* Bits of "255.255.0.0", or -1. */
static int
mask_bits(struct slice mask)
{
	struct net net;
	uint32_t bits = 0;
	int count = 0;

	if (slice_find(mask, '.') == mask.n || net_parse(mask, &net, NULL) < 0)
		return -1;
	for (int i = 12; i < 16; i++)
		bits = bits << 8 | net.bytes[i];
	while (count < 32 && (bits & 0x80000000u >> count) != 0)
		count++;
	return (uint64_t)bits << count << 32 >> 32 == 0 || count == 32 ?
	    count : -1;
}

/* "10.0", "10.0.*", "10.": as many bits as are written. */
static const char *
mend_short(struct arena *arena, struct slice text)
{
	struct str full = STR_INIT;
	struct slice rest = text, part;
	unsigned parts = 0;
	uint64_t number;
	const char *hint = NULL;

	while (parts < 4 && slice_cut(&rest, '.', &part) &&
	    slice_number(part, 0, 255, &number)) {
		str_addf(&full, "%s%u", parts > 0 ? "." : "",
		    (unsigned)number);
		parts++;
		part = (struct slice){ NULL, 0 };
	}
	if (parts > 0 && parts < 4 && rest.n == 0 && (part.n == 0 ||
	    slice_is(part, "*"))) {
		unsigned bits = parts * 8;

		for (; parts < 4; parts++)
			str_adds(&full, ".0");
		hint = arena_printf(arena, "write %s/%u", full.buf, bits);
	}
	str_release(&full);
	return hint;
}

const char *
conf_mend_net(struct arena *arena, struct slice text)
{
	size_t slash = slice_find(text, '/'), comma = slice_find(text, ',');
	struct slice front = slice_first(text, slash);
	struct slice after = slice_from(text, slash + 1);
	struct net net;
	uint64_t bits;

	if (comma < text.n)
		return arena_printf(arena, "no commas: a statement for each, "
		    "or a table of them");
	if (slice_find(text, '-') < text.n)
		return "a range is no network: a statement for each network, "
		    "or a table of them";
	if (slash < text.n && slice_number(front, 0, 128, &bits) &&
	    net_parse(after, &net, NULL) == 0)
		return arena_printf(arena, "write " SLICE_FMT "/" SLICE_FMT,
		    SLICE_ARG(after), SLICE_ARG(front));
	if (slash < text.n && mask_bits(after) >= 0)
		return arena_printf(arena, "write " SLICE_FMT "/%d",
		    SLICE_ARG(front), mask_bits(after));
	return slash == text.n ? mend_short(arena, text) : NULL;
}
