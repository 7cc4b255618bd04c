/* tls_verify.h - whether a signature is that of a public key
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_VERIFY_H
#define ZM_TLS_VERIFY_H

#include "base/str.h"

enum {
	VERIFY_BITS_MAX = 8192,		/* longer keys cost others' time */
	VERIFY_ED25519_KEY_BYTES = 32
};

enum verify_kind {
	VERIFY_RSA_SHA256,	/* RFC 8017 section 8.2; the key is DER, a
				 * SubjectPublicKeyInfo or an RSAPublicKey */
	VERIFY_ED25519_SHA256	/* RFC 8463: of the sum; the key is 32 bytes
				 * (RFC 8032) */
};

enum verify_result { VERIFY_NO_KEY = -1, VERIFY_WRONG, VERIFY_RIGHT };

/* Is this the signature of bytes?  *out_bits: the key's length, 0 if it is no
 * key. */
enum verify_result verify_signature(enum verify_kind kind, struct slice key,
    struct slice bytes, struct slice signature, unsigned *out_bits);

#endif
