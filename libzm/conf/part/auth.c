/* auth.c - the statement auth
 *
 * In     words of `auth`
 * Out    who checks passwords; complaints
 * Spec   zmailer.conf(5); RFC 4954
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "conf/part/part.h"

#include "base/banned.h"

enum { WORD_USERS, WORD_SCRAM, WORD_DOVECOT, WORD_PAM, WORD_SASLAUTHD,
	WORD_SERVICE, WORD_MECHANISMS, WORD_CLEAR,
	WORD_SENDERS };			/* keyword order */

static const struct back_end {
	int			 word;
	enum conf_auth_kind	 kind;
	unsigned		 allowed;	/* 1 << word, beside those of
					 * all */
} back_ends[] = {
	{ WORD_USERS, AUTH_USERS, 1u << WORD_SCRAM },
	{ WORD_DOVECOT, AUTH_DOVECOT, 1u << WORD_MECHANISMS },
	{ WORD_PAM, AUTH_PAM, 1u << WORD_SERVICE },
	{ WORD_SASLAUTHD, AUTH_SASLAUTHD, 1u << WORD_SERVICE },
};

enum { BACK_ENDS = sizeof(back_ends) / sizeof(back_ends[0]) };

static bool
auth_word_is_given(const struct conf_statement *statement, int word)
{
	return statement->keywords[word].token != NULL;
}

/* The one that is named; complains when that is none or two. */
static const struct back_end *
back_end_of(struct conf_loader *loader,
    const struct conf_statement *statement)
{
	const struct back_end *found = NULL;

	for (size_t i = 0; i < BACK_ENDS; i++) {
		if (!auth_word_is_given(statement, back_ends[i].word))
			continue;
		if (found != NULL) {
			conf_complain(loader, CONF_ERROR,
			    statement->keywords[back_ends[i].word].token,
			    NULL, "passwords are checked in one place");
			return NULL;
		}
		found = &back_ends[i];
	}
	if (found == NULL)
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    "write: auth users <table>, auth dovecot SOCKET, auth "
		    "pam or auth saslauthd SOCKET",
		    "this does not say who checks passwords");
	return found;
}

static bool
words_fit(struct conf_loader *loader, const struct conf_statement *statement,
    const struct back_end *back_end)
{
	unsigned allowed = back_end->allowed | 1u << back_end->word |
	    1u << WORD_CLEAR | 1u << WORD_SENDERS;

	for (int i = 0; i <= WORD_SENDERS; i++) {
		if (!auth_word_is_given(statement, i) || (allowed & 1u << i))
			continue;
		conf_complain(loader, CONF_ERROR,
		    statement->keywords[i].token, NULL,
		    "this does not belong to that back end");
		return false;
	}
	return true;
}

static const char *
mechanisms_of(struct conf_loader *loader,
    const struct conf_statement *statement)
{
	const char *said = statement->keywords[WORD_MECHANISMS].text;
	struct str text = STR_INIT;
	const char *result;

	str_adds(&text, said != NULL ? said :
	    auth_word_is_given(statement, WORD_SCRAM) ?
	    "SCRAM-SHA-256-PLUS SCRAM-SHA-256 PLAIN LOGIN" : "PLAIN LOGIN");
	for (size_t i = 0; i < text.len; i++)
		if (ascii_is_lower(text.buf[i]))
			text.buf[i] = (char)(text.buf[i] - 32);
	result = slice_dup(loader->conf->arena, str_slice(&text));
	str_release(&text);
	return result;
}

void
conf_apply_auth(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf_auth *auth = &loader->conf->auth;
	const struct back_end *back_end;
	const char *path;

	if (auth->at.file != NULL) {
		conf_complain_twice(loader, statement->node->tokens,
		    auth->at, "'auth' is said twice");
		return;
	}
	back_end = back_end_of(loader, statement);
	if (back_end == NULL || !words_fit(loader, statement, back_end))
		return;
	path = back_end->kind == AUTH_DOVECOT ? words[WORD_DOVECOT].text :
	    words[WORD_SASLAUTHD].text;
	*auth = (struct conf_auth){
		.kind = back_end->kind,
		.table = words[WORD_USERS].table,
		.path = path,
		.socket = path != NULL ? arena_printf(loader->conf->arena,
		    "unix:%s", path) : NULL,
		.service = words[WORD_SERVICE].text != NULL ?
		    words[WORD_SERVICE].text : "smtp",
		.mechanisms = mechanisms_of(loader, statement),
		.clear_loopback = words[WORD_CLEAR].number == 1,
		.senders = words[WORD_SENDERS].text,
		.at = conf_at(statement->node->tokens),
	};
}

/* What nobody could use, or what cannot be built. */
void
conf_check_auth(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;
	bool has_door = false;

	if (conf->auth.kind == AUTH_NONE)
		return;
#ifndef HAVE_PAM
	if (conf->auth.kind == AUTH_PAM)
		conf_complain_at(loader->report, loader->report_arena,
		    loader->book, CONF_ERROR, conf->auth.at, 4,
		    "apt-get install libpam0g-dev, and build again",
		    "PAM is not in this build");
#endif
	for (size_t i = 0; i < conf->listen_count; i++)
		has_door = has_door || conf->listens[i].is_submission;
	if (!has_door)
		conf_complain_at(loader->report, loader->report_arena,
		    loader->book, CONF_WARNING, conf->auth.at, 4,
		    "add: listen 587 submission",
		    "no listener has the word submission: nobody can log in");
	else if (!conf_has_certificate(conf) && !conf->auth.clear_loopback)
		conf_complain_at(loader->report, loader->report_arena,
		    loader->book, CONF_WARNING, conf->auth.at, 4,
		    "add: tls certificate FILE key FILE",
		    "without a certificate nobody can log in");
}
