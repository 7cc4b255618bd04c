/* target.c - where a route leads: words to channel and host
 *
 * In     what stands after `via`, or the value of a table of routes
 * Out    channel and host as the router writes them into a control file
 * Spec   zmailer.conf(5), route
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/read/read.h"
#include "grammar/http.h"
#include "grammar/smtp/path.h"
#include "grammar/units.h"
#include "mail/control_file/control_file.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { CHANNEL_BYTES_MAX = 32, LOGIN_BYTES_MAX = 128 };
#define AFTER_MAX_MS (30 * 86400000LL)
enum { LMTP_PORT = 24 };	/* "any private mail system" of IANA */
enum { SMTP_PORT = 25, SMTPS_PORT = 465 };	/* RFC 8314 section 7.3 */

static int
target_set(const char **out_channel, const char **out_host,
    const char *channel, const char *host)
{
	*out_channel = channel;
	*out_host = host;
	return 0;
}

/* "HOST", "HOST:PORT", "[ADDRESS]", "[ADDRESS]:PORT" -> "[...]:PORT";
 * number: the port when none is named. */
/* The port that people call so; 0: none. */
static unsigned
target_port_of(struct slice name)
{
	static const struct { const char *name; unsigned port; } rows[] = {
		{ "smtp", 25 }, { "submission", 587 }, { "submissions", 465 },
		{ "smtps", 465 }, { "lmtp", 24 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is_nocase(name, rows[i].name))
			return rows[i].port;
	return 0;
}

static int
parse_host(struct arena *arena, struct slice text, uint64_t number,
    const char **out_host, struct err *err)
{
	struct slice host = text, port = { NULL, 0 };
	struct net net;
	size_t at;

	if (text.n > 0 && text.p[0] == '[') {
		at = slice_find(text, ']');
		if (at == text.n)
			return err_set(err, "the closing ] is missing");
		host = (struct slice){ text.p + 1, at - 1 };
		port = slice_from(text, at + 1);
		if (port.n > 0 && port.p[0] != ':')
			return err_set(err,
			    "after the ] only :PORT may stand");
	} else if ((at = slice_find(text, ':')) < text.n) {
		host = slice_first(text, at);
		port = slice_from(text, at);
		if (slice_find(slice_from(port, 1), ':') < port.n - 1)
			return err_set(err,
			    "write an IPv6 address as [ADDRESS]:PORT");
	}
	if (port.n > 0 && !slice_number(slice_from(port, 1), 1, 65535,
	    &number) && target_port_of(slice_from(port, 1)) != 0)
		return err_set(err, "write " SLICE_FMT ":%u, the port as a "
		    "number", SLICE_ARG(slice_first(text, text.n - port.n)),
		    target_port_of(slice_from(port, 1)));
	if (port.n > 0 && !slice_number(slice_from(port, 1), 1, 65535,
	    &number))
		return err_set(err, "a port is a number from 1 to 65535");
	if (slice_find(host, '/') < host.n ||
	    (net_parse(host, &net, NULL) != 0 && domain_parse(host, NULL) != 0))
		return err_set(err, "write HOST:PORT or [ADDRESS]:PORT");
	*out_host = arena_printf(arena, "[" SLICE_FMT "]:%u", SLICE_ARG(host),
	    (unsigned)number);
	return 0;
}

/* TLS from the first byte: "smtps:[...]:PORT". */
static int
parse_smtps(struct arena *arena, struct slice text, const char **out_host,
    struct err *err)
{
	const char *inside;

	if (parse_host(arena, text, SMTPS_PORT, &inside, err) < 0)
		return -1;
	*out_host = arena_printf(arena, "smtps:%s", inside);
	return 0;
}

/* "unix:/path", "inet:HOST:PORT"; "HOST[:PORT]" means inet:, too. */
static int
parse_lmtp(struct arena *arena, struct slice text, const char **out_host,
    struct err *err)
{
	const char *inside;

	if (unix_socket_is_meant(text)) {
		if (!conf_unix_parse(text, NULL, err))
			return -1;
		*out_host = slice_dup(arena, text);
	} else if (slice_starts(text, "inet:") &&
	    parse_host(arena, slice_from(text, 5), SMTP_PORT, &inside,
	    NULL) == 0 &&
	    slice_find(slice_from(text, 5), ':') < text.n - 5) {
		*out_host = slice_dup(arena, text);
	} else if (!slice_is(text, "unix") && !slice_is(text, "inet") &&
	    parse_host(arena, text, LMTP_PORT, &inside, NULL) == 0) {
		*out_host = arena_printf(arena, "inet:%s", inside);
	} else {
		return err_set(err,
		    "write unix:/PATH or inet:HOST:PORT after lmtp");
	}
	return 0;
}

/* "sm MAILER[/HOST]": a program of sm.conf. */
static int
parse_sm(struct arena *arena, struct slice text, const char **out_channel,
    const char **out_host, struct err *err)
{
	if (text.n == 0 || slice_find(text, ' ') < text.n)
		return err_set(err, "write MAILER or MAILER/HOST after sm");
	return target_set(out_channel, out_host, "sm",
	    slice_dup(arena, text));
}

/* "http URL": the URL is the host. */
static int
parse_http(struct arena *arena, struct slice text, const char **out_channel,
    const char **out_host, struct err *err)
{
	struct http_url url;

	if (http_url_parse(text, &url, err) < 0)
		return -1;
	return target_set(out_channel, out_host, "http",
	    slice_dup(arena, text));
}

/* "NAME[/HOST]" of an agent that a schedule clause names. */
static int
parse_channel(struct arena *arena, struct slice text,
    const char **out_channel, const char **out_host, struct err *err)
{
	struct slice name = slice_first(text, slice_find(text, '/'));
	struct slice host = slice_from(text, name.n + 1);

	for (size_t i = 0; i < name.n; i++)
		if (!(ascii_is_lower(name.p[i]) || (i > 0 &&
		    (ascii_is_digit(name.p[i]) ||
		    name.p[i] == '-'))))
			name.n = 0;
	if (name.n == 0 || name.n > CHANNEL_BYTES_MAX ||
	    slice_find(text, ' ') < text.n)
		return err_set(err, "write NAME or NAME/HOST after channel: "
		    "letters, digits and -");
	return target_set(out_channel, out_host, slice_dup(arena, name),
	    host.n > 0 ? slice_dup(arena, host) : "-");
}

/* "TARGET login NAME": the name goes in front of the host. */
static int
parse_login(struct arena *arena, struct slice target, struct slice name,
    const char **out_channel, const char **out_host, struct err *err)
{
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] <= ' ' || name.p[i] == 127 ||
		    ascii_is_among(name.p[i], "[]!,/"))
			return err_set(err, "a login is one word, without "
			    "[ ] ! , and /");
	if (name.n == 0 || name.n > LOGIN_BYTES_MAX)
		return err_set(err, "a login has 1 to %d bytes",
		    LOGIN_BYTES_MAX);
	if (conf_target_parse(arena, target, out_channel, out_host, err) < 0)
		return -1;
	if (strcmp(*out_channel, "smtp") != 0)
		return err_set(err, "only mail by SMTP needs a login");
	*out_host = arena_printf(arena, SLICE_FMT "@%s", SLICE_ARG(name),
	    *out_host);
	return 0;
}

