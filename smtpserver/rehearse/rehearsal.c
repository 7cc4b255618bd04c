/* rehearsal.c - what the policy would say, without a client or a message
 *
 * In     a row; a configuration
 * Out    the verdict as an outcome
 * Holds  the facts of one row
 * Trusts nobody: rows are people's
 * Spec   zmailer-test(8); policy.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "smtpserver/origin/judge.h"
#include "smtpserver/rehearse/rehearsal.h"
#include "smtpserver/session/recipient/recipient.h"

#include "base/banned.h"

enum { ASKS_MAX = 100 };

static int
path_take(struct slice text, enum path_flags flags, struct path *out,
    struct err *err)
{
	struct slice rest;

	if (slice_is(text, "<>") || text.n == 0) {
		memset(out, 0, sizeof(*out));
		return 0;
	}
	if (path_parse(text, flags | PATH_BARE_OK | PATH_UTF8, out, &rest,
	    err) != 0)
		return err_prefix(err, SLICE_FMT,
		    SLICE_ARG(slice_first(text, 100)));
	return rest.n == 0 ? 0 : err_set(err, "'" SLICE_FMT "' is no address",
	    SLICE_ARG(slice_first(text, 100)));
}

static int
rehearsal_question_fill(const struct rehearsal *rehearsal,
    const struct rehearsal_row *row, const struct facts *facts,
    struct policy_question *out, struct err *err)
{
	struct slice from = row->from.n > 0 ? row->from : SLICE("127.0.0.1");

	*out = (struct policy_question){
		.listener = row->listener,
		.instance = SLICE("rehearsal"),
		.is_submission = row->is_submission,
		.helo = row->helo.n > 0 ? row->helo :
		    SLICE("client.invalid"),
		.is_encrypted = row->is_encrypted || row->cert.n > 0 ||
		    row->fingerprint.n > 0,
		.cert = { row->cert, row->issuer, row->fingerprint.n > 0 ?
		    row->fingerprint : row->cert.n > 0 ? SLICE("-") :
		    SLICE(""), row->cert.n > 0 },
		.user = row->user,
		.is_judged = rehearsal->conf->verifies_origin,
		.asks_spf = rehearsal_says_origin(row),
		.size_bytes = row->size_bytes,
		.facts = facts,
		.trace = rehearsal->trace,
		.trace_context = rehearsal->trace_context,
	};
	return net_parse(from, &out->client, err) >= 0 &&
	    path_take(row->sender, PATH_NULL_OK, &out->sender, err) == 0 &&
	    path_take(row->to, PATH_POSTMASTER_OK | PATH_LOCAL_OK, &out->rcpt,
	    err) == 0 ? 0 : -1;
}

/* ---- facts ------------------------------------------------------------ */

/* What the row says, or what is the usual case.  false: neither. */
static bool
dns_of_row(const struct rehearsal_row *row, struct slice question,
    enum ask_state *out_state, struct str *out)
{
	if (slice_starts(question, "name ") && row->name.n > 0) {
		if (slice_is(row->name, "trouble"))
			*out_state = ASK_TROUBLE;
		else if (slice_is(row->name, "none"))
			str_addc(out, '-');
		else
			str_add_slice(out, row->name);
		return true;
	}
	if (slice_starts(question, "listed ") && row->listed.len > 0) {
		str_add_slice(out, str_slice(&row->listed));
		return true;
	}
	if (slice_starts(question, "mail ") && row->sender_unknown) {
		str_adds(out, "no");
		return true;
	}
	return false;
}

static bool
preset_of(const struct rehearsal_row *row, const char *kind,
    struct slice question, struct str *out)
{
	if (strcmp(kind, "rate") == 0 || strcmp(kind, "share") == 0)
		str_adds(out, row->is_over ? "over 60" : "ok");
	else if (strcmp(kind, judge_kind) == 0)
		str_addf(out, "spf=" SLICE_FMT, SLICE_ARG(row->spf.n > 0 ?
		    row->spf : SLICE("none")));
	else if (strcmp(kind, "policy") == 0 && row->service.n > 0)
		str_add_slice(out, row->service);
	else if (strcmp(kind, "policy") == 0)
		str_adds(out, "DUNNO");
	else if (strcmp(kind, "greylist") == 0 || strcmp(kind, "greet") == 0)
		str_adds(out, row->is_greylisted ? "wait 300" : "pass");
	else if (slice_starts(question, "mail "))
		str_adds(out, "yes");
	else
		return slice_starts(question, "listed ");
	return true;
}

