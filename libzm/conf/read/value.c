/* value.c - the types of values: what a word must look like
 *
 * In     one token (a target takes two) and the type of its place
 * Out    a checked value: number, text, network, table; or a complaint
 * Holds  nothing
 * Spec   zmailer.conf(5), VALUES; RFC 5321 section 4.1.2 for names
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/read/read.h"
#include "grammar/message/date.h"
#include "grammar/smtp/path.h"
#include "grammar/units.h"
#include "mail/table/table.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum {
	RATE_COUNT_MAX = 1000000,
	RATE_SPAN_MAX_MS = 86400000
};

static struct arena *
arena_of(const struct conf_cursor *cursor)
{
	return cursor->loader->conf->arena;
}

static bool
keep_text(struct conf_cursor *cursor, struct conf_value *out)
{
	out->text = slice_dup(arena_of(cursor), out->token->text);
	return true;
}

/* The word after the one that is looked at; may be empty. */
static struct slice
word_after(const struct conf_cursor *cursor)
{
	return cursor->next + 1 < cursor->end ? cursor->next[1].text :
	    SLICE("");
}

/* It is none; mend (may be NULL) says what was meant. */
static bool
value_bad(struct conf_cursor *cursor, const char *mend)
{
	cursor->mend = mend;
	return false;
}

static bool
value_is_name_byte(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.';
}

static bool
take_text(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	return out->token->kind != TOKEN_TABLE && keep_text(cursor, out);
}

static bool
type_take_word(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	return out->token->kind != TOKEN_TABLE && out->token->text.n > 0 &&
	    keep_text(cursor, out);
}

/* The name of a table or account; "-" is the account nobody changes to. */
static bool
take_account(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;

	if (slice_is(text, "-"))
		return type_take_word(cursor, range, out, why);
	for (size_t i = 0; i < text.n; i++)
		if (!value_is_name_byte(text.p[i]))
			return false;
	return text.n > 0 && text.n <= 64 && text.p[0] != '-' &&
	    type_take_word(cursor, range, out, why);
}

static bool
type_take_name(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;

	if (out->token->kind != TOKEN_WORD || domain_parse(text, NULL) != 0 ||
	    text.p[0] == '[')
		return value_bad(cursor, conf_mend_name(arena_of(cursor),
		    text));
	out->text = slice_lower(arena_of(cursor), text).p;
	return true;
}

static bool
take_domain(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;

	if (out->token->kind == TOKEN_TABLE && slice_is(range, "or-table"))
		return conf_take_table(cursor, range, out, why);
	if (text.n > 1 && text.p[0] == '.')
		text = slice_from(text, 1);
	if (out->token->kind != TOKEN_WORD || domain_parse(text, NULL) != 0)
		return value_bad(cursor, conf_mend_domain(arena_of(cursor),
		    out->token->text));
	out->text = slice_lower(arena_of(cursor), out->token->text).p;
	return true;
}

static bool
take_routepattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;

	for (size_t i = 0; i < text.n; i++)
		if (!value_is_name_byte(text.p[i]) && !ascii_is_among(text.p[i],
		    "*?[]:") && (unsigned char)text.p[i] < 128)
			return value_bad(cursor, conf_mend_domain(
			    arena_of(cursor), text));
	if (out->token->kind != TOKEN_WORD || text.n == 0)
		return false;
	if (text.n > 1 && text.p[text.n - 1] == '.')
		return value_bad(cursor, conf_mend_domain(arena_of(cursor),
		    text));
	out->text = slice_lower(arena_of(cursor), text).p;
	return true;
}

static bool
take_mail(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice rest;
	struct path path;

	return out->token->kind != TOKEN_TABLE &&
	    path_parse(out->token->text, PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_UTF8, &path, &rest, NULL) == 0 && rest.n == 0 &&
	    path.local.n > 0 && keep_text(cursor, out);
}

static bool
take_path(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	if (out->token->kind == TOKEN_TABLE ||
	    !slice_starts(out->token->text, "/"))
		return value_bad(cursor, conf_mend_path(arena_of(cursor),
		    out->token->text, out->token->source->name));
	return keep_text(cursor, out);
}

/* A path of a socket, also as unix:/PATH; out has the path. */
static bool
take_socket(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice path = out->token->text;

	if (out->token->kind == TOKEN_TABLE ||
	    (!slice_starts(path, "/") && !conf_unix_parse(path, &path, why)))
		return false;
	out->text = slice_dup(arena_of(cursor), path);
	return true;
}

static bool
take_template(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	return out->token->kind != TOKEN_TABLE &&
	    ((slice_is(range, "none") && slice_is(out->token->text, "none")) ||
	    slice_starts(out->token->text, "/") ||
	    slice_starts(out->token->text, "{home}/")) &&
	    keep_text(cursor, out);
}

