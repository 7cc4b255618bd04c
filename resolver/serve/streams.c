/* streams.c - questions that come by TCP
 *
 * In     connections of processes of this host
 * Out    answers, each with its length in front
 * Holds  the connections, with the questions of each
 * Trusts nobody: what comes and what waits to go is bounded
 * Spec   streams.h; RFC 1035 section 4.2.2, RFC 7766
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "resolver/serve/streams.h"

#include "base/banned.h"

enum {
	STREAM_READ_BYTES = 4096,
	STREAM_LENGTH_BYTES = 2,
	STREAM_OUT_BYTES_MAX = 1 << 18	/* more, and it reads no question */
};

struct stream_wait {		/* a question of a connection */
	struct dns_stream	*stream;
	struct unanswered	*wait;
	LIST_ENTRY(stream_wait)	 entry;
};

struct dns_stream {
	struct streams		*streams;
	int			 fd;
	struct watch		*watch;
	struct str		 in, out;
	struct timer		 timer;
	LIST_HEAD(, stream_wait) waits;
	size_t			 wait_count;
	TAILQ_ENTRY(dns_stream)	 entry;
};

struct streams {
	struct loop			*loop;
	struct questions			*questions;
	int				 socket;
	struct watch			*listener;
	TAILQ_HEAD(, dns_stream)	 all;	/* who spoke last is last */
	size_t				 count;
	bool				 is_leaving;
};

static void
streamed_close(struct dns_stream *stream)
{
	struct streams *streams = stream->streams;
	struct stream_wait *one;

	while ((one = LIST_FIRST(&stream->waits)) != NULL) {
		LIST_REMOVE(one, entry);
		questions_forget(&one->wait);
		mem_free(&one);
	}
	TAILQ_REMOVE(&streams->all, stream, entry);
	streams->count--;
	timer_clear(&stream->timer);
	watch_free(&stream->watch);
	close(stream->fd);
	str_release(&stream->in);
	str_release(&stream->out);
	mem_free(&stream);
}

static void
streamed_on_idle(void *context)
{
	streamed_close(context);
}

static void
streamed_is_alive(struct dns_stream *stream)
{
	struct streams *streams = stream->streams;

	TAILQ_REMOVE(&streams->all, stream, entry);
	TAILQ_INSERT_TAIL(&streams->all, stream, entry);
	timer_set(streams->loop, &stream->timer,
	    clock_steady_ms() + STREAM_IDLE_MS, streamed_on_idle, stream);
}

/* What it waits for. */
static void
streamed_watch_on(struct dns_stream *stream)
{
	bool may_read = !stream->streams->is_leaving &&
	    stream->out.len < STREAM_OUT_BYTES_MAX &&
	    stream->wait_count < STREAM_WAITS_MAX;

	watch_set(stream->watch, (may_read ? LOOP_READ : 0u) |
	    (stream->out.len > 0 ? LOOP_WRITE : 0u));
}

/* ---- answers ------------------------------------------------------------ */

/* questions_answer_fn */
static void
streamed_on_answer(void *context, struct slice bytes)
{
	struct stream_wait *one = context;
	struct dns_stream *stream = one->stream;

	LIST_REMOVE(one, entry);
	stream->wait_count--;
	mem_free(&one);
	str_addc(&stream->out, (char)(bytes.n >> 8));
	str_addc(&stream->out, (char)(bytes.n & 0xff));
	str_add_slice(&stream->out, bytes);
	streamed_watch_on(stream);
}

