/* made.h - certificates and clients for the tests of TLS
 *
 * Certificates are made on the spot: no file in the tree can expire.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_TLS_MADE_H
#define ZM_TESTS_TLS_MADE_H

#include <openssl/ssl.h>

#include "tls/pair.h"

struct made {			/* a certificate and its key, as files */
	char	dir[64];
	char	certificate[96], key[96];
};

/* kind: "RSA", "P-256", "ED25519".  names: "DNS:mx.example.org,DNS:..." or
 * NULL; the common name is common.  Signed by itself; good for days. */
void made_new(struct made *made, const char *kind, const char *common,
    const char *names, int days);
/* Files and directory gone. */
void made_free(struct made *made);

/* A client over a non-blocking descriptor (taken). */
SSL *made_client(SSL_CTX *context, int fd, const char *name);

#endif