static bool
take_spec(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	if (out->token->kind == TOKEN_TABLE)
		return false;
	return table_spec_check(slice_dup(arena_of(cursor),
	    out->token->text), why) == 0 && keep_text(cursor, out);
}

void
conf_reference_is_read(struct conf_loader *loader, const char *must_be)
{
	loader->references[loader->reference_count - 1].must_be = must_be;
}

bool
conf_take_table(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct conf_loader *loader = cursor->loader;

	if (out->token->kind != TOKEN_TABLE) {
		err_set(why, "write <" SLICE_FMT "> for a table of that name",
		    SLICE_ARG(slice_first(out->token->text, 64)));
		return false;
	}
	out->table = slice_dup(arena_of(cursor), out->token->text);
	loader->references = arena_grow(loader->conf->arena,
	    loader->references, loader->reference_count,
	    sizeof(*loader->references));
	loader->references[loader->reference_count++] =
	    (struct conf_reference){ out->token, NULL };
	if (strcmp(cursor->row->name, "auth-to") == 0 ||
	    strcmp(cursor->row->name, "tls") == 0)
		conf_reference_is_read(loader, "its rows are read before");
	return true;
}

/* "a,b,c": the index of the one that stands there. */
static bool
take_choice(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct guess guess = { .word = out->token->text };
	struct slice rest = range, one;
	const char *hint;

	for (out->number = 0; slice_cut(&rest, ',', &one); out->number++) {
		if (slice_equal(one, out->token->text) &&
		    out->token->kind == TOKEN_WORD)
			return keep_text(cursor, out);
		guess_offer(&guess, slice_dup(arena_of(cursor), one));
	}
	cursor->mend = conf_mend_choice(arena_of(cursor), out->token->text,
	    range);
	hint = guess_hint(&guess, arena_of(cursor));
	if (hint != NULL)
		err_set(why, "%s", hint);
	else
		err_set(why, "one of: " SLICE_FMT, SLICE_ARG(range));
	return false;
}

static bool
take_users(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	if (out->token->kind != TOKEN_TABLE)
		return take_choice(cursor, SLICE("passwd,any,none"), out, why);
	out->number = USERS_TABLE;
	return conf_take_table(cursor, range, out, why);
}

/* Cut "MIN-MAX". */
static void
range_cut(struct slice range, struct slice *out_min, struct slice *out_max)
{
	slice_cut(&range, '-', out_min);
	*out_max = range;
}

static bool
out_of_range(struct slice range, struct err *why)
{
	struct slice min, max;

	range_cut(range, &min, &max);
	err_set(why, "from " SLICE_FMT " to " SLICE_FMT, SLICE_ARG(min),
	    SLICE_ARG(max));
	return false;
}

static bool
take_bounded(struct slice text, struct slice range, struct conf_value *out,
    struct err *why)
{
	struct slice min_text, max_text;
	uint64_t min = 0, max = UINT32_MAX;

	range_cut(range, &min_text, &max_text);
	slice_number(min_text, 0, UINT32_MAX, &min);
	slice_number(max_text, 0, UINT32_MAX, &max);
	if (slice_number(text, min, max, &out->number))
		return true;
	return out_of_range(range, why);
}

static bool
type_take_number(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	if (take_bounded(out->token->text, range, out, why))
		return true;
	if (!slice_number(out->token->text, 0, UINT64_MAX, &out->number))
		cursor->mend = conf_mend_number(arena_of(cursor),
		    out->token->text);
	return false;
}

static bool
is_unlimited(struct slice text)
{
	return slice_is_nocase(text, "unlimited") ||
	    slice_is_nocase(text, "none") || slice_is_nocase(text, "max");
}

static bool
take_size(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice min_text, max_text;
	uint64_t min = 0, max = UINT64_MAX;

	range_cut(range, &min_text, &max_text);
	units_bytes(min_text, &min, NULL);
	units_bytes(max_text, &max, NULL);
	if (units_bytes(out->token->text, &out->number, NULL) != 0)
		return value_bad(cursor, is_unlimited(out->token->text) ?
		    arena_printf(arena_of(cursor), "write " SLICE_FMT
		    ", which is the most", SLICE_ARG(max_text)) :
		    conf_mend_size(arena_of(cursor), out->token->text,
		    word_after(cursor)));
	return (out->number >= min && out->number <= max) ||
	    out_of_range(range, why);
}

