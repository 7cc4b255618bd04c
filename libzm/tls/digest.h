/* tls_digest.h - digests and HMAC, for authentication
 *
 * OpenSSL does the work; callers need none of its headers.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_DIGEST_H
#define ZM_TLS_DIGEST_H

#include "base/str.h"

enum digest_kind { DIGEST_MD5, DIGEST_SHA256 };

enum {
	DIGEST_MD5_BYTES = 16,
	DIGEST_SHA256_BYTES = 32,
	DIGEST_BYTES_MAX = 32
};

/* The digest of bytes into out (DIGEST_..._BYTES).  0; -1: this kind is not
 * available (MD5 under FIPS rules). */
int digest(enum digest_kind kind, struct slice bytes, unsigned char *out);

/* The same for bytes that come in pieces. */
struct digest_run;
struct digest_run *digest_begin(enum digest_kind kind);
void digest_take(struct digest_run *run, struct slice bytes);
/* The digest of what was taken so far; the run goes on.  0; -1 as digest. */
int digest_so_far(const struct digest_run *run, unsigned char *out);
/* The digest of all; frees the run and nulls *run.  0; -1 as digest. */
int digest_end(struct digest_run **run, unsigned char *out);

/* HMAC (RFC 2104).  0; -1 as digest. */
int digest_hmac(enum digest_kind kind, struct slice key, struct slice bytes,
    unsigned char *out);

/* PBKDF2 with HMAC-SHA-256: Hi() of RFC 5802 section 2.2.  out:
 * DIGEST_SHA256_BYTES.  The caller limits rounds.  0 or -1. */
int digest_pbkdf2(struct slice password, struct slice salt, unsigned rounds,
    unsigned char *out);

/* Whether two digests are equal, in a time that does not reveal where they
 * differ. */
bool digest_equal(const unsigned char *a, const unsigned char *b, size_t n);

#endif
