/* talk.c - one message past one milter
 *
 * In     a message, facts about its session; the milter's packets
 * Out    packets to it; its changes made in the message; its word
 * Holds  one connection
 * Trusts the milter's judgement, not its bytes: packets are bounded, every
 *        change is checked, silence has an end
 * Spec   packet.h; doc/FILTERS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/clock.h"
#include "grammar/net.h"
#include "smtpserver/milter/packet.h"
#include "smtpserver/milter/talk_internal.h"

#include "base/banned.h"

bool
talk_trouble(struct talk *talk, const char *what, const struct err *err)
{
	talk->result->word = FILTER_TROUBLE;
	err_set(&talk->result->err, "%s%s%s", what, err ? ": " : "",
	    err ? err->text : "");
	talk->is_over = true;
	return false;
}

/* ---- bytes ----------------------------------------------------------- */

bool
talk_send(struct talk *talk, const char *step)
{
	struct err err = { "" };

	if (talk->peer.out.len == 0)
		return true;
	switch (peer_flush(&talk->peer, talk->deadline_ms, &err)) {
	case PEER_OK:
		return true;
	case PEER_TIMEOUT:
		return talk_trouble(talk, step, &(struct err){
		    "time-out while sending" });
	default:
		return talk_trouble(talk, step, &err);
	}
}

bool
talk_receive(struct talk *talk, const char *step, struct packet *out)
{
	struct err err = { "" };
	size_t used;

	for (;;) {
		int got = packet_read(peer_unread(&talk->peer), out, &used,
		    &err);

		if (got < 0)
			return talk_trouble(talk, step, &err);
		if (got == 1) {
			peer_consume(&talk->peer, used);
			return true;	/* good until the next read */
		}
		switch (peer_fill(&talk->peer, talk->deadline_ms, &err)) {
		case PEER_OK:
			break;
		case PEER_EOF:
			return talk_trouble(talk, step, &(struct err){
			    "it hung up" });
		case PEER_TIMEOUT:
			return talk_trouble(talk, step, &(struct err){
			    "no answer in time" });
		default:
			return talk_trouble(talk, step, &err);
		}
	}
}

/* ---- what it says ---------------------------------------------------- */

static void
refuse(struct talk *talk, unsigned code, const char *status,
    const char *text)
{
	struct filter_result *result = talk->result;

	result->word = FILTER_REFUSE;
	result->code = code;
	snprintf(result->status, sizeof(result->status), "%s", status);
	str_reset(&result->text);
	str_adds(&result->text, text);
	talk->is_over = true;
}

static void
refuse_in_its_words(struct talk *talk, struct slice data)
{
	struct filter_result *result = talk->result;
	struct slice status;
	unsigned code;

	str_reset(&result->text);
	if (!packet_reply(data, &code, &status, &result->text)) {
		refuse(talk, 550, "5.7.1", "refused by a filter");
		return;
	}
	result->word = FILTER_REFUSE;
	result->code = code;
	if (status.n > 0)
		snprintf(result->status, sizeof(result->status), SLICE_FMT,
		    SLICE_ARG(status));
	else
		snprintf(result->status, sizeof(result->status), "%c.7.1",
		    code >= 500 ? '5' : '4');
	if (result->text.len == 0)
		str_adds(&result->text, "refused by a filter");
	talk->is_over = true;
}

/* The word that ends a step: true when the conversation goes on. */
static bool
decide(struct talk *talk, const struct packet *packet, const char *step)
{
	switch (packet->letter) {
	case MILTER_CONTINUE:
	case MILTER_SKIP:
		return true;
	case MILTER_ACCEPT:
		talk->is_over = true;
		return false;
	case MILTER_REJECT:
		refuse(talk, 550, "5.7.1", "refused by a filter");
		return false;
	case MILTER_TEMPFAIL:
	case MILTER_CONN_FAIL:
	case MILTER_SHUTDOWN:
		refuse(talk, 451, "4.7.1", "a filter wants you to try later");
		return false;
	case MILTER_DISCARD:
		talk->result->word = FILTER_DISCARD;
		talk->is_over = true;
		return false;
	case MILTER_REPLYCODE:
		refuse_in_its_words(talk, packet->data);
		return false;
	default:
		return talk_trouble(talk, step, &(struct err){
		    "an answer that does not fit here" });
	}
}

/* Send what is collected and take the answer of this step. */
bool
talk_answer(struct talk *talk, const char *step, struct packet *out)
{
	if (!talk_send(talk, step))
		return false;
	do {
		if (!talk_receive(talk, step, out))
			return false;
	} while (out->letter == MILTER_PROGRESS);
	return decide(talk, out, step);
}

/* A step whose packet is in out; nr: the bit that says no answer comes. */
bool
talk_step(struct talk *talk, uint32_t nr, const char *step)
{
	struct packet packet;

	return (talk->protocol & nr) != 0 ||
	    talk_answer(talk, step, &packet);
}

/* ---- its changes ------------------------------------------------------ */