/* Counters are not touched by a rehearsal, unless the row is silent and it
 * is a live one. */
static bool
rehearsal_learn(const struct rehearsal *rehearsal,
    const struct rehearsal_row *row,
    const struct policy_need *need, struct facts *facts)
{
	enum ask_state state = ASK_ANSWERED;
	struct str answer = STR_INIT;
	bool is_dns = strcmp(need->kind, "dns") == 0, is_known;

	is_known = is_dns && dns_of_row(row, need->question, &state, &answer);
	/* tables are as they are now, whichever they are */
	if (!is_known && rehearsal->ask != NULL &&
	    ((is_dns && rehearsal->is_live) ||
	    strcmp(need->kind, "tables") == 0))
		is_known = rehearsal->ask(rehearsal->ask_context, need->kind,
		    need->question, &state, &answer);
	if (!is_known)
		is_known = preset_of(row, need->kind, need->question,
		    &answer);
	if (is_known)
		facts_add(&facts[need->scope], need->kind, need->question,
		    state, str_slice(&answer));
	str_release(&answer);
	return is_known;
}

/* ---- the router's part ------------------------------------------------ */

/* As in a session, when the policy has accepted: does the router serve it? */
static void
check_recipient(const struct rehearsal *rehearsal,
    const struct policy_question *policy_question,
    struct rehearsal_outcome *out)
{
	const struct path *rcpt = &policy_question->rcpt;
	const struct recipient_asker asker = {
		.sender = &policy_question->sender,
		.user = policy_question->user };
	struct str question = STR_INIT, said = STR_INIT;
	char status[RECIPIENT_STATUS_BYTES];
	enum ask_state state = ASK_ANSWERED;
	struct session_answer answer;

	if (rehearsal->ask == NULL ||
	    !recipient_is_asked(rehearsal->conf, NULL, rcpt))
		return;
	recipient_question_add(&question, rehearsal->conf, rcpt, &asker);
	if (rehearsal->ask(rehearsal->ask_context, recipient_kind,
	    str_slice(&question), &state, &said) && state == ASK_ANSWERED &&
	    !recipient_judge(rehearsal->conf, state, str_slice(&said), status,
	    &answer)) {
		out->result = answer.code < 500 ? REHEARSAL_DEFER :
		    REHEARSAL_REJECT;
		out->code = answer.code;
		out->rule = NULL;
		str_reset(&out->status);
		str_reset(&out->words);
		str_adds(&out->status, answer.status);
		str_adds(&out->words, answer.text);
	}
	str_release(&question);
	str_release(&said);
}

/* ---- a row ------------------------------------------------------------ */

static enum rehearsal_result
rehearsal_result(const struct policy_verdict *verdict)
{
	switch (verdict->result) {
	case POLICY_ACCEPT:
		return verdict->freeze != NULL ? REHEARSAL_FREEZE :
		    REHEARSAL_ACCEPT;
	case POLICY_REJECT:
	case POLICY_NO_RELAY:
		return REHEARSAL_REJECT;
	case POLICY_DEFER:
		return REHEARSAL_DEFER;
	case POLICY_NEED:
		return REHEARSAL_NEED;
	case POLICY_TROUBLE:
		break;
	}
	return REHEARSAL_TROUBLE;
}

void
rehearsal_conclude(const struct policy_verdict *verdict,
    struct rehearsal_outcome *out)
{
	struct policy_reply reply;

	policy_reply(verdict, &reply);
	out->result = rehearsal_result(verdict);
	out->code = reply.code;
	str_adds(&out->status, reply.status);
	if (verdict->result == POLICY_NEED)
		str_addf(&out->words, "the row does not say: " SLICE_FMT,
		    SLICE_ARG(verdict->need.question));
	else if (verdict->result == POLICY_TROUBLE)
		str_adds(&out->words, verdict->err.text);
	else
		str_adds(&out->words, reply.words);
	out->rule = out->result == REHEARSAL_FREEZE ? verdict->freeze :
	    verdict->rule;
	memcpy(out->shadows, verdict->shadows, sizeof(out->shadows));
	out->shadow_count = verdict->shadow_count;
}

