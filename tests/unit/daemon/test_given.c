/* test_given.c - sockets that whoever started us has opened
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/given.h"
#include "daemon/listen_socket.h"

TestSuite(given, .timeout = 60);

/* A listener at a free port of 127.0.0.1, or of all addresses. */
static int
door_make(const char *host, int is_six_only, struct conf_listen *out)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&out->address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&out->address;
	int fd;

	memset(out, 0, sizeof(*out));
	out->length = sizeof(out->address);
	if (strchr(host, ':') != NULL) {
		six->sin6_family = AF_INET6;
		cr_assert_eq(inet_pton(AF_INET6, host, &six->sin6_addr), 1);
		out->length = sizeof(*six);
	} else {
		four->sin_family = AF_INET;
		cr_assert_eq(inet_pton(AF_INET, host, &four->sin_addr), 1);
		out->length = sizeof(*four);
	}
	fd = socket(out->address.ss_family, SOCK_STREAM, 0);
	if (fd < 0)
		return -1;
	if (strchr(host, ':') != NULL)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &is_six_only,
		    sizeof(is_six_only));
	if (bind(fd, (struct sockaddr *)&out->address, out->length) != 0 ||
	    listen(fd, 5) != 0)
		return -1;
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&out->address,
	    &out->length), 0);
	return fd;
}

/* In a child, for its descriptors: exit status 0, or the number of what is
 * wrong. */
static int
child_takes(int fd, const struct conf_listen *at, int odd)
{
	const int fds[2] = { fd, odd }, others[2] = { odd, odd };
	struct given given;

	if (given_pass(fds, 2, others, 2) != 0)
		return 1;
	given_take(&given);
	if (getenv("LISTEN_FDS") != NULL || getenv("LISTEN_PID") != NULL)
		return 2;
	if (given.count != 1)	/* the other one does not listen */
		return 3;
	if (given_find(&given, at) != GIVEN_FIRST_FD ||
	    given_find(&given, at) != -1)
		return 4;
	if ((fcntl(GIVEN_FIRST_FD, F_GETFL) & O_NONBLOCK) == 0 ||
	    (fcntl(GIVEN_FIRST_FD, F_GETFD) & FD_CLOEXEC) == 0)
		return 5;
	given_return(&given, GIVEN_FIRST_FD);
	given_close(&given);
	return fcntl(GIVEN_FIRST_FD, F_GETFD) < 0 && errno == EBADF ? 0 : 6;
}

Test(given, is_passed_and_taken)
{
	struct conf_listen at;
	int fd = door_make("127.0.0.1", 0, &at), status = -1;
	int odd = open("/dev/null", O_RDONLY);
	pid_t pid;

	cr_assert_geq(fd, 0);
	pid = fork();
	if (pid == 0)
		_exit(child_takes(fd, &at, odd));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "it ended with %d", WEXITSTATUS(status));
}

/* A parent's environment is not ours. */
Test(given, for_somebody_else_is_left_alone)
{
	struct given given;

	(void)setenv("LISTEN_FDS", "1", 1);
	(void)setenv("LISTEN_PID", "1", 1);
	given_take(&given);
	cr_expect_eq(given.count, 0);
	cr_expect_null(getenv("LISTEN_FDS"));
}

