/* program.c - one program, run with a message on its standard input
 *
 * In     argv, environment, an account, a message
 * Out    how it ended, and the first line it wrote
 * Holds  one child and the end of a pipe, until the child is reaped
 * Trusts the program with nothing: time, output and descriptors are bounded
 * Spec   zmailer-pipe(8), <sysexits.h>
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "transports/pipe/program.h"

#include "base/banned.h"

enum { LOOK_EVERY_MS = 50, EXIT_NOT_FOUND = 127 };

static const char *const program_dirs[] = {
	"/usr/local/bin", "/usr/bin", "/bin"
};

/* ---- in the child ------------------------------------------------------ */

static void
child_complain(const char *what)
{
	char text[300];
	int n = snprintf(text, sizeof(text), "%s: %s\n", what,
	    strerror(errno));

	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		return;
}

static void
child_descriptors(int message_fd, int output_fd)
{
	if (dup2(message_fd, STDIN_FILENO) < 0 ||
	    dup2(output_fd, STDOUT_FILENO) < 0 ||
	    dup2(output_fd, STDERR_FILENO) < 0)
		_exit(EX_TEMPFAIL);
	closefrom(STDERR_FILENO + 1);
}

static void
child_surroundings(const struct program *program)
{
	struct rlimit none = { 0, 0 };
	sigset_t all;

	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	(void)setrlimit(RLIMIT_CORE, &none);
	umask(077);
	if (chdir(program->directory) != 0 && chdir("/") != 0)
		_exit(EX_TEMPFAIL);
}

static void
child_exec(const struct program *program)
{
	char **argv = program->argv, path[1100];
	size_t dirs = sizeof(program_dirs) / sizeof(program_dirs[0]);

	if (strchr(argv[0], '/') != NULL) {
		execve(argv[0], argv, program->environment);
		return;
	}
	for (size_t i = 0; i < dirs; i++) {
		snprintf(path, sizeof(path), "%s/%s", program_dirs[i],
		    argv[0]);
		execve(path, argv, program->environment);
		if (errno != ENOENT)
			return;
	}
}

static void
child(const struct program *program, int output_fd)
{
	struct err err;

	(void)setpgid(0, 0);
	child_descriptors(program->message_fd, output_fd);
	if (account_become_for_good(program->owner, &err) < 0) {
		errno = EPERM;
		child_complain(err.text);
		_exit(EX_TEMPFAIL);
	}
	child_surroundings(program);
	child_exec(program);
	child_complain(program->argv[0]);
	_exit(errno == EAGAIN || errno == ENOMEM || errno == ETXTBSY ||
	    errno == EIO || errno == ENFILE ? EX_TEMPFAIL : EXIT_NOT_FOUND);
}

/* ---- in the parent ----------------------------------------------------- */

/* Keep the first line, drop the rest.  returns false when it is over. */
static bool
output_take(int fd, struct str *line, bool *is_line_full)
{
	char bytes[4096];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	for (ssize_t i = 0; i < n && !*is_line_full; i++) {
		if (bytes[i] == '\n' || line->len == PROGRAM_LINE_BYTES)
			*is_line_full = line->len > 0;
		else
			str_addc(line, bytes[i]);
	}
	return n > 0;
}

static void
nap(int ms)
{
	struct timespec span = { 0, ms * 1000000L };

	nanosleep(&span, NULL);
}

/* Read output and look for the end until the deadline.  A grandchild may
 * hold the pipe open for ever, so the child's end counts, not the pipe's.
 * returns true when *out_status is the child's. */
static bool
watch(pid_t pid, int fd, int64_t deadline_ms, struct str *line,
    int *out_status)
{
	bool is_open = true, is_line_full = false;

	for (int wait_ms = 1;; wait_ms = wait_ms < LOOK_EVERY_MS ?
	    wait_ms * 2 : LOOK_EVERY_MS) {
		struct pollfd one = { .fd = fd, .events = POLLIN };

		if (!is_open)
			nap(wait_ms);
		else if (poll(&one, 1, wait_ms) > 0)
			is_open = output_take(fd, line, &is_line_full);
		if (waitpid(pid, out_status, WNOHANG) == pid) {
			while (is_open && !is_line_full &&
			    poll(&one, 1, 0) > 0)
				is_open = output_take(fd, line,
				    &is_line_full);
			return true;
		}
		if (clock_steady_ms() >= deadline_ms)
			return false;
	}
}

