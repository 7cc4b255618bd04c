/* tls.c - the statement tls
 *
 * In     words of `tls`
 * Out    certificates, versions, what clients are asked; complaints
 * Holds  nothing
 * Spec   zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/part/part.h"

#include "base/banned.h"

enum { WORD_CERTIFICATE, WORD_KEY, WORD_FOR, WORD_TABLE, WORD_MIN, WORD_ASK,
	WORD_CA, WORD_COUNT };		/* keyword order */

/* ---- words ------------------------------------------------------------ */

static bool
tls_word_is_given(const struct conf_statement *statement, int word)
{
	return statement->keywords[word].token != NULL;
}

/* Complains about a word that does not belong to what was said first. */
static bool
is_alone(struct conf_loader *loader, const struct conf_statement *statement,
    int first, unsigned allowed)
{
	for (int i = 0; i < WORD_COUNT; i++) {
		const struct conf_token *token = statement->keywords[i].token;

		if (token == NULL || i == first || (allowed & 1u << i))
			continue;
		conf_complain(loader, CONF_ERROR, token,
		    "write a row of its own for each: tls certificate ..., "
		    "tls certificates <...>, tls min ..., "
		    "tls client-certificates ...",
		    "this does not go together in one row");
		return false;
	}
	return true;
}

static void
certificate_take(struct conf_loader *loader,
    const struct conf_statement *statement)
{
	struct conf *conf = loader->conf;
	struct conf_certificate one = {
		.file = statement->keywords[WORD_CERTIFICATE].text,
		.key = statement->keywords[WORD_KEY].text,
		.name = statement->keywords[WORD_FOR].text,
		.at = conf_at(statement->node->tokens),
	};

	if (!tls_word_is_given(statement, WORD_CERTIFICATE) ||
	    !tls_word_is_given(statement, WORD_KEY)) {
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    "write: tls certificate FILE key FILE",
		    "a certificate and a key go together");
		return;
	}
	conf->certificates = arena_grow(conf->arena, conf->certificates,
	    conf->certificate_count, sizeof(*conf->certificates));
	conf->certificates[conf->certificate_count++] = one;
}

/* Remembers where it was said; complains when that is the second time. */
static bool
tls_is_first(struct conf_loader *loader, const struct conf_statement *statement,
    struct conf_at *at, const char *what)
{
	if (at->file != NULL) {
		conf_complain_twice(loader, statement->node->tokens, *at,
		    what);
		return false;
	}
	*at = conf_at(statement->node->tokens);
	return true;
}

void
conf_apply_tls(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_book *book = loader->book;
	struct conf *conf = loader->conf;

	if (tls_word_is_given(statement, WORD_TABLE)) {
		if (is_alone(loader, statement, WORD_TABLE, 0) &&
		    tls_is_first(loader, statement, &conf->certificate_table_at,
		    "'tls certificates' is said twice"))
			conf->certificate_table =
			    statement->keywords[WORD_TABLE].table;
	} else if (tls_word_is_given(statement, WORD_MIN)) {
		if (is_alone(loader, statement, WORD_MIN, 0) &&
		    tls_is_first(loader, statement, &book->tls_min_at,
		    "'tls min' is said twice"))
			conf->needs_tls13 =
			    statement->keywords[WORD_MIN].number == 1;
	} else if (tls_word_is_given(statement, WORD_ASK)) {
		if (!is_alone(loader, statement, WORD_ASK, 1u << WORD_CA) ||
		    !tls_is_first(loader, statement,
		    &book->client_certificates_at,
		    "'tls client-certificates' is said twice"))
			return;
		conf->client_certificates = (enum conf_client_certificates)
						statement->keywords[WORD_ASK]
						    .number;
		conf->client_ca = statement->keywords[WORD_CA].text;
	} else if (is_alone(loader, statement, WORD_CERTIFICATE,
	    1u << WORD_KEY | 1u << WORD_FOR)) {
		certificate_take(loader, statement);
	}
}

void
conf_check_tls(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 0; i < conf->listen_count &&
	    !conf_has_certificate(conf); i++)
		if (conf->listens[i].is_tls &&
		    !conf->listens[i].is_optional)
			conf_complain_at(loader->report,
			    loader->report_arena, loader->book, CONF_ERROR,
			    conf->listens[i].at, 6,
			    "add: tls certificate FILE key FILE",
			    "a listener with tls needs a certificate");
}
