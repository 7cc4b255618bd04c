/* stream.h - a non-blocking, buffered stream over a socket, server side
 *
 * The stream owns the descriptor and its watch in the loop.  The stream's owner
 * is called when input or output may have become possible, and then calls fill
 * for input, flush for output.  Neither blocks.  Encryption is inside, so that
 * the owner need not care for a record layer that has to write in order to
 * read; therefore owners never see the descriptor.  During a handshake, fill
 * and flush advance it; nothing can be read, and output waits.
 *
 * Life cycle: stream_new, then per turn: stream_fill, look at stream_input,
 * stream_consume, stream_say, and at the end of the turn stream_flush and
 * stream_await.  stream_free closes.
 *
 * A waiting stream has no input buffer: all streams of a process read into one
 * shared buffer.  Input that an owner left there is moved to the stream's own
 * buffer when another stream reads.  So a slice from stream_input is valid
 * until the next call of fill or consume on ANY stream.
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

/* Close; unsent output and unread input are dropped.  Sets *stream to NULL. */
void stream_free(struct stream **stream);

enum stream_got {
	STREAM_GOT = 1,		/* stream_input has more than before */
	STREAM_NOTHING = 0,	/* nothing has come, or there is no room */
	STREAM_EOF = -1,	/* the peer will send no more */
	STREAM_BROKEN = -2	/* reset: nothing can be read or written */
};

/* One read of what has come. */
enum stream_got stream_fill(struct stream *stream);

/* Did the last fill read as much as there was room for?  There may be more. */
bool stream_was_full(const struct stream *stream);

/* Unread bytes. */
struct slice stream_input(const struct stream *stream);

/* Drop the first n unread bytes. */
void stream_consume(struct stream *stream, size_t n);

/* Add output, which stream_flush sends.  The owner bounds it by looking at
 * stream_unsent_bytes. */
void stream_say(struct stream *stream, struct slice bytes);
size_t stream_unsent_bytes(const struct stream *stream);

enum stream_flushed {
	STREAM_FLUSH_BROKEN = -1,
	STREAM_FLUSH_PART = 0,
	STREAM_FLUSH_ALL = 1
};

/* Send the output with one system call.  returns whether all of it was sent. */
enum stream_flushed stream_flush(struct stream *stream);

/* From now on call ready() for input (if is_input) and, if output is left, when
 * it can be sent. */
void stream_await(struct stream *stream, bool is_input);
/* Do not call ready() until stream_await, even if output is left. */
void stream_rest(struct stream *stream);

/* What encrypts, over the stream's socket.  Nothing blocks. */
struct stream_cipher {
	/* Make a state over socket fd (borrowed) that calls wake(context) when
	 * a handshake that slept can continue; with is what stream_encrypt was
	 * given.  NULL with err. */
	void	*(*new)(void *with, int fd, stream_fn *wake, void *context,
		    struct err *err);
	/* Free the state; the descriptor is closed next. */
	void	 (*release)(void *state);
	/* Continue the handshake. */
	enum cipher_step (*shake)(void *state, struct err *err);
	/* A new turn of reading: the socket may have more. */
	void	 (*turn)(void *state);
	/* Read up to n (> 0) bytes.  returns how many; STREAM_NOTHING: no more
	 * came in this turn; STREAM_EOF; STREAM_BROKEN. */
	ssize_t	 (*read)(void *state, char *out, size_t n);
	/* returns how many of the bytes were taken; -1 broken. */
	ssize_t	 (*write)(void *state, struct slice bytes);
	/* Does it wait until the socket can be written to? */
	bool	 (*wants_write)(const void *state);
	/* Does it wait for something other than the socket? */
	bool	 (*is_asleep)(const void *state);
	/* Tell the other side that no more will come. */
	void	 (*end)(void *state);
	/* What is written from now on may leave together with end's words,
	 * which follow at once; may be NULL. */
	void	 (*expect_end)(void *state);
};

/* Encrypt from now on: output so far goes out in the clear, then the client is
 * to begin a handshake.  Unread input is dropped, because its sender may not be
 * the client that will shake hands (RFC 3207 section 6).
 * returns 0, *out_dropped: how many bytes; -1 with err, nothing changed. */
int stream_encrypt(struct stream *stream, const struct stream_cipher *cipher,
    void *with, size_t *out_dropped, struct err *err);

enum stream_tls { STREAM_PLAIN, STREAM_SHAKING, STREAM_ENCRYPTED,
	STREAM_TLS_FAILED };
/* The state of its encryption. */
enum stream_tls stream_tls(const struct stream *stream);
/* Why it is STREAM_TLS_FAILED. */
const char *stream_tls_trouble(const struct stream *stream);
/* What the cipher's new returned; NULL in the clear. */
void *stream_cipher_state(const struct stream *stream);

/* Has the peer left, or sent its last byte, whether we have read it or not? */
bool stream_peer_has_left(const struct stream *stream);

/* The output that is flushed from now on is the last: it may leave in one
 * packet with the end of it, which must follow (stream_end_output,
 * stream_free). */
void stream_expect_end(struct stream *stream);

/* Let the peer see the end of our output, all of which was flushed. */
void stream_end_output(struct stream *stream);

#endif
