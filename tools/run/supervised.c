/* supervised.c - one daemon: started, ready, gone, started again
 *
 * In     a name; its ready byte; its end as waitpid tells it
 * Out    a process with a lifeline on descriptor 3 and little else
 * Holds  the supervisor's end of the lifeline, one timer
 * Spec   skeleton.h (ZMAILER_LIFELINE), supervisor.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "daemon/skeleton.h"
#include "io/ipc.h"
#include "tools/run/supervised.h"

#include "base/banned.h"

enum { LIFELINE_FD = 3, LOCK_FD = 4 };

static const char *const state_names[] = {
#define STATE(symbol, name) name,
	SUPERVISED_STATES(STATE)
#undef STATE
};

void
supervised_init(struct supervised *child, const char *name,
    struct supervisor *boss)
{
	memset(child, 0, sizeof(*child));
	child->name = name;
	child->boss = boss;
	child->lifeline = -1;
	child->since_s = clock_wall_s();
}

/* Put both where the skeleton looks for them, whatever they are now. */
static int
descriptors_place(int lifeline, int lock)
{
	int high_lifeline = fcntl(lifeline, F_DUPFD, LOCK_FD + 1);
	int high_lock = fcntl(lock, F_DUPFD, LOCK_FD + 1);

	if (high_lifeline < 0 || high_lock < 0 ||
	    dup2(high_lifeline, LIFELINE_FD) < 0 ||
	    dup2(high_lock, LOCK_FD) < 0)
		return -1;
	closefrom(LOCK_FD + 1);
	return 0;
}

static void
supervised_child_exec(const struct supervised *child, int lifeline,
    const sigset_t *mask)
{
	char path[4200];
	char option[] = "-C";
	char *argv[] = { (char *)(uintptr_t)child->name, option,
	    (char *)(uintptr_t)child->conf_path, NULL };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* A ^C at the terminal is for the supervisor, who stops in order. */
	(void)setpgid(0, 0);
	for (int i = 1; i < 32; i++)
		signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		fatal("/dev/null: %s", strerror(errno));
	if (descriptors_place(lifeline, child->lock_fd) < 0)
		fatal("dup2: %s", strerror(errno));
	(void)setenv("ZMAILER_LIFELINE", "3", 1);
	(void)unsetenv("NOTIFY_SOCKET");
	daemon_libexec(child->name, path, sizeof(path));
	execv(path, argv);
	fatal("cannot start %s: %s", path, strerror(errno));
}

static void
supervised_on_lifeline(void *context, unsigned ready)
{
	struct supervised *child = context;
	char byte;
	ssize_t n = read(child->lifeline, &byte, 1);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {		/* its end comes by SIGCHLD */
		watch_set(child->watch, 0);
		return;
	}
	if (byte == 'T' && child->state == SUPERVISED_READY) {
		child->is_reloading = false;
	} else if (byte == 'R' && child->state == SUPERVISED_STARTING) {
		child->state = SUPERVISED_READY;
		child->is_reloading = false;
		if (child->owes_reload)
			supervised_reload(child);
	} else {
		return;
	}
	child->on_change(child);
}

int
supervised_start(struct supervised *child, struct err *err)
{
	sigset_t all, before;
	int ends[2];
	pid_t pid;

	if (ipc_pair(ends, err) < 0)
		return -1;
	event_flush();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0)
		supervised_child_exec(child, ends[1], &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_sys(err, "cannot fork %s", child->name);
	}
	(void)setpgid(pid, pid);
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	timer_clear(&child->timer);
	child->pid = pid;
	child->lifeline = ends[0];
	child->state = SUPERVISED_STARTING;
	child->owes_reload = false;
	child->since_s = clock_wall_s();
	child->started_at_ms = clock_steady_ms();
	child->watch = loop_watch(child->loop, ends[0], LOOP_READ,
	    supervised_on_lifeline, child);
	return 0;
}

void
supervised_reload(struct supervised *child)
{
	child->owes_reload = child->state == SUPERVISED_STARTING;
	child->is_reloading = child->pid > 0;
	if (child->state == SUPERVISED_READY)
		(void)kill(child->pid, SIGHUP);
}

void
supervised_kill(struct supervised *child)
{
	if (child->pid > 0)
		(void)kill(child->pid, SIGKILL);
}

static void
on_patience_over(void *context)
{
	struct supervised *child = context;

	warning("%s did not stop in time: killed", child->name);
	supervised_kill(child);
}

void
supervised_stop(struct supervised *child, int64_t span_ms)
{
	if (child->pid <= 0)
		return;
	child->state = SUPERVISED_STOPPING;
	(void)kill(child->pid, SIGTERM);
	timer_set(child->loop, &child->timer, clock_steady_ms() + span_ms,
	    on_patience_over, child);
}

void
supervised_ended(struct supervised *child, int status)
{
	bool was_asked = child->state == SUPERVISED_STOPPING;

	timer_clear(&child->timer);
	watch_free(&child->watch);
	close(child->lifeline);
	child->lifeline = -1;
	child->pid = 0;
	child->state = SUPERVISED_DOWN;
	child->since_s = clock_wall_s();
	child->on_gone(child, status, was_asked);
}

static void
on_restart(void *context)
{
	struct supervised *child = context;
	struct err err;

	child->restarts++;
	if (supervised_start(child, &err) < 0)
		supervised_restart_later(child, -1);
	else
		child->on_change(child);
}

static void
status_text(int status, char *out, size_t size)
{
	if (status == -1)
		snprintf(out, size, "not started");
	else if (WIFSIGNALED(status))
		snprintf(out, size, "signal %d", WTERMSIG(status));
	else
		snprintf(out, size, "exit %d", WEXITSTATUS(status));
}

void
supervised_restart_later(struct supervised *child, int status)
{
	int64_t now_ms = clock_steady_ms();
	char how[32], when[32];

	if (child->backoff_ms == 0 ||
	    now_ms - child->started_at_ms >= RESTART_LAST_MS)
		child->backoff_ms = RESTART_FIRST_MS;
	else if (child->backoff_ms < RESTART_LAST_MS / 2)
		child->backoff_ms *= 2;
	else
		child->backoff_ms = RESTART_LAST_MS;
	status_text(status, how, sizeof(how));
	snprintf(when, sizeof(when), "%lldms", (long long)child->backoff_ms);
	event(EV_DAEMON_EXIT, NULL, "name", slice_of(child->name), "status",
	    slice_of(how), "restart", slice_of(when), NULL);
	child->state = SUPERVISED_WAITING;
	child->is_reloading = false;	/* the next one reads the new file */
	timer_set(child->loop, &child->timer, now_ms + child->backoff_ms,
	    on_restart, child);
}

void
supervised_describe(const struct supervised *child, struct state_child *out)
{
	memset(out, 0, sizeof(*out));
	snprintf(out->name, sizeof(out->name), "%s", child->name);
	snprintf(out->state, sizeof(out->state), "%s",
	    state_names[child->state]);
	out->pid = child->pid;
	out->since_s = child->since_s;
	out->restarts = child->restarts;
}
