/* message.c - the request: its head, and the message after it
 *
 * In     the header of the control file, the body file from its offset on
 * Out    a request of HTTP/1.1 with a message/rfc822 of known length
 * Holds  a small message whole; of a larger one a piece
 * Trusts addresses as bytes: what cannot stand in a field is percent-coded
 * Spec   RFC 9112 sections 3 and 6; RFC 7617; RFC 6750; zmailer-http(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/fd.h"
#include "grammar/base64.h"
#include "grammar/smtp/crlf.h"
#include "transports/http/http.h"
#include "transports/smtp/auth/auth.h"

#include "base/banned.h"

enum { PIECE_BYTES = 64 * 1024 };

static char piece[PIECE_BYTES];

/* ---- the message ------------------------------------------------------- */

enum http_piece
http_message_piece(const struct http_message *message, uint64_t *at,
    bool *after_cr, struct str *out, struct err *err)
{
	struct slice text = { piece, 0 };
	ssize_t n;

	n = fd_read_at(message->fd, piece, sizeof(piece),
	    message->offset + *at);
	if (n < 0) {
		err_sys(err, "cannot read the message");
		return PIECE_TROUBLE;
	}
	*at += (uint64_t)n;
	text.n = (size_t)n;
	if (message->is_binary)
		str_add_slice(out, text);
	else
		crlf_write(out, text, after_cr);
	return n > 0 ? PIECE_READ : PIECE_NONE;
}

/* Lines grow by the way, so the length is known only when all was read. */
static int
message_measure(struct http_message *message, struct err *err)
{
	struct str text = STR_INIT;
	bool after_cr = false;
	uint64_t at = 0;
	enum http_piece got;

	while ((got = http_message_piece(message, &at, &after_cr, &text,
	    err)) == PIECE_READ) {
		message->length += text.len;
		str_reset(&text);
	}
	str_release(&text);
	return got == PIECE_TROUBLE ? -1 : 0;
}

static int
message_load_whole(struct http_message *message, struct err *err)
{
	bool after_cr = false;
	uint64_t at = 0;
	enum http_piece got;

	while ((got = http_message_piece(message, &at, &after_cr,
	    &message->body, err)) == PIECE_READ)
		continue;
	message->length += message->body.len;
	return got == PIECE_TROUBLE ? -1 : 0;
}

int
http_message_load(struct http_message *message, const struct control_job *job,
    int body_fd, struct err *err)
{
	bool after_cr = false;

	*message = (struct http_message){ .fd = body_fd,
	    .offset = job->body_offset, .head = STR_INIT, .body = STR_INIT,
	    .is_binary = slice_is_nocase(job->bodytype, "BINARYMIME") };
	crlf_write(&message->head, job->header, &after_cr);
	if (job->header.n > 0 && job->header.p[job->header.n - 1] != '\n')
		str_adds(&message->head, "\r\n");
	str_adds(&message->head, "\r\n");
	message->length = message->head.len;
	message->is_whole = job->size_bytes <= HTTP_WHOLE_BYTES_MAX;
	return message->is_whole ? message_load_whole(message, err) :
	    message_measure(message, err);
}

void
http_message_release(struct http_message *message)
{
	str_release(&message->head);
	str_release(&message->body);
}

/* ---- the head of the request ------------------------------------------- */

/* Visible ASCII as it is, but for %; anything else as %HH. */
static void
message_add_field(struct str *out, const char *name, struct slice value)
{
	str_addf(out, "%s: ", name);
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] > ' ' && value.p[i] < 127 &&
		    value.p[i] != '%')
			str_addc(out, value.p[i]);
		else
			str_addf(out, "%%%02X",
			    (unsigned)(unsigned char)value.p[i]);
	str_adds(out, "\r\n");
}

static int
message_add_authorization(struct str *out, const struct client_secret *secret,
    struct err *err)
{
	struct str plain = STR_INIT;
	int result = 0;

	if (secret->password == NULL) {
		result = client_token_read(secret, &plain, err);
		if (result == 0)
			str_addf(out, "Authorization: Bearer %s\r\n",
			    plain.buf);
	} else {
		str_addf(&plain, "%s:%s", secret->user, secret->password);
		str_adds(out, "Authorization: Basic ");
		base64_add(out, str_slice(&plain));
		str_adds(out, "\r\n");
	}
	if (plain.len > 0)
		explicit_bzero(plain.buf, plain.len);
	str_release(&plain);
	return result;
}

static void
message_add_host(struct str *out, const struct http_url *url)
{
	str_addf(out, url->is_six ? "Host: [%s]" : "Host: %s", url->host);
	if (url->port != (url->is_tls ? 443 : 80))
		str_addf(out, ":%u", url->port);
	str_adds(out, "\r\n");
}

int
http_request_add(struct str *out, const struct http_url *url,
    const struct control_job *job, const struct control_rcpt *rcpt,
    uint64_t length, const struct client_secret *secret, struct err *err)
{
	str_addf(out, "POST %s" SLICE_FMT " HTTP/1.1\r\n",
	    url->target.n > 0 && url->target.p[0] == '/' ? "" : "/",
	    SLICE_ARG(url->target));
	message_add_host(out, url);
	str_adds(out, "User-Agent: zmailer/" PACKAGE_VERSION "\r\n"
	    "Content-Type: message/rfc822\r\n");
	str_addf(out, "Content-Length: %llu\r\n", (unsigned long long)length);
	message_add_field(out, "X-Envelope-From", job->sender);
	message_add_field(out, "X-Envelope-To", rcpt->user);
	if (job->envid.n > 0)
		message_add_field(out, "X-Envelope-Id", job->envid);
	message_add_field(out, "X-Message-Id", slice_of(job->id));
	str_addf(out, "X-Attempt: %u\r\nIdempotency-Key: \"%s-%u\"\r\n",
	    rcpt->tries + 1, job->id, rcpt->offset);
	if (secret != NULL && message_add_authorization(out, secret, err) < 0)
		return -1;
	str_adds(out, "\r\n");
	return 0;
}
