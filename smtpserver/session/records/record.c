/* record.c - what a session said and what was decided, for zmailer replay
 *
 * In     a session at the moment of an answer
 * Out    a line of the record
 * Holds  nothing
 * Spec   zmailer-replay(8), THE RECORD
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/json.h"
#include "journal/record.h"
#include "smtpserver/session/records/record.h"

#include "base/banned.h"

/* A key that is not there is empty. */
static void
record_text(struct str *out, const char *key, struct slice value)
{
	if (value.n > 0)
		json_text(out, key, value);
}

static void
record_path(struct str *out, const char *key, const struct path *path)
{
	struct str text = STR_INIT;

	if (path == NULL)
		return;
	path_add(&text, path);
	json_text(out, key, str_slice(&text));
	str_release(&text);
}

static void
record_client(const struct session *session, struct str *out)
{
	const struct tls_info *tls = session->tls;

	json_text(out, "client", slice_of(session->client.text));
	json_text(out, "listener", slice_of(session->client.listener));
	json_text(out, "session", slice_of(session->id));
	record_text(out, "name", str_slice(&session->name));
	record_text(out, "user", str_slice(&session->user));
	record_text(out, "mech", slice_of(session->mechanism));
	if (session->listen != NULL && session->listen->is_submission)
		json_text(out, "submission", SLICE("yes"));
	if (session->is_esmtp)
		json_text(out, "esmtp", SLICE("yes"));
	if (tls == NULL)
		return;
	json_text(out, "tls", SLICE("yes"));
	record_text(out, "cert", slice_of(tls->subject));
	record_text(out, "issuer", slice_of(tls->issuer));
	record_text(out, "fingerprint", slice_of(tls->fingerprint));
	if (tls->is_verified)
		json_text(out, "verified", SLICE("yes"));
}

/* "KIND US STATE US QUESTION US ANSWER LF", US: the unit separator. */
static void
record_fact(struct str *out, const struct fact *fact)
{
	str_adds(out, fact->kind);
	str_adds(out, fact->state == ASK_TROUBLE ? "\x1ftrouble\x1f" :
	    "\x1fok\x1f");
	str_add_slice(out, fact->question);
	str_addc(out, '\x1f');
	str_add_slice(out, fact->answer);
	str_addc(out, '\n');
}

/* All that was asked.  What the router says of recipients is asked anew. */
static void
record_facts(const struct session *session, struct str *out)
{
	struct str facts = STR_INIT;

	for (int scope = 0; scope < FACT_SCOPES; scope++)
		for (const struct fact *fact = session->facts[scope].first;
		    fact != NULL; fact = fact->next)
			if (!slice_is(slice_of(fact->kind), "router"))
				record_fact(&facts, fact);
	record_text(out, "facts", str_slice(&facts));
	str_release(&facts);
}

static void
record_origin(struct str *out, const struct late_origin *origin)
{
	if (origin == NULL)
		return;
	json_text(out, "spf", slice_of(origin_text(origin->spf)));
	json_text(out, "dkim", slice_of(origin_text(origin->dkim)));
	json_text(out, "dmarc", slice_of(origin_text(origin->dmarc)));
	json_text(out, "policy", slice_of(dmarc_policy_text(
	    origin->policy)));
	record_text(out, "signers", origin->signers);
}

static void
record_rule(struct str *out, const struct conf_rule *rule)
{
	struct str at = STR_INIT;

	if (rule == NULL || rule->at.file == NULL)
		return;
	str_addf(&at, "%s:%u", rule->at.file, rule->at.line);
	json_text(out, "rule", str_slice(&at));
	str_release(&at);
}

static void
record_decision(const struct decided *decided,
    const struct session_answer *answer, struct str *out)
{
	json_text(out, "by", slice_of(decided->by));
	json_number(out, "code", answer->code);
	record_text(out, "status", slice_of(answer->status != NULL ?
	    answer->status : ""));
	json_text(out, "reply", slice_of(answer->text));
	record_rule(out, decided->rule);
	if (decided->is_set_aside)
		json_text(out, "aside", SLICE("yes"));
}

void
record_decided(const struct session *session, const struct decided *decided,
    const struct session_answer *answer)
{
	const struct conf *conf = session->settings->conf;
	const struct transaction *t = session->transaction;
	char now_text[CLOCK_TEXT_BYTES];
	struct str line = STR_INIT;

	if (conf->record_ms == 0)
		return;
	clock_rfc3339(clock_wall_us(), now_text);
	json_open(&line);
	json_text(&line, "t", slice_of(now_text));
	json_text(&line, "at", slice_of(decided->stage));
	record_client(session, &line);
	record_text(&line, "helo", decided->helo.n > 0 ? decided->helo :
	    str_slice(&session->helo));
	record_path(&line, "from", decided->sender);
	record_path(&line, "to", decided->rcpt);
	record_text(&line, "to", decided->rcpt_text);
	record_origin(&line, decided->origin);
	json_number(&line, "size", (int64_t)decided->size_bytes);
	/* the end of a message speaks of its first recipient */
	json_number(&line, "rcpts", t != NULL && decided->rcpt_text.n == 0 ?
	    t->rcpt_count : 0);
	json_number(&line, "messages", session->messages);
	record_decision(decided, answer, &line);
	record_facts(session, &line);
	json_close(&line);
	record_line(str_slice(&line), conf->record_max_bytes);
	str_release(&line);
}

void
record_judged(const struct session *session, const struct late_origin *origin)
{
	const struct transaction *t = session->transaction;
	struct decided decided = { .stage = "data", .by = "policy",
	    .sender = &t->envelope.from, .rcpt_text = t->rcpt_first,
	    .origin = origin, .size_bytes = t->size_bytes,
	    .rule = t->is_refused ? t->refusal.rule : t->freeze,
	    .is_set_aside = !t->is_refused && t->freeze != NULL };
	struct session_answer taken;

	if (origin == NULL && t->late.count == 0)
		return;
	answer_set(&taken, 250, "2.0.0", "taken");
	record_decided(session, &decided, t->is_refused ? &t->refusal :
	    &taken);
}