struct slice
conf_host_bare(struct slice host)
{
	size_t at = host.n;

	if (unix_socket_is_meant(host))
		return host;
	while (at > 0 && host.p[at - 1] != '@')
		at--;
	return slice_from(host, at);
}

int
conf_target_parse(struct arena *arena, struct slice text,
    const char **out_channel, const char **out_host, struct err *err)
{
	struct slice rest = slice_trim(text), word;

	if (!slice_word(&rest, &word))
		return err_set(err, "a target is missing");
	rest = slice_trim(rest);
	if (slice_is(word, "error"))
		return target_set(out_channel, out_host, "error", rest.n > 0 ?
		    slice_dup(arena, rest) : "5.1.2 mail is not taken there");
	if (slice_is(word, "defer"))
		return target_set(out_channel, out_host, "hold", rest.n > 0 ?
		    slice_dup(arena, rest) : "4.3.0 mail waits there");
	if (slice_is(word, "lmtp")) {
		*out_channel = "lmtp";
		return parse_lmtp(arena, rest, out_host, err);
	}
	if (slice_is(word, "sm"))
		return parse_sm(arena, rest, out_channel, out_host, err);
	if (slice_is(word, "http"))
		return parse_http(arena, rest, out_channel, out_host, err);
	if (slice_is(word, "channel"))
		return parse_channel(arena, rest, out_channel, out_host, err);
	if (slice_starts(rest, "login "))
		return parse_login(arena, word, slice_trim(slice_from(rest,
		    6)), out_channel, out_host, err);
	if (rest.n > 0)
		return err_set(err, "one word is enough: mx, local, hold, "
		    "HOST:PORT, lmtp HOST, http URL or error \"TEXT\"");
	if (slice_is(word, "mx"))
		return target_set(out_channel, out_host, "smtp", "");
	if (slice_is(word, "local"))
		return target_set(out_channel, out_host, "local", "-");
	if (slice_is(word, "discard"))
		return target_set(out_channel, out_host, "discard", "-");
	if (slice_is(word, "hold"))
		return target_set(out_channel, out_host, "hold", "-");
	*out_channel = "smtp";
	if (slice_starts(word, "smtps:"))
		return parse_smtps(arena, slice_from(word, 6), out_host, err);
	return parse_host(arena, word, SMTP_PORT, out_host, err);
}

