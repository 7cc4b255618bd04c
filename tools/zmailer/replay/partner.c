/* partner.c - a program of ours that answers lines under a configuration
 *
 * In     lines
 * Out    its answers
 * Holds  a pipe in each direction, its pid
 * Trusts our own program
 * Spec   smtpserver/rehearse/replay.h, router/ask/ask.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/skeleton.h"
#include "tools/zmailer/replay/partner.h"

#include "base/banned.h"

enum { PARTNER_WORDS_MAX = 4 };

static void partner_become(const char *path, const char *program,
    const char *const *words, const char *conf_path)
	__attribute__((noreturn));
static void
partner_become(const char *path, const char *program,
    const char *const *words, const char *conf_path)
{
	char *argv[PARTNER_WORDS_MAX + 2] = { NULL };
	size_t count = 0;

	argv[count++] = (char *)(uintptr_t)program;
	while (*words != NULL && count <= PARTNER_WORDS_MAX)
		argv[count++] = (char *)(uintptr_t)*words++;
	setenv("ZMAILER_CONF", conf_path, 1);
	execv(path, argv);
	_exit(127);
}

static int
partner_pipes(int to[2], int from[2], struct err *err)
{
	if (pipe2(to, O_CLOEXEC) != 0)
		return err_sys(err, "cannot make a pipe");
	if (pipe2(from, O_CLOEXEC) == 0)
		return 0;
	close(to[0]);
	close(to[1]);
	return err_sys(err, "cannot make a pipe");
}

int
partner_start(struct partner *partner, const char *program,
    const char *const *words, const char *conf_path, struct err *err)
{
	char path[PATH_MAX];
	int to[2], from[2];

	daemon_libexec(program, path, sizeof(path));
	if (access(path, X_OK) != 0)
		return err_sys(err, "cannot run %s", path);
	if (partner_pipes(to, from, err) < 0)
		return -1;
	(void)signal(SIGPIPE, SIG_IGN);
	fflush(stdout);
	partner->pid = fork();
	if (partner->pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		partner_become(path, program, words, conf_path);
	}
	close(to[0]);
	close(from[1]);
	partner->to = fdopen(to[1], "w");
	partner->from = fdopen(from[0], "r");
	if (partner->pid < 0 || partner->to == NULL || partner->from == NULL)
		return err_sys(err, "cannot start %s", program);
	return 0;
}

int
partner_read(struct partner *partner, struct slice *out, struct err *err)
{
	ssize_t n = getline(&partner->line, &partner->capacity,
	    partner->from);

	if (n <= 0)
		return err_set(err, "the program that decides has ended");
	*out = (struct slice){ partner->line, (size_t)n };
	if (slice_ends(*out, "\n"))
		out->n--;
	return 0;
}

int
partner_ask(struct partner *partner, struct slice line, struct slice *out,
    struct err *err)
{
	if (fwrite(line.p, 1, line.n, partner->to) != line.n ||
	    fputc('\n', partner->to) == EOF || fflush(partner->to) != 0)
		return err_set(err, "the program that decides has ended");
	return partner_read(partner, out, err);
}

void
partner_end(struct partner *partner)
{
	int status;

	if (partner->to != NULL)
		fclose(partner->to);
	if (partner->from != NULL)
		fclose(partner->from);
	if (partner->pid > 0)
		while (waitpid(partner->pid, &status, 0) < 0 &&
		    errno == EINTR)
			;
	mem_free(&partner->line);
	*partner = (struct partner){ .pid = 0 };
}
