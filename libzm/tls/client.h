/* tls_client.h - what this process knows as a TLS client
 *
 * One struct tls_client holds trusted roots, our own certificate and the
 * sessions that servers gave us.  Files are opened when it is made and read
 * when the first handshake needs them (the system's roots: the first that is
 * strict), so that a process may lock itself in between.  A connection of it
 * lives in a struct peer (io/peer.h), which is the only caller of the
 * functions at the end.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_TLS_CLIENT_H
#define ZM_IO_TLS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "tls/tls.h"

enum {
	TLS_SESSIONS_MAX = 64,		/* kept, one a key */
	TLS_KEY_BYTES = 512,
	TLS_FILE_BYTES_MAX = 4 << 20	/* read of a file with certificates */
};

struct tls_client;
struct peer;

struct tls_client_files {	/* PEM; NULL: */
	const char	*roots;		/* the system's */
	const char	*certificate;	/* none is shown (chain behind it) */
	const char	*key;		/* it stands in certificate */
};

/* Open the files.  A system without roots is no error: nobody is verified
 * then.  NULL: a named file cannot be opened. */
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
};

/* ---- for io/peer.c ----------------------------------------------------- */

enum tls_step {
	TLS_DONE,
	TLS_WANT_READ, TLS_WANT_WRITE,	/* call again when that is possible */
	TLS_EOF,			/* the other side closed */
	TLS_BROKEN			/* err says why */
};

struct ssl_st;

/* An object for a handshake over peer's descriptor; NULL (err). */
struct ssl_st *tls_client_begin(struct tls_client *client,
    const struct tls_goal *goal, struct peer *peer, struct err *err);

/* One step of the handshake, of reading (*out_n bytes came) and of writing
 * (*out_n bytes were taken; after WANT call again with the same bytes).
 * Reading waits as long as the descriptor's receive time-out when
 * may_wait. */
enum tls_step tls_client_shake(struct ssl_st *ssl, struct err *err);
enum tls_step tls_client_read(struct ssl_st *ssl, char *out, size_t n,
    bool may_wait, size_t *out_n, struct err *err);
enum tls_step tls_client_write(struct ssl_st *ssl, const char *bytes,
    size_t n, size_t *out_n, struct err *err);

/* Say goodbye if that is possible at once, and free.  Nulls *ssl. */
void tls_client_end(struct ssl_st **ssl);

#endif
