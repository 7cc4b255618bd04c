/* record.c - what a session said and what was decided, for zmailer replay
 *
 * In     a session at the moment of an answer
 * Out    a line of the record
 * Holds  nothing
 * Spec   zmailer-replay(8), THE RECORD
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "journal/event.h"
#include "journal/record.h"
#include "mail/spool/keep.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/filter/said.h"
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
record_facts_add(const struct session *session, struct str *out)
{
	for (int scope = 0; scope < FACT_SCOPES; scope++)
		for (const struct fact *fact = session->facts[scope].first;
		    fact != NULL; fact = fact->next)
			if (!slice_is(slice_of(fact->kind), "router"))
				record_fact(out, fact);
}

/* The end of a message speaks of its first recipient: what was asked about
 * that one is kept with the message. */
static void
record_facts(const struct session *session, const struct decided *decided,
    int code, struct str *out)
{
	struct transaction *t = session->transaction;
	struct str facts = STR_INIT;

	if (decided->rcpt_text.n > 0)
		str_add_slice(&facts, str_slice(&t->rcpt_facts));
	record_facts_add(session, &facts);
	record_text(out, "facts", str_slice(&facts));
	if (decided->rcpt != NULL && code < 400 && t->rcpt_count == 1)
		str_add_slice(&t->rcpt_facts, str_slice(&facts));
	str_release(&facts);
}

/* What a refusal names. */
static void
record_names(struct str *out, const struct judge_names *names)
{
	if (names == NULL)
		return;
	record_text(out, "spf-at", slice_of(names->spf));
	record_text(out, "dkim-at", slice_of(names->dkim));
	record_text(out, "dmarc-at", slice_of(names->dmarc));
	record_text(out, "dkim2-why", slice_of(names->dkim2));
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
	record_text(out, "sealer", origin->sealer);
	if (origin->dkim2 != ORIGIN_NONE)
		json_text(out, "dkim2", slice_of(origin_text(origin->dkim2)));
	record_names(out, origin->names);
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
	if (decided->is_discarded)
		json_text(out, "discarded", SLICE("yes"));
}

/* What the limits of messages count. */
static void
record_content(struct str *out, const struct content *content)
{
	unsigned seen;

	if (content == NULL)
		return;
	seen = content->dot.seen | content->crlf.seen;
	json_number(out, "bytes", (int64_t)content->bytes);
	json_number(out, "header", (int64_t)content->header.bytes);
	json_number(out, "received", content->header.received);
	json_number(out, "line", (int64_t)(content->dot.longest_bytes >
	    content->crlf.longest_bytes ? content->dot.longest_bytes :
	    content->crlf.longest_bytes));
	json_number(out, "odd", seen);
	if (content->form == CONTENT_BINARY)
		json_text(out, "binary", SLICE("yes"));
	if (content->lacks_header)
		json_text(out, "headless", SLICE("yes"));
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
	json_number(&line, "rcpts", t != NULL && decided->rcpt_text.n == 0 ?
	    t->rcpt_count : 0);
	json_number(&line, "messages", session->messages);
	record_content(&line, decided->content);
	if (decided->content != NULL)
		json_text(&line, "id", slice_of(decided->id));
	if (decided->is_kept)
		json_text(&line, "body", SLICE("yes"));
	record_text(&line, "said", decided->said);
	record_decision(decided, answer, &line);
	record_facts(session, decided, answer->code, &line);
	json_close(&line);
	record_line(str_slice(&line), conf->record_max_bytes);
	str_release(&line);
}

void
record_filtered(const struct session *session, struct decided *decided,
    const struct session_answer *answer)
{
	if (session->ask != NULL)
		return;
	decided->by = session_filter_by(session);
	decided->said = session->filter != NULL ?
	    str_slice(&session->filter->said) : SLICE("");
	record_decided(session, decided, answer);
}

static struct decided
record_message(const struct transaction *t)
{
	return (struct decided){ .stage = "data", .by = "policy",
	    .sender = &t->envelope.from, .rcpt_text = t->rcpt_first,
	    .size_bytes = t->size_bytes };
}

void
record_refused_data(const struct session *session,
    const struct session_answer *answer)
{
	struct decided decided = record_message(session->transaction);

	record_filtered(session, &decided, answer);
}

/* What the disk refuses and the grammar of BDAT cannot be decided again. */
static const char *
record_end_by(const struct transaction *t)
{
	if (t->is_refused)
		return t->refused_by;
	if (t->is_discarded || t->milter_cause[0] != '\0')
		return "milter";
	if (t->content.fault == CONTENT_NO_SPACE ||
	    t->content.fault == CONTENT_IO)
		return "filter";
	if (t->content.fault != CONTENT_GOOD)
		return "content";
	return t->next_hop != NULL && t->next_hop->code >= 400 ? "next-hop" :
	    "policy";
}

static struct late_origin
record_origin_of(const struct judge_answer *judged)
{
	return (struct late_origin){ .spf = judged->spf, .dkim = judged->dkim,
	    .dmarc = judged->dmarc, .policy = judged->policy,
	    .signers = slice_of(judged->signers),
	    .sealer = slice_of(judged->sealer),
	    .dkim2 = judged->dkim2, .names = &judged->names };
}

/* Once a day and process; a day that is full is told of by who fills it. */
static void
record_body_lost(const char *day, const char *id, const struct err *err)
{
	static char told[16];

	if (strncmp(told, day, 10) == 0)
		return;
	strlcpy(told, day, 11);
	event(EV_RECORD_UNKEPT, id, "reason", slice_of(err->text), NULL);
}

/* Who speaks on stdin is no account of smtpserver's. */
void
record_body(const struct session *session)
{
	const struct conf *conf = session->settings->conf;
	struct transaction *t = session->transaction;
	char day[CLOCK_TEXT_BYTES];
	struct err err;

	if (conf->record_ms == 0 || conf->record_bodies_max_bytes == 0 ||
	    session_is_on_stdin(session))
		return;
	clock_rfc3339(clock_wall_us(), day);
	day[10] = '\0';
	switch (draft_keep(&t->draft, day, &err)) {
	case DRAFT_KEPT:
		t->is_kept = true;
		break;
	case DRAFT_KEPT_TROUBLE:
		record_body_lost(day, t->draft.id, &err);
		break;
	case DRAFT_KEPT_NOT:
		break;
	}
}

void
record_end(const struct session *session, const struct session_answer *answer)
{
	const struct transaction *t = session->transaction;
	struct decided decided = record_message(t);
	struct late_origin origin;
	struct str said = STR_INIT;

	if (session->settings->conf->record_ms == 0)
		return;
	said_of_message(session, t->content.fault == CONTENT_GOOD ||
	    t->content.fault >= CONTENT_NO_SPACE, &said);
	origin = record_origin_of(&t->judged);
	decided.by = record_end_by(t);
	decided.said = str_slice(&said);
	decided.content = &t->content;
	decided.id = t->draft.id;
	decided.is_kept = t->is_kept;
	decided.origin = t->is_judged ? &origin : NULL;
	decided.is_discarded = answer->code < 400 && t->is_discarded;
	decided.is_set_aside = answer->code < 400 && !t->is_discarded &&
	    (t->late_freeze != NULL || t->milter_cause[0] != '\0');
	decided.rule = t->is_refused ? t->refusal.rule :
	    decided.is_set_aside ? t->late_freeze : NULL;
	record_decided(session, &decided, answer);
	str_release(&said);
}
