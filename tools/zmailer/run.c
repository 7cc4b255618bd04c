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

#include "daemon/machine/machine.h"
#include "mail/spool/spool.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

enum {
	START_FOR_MS = 120000,	/* recovery of a large spool included */
	STOP_WAIT_MS = 4 * STOP_FOR_MS,
	RELOAD_WAIT_MS = 30000,
	LOOK_EVERY_MS = 20
};

static void
run_nap(void)
{
	const struct timespec span = { .tv_nsec = LOOK_EVERY_MS * 1000000L };

	(void)nanosleep(&span, NULL);
}

/* No arguments but these. */
static bool
run_is_alone(int argc, char **argv, const char *allowed)
{
	for (int i = 1; i < argc; i++)
		if (allowed == NULL || strcmp(argv[i], allowed) != 0)
			return false;
	return true;
}

/* Absolute, for processes that change their directory; "-C" stays unsaid
 * when there is no file. */
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

int
verb_run(int argc, char **argv, const char *conf_path)
{
	struct conf *conf;

	if (!run_is_alone(argc, argv, "--foreground"))
		return verb_usage(argv[0], "it takes no arguments");
	conf = verb_conf(conf_path);
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
background(struct conf *conf, int console, int ready_fd)
	__attribute__((noreturn));
static void
background(struct conf *conf, int console, int ready_fd)
{
	const char *path = path_settle(conf);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)setsid();
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
		background(conf, console, ready[1]);
	}
	close(ready[1]);
	status = start_wait(pid, ready[0], console, end);
	close(ready[0]);
	close(console);
	return status;
}

/* A verb that takes no arguments, with its configuration. */
static int
alone(int argc, char **argv, const char *conf_path,
    int (*act)(struct conf *conf))
{
	struct conf *conf;
	int status;

	if (!run_is_alone(argc, argv, NULL))
		return verb_usage(argv[0], "it takes no arguments");
	conf = verb_conf(conf_path);
	status = act(conf);
	conf_free(&conf);
	return status;
}

int
verb_start(int argc, char **argv, const char *conf_path)
{
	return alone(argc, argv, conf_path, run_start);
}

/* ---- stop -------------------------------------------------------- */

/* Pid of the instance; 0: none runs. -1: cannot be asked. */
static pid_t
holder(const struct conf *conf)
{
	char text[256];
	pid_t pid = 0;
	int held = spool_lock_holder(conf->spool_dir, text, sizeof(text),
	    &pid);

	return held > 0 ? pid : held;
}

/* The lock cannot be looked at; errno says why. */
static int
holder_unknown(const char *verb, const struct conf *conf)
{
	int error = errno;

	fprintf(stderr, "zmailer: %s: %s/.lock: %s: who started zmailer, or "
	    "root, can do this\n", verb, conf->spool_dir, strerror(error));
	return error == EACCES || error == EPERM ? EX_NOPERM : EX_OSERR;
}

/* It runs, and a signal was refused. */
static int
not_ours(const char *verb, pid_t pid)
{
	int error = errno;

	fprintf(stderr, "zmailer: %s: pid %ld: %s: who started zmailer, or "
	    "root, can do this\n", verb, (long)pid, strerror(error));
	return error == EPERM ? EX_NOPERM : EX_OSERR;
}

static int
run_stop(struct conf *conf)
{
	pid_t pid = holder(conf);

	if (pid < 0)
		return holder_unknown("stop", conf);
	if (pid == 0) {
		printf("zmailer does not run\n");
		return EX_OK;
	}
	if (kill(pid, SIGTERM) < 0)
		return not_ours("stop", pid);
	for (int left = STOP_WAIT_MS / LOOK_EVERY_MS; left > 0; left--) {
		if (holder(conf) != pid)
			return EX_OK;
		run_nap();
	}
	fprintf(stderr, "zmailer: stop: pid %ld does not end; kill -9 is safe "
	    "for the spool\n", (long)pid);
	return EX_TEMPFAIL;
}

int
verb_stop(int argc, char **argv, const char *conf_path)
{
	return alone(argc, argv, conf_path, run_stop);
}

static int
restart(struct conf *conf)
{
	int status = run_stop(conf);

	return status == EX_OK ? run_start(conf) : status;
}

int
verb_restart(int argc, char **argv, const char *conf_path)
{
	return alone(argc, argv, conf_path, restart);
}

/* ---- reload ------------------------------------------------------ */

/* The second level: what the file names must exist, too. */
static int
files_check(const struct conf *conf)
{
	struct arena *arena = arena_new();
	struct conf_report report = { NULL, 0, 0, 0 };
	struct str text = STR_INIT;
	int status = EX_OK;

	machine_check(conf, arena, &report);
	if (report.errors > 0) {
		conf_report_print(&report, conf->path, &text);
		fputs(text.buf, stderr);
		status = EX_CONFIG;
	}
	str_release(&text);
	arena_free(&arena);
	return status;
}

/* Until the supervisor says what it and the daemons made of the signal. */
static int
reload_wait(const struct conf *conf, unsigned before)
{
	struct state state;
	struct err err;

	for (int left = RELOAD_WAIT_MS / LOOK_EVERY_MS; left > 0; left--) {
		if (state_read(conf->run_dir, &state, &err) == 1 &&
		    state.reloads != before)
			break;
		run_nap();
		if (left == 1) {
			fprintf(stderr, "zmailer: reload: not every "
			    "daemon has answered yet\n");
			return EX_TEMPFAIL;
		}
	}
	if (state.refused[0] == '\0') {
		printf("reloaded\n");
		return EX_OK;
	}
	fprintf(stderr, "zmailer: reload: refused, the old configuration "
	    "stays: %s\n", state.refused);
	return EX_CONFIG;
}

int
verb_reload(int argc, char **argv, const char *conf_path)
{
	struct state state;
	struct conf *conf;
	struct err err;
	pid_t pid;
	int status;

	if (!run_is_alone(argc, argv, NULL))
		return verb_usage(argv[0], "it takes no arguments");
	conf = verb_conf(conf_path);
	status = files_check(conf);
	pid = holder(conf);
	if (pid < 0) {
		status = holder_unknown("reload", conf);
	} else if (status != EX_OK) {
		fprintf(stderr, "zmailer: reload: nothing was changed\n");
	} else if (pid == 0) {
		fprintf(stderr, "zmailer: reload: zmailer does not run: nobody "
		    "has the lock of %s; `zmailer start` begins with this "
		    "configuration\n", conf->spool_dir);
		status = EX_UNAVAILABLE;
	} else {
		if (state_read(conf->run_dir, &state, &err) < 1)
			state.reloads = 0;
		if (kill(pid, SIGHUP) == 0) {
			status = reload_wait(conf, state.reloads);
		} else {
			status = not_ours("reload", pid);
		}
	}
	conf_free(&conf);
	return status;
}
