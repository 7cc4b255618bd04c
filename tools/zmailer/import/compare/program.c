/* program.c - ask a program of the old mailer
 *
 * In     words of a command
 * Out    what it prints, and its status
 * Holds  one process, at most a minute
 * Trusts its output only as bytes, up to a limit
 * Spec   compare.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/zmailer/import/compare/compare.h"

#include "base/banned.h"

extern char **environ;

static const char *const program_dirs[] = { "/usr/sbin", "/usr/bin", "/sbin",
	"/usr/local/sbin", "/usr/lib", "/usr/libexec/sendmail" };

/* Where it is, as PATH of an account often lacks sbin. */
static int
program_path(const char *name, struct str *out, struct err *err)
{
	if (strchr(name, '/') != NULL) {
		str_adds(out, name);
		return access(out->buf, X_OK) == 0 ? 0 : err_set(err,
		    "%s: %s", name, strerror(errno));
	}
	for (size_t i = 0; i < sizeof(program_dirs) / sizeof(program_dirs[0]);
	    i++) {
		str_reset(out);
		str_addf(out, "%s/%s", program_dirs[i], name);
		if (access(out->buf, X_OK) == 0)
			return 0;
	}
	return err_set(err, "there is no program %s: --with PROGRAM names it",
	    name);
}

/* Its group, so that what it started ends with it. */
static int
program_start(const char *path, const char *const *words, int out, pid_t *pid,
    struct err *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
	    O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	error = posix_spawn(pid, path, &actions, &attributes,
	    (char *const *)(uintptr_t)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error == 0 ? 0 : err_set(err, "%s: %s", path,
	    strerror(error));
}

/* returns 0 at its end, or -1: too late, or too much */
static int
program_listen(int fd, struct str *out, struct err *err)
{
	int64_t end = clock_steady_ms() + COMPARE_PROGRAM_MS, left;
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	ssize_t n;

	for (;;) {
		left = end - clock_steady_ms();
		if (left <= 0 || poll(&ready, 1, (int)left) == 0)
			return err_set(err, "no answer within a minute");
		n = read(fd, str_room(out, 4096), 4096);
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
			break;
		out->len += n > 0 ? (size_t)n : 0;
		if (out->len > COMPARE_OUTPUT_MAX)
			return err_set(err, "it prints more than 256 KB");
	}
	str_room(out, 1)[0] = '\0';
	return 0;
}

/* Within a second after its last word. */
static bool
program_ends(pid_t pid, int *out_status)
{
	const struct timespec pause = { 0, 5000000 };
	int64_t until_ms = clock_steady_ms() + 1000;
	pid_t got;

	while ((got = waitpid(pid, out_status, WNOHANG)) == 0 &&
	    clock_steady_ms() < until_ms)
		(void)nanosleep(&pause, NULL);
	return got == pid;
}

int
compare_run(const char *const *words, struct str *out, struct err *err)
{
	struct str path = STR_INIT;
	int ends[2], status = 0, result = -1;
	pid_t pid;

	if (program_path(words[0], &path, err) != 0 ||
	    pipe2(ends, O_CLOEXEC) != 0) {
		str_release(&path);
		return -1;
	}
	result = program_start(path.buf, words, ends[1], &pid, err);
	(void)close(ends[1]);
	if (result == 0) {
		result = program_listen(ends[0], out, err);
		/* one that says no more and stays has had its time, too */
		if (result == 0 && !program_ends(pid, &status))
			result = err_set(err, "it does not end");
		if (result != 0) {
			(void)kill(-pid, SIGKILL);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
		}
	}
	(void)close(ends[0]);
	if (result != 0)
		(void)err_prefix(err, "%s", path.buf);
	str_release(&path);
	return result != 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) :
	    128;
}
