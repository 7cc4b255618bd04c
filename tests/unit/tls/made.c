/* made.c - certificates and clients for the tests of TLS
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/tls/made.h"

#include "base/banned.h"

static EVP_PKEY *
key_new(const char *kind)
{
	if (strcmp(kind, "RSA") == 0)
		return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
	if (strcmp(kind, "P-256") == 0)
		return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	return EVP_PKEY_Q_keygen(NULL, NULL, kind);
}

static X509 *
certificate_new(EVP_PKEY *key, const char *kind, const char *common,
    const char *names, int days)
{
	X509 *made = X509_new();
	X509_EXTENSION *extension;

	X509_set_version(made, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(made), 4711);
	X509_gmtime_adj(X509_getm_notBefore(made), -86400);
	X509_gmtime_adj(X509_getm_notAfter(made), 86400L * days);
	X509_set_pubkey(made, key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN",
	    MBSTRING_ASC, (const unsigned char *)common, -1, -1, 0);
	X509_set_issuer_name(made, X509_get_subject_name(made));
	if (names != NULL) {
		extension = X509V3_EXT_conf_nid(NULL, NULL,
		    NID_subject_alt_name, names);
		cr_assert_not_null(extension);
		X509_add_ext(made, extension, -1);
		X509_EXTENSION_free(extension);
	}
	cr_assert_gt(X509_sign(made, key, strcmp(kind, "ED25519") == 0 ?
	    NULL : EVP_sha256()), 0);
	return made;
}

void
made_new(struct made *made, const char *kind, const char *common,
    const char *names, int days)
{
	EVP_PKEY *key = key_new(kind);
	X509 *certificate = certificate_new(key, kind, common, names, days);
	FILE *file;

	snprintf(made->dir, sizeof(made->dir), "/tmp/unit-tls.XXXXXX");
	cr_assert_not_null(mkdtemp(made->dir));
	snprintf(made->certificate, sizeof(made->certificate), "%s/cert.pem",
	    made->dir);
	snprintf(made->key, sizeof(made->key), "%s/key.pem", made->dir);
	file = fopen(made->certificate, "w");
	cr_assert_eq(PEM_write_X509(file, certificate), 1);
	fclose(file);
	file = fopen(made->key, "w");
	cr_assert_eq(fchmod(fileno(file), 0600), 0);
	cr_assert_eq(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL,
	    NULL), 1);
	fclose(file);
	X509_free(certificate);
	EVP_PKEY_free(key);
}

void
made_free(struct made *made)
{
	unlink(made->certificate);
	unlink(made->key);
	rmdir(made->dir);
}

SSL *
made_client(SSL_CTX *context, int fd, const char *name)
{
	SSL *ssl = SSL_new(context);
	BIO *bio;

	cr_assert_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	bio = BIO_new_socket(fd, BIO_CLOSE);
	SSL_set_bio(ssl, bio, bio);
	SSL_set_connect_state(ssl);
	if (name != NULL)
		SSL_set_tlsext_host_name(ssl, name);
	return ssl;
}
