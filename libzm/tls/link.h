/* link.h - the server's side of one TLS connection, which a stream carries
 *
 * Nothing blocks.  A handshake that waits for another process's signature
 * sleeps in an OpenSSL fibre (ASYNC_start_job(3)): a signing function puts it
 * to sleep by tls_link_pause, and tls_link_wake continues it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_LINK_H
#define ZM_TLS_LINK_H

#include "io/stream.h"
#include "tls/server.h"

struct tls_link;

/* Encrypt the stream from now on, as server (stream_encrypt).  returns 0, with
 * *out_dropped the number of unread bytes that were dropped; -1 with err,
 * nothing changed. */
int stream_start_tls(struct stream *stream, struct tls_server *server,
    size_t *out_dropped, struct err *err);

/* For a stream that is STREAM_ENCRYPTED: the result of the handshake. */
void stream_tls_info(const struct stream *stream, struct tls_info *out);

/* The same: has its client's certificate, verified (TLS_REQUIRE), that name? */
bool stream_tls_shows_name(const struct stream *stream, const char *name);

enum tls_binding { TLS_EXPORTER, TLS_SERVER_END_POINT };
/* Channel binding data into out[64].  RFC 9266 section 4.2; RFC 5929
 * section 4.1.  returns their length; 0: there are none, or it is not
 * STREAM_ENCRYPTED. */
size_t stream_tls_binding(const struct stream *stream,
    enum tls_binding kind, char out[64]);

/* ---- for signing functions -------------------------------------------- */

/* The link whose handshake is running, or NULL. */
struct tls_link *tls_link_current(void);
/* Sleep until tls_link_wake.  false: not in a handshake that can sleep;
 * block instead. */
bool tls_link_pause(void);
void tls_link_wake(struct tls_link *link);

#endif
