/* peer.h - a client's connection to another host, with absolute deadlines
 *
 * For straight-line code: calls block, but never past their deadline (a
 * clock_steady_ms moment).  Bytes to be sent are collected in out, and
 * peer_flush sends them in one write; bytes that came are collected in in, and
 * taken with peer_unread and peer_consume.  While a flush waits to write, it
 * reads, so that two ends that both write do not wait for each other (RFC 2920
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
	PEER_OUT_BYTES = 64 * 1024	/* flush when out has as many */
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
	/* Read *out_n bytes.  may_wait: wait as long as the descriptor's
	 * receive time-out. */
	enum cipher_step (*read)(void *state, char *out, size_t n,
	    bool may_wait, size_t *out_n, struct err *err);
	/* Write *out_n of n bytes; after CIPHER_WANT_... call again with the
	 * same bytes. */
	enum cipher_step (*write)(void *state, const char *bytes, size_t n,
	    size_t *out_n, struct err *err);
	/* Tell the other side if that is possible at once; free the state. */
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

/* Make it unconnected, with empty buffers. */
void peer_init(struct peer *peer);
/* Close and free the buffers. */
void peer_release(struct peer *peer);

/* Connect a stream socket (TCP with TCP_NODELAY, or Unix). */
enum peer_result peer_connect(struct peer *peer,
    const struct sockaddr *address, socklen_t length, int64_t deadline_ms,
    struct err *err);

/* Serve a descriptor that is connected already; the peer then owns it. */
void peer_adopt(struct peer *peer, int fd);

/* Shake hands and use the cipher from now on; the peer owns its state, also
 * after a failure.  Unread bytes from before the handshake, and unsent ones,
 * are dropped, because they were not protected.
 * returns PEER_OK; otherwise the connection is unusable: close it. */
enum peer_result peer_encrypt(struct peer *peer,
    const struct peer_cipher *cipher, void *state, int64_t deadline_ms,
    struct err *err);

/* Drop the connection and all bytes in the buffers; may be called twice. */
void peer_close(struct peer *peer);

/* Is there a connection, as far as this side knows? */
bool peer_is_open(const struct peer *peer);

/* Is an idle connection still usable?  Does not wait.  false: the other side
 * closed it or sent something unasked. */
bool peer_is_quiet(struct peer *peer);

/* Send all of out.  PEER_OK, PEER_TIMEOUT or PEER_ERROR; in the last two
 * cases out keeps what was not sent. */
enum peer_result peer_flush(struct peer *peer, int64_t deadline_ms,
    struct err *err);

/* Wait for more bytes.  PEER_ERROR also when `in` has PEER_IN_BYTES_MAX. */
enum peer_result peer_fill(struct peer *peer, int64_t deadline_ms,
    struct err *err);

/* The bytes not yet taken; valid until the next call that reads. */
struct slice peer_unread(const struct peer *peer);
void peer_consume(struct peer *peer, size_t n);

#endif