bool
conf_route_covers(const char *pattern, struct slice domain)
{
	struct slice text = slice_of(pattern);

	if (text.n > 1 && text.p[0] == '.' && strpbrk(pattern, "*?") == NULL)
		return domain.n > text.n && slice_equal_nocase(text,
		    slice_from(domain, domain.n - text.n));
	if (strpbrk(pattern, "*?") != NULL)
		return glob_match(text, domain);
	return slice_equal_nocase(text, domain);
}

bool
conf_cuts_through(const struct conf *conf, struct slice domain)
{
	if (domain.n == 0 || conf_domain_find(conf, domain) != NULL)
		return false;
	for (size_t i = 0; i < conf->route_count; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->table == NULL &&
		    conf_route_covers(route->pattern, domain))
			return route->is_cut_through;
	}
	return false;
}

/* ---- the statement ------------------------------------------------------ */

static bool
next_is(const struct conf_cursor *cursor, const char *word)
{
	return cursor->next + 1 < cursor->end &&
	    cursor->next[1].kind == TOKEN_WORD &&
	    slice_is(cursor->next[1].text, word);
}

/* One target; the cursor is on its first token, then on its last. */
static bool
take_one(struct conf_cursor *cursor, const char **out_channel,
    const char **out_host, struct err *why)
{
	static const char *const pairs[] = { "lmtp", "error", "sm",
	    "channel", "http", "defer" };
	struct arena *arena = cursor->loader->conf->arena;
	struct slice word = cursor->next->text;
	const char *text = slice_dup(arena, word);
	bool has_second = false;

	if (cursor->next->kind == TOKEN_TABLE)
		return false;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		has_second |= slice_is(word, pairs[i]);
	if (has_second && cursor->next + 1 < cursor->end &&
	    !next_is(cursor, "else")) {
		cursor->next++;
		text = arena_printf(arena, "%s " SLICE_FMT, text,
		    SLICE_ARG(cursor->next->text));
	}
	if (next_is(cursor, "login") && cursor->next + 2 < cursor->end) {
		cursor->next += 2;
		text = arena_printf(arena, "%s login " SLICE_FMT, text,
		    SLICE_ARG(cursor->next->text));
	}
	if (conf_target_parse(arena, slice_of(text), out_channel, out_host,
	    why) == 0)
		return true;
	cursor->mend = conf_mend_target(arena, slice_of(text));
	return false;
}

