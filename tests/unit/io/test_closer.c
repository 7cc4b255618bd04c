/* test_closer.c - what takes long to close holds nobody up
 *
 * A socket that lingers stands for the disk: its peer does not read, so
 * that close(2) waits for the time that SO_LINGER says.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/closer.h"

enum { LINGER_S = 1, SLOW = 8 };

static int listener;
static struct sockaddr_in address;

static void
setup(void)
{
	socklen_t n = sizeof(address);

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&address, n), 0);
	cr_assert_eq(listen(listener, SLOW), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &n),
	    0);
}

static int
slow_one(void)
{
	struct linger linger = { 1, LINGER_S };
	char block[65536];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	memset(block, 'x', sizeof(block));
	cr_assert_eq(connect(fd, (struct sockaddr *)&address,
	    sizeof(address)), 0);
	while (send(fd, block, sizeof(block), MSG_DONTWAIT) > 0)
		continue;
	cr_assert_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger,
	    sizeof(linger)), 0);
	return fd;
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void
wait_closed(const int *fds, size_t count)
{
	int64_t until_ms = clock_steady_ms() + 20000;

	for (size_t i = 0; i < count; i++)
		while (is_open(fds[i]) && clock_steady_ms() < until_ms)
			poll(NULL, 0, 5);
}

TestSuite(closer, .init = setup, .timeout = 60);

Test(closer, is_close_until_it_is_started)
{
	int fd = slow_one();

	closer_close(fd);
	cr_expect_not(is_open(fd));
	cr_expect_not(closer_is_slow());
}

Test(closer, the_first_slow_one_is_the_last_that_is_waited_for)
{
	int fds[SLOW], quick = dup(listener);
	int64_t begun_ms;

	for (int i = 0; i < SLOW; i++)
		fds[i] = slow_one();
	closer_start();
	closer_close(quick);
	cr_expect_not(is_open(quick));
	cr_expect_not(closer_is_slow());
	closer_close(fds[0]);
	cr_expect(closer_is_slow());
	begun_ms = clock_steady_ms();
	for (int i = 1; i < SLOW; i++)
		closer_close(fds[i]);
	cr_expect_lt(clock_steady_ms() - begun_ms, LINGER_S * 1000 / 2);
	wait_closed(fds, SLOW);
	for (int i = 0; i < SLOW; i++)
		cr_expect_not(is_open(fds[i]), "number %d", i);
}

/* A full queue is no place to wait in: the caller closes by itself. */
Test(closer, everything_is_closed_in_the_end)
{
	enum { MANY = 1000 };
	static int fds[MANY];

	closer_start();
	closer_close(slow_one());
	for (int i = 0; i < MANY; i++)
		fds[i] = dup(listener);
	for (int i = 0; i < MANY; i++)
		closer_close(fds[i]);
	cr_expect_not(closer_is_slow(), "one is timed again");
	wait_closed(fds, MANY);
	for (int i = 0; i < MANY; i++)
		cr_expect_not(is_open(fds[i]), "number %d", i);
}
