/* tls_sign.c - the side that has the private key
 *
 * In     what somebody wants signed
 * Out    a signature, or a refusal
 * Trusts nobody who asks: digests are those of TLS, bytes those of a
 *        handshake
 * Spec   RFC 8446 section 4.4.3; RFC 8422 section 5.4; RFC 8017 section 8
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <string.h>

#include "tls/tls.h"
#include "tls/sign.h"

#include "base/banned.h"

enum { PAD_BYTES = 64, RANDOM_BYTES = 32, NAMED_CURVE = 3 };

/* 64 blanks, the words with their NUL, a hash. */
static bool
is_tls13(struct slice bytes)
{
	static const char words[] = "TLS 1.3, server CertificateVerify";
	size_t head = PAD_BYTES + sizeof(words);

	if (bytes.n < head + 32 || bytes.n > head + 64)
		return false;
	for (size_t i = 0; i < PAD_BYTES; i++)
		if (bytes.p[i] != ' ')
			return false;
	return memcmp(bytes.p + PAD_BYTES, words, sizeof(words)) == 0;
}

/* Both randoms, a named curve, a point with its length. */
static bool
is_tls12(struct slice bytes)
{
	size_t head = 2 * RANDOM_BYTES + 4;

	return bytes.n > head + 31 &&
	    bytes.p[2 * RANDOM_BYTES] == NAMED_CURVE &&
	    (unsigned char)bytes.p[head - 1] == bytes.n - head;
}

/* Is this what a server signs in a handshake?  RFC 8446 section 4.4.3
 * (CertificateVerify), RFC 8422 section 5.4 (ServerKeyExchange). */
static bool
tls_signing_is_handshake(const struct tls_signing *what)
{
	static const char *const digests[] = { "", "SHA1", "SHA2-224",
	    "SHA2-256", "SHA2-384", "SHA2-512" };
	bool is_known = false;

	for (size_t i = 0; i < sizeof(digests) / sizeof(digests[0]); i++)
		if (strcmp(what->digest, digests[i]) == 0)
			is_known = true;
	return is_known && (is_tls13(what->bytes) || is_tls12(what->bytes));
}

static int
sign_begin(EVP_MD_CTX *md, EVP_PKEY *key, const struct tls_signing *what)
{
	bool is_rsa = EVP_PKEY_is_a(key, "RSA");
	EVP_PKEY_CTX *context;

	if ((what->digest[0] == '\0') != (EVP_PKEY_is_a(key, "ED25519") == 1))
		return -1;
	if (EVP_DigestSignInit_ex(md, &context, what->digest[0] != '\0' ?
	    what->digest : NULL, NULL, NULL, key, NULL) != 1)
		return -1;
	if (!what->is_pss)
		return 0;
	if (!is_rsa || EVP_PKEY_CTX_set_rsa_padding(context,
	    RSA_PKCS1_PSS_PADDING) <= 0 ||
	    EVP_PKEY_CTX_set_rsa_pss_saltlen(context,
	    RSA_PSS_SALTLEN_DIGEST) <= 0)
		return -1;
	return 0;
}

int
tls_sign(struct evp_pkey_st *key, const struct tls_signing *what,
    struct str *out, struct err *err)
{
	size_t n = (size_t)EVP_PKEY_get_size(key);
	EVP_MD_CTX *md;
	int result = -1;

	if (!tls_signing_is_handshake(what))
		return err_set(err, "this is no part of a TLS handshake");
	md = EVP_MD_CTX_new();
	if (md != NULL && sign_begin(md, key, what) == 0 &&
	    EVP_DigestSign(md, (unsigned char *)str_room(out, n), &n,
	    (const unsigned char *)what->bytes.p, what->bytes.n) == 1) {
		out->len += n;
		out->buf[out->len] = '\0';
		result = 0;
	} else {
		tls_err(err, "cannot sign");
	}
	EVP_MD_CTX_free(md);
	return result;
}
