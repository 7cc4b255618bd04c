/* supervised.c - one daemon: started, ready, gone, started again
 *
 * In     a name; its ready byte; its end as waitpid tells it
 * Out    a process with a lifeline, maybe sockets, and little else
 * Holds  the supervisor's end of the lifeline, one timer
 * Spec   skeleton.h (ZMAILER_LIFELINE), given.h, supervisor.h
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
#include "base/mem.h"
#include "journal/event.h"
#include "daemon/skeleton.h"
#include "io/ipc.h"
#include "tools/run/supervised.h"

#include "base/banned.h"

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
	TAILQ_INIT(&child->predecessors);
}

/* Put all where the skeleton looks for them, whatever they are now. */
static int
descriptors_place(const struct supervised *child, int lifeline)
{
	const struct run_listeners *listeners = child->listeners != NULL ?
	    child->listeners : child->control;
	size_t count = listeners == NULL ? 0 : listeners->count;
	int *fds = mem_alloc(count + 1, sizeof(*fds));
	const int others[] = { lifeline, child->lock_fd, child->room_fd };
	char number[32];

	for (size_t i = 0; i < count; i++)
		fds[i] = listeners->rows[i].fd;
	if (given_pass(fds, count, others, LIFELINE_FDS) < 0)
		return -1;
	mem_free(&fds);
	snprintf(number, sizeof(number), "%zu", GIVEN_FIRST_FD + count);
	return setenv("ZMAILER_LIFELINE", number, 1);
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
	if (descriptors_place(child, lifeline) < 0)
		fatal("dup2: %s", strerror(errno));
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	daemon_libexec(child->name, path, sizeof(path));
	execv(path, argv);
	fatal("cannot start %s: %s", path, strerror(errno));
}

/* ---- those before it --------------------------------------------- */

static void
predecessor_on_lifeline(void *context, unsigned ready)
{
	struct predecessor *before = context;
	char byte;
	ssize_t n = read(before->lifeline, &byte, 1);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		watch_set(before->watch, 0);
	} else if (byte == 'L') {
		before->has_left = true;
		before->successor->on_change(before->successor);
	}
}

static void
predecessor_stop(struct predecessor *before)
{
	if (!before->is_stopping)	/* twice would be: at once */
		(void)kill(before->pid, SIGTERM);
	before->is_stopping = true;
	before->is_told = true;
}

static void
predecessors_tell(struct supervised *child)
{
	struct predecessor *before;

	TAILQ_FOREACH(before, &child->predecessors, entry) {
		if (before->is_told)
			continue;
		before->is_told = true;
		if (write(before->lifeline, "L", 1) != 1)
			predecessor_stop(before);
	}
}

static void
predecessor_add(struct supervised *child)
{
	struct predecessor *before = mem_alloc(1, sizeof(*before));

	before->successor = child;
	before->pid = child->pid;
	before->lifeline = child->lifeline;
	watch_free(&child->watch);
	before->watch = loop_watch(child->loop, before->lifeline, LOOP_READ,
	    predecessor_on_lifeline, before);
	TAILQ_INSERT_TAIL(&child->predecessors, before, entry);
	if (++child->predecessor_count > PREDECESSORS_MAX)
		predecessor_stop(TAILQ_FIRST(&child->predecessors));
	child->pid = 0;
	child->lifeline = -1;
	child->state = SUPERVISED_DOWN;
}

void
supervised_adopt_before(struct supervised *child,
    const struct handover_before *had)
{
	struct predecessor *before = mem_alloc(1, sizeof(*before));

	before->successor = child;
	before->pid = (pid_t)had->pid;
	before->lifeline = had->lifeline;
	before->is_told = had->is_told;
	before->has_left = had->has_left;
	before->is_stopping = had->is_stopping;
	before->watch = loop_watch(child->loop, before->lifeline, LOOP_READ,
	    predecessor_on_lifeline, before);
	TAILQ_INSERT_TAIL(&child->predecessors, before, entry);
	child->predecessor_count++;
}

static void
predecessor_free(struct predecessor *before)
{
	TAILQ_REMOVE(&before->successor->predecessors, before, entry);
	before->successor->predecessor_count--;
	watch_free(&before->watch);
	close(before->lifeline);
	mem_free(&before);
}

int
supervised_replace(struct supervised *child, struct err *err)
{
	if (child->state == SUPERVISED_STOPPING)
		return 0;	/* the one after it has the new file */
	if (child->pid > 0)
		predecessor_add(child);
	child->is_reloading = true;
	return supervised_start(child, err);
}

bool
supervised_is_settled(const struct supervised *child)
{
	const struct predecessor *before;

	TAILQ_FOREACH(before, &child->predecessors, entry)
		if (before->is_told && !before->has_left)
			return false;
	return !child->is_reloading;
}

