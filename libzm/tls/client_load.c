/* client_load.c - PEM files that were opened early, into a context
 *
 * In     descriptors
 * Out    roots, a certificate with its chain, its key
 * Holds  nothing
 * Trusts no file to be short: TLS_ROOTS_BYTES_MAX
 * Spec   RFC 7468
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "tls/client.h"
#include "tls/client_load.h"

#include "base/banned.h"

/* All of a file, from its start, as something to read PEM from. */
static BIO *
load_read(int fd, struct str *text, struct err *err)
{
	off_t at = 0;
	ssize_t n;

	do {
		n = pread(fd, str_room(text, 65536), 65536, at);
		if (n > 0)
			text->len += (size_t)n, at += n;
	} while ((n > 0 && text->len < TLS_ROOTS_BYTES_MAX) ||
	    (n < 0 && errno == EINTR));
	if (n < 0) {
		err_sys(err, "read certificates");
		return NULL;
	}
	return BIO_new_mem_buf(text->buf, (int)text->len);
}

int
tls_load_roots(SSL_CTX *ctx, BIO *bio, struct err *err)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	size_t count = 0;
	X509 *one;

	while ((one = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
		X509_STORE_add_cert(store, one);
		X509_free(one);
		count++;
	}
	ERR_clear_error();
	return count > 0 ? 0 : err_set(err, "no certificate in it");
}

int
tls_load_certificate(SSL_CTX *ctx, BIO *bio, struct err *err)
{
	X509 *one = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	int is_good = one != NULL && SSL_CTX_use_certificate(ctx, one) == 1;

	X509_free(one);
	if (!is_good)
		return tls_err(err, "no certificate that could be used");
	while ((one = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL)
		SSL_CTX_add0_chain_cert(ctx, one);
	ERR_clear_error();
	return 0;
}

int
tls_load_key(SSL_CTX *ctx, BIO *bio, struct err *err)
{
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	int is_good = key != NULL && SSL_CTX_use_PrivateKey(ctx, key) == 1 &&
	    SSL_CTX_check_private_key(ctx) == 1;

	EVP_PKEY_free(key);
	return is_good ? 0 : tls_err(err, "no private key that fits");
}

int
tls_load(SSL_CTX *ctx, int fd, tls_load_fn *load, const char *what,
    struct err *err)
{
	struct str text = STR_INIT;
	BIO *bio;
	int result = -1;

	if (fd < 0)
		return 0;
	bio = load_read(fd, &text, err);
	if (bio != NULL)
		result = load(ctx, bio, err);
	BIO_free(bio);
	explicit_bzero(text.buf, text.len);
	str_release(&text);
	return result < 0 ? err_prefix(err, "%s", what) : 0;
}
