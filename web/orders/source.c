/* source.c - where an answer comes from: a child, or a connection
 *
 * In     a verb's words; the directory of the socket
 * Out    descriptors that do not block
 * Spec   source.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "web/orders/errand.h"
#include "web/orders/source.h"

#include "base/banned.h"

enum { WORDS_MAX = QUESTION_WORDS_MAX + 4, EXIT_NOT_RUN = 126 };

void
source_connect(struct source *out, const char *run_dir)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd, n;

	*out = (struct source){ .out_fd = -1, .err_fd = -1 };
	n = snprintf(name.sun_path, sizeof(name.sun_path), "%s/scheduler.sock",
	    run_dir);
	if (n < 0 || (size_t)n >= sizeof(name.sun_path))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&name, sizeof(name)) < 0) {
		close(fd);
		return;
	}
	out->out_fd = fd;
}

static void
source_child(const struct asker *asker, const char *const *words,
    const char *who, const int out[2], const int err[2])
    __attribute__((noreturn));
static void
source_child(const struct asker *asker, const char *const *words,
    const char *who, const int out[2], const int err[2])
{
	const char *argv[WORDS_MAX] = { "zmailer" };
	size_t at = 1;
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);

	if (asker->conf_path != NULL) {
		argv[at++] = "-C";
		argv[at++] = asker->conf_path;
	}
	for (size_t i = 0; words[i] != NULL && at < WORDS_MAX - 1; i++)
		argv[at++] = words[i];
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setpgid(0, 0);
	(void)setenv("NO_COLOR", "1", 1);
	(void)setenv("TERM", "dumb", 1);
	if (who != NULL && *who != '\0')
		(void)setenv("ZMAILER_WHO", who, 1);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(out[1], STDOUT_FILENO) < 0 || dup2(err[1], STDERR_FILENO) < 0)
		_exit(EXIT_NOT_RUN);
	closefrom(STDERR_FILENO + 1);
	execv(asker->zmailer, (char *const *)(uintptr_t)argv);
	_exit(EXIT_NOT_RUN);
}

static void
source_pipe_close(const int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

void
source_start(struct source *out, const struct asker *asker,
    const char *const *words, const char *who)
{
	int ends[2] = { -1, -1 }, errs[2] = { -1, -1 };
	pid_t pid = -1;

	*out = (struct source){ .out_fd = -1, .err_fd = -1 };
	if (pipe2(ends, O_CLOEXEC) == 0 && pipe2(errs, O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0)
		source_child(asker, words, who, ends, errs);
	if (pid < 0) {
		source_pipe_close(ends);
		source_pipe_close(errs);
		return;
	}
	(void)setpgid(pid, pid);	/* whoever is first */
	close(ends[1]);
	close(errs[1]);
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	(void)fcntl(errs[0], F_SETFL, O_NONBLOCK);
	*out = (struct source){ .out_fd = ends[0], .err_fd = errs[0],
	    .pid = pid };
}
