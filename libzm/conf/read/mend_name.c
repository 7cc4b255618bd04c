/* mend_name.c - what was meant by a name, a path, a socket, a target
 *
 * In     words that are no value of their type
 * Out    a hint that names the replacement, or none
 * Holds  nothing
 * Spec   zmailer.conf(5), VALUES; RFC 5890 for names that are not ASCII
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/read/read.h"
#include "grammar/smtp/path.h"

#include "base/banned.h"

static const char *
hint_write(struct arena *arena, const char *what)
{
	return what == NULL ? NULL : arena_printf(arena, "write %s", what);
}

/* The part of text in front of the first byte of stops. */
static struct slice
cut_at(struct slice text, const char *stops)
{
	for (size_t i = 0; i < text.n; i++)
		if (strchr(stops, text.p[i]) != NULL)
			return slice_first(text, i);
	return text;
}

/* "https://here.example/x" -> "here.example"; "bob@here.example" too. */
static struct slice
name_inside(struct slice text)
{
	size_t at = slice_find(text, '@');
	char *found = text.n == 0 ? NULL : memmem(text.p, text.n, "://", 3);

	if (found != NULL)
		text = cut_at(slice_from(text, (size_t)(found - text.p) + 3),
		    "/?");
	else if (at < text.n)
		text = slice_from(text, at + 1);
	text = cut_at(text, ",#/");
	while (text.n > 0 && text.p[text.n - 1] == '.')
		text.n--;
	while (text.n > 0 && (text.p[0] == '-' || text.p[0] == '.'))
		text = slice_from(text, 1);
	return text;
}

static bool
name_is_ascii(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] > 127)
			return false;
	return true;
}

static const char *
conf_meant_name(struct arena *arena, struct slice text)
{
	struct slice name = name_inside(text);
	const char *ascii;

	if (name.n == 0)
		return NULL;
	if (!name_is_ascii(name)) {
		ascii = conf_to_ascii == NULL ? NULL :
		    conf_to_ascii(arena, name);
		name = slice_of(ascii != NULL ? ascii : "");
	}
	return name.n > 0 && domain_parse(name, NULL) == 0 ?
	    slice_dup(arena, name) : NULL;
}

const char *
conf_mend_name(struct arena *arena, struct slice text)
{
	struct slice name = name_inside(text);
	const char *meant = conf_meant_name(arena, text);

	if (meant == NULL && !name_is_ascii(name))
		return "write it in the form that the DNS has, xn--...: idn2 "
		    "NAME prints it; and save the file as UTF-8";
	return hint_write(arena, meant);
}

const char *
conf_mend_domain(struct arena *arena, struct slice text)
{
	const char *meant;

	if (slice_is(text, "*."))
		return "write *";
	if (slice_starts(text, "*.") || slice_starts(text, ".")) {
		meant = conf_meant_name(arena, slice_from(text,
		    slice_find(text, '.') + 1));
		if (meant != NULL)
			return arena_printf(arena, "write .%s", meant);
	}
	return conf_mend_name(arena, text);
}

/* The directory of the file that says it, which was meant most likely. */
const char *
conf_mend_path(struct arena *arena, struct slice text, const char *from)
{
	const char *slash = from != NULL && from[0] == '/' ?
	    strrchr(from, '/') : NULL;

	if (slice_starts(text, "./"))
		text = slice_from(text, 2);
	if (slash == NULL || text.n == 0 || text.p[0] == '~' ||
	    text.p[0] == '$' || slice_find(text, ':') < text.n)
		return "write the whole path, from / on";
	return arena_printf(arena, "write %.*s/" SLICE_FMT,
	    (int)(slash - from), from, SLICE_ARG(text));
}

/* sendmail's and opendkim's "local:/PATH", "inet:PORT@HOST". */
const char *
conf_mend_socket(struct arena *arena, struct slice text)
{
	size_t at = slice_find(text, '@');
	struct slice host, port;
	uint64_t number;

	if (slice_starts(text, "local:/"))
		text = slice_from(text, 6);
	if (slice_starts(text, "/"))
		return arena_printf(arena, "write unix:" SLICE_FMT,
		    SLICE_ARG(text));
	if (slice_starts(text, "inet:"))
		text = slice_from(text, 5);
	at = slice_find(text, '@');
	port = slice_first(text, at);
	host = slice_from(text, at + 1);
	if (!slice_number(port, 1, 65535, &number)) {
		at = slice_find(text, ':');
		host = slice_first(text, at);
		port = slice_from(text, at + 1);
		if (!slice_number(port, 1, 65535, &number))
			return NULL;
	}
	if (host.n == 0 || slice_is_nocase(host, "localhost"))
		host = SLICE("127.0.0.1");
	return arena_printf(arena, "write inet:" SLICE_FMT ":%u",
	    SLICE_ARG(host), (unsigned)number);
}

