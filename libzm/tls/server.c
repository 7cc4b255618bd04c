/* tls_server.c - what a TLS server shows and asks, for all its connections
 *
 * In     certificates, keys (or who signs for them), names
 * Out    connections of OpenSSL's, ready for a handshake
 * Holds  a context for each set of names
 * Trusts nothing of a client: the name it asks for is looked up, no more
 * Spec   RFC 8446; RFC 6066 section 3; RFC 7465, 9325 (what not to use);
 *        RFC 6125 section 6.4.3 (*.x: one label; ours, .x: any number)
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "tls/internal.h"

#include "base/banned.h"

/* Of TLS 1.2: what clients of the last ten years have.  No static RSA (the
 * key process signs, it does not decrypt), no finite-field DH. */
#define TLS12_SUITES "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:" \
	"!aNULL:!eNULL:!PSK:!SRP"

struct tls_name {
	char		*text;			/* lower case */
	SSL_CTX		*context;
	size_t		 order;			/* as they were added */
};

struct tls_set {			/* certificates for the same names */
	char			*names;		/* as configured, or joined */
	SSL_CTX			*context;
	STAILQ_ENTRY(tls_set)	 entry;
};

struct tls_server {
	unsigned		 holders;
	bool			 needs_tls13;
	enum tls_ask		 ask;
	X509_STORE		*roots;		/* NULL: nobody is asked */
	STACK_OF(X509_NAME)	*root_names;
	struct tls_tickets	*tickets;
	struct tls_name		*names;
	size_t			 name_count, name_room;
	bool			 is_sorted;
	STAILQ_HEAD(, tls_set)	 sets;		/* the first: for all others */
};

/* ---- life ------------------------------------------------------------- */

