/* macro.c - domain-spec and macro-string
 *
 * In     text of a record; who asks
 * Out    whether it can be read; what it stands for
 * Trusts nobody: what is expanded is at most MACRO_BYTES_MAX
 * Spec   RFC 7208 section 7
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/mime_code.h"
#include "origin/spf/internal.h"

#include "base/banned.h"

enum { MACRO_BYTES_MAX = 4096, PARTS_MAX = 128, NAME_BYTES_MAX = 253 };

struct macro {			/* "%{d2r.}" */
	char		letter;		/* lower case; '%' '_' '-': those */
	bool		is_escaped;	/* an upper case letter */
	bool		is_reversed;
	unsigned	parts;		/* 0: all */
	struct slice	delimiters;
};

static bool
macro_is_of(const char *set, char c)
{
	return c != '\0' && strchr(set, c) != NULL;
}

/* ---- reading -------------------------------------------------------- */

static bool
macro_read_inside(struct slice text, struct macro *out)
{
	unsigned parts = 0;
	size_t i = 1;

	if (text.n == 0 || !macro_is_of("slodiphcrtv",
	    ascii_lower(text.p[0])))
		return false;
	out->letter = ascii_lower(text.p[0]);
	out->is_escaped = ascii_is_upper(text.p[0]);
	for (; i < text.n && ascii_is_digit(text.p[i]); i++) {
		parts = parts * 10 + (unsigned)(text.p[i] - '0');
		if (parts > PARTS_MAX)
			parts = PARTS_MAX;
	}
	if (i > 1 && parts == 0)
		return false;
	out->parts = parts;
	out->is_reversed = i < text.n && ascii_lower(text.p[i]) == 'r';
	out->delimiters = slice_from(text, i + out->is_reversed);
	for (i = 0; i < out->delimiters.n; i++)
		if (!macro_is_of(".-+,/_=", out->delimiters.p[i]))
			return false;
	return true;
}

/* Read a macro from the front of *rest, which begins with '%'. */
static bool
macro_read(struct slice *rest, struct macro *out)
{
	size_t end;

	*out = (struct macro){ .letter = rest->n > 1 ? rest->p[1] : '\0' };
	if (out->letter == '%' || out->letter == '_' || out->letter == '-') {
		*rest = slice_from(*rest, 2);
		return true;
	}
	end = slice_find(*rest, '}');
	if (out->letter != '{' || end == rest->n ||
	    !macro_read_inside(slice_from(slice_first(*rest, end), 2), out))
		return false;
	*rest = slice_from(*rest, end + 1);
	return true;
}

/* A last label: letters, digits and hyphens, not digits alone. */
static bool
macro_is_toplabel(struct slice label)
{
	bool is_number = true;

	for (size_t i = 0; i < label.n; i++) {
		if (!ascii_is_alnum(label.p[i]) && label.p[i] != '-')
			return false;
		is_number = is_number && ascii_is_digit(label.p[i]);
	}
	return label.n > 0 && !is_number && label.p[0] != '-' &&
	    label.p[label.n - 1] != '-';
}

/* After the last macro: ".toplabel" with a dot after it or not. */
static bool
macro_is_end(struct slice literal)
{
	size_t dot = literal.n;

	if (slice_ends(literal, "."))
		literal = slice_first(literal, literal.n - 1);
	for (size_t i = 0; i < literal.n; i++)
		if (literal.p[i] == '.')
			dot = i;
	return dot < literal.n &&
	    macro_is_toplabel(slice_from(literal, dot + 1));
}

bool
spf_macro_fits(struct slice text, bool is_domain)
{
	struct slice literal = text;
	struct macro macro;

	if (is_domain && text.n == 0)
		return false;
	while (text.n > 0)
		if (text.p[0] == '%') {
			/* c, r and t are for explanations (section 7.2) */
			if (!macro_read(&text, &macro) || macro_is_of("crt",
			    macro.letter))
				return false;
			literal = text;
		} else if (text.p[0] < 0x21 || text.p[0] > 0x7e) {
			return false;
		} else {
			text = slice_from(text, 1);
		}
	return !is_domain || literal.n == 0 || macro_is_end(literal);
}

/* ---- expanding ------------------------------------------------------- */

static void
macro_add_address(struct str *out, const struct spf_state *state)
{
	const unsigned char *bytes = state->ask->client.bytes;

	if (state->is_v4) {
		str_addf(out, "%u.%u.%u.%u", bytes[12], bytes[13], bytes[14],
		    bytes[15]);
		return;
	}
	for (size_t i = 0; i < 32; i++)
		str_addf(out, "%s%X", i > 0 ? "." : "", i % 2 == 0 ?
		    bytes[i / 2] >> 4 : bytes[i / 2] & 15);
}

/* The name that fits the domain best, or "unknown". */
static enum origin
macro_add_name(struct str *out, struct spf_state *state, struct slice domain)
{
	struct slice names[SPF_NAMES_MAX], best = SLICE("unknown");
	size_t n;
	int fit = 0, one;

	if (spf_names(state, names, &n) == ORIGIN_ASKS)
		return ORIGIN_ASKS;
	for (size_t i = 0; i < n; i++) {
		one = slice_equal_nocase(names[i], domain) ? 3 :
		    spf_is_below(names[i], domain) ? 2 : 1;
		if (one > fit) {
			best = names[i];
			fit = one;
		}
	}
	str_add_slice(out, best);
	return ORIGIN_PASS;
}

