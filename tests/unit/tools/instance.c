/* instance.c - a private instance whose programs are testd
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "instance.h"

enum { WAIT_MS = 20000, LOOK_EVERY_MS = 10 };

static void
nap(void)
{
	const struct timespec span = { .tv_nsec = LOOK_EVERY_MS * 1000000L };

	nanosleep(&span, NULL);
}

static const char *
build_dir(void)
{
	const char *dir = getenv("ZMAILER_BUILD");

	return dir != NULL ? dir : ".";
}

void
instance_configure(const struct instance *in, const char *host,
    const char *more)
{
	FILE *file = fopen(in->conf, "w");

	cr_assert_not_null(file);
	fprintf(file, "host %s\nspool %s\nrun %s\nlog %s\n%s\n"
	    "listen unix:%s/smtp\n", host,
	    in->spool, in->run, in->log, more, in->run);
	fclose(file);
}

void
instance_make(struct instance *in)
{
	static const char *const programs[] = { "router", "scheduler",
	    "smtpserver", "ta/http", "ta/mailbox", "ta/hold" };
	const char *top = getenv("TMPDIR");
	char libexec[300], path[400], testd[4200], whole[4200];

	memset(in, 0, sizeof(*in));
	snprintf(in->dir, sizeof(in->dir), "%s/zmtestXXXXXX",
	    top != NULL ? top : "/tmp");
	cr_assert_not_null(mkdtemp(in->dir));
	cr_assert_eq(chmod(in->dir, 0755), 0);
	snprintf(in->conf, sizeof(in->conf), "%s/zmailer.conf", in->dir);
	snprintf(in->run, sizeof(in->run), "%s/run", in->dir);
	snprintf(in->log, sizeof(in->log), "%s/log", in->dir);
	snprintf(in->spool, sizeof(in->spool), "%s/spool", in->dir);
	snprintf(libexec, sizeof(libexec), "%s/libexec", in->dir);
	cr_assert_eq(mkdir(libexec, 0755), 0);
	snprintf(path, sizeof(path), "%s/ta", libexec);
	cr_assert_eq(mkdir(path, 0755), 0);
	snprintf(testd, sizeof(testd), "%s/tests/unit/tools/testd",
	    build_dir());
	cr_assert_not_null(realpath(testd, whole), "%s", testd);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", libexec, programs[i]);
		cr_assert_eq(symlink(whole, path), 0);
	}
	cr_assert_eq(setenv("ZMAILER_LIBEXEC", libexec, 1), 0);
	unsetenv("ZMAILER_CONF");
	instance_configure(in, "one.test", "user smtpserver -\nuser router -\n"
	    "user scheduler -\nuser agent -\n");
}

bool
instance_start(struct instance *in)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *conf = conf_load(in->conf, arena, &report);
	int ready[2];
	char byte;
	bool is_ready;

	cr_assert_not_null(conf);
	arena_free(&arena);
	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	in->pid = fork();
	cr_assert_geq(in->pid, 0);
	if (in->pid == 0) {
		close(ready[0]);
		_exit(supervisor_run(conf, in->conf, ready[1]));
	}
	close(ready[1]);
	is_ready = read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	conf_free(&conf);
	return is_ready;
}

int
instance_wait(struct instance *in)
{
	int status;

	for (int left = WAIT_MS / LOOK_EVERY_MS; left > 0; left--) {
		if (waitpid(in->pid, &status, WNOHANG) == in->pid) {
			in->pid = 0;
			return WIFEXITED(status) ? WEXITSTATUS(status) :
			    1000 + WTERMSIG(status);
		}
		nap();
	}
	return -1;
}

int
instance_stop(struct instance *in)
{
	kill(in->pid, SIGTERM);
	return instance_wait(in);
}

void
instance_remove(struct instance *in)
{
	char command[400];

	if (in->pid > 0) {
		kill(in->pid, SIGKILL);
		instance_wait(in);
	}
	snprintf(command, sizeof(command), "rm -rf '%s'", in->dir);
	cr_expect_eq(system(command), 0);
}

static void
output_read(int fd, struct str *out)
{
	ssize_t n;

	while ((n = read(fd, str_room(out, 4096), 4096)) > 0) {
		out->len += (size_t)n;
		out->buf[out->len] = '\0';
	}
}

int
instance_zmailer(const struct instance *in, const char *const words[],
    struct str *out)
{
	char *argv[16] = { (char[]){ "zmailer" }, (char[]){ "-C" },
	    (char *)(uintptr_t)in->conf };
	char path[4200];
	int ends[2], status;
	size_t n = 3;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/bin/zmailer", build_dir());
	while (*words != NULL && n < 15)
		argv[n++] = (char *)(uintptr_t)*words++;
	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		close(ends[0]);
		close(ends[1]);
		execv(path, argv);
		_exit(127);
	}
	close(ends[1]);
	str_reset(out);
	output_read(ends[0], out);
	close(ends[0]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) :
	    1000 + WTERMSIG(status);
}

static void
file_read(const struct instance *in, const char *file, struct str *out)
{
	char pattern[400];
	glob_t found;

	str_reset(out);
	snprintf(pattern, sizeof(pattern), "%s/%s", in->dir, file);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		output_read(fd, out);
		close(fd);
	}
	globfree(&found);
}

static unsigned
occurrences(const struct str *text, const char *what)
{
	unsigned count = 0;

	for (const char *p = text->buf; (p = strstr(p, what)) != NULL; p++)
		count++;
	return count;
}

void
instance_says(const struct instance *in, const char *const words[],
    struct str *out, int status, const char *text)
{
	int got = instance_zmailer(in, words, out);

	cr_expect_eq(got, status, "%s: exit %d\n%s", words[0], got, out->buf);
	cr_expect(strstr(out->buf, text) != NULL, "%s: no '%s' in:\n%s",
	    words[0], text, out->buf);
}

void
instance_expect(const struct instance *in, const char *file,
    const char *text, unsigned count)
{
	struct str all = STR_INIT;

	for (int left = WAIT_MS / LOOK_EVERY_MS; left > 0; left--) {
		file_read(in, file, &all);
		if (occurrences(&all, text) >= count)
			break;
		nap();
	}
	cr_expect_eq(occurrences(&all, text), count,
	    "'%s' not %u times in %s:\n%s", text, count, file, all.buf);
	str_release(&all);
}

pid_t
instance_child(const struct instance *in, const char *name)
{
	struct state state;
	struct err err;

	for (int left = WAIT_MS / LOOK_EVERY_MS; left > 0; left--) {
		cr_assert_eq(state_read(in->run, &state, &err), STATE_READ);
		for (size_t i = 0; i < state.child_count; i++)
			if (strcmp(state.children[i].name, name) == 0 &&
			    strcmp(state.children[i].state, "ready") == 0)
				return state.children[i].pid;
		nap();
	}
	cr_assert_fail("%s is not ready", name);
	return -1;
}
