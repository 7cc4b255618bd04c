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
#include "base/cache.h"
#include "base/clock.h"
#include "base/mem.h"
#include "smtpserver/session/recipient/recipient.h"

#include "base/banned.h"

const char recipient_kind[] = "router";

enum { WORDS_BYTES_MAX = 400 };

bool
recipient_is_asked(const struct conf *conf, const struct conf_listen *listener,
    const struct path *rcpt)
{
	const struct conf_domain *domain;
	struct arena *arena;

	if (conf->verify == VERIFY_OFF ||
	    (listener != NULL && listener->no_verify))
		return false;
	if (rcpt->domain.n == 0)
		return false;		/* <postmaster> exists */
	/* a script may have a say in every recipient */
	if (conf->hooks.script != NULL)
		return true;
	arena = arena_new();
	domain = conf_domain_find(conf, slice_lower(arena, rcpt->domain));
	arena_free(&arena);
	/* a database may have it: who routes asks that */
	if (domain == NULL)
		return conf_domain_table(conf, 0, NULL) != NULL &&
		    conf_domain_is_asked(rcpt->domain);
	return (domain->users != USERS_ANY ||
	    domain->alias_count > 0);
}

/* "5.7.1_words_of_a_route" (doc/INTERNALS section 7). */
static void
recipient_refuse_in_words(struct slice form,
    char out_status[RECIPIENT_STATUS_BYTES], struct session_answer *out)
{
	size_t end = slice_find(form, '_');
	char words[WORDS_BYTES_MAX];
	struct slice rest = form;
	size_t n = 0;

	strlcpy(out_status, "5.7.1", RECIPIENT_STATUS_BYTES);
	if (form.n > 2 && form.p[0] == '5' && form.p[1] == '.' &&
	    end < RECIPIENT_STATUS_BYTES) {
		memcpy(out_status, form.p, end);
		out_status[end] = '\0';
		rest = slice_from(form, end + 1);
	}
	for (; n < rest.n && n + 1 < sizeof(words); n++)
		words[n] = rest.p[n] == '_' ? ' ' : rest.p[n];
	words[n] = '\0';
	answer_set(out, 550, out_status, "%s", n > 0 ? words :
	    "mail for this address is refused");
}

static void
recipient_refuse(struct slice form, char out_status[RECIPIENT_STATUS_BYTES],
    struct session_answer *out)
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
	recipient_refuse_in_words(form, out_status, out);
}

bool
recipient_judge(const struct conf *conf, enum ask_state state,
    struct slice answer, char out_status[RECIPIENT_STATUS_BYTES],
    struct session_answer *out)
{
	struct slice word = { NULL, 0 }, form = { NULL, 0 };

	(void)slice_word(&answer, &word);
	form = slice_trim(answer);
	if (state == ASK_ANSWERED && slice_is(word, "served"))
		return true;
	if (state == ASK_ANSWERED && slice_is(word, "refused")) {
		recipient_refuse(form, out_status, out);
		return false;
	}
	if (state == ASK_ANSWERED && slice_is(word, "later")) {
		answer_set(out, 451, "4.7.1", SLICE_FMT,
		    SLICE_ARG(slice_trim(answer)));
		return false;
	}
	if (conf->verify == VERIFY_ACCEPT)
		return true;
	answer_set(out, 451, "4.3.0",
	    "whether this user exists cannot be looked up now, try later");
	return false;
}

void
recipient_question_add(struct str *out, const struct conf *conf,
    const struct path *rcpt, const struct recipient_asker *asker)
{
	bool has_script = conf->hooks.script != NULL;
	size_t start;

	str_adds(out, has_script ? "hook " : "rcpt ");
	path_add(out, rcpt);
	start = out->len - rcpt->domain.n;
	for (size_t i = start; i < out->len; i++)
		if (ascii_is_upper(out->buf[i]))
			out->buf[i] = (char)(out->buf[i] + 32);
	if (!has_script)
		return;
	str_addc(out, '\t');
	path_add(out, asker->sender);
	str_addf(out, "\t" SLICE_FMT "\t" SLICE_FMT,
	    SLICE_ARG(asker->client), SLICE_ARG(asker->user));
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
    answered_fn *fn, struct session_answer *out)
{
	struct service *service = session->service;
	const struct conf *conf = session->settings->conf;
	char *status = session->transaction->rcpt_status;
	const struct fact *fact = facts_find(&session->facts[FACT_TURN],
	    recipient_kind, question);
	struct slice known;

	if (service->recipients == NULL)
		service->recipients = cache_new(RECIPIENTS_KNOWN_MAX);
	if (fact != NULL) {
		recipient_remember(service, question, fact);
		return recipient_judge(conf, fact->state, fact->answer, status,
		    out);
	}
	if (cache_find(service->recipients, question, clock_steady_ms(),
	    &known))
		return recipient_judge(conf, ASK_ANSWERED, known, status, out);
	session_ask(session, recipient_kind, question, 0, fn);
	return false;
}

bool
recipient_check(struct session *session, const struct path *rcpt,
    answered_fn *fn, struct session_answer *out)
{
	const struct conf *conf = session->settings->conf;
	const struct recipient_asker asker = {
		.sender = &session->transaction->envelope.from,
		.client = slice_of(session->client.literal),
		.user = str_slice(&session->user),
	};
	struct str question = STR_INIT;
	bool result;

	if (!recipient_is_asked(conf, session->listen, rcpt) ||
	    (conf->hooks.script == NULL && rcpt->domain.n > 0 &&
	    !session->transaction->rcpt_is_ours))
		return true;
	recipient_question_add(&question, conf, rcpt, &asker);
	result = recipient_look_up(session, str_slice(&question), fn, out);
	str_release(&question);
	return result;
}