/* Roots that client certificates may lead to. */
static int
server_roots_load(struct tls_server *server, struct slice pem, struct err *err)
{
	X509 *root;
	BIO *bio;

	server->roots = X509_STORE_new();
	server->root_names = sk_X509_NAME_new_null();
	if (pem.n == 0)
		return X509_STORE_set_default_paths(server->roots) == 1 ? 1 :
		    tls_err(err, "the system's certificate authorities");
	bio = BIO_new_mem_buf(pem.p, (int)pem.n);
	while ((root = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
		(void)X509_STORE_add_cert(server->roots, root);
		sk_X509_NAME_push(server->root_names,
		    X509_NAME_dup(X509_get_subject_name(root)));
		X509_free(root);
	}
	BIO_free(bio);
	if (sk_X509_NAME_num(server->root_names) == 0)
		return tls_err(err, "no certificate of an authority");
	ERR_clear_error();	/* the end of the text */
	return 1;
}

struct tls_server *
tls_server_new(const struct tls_terms *terms, struct tls_tickets *tickets,
    struct err *err)
{
	struct tls_server *server = mem_alloc(1, sizeof(*server));

	server->holders = 1;
	server->needs_tls13 = terms->needs_tls13;
	server->ask = terms->ask;
	server->tickets = tickets;
	STAILQ_INIT(&server->sets);
	if (terms->ask != TLS_ASK_NOBODY &&
	    server_roots_load(server, terms->ca, err) != 1)
		tls_server_drop(&server);
	return server;
}

struct tls_server *
tls_server_hold(struct tls_server *server)
{
	server->holders++;
	return server;
}

void
tls_server_drop(struct tls_server **server)
{
	struct tls_server *s = *server;
	struct tls_set *set;

	*server = NULL;
	if (s == NULL || --s->holders > 0)
		return;
	for (size_t i = 0; i < s->name_count; i++)
		mem_free(&s->names[i].text);
	mem_free(&s->names);
	while ((set = STAILQ_FIRST(&s->sets)) != NULL) {
		STAILQ_REMOVE_HEAD(&s->sets, entry);
		SSL_CTX_free(set->context);
		mem_free(&set->names);
		mem_free(&set);
	}
	X509_STORE_free(s->roots);
	sk_X509_NAME_pop_free(s->root_names, X509_NAME_free);
	mem_free(&s);
}

/* ---- names ------------------------------------------------------------ */

static int
name_compare(const void *a, const void *b)
{
	const struct tls_name *one = a, *other = b;
	int order = strcmp(one->text, other->text);

	if (order != 0)
		return order;
	return one->order < other->order ? -1 : one->order > other->order;
}

/* The first that has this name, or NULL. */
static SSL_CTX *
name_find(struct tls_server *server, const char *text)
{
	size_t low = 0, high = server->name_count;

	if (!server->is_sorted)
		qsort(server->names, server->name_count,
		    sizeof(*server->names), name_compare);
	server->is_sorted = true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(server->names[middle].text, text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < server->name_count &&
	    strcmp(server->names[low].text, text) == 0 ?
	    server->names[low].context : NULL;
}

static void
name_add(struct tls_server *server, const char *text, SSL_CTX *context)
{
	if (server->name_count == server->name_room) {
		server->name_room = server->name_room * 2 + 8;
		server->names = mem_grow(server->names, server->name_room,
		    sizeof(*server->names));
	}
	server->names[server->name_count] = (struct tls_name){
		mem_strdup(text), context, server->name_count };
	server->name_count++;
	server->is_sorted = false;
}

static void
names_add_one(struct str *out, struct slice name)
{
	if (out->len > 0)
		str_addc(out, ' ');
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		str_addc(out, ascii_lower(c));
	}
}

/* A name with a blank or a NUL in it is none; nobody can ask for it. */
static bool
server_is_name(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~')
			return false;
	return name.n > 0 && name.n < 256;
}

/* The names in a certificate, blanks between. */
static void
names_of(X509 *leaf, struct str *out)
{
	GENERAL_NAMES *all = X509_get_ext_d2i(leaf, NID_subject_alt_name,
	    NULL, NULL);
	char common[256] = "";

	for (int i = 0; i < sk_GENERAL_NAME_num(all); i++) {
		const GENERAL_NAME *one = sk_GENERAL_NAME_value(all, i);
		struct slice name;

		if (one->type != GEN_DNS)
			continue;
		name.p = (const char *)ASN1_STRING_get0_data(one->d.dNSName);
		name.n = (size_t)ASN1_STRING_length(one->d.dNSName);
		if (server_is_name(name))
			names_add_one(out, name);
	}
	GENERAL_NAMES_free(all);
	X509_NAME_get_text_by_NID(X509_get_subject_name(leaf),
	    NID_commonName, common, sizeof(common));
	if (out->len == 0 && server_is_name(slice_of(common)))
		names_add_one(out, slice_of(common));
}

/* For OpenSSL: the client asked for a name.  RFC 6066 section 3: one that
 * we do not have is no reason to refuse. */
static int
on_servername(SSL *ssl, int *alert, void *argument)
{
	const char *asked = SSL_get_servername(ssl,
	    TLSEXT_NAMETYPE_host_name);
	struct str name = STR_INIT;
	SSL_CTX *context = NULL;
	size_t dot;

	if (asked != NULL && server_is_name(slice_of(asked))) {
		names_add_one(&name, slice_of(asked));
		context = name_find(argument, name.buf);
		dot = slice_find(str_slice(&name), '.');
		if (context == NULL && dot > 0 && dot < name.len) {
			name.buf[dot - 1] = '*';
			context = name_find(argument, name.buf + dot - 1);
		}
		for (; context == NULL && dot < name.len;
		    dot += 1 + slice_find(slice_from(str_slice(&name),
		    dot + 1), '.'))
			context = name_find(argument, name.buf + dot);
	}
	str_release(&name);
	if (context == NULL)
		return SSL_TLSEXT_ERR_NOACK;
	SSL_set_SSL_CTX(ssl, context);
	return SSL_TLSEXT_ERR_OK;
}

/* ---- contexts --------------------------------------------------------- */

/* TLS_ASK: what the certificate is worth is for policy to say. */
static int
on_verify_any(int is_good, X509_STORE_CTX *store)
{
	return 1;
}

static void
ask_set(const struct tls_server *server, SSL_CTX *context)
{
	static const unsigned char id[] = "zmailer";

	(void)SSL_CTX_set_session_id_context(context, id, sizeof(id) - 1);
	if (server->ask == TLS_ASK_NOBODY)
		return;
	SSL_CTX_set1_cert_store(context, server->roots);
	SSL_CTX_set_client_CA_list(context,
	    SSL_dup_CA_list(server->root_names));
	/* Servers show the certificate they have; many of those are not
	 * marked as being for clients. */
	(void)SSL_CTX_set_purpose(context, X509_PURPOSE_ANY);
	SSL_CTX_set_verify(context, server->ask == TLS_REQUIRE ?
	    SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT :
	    SSL_VERIFY_PEER,
	    server->ask == TLS_REQUIRE ? NULL : on_verify_any);
}

static SSL_CTX *
context_new(struct tls_server *server, struct err *err)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	if (context == NULL ||
	    SSL_CTX_set_min_proto_version(context, server->needs_tls13 ?
	    TLS1_3_VERSION : TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_cipher_list(context, TLS12_SUITES) != 1) {
		SSL_CTX_free(context);
		tls_err(err, "cannot set up TLS");
		return NULL;
	}
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION |
	    SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
	    SSL_OP_PRIORITIZE_CHACHA | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS |
	    SSL_MODE_ENABLE_PARTIAL_WRITE |
	    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(context, 1);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_timeout(context, TLS_TICKET_FOR_S);
	(void)SSL_CTX_set_num_tickets(context, server->tickets != NULL);
	if (server->tickets == NULL)
		SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
	else
		SSL_CTX_set_tlsext_ticket_key_evp_cb(context,
		    tls_ticket_crypt);
	SSL_CTX_set_app_data(context, server->tickets);
	SSL_CTX_set_tlsext_servername_callback(context, on_servername);
	SSL_CTX_set_tlsext_servername_arg(context, server);
	ask_set(server, context);
	return context;
}

static struct tls_set *
set_find(struct tls_server *server, const char *names)
{
	struct tls_set *set;

	STAILQ_FOREACH(set, &server->sets, entry)
		if (strcmp(set->names, names) == 0)
			return set;
	return NULL;
}

static struct tls_set *
set_new(struct tls_server *server, struct slice names, struct err *err)
{
	SSL_CTX *context = context_new(server, err);
	struct slice rest = names, name;
	struct tls_set *set;
	struct str text = STR_INIT;

	if (context == NULL)
		return NULL;
	set = mem_alloc(1, sizeof(*set));
	set->context = context;
	set->names = mem_strdup(names.p);
	STAILQ_INSERT_TAIL(&server->sets, set, entry);
	while (slice_word(&rest, &name)) {
		str_reset(&text);
		str_add_slice(&text, name);
		name_add(server, text.buf, context);
	}
	str_release(&text);
	return set;
}

static STACK_OF(X509) *
chain_parse(struct slice der)
{
	const unsigned char *at = (const unsigned char *)der.p;
	const unsigned char *end = at + der.n;
	STACK_OF(X509) *chain = sk_X509_new_null();

	while (at < end) {
		X509 *one = d2i_X509(NULL, &at, end - at);

		if (one == NULL)
			break;
		sk_X509_push(chain, one);
	}
	if (at == end && sk_X509_num(chain) > 0)
		return chain;
	sk_X509_pop_free(chain, X509_free);
	return NULL;
}

/* Takes nothing over; OpenSSL holds what it needs. */
static int
pair_use(struct tls_server *server, const char *name, X509 *leaf,
    STACK_OF(X509) *others, EVP_PKEY *key, struct err *err)
{
	struct str names = STR_INIT;
	struct tls_set *set;
	int result = -1;

	if (name != NULL)
		names_add_one(&names, slice_of(name));
	else
		names_of(leaf, &names);
	set = set_find(server, names.buf);
	if (set == NULL)
		set = set_new(server, str_slice(&names), err);
	if (set != NULL) {
		result = 0;
		if (SSL_CTX_use_cert_and_key(set->context, leaf, key, others,
		    0) != 1)
			result = tls_err(err, "cannot use the certificate");
	}
	str_release(&names);
	return result;
}

static int
chain_use(struct tls_server *server, const char *name, struct slice der,
    EVP_PKEY *key, const struct tls_remote *remote, struct err *err)
{
	STACK_OF(X509) *chain = chain_parse(der);
	EVP_PKEY *made = NULL;
	int result = -1;
	X509 *leaf;

	if (chain == NULL)
		return tls_err(err, "this is no chain of certificates");
	leaf = sk_X509_shift(chain);
	if (remote != NULL)
		key = made = tls_remote_key(leaf, remote, err);
	if (key != NULL)
		result = pair_use(server, name, leaf, chain, key, err);
	EVP_PKEY_free(made);
	X509_free(leaf);
	sk_X509_pop_free(chain, X509_free);
	return result;
}

int
tls_server_add(struct tls_server *server, const char *name,
    struct slice chain, struct evp_pkey_st *key, struct err *err)
{
	return chain_use(server, name, chain, key, NULL, err);
}

int
tls_server_add_remote(struct tls_server *server, const char *name,
    struct slice chain, const struct tls_remote *remote, struct err *err)
{
	return chain_use(server, name, chain, NULL, remote, err);
}

/* Has it a certificate? */
static bool
tls_server_is_ready(const struct tls_server *server)
{
	return !STAILQ_EMPTY(&server->sets);
}

struct ssl_st *
tls_server_ssl(struct tls_server *server)
{
	return tls_server_is_ready(server) ?
	    SSL_new(STAILQ_FIRST(&server->sets)->context) : NULL;
}
