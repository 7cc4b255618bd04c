/* conf_target.c - where a route leads: words to channel and host
 *
 * In     what stands behind `via`, or the value of a table of routes
 * Out    channel and host as the router writes them into a control file
 * Spec   zmailer.conf(5), route
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "daemon/conf_internal.h"
#include "grammar/http.h"
#include "grammar/units.h"

#include "base/banned.h"

enum { CHANNEL_BYTES_MAX = 32 };
enum { SMTP_PORT = 25, SMTPS_PORT = 465 };	/* RFC 8314 section 7.3 */

static int
target_set(const char **out_channel, const char **out_host,
    const char *channel, const char *host)
{
	*out_channel = channel;
	*out_host = host;
	return 1;
}

/* "HOST", "HOST:PORT", "[ADDRESS]", "[ADDRESS]:PORT" -> "[...]:PORT";
 * number: the port when none is named. */
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
			    "behind the ] only :PORT may stand");
	} else if ((at = slice_find(text, ':')) < text.n) {
		host = slice_first(text, at);
		port = slice_from(text, at);
		if (slice_find(slice_from(port, 1), ':') < port.n - 1)
			return err_set(err,
			    "write an IPv6 address as [ADDRESS]:PORT");
	}
	if (port.n > 0 && !slice_number(slice_from(port, 1), 1, 65535,
	    &number))
		return err_set(err, "a port is a number from 1 to 65535");
	if (slice_find(host, '/') < host.n ||
	    (net_parse(host, &net, NULL) != 1 && domain_parse(host, NULL) != 1))
		return err_set(err, "write HOST:PORT or [ADDRESS]:PORT");
	*out_host = arena_printf(arena, "[" SLICE_FMT "]:%u", SLICE_ARG(host),
	    (unsigned)number);
	return 1;
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
	return 1;
}

/* "unix:/path" or "inet:HOST:PORT". */
static int
parse_lmtp(struct arena *arena, struct slice text, const char **out_host,
    struct err *err)
{
	const char *inside;

	if (slice_starts(text, "unix:/"))
		*out_host = slice_dup(arena, text);
	else if (slice_starts(text, "inet:") &&
	    parse_host(arena, slice_from(text, 5), SMTP_PORT, &inside,
	    NULL) == 1 &&
	    slice_find(slice_from(text, 5), ':') < text.n - 5)
		*out_host = slice_dup(arena, text);
	else
		return err_set(err,
		    "write unix:/PATH or inet:HOST:PORT behind lmtp");
	return 1;
}

/* "sm MAILER[/HOST]": a program of sm.conf. */
static int
parse_sm(struct arena *arena, struct slice text, const char **out_channel,
    const char **out_host, struct err *err)
{
	if (text.n == 0 || slice_find(text, ' ') < text.n)
		return err_set(err, "write MAILER or MAILER/HOST behind sm");
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
		if (!((name.p[i] >= 'a' && name.p[i] <= 'z') || (i > 0 &&
		    ((name.p[i] >= '0' && name.p[i] <= '9') ||
		    name.p[i] == '-'))))
			name.n = 0;
	if (name.n == 0 || name.n > CHANNEL_BYTES_MAX ||
	    slice_find(text, ' ') < text.n)
		return err_set(err, "write NAME or NAME/HOST behind channel: "
		    "letters, digits and -");
	return target_set(out_channel, out_host, slice_dup(arena, name),
	    host.n > 0 ? slice_dup(arena, host) : "-");
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
