/* test_stream.c - the bench is shared, the bytes are not
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/stream.h"

#include "base/banned.h"

static unsigned calls;

static void
count(void *context)
{
	calls++;
}

static struct stream *
stream_to(struct loop *loop, int *out_peer)
{
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
	    0);
	*out_peer = ends[0];
	return stream_new(loop, ends[1], count, NULL);
}

static void
put(int peer, const char *text)
{
	cr_assert_eq(write(peer, text, strlen(text)), (ssize_t)strlen(text));
}

/* However many packets the system makes of it. */
Test(stream, the_last_words_leave_before_the_end)
{
	for (int is_lingering = 0; is_lingering < 2; is_lingering++) {
		struct loop *loop = loop_new();
		char text[16];
		int peer;
		struct stream *stream = stream_to(loop, &peer);

		stream_say(stream, SLICE("250 ok\n"));
		cr_expect_eq(stream_flush(stream), STREAM_FLUSH_ALL);
		stream_expect_end(stream);
		stream_say(stream, SLICE("221 bye\n"));
		cr_expect_eq(stream_flush(stream), STREAM_FLUSH_ALL);
		if (is_lingering)
			stream_end_output(stream);
		else
			stream_free(&stream);
		cr_expect_eq(recv(peer, text, sizeof(text), MSG_WAITALL), 15);
		cr_expect_eq(memcmp(text, "250 ok\n221 bye\n", 15), 0);
		cr_expect_eq(recv(peer, text, sizeof(text), 0), 0);
		stream_free(&stream);
		close(peer);
		loop_free(&loop);
	}
}

static struct stream *
tcp_stream_to(struct loop *loop, int *out_peer)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
	socklen_t n = sizeof(here);

	cr_assert_eq(bind(door, (struct sockaddr *)&here, n), 0);
	cr_assert_eq(listen(door, 1), 0);
	cr_assert_eq(getsockname(door, (struct sockaddr *)&here, &n), 0);
	*out_peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(connect(*out_peer, (struct sockaddr *)&here, n), 0);
	fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	cr_assert_geq(fd, 0);
	close(door);
	return stream_new(loop, fd, count, NULL);
}

/* What the peer says meanwhile makes a reset of our close: it must not take
 * what was kept for it. */
Test(stream, the_last_words_are_heard_by_who_goes_on_talking)
{
	struct loop *loop = loop_new();
	char text[16];
	int peer;
	struct stream *stream = tcp_stream_to(loop, &peer);

	stream_expect_end(stream);
	stream_say(stream, SLICE("221 bye\n"));
	cr_expect_eq(stream_flush(stream), STREAM_FLUSH_ALL);
	put(peer, "NOOP\n");
	stream_free(&stream);
	cr_expect_eq(recv(peer, text, sizeof(text), 0), 8);
	cr_expect_eq(memcmp(text, "221 bye\n", 8), 0);
	close(peer);
	loop_free(&loop);
}

Test(stream, leftovers_survive_another_streams_fill)
{
	struct loop *loop = loop_new();
	int pa, pb;
	struct stream *a = stream_to(loop, &pa), *b = stream_to(loop, &pb);

	put(pa, "hello world");
	put(pb, "second");
	cr_expect_eq(stream_fill(a), STREAM_GOT);
	stream_consume(a, 6);
	cr_expect_eq(stream_fill(b), STREAM_GOT);
	cr_expect(slice_is(stream_input(a), "world"));
	cr_expect(slice_is(stream_input(b), "second"));
	stream_consume(a, 1);
	put(pa, "!");
	cr_expect_eq(stream_fill(a), STREAM_GOT);
	cr_expect(slice_is(stream_input(a), "orld!"));
	cr_expect(slice_is(stream_input(b), "second"));
	stream_free(&a);
	cr_expect_null(a);
	cr_expect(slice_is(stream_input(b), "second"));
	stream_consume(b, 6);
	cr_expect_eq(stream_input(b).n, 0);
	stream_free(&b);
	close(pa);
	close(pb);
	loop_free(&loop);
}

