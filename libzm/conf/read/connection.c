/* connection.c - the words of a connection to PostgreSQL
 *
 * In     what stands after postgres, as libpq reads it
 * Out    complaints: a word that libpq does not know, a quote without end
 * Holds  nothing
 * Trusts nothing: it is cut as PQconninfoParse cuts it
 * Spec   PostgreSQL's manual, "Connection Strings" and "Parameter Key Words"
 *
 * SPDX-License-Identifier: ISC
 */
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

/* What is wrong with the next word, or NULL; *out_hint what would be right. */
static const char *
connection_trouble(struct arena *arena, struct slice *rest,
    const char **out_hint)
{
	struct slice name;
	struct guess guess;
	bool has_sign = connection_take_name(rest, &name);
	const char *text = slice_dup(arena, slice_first(name, name.n < 64 ?
	    name.n : 64));

	*out_hint = "words are NAME=VALUE; a value with blanks stands in '...'";
	if (!has_sign)
		return arena_printf(arena, "there is no = after '%s'", text);
	if (!connection_knows(name, &guess)) {
		const char *hint = guess_hint(&guess, arena);

		*out_hint = hint != NULL ? hint :
		    "host, port, dbname, user, sslmode and sslrootcert are "
		    "the usual ones";
		return arena_printf(arena, "'%s' is no word of a connection "
		    "to PostgreSQL", text);
	}
	*out_hint = "end the value with '; in it, write \\'";
	if (!connection_take_value(rest))
		return arena_printf(arena, "the quote after '%s=' has no end",
		    text);
	return NULL;
}

void
conf_check_connection(struct conf_loader *loader,
    const struct conf_token *token, const char *words)
{
	struct slice rest = slice_of(words);
	const char *trouble = NULL, *hint;

	if (slice_starts(rest, "postgresql://") ||
	    slice_starts(rest, "postgres://"))
		return;			/* libpq reads it at the start */
	for (blanks_skip(&rest); rest.n > 0 && trouble == NULL;
	    blanks_skip(&rest))
		trouble = connection_trouble(loader->conf->arena, &rest,
		    &hint);
	if (trouble != NULL)
		conf_complain(loader, CONF_ERROR, token, hint, "%s", trouble);
}
