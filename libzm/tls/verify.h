/* tls_verify.h - whether a signature is that of a public key
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_VERIFY_H
#define ZM_TLS_VERIFY_H

#include "base/str.h"

enum {
	VERIFY_BITS_MAX = 8192,		/* longer keys cost others' time */
	VERIFY_ED25519_KEY_BYTES = 32,
	VERIFY_KEPT_PAIRS = 128,	/* of slots; a power of two */
	VERIFY_KEPT_BYTES_MAX = 1200	/* a key of VERIFY_BITS_MAX; some 2 MB
					 * in all */
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

/* Keep keys as they were read, for the next signature by one of them.  For a
 * process of one thread that verifies again and again; false: forget them.
 * What is no key is not kept.  Keys that are used once push out no key that
 * was used twice.  Whether a key still counts is not known here: the caller
 * says each time which key it is. */
void verify_keep_keys(bool is_wanted);
/* How many are kept (for tests). */
size_t verify_kept_count(void);

#endif
