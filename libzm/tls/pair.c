/* tls_pair.c - a chain of certificates and the private key of its first
 *
 * In     PEM files
 * Out    DER, a key, dates and names
 * Holds  the key, until released; the text it was read from is wiped
 * Trusts the files' owner, but neither their length nor their content
 * Spec   RFC 7468; RFC 5246 section 7.4.2 (order of the chain)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tls/pair.h"

#include "base/banned.h"

int
tls_file_read(const char *file, struct str *out, struct err *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int result;

	if (fd < 0)
		return err_sys(err, "cannot read %s", file);
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, "%s is not a file", file);
	}
	result = fd_read_all(fd, TLS_FILE_BYTES_MAX + 1, out);
	if (result < 0)
		err_sys(err, "cannot read %s", file);
	else if (out->len > TLS_FILE_BYTES_MAX)
		result = err_set(err, "%s has more than %d bytes", file,
		    TLS_FILE_BYTES_MAX);
	close(fd);
	return result;
}

/* Keys are kept without a pass phrase: nobody is there to type one. */
static int
pair_no_pass_phrase(char *buf, int size, int is_write, void *context)
{
	*(bool *)context = true;
	return -1;
}

/* Does a line of a PEM file begin such a thing? */
static bool
pair_holds(struct slice text, const char *end)
{
	struct slice line;

	while (text.n > 0 && slice_cut(&text, '\n', &line)) {
		line = slice_trim(line);
		for (size_t i = 0; slice_starts(line, "-----BEGIN ") &&
		    i < line.n; i++)
			if (slice_starts(slice_from(line, i), end))
				return true;
	}
	return false;
}

static EVP_PKEY *
key_parse(struct slice text, const char *file, struct err *err)
{
	bool is_locked = false;
	BIO *bio = BIO_new_mem_buf(text.p, (int)text.n);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL,
	    pair_no_pass_phrase, &is_locked);

	BIO_free(bio);
	if (key == NULL && is_locked)
		err_set(err, "%s: the key has a pass phrase; keep it without "
		    "(openssl pkey -in FILE)", file);
	else if (key == NULL && pair_holds(text, "CERTIFICATE-"))
		err_set(err, "%s holds a certificate and no key; name the "
		    "file of its private key", file);
	else if (key == NULL)
		tls_err(err, file);
	return key;
}

/* The kinds that TLS 1.2 and 1.3 sign with and tls_keys.c can pass on. */
static const char *
kind_of(const EVP_PKEY *key)
{
	static const char *const kinds[] = { "RSA", "EC", "ED25519" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (EVP_PKEY_is_a(key, kinds[i]))
			return kinds[i];
	return NULL;
}

static int
certificate_add(struct tls_pair *pair, X509 *certificate)
{
	unsigned char *der = NULL;
	int n = i2d_X509(certificate, &der);

	if (n <= 0)
		return -1;
	str_add(&pair->chain, der, (size_t)n);
	OPENSSL_free(der);
	return 0;
}

static int64_t
pair_seconds(const ASN1_TIME *time)
{
	struct tm tm;

	return ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

/* The first one: the one that the key must fit. */
static int
leaf_take(struct tls_pair *pair, X509 *leaf, const char *file,
    struct err *err)
{
	pair->begins_s = pair_seconds(X509_get0_notBefore(leaf));
	pair->expires_s = pair_seconds(X509_get0_notAfter(leaf));
	tls_fingerprint(leaf, pair->fingerprint);
	X509_NAME_get_text_by_NID(X509_get_subject_name(leaf),
	    NID_commonName, pair->subject, sizeof(pair->subject));
	if (X509_check_private_key(leaf, pair->key) == 1)
		return 0;
	ERR_clear_error();
	return err_set(err, "the key is not that of the certificate in %s",
	    file);
}

static int
chain_parse(struct tls_pair *pair, struct slice text, const char *file,
    struct err *err)
{
	BIO *bio = BIO_new_mem_buf(text.p, (int)text.n);
	int count = 0, result = 0;
	X509 *certificate;

	while (result == 0 && (certificate = PEM_read_bio_X509(bio, NULL,
	    NULL, NULL)) != NULL) {
		if (++count > TLS_CHAIN_MAX)
			result = err_set(err, "%s has more than %d "
			    "certificates", file, TLS_CHAIN_MAX);
		else if (count == 1)
			result = leaf_take(pair, certificate, file, err);
		if (result == 0 && certificate_add(pair, certificate) != 0)
			result = tls_err(err, file);
		X509_free(certificate);
	}
	BIO_free(bio);
	if (count == 0 && pair_holds(text, "KEY-"))
		return err_set(err, "%s holds a key and no certificate; name "
		    "the file of the certificate", file);
	if (count == 0)
		return tls_err(err, file);
	ERR_clear_error();	/* "no start line": the end of the file */
	return result;
}

int
tls_pair_parse(struct tls_pair *pair, struct slice certificate,
    const char *certificate_file, struct slice key, const char *key_file,
    struct err *err)
{
	int result = -1;

	memset(pair, 0, sizeof(*pair));
	str_init(&pair->chain);
	pair->key = key_parse(key, key_file, err);
	if (pair->key != NULL)
		pair->kind = kind_of(pair->key);
	if (pair->key != NULL && pair->kind == NULL)
		err_set(err, "%s: the key is neither RSA, ECDSA nor Ed25519",
		    key_file);
	else if (pair->key != NULL)
		result = chain_parse(pair, certificate, certificate_file, err);
	if (result != 0)
		tls_pair_release(pair);
	return result;
}

int
tls_pair_load(struct tls_pair *pair, const char *certificate_file,
    const char *key_file, struct err *err)
{
	struct str certificate = STR_INIT, key = STR_INIT;
	int result = -1;

	memset(pair, 0, sizeof(*pair));
	if (tls_file_read(key_file, &key, err) == 0 &&
	    tls_file_read(certificate_file, &certificate, err) == 0)
		result = tls_pair_parse(pair, str_slice(&certificate),
		    certificate_file, str_slice(&key), key_file, err);
	if (key.cap > 0)
		explicit_bzero(key.buf, key.cap);
	str_release(&key);
	str_release(&certificate);
	return result;
}

void
tls_pair_release(struct tls_pair *pair)
{
	EVP_PKEY_free(pair->key);
	pair->key = NULL;
	if (pair->chain.buf != NULL)
		str_release(&pair->chain);
}

int
tls_roots_check(struct slice pem, struct err *err)
{
	BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
	X509 *first = PEM_read_bio_X509(bio, NULL, NULL, NULL);

	BIO_free(bio);
	if (first == NULL)
		return tls_err(err, "no certificate in it");
	X509_free(first);
	return 0;
}
