/* tls_dkim.h - keys for signatures in mail (RFC 6376, 8463)
 *
 * A private key is PEM text (PKCS #8) as openssl genpkey and opendkim-genkey
 * make it, RSA or Ed25519; a public one is what follows p= in the DNS: base64
 * of a SubjectPublicKeyInfo (RFC 6376 section 3.6.1), or of the 32 bytes of an
 * Ed25519 key (RFC 8463 section 4).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_DKIM_H
#define ZM_TLS_DKIM_H

#include <sys/stat.h>

#include "base/err.h"
#include "base/str.h"
#include "tls/verify.h"

enum {
	DKIM_BITS_MIN = 1024, DKIM_BITS = 2048, DKIM_BITS_MAX = 4096,
	DKIM_PUBLIC_BYTES_MAX = 1024	/* of base64, 4096 bits have 736 */
};

struct evp_pkey_st;

/* Make a key and append it as PEM.  bits is for RSA only.  returns 0 or -1. */
int dkim_key_make(enum verify_kind kind, unsigned bits, struct str *out_pem,
    struct err *err);

/* Read a private key; freed by dkim_private_free.  NULL (err): it is no key in
 * PEM without a pass phrase, or an RSA key of fewer than DKIM_BITS_MIN or more
 * than DKIM_BITS_MAX bits. */
struct evp_pkey_st *dkim_private_read(struct slice pem, struct err *err);
/* The same of a file, which err names. */
struct evp_pkey_st *dkim_private_load(const char *file, struct err *err);
/* The same of DIR/NAME, where NAME comes from a table: one name without a
 * slash, of a regular file, no link.  *out_seen is the file as it was read. */
struct evp_pkey_st *dkim_private_load_beneath(const char *dir,
    const char *name, struct stat *out_seen, struct err *err);
/* NULL is harmless; sets *key to NULL. */
void dkim_private_free(struct evp_pkey_st **key);
enum verify_kind dkim_private_kind(const struct evp_pkey_st *key);

/* Sign a digest of DIGEST_SHA256_BYTES and append the signature's bytes.
 * returns 0 or -1. */
int dkim_private_sign(struct evp_pkey_st *key, const unsigned char *sum,
    struct str *out, struct err *err);

/* Append the public key of a private one, as it is after p=; *out_kind is its
 * kind.  returns 0; -1 as dkim_private_read. */
int dkim_key_public(struct slice pem, struct str *out,
    enum verify_kind *out_kind, struct err *err);

enum dkim_fit {
	DKIM_KEY_BAD = -1,
	DKIM_KEY_DIFFERS = 0,
	DKIM_KEY_FITS = 1
};

/* Do the two keys belong together?  A sample is signed and verified.  returns
 * DKIM_KEY_BAD when one of them is no key. */
enum dkim_fit dkim_key_fits(struct slice pem, struct slice public_key,
    struct err *err);

#endif
