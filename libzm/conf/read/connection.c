/* connection.c - the words of a connection to PostgreSQL
 *
 * In     what stands after postgres, as libpq reads it
 * Out    complaints: a word that libpq does not know, a quote without end, a
 *        part of a URL that it would refuse
 * Holds  nothing
 * Trusts nothing: it is cut as PQconninfoParse cuts it; a complaint shows no
 *        password
 * Spec   PostgreSQL's manual, "Connection Strings" and "Parameter Key Words"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/guess.h"
#include "conf/read/read.h"

#include "base/banned.h"

/* Those of a new libpq: an older one refuses what it does not know yet. */
static const char *const connection_words[] = {
	"application_name", "channel_binding", "client_encoding",
	"connect_timeout", "dbname", "fallback_application_name",
	"gssdelegation", "gssencmode", "gsslib", "host", "hostaddr",
	"keepalives", "keepalives_count", "keepalives_idle",
	"keepalives_interval", "krbsrvname", "load_balance_hosts",
	"max_protocol_version", "min_protocol_version", "oauth_client_id",
	"oauth_client_secret", "oauth_issuer", "oauth_scope", "options",
	"passfile", "password", "port", "replication", "require_auth",
	"requirepeer", "requiressl", "scram_client_key", "scram_server_key",
	"service", "servicefile", "ssl_max_protocol_version",
	"ssl_min_protocol_version", "sslcert", "sslcertmode", "sslcompression",
	"sslcrl", "sslcrldir", "sslkey", "sslkeylogfile", "sslmode",
	"sslnegotiation", "sslpassword", "sslrootcert", "sslsni",
	"target_session_attrs", "tcp_user_timeout", "user",
};
enum { WORDS = sizeof(connection_words) / sizeof(connection_words[0]) };

static void
blanks_skip(struct slice *rest)
{
	while (rest->n > 0 && ascii_is_space(rest->p[0]))
		*rest = slice_from(*rest, 1);
}

/* "host = ": the name in front of the sign.  False: there is no sign. */
static bool
connection_take_name(struct slice *rest, struct slice *out)
{
	size_t n = 0;

	while (n < rest->n && rest->p[n] != '=' && !ascii_is_space(rest->p[n]))
		n++;
	*out = slice_first(*rest, n);
	*rest = slice_from(*rest, n);
	blanks_skip(rest);
	if (rest->n == 0 || rest->p[0] != '=')
		return false;
	*rest = slice_from(*rest, 1);
	blanks_skip(rest);
	return true;
}

/* A value ends at a blank, one in quotes at the second; what stands after a
 * backslash ends nothing.  False: the second is missing. */
static bool
connection_take_value(struct slice *rest)
{
	bool is_quoted = rest->n > 0 && rest->p[0] == '\'';
	size_t n = is_quoted;

	for (; n < rest->n; n++) {
		if (rest->p[n] == '\\' && n + 1 < rest->n)
			n++;
		else if (is_quoted ? rest->p[n] == '\'' :
		    ascii_is_space(rest->p[n]))
			break;
	}
	if (is_quoted && n >= rest->n)
		return false;
	*rest = slice_from(*rest, n + is_quoted);
	return true;
}

static bool
connection_knows(struct slice name, struct guess *guess)
{
	*guess = (struct guess){ .word = name };
	for (size_t i = 0; i < WORDS; i++) {
		if (slice_is(name, connection_words[i]))
			return true;
		guess_offer(guess, connection_words[i]);
	}
	return false;
}

/* What is wrong with a name, as text for people, or NULL. */
static const char *
connection_name_trouble(struct arena *arena, struct slice name,
    const char *text, const char **out_hint)
{
	struct guess guess;
	const char *hint;

	if (connection_knows(name, &guess))
		return NULL;
	hint = guess_hint(&guess, arena);
	*out_hint = hint != NULL ? hint : "host, port, dbname, user, sslmode "
	    "and sslrootcert are the usual ones";
	return arena_printf(arena, "'%s' is no word of a connection to "
	    "PostgreSQL", text);
}

/* What is wrong with the next word, or NULL; *out_hint what would be right. */
static const char *
connection_trouble(struct arena *arena, struct slice *rest,
    const char **out_hint)
{
	struct slice name;
	bool has_sign = connection_take_name(rest, &name);
	const char *text = slice_dup(arena, slice_first(name, name.n < 64 ?
	    name.n : 64)), *trouble;

	*out_hint = "words are NAME=VALUE; a value with blanks stands in '...'";
	if (!has_sign)
		return arena_printf(arena, "there is no = after '%s'", text);
	trouble = connection_name_trouble(arena, name, text, out_hint);
	if (trouble != NULL)
		return trouble;
	*out_hint = "end the value with '; in it, write \\'";
	if (!connection_take_value(rest))
		return arena_printf(arena, "the quote after '%s=' has no end",
		    text);
	return NULL;
}

/* ---- postgresql://USER:PASSWORD@HOST:PORT,HOST.../DBNAME?WORD=VALUE&... -- */

