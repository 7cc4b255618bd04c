/* certs.c - certificates made for one run of a test
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/transports/certs.h"

#include "base/banned.h"

struct pair {
	EVP_PKEY	*key;
	X509		*certificate;
};

static struct pair root, stranger, client_pair;
static char roots_path[64], client_path[64];

enum { DAY_S = 86400 };

static void
extension(X509 *certificate, int nid, const char *value)
{
	X509_EXTENSION *one = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	if (one == NULL || X509_add_ext(certificate, one, -1) != 1)
		abort();
	X509_EXTENSION_free(one);
}

/* signer NULL: signs itself, and others.  names: of subjectAltName. */
static struct pair
make(const char *common_name, const char *names, long from_s, long until_s,
    const struct pair *signer)
{
	static long serial = 1;
	struct pair pair = { EVP_EC_gen("P-256"), X509_new() };
	X509_NAME *name = X509_get_subject_name(pair.certificate);

	if (pair.key == NULL)
		abort();
	X509_set_version(pair.certificate, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(pair.certificate), serial++);
	X509_gmtime_adj(X509_getm_notBefore(pair.certificate), from_s);
	X509_gmtime_adj(X509_getm_notAfter(pair.certificate), until_s);
	X509_set_pubkey(pair.certificate, pair.key);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
	    (const unsigned char *)common_name, -1, -1, 0);
	X509_set_issuer_name(pair.certificate, signer == NULL ? name :
	    X509_get_subject_name(signer->certificate));
	extension(pair.certificate, NID_basic_constraints,
	    signer == NULL ? "critical,CA:TRUE" : "CA:FALSE");
	if (names != NULL)
		extension(pair.certificate, NID_subject_alt_name, names);
	if (X509_sign(pair.certificate, signer == NULL ? pair.key :
	    signer->key, EVP_sha256()) == 0)
		abort();
	return pair;
}

static void
pair_free(struct pair *pair)
{
	EVP_PKEY_free(pair->key);
	X509_free(pair->certificate);
}

static FILE *
pem_open(char *path, size_t size)
{
	int fd;

	snprintf(path, size, "/tmp/zm-certs-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		abort();
	return fdopen(fd, "w");
}

void
certs_make(void)
{
	FILE *file;

	if (root.key != NULL)
		return;
	root = make("test root", NULL, -DAY_S, DAY_S, NULL);
	stranger = make("another root", NULL, -DAY_S, DAY_S, NULL);
	client_pair = make("me.test", "DNS:me.test", -DAY_S, DAY_S, &root);
	file = pem_open(roots_path, sizeof(roots_path));
	PEM_write_X509(file, root.certificate);
	fclose(file);
	file = pem_open(client_path, sizeof(client_path));
	PEM_write_X509(file, client_pair.certificate);
	PEM_write_PrivateKey(file, client_pair.key, NULL, NULL, 0, NULL,
	    NULL);
	fclose(file);
}

void
certs_remove(void)
{
	if (root.key == NULL)
		return;
	unlink(roots_path);
	unlink(client_path);
	pair_free(&root);
	pair_free(&stranger);
	pair_free(&client_pair);
	root.key = NULL;
}

const char *
certs_roots_path(void)
{
	return roots_path;
}

const char *
certs_client_path(void)
{
	return client_path;
}

struct ssl_ctx_st *
certs_server(const char *name)
{
	bool is_expired = strcmp(name, "expired") == 0;
	struct pair pair = make("mx.test", strcmp(name, "other") == 0 ?
	    "DNS:other.test" : "DNS:mx.test,DNS:host.below.test,IP:127.0.0.1",
	    -2 * DAY_S, is_expired ? -DAY_S : DAY_S,
	    strcmp(name, "unknown") == 0 ? &stranger : &root);
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	if (ctx == NULL || SSL_CTX_use_certificate(ctx, pair.certificate) != 1
	    || SSL_CTX_use_PrivateKey(ctx, pair.key) != 1)
		abort();
	SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"t", 1);
	if (strcmp(name, "asks") == 0) {
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER |
		    SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
		X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx),
		    root.certificate);
	}
	pair_free(&pair);
	return ctx;
}
