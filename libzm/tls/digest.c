/* tls_digest.c - the sums that authentication is made of
 *
 * In     bytes, keys, passwords
 * Out    digests
 * Spec   RFC 2104, RFC 6234, RFC 8018 section 5.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>

#include "tls/digest.h"

#include "base/banned.h"

/* Found once: EVP_sha256() is looked for at each use, which takes longer than
 * the sum of a short text. */
static EVP_MD *found_sha256;
static pthread_once_t found_once = PTHREAD_ONCE_INIT;

static void
digest_find(void)
{
	found_sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static const EVP_MD *
digest_method(enum digest_kind kind)
{
	if (kind == DIGEST_MD5)
		return EVP_md5();
	pthread_once(&found_once, digest_find);
	return found_sha256 != NULL ? found_sha256 : EVP_sha256();
}

int
digest(enum digest_kind kind, struct slice bytes, unsigned char *out)
{
	unsigned n;
	int is_good = EVP_Digest(bytes.p, bytes.n, out, &n, digest_method(kind),
	    NULL);

	ERR_clear_error();
	return is_good == 1 ? 0 : -1;
}

struct digest_run {
	EVP_MD_CTX	*context;
	bool		 is_good;
};

struct digest_run *
digest_begin(enum digest_kind kind)
{
	struct digest_run *run = mem_alloc(1, sizeof(*run));

	run->context = EVP_MD_CTX_new();
	run->is_good = run->context != NULL &&
	    EVP_DigestInit_ex(run->context, digest_method(kind), NULL) == 1;
	return run;
}

void
digest_take(struct digest_run *run, struct slice bytes)
{
	run->is_good = run->is_good &&
	    EVP_DigestUpdate(run->context, bytes.p, bytes.n) == 1;
}

int
digest_so_far(const struct digest_run *run, unsigned char *out)
{
	EVP_MD_CTX *copy = EVP_MD_CTX_new();
	unsigned n;
	int is_good = run->is_good && copy != NULL &&
	    EVP_MD_CTX_copy_ex(copy, run->context) == 1 &&
	    EVP_DigestFinal_ex(copy, out, &n) == 1;

	EVP_MD_CTX_free(copy);
	ERR_clear_error();
	return is_good ? 0 : -1;
}

int
digest_end(struct digest_run **run, unsigned char *out)
{
	unsigned n;
	int is_good = (*run)->is_good &&
	    EVP_DigestFinal_ex((*run)->context, out, &n) == 1;

	EVP_MD_CTX_free((*run)->context);
	mem_free(run);
	ERR_clear_error();
	return is_good ? 0 : -1;
}

int
digest_hmac(enum digest_kind kind, struct slice key, struct slice bytes,
    unsigned char *out)
{
	unsigned n;
	const unsigned char *sum = HMAC(digest_method(kind),
	    key.n > 0 ? key.p : "", (int)key.n, (const unsigned char *)bytes.p,
	    bytes.n, out, &n);

	ERR_clear_error();
	return sum != NULL ? 0 : -1;
}

int
digest_pbkdf2(struct slice password, struct slice salt, unsigned rounds,
    unsigned char *out)
{
	int is_good = PKCS5_PBKDF2_HMAC(password.n > 0 ? password.p : "",
	    (int)password.n, (const unsigned char *)salt.p, (int)salt.n,
	    (int)rounds, EVP_sha256(), DIGEST_SHA256_BYTES, out);

	ERR_clear_error();
	return is_good == 1 ? 0 : -1;
}

bool
digest_equal(const unsigned char *a, const unsigned char *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}
