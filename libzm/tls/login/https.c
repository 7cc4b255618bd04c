/* https.c - a pair of certificate and key for a library that speaks TLS
 *
 * In     PEM files
 * Out    a context, and links of it
 * Trusts the files' owner (pair.h)
 * Spec   https.h; RFC 9325
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/ssl.h>
#include <unistd.h>

#include "tls/login/https.h"
#include "tls/client_load.h"
#include "tls/internal.h"
#include "tls/pair.h"

#include "base/banned.h"

/* The first one is the server's own, those after it lead to the root. */
static bool
https_use_chain(SSL_CTX *context, struct slice chain)
{
	const unsigned char *at = (const unsigned char *)chain.p;
	const unsigned char *end = at + chain.n;
	bool is_first = true, is_good = true;

	while (at < end && is_good) {
		X509 *one = d2i_X509(NULL, &at, (long)(end - at));

		is_good = one != NULL && (is_first ?
		    SSL_CTX_use_certificate(context, one) == 1 :
		    SSL_CTX_add1_chain_cert(context, one) == 1);
		is_first = false;
		X509_free(one);
	}
	return is_good && !is_first;
}

/* A context with the pair, which is released.  NULL with err. */
static SSL_CTX *
https_take_pair(struct tls_pair *pair, struct err *err)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	if (context == NULL || SSL_CTX_set_min_proto_version(context,
	    TLS1_2_VERSION) != 1) {
		tls_err(err, "cannot set up TLS");
	} else if (!https_use_chain(context, str_slice(&pair->chain)) ||
	    SSL_CTX_use_PrivateKey(context, pair->key) != 1) {
		tls_err(err, "the certificate cannot be used");
	} else {
		SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION |
		    SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
		    SSL_OP_IGNORE_UNEXPECTED_EOF);
		SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
		tls_pair_release(pair);
		return context;
	}
	tls_pair_release(pair);
	SSL_CTX_free(context);
	return NULL;
}

struct ssl_ctx_st *
https_context_of(struct slice certificate, const char *certificate_file,
    struct slice key, const char *key_file, struct err *err)
{
	struct tls_pair pair;

	if (tls_pair_parse(&pair, certificate, certificate_file, key,
	    key_file, err) < 0)
		return NULL;
	return https_take_pair(&pair, err);
}

struct ssl_ctx_st *
https_context(const char *certificate_file, const char *key_file,
    struct err *err)
{
	struct tls_pair pair;

	if (tls_pair_load(&pair, certificate_file, key_file, err) < 0)
		return NULL;
	return https_take_pair(&pair, err);
}

struct ssl_st *
https_link(struct ssl_ctx_st *context)
{
	return SSL_new(context);
}

struct ssl_ctx_st *
https_client_context(bool verifies, struct err *err)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	int roots = verifies ? tls_system_roots_open() : -1, result;

	if (context == NULL || SSL_CTX_set_min_proto_version(context,
	    TLS1_2_VERSION) != 1)
		result = tls_err(err, "cannot set up TLS");
	else	/* now: later no file can be opened */
		result = tls_load(context, roots, tls_load_roots,
		    "the system's roots", err);
	if (roots >= 0)
		close(roots);
	if (result < 0) {
		SSL_CTX_free(context);
		return NULL;
	}
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION |
	    SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	return context;
}

struct ssl_st *
https_client_link(struct ssl_ctx_st *context, const char *name)
{
	SSL *link = SSL_new(context);

	if (link == NULL || name == NULL)
		return link;
	SSL_set_verify(link, SSL_VERIFY_PEER, NULL);
	if (SSL_set_tlsext_host_name(link, name) == 1 &&
	    SSL_set1_host(link, name) == 1)
		return link;
	SSL_free(link);
	return NULL;
}

void
https_release(struct ssl_ctx_st *context)
{
	SSL_CTX_free(context);
}
