/* link.c - the server's side of one TLS connection
 *
 * In     a socket, a server
 * Out    plain bytes for encrypted ones, and the other way
 * Holds  OpenSSL's state; buffers of a record only while one is under way;
 *        a fibre's stack only while a signature is waited for
 * Trusts nothing that comes: OpenSSL judges it
 * Spec   RFC 8446; RFC 5246
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <openssl/async.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "tls/link.h"

#include "base/banned.h"

#ifndef MSG_MORE
#define MSG_MORE 0
#endif

struct tls_link {
	SSL		*ssl;
	struct tls_server *server;
	int		 fd;		/* -1: nobody wants it any more */
	bool		 is_eof;	/* the socket's */
	bool		 is_drained;	/* nothing more there in this turn */
	bool		 is_open;	/* the handshake is done */
	bool		 is_broken;
	bool		 is_asleep, wants_write;
	bool		 expects_end;	/* it follows what is written */
	stream_fn	*wake;
	void		*context;
};

static struct tls_link *current;

/* ---- the socket ------------------------------------------------------- */

/* One recv a turn, unless it got all it had room for: what is left wakes
 * the loop again. */
static int
link_socket_read(BIO *bio, char *out, size_t n, size_t *out_n)
{
	struct tls_link *link = BIO_get_data(bio);
	ssize_t got;

	BIO_clear_retry_flags(bio);
	if (link->fd < 0 || link->is_eof)
		return 0;
	if (link->is_drained) {
		BIO_set_retry_read(bio);
		return 0;
	}
	do
		got = recv(link->fd, out, n, 0);
	while (got < 0 && errno == EINTR);
	link->is_drained = got < (ssize_t)n;
	link->is_eof = got == 0;
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		BIO_set_retry_read(bio);
	if (got <= 0)
		return 0;
	*out_n = (size_t)got;
	return 1;
}

/* Nobody waits for a ticket (RFC 8446 section 4.6.1): it leaves in one packet
 * with the answer to the client's first command, or a fifth of a second later;
 * and the last words leave with their end. */
static int
link_send_flags(const struct tls_link *link)
{
	bool is_ticket = !link->is_open &&
	    SSL_get_state(link->ssl) == TLS_ST_SW_SESSION_TICKET;

	return MSG_NOSIGNAL | (is_ticket || link->expects_end ? MSG_MORE : 0);
}

static int
link_socket_write(BIO *bio, const char *bytes, size_t n, size_t *out_n)
{
	struct tls_link *link = BIO_get_data(bio);
	ssize_t sent;

	BIO_clear_retry_flags(bio);
	if (link->fd < 0)
		return 0;
	do
		sent = send(link->fd, bytes, n, link_send_flags(link));
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		BIO_set_retry_write(bio);
	if (sent < 0)
		return 0;
	*out_n = (size_t)sent;
	return 1;
}

static long
link_socket_control(BIO *bio, int command, long number, void *pointer)
{
	struct tls_link *link = BIO_get_data(bio);

	if (command == BIO_CTRL_EOF)
		return link->is_eof;
	return command == BIO_CTRL_FLUSH;	/* nothing is kept back */
}

static BIO *
link_socket_bio(struct tls_link *link)
{
	static BIO_METHOD *method;
	BIO *bio;

	if (method == NULL) {
		method = BIO_meth_new(BIO_get_new_index() |
		    BIO_TYPE_SOURCE_SINK, "stream");
		if (method == NULL)
			return NULL;
		BIO_meth_set_read_ex(method, link_socket_read);
		BIO_meth_set_write_ex(method, link_socket_write);
		BIO_meth_set_ctrl(method, link_socket_control);
	}
	bio = BIO_new(method);
	if (bio != NULL) {
		BIO_set_data(bio, link);
		BIO_set_init(bio, 1);
	}
	return bio;
}

/* ---- life ------------------------------------------------------------- */

static void *
link_new(void *with, int fd, stream_fn *wake, void *context,
    struct err *err)
{
	struct tls_server *server = with;
	struct tls_link *link = mem_alloc(1, sizeof(*link));
	BIO *bio = link_socket_bio(link);

