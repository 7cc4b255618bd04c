/* tls.h - what either side knows of a TLS connection
 *
 * Server side: link.h; client side: client.h.  OpenSSL is seen only by the
 * files of this folder.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_H
#define ZM_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	TLS_NAME_BYTES = 128,
	TLS_DN_BYTES = 512,		/* of a distinguished name, as text */
	TLS_FINGERPRINT_BYTES = 65	/* SHA-256 in hex, and the NUL */
};

struct tls_info {		/* of a finished handshake, for people */
	char	version[16];		/* "TLSv1.3" */
	char	cipher[64];		/* "TLS_AES_256_GCM_SHA384" */
	int	bits;
	char	peer[TLS_NAME_BYTES];	/* common name of the certificate the
					 * other side showed; "" none */
	bool	is_verified;		/* it leads to a known root and, on
					 * the client side, has the name */
	char	fingerprint[TLS_FINGERPRINT_BYTES];	/* of it; "" none */
	/* Its distinguished names as in RFC 2253, ASCII; "" none, or one that
	 * has no room.  And the common name of who issued it. */
	char	subject[TLS_DN_BYTES], issuer[TLS_DN_BYTES];
	char	issuer_peer[TLS_NAME_BYTES];
	char	asked[TLS_NAME_BYTES];	/* SNI, "" none */
	bool	is_resumed;
	char	why[TLS_NAME_BYTES];	/* !is_verified: OpenSSL's words */
	char	tlsa[64];		/* what TLSA records said of it, in
					 * words: "TLSA 3 1 1 matched"; ""
					 * there were none */
};

struct ssl_st;

struct x509_st;

/* SHA-256 of a certificate in hex into out[TLS_FINGERPRINT_BYTES]; "" if it
 * cannot be computed. */
void tls_fingerprint(const struct x509_st *certificate, char *out);

/* Fill *out from a connection whose handshake is done. */
void tls_info_fill(const struct ssl_st *ssl, struct tls_info *out);

/* Has the certificate that the other side showed this DNS name, written out?
 * It was verified if the handshake asked for that. */
bool tls_shows_name(const struct ssl_st *ssl, const char *name);
/* When it ends (wall, seconds); 0: there is none. */
int64_t tls_shown_ends_s(const struct ssl_st *ssl);

/* "TLSv1.3 TLS_AES_256_GCM_SHA384 256 bits, verified mx.example.org":
 * one line, control characters replaced. */
void tls_info_add(struct str *out, const struct tls_info *info);

/* Put the oldest of OpenSSL's errors into err ("what: words") and drop the
 * rest.  returns -1. */
int tls_err(struct err *err, const char *what);

#endif
