/* test_dkim.c - RSA keys for signatures in mail
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "base/err.h"
#include "grammar/base64.h"
#include "tls/dkim.h"

enum { BITS = 1024 };			/* small: it is made often */

static struct str pem, public_key;
static struct err err;
static enum verify_kind made_kind;

static void
setup(void)
{
	str_init(&pem);
	str_init(&public_key);
	cr_assert_eq(dkim_key_make(VERIFY_RSA_SHA256, BITS, &pem, &err), 0,
	    "%s", err.text);
	cr_assert_eq(dkim_key_public(str_slice(&pem), &public_key,
	    &made_kind, &err), 0, "%s", err.text);
}

static void
teardown(void)
{
	str_release(&pem);
	str_release(&public_key);
}

TestSuite(tls_dkim, .init = setup, .fini = teardown);

/* A key of that kind; its PEM text, locked by a pass phrase or not. */
static void
other_key(const char *kind, const EVP_CIPHER *cipher, struct str *out_pem,
    struct str *out_public)
{
	EVP_PKEY *key = strcmp(kind, "RSA") == 0 ? EVP_RSA_gen(BITS) :
	    strcmp(kind, "EC") == 0 ? EVP_EC_gen("P-256") :
	    EVP_PKEY_Q_keygen(NULL, NULL, kind);
	BIO *bio = BIO_new(BIO_s_mem());
	unsigned char *der = NULL;
	char *text = NULL;
	long n;

	cr_assert_not_null(key);
	cr_assert_eq(PEM_write_bio_PKCS8PrivateKey(bio, key, cipher,
	    cipher ? "word" : NULL, cipher ? 4 : 0, NULL, NULL), 1);
	n = BIO_get_mem_data(bio, &text);
	str_add(out_pem, text, (size_t)n);
	n = i2d_PUBKEY(key, &der);
	base64_add(out_public, (struct slice){ (const char *)der,
	    (size_t)n });
	OPENSSL_free(der);
	BIO_free(bio);
	EVP_PKEY_free(key);
}

Test(tls_dkim, a_key_fits_its_own_public_half_alone)
{
	struct str other_pem = STR_INIT, other_public = STR_INIT;

	cr_expect(slice_starts(str_slice(&pem),
	    "-----BEGIN PRIVATE KEY-----\n"));
	cr_expect_eq(dkim_key_fits(str_slice(&pem), str_slice(&public_key),
	    &err), DKIM_KEY_FITS);
	other_key("RSA", NULL, &other_pem, &other_public);
	cr_expect_eq(dkim_key_fits(str_slice(&pem), str_slice(&other_public),
	    &err), DKIM_KEY_DIFFERS);
	cr_expect_eq(dkim_key_fits(str_slice(&other_pem),
	    str_slice(&other_public), &err), DKIM_KEY_FITS);
	str_release(&other_pem);
	str_release(&other_public);
}

Test(tls_dkim, keys_of_each_size_have_a_short_public_half)
{
	static const struct { unsigned bits; size_t bytes; } rows[] = {
		{ 1024, 216 }, { 2048, 392 }, { 4096, 736 }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str key = STR_INIT, half = STR_INIT;

		cr_assert_eq(dkim_key_make(VERIFY_RSA_SHA256, rows[i].bits,
		    &key, &err), 0);
		cr_assert_eq(dkim_key_public(str_slice(&key), &half,
		    &made_kind, &err), 0);
		cr_expect_eq(half.len, rows[i].bytes, "%u bits: %zu bytes",
		    rows[i].bits, half.len);
		cr_expect_leq(half.len, (size_t)DKIM_PUBLIC_BYTES_MAX);
		cr_expect_eq(dkim_key_fits(str_slice(&key),
		    str_slice(&half), &err), DKIM_KEY_FITS);
		str_release(&key);
		str_release(&half);
	}
}