static void
change_header(struct talk *talk, char letter, struct slice data)
{
	struct slice name, value;
	uint32_t index = 0;

	if ((letter != MILTER_ADD_HEADER && !packet_number(&data, &index)) ||
	    !packet_text(&data, &name) || !packet_text(&data, &value))
		return;
	if (letter == MILTER_ADD_HEADER)
		filter_mail_add(talk->mail, name, value);
	else if (letter == MILTER_INSERT_HEADER)
		filter_mail_insert(talk->mail, index, name, value);
	else
		filter_mail_change(talk->mail, index, name, value);
}

static bool
change_envelope(struct talk *talk, char letter, struct slice data)
{
	struct slice address;
	struct err err;
	int result = 1;

	if (!packet_text(&data, &address))
		return talk_trouble(talk, "a change without an address", NULL);
	if (letter == MILTER_DELETE_RCPT)
		filter_mail_delete_rcpt(talk->mail, address);
	else if (letter == MILTER_CHANGE_FROM)
		result = filter_mail_set_from(talk->mail, address, &err);
	else
		result = filter_mail_add_rcpt(talk->mail, address, &err);
	return result == 1 || talk_trouble(talk, "a changed address", &err);
}

/* One packet behind EOB: true when it was a change. */
static bool
take_change(struct talk *talk, const struct packet *packet)
{
	struct slice text, data = packet->data;

	switch (packet->letter) {
	case MILTER_PROGRESS:
		return true;
	case MILTER_ADD_HEADER:
	case MILTER_INSERT_HEADER:
	case MILTER_CHANGE_HEADER:
		change_header(talk, packet->letter, data);
		return true;
	case MILTER_ADD_RCPT:
	case MILTER_ADD_RCPT_PAR:
	case MILTER_DELETE_RCPT:
	case MILTER_CHANGE_FROM:
		return change_envelope(talk, packet->letter, data);
	case MILTER_REPLACE_BODY:
		talk->has_body = true;
		if (talk->body.len + data.n > FILTER_BODY_BYTES_MAX)
			return talk_trouble(talk, "a new body that is too long",
			    NULL);
		str_add_slice(&talk->body, data);
		return true;
	case MILTER_QUARANTINE:
		str_reset(&talk->result->freeze);
		if (packet_text(&data, &text) && text.n > 0)
			str_add_escaped(&talk->result->freeze,
			    slice_first(text, 200));
		else
			str_adds(&talk->result->freeze, "quarantine");
		return true;
	default:
		return false;
	}
}

static bool
say_end(struct talk *talk)
{
	struct str *out = &talk->peer.out;
	size_t start = talk_macros(talk, MILTER_EOB);
	struct packet packet;

	talk_macro(out, "i", talk->facts->id);
	packet_end(out, start);
	packet_end(out, packet_begin(out, MILTER_EOB));
	if (!talk_send(talk, "end of message"))
		return false;
	do {
		if (!talk_receive(talk, "end of message", &packet))
			return false;
	} while (take_change(talk, &packet));
	if (talk->has_body && talk->result->word == FILTER_PASS)
		filter_mail_set_body(talk->mail, str_slice(&talk->body));
	return !talk->is_over && decide(talk, &packet, "end of message");
}

/* ---- all of it -------------------------------------------------------- */

static bool
open_socket(struct talk *talk)
{
	const char *where = talk->milter->socket;
	struct sockaddr_storage address = { .ss_family = AF_UNIX };
	struct sockaddr_un *local = (struct sockaddr_un *)&address;
	socklen_t length = sizeof(*local);
	struct err err = { "" };

	if (strncmp(where, "unix:", 5) == 0) {
		if (strlen(where + 5) >= sizeof(local->sun_path))
			return talk_trouble(talk,
			    "the socket's name is too long", NULL);
		memcpy(local->sun_path, where + 5, strlen(where + 5) + 1);
	} else if (net_endpoint_parse(slice_of(where + 5), 0, &address,
		&length, &err) != 1) {
		return talk_trouble(talk, where, &err);
	}
	if (peer_connect(&talk->peer, (struct sockaddr *)&address, length,
		talk->deadline_ms, &err) == PEER_OK)
		return true;
	return talk_trouble(talk, "connect", err.text[0] ? &err :
	    &(struct err){ "no answer in time" });
}

void
milter_talk(const struct conf_milter *milter,
    const struct filter_facts *facts, struct filter_mail *mail,
    struct filter_result *result)
{
	static bool (*const steps[])(struct talk *talk) = {
		open_socket, talk_negotiate, talk_connect, talk_helo, talk_mail,
		talk_rcpts, talk_data, talk_header, talk_body, say_end
	};
	struct talk talk = { .milter = milter, .facts = facts, .mail = mail,
	    .result = result, .body = STR_INIT,
	    .deadline_ms = clock_steady_ms() + milter->timeout_ms };

	result->word = FILTER_PASS;
	peer_init(&talk.peer);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!steps[i](&talk))
			break;
	if (result->word != FILTER_TROUBLE) {
		packet_end(&talk.peer.out,
		    packet_begin(&talk.peer.out, MILTER_QUIT));
		(void)peer_flush(&talk.peer, talk.deadline_ms, NULL);
	}
	peer_release(&talk.peer);
	str_release(&talk.body);
}