/* "after SPAN" and "via", which may stand after else. */
static bool
take_after(struct conf_cursor *cursor, struct conf_way *way, struct err *why)
{
	int64_t span_ms;

	if (next_is(cursor, "after") && cursor->next + 2 < cursor->end) {
		cursor->next += 2;
		if (units_span_ms(cursor->next->text, &span_ms, NULL) != 0 ||
		    span_ms < 1000 || span_ms > AFTER_MAX_MS) {
			err_set(why, "write else after SPAN: 1s to 30d");
			return false;
		}
		way->after_s = span_ms / 1000;
	}
	if (next_is(cursor, "via"))
		cursor->next++;
	return true;
}

bool
conf_take_target(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why)
{
	struct arena *arena = cursor->loader->conf->arena;

	if (!take_one(cursor, &out->channel, &out->text, why))
		return false;
	while (next_is(cursor, "else")) {
		struct conf_way way = { .after_s = 0 };

		cursor->next++;
		if (!take_after(cursor, &way, why))
			return false;
		if (++cursor->next >= cursor->end) {
			cursor->next--;
			err_set(why, "a target is missing after else");
			return false;
		}
		if (!take_one(cursor, &way.channel, &way.host, why))
			return false;
		if (out->way_count + 1 == CONTROL_WAYS_MAX) {
			err_set(why, "a route has at most %d targets",
			    CONTROL_WAYS_MAX);
			return false;
		}
		out->ways = arena_grow(arena, out->ways, out->way_count,
		    sizeof(*out->ways));
		out->ways[out->way_count++] = way;
	}
	return true;
}

/* ---- show ---------------------------------------------------------------- */

static void
add_smtp(struct str *out, const char *host)
{
	struct slice bare = conf_host_bare(slice_of(host));
	size_t login = strlen(host) - bare.n;

	str_add_slice(out, bare.n > 0 ? bare : SLICE("mx"));
	if (login > 0)
		str_addf(out, " login %.*s", (int)login - 1, host);
}

static void
conf_target_add(struct str *out, const char *channel, const char *host)
{
	static const char *const own[] = { "local", "lmtp", "error", "hold",
	    "discard", "sm", "http" };
	bool is_own = false, has_host = strcmp(host, "-") != 0;

	if (strcmp(channel, "smtp") == 0) {
		add_smtp(out, host);
		return;
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		is_own = is_own || strcmp(own[i], channel) == 0;
	if (!is_own) {
		str_addf(out, "channel %s%s%s", channel, has_host ? "/" : "",
		    has_host ? host : "");
		return;
	}
	str_adds(out, strcmp(channel, "hold") == 0 && has_host ? "defer" :
	    channel);
	if (has_host) {
		str_addc(out, ' ');
		conf_add_word(out, host);
	}
}

void
conf_route_add(struct str *out, const struct conf_route *route)
{
	str_adds(out, route->pattern);
	if (route->sender != NULL)
		str_addf(out, " from %s", route->sender);
	if (route->user != NULL)
		str_addf(out, " as %s", route->user);
	if (route->table != NULL) {
		str_adds(out, route->by == ROUTE_BY_SENDER ? " by sender" :
		    route->by == ROUTE_BY_USER ? " by user" : "");
		return;
	}
	str_adds(out, " via ");
	conf_target_add(out, route->channel, route->host);
	for (size_t i = 0; i < route->way_count; i++) {
		const struct conf_way *way = &route->ways[i];

		str_adds(out, " else ");
		if (way->after_s > 0)
			str_addf(out, "after %llds ",
			    (long long)way->after_s);
		conf_target_add(out, way->channel, way->host);
	}
	if (route->zone != NULL)
		str_addf(out, " zone %s", route->zone);
	if (route->is_cut_through)
		str_adds(out, " cut-through");
}
