/* tls_client.h - a process as a TLS client
 *
 * One struct tls_client has trusted roots, our own certificate and the sessions
 * that servers gave us.  Files are opened when it is made and read when the
 * first handshake needs them (the system's roots: the first strict one), so
 * that a process can enter its sandbox in between.  A connection is in a struct
 * peer (io/peer.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_CLIENT_H
#define ZM_TLS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "io/peer.h"
#include "tls/tls.h"

enum {
	TLS_SESSIONS_MAX = 64,		/* kept, one a key */
	TLS_KEY_BYTES = 512,
	TLS_ROOTS_BYTES_MAX = 4 << 20	/* read of a file with certificates */
};

struct tls_client;
struct dns_records;

struct tls_client_files {	/* PEM; NULL: */
	const char	*roots;		/* the system's */
	const char	*certificate;	/* none is shown (chain after it) */
	const char	*key;		/* it stands in certificate */
};

/* Open the files.  A system without roots is no error, but then no server can
 * be verified.  Freed by tls_client_free.  NULL: a named file cannot be opened
 * (err). */
struct tls_client *tls_client_new(const struct tls_client_files *files,
    struct err *err);
void tls_client_free(struct tls_client **client);

/* What a connection must be. */
struct tls_goal {
	const char	*key;		/* a session is resumed only under the
					 * key it was made under: host, policy,
					 * names */
	const char	*sni;		/* told to the server; "" nothing */
	const char *const *names;	/* the certificate must have one of
					 * them; ".x": anything below x; an
					 * address stands alone */
	size_t		 name_count;
	bool		 is_strict;	/* no verified name, no connection;
					 * else the handshake goes on */
	bool		 is_exact;	/* the name stands there as it is: no
					 * wildcard, and no subject */
	bool		 is_judged;	/* have roots also where it goes on:
					 * is_verified is asked for */
	const struct dns_records *tlsa;	/* the certificate must be one that
					 * they name, with sni their base
					 * domain (RFC 7672 section 3); one
					 * is usable (tls/dane.h).  NULL: by
					 * roots and names */
};

/* Encrypt the peer's connection (peer_encrypt).
 * out_info  the result of the handshake
 * returns PEER_OK; else (err) the connection is unusable: close it. */
enum peer_result peer_start_tls(struct peer *peer, struct tls_client *client,
    const struct tls_goal *goal, int64_t deadline_ms,
    struct tls_info *out_info, struct err *err);

#endif
