/* talk.c - the conversation with one milter: whose turn it is
 *
 * In     goals; the milter's packets
 * Out    packets to it; its word on the session, the recipient, the message
 * Holds  bytes not yet sent, an unfinished packet
 * Trusts the milter's judgement, not its bytes: packets are bounded, every
 *        change is checked
 * Spec   packet.h; doc/FILTERS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "smtpserver/milter/talk_internal.h"

#include "base/banned.h"

/* ---- results ---------------------------------------------------------- */

void
filter_result_init(struct filter_result *result)
{
	memset(result, 0, sizeof(*result));
	str_init(&result->text);
	str_init(&result->freeze);
}

void
filter_result_release(struct filter_result *result)
{
	str_release(&result->text);
	str_release(&result->freeze);
}

void
filter_result_refuse(struct filter_result *result, unsigned code,
    const char *status, const char *text)
{
	result->word = FILTER_REFUSE;
	result->code = code;
	snprintf(result->status, sizeof(result->status), "%s", status);
	str_reset(&result->text);
	str_adds(&result->text, text);
}

static void
talk_done(struct talk *talk, enum filter_word word)
{
	talk->result->word = word;
	talk->state = TALK_DONE;
	talk->is_waiting = false;
}

/* What a trouble is called: "end of message". */
static const char *
talk_doing(const struct talk *talk)
{
	if (talk->where == TALK_NOWHERE)
		return "connect";
	return talk->where == TALK_ASKED ? "negotiation" :
	    talk_rows[talk->step].name;
}

void
talk_broken(struct talk *talk, const char *what, const struct err *err)
{
	err_set(&talk->result->err, "%s: %s%s%s", talk_doing(talk), what,
	    err ? ": " : "", err ? err->text : "");
	talk->where = TALK_NOWHERE;
	str_reset(&talk->in);
	str_reset(&talk->out);
	talk_done(talk, FILTER_TROUBLE);
}

void
talk_fail(struct talk *talk, const char *why)
{
	talk_broken(talk, why, NULL);
}

/* ---- what is said ----------------------------------------------------- */

bool
talk_wants(const struct talk *talk, enum talk_step step)
{
	if (talk->is_off)
		return false;
	if (talk->where < TALK_OPEN)
		return true;	/* who knows */
	if (step == TALK_RCPT && talk->is_off_rcpt)
		return false;
	return (talk->protocol & talk_rows[step].no) == 0;
}

/* Such a step would have no packet. */
static bool
talk_is_empty(const struct talk *talk)
{
	return (talk->step == TALK_HEADER && talk->mail->field_count == 0) ||
	    (talk->step == TALK_BODY && talk->body_left.n == 0);
}

static void
talk_step_over(struct talk *talk)
{
	enum talk_where after = talk_rows[talk->step].where;

	if (after > talk->where)
		talk->where = after;
	talk->has_more = false;
	if (talk->step == talk->goal)
		talk_done(talk, FILTER_PASS);
	else	/* recipients are goals, not on the way to one */
		talk->step += talk->step == TALK_MAIL ? 2 : 1;
}

static void
talk_run(struct talk *talk)
{
	while (talk->state == TALK_BUSY && !talk->is_waiting &&
	    talk->where >= TALK_OPEN && talk->out.len < TALK_OUT_BYTES) {
		const struct talk_row *row = &talk_rows[talk->step];

		if (!talk_wants(talk, talk->step) || talk_is_empty(talk)) {
			talk_step_over(talk);
			continue;
		}
		talk->has_more = false;
		row->say(talk);
		if ((talk->protocol & row->nr) == 0)
			talk->is_waiting = true;
		else if (!talk->has_more)
			talk_step_over(talk);
	}
}

static enum talk_step
talk_step_after(enum talk_where where)
{
	switch (where) {
	case TALK_GREETED:
		return TALK_MAIL;
	case TALK_CONNECTED:
		return TALK_HELO;
	case TALK_IN_MAIL:
		return TALK_DATA;
	case TALK_IN_DATA:
		return TALK_HEADER;
	default:
		return TALK_CONNECT;
	}
}

void
talk_abort(struct talk *talk)
{
	talk->is_off_message = talk->is_off_rcpt = false;
	if (talk->where < TALK_IN_MAIL)
		return;
	packet_end(&talk->out, packet_begin(&talk->out, MILTER_ABORT));
	talk->where = TALK_GREETED;
}

