/* tls_server.h - a TLS server: the certificates it shows, what it asks of
 * clients
 *
 * A server has one or more certificates.  Which one a client sees is chosen
 * by the name it asked for (SNI); the first one is for everybody else.
 * Two certificates with the same names and keys of different kinds stand
 * beside each other: the client's algorithms choose.
 *
 * TLS 1.2 and up, only suites with forward secrecy and no static RSA, no
 * renegotiation, no compression, no early data.  A server is never changed
 * once it serves: make a new one, and let connections keep the old.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_SERVER_H
#define ZM_TLS_SERVER_H

#include "tls/tls.h"
#include "tls/sign.h"

/* ---- tickets ---------------------------------------------------------- */

enum { TLS_TICKET_KEY_BYTES = 80, TLS_TICKET_FOR_S = 7200 };

/* The keys that seal session tickets: the current one, and the previous one,
 * with which tickets are still opened (and renewed). */
struct tls_tickets;

/* New, with a random key; freed by tls_tickets_free. */
struct tls_tickets *tls_tickets_new(void);
void tls_tickets_free(struct tls_tickets **tickets);
/* Make a random key. */
void tls_ticket_key_make(char out[TLS_TICKET_KEY_BYTES]);
/* Set both keys, of TLS_TICKET_KEY_BYTES each; previous may be empty.  0, or
 * -1: wrong length. */
int tls_tickets_set(struct tls_tickets *tickets, struct slice current,
    struct slice previous);

/* ---- the server ------------------------------------------------------- */

struct tls_terms {
	bool		needs_tls13;
	enum tls_ask { TLS_ASK_NOBODY, TLS_ASK, TLS_REQUIRE } ask;
				/* TLS_ASK: any certificate will do, what it
				 * is worth stands in tls_info; TLS_REQUIRE:
				 * no handshake without a verified one */
	struct slice	ca;	/* PEM: who may have signed it; empty: the
				 * system's */
};

struct tls_server;

/* terms are copied; tickets are borrowed and must outlive the server and
 * its connections; NULL: no session is resumed, so that each shows its
 * certificate anew.  NULL with err. */
struct tls_server *tls_server_new(const struct tls_terms *terms,
    struct tls_tickets *tickets, struct err *err);
struct tls_server *tls_server_hold(struct tls_server *server);
/* Nulls *server; the last holder frees it. */
void tls_server_drop(struct tls_server **server);

/* Add a certificate.  name: the names for which clients get it by SNI
 * ("mx.example.org", ".example.org": all below; several with blanks between);
 * NULL: the names in the certificate.  chain: DER, one after the other.  Its
 * key is elsewhere (tls_sign.h).  0 or -1. */
int tls_server_add_remote(struct tls_server *server, const char *name,
    struct slice chain, const struct tls_remote *remote, struct err *err);

/* The same with a local key, borrowed for the call: for a process whose peers
 * are few and known. */
int tls_server_add(struct tls_server *server, const char *name,
    struct slice chain, struct evp_pkey_st *key, struct err *err);

/* For link.c: a new connection's OpenSSL state. */
struct ssl_st *tls_server_ssl(struct tls_server *server);

#endif
