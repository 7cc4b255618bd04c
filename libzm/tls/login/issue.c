/* issue.c - an authority of our own, and certificates that it signs
 *
 * In     names
 * Out    certificates and keys, as PEM
 * Holds  the authority's key, until it is freed
 * Spec   issue.h; RFC 5280 sections 4.1 and 4.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "base/mem.h"
#include "tls/login/issue.h"
#include "tls/tls.h"

#include "base/banned.h"

enum { SERIAL_BYTES = 16, DAY_S = 86400, EARLIER_S = 3600 };

struct tls_issuer {
	X509		*certificate;
	EVP_PKEY	*key;
};

/* 128 random bits, positive. */
static bool
issue_set_serial(X509 *certificate)
{
	unsigned char bytes[SERIAL_BYTES];
	BIGNUM *number;
	bool is_set;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40);
	number = BN_bin2bn(bytes, sizeof(bytes), NULL);
	is_set = number != NULL && BN_to_ASN1_INTEGER(number,
	    X509_get_serialNumber(certificate)) != NULL;
	BN_free(number);
	return is_set;
}

static bool
issue_add_extension(X509 *certificate, X509 *issuer, int nid,
    const char *value)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;
	bool is_added;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	is_added = extension != NULL && X509_add_ext(certificate, extension,
	    -1) == 1;
	X509_EXTENSION_free(extension);
	return is_added;
}

/* The extensions of an authority (issuer is itself), or of a node. */
static bool
issue_add_extensions(X509 *certificate, X509 *issuer, const char *name)
{
	char names[300] = "DNS:";

	if (certificate == issuer)
		return issue_add_extension(certificate, issuer,
		    NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
		    issue_add_extension(certificate, issuer, NID_key_usage,
		    "critical,keyCertSign,cRLSign") &&
		    issue_add_extension(certificate, issuer,
		    NID_subject_key_identifier, "hash");
	strlcat(names, name, sizeof(names));
	return issue_add_extension(certificate, issuer,
	    NID_basic_constraints, "critical,CA:FALSE") &&
	    issue_add_extension(certificate, issuer, NID_key_usage,
	    "critical,digitalSignature") &&
	    issue_add_extension(certificate, issuer, NID_ext_key_usage,
	    "serverAuth,clientAuth") &&
	    issue_add_extension(certificate, issuer, NID_subject_alt_name,
	    names) &&
	    issue_add_extension(certificate, issuer,
	    NID_subject_key_identifier, "hash") &&
	    issue_add_extension(certificate, issuer,
	    NID_authority_key_identifier, "keyid");
}

/* issuer NULL: it signs itself.  NULL: err. */
static X509 *
issue_certificate(const struct tls_issuer *issuer, const char *name,
    EVP_PKEY *key, struct err *err)
{
	X509 *certificate = X509_new();
	X509 *above = issuer != NULL ? issuer->certificate : certificate;
	X509_NAME *subject = certificate == NULL ? NULL :
	    X509_get_subject_name(certificate);

	if (certificate != NULL &&
	    X509_set_version(certificate, X509_VERSION_3) == 1 &&
	    issue_set_serial(certificate) &&
	    X509_gmtime_adj(X509_getm_notBefore(certificate), -EARLIER_S) !=
	    NULL && X509_gmtime_adj(X509_getm_notAfter(certificate),
	    (long)TLS_ISSUE_DAYS * DAY_S) != NULL &&
	    X509_set_pubkey(certificate, key) == 1 &&
	    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
	    (const unsigned char *)name, -1, -1, 0) == 1 &&
	    X509_set_issuer_name(certificate, X509_get_subject_name(above)) ==
	    1 && issue_add_extensions(certificate, above, name) &&
	    X509_sign(certificate, issuer != NULL ? issuer->key : key,
	    EVP_sha256()) > 0)
		return certificate;
	X509_free(certificate);
	tls_err(err, "cannot make a certificate");
	return NULL;
}

/* What the memory has is appended, and forgotten. */
static void
issue_take(BIO *bio, struct str *out)
{
	char *bytes;
	long n = BIO_get_mem_data(bio, &bytes);

	if (n > 0) {
		str_add(out, bytes, (size_t)n);
		OPENSSL_cleanse(bytes, (size_t)n);
	}
	BIO_free(bio);
}

struct tls_issuer *
tls_issuer_new(const char *name, struct err *err)
{
	struct tls_issuer *issuer = mem_alloc(1, sizeof(*issuer));

	issuer->key = EVP_EC_gen("P-256");
	if (issuer->key == NULL)
		tls_err(err, "cannot make a key");
	else
		issuer->certificate = issue_certificate(NULL, name,
		    issuer->key, err);
	if (issuer->certificate == NULL)
		tls_issuer_free(&issuer);
	return issuer;
}

void
tls_issuer_free(struct tls_issuer **pissuer)
{
	struct tls_issuer *issuer = *pissuer;

	if (issuer == NULL)
		return;
	X509_free(issuer->certificate);
	EVP_PKEY_free(issuer->key);
	mem_free(pissuer);
}

int
tls_issuer_add(const struct tls_issuer *issuer, struct str *out,
    struct err *err)
{
	BIO *bio = BIO_new(BIO_s_mem());
	bool is_done = bio != NULL && PEM_write_bio_X509(bio,
	    issuer->certificate) == 1;

	if (bio != NULL)
		issue_take(bio, out);
	return is_done ? 0 : tls_err(err, "cannot write a certificate");
}

int
tls_issue(const struct tls_issuer *issuer, const char *name, struct str *out,
    struct err *err)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = key == NULL ? NULL : issue_certificate(issuer,
	    name, key, err);
	BIO *bio = BIO_new(BIO_s_mem());
	int result = -1;

	if (key == NULL)
		tls_err(err, "cannot make a key");
	else if (certificate != NULL && bio != NULL)
		result = PEM_write_bio_X509(bio, certificate) == 1 &&
		    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL,
		    NULL) == 1 ? 0 : tls_err(err, "cannot write a key");
	if (bio != NULL)
		issue_take(bio, out);
	X509_free(certificate);
	EVP_PKEY_free(key);
	return result;
}