/* Where to begin, or that there is nothing to do. */
static bool
talk_choose_step(struct talk *talk)
{
	enum talk_step first;

	if (talk->goal == TALK_UNKNOWN) {
		talk->step = TALK_UNKNOWN;
		return talk->where >= TALK_CONNECTED;
	}
	if (talk->goal <= TALK_MAIL)
		talk_abort(talk);
	if (talk->is_off_message)
		return false;
	if (talk->goal == TALK_HELO && talk->where == TALK_GREETED)
		talk->where = TALK_CONNECTED;
	first = talk_step_after(talk->where);
	talk->step = talk->goal == TALK_RCPT ? TALK_RCPT : first;
	return talk->step <= talk->goal;	/* or it is there already */
}

void
talk_begin(struct talk *talk, enum talk_step goal, struct filter_mail *mail,
    struct filter_result *result)
{
	talk->goal = goal;
	talk->mail = mail;
	talk->result = result;
	talk->state = TALK_BUSY;
	talk->is_waiting = talk->has_more = talk->has_body = false;
	talk->field = 0;
	if (mail != NULL)
		talk->body_left = mail->body;
	str_reset(&talk->body);
	if (talk->is_off || !talk_choose_step(talk)) {
		talk_done(talk, FILTER_PASS);
	} else if (goal > TALK_MAIL && goal != TALK_UNKNOWN &&
	    talk->where < TALK_IN_MAIL) {
		talk_broken(talk, "it is gone since MAIL", NULL);
	} else if (talk->where == TALK_NOWHERE) {
		talk->state = TALK_SHUT;
	} else {
		talk_run(talk);
	}
}

void
talk_opened(struct talk *talk)
{
	size_t start = packet_begin(&talk->out, MILTER_OPTNEG);

	packet_add_number(&talk->out, MILTER_VERSION);
	packet_add_number(&talk->out, MILTER_ACTIONS);
	packet_add_number(&talk->out, MILTER_PROTOCOL);
	packet_end(&talk->out, start);
	for (int i = 0; i < MACRO_STAGES; i++)
		str_reset(&talk->wanted[i]);
	talk->where = TALK_ASKED;
	talk->state = TALK_BUSY;
	talk->is_waiting = true;
}

void
talk_sent(struct talk *talk)
{
	talk_run(talk);
}

/* ---- what it says ----------------------------------------------------- */

/* Versions below 6 say the three numbers; after them the macros that it
 * wants at each stage. */
static void
talk_take_negotiation(struct talk *talk, struct packet *packet)
{
	uint32_t version, actions, stage;
	struct slice names;

	if (packet->letter != MILTER_OPTNEG ||
	    !packet_number(&packet->data, &version) ||
	    !packet_number(&packet->data, &actions) ||
	    !packet_number(&packet->data, &talk->protocol) || version < 2) {
		talk_broken(talk, "it does not speak the milter protocol",
		    NULL);
		return;
	}
	while (packet_number(&packet->data, &stage) &&
	    packet_text(&packet->data, &names))
		if (stage < MACRO_STAGES) {
			str_reset(&talk->wanted[stage]);
			str_add_slice(&talk->wanted[stage], names);
		}
	if (version < 3)	/* older than these commands */
		talk->protocol |= MILTER_NO_UNKNOWN;
	if (version < 4)
		talk->protocol |= MILTER_NO_DATA;
	talk->where = TALK_OPEN;
	talk->is_waiting = false;
}

/* It decided on the message: no more of it. */
static void
talk_end_message(struct talk *talk)
{
	if (talk->where > TALK_GREETED)
		talk->where = TALK_GREETED;
	talk->is_off_message = true;
}

static void
talk_refuse(struct talk *talk, unsigned code, const char *status,
    const char *text)
{
	filter_result_refuse(talk->result, code, status, text);
	if (talk->step > TALK_RCPT && talk->step < TALK_UNKNOWN)
		talk_end_message(talk);
	talk_done(talk, FILTER_REFUSE);
}

static void
talk_refuse_in_words(struct talk *talk, struct slice data)
{
	struct str text = STR_INIT;
	char words[12] = "4.7.1";
	struct slice status;
	unsigned code;

	if (!packet_reply(data, &code, &status, &text)) {
		talk_refuse(talk, 550, "5.7.1", "refused by a filter");
	} else {
		words[0] = code >= 500 ? '5' : '4';
		if (status.n > 0)
			snprintf(words, sizeof(words), SLICE_FMT,
			    SLICE_ARG(status));
		talk_refuse(talk, code, words, text.len > 0 ? text.buf :
		    "refused by a filter");
	}
	str_release(&text);
}