Test(given, an_ipv6_socket_may_serve_ipv4)
{
	struct conf_listen six, four = { .length = 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&four.address;

	for (int is_six_only = 0; is_six_only < 2; is_six_only++) {
		int fd = door_make("::", is_six_only, &six);

		if (fd < 0)
			cr_skip("no IPv6 here");
		in->sin_family = AF_INET;
		in->sin_port = ((struct sockaddr_in6 *)&six.address)->sin6_port;
		in->sin_addr.s_addr = htonl(INADDR_ANY);
		cr_expect(given_fits(fd, &six));
		cr_expect_eq(given_fits(fd, &four), is_six_only == 0);
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		cr_expect_not(given_fits(fd, &four));
		close(fd);
	}
}

/* 0.0.0.0 beside our own 127.0.0.1 that will go; not beside a stranger's. */
Test(given, all_addresses_come_before_one_goes)
{
	struct conf_listen one, all;
	struct err err;
	int fd, fresh;

	fd = door_make("127.0.0.1", 0, &one);
	cr_assert_geq(fd, 0);
	all = one;
	((struct sockaddr_in *)&all.address)->sin_addr.s_addr =
	    htonl(INADDR_ANY);
	cr_expect_eq(listen_socket(&all, &err), -1);
	fresh = listen_socket_beside(&all, &fd, 1, &err);
	cr_expect_geq(fresh, 0, "%s", err.text);
	cr_expect_eq(listen_socket(&one, &err), -1);
	close(fresh);
	close(fd);
}

static int
client_make(const struct conf_listen *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	cr_assert_geq(fd, 0);
	(void)connect(fd, (const struct sockaddr *)&at->address, at->length);
	return fd;
}

static bool
is_ready(int fd, short what, int timeout_ms)
{
	struct pollfd row = { .fd = fd, .events = what };

	return poll(&row, 1, timeout_ms) == 1;
}

/* Who is there is served; who comes after that finds the next one. */
Test(given, nobody_is_cut_off_by_the_end_of_a_socket)
{
	struct conf_listen one, all;
	int fd, fresh, first, second, peer;
	struct err err;

	fd = door_make("127.0.0.1", 0, &one);
	all = one;
	((struct sockaddr_in *)&all.address)->sin_addr.s_addr =
	    htonl(INADDR_ANY);
	fresh = listen_socket_beside(&all, &fd, 1, &err);
	cr_assert_geq(fresh, 0, "%s", err.text);
	first = client_make(&one);
	cr_assert(is_ready(first, POLLOUT, 10000));
	listen_socket_bar(fd);
	second = client_make(&one);
	cr_expect_not(is_ready(second, POLLOUT, 300));
	peer = accept(fd, NULL, NULL);
	cr_assert_geq(peer, 0);
	cr_expect_eq(write(peer, "220", 3), 3);
	cr_expect(is_ready(first, POLLIN, 10000));
	listen_socket_close(fd, one.text);
	cr_assert(is_ready(second, POLLOUT, 30000));
	cr_assert(is_ready(fresh, POLLIN, 10000));
	close(peer);
	peer = accept(fresh, NULL, NULL);
	cr_expect_geq(peer, 0);
	close(peer);
	close(first);
	close(second);
	close(fresh);
}

/* ---- sockets that have a path ------------------------------------------- */

static int
path_listen(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)),
	    0);
	cr_assert_eq(listen(fd, 5), 0);
	return fd;
}

Test(given, a_path_is_found_whole_and_once)
{
	char dir[] = "/tmp/zmailer-given-XXXXXX", path[64], longer[64];
	char endless[300];
	struct conf_listen at;
	struct given given;
	int fds[3];

	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	snprintf(longer, sizeof(longer), "%s/s2", dir);
	fds[0] = door_make("127.0.0.1", 0, &at);
	fds[1] = path_listen(longer);
	fds[2] = path_listen(path);
	given = (struct given){ fds, 3 };
	memset(endless, 'x', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	cr_expect_eq(given_find_path(&given, dir), -1);
	cr_expect_eq(given_find_path(&given, ""), -1);
	cr_expect_eq(given_find_path(&given, endless), -1, "cut to nothing");
	for (int round = 0; round < 2; round++) {
		int fd = given_find_path(&given, path);

		cr_assert_geq(fd, 0);
		cr_expect_neq(fd, fds[1], "not the one that begins so");
		cr_expect_eq(fds[2], -1, "it is the finder's");
		cr_expect_eq(given_find_path(&given, path), -1, "once");
		given_return(&given, fd);
	}
	cr_expect_eq(given_find_path(&given, longer) >= 0, true);
	(void)unlink(path);
	(void)unlink(longer);
	(void)rmdir(dir);
}