Test(stream, says_what_came_of_a_fill)
{
	struct loop *loop = loop_new();
	int peer;
	struct stream *stream = stream_to(loop, &peer);

	cr_expect_eq(stream_fill(stream), STREAM_NOTHING);
	put(peer, "x");
	cr_expect_eq(stream_fill(stream), STREAM_GOT);
	cr_expect_not(stream_was_full(stream));
	close(peer);
	cr_expect_eq(stream_fill(stream), STREAM_EOF);
	cr_expect(slice_is(stream_input(stream), "x"));
	stream_free(&stream);
	loop_free(&loop);
}

/* Unread input is bounded; what is consumed makes room. */
Test(stream, input_is_bounded)
{
	static char block[STREAM_INPUT_BYTES_MAX];
	struct loop *loop = loop_new();
	int peer;
	struct stream *stream = stream_to(loop, &peer);
	size_t sent = 0;

	fcntl(peer, F_SETFL, O_NONBLOCK);
	memset(block, 'x', sizeof(block));
	while (sent < sizeof(block) + 100) {
		size_t left = sizeof(block) + 100 - sent;
		ssize_t n = write(peer, block, left < 1000 ? left : 1000);

		sent += n > 0 ? (size_t)n : 0;
		(void)stream_fill(stream);
	}
	while (stream_fill(stream) == STREAM_GOT)
		;
	cr_expect_eq(stream_input(stream).n, (size_t)STREAM_INPUT_BYTES_MAX);
	cr_expect_eq(stream_fill(stream), STREAM_NOTHING);
	stream_consume(stream, 50);
	cr_expect_eq(stream_fill(stream), STREAM_GOT);
	cr_expect(stream_was_full(stream));
	cr_expect_eq(stream_input(stream).n, (size_t)STREAM_INPUT_BYTES_MAX);
	close(peer);
	stream_free(&stream);
	loop_free(&loop);
}

/* What the peer does not take is kept, in order, and sent when it can be. */
Test(stream, output_waits_for_the_peer)
{
	enum { LINES = 100000 };
	struct loop *loop = loop_new();
	static char got[LINES * 10];
	int peer, small = 4096;
	struct stream *stream = stream_to(loop, &peer);
	struct str want = STR_INIT;
	size_t n = 0;

	(void)setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (int i = 0; i < LINES; i++)
		str_addf(&want, "%08d\r\n", i);
	stream_say(stream, slice_first(str_slice(&want), 7));
	stream_say(stream, slice_from(str_slice(&want), 7));
	cr_expect_eq(stream_flush(stream), STREAM_FLUSH_PART);
	cr_expect(stream_unsent_bytes(stream) > 0);
	stream_await(stream, false);
	calls = 0;
	loop_turn(loop, 0);
	cr_expect_eq(calls, 0, "ready although the peer takes nothing");
	while (n < want.len) {
		ssize_t more = read(peer, got + n, sizeof(got) - n);

		cr_assert(more > 0);
		n += (size_t)more;
		loop_turn(loop, 0);
		(void)stream_flush(stream);
	}
	cr_expect(calls > 0);
	cr_expect_eq(memcmp(got, want.buf, n), 0);
	cr_expect_eq(stream_flush(stream), STREAM_FLUSH_ALL);
	close(peer);
	stream_say(stream, SLICE("x"));
	cr_expect_eq(stream_flush(stream), STREAM_FLUSH_BROKEN);
	stream_free(&stream);
	str_release(&want);
	loop_free(&loop);
}

Test(stream, end_of_output_leaves_input_open)
{
	struct loop *loop = loop_new();
	int peer;
	struct stream *stream = stream_to(loop, &peer);
	char byte;

	stream_end_output(stream);
	cr_expect_eq(read(peer, &byte, 1), 0);
	put(peer, "x");
	cr_expect_eq(stream_fill(stream), STREAM_GOT);
	close(peer);
	stream_free(&stream);
	loop_free(&loop);
}
