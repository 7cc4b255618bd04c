/* client_stream.h - the client's side of a TLS connection that a stream carries
 *
 * Nothing blocks: for loops that are clients of another program.  What blocks
 * uses a peer (client.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_CLIENT_STREAM_H
#define ZM_TLS_CLIENT_STREAM_H

#include "io/stream.h"
#include "tls/client.h"

/* Encrypt the stream from now on, as client (stream_encrypt): the handshake
 * begins when it is flushed; what is said meanwhile waits for its end.
 * client  outlives the stream; goal is read now.
 * returns 0; -1 with err, nothing changed. */
int stream_start_tls_client(struct stream *stream, struct tls_client *client,
    const struct tls_goal *goal, struct err *err);

/* When the server's certificate ends (wall, seconds); 0: no handshake was
 * finished. */
int64_t stream_tls_client_ends_s(const struct stream *stream);

#endif
