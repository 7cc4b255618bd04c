/* conversation.c - one session and all its milters
 *
 * In     questions of a session
 * Out    answers; a changed message as a draft
 * Holds  a link to each milter; a queue of questions; the message that is
 *        being looked at
 * Trusts the session for facts; no milter, no message
 * Spec   filter.h; doc/FILTERS.md; doc/INTERNALS.md row S0
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "journal/event.h"
#include "journal/neighbours.h"
#include "base/mem.h"
#include "grammar/smtp/xtext.h"
#include "smtpserver/milter/conversation.h"
#include "smtpserver/milter/link.h"

#include "base/banned.h"

enum { REQUESTS_MAX = 64 };

enum stage_kind { STAGE_STEP, STAGE_REFUSED, STAGE_ABORT };

static const struct stage {
	const char	*name;
	enum stage_kind	 kind;
	enum talk_step	 goal;
} stages[] = {
	{ "connect", STAGE_STEP, TALK_CONNECT },
	{ "helo", STAGE_STEP, TALK_HELO },
	{ "mail", STAGE_STEP, TALK_MAIL },
	{ "rcpt", STAGE_STEP, TALK_RCPT },
	{ "data", STAGE_STEP, TALK_DATA },
	{ "end", STAGE_STEP, TALK_EOB },
	{ "unknown", STAGE_STEP, TALK_UNKNOWN },
	{ "refused", STAGE_REFUSED, TALK_RCPT },
	{ "abort", STAGE_ABORT, TALK_MAIL },
};

struct request {
	struct str		 token, facts;
	const struct stage	*stage;
	STAILQ_ENTRY(request)	 entry;
};

struct conversation {
	const struct conversation_home	*home;
	char				 key[FILTER_KEY_BYTES];
	struct filter_facts		 facts;
	struct link			*links;
	size_t				 link_count;
	STAILQ_HEAD(, request)		 requests;
	unsigned			 request_count;
	struct request			*request;	/* under way; or NULL */
	size_t				 turn;	/* whose */
	int64_t				 turn_at_us;	/* since when */
	struct filter_result		 result;
	struct str			 said;	/* SAID of the answer */
	bool				 has_mail, is_running;
	bool				 is_known;	/* its client */
	struct filter_mail		 mail;
	int				 mail_fd;	/* of it; -1: facts
							 * name a draft */
};

static void conversation_run(void *context);

/* ---- requests -------------------------------------------------------------
 * */

static const struct stage *
stage_find(struct slice name)
{
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		if (slice_is(name, stages[i].name))
			return &stages[i];
	return NULL;
}

static void
conversation_request_free(struct request **request)
{
	str_release(&(*request)->token);
	str_release(&(*request)->facts);
	mem_free(request);
}

static unsigned
wants_of(const struct conversation *c)
{
	unsigned wants = 0;

	for (size_t i = 0; i < c->link_count; i++) {
		const struct talk *talk = &c->links[i].talk;

		for (int step = 0; step < TALK_STEPS && !talk->is_off; step++)
			if (talk_wants(talk, (enum talk_step)step))
				wants |= 1u << step;
		if (!talk->is_off && talk->where >= TALK_OPEN &&
		    (talk->protocol & MILTER_RCPT_REJECTED) != 0)
			wants |= FILTER_WANTS_REFUSED;
	}
	return wants;
}

static void
conversation_request_answer(struct conversation *c, bool is_ok,
    struct slice text)
{
	struct str line = STR_INIT;
	struct request *request = c->request;

	c->request = NULL;
	if (is_ok)
		str_addf(&line, "%s %x ", c->key, wants_of(c));
	str_add_slice(&line, text);
	c->home->answer_fn(c->home->context, str_slice(&request->token), is_ok,
	    str_slice(&line));
	str_release(&line);
	conversation_request_free(&request);
}

/* ---- the message ------------------------------------------------------ */

static bool
conversation_mail_open(struct conversation *c, struct err *err)
{
	int fd = c->mail_fd >= 0 ? fcntl(c->mail_fd, F_DUPFD_CLOEXEC, 0) :
	    openat(spool_dir_fd(c->home->spool, AREA_PUBLIC, 0),
	    c->facts.values[FILTER_FILE].buf, O_RDONLY | O_NOFOLLOW |
	    O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		err_sys(err, "the draft");
		return false;
	}
	c->has_mail = filter_mail_open(&c->mail, fd, err) == 0;
	close(fd);
	if (!c->has_mail)
		filter_mail_close(&c->mail);
	return c->has_mail;
}

