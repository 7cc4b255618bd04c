/* talk_steps.c - the conversation with one milter: what is said to it
 *
 * In     facts about a session, a message
 * Out    packets, step by step
 * Holds  nothing
 * Trusts nothing in the message: texts end at a NUL
 * Spec   packet.h; doc/FILTERS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/milter/talk_internal.h"

#include "base/banned.h"

static struct slice
talk_fact(const struct talk *talk, enum filter_fact fact)
{
	return filter_fact(talk->facts, fact);
}

/* Macros, then a packet begins; returns where. */
static size_t
talk_packet_begin(struct talk *talk, enum milter_command command)
{
	enum macro_stage stage = macro_stage_of(command);
	struct slice wanted = { NULL, 0 };

	if (stage < MACRO_STAGES)
		wanted = str_slice(&talk->wanted[stage]);
	macros_add(&talk->out, command, wanted, talk->facts);
	return packet_begin(&talk->out, command);
}

static void
talk_say_connect(struct talk *talk)
{
	struct str *out = &talk->out;
	size_t start = talk_packet_begin(talk, MILTER_CONNECT);
	struct slice addr = talk_fact(talk, FILTER_ADDR);
	uint64_t port = 0;

	packet_add_text(out, talk_fact(talk, FILTER_NAME));
	if (addr.n > 0) {
		(void)slice_number(talk_fact(talk, FILTER_PORT), 0, 65535,
		    &port);
		str_addc(out, slice_find(addr, ':') < addr.n ? '6' : '4');
		packet_add_port(out, (uint16_t)port);
		packet_add_text(out, addr);
	} else {
		str_addc(out, 'U');
	}
	packet_end(out, start);
}

static void
talk_say_helo(struct talk *talk)
{
	size_t start = talk_packet_begin(talk, MILTER_HELO);

	packet_add_text(&talk->out, talk_fact(talk, FILTER_HELO));
	packet_end(&talk->out, start);
}

/* "<address>" and the parameters of the command, a text each. */
static void
talk_say_address(struct talk *talk, enum milter_command command,
    enum filter_fact address, enum filter_fact params)
{
	size_t start = talk_packet_begin(talk, command);
	struct slice rest = talk_fact(talk, params), word;

	str_addc(&talk->out, '<');
	str_add_slice(&talk->out, talk_fact(talk, address));
	packet_add_text(&talk->out, SLICE(">"));
	while (slice_word(&rest, &word))
		packet_add_text(&talk->out, word);
	packet_end(&talk->out, start);
}

static void
talk_say_mail(struct talk *talk)
{
	talk_say_address(talk, MILTER_MAIL, FILTER_SENDER,
	    FILTER_SENDER_PARAMS);
}

static void
talk_say_rcpt(struct talk *talk)
{
	talk_say_address(talk, MILTER_RCPT, FILTER_RCPT, FILTER_RCPT_PARAMS);
}

static void
talk_say_data(struct talk *talk)
{
	packet_end(&talk->out, talk_packet_begin(talk, MILTER_DATA));
}

static void
talk_say_field(struct talk *talk, const struct filter_field *field)
{
	struct str *out = &talk->out;
	size_t start = talk_packet_begin(talk, MILTER_HEADER);
	bool has_blank = field->value.n > 0 && field->value.p[0] == ' ' &&
	    (talk->protocol & MILTER_LEADING_SPACE) == 0;

	packet_add_text(out, field->name);
	packet_add_text(out, slice_from(field->value, has_blank));
	packet_end(out, start);
}

static void
talk_say_header(struct talk *talk)
{
	talk_say_field(talk, &talk->mail->fields[talk->field++]);
	talk->has_more = talk->field < talk->mail->field_count;
}

static void
talk_say_eoh(struct talk *talk)
{
	packet_end(&talk->out, talk_packet_begin(talk, MILTER_EOH));
}

/* One packet of the body with CR LF at line ends; returns what it took. */
static size_t
talk_add_chunk(struct talk *talk, struct slice body)
{
	struct str *out = &talk->out;
	size_t start = packet_begin(out, MILTER_BODY), first = out->len;
	size_t used = 0;

	if (talk->mail->is_binary) {
		used = body.n < MILTER_CHUNK_BYTES ? body.n :
		    MILTER_CHUNK_BYTES;
		str_add(out, body.p, used);
	}
	while (!talk->mail->is_binary && used < body.n) {
		struct slice rest = slice_from(body, used);
		size_t room = MILTER_CHUNK_BYTES - (out->len - first);
		size_t n = slice_find(rest, '\n');

		if (n >= room || n == rest.n) {
			n = n < room ? n : room;
			str_add(out, rest.p, n);
			used += n;
			if (n == room)
				break;
			continue;
		}
		if (n + 2 > room && n > 0) {	/* CR LF does not fit */
			str_add(out, rest.p, n);
			used += n;
			break;
		}
		if (n + 2 > room)
			break;
		str_add(out, rest.p, n);
		str_adds(out, "\r\n");
		used += n + 1;
	}
	packet_end(out, start);
	return used;
}

static void
talk_say_body(struct talk *talk)
{
	talk->body_left = slice_from(talk->body_left,
	    talk_add_chunk(talk, talk->body_left));
	talk->has_more = talk->body_left.n > 0;
}

static void
talk_say_eob(struct talk *talk)
{
	packet_end(&talk->out, talk_packet_begin(talk, MILTER_EOB));
}

static void
talk_say_unknown(struct talk *talk)
{
	size_t start = talk_packet_begin(talk, MILTER_UNKNOWN);

	packet_add_text(&talk->out, talk_fact(talk, FILTER_LINE));
	packet_end(&talk->out, start);
}

const struct talk_row talk_rows[TALK_STEPS] = {
	[TALK_CONNECT] = { "connect", MILTER_NO_CONNECT, MILTER_NR_CONNECT,
	    talk_say_connect, TALK_CONNECTED },
	[TALK_HELO] = { "helo", MILTER_NO_HELO, MILTER_NR_HELO, talk_say_helo,
	    TALK_GREETED },
	[TALK_MAIL] = { "mail", MILTER_NO_MAIL, MILTER_NR_MAIL, talk_say_mail,
	    TALK_IN_MAIL },
	[TALK_RCPT] = { "rcpt", MILTER_NO_RCPT, MILTER_NR_RCPT, talk_say_rcpt,
	    TALK_IN_MAIL },
	[TALK_DATA] = { "data", MILTER_NO_DATA, MILTER_NR_DATA, talk_say_data,
	    TALK_IN_DATA },
	[TALK_HEADER] = { "header", MILTER_NO_HEADERS, MILTER_NR_HEADER,
	    talk_say_header, TALK_IN_DATA },
	[TALK_EOH] = { "end of header", MILTER_NO_EOH, MILTER_NR_EOH,
	    talk_say_eoh,
	    TALK_IN_DATA },
	[TALK_BODY] = { "body", MILTER_NO_BODY, MILTER_NR_BODY, talk_say_body,
	    TALK_IN_DATA },
	[TALK_EOB] = { "end of message", 0, 0, talk_say_eob, TALK_IN_DATA },
	[TALK_UNKNOWN] = { "unknown command", MILTER_NO_UNKNOWN,
	    MILTER_NR_UNKNOWN, talk_say_unknown, TALK_NOWHERE },
};
