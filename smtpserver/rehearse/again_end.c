/* again_end.c - the end of a message, decided again
 *
 * In     a row with what was counted, said by filters and judged then
 * Out    the answer to the end of data now
 * Holds  nothing
 * Trusts nothing in a row
 * Spec   zmailer-replay(8)
 *
 * In the order of a session: the bytes, milters, the content filter, whose mail
 * it is, the next hop.  What stopped it then kept those after from being asked;
 * when it does not stop it now, what they would have said is a need.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/rehearse/again_internal.h"
#include "smtpserver/session/filter/said.h"

#include "base/banned.h"

/* Nobody asked then. */
static bool
again_need(struct replayed *replayed, const char *kind, const char *what)
{
	struct session_answer need;

	answer_set(&need, 0, NULL, "%s%s", kind, what);
	again_conclude(replayed, "policy", REHEARSAL_NEED, &need);
	return false;
}

/* ---- the bytes ---------------------------------------------------------- */

static bool
again_content(struct replayed *replayed)
{
	const struct again_row *row = replayed->row;
	struct content content;
	struct session_answer answer;
	enum content_fault fault;

	if (!row->has_content)
		return true;
	content_begin(&content, row->is_binary ? CONTENT_BINARY :
	    CONTENT_DOTTED, replayed->conf->bare_lf_ok);
	content.bytes = row->bytes;
	content.header.bytes = row->header_bytes;
	content.header.received = (unsigned)row->received;
	content.dot.longest_bytes = row->line_bytes;
	content.dot.seen = (unsigned char)row->odd;
	content.lacks_header = row->is_headless;
	fault = content_fault_under(&content, &replayed->conf->limits);
	if (fault == CONTENT_GOOD)
		return true;
	answer_fault(&answer, fault);
	again_conclude(replayed, "content", REHEARSAL_REJECT, &answer);
	return false;
}

/* ---- filters ------------------------------------------------------------ */

static enum rehearsal_result
again_result_of(int code)
{
	return code >= 500 ? REHEARSAL_REJECT : REHEARSAL_DEFER;
}

static bool
row_was_refused_by(const struct again_row *row, const char *by)
{
	return slice_is(again_slice(row, AGAIN_BY), by) && row->code >= 400 &&
	    row->code < 600;
}

/* As it was answered then. */
static bool
again_as_then(struct replayed *replayed, const char *by)
{
	const struct again_row *row = replayed->row;
	struct session_answer answer;

	answer_set(&answer, (int)row->code, row->texts[AGAIN_STATUS].buf, "%s",
	    row->texts[AGAIN_REPLY].buf);
	again_conclude(replayed, by, again_result_of(answer.code), &answer);
	return false;
}

static void
again_set_aside(struct replayed *replayed, const struct conf_milter *milter)
{
	struct session_answer taken;

	answer_set(&taken, 250, "2.0.0", "set aside");
	again_conclude(replayed, "milter", REHEARSAL_FREEZE, &taken);
	replayed->out->milter = milter;
}

/* It did not do its work then: what that means is the configuration's.  Before
 * a sender it means nothing. */
static bool
again_failed(struct replayed *replayed, const struct conf_milter *milter)
{
	struct slice stage = again_slice(replayed->row, AGAIN_STAGE);
	struct session_answer answer;

	if (slice_is(stage, "connect") || slice_is(stage, "helo") ||
	    milter->fail == MILTER_FAIL_ACCEPT)
		return true;
	if (milter->fail == MILTER_FAIL_QUARANTINE) {
		again_set_aside(replayed, milter);
		return true;
	}
	if (milter->fail == MILTER_FAIL_REJECT)
		answer_set(&answer, 550, "5.7.1", "a filter does not work "
		    "here");
	else
		answer_set(&answer, 451, "4.7.1", "a filter does not work now, "
		    "try later");
	again_conclude(replayed, "milter", again_result_of(answer.code),
	    &answer);
	return false;
}

static bool
again_discarded(struct replayed *replayed)
{
	struct session_answer taken;

	answer_set(&taken, 250, "2.0.0", "discarded");
	again_conclude(replayed, "milter", REHEARSAL_ACCEPT, &taken);
	replayed->out->is_discarded = true;
	return false;
}

/* One of them.  What one said of an earlier recipient is no refusal of this
 * message: the row's own answer is, when a filter gave it. */
static bool
again_filter(struct replayed *replayed, const char *kind,
    const struct conf_milter *milter, bool is_end)
{
	const struct again_row *row = replayed->row;
	struct slice how = said_find(again_slice(row, AGAIN_SAID), kind,
	    slice_of(milter->socket));
	bool result = true;

	if (milter->has_except && net_contains(&milter->except,
	    &replayed->client.net))
		return true;
	if (how.n == 0 && is_end)
		return again_need(replayed, "what it says: ", milter->socket);
	if (slice_is(how, "fail"))
		result = again_failed(replayed, milter);
	else if (slice_is(how, "refuse") && row_was_refused_by(row, "milter"))
		result = again_as_then(replayed, "milter");
	else if (slice_is(how, "discard") && is_end)
		result = again_discarded(replayed);
	else if (slice_is(how, "freeze") && is_end)
		again_set_aside(replayed, milter);
	if (!result)
		replayed->out->milter = milter;
	return result;
}