static void
talk_accept_all(struct talk *talk)
{
	if (talk->step <= TALK_HELO)
		talk->is_off = true;
	else if (talk->step != TALK_UNKNOWN)
		talk_end_message(talk);
	talk_done(talk, FILTER_PASS);
}

static void
talk_discard(struct talk *talk)
{
	if (talk->step <= TALK_HELO || talk->step == TALK_UNKNOWN) {
		talk_broken(talk, "there is nothing to discard", NULL);
		return;
	}
	talk_end_message(talk);
	talk_done(talk, FILTER_DISCARD);
}

static void
talk_decide(struct talk *talk, const struct packet *packet)
{
	talk->is_waiting = false;
	switch (packet->letter) {
	case MILTER_CONTINUE:
		if (!talk->has_more)
			talk_step_over(talk);
		return;
	case MILTER_SKIP:
		talk->is_off_rcpt = talk->step == TALK_RCPT;
		talk_step_over(talk);
		return;
	case MILTER_ACCEPT:
		talk_accept_all(talk);
		return;
	case MILTER_REJECT:
		talk_refuse(talk, 550, "5.7.1", "refused by a filter");
		return;
	case MILTER_TEMPFAIL:
		talk_refuse(talk, 451, "4.7.1",
		    "a filter wants you to try later");
		return;
	case MILTER_CONN_FAIL:
	case MILTER_SHUTDOWN:
		talk_refuse(talk, 421, "4.7.1",
		    "a filter wants you to try later");
		return;
	case MILTER_DISCARD:
		talk_discard(talk);
		return;
	case MILTER_REPLYCODE:
		talk_refuse_in_words(talk, packet->data);
		return;
	default:
		talk_broken(talk, "an answer that does not fit here", NULL);
	}
}

static void
talk_decide_message(struct talk *talk, const struct packet *packet)
{
	if (talk_take_change(talk, packet))
		return;
	if (talk->has_body && (packet->letter == MILTER_CONTINUE ||
	    packet->letter == MILTER_ACCEPT))
		filter_mail_set_body(talk->mail, str_slice(&talk->body));
	talk_decide(talk, packet);
	if (talk->where > TALK_GREETED)
		talk->where = TALK_GREETED;
	talk->is_off_message = true;	/* until the next MAIL */
}

static void
talk_take_packet(struct talk *talk, struct packet *packet)
{
	if (packet->letter == MILTER_PROGRESS)
		return;
	if (!talk->is_waiting)
		talk_broken(talk, "it talks unasked", NULL);
	else if (talk->where == TALK_ASKED)
		talk_take_negotiation(talk, packet);
	else if (talk->step == TALK_EOB)
		talk_decide_message(talk, packet);
	else
		talk_decide(talk, packet);
	talk_run(talk);
}

void
talk_hear(struct talk *talk, struct slice bytes)
{
	struct packet packet;
	size_t at = 0, used;
	struct err err;
	enum packet_found found = PACKET_PART;

	str_add_slice(&talk->in, bytes);
	while (talk->state == TALK_BUSY &&
	    (found = packet_read(slice_from(str_slice(&talk->in), at), &packet,
	    &used, &err)) == PACKET_WHOLE) {
		at += used;
		talk_take_packet(talk, &packet);
	}
	if (talk->where == TALK_NOWHERE)
		return;		/* it is broken; in is empty */
	str_consume(&talk->in, at);
	if (talk->state == TALK_BUSY && found == PACKET_BAD)
		talk_broken(talk, "nonsense", &err);
	else if (talk->state != TALK_BUSY && talk->in.len > 0)
		talk_lose(talk);
}

void
talk_lose(struct talk *talk)
{
	if (talk->state == TALK_BUSY) {
		talk_broken(talk, "it hung up", NULL);
		return;
	}
	talk->where = TALK_NOWHERE;
	str_reset(&talk->in);
	str_reset(&talk->out);
}

void
talk_init(struct talk *talk, const struct filter_facts *facts)
{
	memset(talk, 0, sizeof(*talk));
	talk->facts = facts;
	talk->state = TALK_DONE;
	str_init(&talk->in);
	str_init(&talk->out);
	str_init(&talk->body);
	for (int i = 0; i < MACRO_STAGES; i++)
		str_init(&talk->wanted[i]);
}

void
talk_release(struct talk *talk)
{
	str_release(&talk->in);
	str_release(&talk->out);
	str_release(&talk->body);
	for (int i = 0; i < MACRO_STAGES; i++)
		str_release(&talk->wanted[i]);
}
