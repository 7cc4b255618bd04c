/* xclient.c - telling a next hop whose mail this is
 *
 * In     the envelope in front of the body file: rcvdfrom, with, user
 * Out    XCLIENT, and EHLO once more, when the peer has not heard it yet
 * Holds  what was said over this connection, in the client
 * Trusts nothing of the client's words: xtext; too long is left out
 * Spec   Postfix, XCLIENT_README; zmailer-smtp(8); zmailer.conf(5),
 *        xclient-to
 *
 *   rcvdfrom = helo " ([" address "]" ...        smtpserver; anything else
 *                                                was submitted here
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/fd.h"
#include "grammar/smtp/path.h"
#include "grammar/smtp/xtext.h"
#include "mail/envelope.h"
#include "transports/smtp/transaction/mail.h"

#include "base/banned.h"

enum {
	FRONT_BYTES = 16384,		/* of the body file: the envelope's
					 * lines in front of recipients */
	VALUE_BYTES_MAX = 255,
	LINE_BYTES_MAX = 480		/* of 512 (RFC 5321 4.5.3.1.4); what
					 * is more takes a second XCLIENT */
};

struct origin {			/* empty: not known */
	struct slice	helo, address, login;
	bool		is_esmtp, is_local;
};

/* ---- where it came from ------------------------------------------------ */

static void
xclient_origin(const struct envelope *envelope, struct origin *out)
{
	struct slice from = envelope->rcvdfrom, with = envelope->with;
	size_t blank = slice_find(from, ' ');
	struct slice rest = slice_from(from, blank);

	out->is_esmtp = slice_find(with, 'E') < with.n ||
	    slice_find(with, 'L') < with.n;
	if (!slice_starts(rest, " ([")) {
		out->is_local = true;
		return;
	}
	rest = slice_from(rest, 3);
	out->address = slice_first(rest, slice_find(rest, ']'));
	out->helo = slice_first(from, blank);
	if (slice_ends(with, "A"))
		out->login = envelope->user;
}

static bool
xclient_read_origin(int body_fd, char *front, struct origin *out,
    struct err *err)
{
	ssize_t n = fd_read_at(body_fd, front, FRONT_BYTES, 0);
	struct envelope envelope;

	memset(out, 0, sizeof(*out));
	if (n < 0) {
		err_sys(err, "read the envelope");
		return false;
	}
	if (envelope_peek((struct slice){ front, (size_t)n }, &envelope,
	    err) < 0)
		return false;
	xclient_origin(&envelope, out);
	return true;
}

/* ---- in words ---------------------------------------------------------- */

static void
xclient_add_attribute(struct str *out, size_t *line,
    const struct smtp_client *client,
    unsigned attribute, const char *name, struct slice value)
{
	struct str word = STR_INIT;

	if (!(client->offer.attributes & attribute))
		return;
	str_addf(&word, " %s=", name);
	if (value.n == 0 || value.n > VALUE_BYTES_MAX)
		str_adds(&word, "[UNAVAILABLE]");
	else
		xtext_encode(&word, value);
	if (out->len == 0 || out->len - *line + word.len > LINE_BYTES_MAX) {
		str_adds(out, out->len > 0 ? "\r\n" : "");
		*line = out->len;
		str_adds(out, "XCLIENT");
	}
	str_add_slice(out, str_slice(&word));
	str_release(&word);
}

static void
xclient_add_address(struct str *out, size_t *line,
    const struct smtp_client *client, struct slice address)
{
	struct str text = STR_INIT;

	if (slice_is_nocase(slice_first(address, 5), "IPv6:")) {
		str_adds(&text, "IPV6:");
		address = slice_from(address, 5);
	}
	str_add_slice(&text, address);
	xclient_add_attribute(out, line, client, XCLIENT_ADDR, "ADDR",
	    str_slice(&text));
	str_release(&text);
}

/* One line, or more, each but the last with its end. */
static void
xclient_add_words(struct str *out, const struct smtp_client *client,
    const struct origin *origin)
{
	static const struct slice nothing;
	size_t line = 0;

	xclient_add_attribute(out, &line, client, XCLIENT_NAME, "NAME",
	    origin->is_local ? SLICE("localhost") : nothing);
	xclient_add_address(out, &line, client, origin->is_local ?
	    SLICE("127.0.0.1") : origin->address);
	xclient_add_attribute(out, &line, client, XCLIENT_PORT, "PORT",
	    nothing);
	xclient_add_attribute(out, &line, client, XCLIENT_PROTO, "PROTO",
	    origin->is_local || origin->is_esmtp ? SLICE("ESMTP") :
	    SLICE("SMTP"));
	xclient_add_attribute(out, &line, client, XCLIENT_HELO, "HELO",
	    origin->is_local ? slice_of(client->conf->host) : origin->helo);
	xclient_add_attribute(out, &line, client, XCLIENT_LOGIN, "LOGIN",
	    origin->login);
}

/* ---- saying it --------------------------------------------------------- */

static bool
xclient_say_lines(struct smtp_client *client, struct slice text,
    struct verdict *out_trouble)
{
	struct slice line;
	struct reply reply;

	if (client->needs_reset) {	/* not while a message is under way */
		str_adds(&client->peer.out, "RSET\r\n");
		if (!client_ask(client, "waiting for the reply to RSET",
		    &reply, out_trouble))
			return false;
	}
	while (slice_cut(&text, '\n', &line)) {
		str_add_slice(&client->peer.out, slice_trim(line));
		str_adds(&client->peer.out, "\r\n");
		if (!client_ask(client, "waiting for the reply to XCLIENT",
		    &reply, out_trouble))
			return false;
		if (reply.code / 100 != 2)
			return client_refused(client, &reply, out_trouble);
	}
	return true;
}

/* The session begins anew, as the client's. */
static bool
xclient_say(struct smtp_client *client, const struct origin *origin,
    struct str *words,
    struct verdict *out_trouble)
{
	char helo[VALUE_BYTES_MAX + 1] = "";

	if (origin->helo.n > 0 && origin->helo.n <= VALUE_BYTES_MAX &&
	    domain_parse(origin->helo, NULL) == 0)
		memcpy(helo, origin->helo.p, origin->helo.n);
	if (!xclient_say_lines(client, str_slice(words), out_trouble) ||
	    !client_ehlo(client, helo[0] != '\0' ? helo :
	    client_helo(client), out_trouble))
		return false;
	client->needs_reset = false;
	str_reset(&client->xclient);
	str_add_slice(&client->xclient, str_slice(words));
	return true;
}

bool
client_xclient(struct smtp_client *client, int body_fd,
    struct verdict *out_trouble)
{
	char *front;
	struct str words = STR_INIT;
	struct origin origin;
	bool is_good = true;
	struct err err;

	if (!client->is_xclient || client->is_lmtp)
		return true;
	if (!(client->offer.extensions & CLIENT_XCLIENT))
		return client_unfit(client, "4.7.0", "xclient-to names this "
		    "host, which does not offer XCLIENT to us", out_trouble);
	front = mem_alloc(1, FRONT_BYTES);
	if (!xclient_read_origin(body_fd, front, &origin, &err)) {
		mem_free(&front);
		return client_unfit(client, "4.3.0", err.text, out_trouble);
	}
	xclient_add_words(&words, client, &origin);
	if (words.len > 0 && !slice_equal(str_slice(&words),
	    str_slice(&client->xclient)))
		is_good = xclient_say(client, &origin, &words, out_trouble);
	str_release(&words);
	mem_free(&front);
	return is_good;
}
