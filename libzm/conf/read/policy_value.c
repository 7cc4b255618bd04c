/* policy_value.c - the types of values that rules have
 *
 * In     one token
 * Out    a checked text, "<name>" for a table; a complaint's hint
 * Holds  nothing
 * Spec   zmailer.conf(5), accept
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "conf/read/read.h"
#include "grammar/smtp/path.h"

#include "base/banned.h"

enum { PRINT_DIGITS = 64 };	/* of SHA-256 */

static bool
policy_value_keep(struct conf_cursor *cursor, struct conf_value *out)
{
	out->text = slice_dup(cursor->loader->conf->arena, out->token->text);
	return true;
}

/* A table stands in the place of a pattern as "<name>". */
static bool
take_table_pattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	if (!conf_take_table(cursor, range, out, why))
		return false;
	out->text = arena_printf(cursor->loader->conf->arena, "<%s>",
	    out->table);
	return true;
}

bool
conf_take_net(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	if (out->token->kind == TOKEN_TABLE) {
		if (!conf_take_table(cursor, range, out, why))
			return false;
		conf_reference_is_read(cursor->loader, "its keys are "
		    "networks");
		return true;
	}
	if (slice_is(out->token->text, "any")) {
		out->net = (struct net){ .bits = 0 };
		return policy_value_keep(cursor, out);
	}
	if (net_parse(out->token->text, &out->net, why) != 0) {
		cursor->mend = conf_mend_net(cursor->loader->conf->arena,
		    out->token->text);
		if (out->token->text.n == 0 ||
		    !ascii_is_among(out->token->text.p[0], "0123456789:[") ||
		    slice_ends(slice_of(why->text), "or network"))
			why->text[0] = '\0';
		return false;
	}
	return policy_value_keep(cursor, out);
}

/* "user@domain", "@domain", "<>", or a glob of such. */
bool
conf_take_pattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;

	if (out->token->kind == TOKEN_TABLE)
		return take_table_pattern(cursor, range, out, why);
	if (slice_find(text, '@') == text.n && !slice_is(text, "<>") &&
	    slice_find(text, '*') == text.n) {
		if (slice_find(text, '.') < text.n &&
		    domain_parse(text, NULL) == 0)
			cursor->mend = arena_printf(cursor->loader->conf->arena,
			    "write @" SLICE_FMT, SLICE_ARG(text));
		return false;
	}
	return policy_value_keep(cursor, out);
}

/* "mx.example.org", ".example.org", a glob, or a word of its own: which,
 * policy.c knows. */
bool
conf_take_hostpattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;

	if (out->token->kind == TOKEN_TABLE)
		return take_table_pattern(cursor, range, out, why);
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') &&
		    (c < '0' || c > '9') && !ascii_is_among(c, ".-_*?[]:"))
			return false;
	}
	return text.n > 0 && policy_value_keep(cursor, out);
}

/* "AB:CD:..." -> "abcd...": SHA-256 as openssl prints it.  false: it is
 * something else. */
static bool
print_take(struct slice text, char digits[PRINT_DIGITS + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == ':')
			continue;
		if (n == PRINT_DIGITS || ascii_hex(text.p[i]) < 0)
			return false;
		digits[n++] = ascii_lower(text.p[i]);
	}
	digits[n] = '\0';
	return n == PRINT_DIGITS;
}

bool
conf_take_certpattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;
	char digits[PRINT_DIGITS + 1];

	if (out->token->kind == TOKEN_TABLE)
		return take_table_pattern(cursor, range, out, why);
	if (!print_take(text, digits))
		return text.n > 0 && policy_value_keep(cursor, out);
	out->text = slice_dup(cursor->loader->conf->arena, slice_of(digits));
	return true;
}

bool
conf_take_tablepattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	return out->token->kind == TOKEN_TABLE &&
	    take_table_pattern(cursor, range, out, why);
}

bool
conf_take_userpattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	if (out->token->kind == TOKEN_TABLE)
		return take_table_pattern(cursor, range, out, why);
	return out->token->text.n > 0 && policy_value_keep(cursor, out);
}

/* own, any, or a table of owners. */
bool
conf_take_senders(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	if (out->token->kind == TOKEN_TABLE)
		return take_table_pattern(cursor, range, out, why);
	return (slice_is(out->token->text, "own") ||
		   slice_is(out->token->text, "any")) &&
	    policy_value_keep(cursor, out);
}

bool
conf_take_listener(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;
	struct sockaddr_storage address;
	socklen_t length;
	uint64_t port;

	if (slice_is(text, "submission") || (slice_starts(text, ":") &&
	    slice_number(slice_from(text, 1), 1, 65535, &port)))
		return policy_value_keep(cursor, out);
	return out->token->kind == TOKEN_WORD &&
	    net_endpoint_parse(text, 0, &address, &length, why) == 0 &&
	    policy_value_keep(cursor, out);
}

bool
conf_take_dnszone(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;

	if (out->token->kind != TOKEN_WORD ||
	    domain_parse(text, NULL) != 0 || text.p[0] == '[')
		return false;
	out->text = slice_lower(cursor->loader->conf->arena, text).p;
	return true;
}

/* A sum of weights, or a zone; that there is such a zone is looked at when
 * all was read. */
bool
conf_take_listed(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	uint64_t sum;

	if (slice_number(out->token->text, 1, UINT32_MAX, &sum))
		return policy_value_keep(cursor, out);
	return conf_take_dnszone(cursor, range, out, why);
}

/* A result of RFC 8601 section 2.7.1, or a domain whose signature is good;
 * ".example.org": of one below it. */
bool
conf_take_dkim(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	static const char *const results[] = { "none", "pass", "fail",
	    "policy", "neutral", "temperror", "permerror" };
	struct slice text = out->token->text, domain = text;

	if (out->token->kind != TOKEN_WORD)
		return false;
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (slice_is(text, results[i]))
			return policy_value_keep(cursor, out);
	if (slice_starts(domain, "."))
		domain = slice_from(domain, 1);
	if (slice_find(text, '.') == text.n ||
	    domain_parse(domain, NULL) != 0 || domain.p[0] == '[')
		return false;
	out->text = slice_lower(cursor->loader->conf->arena, text).p;
	return true;
}