static void
conclude_reject(struct rehearsal_outcome *out, int code, const char *status,
    const char *words)
{
	out->result = REHEARSAL_REJECT;
	out->code = code;
	str_adds(&out->status, status);
	str_adds(&out->words, words);
}

/* What is refused before a rule is asked about a recipient.  returns whether
 * it was. */
static bool
rehearsal_is_over(const struct rehearsal *rehearsal,
    const struct rehearsal_row *row, const struct policy_question *question,
    struct facts *facts, struct rehearsal_outcome *out)
{
	enum policy_ownership whose;
	struct policy_verdict verdict;
	const char *words;
	int asks = 0;

	if (policy_owes_login(rehearsal->conf, question->is_submission,
	    question->user.n > 0)) {
		conclude_reject(out, 530, "5.7.0", "log in first");
		return true;
	}
	out->rule = policy_bars_user(rehearsal->policy, question, &words);
	if (out->rule != NULL) {
		conclude_reject(out, 535, "5.7.13", words);
		return true;
	}
	while ((whose = policy_owns(rehearsal->policy, question, &verdict)) ==
	    OWNER_NEED && ++asks < ASKS_MAX &&
	    rehearsal_learn(rehearsal, row, &verdict.need, facts))
		continue;
	if (whose != OWNER_NO)
		return false;
	conclude_reject(out, 550, "5.7.1", "not an address of this user: "
	    "auth ... senders <table> gives it");
	return true;
}

static void
rehearsal_forget(struct facts *facts)
{
	for (int i = 0; i < FACT_SCOPES; i++)
		facts_release(&facts[i]);
}

static bool
result_is_taken(enum rehearsal_result result)
{
	return result == REHEARSAL_ACCEPT || result == REHEARSAL_FREEZE;
}

int
rehearsal_run(const struct rehearsal *rehearsal,
    const struct rehearsal_row *row, struct rehearsal_outcome *out,
    struct err *err)
{
	struct facts facts[FACT_SCOPES] = { { NULL, NULL, 0 } };
	struct policy_question question;
	struct policy_verdict verdict;
	int asks = 0, result = 0;

	memset(out, 0, sizeof(*out));
	str_init(&out->status);
	str_init(&out->words);
	if (rehearsal_question_fill(rehearsal, row, facts, &question, err) < 0)
		return -1;
	if (rehearsal_is_over(rehearsal, row, &question, facts, out)) {
		rehearsal_forget(facts);
		return 0;
	}
	/* the rules are told of once, when all is known */
	question.trace = NULL;
	do
		policy_ask(rehearsal->policy, &question, &verdict);
	while (verdict.result == POLICY_NEED && ++asks < ASKS_MAX &&
	    rehearsal_learn(rehearsal, row, &verdict.need, facts));
	question.trace = rehearsal->trace;
	if (question.trace != NULL)
		policy_ask(rehearsal->policy, &question, &verdict);
	rehearsal_conclude(&verdict, out);
	if (verdict.result == POLICY_ACCEPT)
		check_recipient(rehearsal, &question, out);
	if (result_is_taken(out->result))
		result = rehearsal_late(row, &verdict, out, err);
	rehearsal_forget(facts);
	return result;
}

void
rehearsal_outcome_release(struct rehearsal_outcome *outcome)
{
	str_release(&outcome->status);
	str_release(&outcome->words);
}

bool
rehearsal_is_expected(const struct rehearsal_row *row,
    const struct rehearsal_outcome *outcome, struct str *out)
{
	unsigned line = outcome->rule != NULL ? outcome->rule->at.line : 0;

	if (row->want != outcome->result)
		str_addf(out, "%s, not %s", rehearsal_words[outcome->result],
		    rehearsal_words[row->want]);
	else if (row->want_code.n > 0 &&
	    !slice_equal(row->want_code, str_slice(&outcome->status)))
		str_addf(out, "code %s, not " SLICE_FMT, outcome->status.buf,
		    SLICE_ARG(row->want_code));
	else if (row->want_rule > 0 && row->want_rule != line)
		str_addf(out, "by line %u, not %" PRIu64, line,
		    row->want_rule);
	else if (row->want_text.n > 0 && memmem(outcome->words.buf,
	    outcome->words.len, row->want_text.p, row->want_text.n) == NULL)
		str_addf(out, "the words are: %s", outcome->words.buf);
	else
		return true;
	return false;
}
