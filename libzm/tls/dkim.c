/* tls_dkim.c - keys for signatures in mail
 *
 * In     PEM text, base64
 * Out    the same
 * Holds  nothing between calls
 * Trusts neither text: OpenSSL's parsers judge them, lengths are bounded
 * Spec   RFC 6376 sections 3.3 and 3.6.1; RFC 8301 section 3.2 (bits);
 *        RFC 8463
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "grammar/base64.h"
#include "tls/tls.h"
#include "tls/digest.h"
#include "tls/dkim.h"
#include "tls/pair.h"

#include "base/banned.h"

static int
dkim_no_pass_phrase(char *buf, int size, int is_write, void *context)
{
	return -1;
}

struct evp_pkey_st *
dkim_private_read(struct slice pem, struct err *err)
{
	EVP_PKEY *key = NULL;
	int bits;
	BIO *bio;

	if (pem.n > TLS_FILE_BYTES_MAX) {
		err_set(err, "it is too long for a key");
		return NULL;
	}
	bio = BIO_new_mem_buf(pem.p, (int)pem.n);
	key = PEM_read_bio_PrivateKey(bio, NULL, dkim_no_pass_phrase, NULL);
	BIO_free(bio);
	ERR_clear_error();
	bits = key == NULL ? 0 : EVP_PKEY_get_bits(key);
	if (key != NULL && (EVP_PKEY_is_a(key, "ED25519") ||
	    (EVP_PKEY_is_a(key, "RSA") && bits >= DKIM_BITS_MIN &&
	    bits <= DKIM_BITS_MAX)))
		return key;
	if (key != NULL && EVP_PKEY_is_a(key, "RSA"))
		err_set(err, "it is an RSA key of %d bits; %d to %d are good",
		    bits, DKIM_BITS_MIN, DKIM_BITS_MAX);
	else
		err_set(err, "it is no RSA or Ed25519 key in PEM without a "
		    "pass phrase");
	EVP_PKEY_free(key);
	return NULL;
}

struct evp_pkey_st *
dkim_private_load(const char *file, struct err *err)
{
	struct str pem = STR_INIT;
	struct evp_pkey_st *key = NULL;
	struct err why = { "" };

	if (tls_file_read(file, &pem, err) == 0) {
		key = dkim_private_read(str_slice(&pem), &why);
		if (key == NULL)
			err_set(err, "%s: %s", file, why.text);
	}
	if (pem.cap > 0)
		explicit_bzero(pem.buf, pem.cap);
	str_release(&pem);
	return key;
}

/* What a link or a name with a slash leads to is not the table's to say. */
static int
dkim_open_beneath(const char *dir, const char *name, struct stat *out_seen,
    struct err *err)
{
	int dir_fd, fd = -1;

	if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL)
		return err_set(err, "this is no name of a key's file");
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return err_sys(err, "cannot open %s", dir);
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
	    O_NONBLOCK);
	if (fd < 0 && (errno == ELOOP || errno == EMLINK))
		err_set(err, "%s/%s is a link, and none is followed", dir,
		    name);
	else if (fd < 0)
		err_sys(err, "cannot read %s/%s", dir, name);
	close(dir_fd);
	if (fd < 0)
		return -1;
	if (fstat(fd, out_seen) == 0 && S_ISREG(out_seen->st_mode))
		return fd;
	close(fd);
	return err_set(err, "%s/%s is not a file", dir, name);
}

struct evp_pkey_st *
dkim_private_load_beneath(const char *dir, const char *name,
    struct stat *out_seen, struct err *err)
{
	int fd = dkim_open_beneath(dir, name, out_seen, err);
	struct evp_pkey_st *key = NULL;
	struct str pem = STR_INIT;
	struct err why = { "" };

	if (fd < 0)
		return NULL;
	if (fd_read_all(fd, TLS_FILE_BYTES_MAX + 1, &pem) != 0)
		err_sys(err, "cannot read %s/%s", dir, name);
	else if ((key = dkim_private_read(str_slice(&pem), &why)) == NULL)
		err_set(err, "%s/%s: %s", dir, name, why.text);
	close(fd);
	if (pem.cap > 0)
		explicit_bzero(pem.buf, pem.cap);
	str_release(&pem);
	return key;
}

void
dkim_private_free(struct evp_pkey_st **key)
{
	EVP_PKEY_free(*key);
	*key = NULL;
}

enum verify_kind
dkim_private_kind(const struct evp_pkey_st *key)
{
	return EVP_PKEY_is_a(key, "RSA") ? VERIFY_RSA_SHA256 :
	    VERIFY_ED25519_SHA256;
}

