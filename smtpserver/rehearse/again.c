/* again.c - what was decided once, decided again under this configuration
 *
 * In     a line of the record; the policy of a configuration
 * Out    the answer, and the rule that decided
 * Holds  counters and a greylist of its own, in memory
 * Trusts nothing in a line: addresses are parsed anew
 * Spec   zmailer-replay(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "smtpserver/origin/judge.h"
#include "smtpserver/rehearse/again_internal.h"
#include "smtpserver/rehearse/counting.h"
#include "smtpserver/session/client.h"
#include "smtpserver/session/recipient/recipient.h"

#include "base/banned.h"

enum { ASKS_MAX = 100 };

struct slice
again_slice(const struct again_row *row, enum again_text which)
{
	return str_slice(&row->texts[which]);
}

/* ---- what was known then ------------------------------------------------ */

/* The next fact of the row: "KIND US STATE US QUESTION US ANSWER". */
static bool
recorded_next(struct slice *rest, struct fact *out)
{
	struct slice line, kind, state;

	while (rest->n > 0 && slice_cut(rest, '\n', &line)) {
		static const char *const kinds[] = { "dns", "rate",
			"share", "greylist", "greet", "policy", judge_kind };

		if (!slice_cut(&line, '\x1f', &kind) ||
		    !slice_cut(&line, '\x1f', &state) ||
		    !slice_cut(&line, '\x1f', &out->question))
			continue;
		out->answer = line;
		out->state = slice_is(state, "ok") ? ASK_ANSWERED :
		    ASK_TROUBLE;
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (slice_is(kind, kinds[i])) {
				out->kind = kinds[i];
				return true;
			}
	}
	return false;
}

static bool
recorded_find(const struct again_row *row, const struct policy_need *need,
    struct fact *out)
{
	struct slice rest = again_slice(row, AGAIN_FACTS);

	while (recorded_next(&rest, out))
		if (strcmp(out->kind, need->kind) == 0 &&
		    slice_equal(out->question, need->question))
			return true;
	return false;
}

/* SPF as it was asked for at RCPT; else as it was when the message had come,
 * which is what RCPT would have heard. */
static bool
again_spf(const struct again_row *row, const struct policy_need *need,
    struct fact *out, struct str *answer)
{
	struct slice spf = again_slice(row, AGAIN_SPF);

	if (recorded_find(row, need, out))
		return true;
	if (spf.n == 0)
		return false;
	str_addf(answer, "spf=" SLICE_FMT, SLICE_ARG(spf));
	out->answer = str_slice(answer);
	return true;
}

/* When nobody asked for SPF at RCPT, the line of the end of data tells. */
static bool
row_has_spf(const struct again_row *row)
{
	struct slice rest = again_slice(row, AGAIN_FACTS);
	struct fact fact;

	if (again_slice(row, AGAIN_SPF).n > 0)
		return true;
	while (recorded_next(&rest, &fact))
		if (strcmp(fact.kind, judge_kind) == 0)
			return true;
	return false;
}

/* The end of a message: RCPT, which had a line of its own, counted. */
static bool
row_is_of_data(const struct again_row *row)
{
	return slice_is(again_slice(row, AGAIN_STAGE), "data");
}

/* ---- counters ----------------------------------------------------------- */

/* One of ours, or one that all nodes share. */
static bool
is_of_counter(const char *kind)
{
	return strcmp(kind, "rate") == 0 || strcmp(kind, "share") == 0;
}

static bool
again_count(struct replayed *replayed, const struct policy_need *need,
    struct fact *out, struct str *answer)
{
	const struct again_row *row = replayed->row;
	struct slice rest = again_slice(row, AGAIN_FACTS);
	struct counting now;
	int64_t wait_ms;

	if (!counting_parse(need->question, &now))
		return false;
	/* also when the answer is recorded: the next row may need it */
	wait_ms = now.is_rate && !row_is_of_data(row) ?
	    buckets_take(replayed->again->buckets,
	    now.line_key, now.count, (int64_t)now.span_ms, row->at_ms) : 0;
	while (recorded_next(&rest, out))
		if (is_of_counter(out->kind) &&
		    counting_agrees(&now, out))
			return true;
	if (!now.is_rate)
		return false;
	if (wait_ms == 0)
		str_adds(answer, "ok");
	else
		str_addf(answer, "over %" PRId64, wait_ms / 1000 + 1);
	out->state = ASK_ANSWERED;
	out->answer = str_slice(answer);
	return true;
}

/* "AFTER WITHIN KEEP NET SENDER RECIPIENT" */
static bool
again_greylist(struct replayed *replayed, const struct policy_need *need,
    struct fact *out, struct str *answer)
{
	struct slice rest = need->question, word;
	int64_t numbers[3], wait_s;
	uint64_t number;

