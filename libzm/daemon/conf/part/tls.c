/* tls.c - the statement tls, and whether its files are any good
 *
 * In     words of `tls`; certificate files
 * Out    certificates, versions, what clients are asked; complaints
 * Holds  nothing: a key that was read for a check is freed at once
 * Spec   zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/conf/internal.h"
#include "io/tls_pair.h"

#include "base/banned.h"

enum { WORD_CERTIFICATE, WORD_KEY, WORD_FOR, WORD_MIN, WORD_ASK, WORD_CA,
	WORD_COUNT };			/* keyword order */

enum { DAY_S = 86400, EXPIRY_WARNING_DAYS = 14 };

/* ---- words ------------------------------------------------------------ */

static bool
is_given(const struct conf_statement *statement, int word)
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
		    "tls min ..., tls client-certificates ...",
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

	if (!is_given(statement, WORD_CERTIFICATE) ||
	    !is_given(statement, WORD_KEY)) {
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    "write: tls certificate FILE key FILE",
		    "a certificate and a key go together");
		return;
	}
	conf->certificates = conf_push(conf->arena, conf->certificates,
	    conf->certificate_count, sizeof(*conf->certificates));
	conf->certificates[conf->certificate_count++] = one;
}

/* Remembers where it was said; complains when that is the second time. */
static bool
is_first(struct conf_loader *loader, const struct conf_statement *statement,
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

	if (is_given(statement, WORD_MIN)) {
		if (is_alone(loader, statement, WORD_MIN, 0) &&
		    is_first(loader, statement, &book->tls_min_at,
		    "'tls min' is said twice"))
			conf->needs_tls13 =
			    statement->keywords[WORD_MIN].number == 1;
	} else if (is_given(statement, WORD_ASK)) {
		if (!is_alone(loader, statement, WORD_ASK, 1u << WORD_CA) ||
		    !is_first(loader, statement,
		    &book->client_certificates_at,
		    "'tls client-certificates' is said twice"))
			return;
		conf->client_certificates = (enum conf_client_certificates)
		    statement->keywords[WORD_ASK].number;
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
	    conf->certificate_count == 0; i++)
		if (conf->listens[i].is_tls &&
		    !conf->listens[i].is_optional)
			conf_complain_at(loader->report,
			    loader->report_arena, loader->book, CONF_ERROR,
			    conf->listens[i].at, 6,
			    "add: tls certificate FILE key FILE",
			    "a listener with tls needs a certificate");
}

/* ---- files ------------------------------------------------------------ */

struct look {
	const struct conf	*conf;
	struct arena		*arena;
	struct conf_report	*report;
};

static void
complain(struct look *look, enum conf_kind kind, struct conf_at at,
    const char *hint, const char *text)
{
	conf_complain_at(look->report, look->arena, look->conf->book, kind,
	    at, 3, hint, text);
}

/* Keys are often root's alone: who checks may be somebody else. */
static bool
is_forbidden(struct look *look, const char *file, struct conf_at at)
{
	if (access(file, R_OK) == 0 || errno != EACCES || geteuid() == 0)
		return false;
	complain(look, CONF_WARNING, at, "check it as root",
	    arena_printf(look->arena, "%s cannot be read by you", file));
	return true;
}

static void
check_dates(struct look *look, const struct conf_certificate *one,
    const struct tls_pair *pair)
{
	int64_t now_s = clock_wall_s(), left_s = pair->expires_s - now_s;
	char span[CLOCK_TEXT_BYTES];

	clock_span(left_s < 0 ? -left_s : left_s, span);
	if (pair->begins_s > now_s)
		complain(look, CONF_WARNING, one->at, NULL,
		    arena_printf(look->arena, "%s is not in force yet",
		    one->file));
	else if (left_s < 0)
		complain(look, CONF_WARNING, one->at, "renew it",
		    arena_printf(look->arena, "%s has expired %s ago",
		    one->file, span));
	else if (left_s < EXPIRY_WARNING_DAYS * DAY_S)
		complain(look, CONF_WARNING, one->at, "renew it",
		    arena_printf(look->arena, "%s expires in %s", one->file,
		    span));
}

static void
check_certificate(struct look *look, const struct conf_certificate *one)
{
	struct tls_pair pair;
	struct err err;

	if (is_forbidden(look, one->file, one->at) ||
	    is_forbidden(look, one->key, one->at))
		return;
	if (tls_pair_load(&pair, one->file, one->key, &err) != 1) {
		complain(look, CONF_ERROR, one->at, NULL, err.text);
		return;
	}
	check_dates(look, one, &pair);
	tls_pair_release(&pair);
}

static void
check_client_ca(struct look *look)
{
	struct conf_at at = look->conf->book->client_certificates_at;
	struct str text = STR_INIT;
	struct err err;

	if (look->conf->client_ca == NULL ||
	    is_forbidden(look, look->conf->client_ca, at))
		return;
	if (tls_file_read(look->conf->client_ca, &text, &err) != 1 ||
	    tls_roots_check(str_slice(&text), &err) != 1)
		complain(look, CONF_ERROR, at, NULL, arena_printf(look->arena,
		    "%s: %s", look->conf->client_ca, err.text));
	str_release(&text);
}

void
conf_check_certificates(const struct conf *conf, struct arena *arena,
    struct conf_report *report)
{
	struct look look = { conf, arena, report };

	for (size_t i = 0; i < conf->certificate_count; i++)
		check_certificate(&look, &conf->certificates[i]);
	check_client_ca(&look);
}
