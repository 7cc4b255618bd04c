/* talk_steps.c - one message past one milter: what is said to it
 *
 * In     a message, facts about its session
 * Out    packets, step by step
 * Holds  nothing
 * Trusts nothing in the message: texts end at a NUL
 * Spec   packet.h; doc/FILTERS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "grammar/net.h"
#include "smtpserver/milter/packet.h"
#include "smtpserver/milter/talk_internal.h"

#include "base/banned.h"

/* ---- negotiation, macros ----------------------------------------------- */

bool
talk_negotiate(struct talk *talk)
{
	struct str *out = &talk->peer.out;
	size_t start = packet_begin(out, MILTER_OPTNEG);
	uint32_t version, actions;
	struct packet packet;

	packet_add_number(out, MILTER_VERSION);
	packet_add_number(out, MILTER_ACTIONS);
	packet_add_number(out, MILTER_PROTOCOL);
	packet_end(out, start);
	if (!talk_send(talk, "negotiation") ||
	    !talk_receive(talk, "negotiation", &packet))
		return false;
	if (packet.letter != MILTER_OPTNEG ||
	    !packet_number(&packet.data, &version) ||
	    !packet_number(&packet.data, &actions) ||
	    !packet_number(&packet.data, &talk->protocol) || version < 2)
		return talk_trouble(talk, "negotiation", &(struct err){
		    "it does not speak the milter protocol" });
	return true;
}

void
talk_macro(struct str *out, const char *name, struct slice value)
{
	if (value.n == 0)
		return;
	packet_add_text(out, slice_of(name));
	packet_add_text(out, value);
}

size_t
talk_macros(struct talk *talk, enum milter_command command)
{
	size_t start = packet_begin(&talk->peer.out, MILTER_MACRO);

	str_addc(&talk->peer.out, (char)command);
	return start;
}

/* ---- the steps ----------------------------------------------------------- */

bool
talk_connect(struct talk *talk)
{
	const struct filter_facts *facts = talk->facts;
	struct str *out = &talk->peer.out;
	struct sockaddr_storage address;
	char text[INET6_ADDRSTRLEN] = "";
	socklen_t length;
	uint16_t port = 0;
	size_t start;
	bool is_v6 = false;

	if (net_endpoint_parse(facts->client, 0, &address, &length, NULL) ==
	    1) {
		is_v6 = address.ss_family == AF_INET6;
		port = ntohs(is_v6 ?
		    ((struct sockaddr_in6 *)&address)->sin6_port :
		    ((struct sockaddr_in *)&address)->sin_port);
		inet_ntop(address.ss_family, is_v6 ?
		    (void *)&((struct sockaddr_in6 *)&address)->sin6_addr :
		    (void *)&((struct sockaddr_in *)&address)->sin_addr,
		    text, sizeof(text));
	}
	start = talk_macros(talk, MILTER_CONNECT);
	talk_macro(out, "j", facts->host);
	talk_macro(out, "{daemon_name}", facts->listener);
	talk_macro(out, "v", SLICE("zmailer"));
	talk_macro(out, "{client_addr}", slice_of(text));
	talk_macro(out, "{client_name}", facts->client_name);
	packet_end(out, start);
	if ((talk->protocol & MILTER_NO_CONNECT) != 0)
		return true;
	start = packet_begin(out, MILTER_CONNECT);
	if (facts->client_name.n > 0)
		packet_add_text(out, facts->client_name);
	else {
		str_addf(out, "[%s]", text[0] ? text : "unknown");
		str_addc(out, '\0');
	}
	if (text[0] != '\0') {
		str_addc(out, is_v6 ? '6' : '4');
		packet_add_port(out, port);
		packet_add_text(out, slice_of(text));
	} else {
		str_addc(out, 'U');
	}
	packet_end(out, start);
	return talk_step(talk, MILTER_NR_CONNECT, "connect");
}

bool
talk_helo(struct talk *talk)
{
	const struct filter_facts *facts = talk->facts;
	struct str *out = &talk->peer.out;
	size_t start = talk_macros(talk, MILTER_HELO);

	talk_macro(out, "{tls_version}", facts->tls_version);
	talk_macro(out, "{cipher}", facts->tls_cipher);
	packet_end(out, start);
	if ((talk->protocol & MILTER_NO_HELO) != 0)
		return true;
	start = packet_begin(out, MILTER_HELO);
	packet_add_text(out, facts->helo);
	packet_end(out, start);
	return talk_step(talk, MILTER_NR_HELO, "helo");
}

static struct slice
bracketed(struct str *text, const struct path *path)
{
	str_reset(text);
	str_addc(text, '<');
	path_add(text, path);
	str_addc(text, '>');
	return str_slice(text);
}