	for (int i = 0; i < 3; i++) {
		if (!slice_word(&rest, &word) ||
		    !slice_number(word, 1, UINT32_MAX, &number))
			return false;
		numbers[i] = (int64_t)number;
	}
	if (!slice_word(&rest, &word))
		return false;
	wait_s = row_is_of_data(replayed->row) ? 0 :
	    greylist_ask(replayed->again->greylist, word, rest,
	    &(struct greylist_terms){ numbers[0], numbers[1], numbers[2] },
	    replayed->row->at_ms / 1000);
	if (recorded_find(replayed->row, need, out))
		return true;
	if (wait_s == 0)
		str_adds(answer, "pass");
	else
		str_addf(answer, "wait %" PRId64, wait_s);
	out->state = ASK_ANSWERED;
	out->answer = str_slice(answer);
	return true;
}

/* Who was seen by other machines: as it was then; else by none. */
static bool
again_greet(const struct again_row *row, const struct policy_need *need,
    struct fact *out)
{
	if (!recorded_find(row, need, out))
		out->answer = SLICE("away");
	return true;
}

/* ---- the policy --------------------------------------------------------- */

/* A question of now: answered as it was then; else counted, or asked of the
 * DNS when that is wanted.  false: nobody knows. */
static bool
again_learn(struct replayed *replayed, const struct policy_need *need)
{
	const struct rehearsal *rehearsal = &replayed->again->rehearsal;
	struct str answer = STR_INIT;
	struct fact fact = { .state = ASK_ANSWERED };
	bool is_known;

	if (is_of_counter(need->kind))
		is_known = again_count(replayed, need, &fact, &answer);
	else if (strcmp(need->kind, "greylist") == 0)
		is_known = again_greylist(replayed, need, &fact, &answer);
	else if (strcmp(need->kind, "greet") == 0)
		is_known = again_greet(replayed->row, need, &fact);
	else if (strcmp(need->kind, judge_kind) == 0)
		is_known = again_spf(replayed->row, need, &fact, &answer);
	else
		is_known = recorded_find(replayed->row, need, &fact);
	if (!is_known && rehearsal->ask != NULL && (strcmp(need->kind,
	    "tables") == 0 || (rehearsal->is_live && strcmp(need->kind,
	    "dns") == 0))) {
		is_known = rehearsal->ask(rehearsal->ask_context, need->kind,
		    need->question, &fact.state, &answer);
		fact.answer = str_slice(&answer);
	}
	if (is_known)
		facts_add(&replayed->facts[need->scope], need->kind,
		    need->question, fact.state, fact.answer);
	str_release(&answer);
	return is_known;
}

void
again_conclude(struct replayed *replayed, const char *by,
    enum rehearsal_result result, const struct session_answer *answer)
{
	struct rehearsal_outcome *out = replayed->out;

	replayed->by = by;
	out->result = result;
	out->code = answer->code;
	out->rule = answer->rule;
	str_reset(&out->status);
	str_reset(&out->words);
	str_adds(&out->status, answer->status != NULL ? answer->status : "");
	str_adds(&out->words, answer->text);
}

/* A local user, who might have called sendmail(1) as well: as in a session
 * (permit_rcpt). */
static bool
again_is_on_stdin(const struct replayed *replayed)
{
	return slice_is(replayed->question.listener, SESSION_ON_STDIN);
}

/* false: it decided, or nobody knows. */
static bool
again_ask_policy(struct replayed *replayed, enum policy_stage stage,
    bool is_early)
{
	struct policy *policy = replayed->again->rehearsal.policy;
	struct policy_verdict verdict;
	int asks = 0;

	if (again_is_on_stdin(replayed))
		return true;
	do {
		if (is_early)
			policy_ask_early(policy, &replayed->question, stage,
			    &verdict);
		else
			policy_ask(policy, &replayed->question, &verdict);
	} while (verdict.result == POLICY_NEED && ++asks < ASKS_MAX &&
	    again_learn(replayed, &verdict.need));
	if (is_early && verdict.result == POLICY_ACCEPT)
		return true;
	replayed->by = "policy";
	rehearsal_conclude(&verdict, replayed->out);
	if (verdict.result == POLICY_NEED) {
		str_reset(&replayed->out->words);
		str_add_slice(&replayed->out->words, verdict.need.question);
	}
	if (!is_early)
		replayed->verdict = verdict;
	return verdict.result == POLICY_ACCEPT;
}

static bool
again_early(struct replayed *replayed, enum policy_stage stage)
{
	return replayed->listener == NULL ||
	    !replayed->listener->decides_early ||
	    again_ask_policy(replayed, stage, true);
}