static void
conversation_mail_close(struct conversation *c)
{
	if (c->has_mail)
		filter_mail_close(&c->mail);
	c->has_mail = false;
}

/* Row S0: the changed message, not complete yet; swept if nobody comes. */
static bool
write_changed(struct conversation *c, struct str *out)
{
	struct draft draft;
	struct err err;

	if (draft_open(c->home->spool, NULL, &draft, &err) < 0) {
		str_reset(out);
		str_adds(out, err.text);
		return false;
	}
	if (filter_mail_write(&c->mail, &draft, &err) < 0 ||
	    draft_leave(&draft, &err) < 0) {
		draft_abort(&draft);
		str_reset(out);
		str_adds(out, err.text);
		return false;
	}
	str_addf(out, " file=%s bytes=%" PRIu64 " crc=%08" PRIx32, draft.name,
	    draft.bytes, draft.crc);
	return true;
}

/* ---- verdicts --------------------------------------------------------- */

static const char *
id_of(const struct conversation *c)
{
	const struct str *id = &c->facts.values[FILTER_ID];

	return id->len > 0 ? id->buf : NULL;
}

static void
conversation_note_said(struct conversation *c, const char *how,
    const struct conf_milter *by)
{
	str_addf(&c->said, " said=%s:", how);
	xtext_encode(&c->said, slice_of(by->socket));
}

/* What is done for a milter that did not do its work.  Before there is a
 * sender nothing is: it is tried again then. */
static void
conversation_make_do(struct conversation *c, struct link *link)
{
	const struct conf_milter *milter = link->conf;
	struct filter_result *result = &c->result;

	event(EV_MILTER_FAILED, id_of(c), "session",
	    filter_fact(&c->facts, FILTER_SESSION), "milter",
	    slice_of(milter->socket), "reason", slice_of(result->err.text),
	    "fail", slice_of(conf_milter_fails[milter->fail]), NULL);
	result->word = FILTER_PASS;
	if (milter->fail == MILTER_FAIL_ACCEPT)
		link->talk.is_off = true;
	neighbour_fails("milter", milter->socket, result->err.text);
	if (c->request->stage->goal < TALK_MAIL ||
	    c->request->stage->goal == TALK_UNKNOWN)
		return;
	if (milter->fail == MILTER_FAIL_REJECT ||
	    milter->fail == MILTER_FAIL_TEMPFAIL)
		neighbour_told("milter", milter->socket);
	switch (milter->fail) {
	case MILTER_FAIL_ACCEPT:
		break;
	case MILTER_FAIL_REJECT:
		filter_result_refuse(result, 550, "5.7.1",
		    "a filter does not work here");
		break;
	case MILTER_FAIL_TEMPFAIL:
		filter_result_refuse(result, 451, "4.7.1",
		    "a filter does not work now, try later");
		break;
	case MILTER_FAIL_QUARANTINE:
		str_reset(&result->freeze);
		result->is_signed = false;
		str_addf(&result->freeze, "it failed: %s", result->err.text);
		link->talk.is_off_message = true;
		break;
	}
}

/* In a line, to be shown by others, who escape what they show. */
static void
add_reason(struct str *out, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		str_addc(out, c < ' ' || c == 127 ? '?' : (char)c);
	}
}

static bool
add_pass(struct conversation *c, struct str *out)
{
	bool is_ok;

	str_adds(out, "pass");
	str_add_slice(out, str_slice(&c->said));
	if (c->result.freeze.len > 0) {
		event(EV_MILTER_QUARANTINE, id_of(c), "session",
		    filter_fact(&c->facts, FILTER_SESSION), "reason",
		    str_slice(&c->result.freeze), NULL);
		str_adds(out, " freeze=milter");
	}
	is_ok = !c->has_mail || !c->mail.is_changed || write_changed(c, out);
	if (is_ok && c->result.freeze.len > 0) {
		str_adds(out, " because ");
		add_reason(out, str_slice(&c->result.freeze));
	}
	return is_ok;
}