Test(tls_dkim, what_is_no_private_key)
{
	struct str locked = STR_INIT, curve = STR_INIT, edwards = STR_INIT,
	    half = STR_INIT, cut = STR_INIT, huge = STR_INIT;
	struct { const char *what; const struct str *text; } rows[] = {
		{ "behind a pass phrase", &locked },
		{ "an EC key", &curve },
		{ "an Ed448 key", &edwards },
		{ "a public key", &half },
		{ "a key cut off", &cut },
		{ "nothing", NULL },
		{ "endless", &huge }
	};

	other_key("RSA", EVP_aes_128_cbc(), &locked, &half);
	other_key("EC", NULL, &curve, &half);
	other_key("ED448", NULL, &edwards, &half);
	str_add(&cut, pem.buf, pem.len / 2);
	for (int i = 0; i < 200000; i++)
		str_adds(&huge, "-----BEGIN");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice text = rows[i].text == NULL ? SLICE("") :
		    str_slice(rows[i].text);
		struct str out = STR_INIT;

		err.text[0] = '\0';
		cr_expect_eq(dkim_key_public(text, &out, &made_kind, &err),
		    -1, "%s", rows[i].what);
		cr_expect_neq(err.text[0], '\0', "%s", rows[i].what);
		cr_expect_eq(out.len, 0, "%s", rows[i].what);
		cr_expect_eq(dkim_key_fits(text, str_slice(&public_key),
		    &err), DKIM_KEY_BAD, "%s", rows[i].what);
		str_release(&out);
	}
	str_release(&locked);
	str_release(&curve);
	str_release(&edwards);
	str_release(&half);
	str_release(&cut);
	str_release(&huge);
}

Test(tls_dkim, an_ed25519_key_fits_its_own_32_bytes_alone)
{
	struct str ed = STR_INIT, half = STR_INIT;

	cr_assert_eq(dkim_key_make(VERIFY_ED25519_SHA256, 0, &ed, &err), 0);
	cr_assert_eq(dkim_key_public(str_slice(&ed), &half, &made_kind,
	    &err), 0, "%s", err.text);
	cr_expect_eq(made_kind, VERIFY_ED25519_SHA256);
	cr_expect_eq(half.len, 44, "%s", half.buf);	/* of 32 bytes */
	cr_expect_eq(dkim_key_fits(str_slice(&ed), str_slice(&half), &err),
	    DKIM_KEY_FITS);
	half.buf[10] = half.buf[10] == 'A' ? 'B' : 'A';
	cr_expect_neq(dkim_key_fits(str_slice(&ed), str_slice(&half), &err),
	    DKIM_KEY_FITS);
	cr_expect_eq(dkim_key_fits(str_slice(&ed), str_slice(&public_key),
	    &err), DKIM_KEY_BAD);
	str_release(&ed);
	str_release(&half);
}

/* p= as the DNS may have it; -1: no key, 0: not this one's. */
Test(tls_dkim, what_stands_behind_p)
{
	struct str curve = STR_INIT, ec_pem = STR_INIT, tail = STR_INIT,
	    head = STR_INIT, cut = STR_INIT, huge = STR_INIT,
	    flipped = STR_INIT;
	struct { const char *what; const struct str *text; int want; }
	    rows[] = {
		{ "nothing: the key is revoked", NULL, -1 },
		{ "a key of another kind", &curve, -1 },
		{ "words after it", &tail, -1 },
		{ "words in front", &head, -1 },
		{ "cut off", &cut, -1 },
		{ "too much", &huge, -1 },
		{ "another letter in the middle", &flipped, 0 }
	};

	other_key("EC", NULL, &ec_pem, &curve);
	str_addf(&tail, "%s; t=s", public_key.buf);
	str_addf(&head, "v=DKIM1; p=%s", public_key.buf);
	str_add(&cut, public_key.buf, 100);
	for (int i = 0; i < DKIM_PUBLIC_BYTES_MAX / 4 + 1; i++)
		str_adds(&huge, "AAAA");
	str_adds(&flipped, public_key.buf);
	flipped.buf[100] = flipped.buf[100] == 'A' ? 'B' : 'A';
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(dkim_key_fits(str_slice(&pem), rows[i].text ==
		    NULL ? SLICE("") : str_slice(rows[i].text), &err),
		    rows[i].want, "%s", rows[i].what);
	str_release(&ec_pem);
	str_release(&curve);
	str_release(&tail);
	str_release(&head);
	str_release(&cut);
	str_release(&huge);
	str_release(&flipped);
}