bool
again_filters(struct replayed *replayed, bool is_end)
{
	const struct conf *conf = replayed->conf;

	if (slice_is(replayed->question.listener, SESSION_ON_STDIN))
		return true;
	for (size_t i = 0; i < conf->milter_count; i++)
		if (!again_filter(replayed, "milter", &conf->milters[i],
		    is_end))
			return false;
	return !is_end || conf->content_filter.socket == NULL ||
	    again_filter(replayed, "content-filter", &conf->content_filter,
	    true);
}

/* ---- whose mail it is --------------------------------------------------- */

/* Was the message stopped before anybody judged whose it is? */
static bool
row_was_stopped(const struct again_row *row)
{
	return row->is_discarded || row_was_refused_by(row, "milter") ||
	    row_was_refused_by(row, "content");
}

/* Nobody judged it then: no rule about that fits. */
static bool
again_unjudged(struct replayed *replayed)
{
	struct policy_verdict held = policy_held(&replayed->verdict);
	struct session_answer answer;

	if (replayed->verdict.late.count > 0 && row_was_stopped(replayed->row))
		return again_need(replayed, "whose mail it is", "");
	if (held.result == POLICY_ACCEPT)
		return true;
	answer_set(&answer, 451, "4.7.0", "whose mail this is cannot be told "
	    "now, try later");
	again_conclude(replayed, "policy", REHEARSAL_DEFER, &answer);
	return false;
}

/* What a refusal named then. */
static void
again_names(const struct again_row *row, struct judge_names *out)
{
	judge_name_set(again_slice(row, AGAIN_SPF_AT), out->spf);
	judge_name_set(again_slice(row, AGAIN_DKIM_AT), out->dkim);
	judge_name_set(again_slice(row, AGAIN_DMARC_AT), out->dmarc);
	judge_why_set(again_slice(row, AGAIN_DKIM2_WHY), out->dkim2);
}

/* *out_taken: no rule refuses it. */
static int
again_judged(struct replayed *replayed, bool *out_taken, struct err *err)
{
	const struct again_row *row = replayed->row;
	struct rehearsal_outcome *out = replayed->out;
	struct judge_names names;
	const struct rehearsal_row judged = {
		.names = &names,
		.spf = again_slice(row, AGAIN_SPF),
		.dkim = again_slice(row, again_slice(row, AGAIN_SIGNERS).n >
		    0 ? AGAIN_SIGNERS : AGAIN_DKIM),
		.dmarc = again_slice(row, AGAIN_DMARC),
		.policy = again_slice(row, AGAIN_POLICY),
		.dkim2 = again_slice(row, AGAIN_DKIM2),
		.sealer = again_slice(row, AGAIN_SEALER),
	};
	bool is_aside = out->result == REHEARSAL_FREEZE;

	*out_taken = true;
	if (judged.spf.n == 0) {
		*out_taken = again_unjudged(replayed);
		return 0;
	}
	again_names(row, &names);
	if (rehearsal_late(&judged, &replayed->verdict, out, err) < 0)
		return -1;
	*out_taken = out->result == REHEARSAL_ACCEPT ||
	    out->result == REHEARSAL_FREEZE;
	if (!*out_taken || out->rule != NULL)
		replayed->by = "policy";
	if (*out_taken && is_aside)	/* a filter's word stands */
		out->result = REHEARSAL_FREEZE;
	return 0;
}

/* ---- the end ------------------------------------------------------------ */

/* RCPT had a line of its own: what it set aside is told of there. */
static void
again_forget_rcpt(struct replayed *replayed)
{
	struct session_answer taken;

	answer_set(&taken, 250, "2.0.0", "%s", "");
	again_conclude(replayed, "policy", REHEARSAL_ACCEPT, &taken);
}

/* The client waited for it then, and waits now. */
static bool
again_next_hop(struct replayed *replayed)
{
	const struct again_row *row = replayed->row;

	if (!row_was_refused_by(row, "next-hop") ||
	    replayed->out->result == REHEARSAL_FREEZE ||
	    !conf_cuts_through(replayed->conf, replayed->question.rcpt.domain))
		return true;
	return again_as_then(replayed, "next-hop");
}

int
again_end(struct replayed *replayed, struct err *err)
{
	bool is_taken;

	replayed->out->stage = "data";
	again_forget_rcpt(replayed);
	if (!again_content(replayed) || !again_filters(replayed, true))
		return 0;
	if (!replayed->row->has_content) {
		(void)again_need(replayed, "the message, which did not come",
		    "");
		return 0;
	}
	if (again_judged(replayed, &is_taken, err) < 0)
		return -1;
	if (is_taken)
		(void)again_next_hop(replayed);
	return 0;
}