bool
talk_mail(struct talk *talk)
{
	const struct envelope *envelope = &talk->mail->envelope;
	struct str *out = &talk->peer.out, text = STR_INIT;
	struct slice sender = bracketed(&text, &envelope->from);
	size_t start = talk_macros(talk, MILTER_MAIL);

	talk_macro(out, "i", talk->facts->id);
	talk_macro(out, "{auth_authen}", talk->facts->user);
	talk_macro(out, "{auth_type}",
	    talk->facts->user.n > 0 ? SLICE("PLAIN") : talk->facts->user);
	talk_macro(out, "{mail_addr}",
	    slice_first(slice_from(sender, 1), sender.n - 2));
	packet_end(out, start);
	if ((talk->protocol & MILTER_NO_MAIL) == 0) {
		start = packet_begin(out, MILTER_MAIL);
		packet_add_text(out, sender);
		if (envelope->bodytype.n > 0) {
			str_addf(out, "BODY=" SLICE_FMT,
			    SLICE_ARG(envelope->bodytype));
			str_addc(out, '\0');
		}
		packet_end(out, start);
		str_release(&text);
		return talk_step(talk, MILTER_NR_MAIL, "mail");
	}
	str_release(&text);
	return true;
}

static bool
say_rcpt(struct talk *talk, const struct envelope_rcpt *rcpt)
{
	struct str *out = &talk->peer.out, text = STR_INIT;
	struct slice address = bracketed(&text, &rcpt->path);
	size_t start = talk_macros(talk, MILTER_RCPT);

	talk_macro(out, "{rcpt_addr}",
	    slice_first(slice_from(address, 1), address.n - 2));
	packet_end(out, start);
	start = packet_begin(out, MILTER_RCPT);
	packet_add_text(out, address);
	packet_end(out, start);
	str_release(&text);
	return talk_step(talk, MILTER_NR_RCPT, "rcpt");
}

bool
talk_rcpts(struct talk *talk)
{
	const struct envelope *envelope = &talk->mail->envelope;

	if ((talk->protocol & MILTER_NO_RCPT) != 0)
		return true;
	for (size_t i = 0; i < envelope->rcpt_count; i++)
		if (!say_rcpt(talk, &envelope->rcpts[i]))
			return false;
	return true;
}

bool
talk_data(struct talk *talk)
{
	struct str *out = &talk->peer.out;
	size_t start = talk_macros(talk, MILTER_DATA);

	talk_macro(out, "i", talk->facts->id);
	packet_end(out, start);
	if ((talk->protocol & MILTER_NO_DATA) != 0)
		return true;
	packet_end(out, packet_begin(out, MILTER_DATA));
	return talk_step(talk, MILTER_NR_DATA, "data");
}

bool
talk_header(struct talk *talk)
{
	struct str *out = &talk->peer.out;

	if ((talk->protocol & MILTER_NO_HEADERS) == 0) {
		for (size_t i = 0; i < talk->mail->field_count; i++) {
			const struct filter_field *f = &talk->mail->fields[i];
			size_t start = packet_begin(out, MILTER_HEADER);
			bool has_blank = f->value.n > 0 &&
			    f->value.p[0] == ' ' &&
			    (talk->protocol & MILTER_LEADING_SPACE) == 0;

			packet_add_text(out, f->name);
			packet_add_text(out, slice_from(f->value,
			    has_blank));
			packet_end(out, start);
			if (!talk_step(talk, MILTER_NR_HEADER, "header"))
				return false;
			if (out->len > PEER_OUT_BYTES &&
			    !talk_send(talk, "header"))
				return false;
		}
	}
	if ((talk->protocol & MILTER_NO_EOH) != 0)
		return true;
	packet_end(out, packet_begin(out, MILTER_EOH));
	return talk_step(talk, MILTER_NR_EOH, "end of header");
}

/* One packet of the body with CR LF at line ends; returns what it took. */
static size_t
add_chunk(struct talk *talk, struct slice body)
{
	struct str *out = &talk->peer.out;
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

bool
talk_body(struct talk *talk)
{
	struct slice body = talk->mail->body;

	if ((talk->protocol & MILTER_NO_BODY) != 0)
		return true;
	while (body.n > 0) {
		struct packet packet = { .letter = MILTER_CONTINUE };

		body = slice_from(body, add_chunk(talk, body));
		if ((talk->protocol & MILTER_NR_BODY) != 0) {
			if (!talk_send(talk, "body"))
				return false;
		} else if (!talk_answer(talk, "body", &packet)) {
			return false;
		}
		if (packet.letter == MILTER_SKIP)
			break;
	}
	return true;
}