/* ---- targets ------------------------------------------------------------- */

/* Postfix's transports and the schemes of OpenSMTPD. */
static const struct {
	const char	*front, *write;
} fronts[] = {
	{ "smtp+tls://", "" },
	{ "smtp+notls://", "" },
	{ "smtps://", "smtps:" },
	{ "smtp://", "" },
	{ "relay://", "" },
	{ "lmtp://", "lmtp inet:" },
	{ "lmtp:unix:", "lmtp unix:" },
	{ "lmtp:inet:", "lmtp inet:" },
	{ "lmtp:/", "lmtp unix:/" },
	{ "lmtp:", "lmtp inet:" },
	{ "smtp:", "" },
	{ "esmtp:", "" },
	{ "relay:", "" },
	{ "unix:", "lmtp unix:" },
	{ "inet:", "lmtp inet:" },
	{ "/", "lmtp unix:/" },
	{ ":[", "[" },
	{ "error:", "error \"" },
	{ "retry:", "defer \"" },
	{ "discard:", "discard" },
	{ "hold:", "hold" },
	{ "local:", "local" },
	{ "virtual:", "local" },
};

/* What follows the front of a transport: "[relay.example]:25". */
static const char *
target_after(struct arena *arena, const char *write, struct slice after)
{
	size_t at = slice_find(after, '@');
	struct slice host = after;

	if (strchr(write, '"') != NULL)
		return arena_printf(arena, "%s" SLICE_FMT "\"", write,
		    SLICE_ARG(after));
	if (write[0] != '\0' && write[strlen(write) - 1] != ':' &&
	    write[strlen(write) - 1] != '/' && write[0] != '[')
		return write;
	if (after.n == 0)
		return write[0] == '\0' ? "mx" : NULL;
	if (slice_ends(host, "/"))
		host.n--;
	if (at < host.n)
		return arena_printf(arena, "%s" SLICE_FMT " login " SLICE_FMT,
		    write, SLICE_ARG(slice_from(host, at + 1)),
		    SLICE_ARG(slice_first(host, at)));
	return arena_printf(arena, "%s" SLICE_FMT, write, SLICE_ARG(host));
}

static const char *
target_meant(struct arena *arena, struct slice text)
{
	size_t at = slice_find(text, '@'), comma = slice_find(text, ',');
	size_t colon = slice_find(text, ':');
	struct net net;
	const char *name;

	for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
		if (slice_starts(text, fronts[i].front))
			return target_after(arena, fronts[i].write,
			    slice_from(text, strlen(fronts[i].front)));
	if (net_parse(text, &net, NULL) == 0)
		return arena_printf(arena, "[" SLICE_FMT "]",
		    SLICE_ARG(text));
	if (comma < text.n)
		return arena_printf(arena, SLICE_FMT " else " SLICE_FMT,
		    SLICE_ARG(slice_first(text, comma)),
		    SLICE_ARG(slice_from(text, comma + 1)));
	if (at < text.n)
		return arena_printf(arena, SLICE_FMT " login " SLICE_FMT,
		    SLICE_ARG(slice_from(text, at + 1)),
		    SLICE_ARG(slice_first(text, slice_find(slice_first(text,
		    at), ':'))));
	name = conf_meant_name(arena, slice_first(text, colon));
	if (name != NULL)
		return arena_printf(arena, "%s" SLICE_FMT, name,
		    SLICE_ARG(slice_from(text, colon)));
	return NULL;
}

const char *
conf_mend_target(struct arena *arena, struct slice text)
{
	struct slice word, rest = slice_trim(text), first;
	const char *meant, *channel, *host;

	if (!slice_word(&rest, &word))
		return NULL;
	if (slice_is(slice_trim(text), "lmtp unix"))
		return "write lmtp unix:/PATH, without a blank after the "
		    "colon";
	if (slice_is(word, "lmtp") && slice_trim(rest).n > 0)
		meant = target_meant(arena, slice_from(text,
		    (size_t)(slice_trim(rest).p - text.p)));
	else if (slice_find(word, '/') < word.n && word.p[0] != '/' &&
	    slice_find(word, ':') == word.n)
		meant = arena_printf(arena, "channel " SLICE_FMT,
		    SLICE_ARG(word));
	else
		meant = target_meant(arena, word);
	if (meant == NULL)
		return NULL;
	first = slice_of(meant);
	if (memmem(meant, first.n, " else ", 6) != NULL)
		first.n = (size_t)((const char *)memmem(meant, first.n,
		    " else ", 6) - meant);
	if (conf_target_parse(arena, first, &channel, &host, NULL) < 0)
		return NULL;
	return hint_write(arena, meant);
}
