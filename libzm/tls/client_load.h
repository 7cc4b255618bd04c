/* client_load.h - what a client's context is filled with, and the steps of its
 * connections; internal to tls/
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_CLIENT_LOAD_H
#define ZM_TLS_CLIENT_LOAD_H

#include <openssl/ssl.h>

#include "io/cipher.h"
#include "tls/client.h"

/* Take what the PEM text has into the context: all trusted roots; a
 * certificate and those that follow as its chain; the private key of the
 * certificate that is there. 0 or -1 (err). */
typedef int tls_load_fn(SSL_CTX *ctx, BIO *bio, struct err *err);
tls_load_fn tls_load_roots, tls_load_certificate, tls_load_key;

/* All of a file, from its start, through load; nothing happens when fd is
 * -1.  what names it in err. 0 or -1. */
int tls_load(SSL_CTX *ctx, int fd, tls_load_fn *load, const char *what,
    struct err *err);

/* ---- a connection ------------------------------------------------------ */

/* An object for a handshake over peer's descriptor, which is borrowed until
 * tls_client_end.  NULL with err. */
SSL *tls_client_begin(struct tls_client *client, const struct tls_goal *goal,
    struct peer *peer, struct err *err);

/* Go on; may_wait: until the descriptor can be read (SO_RCVTIMEO), else
 * nothing blocks. */
enum cipher_step tls_client_shake(SSL *ssl, bool may_wait, struct err *err);
enum cipher_step tls_client_read(SSL *ssl, char *out, size_t n, bool may_wait,
    size_t *out_n, struct err *err);
enum cipher_step tls_client_write(SSL *ssl, const char *bytes, size_t n,
    size_t *out_n, struct err *err);

/* Say that no more will come.  Does not block. */
void tls_client_bye(SSL *ssl);

#endif