enum { URL_SHOWN_BYTES = 64, PORT_MAX = 65535 };

/* Up to one of the signs, which stays. */
static struct slice
url_take(struct slice *rest, const char *signs)
{
	struct slice part;
	size_t n = 0;

	while (n < rest->n && !ascii_is_among(rest->p[n], signs))
		n++;
	part = slice_first(*rest, n);
	*rest = slice_from(*rest, n);
	return part;
}

static bool
url_next_is(struct slice rest, char sign)
{
	return rest.n > 0 && rest.p[0] == sign;
}

/* Is each % the beginning of a byte? */
static bool
url_is_decodable(struct slice part)
{
	for (size_t i = 0; i < part.n; i++) {
		if (part.p[i] != '%')
			continue;
		if (part.n - i < 3 || ascii_hex(part.p[i + 1]) < 0 ||
		    ascii_hex(part.p[i + 2]) < 0 ||
		    (part.p[i + 1] == '0' && part.p[i + 2] == '0'))
			return false;
	}
	return true;
}

static const char *
url_host_trouble(struct slice *rest, const char **out_hint)
{
	bool is_six = url_next_is(*rest, '[');
	struct slice host, port = SLICE("");
	uint64_t number;

	host = url_take(rest, is_six ? "]" : ":/?,");
	if (is_six && rest->n > 0)
		*rest = slice_from(*rest, 1);	/* the bracket */
	else if (is_six)
		return "an address of the URL has no ] at its end";
	*out_hint = "postgresql://USER@HOST:PORT/DBNAME?WORD=VALUE";
	if (is_six && (host.n == 1 || (rest->n > 0 &&
	    !ascii_is_among(rest->p[0], ":/?,"))))
		return "after [ADDRESS] of the URL comes : or /";
	if (slice_find(host, '@') < host.n) {
		*out_hint = "write %40 for @, %2F for / and %3A for : in a "
		    "password";
		return "the URL has more than one @";
	}
	if (url_next_is(*rest, ':')) {
		*rest = slice_from(*rest, 1);
		port = url_take(rest, "/?,");
	}
	return port.n == 0 || slice_find(port, '%') < port.n ||
	    slice_number(port, 1, PORT_MAX, &number) ? NULL :
	    "a port of the URL is no number from 1 to 65535";
}

/* "NAME=VALUE&NAME=VALUE" */
static const char *
url_words_trouble(struct arena *arena, struct slice rest,
    const char **out_hint)
{
	const char *trouble = NULL, *text;
	struct slice word, name;

	while (trouble == NULL && rest.n > 0) {
		word = url_take(&rest, "&");
		rest = slice_from(rest, rest.n > 0);
		name = url_take(&word, "=");
		text = slice_dup(arena, slice_first(name, name.n <
		    URL_SHOWN_BYTES ? name.n : URL_SHOWN_BYTES));
		*out_hint = "words of a URL are NAME=VALUE with & between "
		    "them; = and & of a value are %3D and %26";
		if (word.n == 0)
			return arena_printf(arena, "there is no = after '%s'",
			    text);
		if (slice_find(slice_from(word, 1), '=') < word.n - 1)
			return arena_printf(arena, "'%s' has more than one =",
			    text);
		if (slice_find(name, '%') == name.n && !(slice_is(name,
		    "ssl") && slice_is(word, "=true")))
			trouble = connection_name_trouble(arena, name, text,
			    out_hint);
	}
	return trouble;
}

static const char *
url_trouble(struct arena *arena, struct slice rest, const char **out_hint)
{
	struct slice all = rest;
	const char *trouble;

	*out_hint = "write %25 for a % of a password";
	if (!url_is_decodable(all))
		return "after a % of the URL two hexadecimal digits must "
		    "follow, and not 00";
	(void)url_take(&rest, "@/");
	rest = url_next_is(rest, '@') ? slice_from(rest, 1) : all;
	do {
		trouble = url_host_trouble(&rest, out_hint);
		if (trouble != NULL || !url_next_is(rest, ','))
			break;
		rest = slice_from(rest, 1);
	} while (true);
	if (trouble != NULL)
		return trouble;
	(void)url_take(&rest, "?");		/* the name of the database */
	return url_words_trouble(arena, slice_from(rest, rest.n > 0),
	    out_hint);
}

void
conf_check_connection(struct conf_loader *loader,
    const struct conf_token *token, const char *words)
{
	static const char *const schemes[] = { "postgresql://",
		"postgres://" };
	struct slice rest = slice_of(words);
	const char *trouble = NULL, *hint = NULL;

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (slice_starts(rest, schemes[i])) {
			trouble = url_trouble(loader->conf->arena, slice_from(
			    rest, strlen(schemes[i])), &hint);
			rest = SLICE("");
		}
	for (blanks_skip(&rest); rest.n > 0 && trouble == NULL;
	    blanks_skip(&rest))
		trouble = connection_trouble(loader->conf->arena, &rest,
		    &hint);
	if (trouble != NULL)
		conf_complain(loader, CONF_ERROR, token, hint, "%s", trouble);
}