static void
conversation_conclude(struct conversation *c)
{
	const struct filter_result *result = &c->result;
	struct str out = STR_INIT;
	bool is_ok = true;

	if (result->word == FILTER_REFUSE) {
		str_addf(&out, "refuse%s %u %s ", c->said.buf, result->code,
		    result->status);
		str_add_slice(&out, str_slice(&result->text));
	} else if (result->word == FILTER_DISCARD || (c->has_mail &&
	    c->mail.envelope.rcpt_count == 0 &&
	    !c->mail.envelope.header_rcpts)) {
		/* or they took all away */
		str_addf(&out, "discard%s", c->said.buf);
	} else {
		is_ok = add_pass(c, &out);
	}
	conversation_mail_close(c);
	str_reset(&c->result.freeze);
	str_reset(&c->said);
	str_reset(&c->facts.values[FILTER_ID]);
	conversation_request_answer(c, is_ok, str_slice(&out));
	str_release(&out);
}

/* ---- turns ------------------------------------------------------------ */

/* Whether this milter is to hear of the request. */
static bool
is_for(const struct conversation *c, const struct link *link)
{
	return c->request->stage->kind != STAGE_REFUSED ||
	    (link->talk.where == TALK_IN_MAIL && !link->talk.is_off_message &&
	    (link->talk.protocol & MILTER_RCPT_REJECTED) != 0);
}

static void
conversation_give_turn(struct conversation *c)
{
	struct link *link = &c->links[c->turn];
	const struct stage *stage = c->request->stage;

	c->turn_at_us = clock_steady_us();
	if (stage->kind == STAGE_ABORT)
		link_abort(link);
	else if (is_for(c, link))
		link_go(link, stage->goal, c->has_mail ? &c->mail : NULL,
		    &c->result);
}

/* Its words alone would not say whose they are, nor where it is
 * configured. */
static void
conversation_sign_freeze(struct conversation *c, const struct conf_milter *by)
{
	struct str text = STR_INIT;

	if (c->result.freeze.len == 0 || c->result.is_signed)
		return;
	str_addf(&text, "%s:%u: milter %s: ", by->at.file ? by->at.file : "",
	    by->at.line, by->socket);
	str_add_slice(&text, str_slice(&c->result.freeze));
	str_reset(&c->result.freeze);
	str_add_slice(&c->result.freeze, str_slice(&text));
	c->result.is_signed = true;
	str_release(&text);
}

static void
conversation_fail(struct conversation *c, struct link *link)
{
	conversation_make_do(c, link);
	conversation_note_said(c, "fail", link->conf);
}

/* Unless it said nothing, or that it failed stands there already. */
static void
conversation_note_word(struct conversation *c, const struct conf_milter *by)
{
	const char *how = c->result.word == FILTER_REFUSE ? "refuse" :
	    c->result.word == FILTER_DISCARD ? "discard" :
	    c->result.freeze.len > 0 && !c->result.is_signed ? "freeze" :
	    NULL;
	struct str mine = STR_INIT;

	str_adds(&mine, " said=fail:");
	xtext_encode(&mine, slice_of(by->socket));
	if (how != NULL && !slice_ends(str_slice(&c->said), mine.buf))
		conversation_note_said(c, how, by);
	str_release(&mine);
}

static void
conversation_take_turn(struct conversation *c)
{
	struct link *link = &c->links[c->turn++];

	if (c->request->stage->kind != STAGE_ABORT && is_for(c, link) &&
	    !link->talk.is_off)
		counters_tell(TALLY_MILTER, slice_of(link->conf->socket),
		    clock_steady_us() - c->turn_at_us);
	if (c->request->stage->kind != STAGE_STEP)
		c->result.word = FILTER_PASS;	/* it was only told */
	else if (c->result.word == FILTER_TROUBLE)
		conversation_fail(c, link);
	else if (!link->talk.is_off && link->talk.where >= TALK_OPEN)
		neighbour_works("milter", link->conf->socket);
	conversation_note_word(c, link->conf);
	conversation_sign_freeze(c, link->conf);
	if (c->result.word != FILTER_PASS)
		c->turn = c->link_count;
	if (c->turn < c->link_count)
		conversation_give_turn(c);
	else
		conversation_conclude(c);
}

/* Clients that a milter does not want to see are known with the first
 * facts. */
