/* tls_client.c - roots, certificate and sessions; one connection's steps
 *
 * In     PEM files opened early; a descriptor per connection
 * Out    handshakes, bytes, OpenSSL's own words for what went wrong
 * Holds  one SSL_CTX and TLS_SESSIONS_MAX sessions, which the sessions of
 *        one process share
 * Trusts a certificate only by the roots and a name of the goal, or by the
 *        goal's TLSA records
 * Spec   RFC 8446, RFC 5246; RFC 6125 section 6.4 (names); RFC 8996 (no
 *        version below 1.2)
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tls/client.h"
#include "tls/client_load.h"
#include "tls/dane.h"

#include "base/banned.h"

struct kept_session {
	char		 key[TLS_KEY_BYTES];
	SSL_SESSION	*session;
};

struct tls_client {
	pthread_mutex_t	 lock;
	SSL_CTX		*ctx;		/* NULL: not yet needed */
	BIO_METHOD	*method;
	int		 roots_fd, certificate_fd, key_fd;	/* -1 none */
	bool		 are_system_roots;	/* 140 certificates: parsed for
						 * the first that is verified */
	bool		 has_roots;	/* loaded */
	struct kept_session sessions[TLS_SESSIONS_MAX];
	size_t		 session_next;
};

struct link {			/* of one SSL: under its BIO */
	struct tls_client	*client;
	struct peer		*peer;
	bool			 may_wait, is_eof;
	char			 key[TLS_KEY_BYTES];
};

static const char *const system_roots[] = {
	"/etc/ssl/certs/ca-certificates.crt",	/* Debian, Arch, Alpine */
	"/etc/pki/tls/certs/ca-bundle.crt",	/* Fedora, RHEL */
	"/etc/ssl/ca-bundle.pem",		/* SUSE */
	"/etc/ssl/cert.pem",			/* OpenBSD, FreeBSD, macOS */
	"/etc/openssl/certs/ca-certificates.crt",	/* NetBSD */
};

/* ---- files ------------------------------------------------------------- */

static int
client_file_open(const char *path, int *out_fd, struct err *err)
{
	*out_fd = -1;
	if (path == NULL)
		return 0;
	*out_fd = open(path, O_RDONLY | O_CLOEXEC);
	return *out_fd < 0 ? err_sys(err, "%s", path) : 0;
}

int
tls_system_roots_open(void)
{
	const char *set = getenv(X509_get_default_cert_file_env());
	int fd = set != NULL ? open(set, O_RDONLY | O_CLOEXEC) : -1;

	for (size_t i = 0; fd < 0 && i < sizeof(system_roots) /
	    sizeof(system_roots[0]); i++)
		fd = open(system_roots[i], O_RDONLY | O_CLOEXEC);
	return fd;
}

static int
files_open(struct tls_client *client, const struct tls_client_files *files,
    struct err *err)
{
	if (client_file_open(files->roots, &client->roots_fd, err) < 0 ||
	    client_file_open(files->certificate, &client->certificate_fd,
	    err) < 0 ||
	    client_file_open(files->key, &client->key_fd, err) < 0)
		return -1;
	client->are_system_roots = files->roots == NULL;
	if (client->are_system_roots)
		client->roots_fd = tls_system_roots_open();
	return 0;
}

/* ---- how OpenSSL reaches the descriptor -------------------------------- */

static int
bio_read(BIO *bio, char *out, int n)
{
	struct link *link = BIO_get_data(bio);
	ssize_t got = recv(link->peer->fd, out, (size_t)n,
	    link->may_wait ? 0 : MSG_DONTWAIT);

	BIO_clear_retry_flags(bio);
	link->is_eof = got == 0;
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK ||
	    errno == EINTR))
		BIO_set_retry_read(bio);
	return (int)got;
}

static int
bio_write(BIO *bio, const char *bytes, int n)
{
	struct link *link = BIO_get_data(bio);
	ssize_t sent = send(link->peer->fd, bytes, (size_t)n,
	    MSG_NOSIGNAL | MSG_DONTWAIT);

	BIO_clear_retry_flags(bio);
	if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK ||
	    errno == EINTR))
		BIO_set_retry_write(bio);
	return (int)sent;
}

