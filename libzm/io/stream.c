/* stream.c - bytes in and out of one socket without ever waiting for it
 *
 * In     a connected socket, readiness from the loop
 * Out    slices of unread bytes; one send for all that was said in a turn
 * Holds  the descriptor; output that the peer has not taken; input only
 *        while its owner cannot use it (at most STREAM_INPUT_BYTES_MAX)
 * Trusts nothing about the pace or the size of what comes
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/stream.h"

#include "base/banned.h"

#ifndef MSG_MORE
#define MSG_MORE 0
#endif

enum {
	KEPT_OUTPUT_BYTES = 1024	/* larger buffers are given back */
};

struct stream {
	int		 fd;
	bool		 was_full;
	bool		 expects_end;	/* see stream_expect_end */
	unsigned	 awaited;	/* what the watch is set to */
	struct loop	*loop;
	struct watch	*watch;
	stream_fn	*ready;
	void		*context;
	struct str	 parked;	/* unread, moved off the bench */
	size_t		 parked_used;	/* of it, from its start */
	struct str	 output;
	size_t		 output_sent;	/* of output, from its start */
	struct stream_cover *cover;	/* NULL: in the clear */
};

struct stream_cover {
	const struct stream_cipher *cipher;
	void		*cipher_state;
	enum stream_tls	 state;
	size_t		 clear_end;	/* of output: up to here in the clear */
	bool		 has_more;	/* that no event will tell of */
	struct timer	 timer;
	struct err	 trouble;
};

/* One bench a process: it is single-threaded, and only the stream that its
 * owner is busy with has bytes on it. */
static struct {
	char		 bytes[STREAM_INPUT_BYTES_MAX];
	size_t		 start, end;	/* unread */
	struct stream	*stream;	/* whose they are, or NULL */
} bench;

static void
stream_bench_clear(void)
{
	if (bench.stream != NULL && bench.end > bench.start)
		str_add(&bench.stream->parked, bench.bytes + bench.start,
		    bench.end - bench.start);
	bench.stream = NULL;
	bench.start = bench.end = 0;
}

static struct slice
stream_parked(const struct stream *stream)
{
	return slice_from(str_slice(&stream->parked), stream->parked_used);
}

/* What the stream has parked goes to the front of the bench. */
static void
stream_bench_take(struct stream *stream)
{
	if (bench.stream != stream) {
		struct slice parked = stream_parked(stream);

		stream_bench_clear();
		bench.stream = stream;
		bench.end = parked.n;
		memcpy(bench.bytes, parked.p, parked.n);
		str_release(&stream->parked);
		stream->parked_used = 0;
	}
	if (bench.start > 0) {
		memmove(bench.bytes, bench.bytes + bench.start,
		    bench.end - bench.start);
		bench.end -= bench.start;
		bench.start = 0;
	}
}

static void
stream_on_ready(void *context, unsigned ready)
{
	struct stream *stream = context;

	stream->ready(stream->context);
}

static void
stream_wake(void *context)
{
	stream_on_ready(context, 0);
}

struct stream *
stream_new(struct loop *loop, int fd, stream_fn *ready, void *context)
{
	struct stream *stream = mem_alloc(1, sizeof(*stream));
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && (flags & O_NONBLOCK) == 0)
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	stream->fd = fd;
	stream->loop = loop;
	stream->ready = ready;
	stream->context = context;
	str_init(&stream->parked);
	str_init(&stream->output);
	stream->awaited = LOOP_READ;
	stream->watch = loop_watch(loop, fd, LOOP_READ, stream_on_ready,
	    stream);
	return stream;
}

static void
stream_cover_release(struct stream *stream)
{
	struct stream_cover *cover = stream->cover;

	if (cover == NULL)
		return;
	if (cover->state == STREAM_ENCRYPTED)
		cover->cipher->end(cover->cipher_state);
	cover->cipher->release(cover->cipher_state);
	timer_clear(&cover->timer);
	mem_free(&stream->cover);
}

void
stream_free(struct stream **stream)
{
	struct stream *s = *stream;

	if (s == NULL)
		return;
	if (bench.stream == s) {
		bench.stream = NULL;
		bench.start = bench.end = 0;
	}
	stream_cover_release(s);
	watch_free(&s->watch);
	/* The last words may wait for this; close() would drop them if there
	 * is something that we have not read. */
	if (s->expects_end)
		(void)shutdown(s->fd, SHUT_WR);
	close(s->fd);
	str_release(&s->parked);
	str_release(&s->output);
	mem_free(stream);
}

/* ---- encrypted -------------------------------------------------------- */

