/* tls_sign.h - signing for a handshake when the private key is elsewhere
 *
 * One side has a certificate and, instead of its key, a number; the other
 * side has the key.  What crosses between them is struct tls_signing and a
 * signature.
 *
 * tls_remote_key makes an OpenSSL key for the first side, by a provider of our
 * own (in its own library context, so that nothing else of OpenSSL is
 * affected).  tls_sign does the work on the second side, and signs only what a
 * TLS server signs in a handshake, so that an attacker who takes over the first
 * side cannot have anything else signed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_SIGN_H
#define ZM_TLS_SIGN_H

#include "base/err.h"
#include "base/str.h"

enum { TLS_SIGNED_BYTES_MAX = 512 };	/* of what is to be signed */

struct tls_signing {
	unsigned	 key;		/* its number */
	char		 digest[16];	/* "SHA2-256"; "" Ed25519 */
	bool		 is_pss;	/* RSA-PSS, salt as the digest */
	struct slice	 bytes;		/* as the RFCs have them, unhashed */
};

/* Sign for a key that tls_remote_key made.  Appends to out.
 * returns 0 or -1. */
typedef int tls_sign_fn(void *context, const struct tls_signing *what,
    struct str *out);

struct tls_remote {		/* a private key that is elsewhere */
	unsigned	 number;
	tls_sign_fn	*fn;
	void		*context;
};

struct evp_pkey_st;
struct x509_st;

/* The private key of certificate, for OpenSSL; remote (copied) does its
 * work.  returns NULL with err; free with EVP_PKEY_free. */
struct evp_pkey_st *tls_remote_key(struct x509_st *certificate,
    const struct tls_remote *remote, struct err *err);

/* Sign with the key itself; anything but a handshake is refused.
 * returns 0; -1 with err. */
int tls_sign(struct evp_pkey_st *key, const struct tls_signing *what,
    struct str *out, struct err *err);

#endif
