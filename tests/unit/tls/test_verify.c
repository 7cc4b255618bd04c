/* test_verify.c - keys that are kept are the keys that were said
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "tls/digest.h"
#include "tls/verify.h"

#include "base/banned.h"

enum { BITS = 1024 };			/* small: they are made often */

struct pair {			/* a key, and its signature of "text" */
	struct str	public_key, signature;
};

static void
pair_make(const char *kind, struct pair *out)
{
	bool is_rsa = kind[0] == 'R';
	EVP_PKEY *key = is_rsa ? EVP_RSA_gen(BITS) :
	    EVP_PKEY_Q_keygen(NULL, NULL, kind);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	unsigned char *der = NULL, signed_bytes[512];
	size_t n = sizeof(signed_bytes), raw_n = 32;
	unsigned char raw[32], sum[DIGEST_SHA256_BYTES];
	struct slice text = SLICE("text");

	str_init(&out->public_key);
	str_init(&out->signature);
	cr_assert_eq(digest(DIGEST_SHA256, text, sum), 0);
	if (!is_rsa)
		text = (struct slice){ (const char *)sum, sizeof(sum) };
	cr_assert_eq(EVP_DigestSignInit(context, NULL, is_rsa ? EVP_sha256() :
	    NULL, NULL, key), 1);
	cr_assert_eq(EVP_DigestSign(context, signed_bytes, &n,
	    (const unsigned char *)text.p, text.n), 1);
	str_add(&out->signature, signed_bytes, n);
	if (is_rsa) {
		n = (size_t)i2d_PUBKEY(key, &der);
		str_add(&out->public_key, der, n);
		OPENSSL_free(der);
	} else {
		cr_assert_eq(EVP_PKEY_get_raw_public_key(key, raw, &raw_n), 1);
		str_add(&out->public_key, raw, raw_n);
	}
	EVP_MD_CTX_free(context);
	EVP_PKEY_free(key);
}

static void
pair_release(struct pair *pair)
{
	str_release(&pair->public_key);
	str_release(&pair->signature);
}

static enum verify_result
checked(const char *kind, const struct pair *key, const struct pair *signed_by)
{
	unsigned bits;

	return verify_signature(kind[0] == 'R' ? VERIFY_RSA_SHA256 :
	    VERIFY_ED25519_SHA256, str_slice(&key->public_key), SLICE("text"),
	    str_slice(&signed_by->signature), &bits);
}

static void
teardown(void)
{
	verify_keep_keys(false);
}

TestSuite(verify, .fini = teardown, .timeout = 120);

static void
check_kind(const char *kind)
{
	struct pair mine, other;
	unsigned bits;

	pair_make(kind, &mine);
	pair_make(kind, &other);
	for (int i = 0; i < 4; i++) {
		verify_keep_keys(i > 0);
		cr_assert_eq(checked(kind, &mine, &mine), VERIFY_RIGHT);
		cr_assert_eq(checked(kind, &mine, &other), VERIFY_WRONG);
		cr_assert_eq(checked(kind, &other, &other), VERIFY_RIGHT,
		    "after one that was wrong");
		cr_assert_eq(verify_signature(kind[0] == 'R' ?
		    VERIFY_RSA_SHA256 : VERIFY_ED25519_SHA256,
		    str_slice(&mine.public_key), SLICE("texT"),
		    str_slice(&mine.signature), &bits), VERIFY_WRONG);
		cr_assert_eq(bits, kind[0] == 'R' ? BITS : 256);
	}
	cr_assert_eq(verify_kept_count(), 2);
	verify_keep_keys(false);
	cr_assert_eq(verify_kept_count(), 0);
	pair_release(&mine);
	pair_release(&other);
}

Test(verify, a_kept_key_answers_as_a_fresh_one)
{
	check_kind("RSA");
	check_kind("ED25519");
}

Test(verify, a_changed_key_is_another_key)
{
	struct pair old, fresh;

	verify_keep_keys(true);
	pair_make("RSA", &old);
	pair_make("RSA", &fresh);
	cr_assert_eq(checked("RSA", &old, &old), VERIFY_RIGHT);
	/* its last byte alone: the exponent is another one */
	old.public_key.buf[old.public_key.len - 1] ^= 2;
	cr_assert_neq(checked("RSA", &old, &old), VERIFY_RIGHT);
	cr_assert_eq(checked("RSA", &fresh, &old), VERIFY_WRONG);
	cr_assert_eq(checked("RSA", &fresh, &fresh), VERIFY_RIGHT);
	pair_release(&old);
	pair_release(&fresh);
}

Test(verify, what_is_no_key_is_not_kept)
{
	struct pair mine;
	unsigned bits = 1;

	verify_keep_keys(true);
	pair_make("ED25519", &mine);
	cr_assert_eq(checked("RSA", &mine, &mine), VERIFY_NO_KEY);
	cr_assert_eq(verify_signature(VERIFY_RSA_SHA256, SLICE(""),
	    SLICE("text"), str_slice(&mine.signature), &bits), VERIFY_NO_KEY);
	cr_assert_eq(bits, 0);
	cr_assert_eq(verify_kept_count(), 0);
	/* the same bytes are a key of the other kind */
	cr_assert_eq(checked("ED25519", &mine, &mine), VERIFY_RIGHT);
	cr_assert_eq(verify_kept_count(), 1);
	pair_release(&mine);
}

Test(verify, keys_used_once_push_out_none_used_again)
{
	enum { FLOOD = VERIFY_KEPT_PAIRS * 8 };
	struct pair mine, flood;

	verify_keep_keys(true);
	pair_make("ED25519", &mine);
	pair_make("ED25519", &flood);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(checked("ED25519", &mine, &mine), VERIFY_RIGHT);
	for (unsigned i = 0; i < FLOOD; i++) {
		flood.public_key.buf[0] = (char)(i & 0xff);
		flood.public_key.buf[1] = (char)(i >> 8);
		cr_assert_eq(checked("ED25519", &flood, &mine), VERIFY_WRONG);
	}
	cr_assert_leq(verify_kept_count(), VERIFY_KEPT_PAIRS + 1,
	    "one of a pair was used again");
	cr_assert_eq(checked("ED25519", &mine, &mine), VERIFY_RIGHT);
	pair_release(&mine);
	pair_release(&flood);
}