int
stream_encrypt(struct stream *stream, const struct stream_cipher *cipher,
    void *with, size_t *out_dropped, struct err *err)
{
	void *state = cipher->new (with, stream->fd, stream_wake, stream, err);
	struct stream_cover *cover;

	if (state == NULL)
		return -1;
	*out_dropped = stream_input(stream).n;
	stream_consume(stream, *out_dropped);
	cover = stream->cover = mem_alloc(1, sizeof(*cover));
	cover->cipher = cipher;
	cover->cipher_state = state;
	cover->state = STREAM_SHAKING;
	cover->clear_end = stream->output.len;
	return 0;
}

enum stream_tls
stream_tls(const struct stream *stream)
{
	return stream->cover != NULL ? stream->cover->state : STREAM_PLAIN;
}

const char *
stream_tls_trouble(const struct stream *stream)
{
	return stream->cover->trouble.text;
}

void *
stream_cipher_state(const struct stream *stream)
{
	return stream->cover != NULL ? stream->cover->cipher_state : NULL;
}

/* Bytes that must leave before the handshake. */
static size_t
stream_clear_bytes(const struct stream *stream)
{
	const struct stream_cover *cover = stream->cover;

	return cover != NULL && cover->clear_end > stream->output_sent ?
	    cover->clear_end - stream->output_sent : 0;
}

/* A step of the handshake.  false: it failed. */
static bool
stream_shake(struct stream *stream)
{
	struct stream_cover *cover = stream->cover;

	if (cover->state != STREAM_SHAKING || stream_clear_bytes(stream) > 0)
		return cover->state != STREAM_TLS_FAILED;
	cover->cipher->turn(cover->cipher_state);
	switch (cover->cipher->shake(cover->cipher_state, &cover->trouble)) {
	case CIPHER_DONE:
		cover->state = STREAM_ENCRYPTED;
		return true;
	case CIPHER_WANT_READ:
	case CIPHER_WANT_WRITE:
		return true;
	case CIPHER_EOF:
	case CIPHER_BROKEN:
		break;
	}
	cover->state = STREAM_TLS_FAILED;
	return false;
}

static enum stream_got
stream_decrypt(struct stream *stream)
{
	struct stream_cover *cover = stream->cover;
	bool was_shaking = cover->state == STREAM_SHAKING;
	size_t before = bench.end;
	ssize_t n = 0;

	cover->has_more = false;
	if (!stream_shake(stream))
		return STREAM_BROKEN;
	if (cover->state != STREAM_ENCRYPTED)
		return STREAM_NOTHING;
	if (!was_shaking)		/* its end was in this turn */
		cover->cipher->turn(cover->cipher_state);
	while (bench.end < sizeof(bench.bytes) && (n = cover->cipher->read(
	    cover->cipher_state, bench.bytes + bench.end,
	    sizeof(bench.bytes) - bench.end)) > 0)
		bench.end += (size_t)n;
	stream->was_full = bench.end == sizeof(bench.bytes);
	/* The socket is not ready for what OpenSSL has taken from it. */
	if (bench.end > before)
		cover->has_more = n != STREAM_NOTHING;
	return bench.end > before ? STREAM_GOT : n == STREAM_EOF ?
	    STREAM_EOF : n == STREAM_BROKEN ? STREAM_BROKEN : STREAM_NOTHING;
}

/* The part of the handshake that a write has to do. */
static bool
stream_push(struct stream *stream)
{
	return stream->cover->state != STREAM_SHAKING ||
	    !stream->cover->cipher->wants_write(stream->cover->cipher_state) ||
	    stream_shake(stream);
}

/* What is encrypted goes out after what is not. */
static ssize_t
stream_send_encrypted(struct stream *stream)
{
	struct slice unsent = slice_from(str_slice(&stream->output),
	    stream->output_sent);

	if (!stream_push(stream))
		return -1;
	return stream->cover->state == STREAM_ENCRYPTED ?
	    stream->cover->cipher->write(
	    stream->cover->cipher_state, unsent) : 0;
}

/* ---- input ------------------------------------------------------------ */

