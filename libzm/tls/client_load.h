/* client_load.h - loading a client's context, and the steps of its connections;
 * internal to tls/
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_CLIENT_LOAD_H
#define ZM_TLS_CLIENT_LOAD_H

#include <openssl/ssl.h>

#include "io/cipher.h"
#include "tls/client.h"

/* Load PEM text into the context: all trusted roots; a certificate with those
 * that follow as its chain; the private key of the loaded certificate.  0 or -1
 * (err). */
typedef int tls_load_fn(SSL_CTX *ctx, BIO *bio, struct err *err);
tls_load_fn tls_load_roots, tls_load_certificate, tls_load_key;

/* Load a whole file from its start by load; does nothing if fd is -1.  what
 * names it in err.  0 or -1. */
int tls_load(SSL_CTX *ctx, int fd, tls_load_fn *load, const char *what,
    struct err *err);

/* Open the file of the roots that this system trusts.  -1: it has none. */
int tls_system_roots_open(void);

/* ---- a connection ------------------------------------------------------ */

/* Begin a handshake over peer's descriptor, which is borrowed.  NULL with
 * err. */
SSL *tls_client_begin(struct tls_client *client, const struct tls_goal *goal,
    struct peer *peer, struct err *err);

/* Continue the handshake, read, or write.  may_wait: block until the descriptor
 * can be read (SO_RCVTIMEO); otherwise nothing blocks.  *out_n: the bytes read
 * or written. */
enum cipher_step tls_client_shake(SSL *ssl, bool may_wait, struct err *err);
enum cipher_step tls_client_read(SSL *ssl, char *out, size_t n, bool may_wait,
    size_t *out_n, struct err *err);
enum cipher_step tls_client_write(SSL *ssl, const char *bytes, size_t n,
    size_t *out_n, struct err *err);

/* Send close_notify.  Does not block. */
void tls_client_bye(SSL *ssl);

#endif
