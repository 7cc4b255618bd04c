/* record.c - a record as its terms
 *
 * In     a TXT record
 * Out    terms, read strictly
 * Trusts nobody
 * Spec   RFC 7208 sections 4.5, 4.6.1, 5, 6, 12
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "origin/spf/internal.h"

#include "base/banned.h"

#define SPF_VERSION "v=spf1"

static const char *const kind_names[] = {
	[SPF_ALL] = "all", [SPF_INCLUDE] = "include", [SPF_A] = "a",
	[SPF_MX] = "mx", [SPF_PTR] = "ptr", [SPF_IP4] = "ip4",
	[SPF_IP6] = "ip6", [SPF_EXISTS] = "exists",
	[SPF_REDIRECT] = "redirect", [SPF_EXP] = "exp",
};

bool
spf_is_record(struct slice text)
{
	size_t n = sizeof(SPF_VERSION) - 1;

	return text.n >= n && slice_is_nocase(slice_first(text, n),
	    SPF_VERSION) && (text.n == n || text.p[n] == ' ');
}

/* The digits at the end after that many slashes: "/24", "//64".  They are cut
 * off *text.  false: a number that cannot be; without one *out stays. */
static bool
term_cut_bits(struct slice *text, size_t slashes, unsigned max,
    unsigned *out)
{
	size_t digits = 0;
	uint64_t bits;

	while (digits < text->n && ascii_is_digit(text->p[text->n - digits -
	    1]))
		digits++;
	if (digits == 0 || text->n < digits + slashes)
		return true;
	for (size_t i = 1; i <= slashes; i++)
		if (text->p[text->n - digits - i] != '/')
			return true;
	if (!slice_number(slice_from(*text, text->n - digits), 0, max, &bits) ||
	    (digits > 1 && text->p[text->n - digits] == '0'))
		return false;
	*out = (unsigned)bits;
	*text = slice_first(*text, text->n - digits - slashes);
	return true;
}

/* ":SPEC", with "/24//64" after it where they may stand. */
static bool
term_read_spec(struct slice rest, bool is_needed, bool has_bits,
    struct spf_term *out)
{
	if (has_bits && (!term_cut_bits(&rest, 2, 128, &out->bits_v6) ||
	    !term_cut_bits(&rest, 1, 32, &out->bits_v4)))
		return false;
	if (rest.n == 0)
		return !is_needed;
	out->spec = slice_from(rest, 1);
	return rest.p[0] == ':' && spf_macro_fits(out->spec, true);
}

static bool
term_read_address(struct slice rest, bool is_v4, struct spf_term *out)
{
	struct err err;

	if (!term_cut_bits(&rest, 1, is_v4 ? 32 : 128, is_v4 ? &out->bits_v4 :
	    &out->bits_v6) || rest.n < 2 || rest.p[0] != ':')
		return false;
	rest = slice_from(rest, 1);
	for (size_t i = 0; i < rest.n; i++)
		if (rest.p[i] != '.' && (is_v4 ? !ascii_is_digit(rest.p[i]) :
		    rest.p[i] != ':' && ascii_hex(rest.p[i]) < 0))
			return false;
	return (slice_find(rest, ':') < rest.n) != is_v4 &&
	    net_parse(rest, &out->address, &err) == 0;
}

static bool
term_read_mechanism(struct slice name, struct slice rest,
    struct spf_term *out)
{
	int kind = 0;

	while (kind < SPF_MECHANISMS && !slice_is_nocase(name,
	    kind_names[kind]))
		kind++;
	out->kind = (enum spf_kind)kind;
	switch (kind) {
	case SPF_ALL:
		return rest.n == 0;
	case SPF_INCLUDE:
	case SPF_EXISTS:
		return term_read_spec(rest, true, false, out);
	case SPF_A:
	case SPF_MX:
		return term_read_spec(rest, false, true, out);
	case SPF_PTR:
		return term_read_spec(rest, false, false, out);
	case SPF_IP4:
	case SPF_IP6:
		return term_read_address(rest, kind == SPF_IP4, out);
	default:
		return false;
	}
}

static bool
term_read_modifier(struct slice name, struct slice value,
    struct spf_term *out)
{
	out->kind = slice_is_nocase(name, kind_names[SPF_REDIRECT]) ?
	    SPF_REDIRECT : slice_is_nocase(name, kind_names[SPF_EXP]) ?
	    SPF_EXP : SPF_OTHER;
	out->spec = value;
	return spf_macro_fits(value, out->kind != SPF_OTHER);
}

static enum origin
term_qualifier(struct slice *text)
{
	char c = text->n > 0 ? text->p[0] : '\0';

	if (c == '+' || c == '-' || c == '~' || c == '?')
		*text = slice_from(*text, 1);
	return c == '-' ? ORIGIN_FAIL : c == '~' ? ORIGIN_SOFTFAIL :
	    c == '?' ? ORIGIN_NEUTRAL : ORIGIN_PASS;
}

static bool
term_read(struct slice text, struct spf_term *out)
{
	struct slice name = text;
	size_t n = 0;
	bool is_qualified;

	*out = (struct spf_term){ .text = text, .bits_v4 = 32,
	    .bits_v6 = 128 };
	out->result = term_qualifier(&name);
	is_qualified = name.n < text.n;
	while (n < name.n && (ascii_is_alnum(name.p[n]) || (n > 0 &&
	    (name.p[n] == '-' || name.p[n] == '_' || name.p[n] == '.'))))
		n++;
	if (n == 0 || !ascii_is_alpha(name.p[0]))
		return false;
	if (n < name.n && name.p[n] == '=')
		return !is_qualified && term_read_modifier(slice_first(name,
		    n), slice_from(name, n + 1), out);
	return term_read_mechanism(slice_first(name, n), slice_from(name, n),
	    out);
}

enum origin
spf_next(struct slice *rest, struct spf_term *out)
{
	struct slice text;

	if (spf_is_record(*rest))
		*rest = slice_from(*rest, sizeof(SPF_VERSION) - 1);
	do {
		if (!slice_cut(rest, ' ', &text))
			return ORIGIN_NONE;
	} while (text.n == 0);
	return term_read(text, out) ? ORIGIN_PASS : ORIGIN_PERMERROR;
}