/* The sum is RSA's message already (RFC 8017 section 8.2). */
static bool
dkim_sign_rsa(EVP_PKEY *key, const unsigned char *sum, unsigned char *out,
    size_t *n)
{
	EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
	bool is_good = context != NULL && EVP_PKEY_sign_init(context) == 1 &&
	    EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1 &&
	    EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1 &&
	    EVP_PKEY_sign(context, out, n, sum, DIGEST_SHA256_BYTES) == 1;

	EVP_PKEY_CTX_free(context);
	return is_good;
}

/* Ed25519 signs the sum as a message (RFC 8463 section 3). */
static bool
dkim_sign_ed25519(EVP_PKEY *key, const unsigned char *sum,
    unsigned char *out, size_t *n)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_good = context != NULL && EVP_DigestSignInit(context, NULL,
	    NULL, NULL, key) == 1 && EVP_DigestSign(context, out, n, sum,
	    DIGEST_SHA256_BYTES) == 1;

	EVP_MD_CTX_free(context);
	return is_good;
}

int
dkim_private_sign(struct evp_pkey_st *key, const unsigned char *sum,
    struct str *out, struct err *err)
{
	unsigned char signature[DKIM_BITS_MAX / 8];
	size_t n = sizeof(signature);

	if (dkim_private_kind(key) == VERIFY_RSA_SHA256 ?
	    !dkim_sign_rsa(key, sum, signature, &n) :
	    !dkim_sign_ed25519(key, sum, signature, &n))
		return tls_err(err, "cannot sign");
	str_add(out, (const char *)signature, n);
	return 0;
}

int
dkim_key_make(enum verify_kind kind, unsigned bits, struct str *out_pem,
    struct err *err)
{
	EVP_PKEY *key = kind == VERIFY_RSA_SHA256 ? EVP_RSA_gen(bits) :
	    EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
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
	unsigned char raw[VERIFY_ED25519_KEY_BYTES], *der = NULL;
	size_t raw_n = sizeof(raw);
	int n;

	if (dkim_private_kind(key) == VERIFY_ED25519_SHA256) {
		if (EVP_PKEY_get_raw_public_key(key, raw, &raw_n) != 1)
			return tls_err(err, "the public half");
		base64_add(out, (struct slice){ (const char *)raw, raw_n });
		return 0;
	}
	n = i2d_PUBKEY(key, &der);
	if (n <= 0)
		return tls_err(err, "the public half");
	base64_add(out, (struct slice){ (const char *)der, (size_t)n });
	OPENSSL_free(der);
	return 0;
}

int
dkim_key_public(struct slice pem, struct str *out,
    enum verify_kind *out_kind, struct err *err)
{
	EVP_PKEY *key = dkim_private_read(pem, err);
	int result = key == NULL ? -1 : public_add(key, out, err);

	if (key != NULL)
		*out_kind = dkim_private_kind(key);
	EVP_PKEY_free(key);
	return result;
}

/* The sample is signed and verified as a message would be. */
static enum dkim_fit
sample_fits(EVP_PKEY *key, struct slice public_key, struct err *err)
{
	static const char sample[] = "from:a@example.org\r\n";
	struct str signature = STR_INIT;
	enum verify_result result = VERIFY_NO_KEY;
	unsigned char sum[DIGEST_SHA256_BYTES];
	unsigned bits;

	if (digest(DIGEST_SHA256, slice_of(sample), sum) == 0 &&
	    dkim_private_sign(key, sum, &signature, err) == 0)
		result = verify_signature(dkim_private_kind(key), public_key,
		    slice_of(sample), str_slice(&signature), &bits);
	str_release(&signature);
	return result == VERIFY_NO_KEY ? DKIM_KEY_BAD :
	    result == VERIFY_RIGHT ? DKIM_KEY_FITS : DKIM_KEY_DIFFERS;
}

enum dkim_fit
dkim_key_fits(struct slice pem, struct slice public_key, struct err *err)
{
	EVP_PKEY *key = dkim_private_read(pem, err);
	struct str bytes = STR_INIT;
	enum dkim_fit fit = DKIM_KEY_BAD;
	struct err bad;

	if (key == NULL)
		return DKIM_KEY_BAD;
	if (public_key.n > 0 && public_key.n <= DKIM_PUBLIC_BYTES_MAX &&
	    base64_decode(public_key, &bytes, &bad) == 0)
		fit = sample_fits(key, str_slice(&bytes), &bad);
	if (fit == DKIM_KEY_BAD)
		err_set(err, "what stands after p= is no public key of this "
		    "kind");
	EVP_PKEY_free(key);
	str_release(&bytes);
	return fit;
}