/* ---- itself -------------------------------------------------------- */

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
	if ((byte == 'T' || byte == 'F') &&
	    child->state == SUPERVISED_READY) {
		child->is_reloading = false;
		child->has_refused = byte == 'F';
		if (byte == 'T')
			child->has_conf = *child->conf_number;
	} else if (byte == 'N' && child->state == SUPERVISED_READY) {
		child->knows_names = true;
	} else if (byte == 'R' && child->state == SUPERVISED_STARTING) {
		child->state = SUPERVISED_READY;
		child->was_ready = true;
		child->is_reloading = false;
		child->on_ready(child);
		predecessors_tell(child);
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
	char path[4200];
	int ends[2];
	pid_t pid;

	if (ipc_pair(ends, err) < 0)
		return -1;
	event_flush();
	daemon_libexec(child->name, path, sizeof(path));
	program_look(path, &child->program);
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
	child->has_refused = false;
	child->was_ready = false;
	child->knows_names = false;
	child->has_conf = *child->conf_number;
	child->since_s = clock_wall_s();
	child->started_at_ms = clock_steady_ms();
	child->watch = loop_watch(child->loop, ends[0], LOOP_READ,
	    supervised_on_lifeline, child);
	return 0;
}

void
supervised_reload(struct supervised *child)
{
	struct predecessor *before;

	child->owes_reload = child->state == SUPERVISED_STARTING;
	child->is_reloading = child->pid > 0;
	child->has_refused = false;
	if (child->state == SUPERVISED_READY)
		(void)kill(child->pid, SIGHUP);
	TAILQ_FOREACH(before, &child->predecessors, entry)
		if (before->is_told)
			(void)kill(before->pid, SIGHUP);
}

void
supervised_tell_names(struct supervised *child)
{
	if (child->pid <= 0 || child->knows_names)
		return;
	child->knows_names = true;
	if (write(child->lifeline, "N", 1) != 1)
		warning("%s does not listen: %s", child->name,
		    strerror(errno));
}

void
supervised_kill(struct supervised *child)
{
	struct predecessor *before;

	if (child->pid > 0)
		(void)kill(child->pid, SIGKILL);
	TAILQ_FOREACH(before, &child->predecessors, entry)
		(void)kill(before->pid, SIGKILL);
}

bool
supervised_lives(const struct supervised *child)
{
	return child->pid > 0 || child->predecessor_count > 0;
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
	struct predecessor *before;

	if (!supervised_lives(child))
		return;
	child->state = SUPERVISED_STOPPING;
	if (child->pid > 0)
		(void)kill(child->pid, SIGTERM);
	TAILQ_FOREACH(before, &child->predecessors, entry)
		predecessor_stop(before);
	timer_set(child->loop, &child->timer, clock_steady_ms() + span_ms,
	    on_patience_over, child);
}

/* returns the one with this pid; NULL: none */
static struct predecessor *
predecessor_find(const struct supervised *child, pid_t pid)
{
	struct predecessor *before;

	TAILQ_FOREACH(before, &child->predecessors, entry)
		if (before->pid == pid)
			return before;
	return NULL;
}

static void
supervised_main_ended(struct supervised *child)
{
	watch_free(&child->watch);
	close(child->lifeline);
	child->lifeline = -1;
	child->pid = 0;
	child->since_s = clock_wall_s();
}

void
supervised_ended(struct supervised *child, pid_t pid, int status)
{
	bool is_main = pid == child->pid;
	bool was_asked = child->state == SUPERVISED_STOPPING;
	struct predecessor *before = is_main ? NULL :
	    predecessor_find(child, pid);

	if (!is_main && before == NULL)
		return;
	if (is_main)
		supervised_main_ended(child);
	else
		predecessor_free(before);
	if (was_asked && supervised_lives(child))
		return;
	if (!is_main && !was_asked) {
		child->on_change(child);
		return;
	}
	timer_clear(&child->timer);
	child->state = SUPERVISED_DOWN;
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

void
supervised_end_text(int status, char *out, size_t size)
{
	if (status == -1)
		snprintf(out, size, "not started");
	else if (WIFSIGNALED(status))
		snprintf(out, size, "signal %d", WTERMSIG(status));
	else
		snprintf(out, size, "exit %d", WEXITSTATUS(status));
}

static enum supervised_state
state_named(const char *name)
{
	size_t count = sizeof(state_names) / sizeof(*state_names);

	for (size_t i = 0; i < count; i++)
		if (strcmp(state_names[i], name) == 0)
			return (enum supervised_state)i;
	return SUPERVISED_DOWN;
}

/* One that waited for its next start has that soon.  Nothing is handed over
 * before the names are known. */
void
supervised_adopt(struct supervised *child, const struct handover_child *had)
{
	child->state = state_named(had->state);
	child->pid = (pid_t)had->pid;
	child->lifeline = had->lifeline;
	child->since_s = had->since_s;
	child->started_at_ms = had->started_at_ms;
	child->restarts = (unsigned)had->restarts;
	child->has_conf = (unsigned)had->conf;
	child->was_ready = had->was_ready;
	child->knows_names = child->state == SUPERVISED_READY;
	child->program.made_s = had->made_s;
	child->program.bytes = had->bytes;
	strlcpy(child->program.path, had->program,
	    sizeof(child->program.path));
	if (child->lifeline >= 0)
		child->watch = loop_watch(child->loop, child->lifeline,
		    LOOP_READ, supervised_on_lifeline, child);
	else
		timer_set(child->loop, &child->timer, clock_steady_ms() +
		    RESTART_FIRST_MS, on_restart, child);
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
	supervised_end_text(status, how, sizeof(how));
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
	out->conf = child->has_conf;
	out->before = child->predecessor_count;
	out->program = child->program;
}
