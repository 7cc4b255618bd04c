/* tls_dkim.c - RSA keys for signatures in mail
 *
 * In     PEM text, base64
 * Out    the same
 * Holds  nothing between calls
 * Trusts neither text: OpenSSL's parsers judge them, lengths are bounded
 * Spec   RFC 6376 sections 3.3 and 3.6.1; RFC 8301 section 3.2 (bits)
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <string.h>

#include "grammar/base64.h"
#include "tls/tls.h"
#include "tls/dkim.h"
#include "tls/pair.h"

#include "base/banned.h"

static int
dkim_no_pass_phrase(char *buf, int size, int is_write, void *context)
{
	return -1;
}

static EVP_PKEY *
private_read(struct slice pem, struct err *err)
{
	EVP_PKEY *key = NULL;
	BIO *bio;

	if (pem.n > TLS_FILE_BYTES_MAX) {
		err_set(err, "it is too long for a key");
		return NULL;
	}
	bio = BIO_new_mem_buf(pem.p, (int)pem.n);
	key = PEM_read_bio_PrivateKey(bio, NULL, dkim_no_pass_phrase, NULL);
	BIO_free(bio);
	if (key != NULL && EVP_PKEY_is_a(key, "RSA"))
		return key;
	ERR_clear_error();
	EVP_PKEY_free(key);
	err_set(err, "it is no RSA key in PEM without a pass phrase");
	return NULL;
}

int
dkim_key_make(unsigned bits, struct str *out_pem, struct err *err)
{
	EVP_PKEY *key = EVP_RSA_gen(bits);
	BIO *bio = BIO_new(BIO_s_mem());
	char *text = NULL;
	long n;
	int result = 0;

	if (key == NULL || PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL,
	    0, NULL, NULL) != 1) {
		result = tls_err(err, "cannot make a key");
	} else {
		n = BIO_get_mem_data(bio, &text);
		str_add(out_pem, text, (size_t)n);
		OPENSSL_cleanse(text, (size_t)n);
	}
	BIO_free(bio);
	EVP_PKEY_free(key);
	return result;
}

static int
public_add(EVP_PKEY *key, struct str *out, struct err *err)
{
	unsigned char *der = NULL;
	int n = i2d_PUBKEY(key, &der);

	if (n <= 0)
		return tls_err(err, "the public half");
	base64_add(out, (struct slice){ (const char *)der, (size_t)n });
	OPENSSL_free(der);
	return 0;
}

int
dkim_key_public(struct slice pem, struct str *out, struct err *err)
{
	EVP_PKEY *key = private_read(pem, err);
	int result = key == NULL ? -1 : public_add(key, out, err);

	EVP_PKEY_free(key);
	return result;
}

/* NULL: it is none. */
static EVP_PKEY *
public_read(struct slice text)
{
	const unsigned char *at;
	struct str der = STR_INIT;
	struct err err;
	EVP_PKEY *key = NULL;

	if (text.n > 0 && text.n <= DKIM_PUBLIC_BYTES_MAX &&
	    base64_decode(text, &der, &err) == 0) {
		at = (const unsigned char *)der.buf;
		key = d2i_PUBKEY(NULL, &at, (long)der.len);
	}
	ERR_clear_error();
	str_release(&der);
	return key;
}

static bool
sample_holds(EVP_PKEY *private_key, EVP_PKEY *public_key)
{
	static const unsigned char sample[] = "from:a@example.org\r\n";
	unsigned char signature[DKIM_BITS_MAX / 4];
	size_t n = sizeof(signature);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_good;

	is_good = EVP_PKEY_get_size(private_key) <= (int)sizeof(signature) &&
	    EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL,
	    private_key) == 1 && EVP_DigestSign(context, signature, &n,
	    sample, sizeof(sample)) == 1;
	EVP_MD_CTX_free(context);
	context = EVP_MD_CTX_new();
	is_good = is_good && EVP_DigestVerifyInit(context, NULL,
	    EVP_sha256(), NULL, public_key) == 1 && EVP_DigestVerify(context,
	    signature, n, sample, sizeof(sample)) == 1;
	EVP_MD_CTX_free(context);
	ERR_clear_error();
	return is_good;
}

enum dkim_fit
dkim_key_fits(struct slice pem, struct slice public_key, struct err *err)
{
	EVP_PKEY *key = private_read(pem, err), *other = NULL;
	int result = -1;

	if (key != NULL)
		other = public_read(public_key);
	if (key != NULL && other == NULL)
		err_set(err, "what stands after p= is no public key");
	if (other != NULL)
		result = sample_holds(key, other);
	EVP_PKEY_free(other);
	EVP_PKEY_free(key);
	return result;
}