static void
end_set(struct program_end *out, bool is_ended, int status)
{
	if (!is_ended) {
		out->how = PROGRAM_TIMED_OUT;
	} else if (WIFSIGNALED(status)) {
		out->how = PROGRAM_SIGNALLED;
		out->number = WTERMSIG(status);
	} else {
		out->how = PROGRAM_EXITED;
		out->number = WEXITSTATUS(status);
	}
}

static void
parent(const struct program *program, pid_t pid, int fd,
    struct program_end *out)
{
	int64_t deadline_ms = clock_steady_ms() + program->timeout_ms;
	struct str line = STR_INIT;
	int status = 0;
	bool is_ended;

	(void)setpgid(pid, pid);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	is_ended = watch(pid, fd, deadline_ms, &line, &status);
	if (!is_ended) {
		(void)kill(-pid, SIGKILL);
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	end_set(out, is_ended, status);
	strlcpy(out->line, line.buf, sizeof(out->line));
	str_release(&line);
}

void
program_run(const struct program *program, struct program_end *out)
{
	int ends[2];
	pid_t pid = -1;

	memset(out, 0, sizeof(*out));
	out->how = PROGRAM_NOT_RUN;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		snprintf(out->line, sizeof(out->line), "pipe: %s",
		    strerror(errno));
		return;
	}
	account_back();
	pid = fork();
	if (pid == 0)
		child(program, ends[1]);
	if (pid < 0)
		snprintf(out->line, sizeof(out->line), "fork: %s",
		    strerror(errno));
	close(ends[1]);
	if (pid > 0)
		parent(program, pid, ends[0], out);
	close(ends[0]);
}

/* ---- what it means ----------------------------------------------------- */

static const struct { int number; const char *status, *words; }
exit_rows[] = {
	{ EX_USAGE, "5.3.5", "was called wrongly" },
	{ EX_DATAERR, "5.6.0", "cannot use the message" },
	{ EX_NOINPUT, "5.3.0", "has no input" },
	{ EX_NOUSER, "5.1.1", "knows no such user" },
	{ EX_NOHOST, "5.1.2", "knows no such host" },
	{ EX_UNAVAILABLE, "5.3.0", "is not available" },
	{ EX_SOFTWARE, "5.3.0", "has an error in it" },
	{ EX_OSERR, "5.3.0", "had trouble with the system" },
	{ EX_OSFILE, "5.3.5", "misses a file" },
	{ EX_CANTCREAT, "5.2.0", "cannot make its file" },
	{ EX_IOERR, "5.3.0", "cannot read or write" },
	{ EX_PROTOCOL, "5.5.0", "was answered wrongly" },
	{ EX_NOPERM, "5.7.1", "may not do this" },
	{ EX_CONFIG, "5.3.5", "is configured wrongly" },
	{ EXIT_NOT_FOUND, "5.3.5", "cannot be run" },
};

static void
exit_verdict(const struct program_end *end, struct verdict *out)
{
	enum verdict_kind kind = VERDICT_FAILED;
	const char *status = "5.3.0", *words = "ended";
	const char *colon = end->line[0] != '\0' ? ": " : "";

	if (end->number == 0) {
		verdict_set(out, VERDICT_DELIVERED, "2.0.0", "pipe",
		    "delivered to a program%s%s", colon, end->line);
		return;
	}
	for (size_t i = 0; i < sizeof(exit_rows) / sizeof(exit_rows[0]); i++)
		if (exit_rows[i].number == end->number) {
			status = exit_rows[i].status;
			words = exit_rows[i].words;
		}
	if (end->number == EX_TEMPFAIL) {
		kind = VERDICT_DEFERRED;
		status = "4.3.0";
		words = "asks to try later";
	}
	verdict_set(out, kind, status, "pipe", "the program %s, status %d%s%s",
	    words, end->number, colon, end->line);
}

void
program_verdict(const struct program_end *end, struct verdict *out)
{
	const char *colon = end->line[0] != '\0' ? ": " : "";

	switch (end->how) {
	case PROGRAM_EXITED:
		exit_verdict(end, out);
		return;
	case PROGRAM_SIGNALLED:
		verdict_set(out, VERDICT_DEFERRED, "4.3.0", "pipe",
		    "the program was ended by signal %d%s%s", end->number,
		    colon, end->line);
		return;
	case PROGRAM_TIMED_OUT:
		verdict_set(out, VERDICT_DEFERRED, "4.3.0", "pipe",
		    "the program ran too long%s%s", colon, end->line);
		return;
	case PROGRAM_NOT_RUN:
		verdict_set(out, VERDICT_DEFERRED, "4.3.0", "pipe",
		    "the program was not run%s%s", colon, end->line);
	}
}
