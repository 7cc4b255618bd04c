/* peer.h - a client's connection to another host, with absolute deadlines
 *
 * For straight-line code: calls block, but never after their deadline (a
 * clock_steady_ms moment).  What is to be sent collects in out and leaves
 * with peer_flush in one write; what came collects in in and is taken with
 * peer_unread and peer_consume.  While it waits to write, a flush reads, so
 * that two ends that both write do not wait for each other (RFC 2920
 * section 3.1).  After peer_encrypt the same calls go through a cipher.
 *
 * Life cycle: peer_init, then peer_connect or peer_adopt, maybe
 * peer_encrypt, then peer_close; the same struct (in the same place)
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
#include "io/cipher.h"

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

/* What encrypts.  state is what peer_encrypt was given. */
struct peer_cipher {
	/* One step of the handshake. */
	enum cipher_step (*shake)(void *state, struct err *err);
	/* *out_n bytes came.  Waits as long as the descriptor's receive
	 * time-out when may_wait. */
	enum cipher_step (*read)(void *state, char *out, size_t n,
	    bool may_wait, size_t *out_n, struct err *err);
	/* *out_n bytes were taken; after CIPHER_WANT_... call again with the
	 * same bytes. */
	enum cipher_step (*write)(void *state, const char *bytes, size_t n,
	    size_t *out_n, struct err *err);
	/* Say goodbye if that is possible at once, and free the state. */
	void (*end)(void *state);
};

struct peer {
	int		 fd;		/* -1: not connected */
	struct str	 in;		/* bytes from in_used on are unread */
	size_t		 in_used;
	struct str	 out;		/* not yet sent */
	int64_t		 slice_ms;	/* receive time-out set on fd */
	uint64_t	 sent_bytes;	/* since it was connected */
	const struct peer_cipher *cipher;	/* NULL: in the clear */
	void		*cipher_state;
	struct err	 cipher_words;	/* why it broke (errno EPROTO) */
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

/* Shake hands and speak through the cipher from now on; takes its state in
 * any case.  What came before the handshake and was not taken, and what was
 * to be sent, is forgotten: it was never protected.
 * returns PEER_OK; else the connection is of no more use: close it. */
enum peer_result peer_encrypt(struct peer *peer,
    const struct peer_cipher *cipher, void *state, int64_t deadline_ms,
    struct err *err);

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