/* ---- the steps of a session --------------------------------------------- */

static bool
again_connect(struct replayed *replayed)
{
	struct slice helo = replayed->question.helo;
	bool result;

	replayed->question.helo = SLICE("");
	result = again_early(replayed, POLICY_AT_CONNECT);
	replayed->question.helo = helo;
	return result;
}

static bool
again_helo(struct replayed *replayed)
{
	return again_early(replayed, POLICY_AT_HELO);
}

static bool
again_has_room(struct replayed *replayed, struct session_answer *answer)
{
	const struct conf_limits *limits = &replayed->conf->limits;
	const struct again_row *row = replayed->row;

	if (limits->session_messages > 0 &&
	    row->messages >= limits->session_messages)
		answer_set(answer, 421, "4.7.0",
		    "that is enough for one session, please connect again");
	else if (limits->size_bytes > 0 &&
	    row->size_bytes > limits->size_bytes)
		answer_set(answer, 552, "5.3.4",
		    "a message may have at most %llu bytes",
		    (unsigned long long)limits->size_bytes);
	else
		return true;
	return false;
}

static enum policy_ownership
again_owns(struct replayed *replayed)
{
	struct policy *policy = replayed->again->rehearsal.policy;
	enum policy_ownership whose;
	struct policy_verdict verdict;
	unsigned asks = 0;

	while ((whose = policy_owns(policy, &replayed->question, &verdict)) ==
	    OWNER_NEED && ++asks < ASKS_MAX &&
	    again_learn(replayed, &verdict.need))
		continue;
	return whose;
}

static bool
again_mail(struct replayed *replayed)
{
	struct policy *policy = replayed->again->rehearsal.policy;
	const struct policy_question *question = &replayed->question;
	const struct conf_rule *bars;
	struct session_answer answer;
	const char *words, *by = NULL;

	bars = policy_bars_user(policy, question, &words);
	if (policy_owes_login(replayed->conf, question->is_submission,
	    question->user.n > 0)) {
		by = "login";
		answer_set(&answer, 530, "5.7.0", "log in first");
	} else if (bars != NULL) {
		by = "policy";
		answer_set(&answer, 535, "5.7.13", "%s", words);
	} else if (!again_has_room(replayed, &answer)) {
		by = "room";
	} else if (question->mechanism.n > 0 && again_owns(replayed) ==
	    OWNER_NO) {
		by = "owner";
		answer_set(&answer, 550, "5.7.1", "this is not an address of "
		    "this user (auth ... senders <table> gives it)");
	}
	if (by == NULL)
		return again_early(replayed, POLICY_AT_MAIL);
	answer.rule = bars;
	again_conclude(replayed, by, REHEARSAL_REJECT, &answer);
	return false;
}

/* What the router says of it now: its tables are those of today. */
static bool
again_recipient(struct replayed *replayed, struct session_answer *answer)
{
	const struct rehearsal *rehearsal = &replayed->again->rehearsal;
	const struct policy_question *question = &replayed->question;
	const struct recipient_asker asker = { .sender = &question->sender,
		.client = slice_of(replayed->client.literal),
		.user = question->user };
	char status[RECIPIENT_STATUS_BYTES];
	enum ask_state state = ASK_TROUBLE;
	struct str asked = STR_INIT, said = STR_INIT;
	bool result = true;

	if (rehearsal->ask != NULL &&
	    recipient_is_asked(replayed->conf, replayed->listener,
	    &question->rcpt)) {
		recipient_question_add(&asked, replayed->conf,
		    &question->rcpt, &asker);
		if (!rehearsal->ask(rehearsal->ask_context, recipient_kind,
		    str_slice(&asked), &state, &said))
			state = ASK_TROUBLE;
		result = recipient_judge(replayed->conf, state,
		    str_slice(&said), status, answer);
	}
	if (!result)
		again_conclude(replayed, "router", answer->code < 500 ?
		    REHEARSAL_TROUBLE : REHEARSAL_REJECT, answer);
	str_release(&asked);
	str_release(&said);
	return result;
}

static bool
again_rcpt(struct replayed *replayed)
{
	uint64_t most = replayed->conf->limits.recipients;
	struct session_answer answer;

	if (most > 0 && replayed->row->rcpts >= most) {
		answer_set(&answer, 452, "4.5.3", "that is enough recipients, "
		    "send the others separately");
		again_conclude(replayed, "room", REHEARSAL_REJECT, &answer);
		return false;
	}
	return again_ask_policy(replayed, POLICY_AT_MAIL, false) &&
	    again_recipient(replayed, &answer);
}

/* ---- a row -------------------------------------------------------------- */

