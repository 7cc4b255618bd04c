/* peer.h - a client's connection to another host, with absolute deadlines
 *
 * For straight-line code: calls block, but never behind their deadline (a
 * clock_steady_ms moment).  What is to be sent collects in out and leaves
 * with peer_flush in one write; what came collects in in and is taken with
 * peer_unread and peer_consume.  While it waits to write, a flush reads, so
 * that two ends that both write do not wait for each other (RFC 2920
 * section 3.1).  After peer_start_tls the same calls speak TLS.
 *
 * Life cycle: peer_init, then peer_connect or peer_adopt, maybe
 * peer_start_tls, then peer_close; the same struct (in the same place)
 * serves the next connection; peer_release at the end.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_PEER_H
#define ZM_IO_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"
#include "tls/client.h"

enum {
	PEER_IN_BYTES_MAX = 256 * 1024,	/* unread bytes that are kept */
	PEER_OUT_BYTES = 64 * 1024	/* flush when out has so many */
};

enum peer_result {
	PEER_OK = 1,
	PEER_EOF = 0,		/* the other side closed */
	PEER_TIMEOUT = -1,
	PEER_ERROR = -2		/* err has the system's words */
};

struct peer {
	int		 fd;		/* -1: not connected */
	struct str	 in;		/* bytes from in_used on are unread */
	size_t		 in_used;
	struct str	 out;		/* not yet sent */
	int64_t		 slice_ms;	/* receive time-out set on fd */
	uint64_t	 sent_bytes;	/* since it was connected */
	struct ssl_st	*ssl;		/* NULL: no TLS */
	struct err	 tls_words;	/* why TLS broke (errno EPROTO) */
};

/* Not connected, buffers empty. */
void peer_init(struct peer *peer);
/* Close and free the buffers. */
void peer_release(struct peer *peer);

/* Connect a stream socket (TCP with TCP_NODELAY, or Unix). */
enum peer_result peer_connect(struct peer *peer,
    const struct sockaddr *address, socklen_t length, int64_t deadline_ms,
    struct err *err);

/* Serve a descriptor that is connected already; takes it. */
void peer_adopt(struct peer *peer, int fd);

/* Make TLS of the connection.  What came before the handshake and was not
 * taken, and what was to be sent, is forgotten: it was never protected.
 * out_info  what it became.
 * returns PEER_OK; else the connection is of no more use: close it. */
enum peer_result peer_start_tls(struct peer *peer, struct tls_client *client,
    const struct tls_goal *goal, int64_t deadline_ms,
    struct tls_info *out_info, struct err *err);

/* Drop the connection and everything in the buffers; harmless twice. */
void peer_close(struct peer *peer);

/* Whether there is a connection, as far as this side knows. */
bool peer_is_open(const struct peer *peer);

/* Looks, without waiting, whether an idle connection still stands: false
 * when the other side closed it or said something nobody asked for. */
bool peer_is_quiet(struct peer *peer);

/* Send all of out.  PEER_OK, PEER_TIMEOUT or PEER_ERROR; in the last two
 * cases out keeps what was not sent. */
enum peer_result peer_flush(struct peer *peer, int64_t deadline_ms,
    struct err *err);

/* Wait for more bytes.  PEER_ERROR when in holds PEER_IN_BYTES_MAX. */
enum peer_result peer_fill(struct peer *peer, int64_t deadline_ms,
    struct err *err);

/* The bytes not yet taken; valid until the next call that reads. */
struct slice peer_unread(const struct peer *peer);
void peer_consume(struct peer *peer, size_t n);

#endif
