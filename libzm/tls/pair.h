/* tls_pair.h - a chain of certificates and the private key of its first
 *
 * Loaded from two PEM files (which may be one) by processes that may read keys:
 * the process that keeps the keys, and `zmailer check`.  RSA, ECDSA and Ed25519
 * keys, without a pass phrase.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_PAIR_H
#define ZM_TLS_PAIR_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "tls/tls.h"

enum {
	TLS_FILE_BYTES_MAX = 1 << 20,	/* of a PEM file */
	TLS_CHAIN_MAX = 16		/* certificates in a chain */
};

struct evp_pkey_st;

struct tls_pair {
	struct str		 chain;	/* DER, one after the other */
	struct evp_pkey_st	*key;
	const char		*kind;	/* "RSA" "EC" "ED25519", static */
	int64_t			 begins_s, expires_s;	/* wall */
	char			 subject[128];	/* common name or first name */
	char			 fingerprint[TLS_FINGERPRINT_BYTES];
};

/* Load both files, and check that the key belongs to the certificate.  Dates
 * are reported, not checked.  returns 0; -1 (err names the file). */
int tls_pair_load(struct tls_pair *pair, const char *certificate_file,
    const char *key_file, struct err *err);
/* The same with the texts of these files, read by somebody else. */
int tls_pair_parse(struct tls_pair *pair, struct slice certificate,
    const char *certificate_file, struct slice key, const char *key_file,
    struct err *err);
/* Free the pair's content; accepts a zeroed pair. */
void tls_pair_release(struct tls_pair *pair);

/* Is there at least one certificate (of an authority) in this PEM text?
 * 0 or -1. */
int tls_roots_check(struct slice pem, struct err *err);

/* Read a whole file into out, at most TLS_FILE_BYTES_MAX.  0 or -1 (err). */
int tls_file_read(const char *file, struct str *out, struct err *err);

#endif
