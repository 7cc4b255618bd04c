/* stream.h - a non-blocking, buffered stream over a socket, server side
 *
 * The stream owns the descriptor and its place in the loop.  Its owner is
 * called when something may have become possible, then asks: fill for
 * input, flush for output.  Neither blocks.  Encryption lives inside
 * (a record layer that wants to write in order to read is none of the
 * owner's business), which is why owners never see the descriptor.  While
 * a handshake is under way fill and flush move it on and nothing can be
 * read; what is said waits.
 *
 * Life cycle: stream_new, then per turn: stream_fill, look at stream_input,
 * stream_consume, stream_say, and at the end of the turn stream_flush and
 * stream_await.  stream_free closes.
 *
 * A stream that waits holds no input buffer: all streams of a process read
 * into one common bench.  What its owner left there is moved to a buffer of
 * the stream's own when another stream needs the bench.  So a slice from
 * stream_input is good until the next call of fill or consume on ANY stream.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_STREAM_H
#define ZM_IO_STREAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "io/cipher.h"
#include "io/loop.h"

enum {
	STREAM_INPUT_BYTES_MAX = 65536	/* unread bytes a stream can hold */
};

struct stream;

/* Something may be possible now. */
typedef void stream_fn(void *context);

/* Take over socket fd: it is made non-blocking and watched for input.
 * ready(context) is called in the loop. */
struct stream *stream_new(struct loop *loop, int fd, stream_fn *ready,
    void *context);

/* Close; unsent output and unread input are dropped.  Nulls *stream. */
void stream_free(struct stream **stream);

enum stream_got {
	STREAM_GOT = 1,		/* stream_input has more than before */
	STREAM_NOTHING = 0,	/* nothing has come, or no room for it */
	STREAM_EOF = -1,	/* the peer will say no more */
	STREAM_BROKEN = -2	/* reset: nothing can be read or written */
};

/* One read of what has come. */
enum stream_got stream_fill(struct stream *stream);

/* True when the last fill took all it had room for: there may be more. */
bool stream_was_full(const struct stream *stream);

/* Unread bytes. */
struct slice stream_input(const struct stream *stream);

/* The first n unread bytes are done with. */
void stream_consume(struct stream *stream, size_t n);

/* Say more.  Collected; stream_flush sends it.  The owner bounds it by
 * looking at stream_unsent_bytes. */
void stream_say(struct stream *stream, struct slice bytes);
size_t stream_unsent_bytes(const struct stream *stream);

enum stream_flushed {
	STREAM_FLUSH_BROKEN = -1,
	STREAM_FLUSH_PART = 0,
	STREAM_FLUSH_ALL = 1
};

/* Send what was said with one system call.  returns whether all of it is
 * sent. */
enum stream_flushed stream_flush(struct stream *stream);

/* From now on call ready() for input (if is_input) and, when output is
 * left, as soon as it can be sent. */
void stream_await(struct stream *stream, bool is_input);
/* Call ready() for nothing, also when output is left, until stream_await. */
void stream_rest(struct stream *stream);

/* What encrypts, over the stream's socket.  Nothing blocks. */
struct stream_cipher {
	/* A state over socket fd (borrowed) that calls wake(context) when a
	 * handshake that slept can go on; with is what stream_encrypt was
	 * given.  NULL with err. */
	void	*(*new)(void *with, int fd, stream_fn *wake, void *context,
		    struct err *err);
	/* The descriptor is closed next. */
	void	 (*release)(void *state);
	/* Go on with the handshake. */
	enum cipher_step (*shake)(void *state, struct err *err);
	/* A new turn of reading: the socket may have more. */
	void	 (*turn)(void *state);
	/* Up to n (> 0) bytes.  returns how many; STREAM_NOTHING: no more
	 * came in this turn; STREAM_EOF; STREAM_BROKEN. */
	ssize_t	 (*read)(void *state, char *out, size_t n);
	/* returns how many of the bytes were taken; -1 broken. */
	ssize_t	 (*write)(void *state, struct slice bytes);
	/* Does it wait until the socket can be written to? */
	bool	 (*wants_write)(const void *state);
	/* Does it wait for something else than the socket? */
	bool	 (*is_asleep)(const void *state);
	/* Tell the other side that no more will come. */
	void	 (*end)(void *state);
};

/* Encrypt from now on: what was said so far goes out in the clear, then the
 * client shall begin a handshake.  Unread input is dropped: whoever sent it
 * is not known to be who will be at the other end (RFC 3207 section 6).
 * returns 0, *out_dropped: how many bytes; -1 with err, nothing changed. */
int stream_encrypt(struct stream *stream, const struct stream_cipher *cipher,
    void *with, size_t *out_dropped, struct err *err);

enum stream_tls { STREAM_PLAIN, STREAM_SHAKING, STREAM_ENCRYPTED,
	STREAM_TLS_FAILED };
/* How far it is with that. */
enum stream_tls stream_tls(const struct stream *stream);
/* STREAM_TLS_FAILED: why. */
const char *stream_tls_trouble(const struct stream *stream);
/* What the cipher's new gave; NULL in the clear. */
void *stream_cipher_state(const struct stream *stream);

/* Has the peer left, or said its last byte?  Read or not. */
bool stream_peer_has_left(const struct stream *stream);

/* The peer shall see the end of our output (all of it was flushed). */
void stream_end_output(struct stream *stream);

#endif