static long
bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	const struct link *link = BIO_get_data(bio);

	if (command == BIO_CTRL_EOF)
		return link->is_eof;
	return command == BIO_CTRL_FLUSH;
}

static int
bio_destroy(BIO *bio)
{
	struct link *link = BIO_get_data(bio);

	mem_free(&link);
	BIO_set_data(bio, NULL);
	return 1;
}

static BIO_METHOD *
method_new(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() |
	    BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "peer");

	if (method == NULL || BIO_meth_set_read(method, bio_read) != 1 ||
	    BIO_meth_set_write(method, bio_write) != 1 ||
	    BIO_meth_set_ctrl(method, bio_ctrl) != 1 ||
	    BIO_meth_set_destroy(method, bio_destroy) != 1) {
		BIO_meth_free(method);
		return NULL;
	}
	return method;
}

static struct link *
link_of(const SSL *ssl)
{
	return BIO_get_data(SSL_get_rbio(ssl));
}

/* ---- sessions ---------------------------------------------------------- */

static struct kept_session *
session_find(struct tls_client *client, const char *key)
{
	for (size_t i = 0; i < TLS_SESSIONS_MAX; i++)
		if (client->sessions[i].session != NULL &&
		    strcmp(client->sessions[i].key, key) == 0)
			return &client->sessions[i];
	return NULL;
}

/* A server gave us one; returns 1: it is ours now. */
static int
session_keep(SSL *ssl, SSL_SESSION *session)
{
	struct link *link = link_of(ssl);
	struct tls_client *client = link->client;
	struct kept_session *kept;

	pthread_mutex_lock(&client->lock);
	kept = session_find(client, link->key);
	if (kept == NULL)
		kept = &client->sessions[client->session_next++ %
		    TLS_SESSIONS_MAX];
	SSL_SESSION_free(kept->session);
	strlcpy(kept->key, link->key, sizeof(kept->key));
	kept->session = session;
	pthread_mutex_unlock(&client->lock);
	return 1;
}

/* A copy: OpenSSL lets a session of TLS 1.3 be used once, so that nobody sees
 * two connections to be of one client (RFC 8446 appendix C.4), but everybody
 * knows ours by its address, and Postfix gives a second one only with a full
 * handshake. */
static void
session_offer(struct tls_client *client, const char *key, SSL *ssl)
{
	struct kept_session *kept;
	SSL_SESSION *copy = NULL;

	pthread_mutex_lock(&client->lock);
	kept = session_find(client, key);
	if (kept != NULL && SSL_SESSION_is_resumable(kept->session))
		copy = SSL_SESSION_dup(kept->session);
	pthread_mutex_unlock(&client->lock);
	if (copy != NULL)
		SSL_set_session(ssl, copy);
	SSL_SESSION_free(copy);
}

/* ---- life -------------------------------------------------------------- */

static int
ctx_fill(struct tls_client *client, SSL_CTX *ctx, struct err *err)
{
	int key_fd = client->key_fd >= 0 ? client->key_fd :
	    client->certificate_fd;

	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION |
	    SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
	    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT |
	    SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, session_keep);
	if (SSL_CTX_dane_enable(ctx) <= 0)
		return tls_err(err, "DANE");
	if (tls_load(ctx, client->certificate_fd, tls_load_certificate,
	    "own certificate", err) < 0)
		return -1;
	return client->certificate_fd < 0 ? 0 : tls_load(ctx, key_fd,
	    tls_load_key, "own key", err);
}

static int
ctx_make(struct tls_client *client, struct err *err)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	if (client->method == NULL)
		client->method = method_new();
	if (ctx == NULL || client->method == NULL) {
		SSL_CTX_free(ctx);
		return tls_err(err, "TLS");
	}
	if (ctx_fill(client, ctx, err) < 0) {
		SSL_CTX_free(ctx);
		return -1;
	}
	client->ctx = ctx;
	return 0;
}

/* Roots that a statement names are few and always known; the system's are
 * read when somebody must be verified, not to call a stranger one. */
static int
roots_need(struct tls_client *client, bool is_strict, struct err *err)
{
	if (client->has_roots || (client->are_system_roots && !is_strict))
		return 0;
	if (tls_load(client->ctx, client->roots_fd, tls_load_roots,
	    "trusted roots", err) < 0)
		return -1;
	client->has_roots = true;
	return 0;
}

