/* test_sandbox.c - what a process that locked itself in can still do
 *
 * Each test is a process of its own, so there is no way back to be made.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/sandbox.h"

static char dir[64], file[PATH_MAX];

static void
setup(void)
{
	strlcpy(dir, "/tmp/zm-sandbox-XXXXXX", sizeof(dir));
	cr_assert(mkdtemp(dir) != NULL);
	snprintf(file, sizeof(file), "%s/file", dir);
}

TestSuite(sandbox, .init = setup);

static int
enter(const struct sandbox *rules)
{
	struct err err;
	int walls = sandbox_enter(rules, &err);

	cr_assert_geq(walls, 0, "%s", err.text);
	return walls;
}

Test(sandbox, there_is_no_way_out)
{
	static const struct sandbox nothing;
	int walls = enter(&nothing);

	if (walls != (SANDBOX_FILES | SANDBOX_CALLS))
		cr_skip("this system lacks a wall");
#if !defined(__SANITIZE_ADDRESS__)
	cr_expect_eq(sandbox_try_escape(), 0);
#endif
}

Test(sandbox, what_is_open_stays_open)
{
	static const struct sandbox nothing;
	char byte = 0;
	int fd = open(file, O_RDWR | O_CREAT | O_APPEND, 0600);

	unlink(file);
	rmdir(dir);
	enter(&nothing);
	cr_expect_eq(write(fd, "x", 1), 1);
	cr_expect_eq(fdatasync(fd), 0);
	cr_expect_eq(pread(fd, &byte, 1, 0), 1);
	cr_expect_eq(byte, 'x');
}

Test(sandbox, a_journal_can_be_written_and_not_read)
{
	struct sandbox rules = { .appended = { dir }, .appended_count = 1 };
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY), fd;

	if (!(enter(&rules) & SANDBOX_FILES))
		cr_skip("no Landlock here");
	fd = openat(dir_fd, "file", O_WRONLY | O_APPEND | O_CREAT, 0600);
	cr_expect_geq(fd, 0);
	cr_expect_eq(write(fd, "x", 1), 1);
	cr_expect_eq(openat(dir_fd, "file", O_RDONLY), -1);
	cr_expect_eq(open("/tmp/zm-sandbox-beside", O_WRONLY | O_CREAT, 0600),
	    -1);
}

Test(sandbox, a_readable_directory_can_be_read_and_not_written)
{
	struct sandbox rules = { .readable = { dir, "/nonexistent" },
	    .readable_count = 2 };
	int fd = open(file, O_RDWR | O_CREAT, 0600);

	close(fd);
	if (!(enter(&rules) & SANDBOX_FILES))
		cr_skip("no Landlock here");
	cr_expect_geq(open(file, O_RDONLY), 0);
	cr_expect_eq(open(file, O_RDWR), -1);
	cr_expect_eq(open("/etc/passwd", O_RDONLY), -1);
}

static void
no_sockets_but(enum sandbox_sockets sockets, bool has_local)
{
	static const int families[] = { AF_INET, AF_INET6, AF_NETLINK,
	    AF_PACKET };
	struct sandbox rules = { .sockets = sockets };
	int local;

#ifdef __i386__
	/* the family is behind socketcall(2), where no filter sees it */
	has_local = false;
#endif
	if (!(enter(&rules) & SANDBOX_CALLS))
		cr_skip("no filter of system calls here");
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		cr_expect_eq(socket(families[i], SOCK_STREAM, 0), -1);
		cr_expect_eq(errno, EPERM, "family %d", families[i]);
	}
	local = socket(AF_UNIX, SOCK_STREAM, 0);
	cr_expect_eq(local >= 0, has_local);
}

Test(sandbox, sockets_of_the_machine_alone)
{
	no_sockets_but(SOCKETS_LOCAL, true);
}

Test(sandbox, no_sockets)
{
	no_sockets_but(SOCKETS_NONE, false);
}

Test(sandbox, the_network_is_there)
{
	static const struct sandbox nothing;
	struct sockaddr_in any = { .sin_family = AF_INET,
	    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(any);
	int server = socket(AF_INET, SOCK_STREAM, 0), fd;

	cr_assert_eq(bind(server, (struct sockaddr *)&any, length), 0);
	cr_assert_eq(listen(server, 1), 0);
	getsockname(server, (struct sockaddr *)&any, &length);
	enter(&nothing);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	cr_expect_eq(connect(fd, (struct sockaddr *)&any, length), 0);
	cr_expect_geq(socket(AF_INET, SOCK_DGRAM, 0), 0);
	/* from where it comes it may say */
	any.sin_port = 0;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	cr_expect_eq(bind(fd, (struct sockaddr *)&any, length), 0);
}
