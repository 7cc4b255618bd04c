/* jail.c - a file of strangers read by a process that can do nothing else
 *
 * In     a file's bytes
 * Out    the rows that the process writes into a pipe
 * Holds  one process; killed when it takes too long
 * Trusts it as little as the file: rows are bounded, and read again with care
 *        (table.c)
 * Spec   received.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/sandbox.h"
#include "tools/reports/received.h"

#include "base/banned.h"

enum { JAIL_MS = 60000, JAIL_OUT_MAX = 128 * 1024 * 1024,
	JAIL_PIECE = 64 * 1024 };

static void
jail_write(int fd, struct slice text)
{
	while (text.n > 0) {
		ssize_t n = write(fd, text.p, text.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(EX_IOERR);
		text = slice_from(text, (size_t)n);
	}
}

static _Noreturn void
jail_run(enum received_kind kind, struct slice file, int fd)
{
	const struct rlimit cpu = { JAIL_MS / 1000, JAIL_MS / 1000 };
	const struct sandbox rules = { .sockets = SOCKETS_NONE };
	struct received_rows rows = { .kind = kind, .out = STR_INIT };
	struct err err;

	(void)setrlimit(RLIMIT_CPU, &cpu);
	if (sandbox_enter(&rules, &err) < 0)
		_exit(EX_OSERR);
	received_read(&rows, file);
	str_addf(&rows.out, "= %zu\n", rows.reports);
	jail_write(fd, str_slice(&rows.out));
	_exit(EX_OK);
}

/* false: it takes too long, or says too much. */
static bool
jail_listen(int fd, struct str *out)
{
	int64_t end_ms = clock_steady_ms() + JAIL_MS;
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while (out->len <= JAIL_OUT_MAX) {
		int64_t left_ms = end_ms - clock_steady_ms();
		ssize_t n;

		if (left_ms <= 0 || (poll(&wait, 1, (int)left_ms) < 0 &&
		    errno != EINTR))
			return false;
		if (wait.revents == 0)
			continue;
		n = read(fd, str_room(out, JAIL_PIECE), JAIL_PIECE);
		if (n <= 0)
			return n == 0;
		out->len += (size_t)n;
		out->buf[out->len] = '\0';
	}
	return false;
}

int
received_jail(enum received_kind kind, struct slice file, struct str *out,
    struct err *err)
{
	bool is_heard;
	int fds[2], status = 0;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return err_set(err, "%s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		jail_run(kind, file, fds[1]);
	}
	close(fds[1]);
	is_heard = pid > 0 && jail_listen(fds[0], out);
	close(fds[0]);
	if (pid < 0)
		return err_set(err, "no process could be made");
	if (!is_heard)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (is_heard && WIFEXITED(status) && WEXITSTATUS(status) == EX_OK)
		return 0;
	return err_set(err, is_heard ? "who reads it failed (%s %d)" :
	    "it takes too long to read", WIFSIGNALED(status) ? "signal" :
	    "exit", WIFSIGNALED(status) ? WTERMSIG(status) :
	    WEXITSTATUS(status));
}
