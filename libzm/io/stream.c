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
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/stream.h"

#include "base/banned.h"

enum {
	KEPT_OUTPUT_BYTES = 1024	/* larger buffers are given back */
};

struct stream {
	int		 fd;
	bool		 was_full;
	unsigned	 awaited;	/* what the watch is set to */
	struct watch	*watch;
	stream_fn	*ready;
	void		*context;
	struct str	 parked;	/* unread, moved off the bench */
	size_t		 parked_used;	/* of it, from its start */
	struct str	 output;
	size_t		 output_sent;	/* of output, from its start */
};

/* One bench a process: it is single-threaded, and only the stream that its
 * owner is busy with has bytes on it. */
static struct {
	char		 bytes[STREAM_INPUT_BYTES_MAX];
	size_t		 start, end;	/* unread */
	struct stream	*stream;	/* whose they are, or NULL */
} bench;

static void
bench_clear(void)
{
	if (bench.stream != NULL && bench.end > bench.start)
		str_add(&bench.stream->parked, bench.bytes + bench.start,
		    bench.end - bench.start);
	bench.stream = NULL;
	bench.start = bench.end = 0;
}

static struct slice
parked_of(const struct stream *stream)
{
	return slice_from(str_slice(&stream->parked), stream->parked_used);
}

/* What the stream has parked goes to the front of the bench. */
static void
bench_take(struct stream *stream)
{
	if (bench.stream != stream) {
		struct slice parked = parked_of(stream);

		bench_clear();
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
on_ready(void *context, unsigned ready)
{
	struct stream *stream = context;

	stream->ready(stream->context);
}

struct stream *
stream_new(struct loop *loop, int fd, stream_fn *ready, void *context)
{
	struct stream *stream = mem_alloc(1, sizeof(*stream));
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && (flags & O_NONBLOCK) == 0)
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	stream->fd = fd;
	stream->ready = ready;
	stream->context = context;
	str_init(&stream->parked);
	str_init(&stream->output);
	stream->awaited = LOOP_READ;
	stream->watch = loop_watch(loop, fd, LOOP_READ, on_ready, stream);
	return stream;
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
	watch_free(&s->watch);
	close(s->fd);
	str_release(&s->parked);
	str_release(&s->output);
	mem_free(stream);
}

enum stream_got
stream_fill(struct stream *stream)
{
	size_t room;
	ssize_t n;

	bench_take(stream);
	room = sizeof(bench.bytes) - bench.end;
	stream->was_full = false;
	if (room == 0)
		return STREAM_NOTHING;
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
	return parked_of(stream);
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

int
stream_flush(struct stream *stream)
{
	size_t unsent = stream_unsent_bytes(stream);
	ssize_t n;

	if (unsent == 0)
		return 1;
	do
		n = send(stream->fd, stream->output.buf + stream->output_sent,
		    unsent, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
	stream->output_sent += (size_t)n;
	if ((size_t)n < unsent)
		return 0;
	stream->output_sent = 0;
	if (stream->output.cap > KEPT_OUTPUT_BYTES)
		str_release(&stream->output);
	else
		str_reset(&stream->output);
	return 1;
}

void
stream_await(struct stream *stream, bool is_input)
{
	unsigned events = (is_input ? LOOP_READ : 0) |
	    (stream_unsent_bytes(stream) > 0 ? LOOP_WRITE : 0);

	if (events != stream->awaited) {
		watch_set(stream->watch, events);
		stream->awaited = events;
	}
}

void
stream_end_output(struct stream *stream)
{
	(void)shutdown(stream->fd, SHUT_WR);
}
