/* talk_changes.c - what a milter changes when it has seen a message
 *
 * In     packets after the end of a message
 * Out    a changed message
 * Holds  a new body while it comes
 * Trusts nothing: addresses are parsed, a body is bounded, fields cannot end
 *        the header (mail.h)
 * Spec   packet.h; doc/FILTERS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/milter/talk_internal.h"

#include "base/banned.h"

static void
talk_change_header(struct talk *talk, char letter, struct slice data)
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

static void
talk_change_envelope(struct talk *talk, char letter, struct slice data)
{
	struct slice address;
	struct err err;
	int result = 0;

	if (!packet_text(&data, &address))
		return;
	if (letter == MILTER_DELETE_RCPT)
		filter_mail_delete_rcpt(talk->mail, address);
	else if (letter == MILTER_CHANGE_FROM)
		result = filter_mail_set_from(talk->mail, address, &err);
	else
		result = filter_mail_add_rcpt(talk->mail, address, &err);
	if (result < 0)
		talk_broken(talk, "a changed address", &err);
}

static void
talk_change_body(struct talk *talk, struct slice data)
{
	talk->has_body = true;
	if (talk->body.len + data.n > FILTER_BODY_BYTES_MAX)
		talk_broken(talk, "a new body that is too long", NULL);
	else
		str_add_slice(&talk->body, data);
}

static void
talk_quarantine(struct talk *talk, struct slice data)
{
	struct str *freeze = &talk->result->freeze;
	struct slice text;

	str_reset(freeze);
	talk->result->is_signed = false;
	if (packet_text(&data, &text) && text.n > 0)
		str_add_slice(freeze, slice_first(text, 200));
	else
		str_adds(freeze, "quarantine");
}

bool
talk_take_change(struct talk *talk, const struct packet *packet)
{
	switch (packet->letter) {
	case MILTER_ADD_HEADER:
	case MILTER_INSERT_HEADER:
	case MILTER_CHANGE_HEADER:
		talk_change_header(talk, packet->letter, packet->data);
		return true;
	case MILTER_ADD_RCPT:
	case MILTER_ADD_RCPT_PAR:
	case MILTER_DELETE_RCPT:
	case MILTER_CHANGE_FROM:
		talk_change_envelope(talk, packet->letter, packet->data);
		return true;
	case MILTER_REPLACE_BODY:
		talk_change_body(talk, packet->data);
		return true;
	case MILTER_QUARANTINE:
		talk_quarantine(talk, packet->data);
		return true;
	default:
		return false;
	}
}