static enum origin
macro_add_value(struct str *out, struct spf_state *state, char letter,
    struct slice domain)
{
	const struct spf_ask *ask = state->ask;

	switch (letter) {
	case 's':
		str_add_slice(out, state->local);
		str_addc(out, '@');
		str_add_slice(out, state->sender_domain);
		break;
	case 'l':
		str_add_slice(out, state->local);
		break;
	case 'o':
		str_add_slice(out, state->sender_domain);
		break;
	case 'd':
		str_add_slice(out, domain);
		break;
	case 'i':
		macro_add_address(out, state);
		break;
	case 'p':
		return macro_add_name(out, state, domain);
	case 'v':
		str_adds(out, state->is_v4 ? "in-addr" : "ip6");
		break;
	case 'h':
		str_add_slice(out, ask->helo);
		break;
	case 'c':
		spf_add_client(out, state);
		break;
	case 'r':
		str_add_slice(out, ask->receiver.n > 0 ? ask->receiver :
		    SLICE("unknown"));
		break;
	case 't':
		str_addf(out, "%lld", (long long)ask->now_s);
		break;
	}
	return ORIGIN_PASS;
}

static bool
macro_is_delimiter(const struct macro *macro, char c)
{
	if (macro->delimiters.n == 0)
		return c == '.';
	return slice_find(macro->delimiters, c) < macro->delimiters.n;
}

static void
macro_add_part(struct str *out, struct slice part, bool is_escaped)
{
	if (!is_escaped) {
		str_add_slice(out, part);
		return;
	}
	for (size_t i = 0; i < part.n; i++)
		if (ascii_is_alnum(part.p[i]) || macro_is_of("-._~",
		    part.p[i]))
			str_addc(out, part.p[i]);
		else
			str_addf(out, "%%%02X", (unsigned char)part.p[i]);
}

/* Split at the delimiters, reversed if so, the last ones joined by dots. */
static void
macro_transform(struct str *out, const struct macro *macro,
    struct slice value)
{
	struct slice parts[PARTS_MAX];
	size_t n = 0, from = 0, keep;

	for (size_t i = 0; i <= value.n && n < PARTS_MAX; i++)
		if (i == value.n || macro_is_delimiter(macro, value.p[i])) {
			parts[n++] = (struct slice){ value.p + from,
			    i - from };
			from = i + 1;
		}
	keep = macro->parts == 0 || macro->parts > n ? n : macro->parts;
	for (size_t i = n - keep; i < n; i++) {
		if (i > n - keep)
			str_addc(out, '.');
		macro_add_part(out, parts[macro->is_reversed ? n - 1 - i : i],
		    macro->is_escaped);
	}
}

static enum origin
macro_expand(struct str *out, struct spf_state *state,
    const struct macro *macro, struct slice domain)
{
	struct str value = STR_INIT;
	enum origin origin = ORIGIN_PASS;

	if (macro->letter == '%' || macro->letter == '_') {
		str_addc(out, macro->letter == '%' ? '%' : ' ');
	} else if (macro->letter == '-') {
		str_adds(out, "%20");
	} else {
		origin = macro_add_value(&value, state, macro->letter,
		    domain);
		macro_transform(out, macro, slice_first(str_slice(&value),
		    MACRO_BYTES_MAX));
	}
	str_release(&value);
	return origin;
}

enum origin
spf_expand(struct spf_state *state, struct slice text, struct slice domain,
    bool is_exp, struct str *out)
{
	enum origin origin = ORIGIN_PASS, one;
	struct macro macro;

	while (text.n > 0) {
		if (out->len > MACRO_BYTES_MAX)
			return ORIGIN_PERMERROR;
		if (text.p[0] != '%') {
			str_addc(out, text.p[0]);
			text = slice_from(text, 1);
			continue;
		}
		if (!macro_read(&text, &macro) || (!is_exp &&
		    macro_is_of("crt", macro.letter)))
			return ORIGIN_PERMERROR;
		one = macro_expand(out, state, &macro, domain);
		if (one == ORIGIN_ASKS)
			origin = ORIGIN_ASKS;
	}
	return origin;
}

enum origin
spf_expand_domain(struct spf_state *state, struct slice text,
    struct slice domain, struct slice *out)
{
	struct str expanded = STR_INIT;
	enum origin origin = spf_expand(state, text, domain, false, &expanded);
	struct slice name = str_slice(&expanded), label;

	if (slice_ends(name, "."))
		name = slice_first(name, name.n - 1);
	while (name.n > NAME_BYTES_MAX && slice_cut(&name, '.', &label))
		;
	*out = slice_copy(state->arena, name);
	if (origin == ORIGIN_PASS && !mime_is_ascii(name))
		origin = ORIGIN_FAIL;
	str_release(&expanded);
	return origin;
}
