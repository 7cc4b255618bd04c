/* client_load.h - what a client's context is filled with; internal to tls/
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_CLIENT_LOAD_H
#define ZM_TLS_CLIENT_LOAD_H

#include <openssl/ssl.h>

#include "base/err.h"

/* Take what the PEM text has into the context: all trusted roots; a
 * certificate and those that follow as its chain; the private key of the
 * certificate that is there. 0 or -1 (err). */
typedef int tls_load_fn(SSL_CTX *ctx, BIO *bio, struct err *err);
tls_load_fn tls_load_roots, tls_load_certificate, tls_load_key;

/* All of a file, from its start, through load; nothing happens when fd is
 * -1.  what names it in err. 0 or -1. */
int tls_load(SSL_CTX *ctx, int fd, tls_load_fn *load, const char *what,
    struct err *err);

#endif
