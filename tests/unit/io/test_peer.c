/* test_peer.c - deadlines, buffers, and two ends that both write
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/peer.h"

static struct peer peer;
static int other;

static void
setup(void)
{
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	peer_init(&peer);
	peer_adopt(&peer, ends[0]);
	other = ends[1];
}

static void
teardown(void)
{
	peer_release(&peer);
	close(other);
}

TestSuite(peer, .init = setup, .fini = teardown, .timeout = 30);

static int64_t
in_ms(int64_t ms)
{
	return clock_steady_ms() + ms;
}

Test(peer, bytes_come_and_are_taken)
{
	struct err err;

	cr_assert_eq(write(other, "one two", 7), 7);
	cr_expect_eq(peer_fill(&peer, in_ms(5000), &err), PEER_OK);
	cr_expect(slice_is(peer_unread(&peer), "one two"));
	peer_consume(&peer, 4);
	cr_expect(slice_is(peer_unread(&peer), "two"));
	cr_assert_eq(write(other, "!", 1), 1);
	cr_expect_eq(peer_fill(&peer, in_ms(5000), &err), PEER_OK);
	cr_expect(slice_is(peer_unread(&peer), "two!"));
	peer_consume(&peer, 1000);
	cr_expect_eq(peer_unread(&peer).n, 0);
}

Test(peer, what_is_queued_leaves_in_one_piece)
{
	char got[32];
	struct err err;

	str_adds(&peer.out, "MAIL\r\n");
	str_adds(&peer.out, "RCPT\r\n");
	cr_expect_eq(peer_flush(&peer, in_ms(5000), &err), PEER_OK);
	cr_expect_eq(recv(other, got, sizeof(got), MSG_DONTWAIT), 12);
	cr_expect_eq(peer.out.len, 0);
	cr_expect_eq(peer.sent_bytes, 12);
}

Test(peer, silence_ends_at_the_deadline)
{
	int64_t begun = clock_steady_ms();
	struct err err;

	cr_expect_eq(peer_fill(&peer, in_ms(80), &err), PEER_TIMEOUT);
	cr_expect_geq(clock_steady_ms() - begun, 70);
	cr_expect_eq(peer_fill(&peer, in_ms(-1), &err), PEER_TIMEOUT);
}

Test(peer, a_peer_that_never_reads_ends_at_the_deadline)
{
	struct err err;
	size_t n = 8 << 20;

	memset(str_room(&peer.out, n), 'x', n);
	peer.out.len = n;
	cr_expect_eq(peer_flush(&peer, in_ms(80), &err), PEER_TIMEOUT);
	cr_expect_gt(peer.out.len, 0);
}

/* The other side writes first and reads later: without reading in between
 * both would wait for ever. */
static void *
writes_then_reads(void *context)
{
	static char block[4096];
	size_t left = 8 << 20, sent = 0;
	ssize_t n;

	for (; sent < 200 * 1024; sent += (size_t)n)
		if ((n = write(other, block, sizeof(block))) <= 0)
			return NULL;
	while (left > 0 && (n = read(other, block, sizeof(block))) > 0)
		left -= (size_t)n;
	return left == 0 ? context : NULL;
}

Test(peer, both_ends_write_at_once)
{
	int small = 4096;
	pthread_t thread;
	struct err err;
	void *done;
	size_t n = 8 << 20;

	setsockopt(other, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	memset(str_room(&peer.out, n), 'x', n);
	peer.out.len = n;
	pthread_create(&thread, NULL, writes_then_reads, &other);
	cr_expect_eq(peer_flush(&peer, in_ms(20000), &err), PEER_OK);
	pthread_join(thread, &done);
	cr_expect(done != NULL);
	cr_expect_gt(peer_unread(&peer).n, 0);
}

Test(peer, unread_bytes_are_bounded)
{
	static char block[65536];
	struct err err;
	enum peer_result result = PEER_OK;

	for (int i = 0; i < 100 && result == PEER_OK; i++) {
		if (send(other, block, sizeof(block), MSG_DONTWAIT) < 0)
			(void)0;
		result = peer_fill(&peer, in_ms(5000), &err);
	}
	cr_expect_eq(result, PEER_ERROR);
	cr_expect_leq(peer.in.cap, 4 * PEER_IN_BYTES_MAX);
}

Test(peer, the_end_is_told)
{
	struct err err;

	cr_expect(peer_is_quiet(&peer));
	cr_assert_eq(write(other, "x", 1), 1);
	cr_expect_not(peer_is_quiet(&peer));
	peer_consume(&peer, 1);
	close(other);
	cr_expect_not(peer_is_quiet(&peer));
	cr_expect_eq(peer_fill(&peer, in_ms(5000), &err), PEER_EOF);
	str_adds(&peer.out, "x");
	cr_expect_eq(peer_flush(&peer, in_ms(5000), &err), PEER_ERROR);
	peer_close(&peer);
	peer_close(&peer);
	cr_expect_not(peer_is_open(&peer));
	cr_expect_eq(peer_flush(&peer, in_ms(5000), &err), PEER_ERROR);
	cr_expect_eq(peer_fill(&peer, in_ms(5000), &err), PEER_ERROR);
	other = -1;
}

Test(peer, connects_and_is_refused)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
	    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct err err;

	cr_assert_eq(bind(listener, (struct sockaddr *)&address, length), 0);
	getsockname(listener, (struct sockaddr *)&address, &length);
	cr_expect_eq(peer_connect(&peer, (struct sockaddr *)&address, length,
	    in_ms(5000), &err), PEER_ERROR);
	cr_expect(strstr(err.text, "refused"), "%s", err.text);
	cr_assert_eq(listen(listener, 1), 0);
	cr_expect_eq(peer_connect(&peer, (struct sockaddr *)&address, length,
	    in_ms(5000), &err), PEER_OK);
	cr_expect(peer_is_open(&peer));
	close(listener);
}