enum stream_got
stream_fill(struct stream *stream)
{
	size_t room;
	ssize_t n;

	stream_bench_take(stream);
	room = sizeof(bench.bytes) - bench.end;
	stream->was_full = false;
	if (room == 0)
		return STREAM_NOTHING;
	if (stream->cover != NULL)
		return stream_decrypt(stream);
	do
		n = recv(stream->fd, bench.bytes + bench.end, room, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ?
		    STREAM_NOTHING : STREAM_BROKEN;
	if (n == 0)
		return STREAM_EOF;
	bench.end += (size_t)n;
	stream->was_full = (size_t)n == room;
	return STREAM_GOT;
}

bool
stream_was_full(const struct stream *stream)
{
	return stream->was_full;
}

struct slice
stream_input(const struct stream *stream)
{
	if (bench.stream == stream)
		return (struct slice){ bench.bytes + bench.start,
		    bench.end - bench.start };
	return stream_parked(stream);
}

void
stream_consume(struct stream *stream, size_t n)
{
	if (n > stream_input(stream).n)
		panic("stream_consume: %zu bytes that are not there", n);
	if (bench.stream != stream) {
		stream->parked_used += n;
		return;
	}
	bench.start += n;
	if (bench.start == bench.end)
		bench.start = bench.end = 0;
}

/* ---- output ----------------------------------------------------------- */

void
stream_say(struct stream *stream, struct slice bytes)
{
	str_add_slice(&stream->output, bytes);
}

size_t
stream_unsent_bytes(const struct stream *stream)
{
	return stream->output.len - stream->output_sent;
}

static ssize_t
stream_send_plain(struct stream *stream, size_t bytes)
{
	ssize_t n;

	do
		n = send(stream->fd, stream->output.buf + stream->output_sent,
		    bytes, MSG_NOSIGNAL | (stream->expects_end &&
		    stream->cover == NULL ? MSG_MORE : 0));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
	return n;
}

static void
stream_output_forget(struct stream *stream)
{
	stream->output_sent = 0;
	if (stream->cover != NULL)
		stream->cover->clear_end = 0;
	if (stream->output.cap > KEPT_OUTPUT_BYTES)
		str_release(&stream->output);
	else
		str_reset(&stream->output);
}

enum stream_flushed
stream_flush(struct stream *stream)
{
	size_t clear = stream_clear_bytes(stream);
	ssize_t n;

	if (stream_unsent_bytes(stream) == 0)
		return stream->cover == NULL || stream_push(stream) ?
		    STREAM_FLUSH_ALL : STREAM_FLUSH_BROKEN;
	if (stream->cover == NULL || clear > 0)
		n = stream_send_plain(stream, clear > 0 ? clear :
		    stream_unsent_bytes(stream));
	else
		n = stream_send_encrypted(stream);
	if (n < 0)
		return STREAM_FLUSH_BROKEN;
	stream->output_sent += (size_t)n;
	if (stream_unsent_bytes(stream) > 0)
		return STREAM_FLUSH_PART;
	stream_output_forget(stream);
	return STREAM_FLUSH_ALL;
}

/* What the record layer waits for is none of the owner's business. */
static unsigned
stream_cover_events(struct stream *stream, bool is_input)
{
	struct stream_cover *cover = stream->cover;
	unsigned events = is_input ? LOOP_READ : 0;

	if (cover->cipher->is_asleep(cover->cipher_state))
		return 0;
	if (cover->state == STREAM_SHAKING)
		return cover->cipher->wants_write(cover->cipher_state) ||
		    stream_clear_bytes(stream) > 0 ? LOOP_WRITE : LOOP_READ;
	if (cover->has_more && is_input)
		timer_set(stream->loop, &cover->timer, clock_steady_ms(),
		    stream_wake, stream);
	return events | (stream_unsent_bytes(stream) > 0 ||
	    cover->cipher->wants_write(cover->cipher_state) ? LOOP_WRITE : 0);
}

void
stream_await(struct stream *stream, bool is_input)
{
	unsigned events = stream->cover != NULL ? stream_cover_events(stream,
	    is_input) :
	    (is_input ? LOOP_READ : 0) |
	    (stream_unsent_bytes(stream) > 0 ? LOOP_WRITE : 0);

	if (events != stream->awaited) {
		watch_set(stream->watch, events);
		stream->awaited = events;
	}
}

void
stream_rest(struct stream *stream)
{
	if (stream->awaited != 0) {
		watch_set(stream->watch, 0);
		stream->awaited = 0;
	}
}

bool
stream_peer_has_left(const struct stream *stream)
{
	struct pollfd look = { stream->fd, POLLRDHUP, 0 };

	return poll(&look, 1, 0) > 0;
}

void
stream_expect_end(struct stream *stream)
{
	const struct stream_cover *cover = stream->cover;

	stream->expects_end = true;
	if (cover != NULL && cover->cipher->expect_end != NULL)
		cover->cipher->expect_end(cover->cipher_state);
}

void
stream_end_output(struct stream *stream)
{
	if (stream_tls(stream) == STREAM_ENCRYPTED)
		stream->cover->cipher->end(stream->cover->cipher_state);
	(void)shutdown(stream->fd, SHUT_WR);
}