static bool
take_span(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice min_text, max_text;
	int64_t min = 0, max = INT64_MAX, span;

	range_cut(range, &min_text, &max_text);
	units_span_ms(min_text, &min, NULL);
	units_span_ms(max_text, &max, NULL);
	if (units_span_ms(out->token->text, &span, NULL) != 0)
		return value_bad(cursor, conf_mend_span(arena_of(cursor),
		    out->token->text, word_after(cursor)));
	out->number = (uint64_t)span;
	return (span >= min && span <= max) || out_of_range(range, why);
}

static bool
take_moment(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	int64_t at_s;

	if (date_parse(out->token->text, &at_s, NULL) != 0 || at_s <= 0)
		return value_bad(cursor, conf_mend_moment(arena_of(cursor),
		    out->token->text));
	out->number = (uint64_t)at_s;
	return true;
}

/* "600/1m"; 0 is none. */
static bool
take_rate(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	if (slice_is(out->token->text, "0"))
		return true;
	if (units_rate(out->token->text, &out->number, &out->span_ms,
	    NULL) != 0)
		return value_bad(cursor, conf_mend_rate(arena_of(cursor),
		    out->token->text, cursor->next + 2 < cursor->end &&
		    slice_is_nocase(word_after(cursor), "per") ?
		    cursor->next[2].text : word_after(cursor)));
	if (out->number >= 1 && out->number <= RATE_COUNT_MAX &&
	    out->span_ms <= RATE_SPAN_MAX_MS)
		return true;
	err_set(why, "from 1/1d to %d/1s", RATE_COUNT_MAX);
	return false;
}

/* "10%". */
static bool
take_percent(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;

	if (slice_ends(text, "%"))
		text.n--;
	else if (!slice_is(text, "0"))
		return value_bad(cursor, take_bounded(text, range, out, NULL) ?
		    arena_printf(arena_of(cursor), "write " SLICE_FMT "%%",
		    SLICE_ARG(text)) : NULL);
	return take_bounded(text, range, out, why);
}

static bool
take_endpoint(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct sockaddr_storage address;
	socklen_t length;
	struct net net;

	return out->token->kind == TOKEN_WORD &&
	    (net_parse(out->token->text, &net, NULL) == 0 ||
	    (slice_find(out->token->text, ':') < out->token->text.n &&
	    net_endpoint_parse(out->token->text, 53, &address, &length,
	    NULL) == 0)) && keep_text(cursor, out);
}

static bool
take_listen(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct sockaddr_storage address;
	struct slice text = out->token->text;
	socklen_t length;
	size_t colon = text.n;
	uint64_t port;

	if (unix_socket_is_meant(text))
		return conf_unix_parse(text, NULL, why) &&
		    keep_text(cursor, out);
	while (colon > 0 && text.p[colon - 1] != ':')
		colon--;
	if (out->token->kind != TOKEN_WORD ||
	    !slice_number(slice_from(text, colon), 1, 65535, &port) ||
	    (slice_find(text, ':') + 1 < colon && text.p[0] != '['))
		return value_bad(cursor, conf_mend_listen(arena_of(cursor),
		    text));
	if (colon > 0 && net_endpoint_parse(text, 25, &address, &length,
	    why) != 0)
		return value_bad(cursor, conf_mend_listen(arena_of(cursor),
		    text));
	out->number = colon == 0 ? port : 0;
	return keep_text(cursor, out);
}

/* A target is one word, or two: lmtp HOST, http URL, error "TEXT". */
static bool
take_clause(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct slice text = out->token->text;
	size_t slash = slice_find(text, '/');

	if (out->token->kind != TOKEN_WORD || slash == 0 ||
	    slash + 1 >= text.n)
		return false;
	out->channel = slice_dup(arena_of(cursor), slice_first(text, slash));
	out->text = slice_lower(arena_of(cursor),
	    slice_from(text, slash + 1)).p;
	return true;
}

