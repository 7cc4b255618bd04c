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
program_complain(const char *what)
{
	char text[300];
	int n = snprintf(text, sizeof(text), "%s: %s\n", what,
	    strerror(errno));

	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		return;
}

static void
program_set_descriptors(int message_fd, int output_fd)
{
	if (dup2(message_fd, STDIN_FILENO) < 0 ||
	    dup2(output_fd, STDOUT_FILENO) < 0 ||
	    dup2(output_fd, STDERR_FILENO) < 0)
		_exit(EX_TEMPFAIL);
	closefrom(STDERR_FILENO + 1);
}

static void
program_set_surroundings(const struct pipe_program *program)
{
	struct rlimit none = { 0, 0 };
	sigset_t all;

	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	(void)setrlimit(RLIMIT_CORE, &none);
	if (program->memory_bytes > 0) {
		struct rlimit memory = { program->memory_bytes,
		    program->memory_bytes };

		(void)setrlimit(RLIMIT_AS, &memory);
	}
	umask(077);
	if (chdir(program->directory) != 0 && chdir("/") != 0)
		_exit(EX_TEMPFAIL);
}

static void
program_exec(const struct pipe_program *program)
{
	char **argv = program->argv, path[1100];
	size_t dirs = sizeof(program_dirs) / sizeof(program_dirs[0]);

	if (program->path != NULL || strchr(argv[0], '/') != NULL) {
		execve(program->path != NULL ? program->path : argv[0], argv,
		    program->environment);
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
program_child(const struct pipe_program *program, int output_fd)
{
	struct err err;

	(void)setpgid(0, 0);
	program_set_descriptors(program->message_fd, output_fd);
	if (account_become_for_good(program->owner, &err) < 0) {
		errno = EPERM;
		program_complain(err.text);
		_exit(EX_TEMPFAIL);
	}
	program_set_surroundings(program);
	program_exec(program);
	program_complain(program->argv[0]);
	_exit(errno == EAGAIN || errno == ENOMEM || errno == ETXTBSY ||
	    errno == EIO || errno == ENFILE ? EX_TEMPFAIL : EXIT_NOT_FOUND);
}

/* ---- in the parent ----------------------------------------------------- */

struct output {			/* what the program says */
	int		 fd;
	bool		 is_open;
	bool		 is_line_full;
	struct str	 line;		/* the first */
	uint64_t	 bytes, bytes_max;	/* 0: any number */
};

/* Keep the first line, drop the rest. */
static void
program_take_output(struct output *output)
{
	char bytes[4096];
	ssize_t n = read(output->fd, bytes, sizeof(bytes));

	if (n < 0) {
		output->is_open = errno == EAGAIN || errno == EINTR;
		return;
	}
	for (ssize_t i = 0; i < n && !output->is_line_full; i++) {
		if (bytes[i] == '\n' || output->line.len ==
		    PROGRAM_LINE_BYTES)
			output->is_line_full = output->line.len > 0;
		else
			str_addc(&output->line, bytes[i]);
	}
	output->bytes += (uint64_t)n;
	output->is_open = n > 0;
}

static bool
program_is_over(const struct output *output)
{
	return output->bytes_max > 0 && output->bytes > output->bytes_max;
}

static void
program_nap(int ms)
{
	struct timespec span = { 0, ms * 1000000L };

	nanosleep(&span, NULL);
}

/* The last words of a program that ended. */
static void
program_take_rest(struct output *output)
{
	struct pollfd one = { .fd = output->fd, .events = POLLIN };

	while (output->is_open && !output->is_line_full &&
	    poll(&one, 1, 0) > 0)
		program_take_output(output);
}

/* Read output and look for the end until the deadline.  A grandchild may
 * hold the pipe open for ever, so the child's end counts, not the pipe's. */
static enum program_how
program_watch(pid_t pid, int64_t deadline_ms, struct output *output,
    int *out_status)
{
	for (int wait_ms = 1;; wait_ms = wait_ms < LOOK_EVERY_MS ?
	    wait_ms * 2 : LOOK_EVERY_MS) {
		struct pollfd one = { .fd = output->fd, .events = POLLIN };

		if (!output->is_open)
			program_nap(wait_ms);
		else if (poll(&one, 1, wait_ms) > 0)
			program_take_output(output);
		if (waitpid(pid, out_status, WNOHANG) == pid) {
			program_take_rest(output);
			return WIFSIGNALED(*out_status) ? PROGRAM_SIGNALLED :
			    PROGRAM_EXITED;
		}
		if (program_is_over(output))
			return PROGRAM_TALKED_ON;
		if (clock_steady_ms() >= deadline_ms)
			return PROGRAM_TIMED_OUT;
	}
}

static void
program_parent(const struct pipe_program *program, pid_t pid, int fd,
    struct program_end *out)
{
	int64_t deadline_ms = clock_steady_ms() + program->timeout_ms;
	struct output output = { .fd = fd, .is_open = true,
	    .line = STR_INIT, .bytes_max = program->output_bytes };
	int status = 0;

	(void)setpgid(pid, pid);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	out->how = program_watch(pid, deadline_ms, &output, &status);
	if (out->how == PROGRAM_SIGNALLED)
		out->number = WTERMSIG(status);
	else if (out->how == PROGRAM_EXITED)
		out->number = WEXITSTATUS(status);
	else {
		(void)kill(-pid, SIGKILL);
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
		program_take_rest(&output);
	}
	strlcpy(out->line, output.line.buf, sizeof(out->line));
	str_release(&output.line);
}

void
program_run(const struct pipe_program *program, struct program_end *out)
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
		program_child(program, ends[1]);
	if (pid < 0)
		snprintf(out->line, sizeof(out->line), "fork: %s",
		    strerror(errno));
	close(ends[1]);
	if (pid > 0)
		program_parent(program, pid, ends[0], out);
	close(ends[0]);
}

/* ---- what it means ----------------------------------------------------- */

static const struct {
	int number;
	const char *status, *words;
} exit_rows[] = {
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
program_exit_verdict(const struct program_end *end, struct verdict *out)
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
		program_exit_verdict(end, out);
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
	case PROGRAM_TALKED_ON:
		verdict_set(out, VERDICT_DEFERRED, "4.3.0", "pipe",
		    "the program wrote too much%s%s", colon, end->line);
		return;
	case PROGRAM_NOT_RUN:
		verdict_set(out, VERDICT_DEFERRED, "4.3.0", "pipe",
		    "the program was not run%s%s", colon, end->line);
	}
}
