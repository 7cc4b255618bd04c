/* tls_dkim.h - RSA keys for signatures in mail (RFC 6376)
 *
 * A private key is PEM text (PKCS #8) as openssl genpkey and opendkim-genkey
 * make it; a public one is what stands after p= in the DNS: base64 of a
 * SubjectPublicKeyInfo (RFC 6376 section 3.6.1).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_DKIM_H
#define ZM_TLS_DKIM_H

#include "base/err.h"
#include "base/str.h"

enum {
	DKIM_BITS_MIN = 1024, DKIM_BITS = 2048, DKIM_BITS_MAX = 4096,
	DKIM_PUBLIC_BYTES_MAX = 1024	/* of base64, 4096 bits have 736 */
};

/* Make a key, append it as PEM.  returns 0 or -1. */
int dkim_key_make(unsigned bits, struct str *out_pem, struct err *err);

/* Append the public half.  returns 0; -1: this is no RSA key in PEM. */
int dkim_key_public(struct slice pem, struct str *out, struct err *err);

enum dkim_fit {
	DKIM_KEY_BAD = -1,
	DKIM_KEY_DIFFERS = 0,
	DKIM_KEY_FITS = 1
};

/* Does the public key hold good what the private key signs?  A sample is
 * signed and verified.  returns DKIM_KEY_BAD when one of them is no key. */
enum dkim_fit dkim_key_fits(struct slice pem, struct slice public_key,
    struct err *err);

#endif