/* false: the connection is gone. */
static bool
streamed_write_on(struct dns_stream *stream)
{
	ssize_t n = send(stream->fd, stream->out.buf, stream->out.len,
	    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	str_consume(&stream->out, (size_t)n);
	streamed_is_alive(stream);
	return true;
}

/* ---- questions ---------------------------------------------------------- */

/* false: it is no question, and neither is what follows. */
static bool
streamed_take(struct dns_stream *stream, struct slice packet)
{
	struct stream_wait *one = mem_alloc(1, sizeof(*one));
	struct unanswered *wait;
	bool is_taken;

	one->stream = stream;
	LIST_INSERT_HEAD(&stream->waits, one, entry);
	stream->wait_count++;
	wait = questions_ask(stream->streams->questions, packet,
	    RESPONSE_STREAM_BYTES,
	    streamed_on_answer, one, &is_taken);
	if (wait != NULL)	/* else it is answered, and one is gone */
		one->wait = wait;
	if (is_taken)
		return true;
	LIST_REMOVE(one, entry);
	stream->wait_count--;
	mem_free(&one);
	return false;
}

/* The packets that are there whole.  The stream may be gone after it. */
static void
streamed_read_on(struct dns_stream *stream)
{
	while (!stream->streams->is_leaving &&
	    stream->in.len >= STREAM_LENGTH_BYTES &&
	    stream->wait_count < STREAM_WAITS_MAX &&
	    stream->out.len < STREAM_OUT_BYTES_MAX) {
		const unsigned char *p = (const unsigned char *)
		    stream->in.buf;
		size_t n = (size_t)p[0] << 8 | p[1];

		if (stream->in.len < STREAM_LENGTH_BYTES + n)
			break;
		if (!streamed_take(stream, (struct slice){ stream->in.buf +
		    STREAM_LENGTH_BYTES, n })) {
			streamed_close(stream);
			return;
		}
		str_consume(&stream->in, STREAM_LENGTH_BYTES + n);
	}
	streamed_watch_on(stream);
}

static void
streamed_on_ready(void *context, unsigned ready)
{
	struct dns_stream *stream = context;
	ssize_t n;

	if ((ready & LOOP_WRITE) != 0 && stream->out.len > 0 &&
	    !streamed_write_on(stream)) {
		streamed_close(stream);
		return;
	}
	if ((ready & (LOOP_READ | LOOP_HANGUP)) != 0) {
		n = recv(stream->fd, str_room(&stream->in, STREAM_READ_BYTES),
		    STREAM_READ_BYTES, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			streamed_close(stream);
			return;
		}
		if (n > 0) {
			stream->in.len += (size_t)n;
			streamed_is_alive(stream);
		}
	}
	streamed_read_on(stream);
}

static void
streams_on_listener(void *context, unsigned ready)
{
	struct streams *streams = context;
	struct dns_stream *stream;
	int fd = accept4(streams->socket, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (streams->count >= STREAMS_MAX)
		streamed_close(TAILQ_FIRST(&streams->all));
	stream = mem_alloc(1, sizeof(*stream));
	stream->streams = streams;
	stream->fd = fd;
	str_init(&stream->in);
	str_init(&stream->out);
	LIST_INIT(&stream->waits);
	TAILQ_INSERT_TAIL(&streams->all, stream, entry);
	streams->count++;
	stream->watch = loop_watch(streams->loop, fd, LOOP_READ,
	    streamed_on_ready, stream);
	streamed_is_alive(stream);
}

struct streams *
streams_new(struct loop *loop, struct questions *questions, int socket)
{
	struct streams *streams = mem_alloc(1, sizeof(*streams));

	streams->loop = loop;
	streams->questions = questions;
	streams->socket = socket;
	TAILQ_INIT(&streams->all);
	streams->listener = loop_watch(loop, socket, LOOP_READ,
	    streams_on_listener, streams);
	return streams;
}

void
streams_leave(struct streams *streams)
{
	struct dns_stream *stream;

	streams->is_leaving = true;
	watch_free(&streams->listener);
	TAILQ_FOREACH(stream, &streams->all, entry)
		streamed_watch_on(stream);
}

void
streams_free(struct streams **pstreams)
{
	struct streams *streams = *pstreams;

	if (streams == NULL)
		return;
	while (!TAILQ_EMPTY(&streams->all)) {
		struct dns_stream *stream = TAILQ_FIRST(&streams->all);

		(void)streamed_write_on(stream);
		streamed_close(stream);
	}
	watch_free(&streams->listener);
	mem_free(pstreams);
}
