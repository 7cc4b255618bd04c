/* test_fd.c - all is written, whatever a call takes; parts of files
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

enum { BYTES = 1 << 20 };

static void
interrupted(int number)
{
	(void)number;
}

struct reader {
	int	fd;
	size_t	got;
	bool	is_whole;
};

/* Slowly, so that the writer fills the pipe again and again. */
static void *
read_all(void *context)
{
	struct reader *reader = context;
	char bytes[1000];
	ssize_t n;

	reader->is_whole = true;
	while ((n = read(reader->fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < n; i++, reader->got++)
			if (bytes[i] != (char)(reader->got % 251))
				reader->is_whole = false;
	return NULL;
}

Test(fd, short_and_interrupted_writes_go_on)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { 0 };
	struct sigaction act = { .sa_handler = interrupted };
	char *bytes = malloc(BYTES);
	struct reader reader = { 0 };
	sigset_t alarms;
	pthread_t thread;
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (char)(i % 251);
	reader.fd = ends[0];
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	pthread_create(&thread, NULL, read_all, &reader);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	cr_expect_eq(fd_write_all(ends[1], bytes, BYTES), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	close(ends[1]);
	pthread_join(thread, NULL);
	cr_expect_eq(reader.got, (size_t)BYTES);
	cr_expect(reader.is_whole);
	close(ends[0]);
	free(bytes);
}

Test(fd, trouble_is_told)
{
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(pipe(ends), 0);
	close(ends[0]);
	errno = 0;
	cr_expect_eq(fd_write_all(ends[1], "x", 1), -1);
	cr_expect_eq(errno, EPIPE);
	cr_expect_eq(fd_write_all(ends[1], "", 0), 0);
	close(ends[1]);
}

/* Which of 0, 1 and 2 are closed: bits.  returns what a child saw. */
static int
claimed(unsigned closed)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int seen = 0, next;
		char byte;

		for (int fd = 0; fd < 3; fd++)
			if (closed & 1u << fd)
				close(fd);
		fd_claim_standard();
		next = open("/dev/zero", O_RDWR);
		for (int fd = 0; fd < 3; fd++)
			if ((closed & 1u << fd) && (fcntl(fd, F_GETFD) != 0 ||
			    read(fd, &byte, 1) >= 0 ||
			    write(fd, "x", 1) != 1))
				seen |= 1 << fd;
		_exit(next > 2 ? seen : 100);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(fd, closed_ones_become_nobody_elses)
{
	for (unsigned closed = 0; closed < 8; closed++)
		cr_expect_eq(claimed(closed), 0, "closed %u: %d", closed,
		    claimed(closed));
}

Test(fd, parts_of_a_file)
{
	char path[] = "/tmp/zm-fd-XXXXXX", out[10];
	int fd = mkstemp(path);
	static const struct {
		size_t		n;
		uint64_t	at;
		ssize_t		want;
		const char	*text;
	} rows[] = {
		{ 3, 0, 3, "abc" }, { 10, 0, 6, "abcdef" },
		{ 10, 4, 2, "ef" }, { 10, 6, 0, "" }, { 10, 99, 0, "" },
	};

	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_eq(fd_write_all(fd, "abcdef", 6), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ssize_t got = fd_read_at(fd, out, rows[i].n, rows[i].at);

		cr_expect_eq(got, rows[i].want, "row %zu: %zd", i, got);
		cr_expect_eq(memcmp(out, rows[i].text, (size_t)(got > 0 ?
		    got : 0)), 0, "row %zu", i);
	}
	close(fd);
	cr_expect_eq(fd_read_at(fd, out, 1, 0), -1);
}