static int
again_path(struct slice text, enum path_flags flags, struct path *out,
    struct err *err)
{
	struct slice rest;

	memset(out, 0, sizeof(*out));
	if (text.n == 0 || slice_is(text, "<>"))
		return 0;
	if (path_parse(text, flags | PATH_BARE_OK | PATH_UTF8, out, &rest,
	    err) != 0 || rest.n > 0)
		return err_set(err, "'" SLICE_FMT "' is no address",
		    SLICE_ARG(slice_first(text, 100)));
	return 0;
}

static unsigned
again_port(const struct replayed *replayed)
{
	const char *colon = strrchr(replayed->client.text, ':');
	uint64_t port = 0;

	if (colon != NULL)
		(void)slice_number(slice_of(colon + 1), 1, 65535, &port);
	return (unsigned)port;
}

static void
again_question_fill(struct replayed *replayed)
{
	const struct again_row *row = replayed->row;

	replayed->question = (struct policy_question){
		.client = replayed->client.net,
		.listener = again_slice(row, AGAIN_LISTENER),
		.is_submission = replayed->listener != NULL ?
		    replayed->listener->is_submission : row->is_submission,
		.name = again_slice(row, AGAIN_NAME),
		.port = again_port(replayed),
		.instance = slice_of(replayed->instance),
		.is_esmtp = row->is_esmtp,
		.helo = again_slice(row, AGAIN_HELO),
		.is_encrypted = row->is_encrypted,
		.cert = { again_slice(row, AGAIN_CERT),
		    again_slice(row, AGAIN_ISSUER),
		    again_slice(row, AGAIN_FINGERPRINT), row->is_verified },
		.user = again_slice(row, AGAIN_USER),
		.mechanism = again_slice(row, AGAIN_MECHANISM),
		.is_judged = replayed->conf->verifies_origin &&
		    (replayed->listener == NULL ||
		    !replayed->listener->is_lmtp),
		.asks_spf = row_has_spf(row),
		.size_bytes = row->size_bytes,
		.facts = replayed->facts,
	};
}

static int
again_begin(struct replayed *replayed, struct err *err)
{
	const struct again_row *row = replayed->row;

	if (client_parse(again_slice(row, AGAIN_CLIENT),
	    again_slice(row, AGAIN_LISTENER), &replayed->client, err) < 0)
		return -1;
	replayed->listener = conf_listen_find(replayed->conf,
	    replayed->client.listener);
	snprintf(replayed->instance, sizeof(replayed->instance),
	    "%.40s.%" PRIu64, row->texts[AGAIN_SESSION].buf, row->messages);
	again_question_fill(replayed);
	if (again_path(again_slice(row, AGAIN_FROM), PATH_NULL_OK,
	    &replayed->question.sender, err) < 0)
		return -1;
	return again_path(again_slice(row, AGAIN_TO), PATH_POSTMASTER_OK |
	    PATH_LOCAL_OK, &replayed->question.rcpt, err);
}

/* In the order of a session, up to what the client had said.  false: the
 * line has no such results. */
static bool
again_steps(struct replayed *replayed, struct err *err)
{
	static const struct {
		const char	*stage;
		bool		(*step)(struct replayed *);
	} steps[] = {
		{ "connect", again_connect }, { "helo", again_helo },
		{ "mail", again_mail }, { "rcpt", again_rcpt },
	};
	struct slice last = again_slice(replayed->row, AGAIN_STAGE);

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		replayed->out->stage = steps[i].stage;
		if (!steps[i].step(replayed))
			return true;
		if (slice_is(last, steps[i].stage))
			break;
	}
	if (!row_is_of_data(replayed->row))
		(void)again_filters(replayed, false);
	else if (again_end(replayed, err) < 0)
		return false;
	if (replayed->out->code == 0 &&
	    replayed->out->result != REHEARSAL_NEED) {
		replayed->out->result = REHEARSAL_ACCEPT;
		replayed->out->code = 250;
	}
	return true;
}

int
again_run(struct again *again, const struct again_row *row,
    struct rehearsal_outcome *out, const char **out_by, struct err *err)
{
	struct replayed replayed = { .again = again, .row = row, .out = out,
	    .conf = again->rehearsal.conf, .by = "policy" };
	int result;

	memset(out, 0, sizeof(*out));
	str_init(&out->status);
	str_init(&out->words);
	clock_hold_wall(row->at_ms * 1000);
	result = again_begin(&replayed, err);
	if (result == 0 && !again_steps(&replayed, err))
		result = -1;
	clock_hold_wall(0);
	*out_by = replayed.by;
	for (int i = 0; i < FACT_SCOPES; i++)
		facts_release(&replayed.facts[i]);
	return result;
}