static void
conversation_leave_out(struct conversation *c)
{
	struct net net;

	if (c->is_known || net_parse(filter_fact(&c->facts, FILTER_ADDR), &net,
	    NULL) != 0)
		return;
	c->is_known = true;
	for (size_t i = 0; i < c->link_count; i++)
		if (c->links[i].conf->has_except &&
		    net_contains(&c->links[i].conf->except, &net))
			c->links[i].talk.is_off = true;
}

static void
conversation_request_begin(struct conversation *c)
{
	struct err err = { "" };

	c->request = STAILQ_FIRST(&c->requests);
	STAILQ_REMOVE_HEAD(&c->requests, entry);
	c->request_count--;
	filter_facts_take(&c->facts, str_slice(&c->request->facts));
	conversation_leave_out(c);
	c->result.word = FILTER_PASS;
	c->turn = 0;
	if (c->request->stage->goal == TALK_EOB &&
	    !conversation_mail_open(c, &err))
		conversation_request_answer(c, false, slice_of(err.text));
	else if (c->link_count == 0)
		conversation_conclude(c);
	else
		conversation_give_turn(c);
}

static void
conversation_run(void *context)
{
	struct conversation *c = context;

	if (c->is_running)
		return;
	c->is_running = true;
	for (;;) {
		if (c->request == NULL && STAILQ_EMPTY(&c->requests))
			break;
		if (c->request == NULL)
			conversation_request_begin(c);
		else if (c->links[c->turn].talk.state == TALK_DONE)
			conversation_take_turn(c);
		else
			break;
	}
	c->is_running = false;
}

void
conversation_ask(struct conversation *c, struct slice token,
    struct slice question)
{
	const struct stage *stage = NULL;
	struct slice word;
	struct request *request;

	if (slice_word(&question, &word))
		stage = stage_find(word);
	if (stage == NULL || c->request_count >= REQUESTS_MAX) {
		c->home->answer_fn(c->home->context, token, false,
		    stage == NULL ? SLICE("no such stage") :
		    SLICE("too many questions"));
		return;
	}
	request = mem_alloc(1, sizeof(*request));
	str_init(&request->token);
	str_init(&request->facts);
	str_add_slice(&request->token, token);
	str_add_slice(&request->facts, question);
	request->stage = stage;
	STAILQ_INSERT_TAIL(&c->requests, request, entry);
	c->request_count++;
	conversation_run(c);
}

struct conversation *
conversation_new(const struct conversation_home *home, const char *key)
{
	struct conversation *c = mem_alloc(1, sizeof(*c));

	c->home = home;
	c->mail_fd = -1;
	str_init(&c->said);
	snprintf(c->key, sizeof(c->key), "%s", key);
	STAILQ_INIT(&c->requests);
	filter_facts_init(&c->facts);
	filter_result_init(&c->result);
	c->link_count = home->conf->milter_count;
	c->links = mem_alloc(c->link_count, sizeof(*c->links));
	for (size_t i = 0; i < c->link_count; i++)
		link_init(&c->links[i], home->loop, &home->conf->milters[i],
		    &c->facts, conversation_run, c);
	return c;
}

void
conversation_of_local(struct conversation *c, int fd)
{
	c->mail_fd = fd;
	c->is_known = true;	/* `except` is for clients */
	for (size_t i = 0; i < c->link_count; i++)
		c->links[i].talk.is_off = !c->links[i].conf->sees_local;
}

void
conversation_free(struct conversation **conversation)
{
	struct conversation *c = *conversation;
	struct request *request;

	if (c == NULL)
		return;
	if (c->request != NULL)
		STAILQ_INSERT_HEAD(&c->requests, c->request, entry);
	while ((request = STAILQ_FIRST(&c->requests)) != NULL) {
		STAILQ_REMOVE_HEAD(&c->requests, entry);
		c->home->answer_fn(c->home->context, str_slice(&request->token),
		    false, SLICE("the conversation is over"));
		conversation_request_free(&request);
	}
	for (size_t i = 0; i < c->link_count; i++)
		milter_link_release(&c->links[i]);
	conversation_mail_close(c);
	mem_free(&c->links);
	filter_facts_release(&c->facts);
	filter_result_release(&c->result);
	str_release(&c->said);
	mem_free(conversation);
}
