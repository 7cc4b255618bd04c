/* run.c - zmailer run, start, stop, restart, reload
 *
 * In     the configuration; who holds the spool
 * Out    an instance that runs, or not; words about it
 * Spec   zmailer(8); tools/run/supervisor.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "mail/spool/spool.h"
#include "tools/answers/answers.h"
#include "tools/publish/install.h"
#include "tools/publish/serve.h"
#include "tools/run/beside/taker.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	START_FOR_MS = 120000,		/* recovery of a large spool included */
	SETTLE_FOR_MS = 60000		/* who takes a publish may still live */
};

/* Absolute, for processes that change their directory; there is no "-C" if
 * there is no file. */
static const char *
path_settle(const struct conf *conf)
{
	static char path[PATH_MAX];

	if (conf->path == NULL || conf->path[0] == '\0' ||
	    realpath(conf->path, path) == NULL)
		return NULL;
	(void)setenv("ZMAILER_CONF", path, 1);
	return path;
}

/* Run a verb for a user who may not read. */
static int
run_answer(int argc, char **argv, const char *conf_path)
{
	return verb_run_row(verb_row_find(argv[0]), argc, argv, conf_path);
}

/* What the supervisor's processes do that this program alone can. */
static void
run_offer(void)
{
	answers_offer(run_answer);
	taker_offer(publish_serve);
}

int
verb_run(struct arguments *arguments)
{
	struct conf *conf;

	run_offer();
	if (arguments_has(arguments, OPT_TAKE_OVER))
		return supervisor_take_over(arguments->conf_path,
		    (int)arguments_number(arguments, OPT_TAKE_OVER, 0),
		    arguments_has(arguments, OPT_TRY));
	/* E5: files of two configurations are one again before they are read */
	(void)publish_settle(arguments->conf_path, SETTLE_FOR_MS);
	conf = verb_conf_file(arguments->conf_path);
	return supervisor_run(conf, path_settle(conf), -1);
}

/* ---- start --------------------------------------------------------------- */

static int
console_open(const struct conf *conf, off_t *out_end)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/console.log", conf->log_dir);
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
	    0640);
	*out_end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	return fd;
}

/* What the instance said since it was started. */
static void
console_show(int fd, off_t from)
{
	char text[4096];
	ssize_t n;

	while ((n = pread(fd, text, sizeof(text), from)) > 0) {
		fwrite(text, 1, (size_t)n, stderr);
		from += n;
	}
}

static void
run_background(struct conf *conf, int console, int ready_fd)
	__attribute__((noreturn));
static void
run_background(struct conf *conf, int console, int ready_fd)
{
	const char *path = path_settle(conf);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)setsid();
	run_offer();
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(console, STDOUT_FILENO) < 0 ||
	    dup2(console, STDERR_FILENO) < 0 || chdir("/") < 0)
		_exit(EX_OSERR);
	_exit(supervisor_run(conf, path, ready_fd));
}

/* Returns the exit status for the verb. */
static int
start_wait(pid_t pid, int ready_fd, int console, off_t from)
{
	struct pollfd wait = { .fd = ready_fd, .events = POLLIN };
	char byte;
	int status;

	if (poll(&wait, 1, START_FOR_MS) == 0) {
		fprintf(stderr, "zmailer: start: still not ready after %d s; "
		    "it goes on trying (zmailer status)\n",
		    START_FOR_MS / 1000);
		return EX_TEMPFAIL;
	}
	if (read(ready_fd, &byte, 1) == 1) {
		printf("zmailer runs, pid %ld\n", (long)pid);
		return EX_OK;
	}
	console_show(console, from);
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		return WEXITSTATUS(status);
	return EX_UNAVAILABLE;
}

static int
run_start(struct conf *conf)
{
	struct err err;
	int ready[2], console, status;
	off_t end;
	pid_t pid;

	if (dirs_prepare(conf, &err) < 0)
		return verb_failed("start", &err, EX_CANTCREAT);
	console = console_open(conf, &end);
	if (console < 0 || pipe2(ready, O_CLOEXEC) < 0) {
		fprintf(stderr, "zmailer: start: %s/console.log: %s\n",
		    conf->log_dir, strerror(errno));
		return EX_CANTCREAT;
	}
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		fprintf(stderr, "zmailer: start: fork: %s\n", strerror(errno));
		return EX_OSERR;
	}
	if (pid == 0) {
		close(ready[0]);
		run_background(conf, console, ready[1]);
	}
	close(ready[1]);
	status = start_wait(pid, ready[0], console, end);
	close(ready[0]);
	close(console);
	return status;
}

/* Before anything of ours is open: a daemon that keeps what a maintainer
 * script, ssh or a pipe had open lets them wait for its own end. */
static void
inherited_close(void)
{
	closefrom(STDERR_FILENO + 1);
}

int
verb_start(struct arguments *arguments)
{
	struct conf *conf;
	int status;

	inherited_close();
	(void)publish_settle(arguments->conf_path, SETTLE_FOR_MS);
	conf = verb_conf_file(arguments->conf_path);
	/* After a boot most of the mail is better than none. */
	if (running_check_files(conf) != EX_OK)
		fprintf(stderr, "zmailer: start: goes on: what needs this "
		    "waits, or is told 451, until it is mended\n");
	status = run_start(conf);

	conf_free(&conf);
	return status;
}

/* ---- stop, restart, reload --------------------------------------------- */

static int
run_stop(const struct arguments *arguments)
{
	struct conf *conf = verb_conf_spool(arguments->conf_path);
	int status = running_stop(conf);

	conf_free(&conf);
	return status;
}

int
verb_stop(struct arguments *arguments)
{
	return run_stop(arguments);
}

/* What stops is what runs, wherever that is; with a file that is broken
 * nothing is stopped. */
int
verb_restart(struct arguments *arguments)
{
	struct conf *conf;
	int status;

	inherited_close();
	(void)publish_settle(arguments->conf_path, SETTLE_FOR_MS);
	conf = verb_conf_file(arguments->conf_path);
	status = running_check_restart(conf);
	if (status == EX_OK && !running_restart_unit(conf, &status)) {
		status = run_stop(arguments);
		if (status == EX_OK)
			status = run_start(conf);
	}
	conf_free(&conf);
	return status;
}

int
verb_reload(struct arguments *arguments)
{
	return running_reload(arguments->conf_path);
}
