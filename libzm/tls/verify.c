/* tls_verify.c - whether a signature is that of a public key
 *
 * In     keys and signatures of strangers
 * Out    right, wrong, or no key
 * Trusts nobody
 * Spec   RFC 8017, RFC 8032, RFC 8463
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "tls/digest.h"
#include "tls/verify.h"

#include "base/banned.h"

static EVP_PKEY *
verify_key_read_rsa(struct slice key)
{
	const unsigned char *p = (const unsigned char *)key.p;
	EVP_PKEY *rsa = d2i_PUBKEY(NULL, &p, (long)key.n);

	p = (const unsigned char *)key.p;
	if (rsa == NULL)
		rsa = d2i_PublicKey(EVP_PKEY_RSA, NULL, &p, (long)key.n);
	if (rsa != NULL && EVP_PKEY_get_base_id(rsa) == EVP_PKEY_RSA &&
	    EVP_PKEY_get_bits(rsa) <= VERIFY_BITS_MAX)
		return rsa;
	EVP_PKEY_free(rsa);
	return NULL;
}

static EVP_PKEY *
verify_key_read(enum verify_kind kind, struct slice key)
{
	if (key.n == 0)
		return NULL;
	if (kind == VERIFY_RSA_SHA256)
		return verify_key_read_rsa(key);
	return key.n != VERIFY_ED25519_KEY_BYTES ? NULL :
	    EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL,
	    (const unsigned char *)key.p, key.n);
}

enum verify_result
verify_signature(enum verify_kind kind, struct slice key, struct slice bytes,
    struct slice signature, unsigned *out_bits)
{
	EVP_PKEY *public_key = verify_key_read(kind, key);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	unsigned char sum[DIGEST_SHA256_BYTES];
	bool is_right = false;

	*out_bits = public_key != NULL ?
	    (unsigned)EVP_PKEY_get_bits(public_key) : 0;
	if (public_key != NULL && kind == VERIFY_ED25519_SHA256 &&
	    digest(DIGEST_SHA256, bytes, sum) == 0)
		bytes = (struct slice){ (const char *)sum, sizeof(sum) };
	if (public_key != NULL && context != NULL && EVP_DigestVerifyInit(
	    context, NULL, kind == VERIFY_RSA_SHA256 ? EVP_sha256() : NULL,
	    NULL, public_key) == 1)
		is_right = EVP_DigestVerify(context,
		    (const unsigned char *)signature.p, signature.n,
		    (const unsigned char *)bytes.p, bytes.n) == 1;
	EVP_MD_CTX_free(context);
	EVP_PKEY_free(public_key);
	ERR_clear_error();
	return *out_bits == 0 ? VERIFY_NO_KEY : is_right ? VERIFY_RIGHT :
	    VERIFY_WRONG;
}