struct tls_client *
tls_client_new(const struct tls_client_files *files, struct err *err)
{
	struct tls_client *client = mem_alloc(1, sizeof(*client));

	pthread_mutex_init(&client->lock, NULL);
	client->roots_fd = client->certificate_fd = client->key_fd = -1;
	/* its own file (openssl.cnf) is read now, too; all the rest, which
	 * is large, when it is needed */
	OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL);
	if (files_open(client, files, err) < 0)
		tls_client_free(&client);
	return client;
}

void
tls_client_free(struct tls_client **client)
{
	struct tls_client *old = *client;

	if (old == NULL)
		return;
	for (size_t i = 0; i < TLS_SESSIONS_MAX; i++)
		SSL_SESSION_free(old->sessions[i].session);
	SSL_CTX_free(old->ctx);
	BIO_meth_free(old->method);
	if (old->roots_fd >= 0)
		close(old->roots_fd);
	if (old->certificate_fd >= 0)
		close(old->certificate_fd);
	if (old->key_fd >= 0)
		close(old->key_fd);
	pthread_mutex_destroy(&old->lock);
	mem_free(client);
}

/* ---- a connection ------------------------------------------------------ */

static bool
is_address(const char *name)
{
	unsigned char bytes[16];

	return inet_pton(AF_INET, name, bytes) == 1 ||
	    inet_pton(AF_INET6, name, bytes) == 1;
}

static int
names_set(SSL *ssl, const struct tls_goal *goal)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

	X509_VERIFY_PARAM_set_hostflags(param, goal->is_exact ?
	    X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT :
	    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (goal->name_count == 1 && is_address(goal->names[0]))
		return X509_VERIFY_PARAM_set1_ip_asc(param, goal->names[0]);
	for (size_t i = 0; i < goal->name_count; i++)
		if (X509_VERIFY_PARAM_add1_host(param, goal->names[i], 0) != 1)
			return 0;
	return 1;
}

/* A server that is not asked who it is may be of a weaker kind, too: any
 * encryption is better than none. */
static int
goal_set(SSL *ssl, const struct tls_goal *goal)
{
	SSL_set_verify(ssl, goal->is_strict ? SSL_VERIFY_PEER :
	    SSL_VERIFY_NONE, NULL);
	if (!goal->is_strict)
		SSL_set_security_level(ssl, 1);
	if (goal->tlsa != NULL && !tls_dane_set(ssl, goal))
		return 0;
	if (goal->sni[0] != '\0' && !is_address(goal->sni) &&
	    SSL_set_tlsext_host_name(ssl, goal->sni) != 1)
		return 0;
	return names_set(ssl, goal);
}

static BIO *
bio_of(struct tls_client *client, const struct tls_goal *goal,
    struct peer *peer)
{
	BIO *bio = BIO_new(client->method);
	struct link *link;

	if (bio == NULL)
		return NULL;
	link = mem_alloc(1, sizeof(*link));
	link->client = client;
	link->peer = peer;
	strlcpy(link->key, goal->key, sizeof(link->key));
	BIO_set_data(bio, link);
	BIO_set_init(bio, 1);
	return bio;
}

/* What the first connection needs, and the first strict one. */
static int
client_prepare(struct tls_client *client, bool is_strict, struct err *err)
{
	int result = 0;

	pthread_mutex_lock(&client->lock);
	if ((client->ctx == NULL && ctx_make(client, err) < 0) ||
	    roots_need(client, is_strict, err) < 0)
		result = -1;
	pthread_mutex_unlock(&client->lock);
	return result;
}

SSL *
tls_client_begin(struct tls_client *client, const struct tls_goal *goal,
    struct peer *peer, struct err *err)
{
	BIO *bio;
	SSL *ssl;