static const struct type_row {
	const char	*name;
	conf_take_fn		*take;
	const char	*noun, *hint;
} types[] = {
	{ "name", type_take_name, "a host name", "letters, digits, - and dots: "
	    "mx.example.org" },
	{ "mail", take_mail, "an address", "write user@example.org or a "
	    "local part" },
	{ "listen", take_listen, "a port", "write 25, 127.0.0.1:25, "
	    "[::1]:25 or unix:/PATH" },
	{ "domain", take_domain, "a domain", "write example.org, or "
	    ".example.org for all below it" },
	{ "users", take_users, "a kind of users", NULL },
	{ "table", conf_take_table, "a table", NULL },
	{ "choice", take_choice, "a choice", NULL },
	{ "word", type_take_word, "a word", NULL },
	{ "spec", take_spec, "the source of a table", "write file:/PATH" },
	{ "routepattern", take_routepattern, "a pattern of domains",
	    "write example.org, .example.org or *" },
	{ "target", conf_take_target, "a target", "write mx, HOST:PORT, "
	    "[ADDRESS]:PORT, lmtp HOST, local, hold or error \"TEXT\"" },
	{ "net", conf_take_net, "a network",
	    "write 192.0.2.0/24, 2001:db8::/32, <table> or any" },
	{ "pattern", conf_take_pattern, "a pattern of addresses",
	    "write user@domain, @domain, <>, a pattern with * or <table>" },
	{ "hostpattern", conf_take_hostpattern, "a pattern of names",
	    "write mx.example.org, .example.org, a pattern with * or "
	    "<table>" },
	{ "userpattern", conf_take_userpattern, "a pattern of users",
	    "write any, none, a user, a pattern with * or <table>" },
	{ "certpattern", conf_take_certpattern, "a pattern of certificates",
	    "write any, none, a SHA-256 fingerprint, CN=NAME, a pattern with "
	    "* or <table>" },
	{ "tablepattern", conf_take_tablepattern, "a table", "write <name>" },
	{ "senders", conf_take_senders, "own, any or a table of owners",
	    "write <name>, the rows: ADDRESS USER" },
	{ "listener", conf_take_listener, "a listener",
	    "write 192.0.2.1:25, :25 or submission" },
	{ "dkimpattern", conf_take_dkim, "a result or a domain",
	    "write pass, fail, none, example.org or .example.org" },
	{ "listed", conf_take_listed, "a list or a number",
	    "write the ZONE of a dnsbl statement, or a sum of weights" },
	{ "dnszone", conf_take_dnszone, "a zone of the DNS",
	    "write bl.example.org" },
	{ "text", take_text, "a text", "write it in quotes" },
	{ "template", take_template, "a path", "write /var/mail/{user} or "
	    "{home}/Maildir" },
	{ "clause", take_clause, "a channel and host", "write CHANNEL/HOST: "
	    "smtp/*, smtp/example.org" },
	{ "number", type_take_number, "a number", "write digits" },
	{ "span", take_span, "a length of time", "write a number and a unit: "
	    "30s 5m 2h 5d 1w" },
	{ "size", take_size, "a size", "write a number and a unit: 512B 64K "
	    "25M 1G" },
	{ "moment", take_moment, "a moment", "write 2026-11-23T10:00:00Z" },
	{ "rate", take_rate, "a rate", "write a number and a span: 600/1m" },
	{ "percent", take_percent, "a share", "write 10%" },
	{ "endpoint", take_endpoint, "an address", "write 127.0.0.1 or "
	    "127.0.0.1:5353" },
	{ "socket", take_socket, "a socket", "write unix:/PATH" },
	{ "path", take_path, "an absolute path", "it begins with /" },
	{ "account", take_account, "a name", "letters, digits, - _ and ." },
	{ "file", take_text, "a file", NULL },
};

static const struct type_row *
type_find(struct slice type, struct slice *out_range)
{
	struct slice rest = type, name;

	slice_cut(&rest, ':', &name);
	*out_range = rest;
	if (name.n > 0 && name.p[name.n - 1] == '+')
		name.n--;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (slice_is(name, types[i].name))
			return &types[i];
	panic("conf: no type " SLICE_FMT, SLICE_ARG(type));
}

const char *
conf_type_noun(struct slice type)
{
	struct slice range;

	return type_find(type, &range)->noun;
}

/* The word may have been meant as one of the row's keywords. */
static const char *
keyword_hint(const struct conf_cursor *cursor, struct slice word)
{
	struct guess guess = { .word = word };
	struct slice rest = slice_of(cursor->row->keywords), name, type;
	bool is_needed;

	while (conf_spec_next(&rest, &name, &type, &is_needed))
		guess_offer(&guess, slice_dup(arena_of(cursor), name));
	return guess_hint(&guess, arena_of(cursor));
}

bool
conf_value_take(struct conf_cursor *cursor, struct slice type,
    struct conf_value *out)
{
	struct slice range, word;
	const struct type_row *row = type_find(type, &range);
	const struct conf_token *token = cursor->next;
	const char *hint;
	struct err why = { "" };

	*out = (struct conf_value){ .token = token };
	cursor->mend = NULL;
	if (row->take(cursor, range, out, &why)) {
		cursor->next++;
		return true;
	}
	word = slice_first(token->raw, 100);
	hint = cursor->mend;
	if (hint == NULL && token->kind == TOKEN_WORD)
		hint = keyword_hint(cursor, token->text);
	if (hint == NULL)
		hint = why.text[0] != '\0' ? why.text : row->hint;
	conf_complain(cursor->loader, CONF_ERROR, token, hint,
	    "'" SLICE_FMT "' is not %s%s%s", SLICE_ARG(word), row->noun,
	    cursor->subject ? " for " : "",
	    cursor->subject ? cursor->subject : "");
	return false;
}
