/* recipient.c - does a recipient of ours exist?
 *
 * In     a recipient that the policy accepts
 * Out    yes, a refusal, or a question for the router
 * Holds  nothing; the answers are in the service's cache
 * Trusts the router
 * Spec   RFC 5321 section 3.3; doc/INTERNALS section 7; router/ask/verify.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mem.h"
#include "smtpserver/helper/cache.h"
#include "smtpserver/session/recipient.h"

#include "base/banned.h"

const char recipient_kind[] = "router";

enum { WORDS_BYTES_MAX = 400 };

/* A script may have a say in every recipient. */
static bool
recipient_has_script(const struct session *session)
{
	return session->settings->conf->hooks.script != NULL;
}

static bool
recipient_is_to_be_asked(const struct session *session, const struct path *rcpt)
{
	const struct conf *conf = session->settings->conf;
	const struct conf_domain *domain;
	struct arena *arena;

	if (conf->verify == VERIFY_OFF ||
	    (session->listen != NULL && session->listen->no_verify))
		return false;
	if (rcpt->domain.n == 0)
		return false;		/* <postmaster> exists */
	if (recipient_has_script(session))
		return true;
	arena = arena_new();
	domain = conf_domain_find(conf, slice_lower(arena, rcpt->domain));
	arena_free(&arena);
	return domain != NULL && (domain->users != USERS_ANY ||
	    domain->alias_count > 0);
}

/* "5.7.1_words_of_a_route" (doc/INTERNALS section 7). */
static void
recipient_refuse_in_words(struct session *session, struct slice form,
    struct answer *out)
{
	char *status = session->transaction->rcpt_status;
	size_t end = slice_find(form, '_');
	char words[WORDS_BYTES_MAX];
	struct slice rest = form;
	size_t n = 0;

	strlcpy(status, "5.7.1", sizeof(session->transaction->rcpt_status));
	if (form.n > 2 && form.p[0] == '5' && form.p[1] == '.' &&
	    end < sizeof(session->transaction->rcpt_status)) {
		memcpy(status, form.p, end);
		status[end] = '\0';
		rest = slice_from(form, end + 1);
	}
	for (; n < rest.n && n + 1 < sizeof(words); n++)
		words[n] = rest.p[n] == '_' ? ' ' : rest.p[n];
	words[n] = '\0';
	answer_set(out, 550, status, "%s", n > 0 ? words :
	    "mail for this address is refused");
}

static void
recipient_refuse(struct session *session, struct slice form, struct answer *out)
{
	static const struct {
		const char	*form, *status, *text;
	} rows[] = {
		{ "nouser", "5.1.1", "no such user here" },
		{ "badaddress", "5.1.3", "this is not an address" },
		{ "baddomain", "5.1.2", "this is not a domain" },
		{ "aliasloop", "5.4.6", "the alias refers to itself" },
		{ "expansion", "5.5.3", "the alias has too many recipients" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is(form, rows[i].form)) {
			answer_set(out, 550, rows[i].status, "%s",
			    rows[i].text);
			return;
		}
	recipient_refuse_in_words(session, form, out);
}

static bool
recipient_judge(struct session *session, enum ask_state state,
    struct slice answer,
    struct answer *out)
{
	struct slice word = { NULL, 0 }, form = { NULL, 0 };

	(void)slice_word(&answer, &word);
	form = slice_trim(answer);
	if (state == ASK_ANSWERED && slice_is(word, "served"))
		return true;
	if (state == ASK_ANSWERED && slice_is(word, "refused")) {
		recipient_refuse(session, form, out);
		return false;
	}
	if (state == ASK_ANSWERED && slice_is(word, "later")) {
		answer_set(out, 451, "4.7.1", SLICE_FMT,
		    SLICE_ARG(slice_trim(answer)));
		return false;
	}
	if (session->settings->conf->verify == VERIFY_ACCEPT)
		return true;
	answer_set(out, 451, "4.3.0",
	    "whether this user exists cannot be looked up now, try later");
	return false;
}

/* What is asked and the key of the cache: "rcpt bob@example.org". */
static void
recipient_question_add(const struct session *session, struct str *out,
    const struct path *rcpt)
{
	size_t start;

	str_adds(out, recipient_has_script(session) ? "hook " : "rcpt ");
	path_add(out, rcpt);
	start = out->len - rcpt->domain.n;
	for (size_t i = start; i < out->len; i++)
		if (ascii_is_upper(out->buf[i]))
			out->buf[i] = (char)(out->buf[i] + 32);
	if (!recipient_has_script(session))
		return;
	str_addc(out, '\t');
	path_add(out, &session->transaction->envelope.from);
	str_addf(out, "\t%s\t%s", session->client.literal,
	    session->user.len > 0 ? session->user.buf : "");
}

static void
recipient_remember(struct service *service, struct slice question,
    const struct fact *fact)
{
	bool is_served = slice_starts(fact->answer, "served");

	/* what a script says is its own to remember */
	if (fact->state != ASK_ANSWERED || slice_starts(question, "hook "))
		return;
	cache_add(service->recipients, question, fact->answer,
	    clock_steady_ms() + (is_served ? RECIPIENT_SERVED_MS :
	    RECIPIENT_REFUSED_MS));
}

static bool
recipient_look_up(struct session *session, struct slice question,
    answered_fn *fn,
    struct answer *out)
{
	struct service *service = session->service;
	const struct fact *fact = facts_find(&session->facts[FACT_TURN],
	    recipient_kind, question);
	struct slice known;

	if (service->recipients == NULL)
		service->recipients = cache_new(RECIPIENTS_KNOWN_MAX);
	if (fact != NULL) {
		recipient_remember(service, question, fact);
		return recipient_judge(session, fact->state, fact->answer, out);
	}
	if (cache_find(service->recipients, question, clock_steady_ms(),
	    &known))
		return recipient_judge(session, ASK_ANSWERED, known, out);
	session_ask(session, recipient_kind, question, 0, fn);
	return false;
}

bool
recipient_check(struct session *session, const struct path *rcpt,
    answered_fn *fn, struct answer *out)
{
	struct str question = STR_INIT;
	bool result;

	if (!recipient_is_to_be_asked(session, rcpt))
		return true;
	recipient_question_add(session, &question, rcpt);
	result = recipient_look_up(session, str_slice(&question), fn, out);
	str_release(&question);
	return result;
}