	link->ssl = tls_server_ssl(server);
	if (link->ssl == NULL || bio == NULL) {
		SSL_free(link->ssl);
		BIO_free(bio);
		mem_free(&link);
		tls_err(err, "cannot begin TLS");
		return NULL;
	}
	SSL_set_bio(link->ssl, bio, bio);
	SSL_set_accept_state(link->ssl);
	if (ASYNC_is_capable())
		SSL_set_mode(link->ssl, SSL_MODE_ASYNC);
	link->server = tls_server_hold(server);
	link->fd = fd;
	link->wake = wake;
	link->context = context;
	return link;
}

static void
link_release(struct tls_link *link)
{
	SSL_free(link->ssl);
	tls_server_drop(&link->server);
	mem_free(&link);
}

/* ---- the handshake ---------------------------------------------------- */

static void
link_fail_words(struct tls_link *link, int why, struct err *err)
{
	unsigned long code = ERR_peek_error();
	long verified = SSL_get_verify_result(link->ssl);

	if (link->is_eof && code == 0)
		err_set(err, "the client closed the connection");
	else if (why == SSL_ERROR_SYSCALL && code == 0)
		err_set(err, "the connection broke");
	else if (ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED)
		err_set(err, "certificate: %s",
		    X509_verify_cert_error_string(verified));
	else
		err_set(err, "%s", ERR_reason_error_string(code) != NULL ?
		    ERR_reason_error_string(code) : "no reason given");
	ERR_clear_error();
}

static enum cipher_step
link_shake(void *state, struct err *err)
{
	struct tls_link *link = state;
	struct tls_link *before = current;
	int result, why;

	if (link->is_open)
		return CIPHER_DONE;
	if (link->is_broken) {
		err_set(err, "the handshake has failed");
		return CIPHER_BROKEN;
	}
	ERR_clear_error();
	current = link;
	result = SSL_do_handshake(link->ssl);
	current = before;
	why = result == 1 ? SSL_ERROR_NONE :
	    SSL_get_error(link->ssl, result);
	link->is_asleep = why == SSL_ERROR_WANT_ASYNC;
	link->wants_write = why == SSL_ERROR_WANT_WRITE;
	if (result == 1) {
		link->is_open = true;
		SSL_clear_mode(link->ssl, SSL_MODE_ASYNC);
		return CIPHER_DONE;
	}
	if (link->wants_write)
		return CIPHER_WANT_WRITE;
	if (link->is_asleep || why == SSL_ERROR_WANT_READ)
		return CIPHER_WANT_READ;
	link->is_broken = true;
	link_fail_words(link, why, err);
	return CIPHER_BROKEN;
}

/* A fibre that sleeps must come to its end before it can be freed. */
static void
link_orphan_wake(void *context)
{
	struct tls_link *link = context;
	struct err err;

	(void)link_shake(link, &err);
	if (!link->is_asleep)
		link_release(link);
}

static void
link_free(void *state)
{
	struct tls_link *link = state;

	link->fd = -1;
	if (!link->is_asleep) {
		link_release(link);
		return;
	}
	link->wake = link_orphan_wake;
	link->context = link;
}

struct tls_link *
tls_link_current(void)
{
	return current;
}

bool
tls_link_pause(void)
{
	struct tls_link *link = current;

	if (link == NULL || ASYNC_get_current_job() == NULL)
		return false;
	return ASYNC_pause_job() == 1;
}

void
tls_link_wake(struct tls_link *link)
{
	link->wake(link->context);
}

static bool
link_is_asleep(const void *state)
{
	const struct tls_link *link = state;

	return link->is_asleep;
}

/* ---- bytes ------------------------------------------------------------ */

/* Who comes back from a signature knows no more of the socket than before. */
static void
link_turn(void *state)
{
	struct tls_link *link = state;

	if (!link->is_asleep)
		link->is_drained = false;
}