	ERR_clear_error();
	if (client_prepare(client, (goal->is_strict || goal->is_judged) &&
	    goal->tlsa == NULL, err) < 0)
		return NULL;
	ssl = SSL_new(client->ctx);
	bio = ssl != NULL ? bio_of(client, goal, peer) : NULL;
	if (bio == NULL) {
		tls_err(err, "TLS");
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_bio(ssl, bio, bio);
	if (goal_set(ssl, goal) != 1) {
		tls_err(err, "TLS");
		SSL_free(ssl);
		return NULL;
	}
	session_offer(client, goal->key, ssl);
	SSL_set_connect_state(ssl);
	return ssl;
}

/* A certificate that was refused says more than "handshake failed". */
static void
broken_words(SSL *ssl, int kept_errno, struct err *err)
{
	long verified = SSL_get_verify_result(ssl);

	if (SSL_in_init(ssl) && verified != X509_V_OK &&
	    SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE) {
		ERR_clear_error();
		err_set(err, "certificate: %s",
		    X509_verify_cert_error_string(verified));
	} else if (ERR_peek_error() != 0) {
		tls_err(err, "TLS");
	} else if (kept_errno != 0) {
		errno = kept_errno;
		err_sys(err, "TLS");
	} else {
		err_set(err, "TLS: the connection was cut");
	}
}

static enum cipher_step
step_of(SSL *ssl, int result, struct err *err)
{
	int kept_errno = errno;

	switch (SSL_get_error(ssl, result)) {
	case SSL_ERROR_NONE:
		return CIPHER_DONE;
	case SSL_ERROR_WANT_READ:
		return CIPHER_WANT_READ;
	case SSL_ERROR_WANT_WRITE:
		return CIPHER_WANT_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		err_set(err, "the peer closed the connection");
		return CIPHER_EOF;
	default:
		broken_words(ssl, kept_errno, err);
		return CIPHER_BROKEN;
	}
}

enum cipher_step
tls_client_shake(SSL *ssl, bool may_wait, struct err *err)
{
	link_of(ssl)->may_wait = may_wait;
	ERR_clear_error();
	errno = 0;
	return step_of(ssl, SSL_do_handshake(ssl), err);
}

enum cipher_step
tls_client_read(SSL *ssl, char *out, size_t n, bool may_wait, size_t *out_n,
    struct err *err)
{
	link_of(ssl)->may_wait = may_wait;
	ERR_clear_error();
	errno = 0;
	return step_of(ssl, SSL_read_ex(ssl, out, n, out_n), err);
}

enum cipher_step
tls_client_write(SSL *ssl, const char *bytes, size_t n, size_t *out_n,
    struct err *err)
{
	link_of(ssl)->may_wait = false;
	ERR_clear_error();
	errno = 0;
	return step_of(ssl, SSL_write_ex(ssl, bytes, n, out_n), err);
}

/* Without it OpenSSL would not let the session be resumed. */
void
tls_client_bye(SSL *ssl)
{
	if (SSL_is_init_finished(ssl)) {
		link_of(ssl)->may_wait = false;
		(void)SSL_shutdown(ssl);
	}
	ERR_clear_error();
}

/* ---- of a peer --------------------------------------------------------- */

static enum cipher_step
client_shake(void *ssl, struct err *err)
{
	return tls_client_shake(ssl, true, err);
}

static enum cipher_step
client_read(void *ssl, char *out, size_t n, bool may_wait, size_t *out_n,
    struct err *err)
{
	return tls_client_read(ssl, out, n, may_wait, out_n, err);
}

static enum cipher_step
client_write(void *ssl, const char *bytes, size_t n, size_t *out_n,
    struct err *err)
{
	return tls_client_write(ssl, bytes, n, out_n, err);
}

static void
client_end(void *ssl)
{
	tls_client_bye(ssl);
	SSL_free(ssl);
}

static const struct peer_cipher client_cipher = {
	.shake = client_shake, .read = client_read, .write = client_write,
	.end = client_end
};

enum peer_result
peer_start_tls(struct peer *peer, struct tls_client *client,
    const struct tls_goal *goal, int64_t deadline_ms,
    struct tls_info *out_info, struct err *err)
{
	SSL *ssl = tls_client_begin(client, goal, peer, err);
	enum peer_result result;

	memset(out_info, 0, sizeof(*out_info));
	if (ssl == NULL)
		return PEER_ERROR;
	result = peer_encrypt(peer, &client_cipher, ssl, deadline_ms, err);
	if (result == PEER_OK)
		tls_info_fill(ssl, out_info);
	if (result == PEER_OK && goal->tlsa != NULL)
		tls_dane_tell(ssl, out_info);
	return result;
}
