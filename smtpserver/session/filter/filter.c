/* filter.c - what filters say of a session as it goes on
 *
 * In     the steps of a session; the filters' answers
 * Out    yes, a refusal, or a question
 * Holds  the name of a conversation; the answer to a command under way
 * Trusts the helper, which runs under our own account
 * Spec   filter.h; milter/filter.h; doc/FILTERS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "journal/event.h"
#include "base/json.h"
#include "base/mem.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/filter/said.h"

#include "base/banned.h"

static const char *const stage_names[TALK_STEPS] = {
	[TALK_CONNECT] = "connect", [TALK_HELO] = "helo",
	[TALK_MAIL] = "mail", [TALK_RCPT] = "rcpt", [TALK_DATA] = "data",
	[TALK_EOB] = "end", [TALK_UNKNOWN] = "unknown"
};

/* ---- a conversation begins and ends ----------------------------------- */

void
session_filter_open(struct session *session)
{
	if (session->settings->conf->milter_count == 0 ||
	    session_is_on_stdin(session))
		return;
	session->filter = mem_alloc(1, sizeof(*session->filter));
	str_init(&session->filter->answer);
	str_init(&session->filter->said);
}

/* Told, not asked: nobody waits for the answer. */
static void
filter_tell(struct session *session, const char *what)
{
	if (session->filter->key[0] != '\0')
		str_addf(&session->tells, "milter %s %s\n",
		    session->filter->key, what);
}

void
session_filter_restart(struct session *session)
{
	struct filter_state *f = session->filter;

	if (f == NULL)
		return;
	filter_tell(session, "quit");
	str_release(&f->answer);
	str_release(&f->said);
	memset(f, 0, sizeof(*f));
	str_init(&f->answer);
	str_init(&f->said);
}

void
session_filter_close(struct session *session)
{
	if (session->filter == NULL)
		return;
	session_filter_restart(session);
	mem_free(&session->filter);
}

void
session_filter_settle(struct session *session)
{
	struct filter_state *f = session->filter;

	if (f == NULL || !f->is_in_mail || session->transaction != NULL ||
	    session->ask != NULL)
		return;
	filter_tell(session, "abort");
	f->is_in_mail = false;
}

void
session_filter_forget(struct session *session)
{
	if (session->filter == NULL)
		return;
	session->filter->has_answer = false;
	str_reset(&session->filter->said);
}

void
session_filter_learn(struct session *session, const struct ask *ask)
{
	struct filter_state *f = session->filter;

	f->has_answer = true;
	f->state = ask->state;
	str_reset(&f->answer);
	str_add_slice(&f->answer, str_slice(&ask->answer));
}

const char *
session_filter_by(const struct session *session)
{
	return session->filter != NULL && session->filter->said.len > 0 ?
	    "milter" : "filter";
}

void
session_filter_mark(struct session *session)
{
	struct filter_state *f = session->filter;
	struct transaction *t = session->transaction;

	if (f == NULL || t == NULL)
		return;
	t->is_discarded = t->is_discarded || f->is_discarded;
	if (f->is_frozen)
		transaction_freeze(t, "milter", f->because);
	f->is_discarded = f->is_frozen = false;
	str_add_slice(&t->said, str_slice(&f->said));
	str_reset(&f->said);
}

/* ---- verdicts --------------------------------------------------------- */

static enum conf_milter_fail
worst_fail(const struct conf *conf)
{
	static const int order[] = { [MILTER_FAIL_ACCEPT] = 0,
	    [MILTER_FAIL_QUARANTINE] = 1, [MILTER_FAIL_REJECT] = 2,
	    [MILTER_FAIL_TEMPFAIL] = 3 };
	enum conf_milter_fail worst = MILTER_FAIL_ACCEPT;

	for (size_t i = 0; i < conf->milter_count; i++)
		if (order[conf->milters[i].fail] > order[worst])
			worst = conf->milters[i].fail;
	return worst;
}

static bool
filter_refuse(struct session *session, struct session_answer *out, int code,
    const char *status, const char *text)
{
	struct filter_state *f = session->filter;

	snprintf(f->status, sizeof(f->status), "%s", status);
	answer_set(out, code, f->status, "%s", text);
	return false;
}

/* The helper has died, or is not there.  The next message tries again. */
static bool
filter_lost(struct session *session, enum talk_step step,
    struct session_answer *out)
{
	struct filter_state *f = session->filter;
	enum conf_milter_fail fail = worst_fail(session->settings->conf);