static ssize_t
tls_link_read(void *state, char *out, size_t n)
{
	struct tls_link *link = state;
	size_t got;
	int why;

	if (link->is_broken)
		return STREAM_BROKEN;
	ERR_clear_error();
	if (SSL_read_ex(link->ssl, out, n, &got) == 1)
		return (ssize_t)got;
	why = SSL_get_error(link->ssl, 0);
	link->wants_write = why == SSL_ERROR_WANT_WRITE;
	if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
		return STREAM_NOTHING;
	ERR_clear_error();
	if (why == SSL_ERROR_ZERO_RETURN || link->is_eof)
		return STREAM_EOF;
	link->is_broken = true;
	return STREAM_BROKEN;
}

static ssize_t
tls_link_write(void *state, struct slice bytes)
{
	struct tls_link *link = state;
	size_t done = 0, n;

	if (link->is_broken)
		return -1;
	link->wants_write = false;
	while (done < bytes.n) {
		int why;

		ERR_clear_error();
		if (SSL_write_ex(link->ssl, bytes.p + done, bytes.n - done,
		    &n) == 1) {
			done += n;
			continue;
		}
		why = SSL_get_error(link->ssl, 0);
		link->wants_write = why == SSL_ERROR_WANT_WRITE;
		if (why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_WANT_READ)
			break;
		ERR_clear_error();
		link->is_broken = true;
		return -1;
	}
	return (ssize_t)done;
}

static bool
link_wants_write(const void *state)
{
	const struct tls_link *link = state;

	return link->wants_write;
}

static void
link_end(void *state)
{
	struct tls_link *link = state;

	if (!link->is_open || link->is_broken)
		return;
	ERR_clear_error();
	(void)SSL_shutdown(link->ssl);
	ERR_clear_error();
}

static void
link_expect_end(void *state)
{
	struct tls_link *link = state;

	link->expects_end = true;
}

static const struct stream_cipher link_cipher = {
	.new = link_new, .release = link_free, .shake = link_shake,
	.turn = link_turn, .read = tls_link_read, .write = tls_link_write,
	.wants_write = link_wants_write, .is_asleep = link_is_asleep,
	.end = link_end, .expect_end = link_expect_end
};

int
stream_start_tls(struct stream *stream, struct tls_server *server,
    size_t *out_dropped, struct err *err)
{
	return stream_encrypt(stream, &link_cipher, server, out_dropped, err);
}

/* ---- what it came to -------------------------------------------------- */

void
stream_tls_info(const struct stream *stream, struct tls_info *out)
{
	const struct tls_link *link = stream_cipher_state(stream);

	tls_info_fill(link->ssl, out);
}

bool
stream_tls_shows_name(const struct stream *stream, const char *name)
{
	const struct tls_link *link = stream_cipher_state(stream);

	return stream_tls(stream) == STREAM_ENCRYPTED &&
	    SSL_get_verify_result(link->ssl) == X509_V_OK &&
	    tls_shows_name(link->ssl, name);
}

/* The hash of the certificate's own signature, but SHA-256 at the least. */
static const EVP_MD *
link_end_point_digest(const X509 *certificate)
{
	int digest, key;

	if (OBJ_find_sigid_algs(X509_get_signature_nid(certificate), &digest,
	    &key) != 1 || digest == NID_undef || digest == NID_md5 ||
	    digest == NID_sha1)
		return EVP_sha256();
	return EVP_get_digestbynid(digest);
}

size_t
stream_tls_binding(const struct stream *stream, enum tls_binding kind,
    char out[64])
{
	const struct tls_link *link = stream_cipher_state(stream);
	static const char label[] = "EXPORTER-Channel-Binding";
	unsigned char hash[EVP_MAX_MD_SIZE];
	const X509 *certificate;
	unsigned n = 0;

	if (stream_tls(stream) != STREAM_ENCRYPTED)
		return 0;
	certificate = SSL_get_certificate(link->ssl);
	if (kind == TLS_EXPORTER)
		return SSL_export_keying_material(link->ssl,
		    (unsigned char *)out, 32, label, sizeof(label) - 1, NULL,
		    0, 0) == 1 ? 32 : 0;
	if (certificate == NULL || link_end_point_digest(certificate) == NULL ||
	    X509_digest(certificate, link_end_point_digest(certificate), hash,
	    &n) != 1 || n > 64)
		return 0;
	memcpy(out, hash, n);
	return n;
}
