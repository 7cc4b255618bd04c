/* stream.h - a non-blocking, buffered stream over a socket, server side
 *
 * The stream owns the descriptor and its place in the loop.  Its owner is
 * called when something may have become possible, then asks: fill for
 * input, flush for output.  Neither blocks.  Encryption will live inside
 * (a record layer that wants to write in order to read is none of the
 * owner's business), which is why owners never see the descriptor.
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

#include "base/str.h"
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

/* Send what was said with one system call.  returns 1 all is sent, 0 some
 * is left, -1 the stream is broken. */
int stream_flush(struct stream *stream);

/* From now on call ready() for input (if is_input) and, when output is
 * left, as soon as it can be sent. */
void stream_await(struct stream *stream, bool is_input);

/* The peer shall see the end of our output (all of it was flushed). */
void stream_end_output(struct stream *stream);

#endif