	event(EV_MILTER_FAILED, NULL, "session", slice_of(session->id),
	    "milter", SLICE("helper"), "reason", str_slice(&f->answer),
	    "fail", slice_of(conf_milter_fails[fail]), NULL);
	f->key[0] = '\0';
	f->is_in_mail = false;
	if (step < TALK_MAIL || step == TALK_UNKNOWN)
		return true;
	f->is_passed = fail == MILTER_FAIL_ACCEPT ||
	    fail == MILTER_FAIL_QUARANTINE;
	f->is_lost = !f->is_passed;
	f->is_frozen = fail == MILTER_FAIL_QUARANTINE;
	strlcpy(f->because, "milter: what speaks with them failed",
	    sizeof(f->because));
	session_filter_mark(session);
	if (f->is_passed)
		return true;
	return fail == MILTER_FAIL_REJECT ? filter_refuse(session, out, 550,
	    "5.7.1", "a filter does not work here") :
	    filter_refuse(session, out,
	    451, "4.7.1", "a filter does not work now, try later");
}

static bool
filter_judge(struct session *session, enum talk_step step,
    struct session_answer *out)
{
	struct filter_state *f = session->filter;
	struct slice answer = str_slice(&f->answer);
	struct filter_verdict verdict;

	if (f->state != ASK_ANSWERED ||
	    filter_answer_key(&answer, f->key, &f->wants) < 0 ||
	    filter_answer_parse(answer, &verdict) < 0)
		return filter_lost(session, step, out);
	f->is_off = f->wants == 0;
	str_reset(&f->said);
	said_take(&f->said, "milter", verdict.said);
	f->is_in_mail = f->is_in_mail || step == TALK_MAIL;
	if (verdict.word == FILTER_REFUSE)
		return filter_refuse(session, out, (int)verdict.code,
		    verdict.status, verdict.text);
	f->is_discarded = verdict.word == FILTER_DISCARD;
	f->is_frozen = verdict.freeze[0] != '\0';
	strlcpy(f->because, verdict.because, sizeof(f->because));
	session_filter_mark(session);
	return true;
}

/* ---- questions -------------------------------------------------------- */

static bool
filter_is_wanted(const struct session *session, enum talk_step step)
{
	const struct filter_state *f = session->filter;
	const struct transaction *t = session->transaction;

	if (step > TALK_MAIL && step != TALK_UNKNOWN &&
	    (f->is_passed || (t != NULL && t->is_discarded)))
		return false;
	if (step == TALK_UNKNOWN && f->key[0] == '\0')
		return false;
	/* a sender is what brings a lost one back */
	return step == TALK_MAIL || step == TALK_EOB || f->key[0] == '\0' ||
	    (f->wants & 1u << step) != 0;
}

static bool
filter_ask(struct session *session, enum talk_step step,
    const struct filter_extra *extra, answered_fn *fn)
{
	struct filter_state *f = session->filter;
	struct str question = STR_INIT;

	str_addf(&question, "%s %s ", f->key[0] != '\0' ? f->key : "new",
	    stage_names[step]);
	if (filter_facts_add(session, step, extra, fn, &question))
		session_ask(session, "milter", str_slice(&question),
		    FILTER_FOR_MS, fn);
	str_release(&question);
	return false;
}

bool
session_filter_permit(struct session *session, enum talk_step step,
    const struct filter_extra *extra, answered_fn *fn,
    struct session_answer *out)
{
	struct filter_state *f = session->filter;

	if (f == NULL || f->is_off)
		return true;
	if (step == TALK_MAIL && !f->has_answer)
		f->is_lost = f->is_passed = false;
	if (f->is_lost && step > TALK_MAIL && step != TALK_UNKNOWN)
		return filter_refuse(session, out, 451, "4.7.1",
		    "a filter does not work now, try later");
	if (!filter_is_wanted(session, step))
		return true;
	if (!f->has_answer)
		return filter_ask(session, step, extra, fn);
	f->has_answer = false;
	return filter_judge(session, step, out);
}

void
session_filter_tell_refused(struct session *session, struct slice args,
    const struct session_answer *answer)
{
	struct filter_state *f = session->filter;
	struct slice path;
	struct str line = STR_INIT;

	if (f == NULL || f->key[0] == '\0' || !f->is_in_mail ||
	    answer->status == f->status ||	/* it was their word */
	    (f->wants & FILTER_WANTS_REFUSED) == 0)
		return;
	path = slice_from(args, slice_find(args, '<') + 1);
	path = slice_first(path, slice_find(path, '>'));
	str_adds(&line, "refused ");
	json_open(&line);
	json_text(&line, filter_fact_keys[FILTER_RCPT], path);
	json_text(&line, filter_fact_keys[FILTER_RCPT_PARAMS], SLICE(""));
	json_text(&line, filter_fact_keys[FILTER_RCPT_MAILER],
	    SLICE("error"));
	json_text(&line, filter_fact_keys[FILTER_RCPT_HOST],
	    slice_of(answer->status ? answer->status : ""));
	json_text(&line, filter_fact_keys[FILTER_RCPT_ADDR],
	    slice_of(answer->text));
	json_close(&line);
	line.buf[--line.len] = '\0';
	filter_tell(session, line.buf);
	str_release(&line);
}
