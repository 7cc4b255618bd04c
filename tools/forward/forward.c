/* forward.c - the supervisor's side of log-to: a process, and its place
 *
 * In     the configuration in force
 * Out    a process; after its end another one that goes on where it was
 * Holds  the place in the journal
 * Spec   forward.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "tools/forward/forward.h"

#include "base/banned.h"

enum { LIFELINE_FD = 3 };

/* In a process without what we have open: our locks and lifelines end with
 * us, not with it. */
static void
forward_child(const struct forward *forward, int lifeline,
    const sigset_t *before) __attribute__((noreturn));
static void
forward_child(const struct forward *forward, int lifeline,
    const sigset_t *before)
{
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, before, NULL);
	event_open_fd(-1);
	if (lifeline != LIFELINE_FD && dup2(lifeline, LIFELINE_FD) < 0)
		_exit(EXIT_FATAL);
	closefrom(LIFELINE_FD + 1);
	forward_run(*forward->conf, forward->place, LIFELINE_FD);
}

static void
forward_begin(void *context)
{
	struct forward *forward = context;
	sigset_t all, before;
	int ends[2];

	if (forward->is_over || forward->pid > 0 ||
	    (*forward->conf)->log_to.kind == LOG_TO_NONE)
		return;
	if (pipe2(ends, O_CLOEXEC) == 0) {
		event_flush();
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &before);
		forward->pid = fork();
		if (forward->pid == 0)
			forward_child(forward, ends[0], &before);
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(ends[0]);
		forward->lifeline = ends[1];
		if (forward->pid > 0)
			return;
		close(ends[1]);
	}
	warning("log-to: %s", strerror(errno));
	forward->pid = 0;
	forward->lifeline = -1;
	timer_set(forward->loop, &forward->timer, clock_steady_ms() +
	    FORWARD_AGAIN_MS, forward_begin, forward);
}

void
forward_start(struct forward *forward, struct loop *loop,
    struct conf *const *conf)
{
	void *place = mmap(NULL, sizeof(*forward->place), PROT_READ |
	    PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*forward = (struct forward){ .loop = loop, .conf = conf,
	    .lifeline = -1, .place = place, .is_over = place == MAP_FAILED };
	if (forward->is_over)
		warning("log-to: %s", strerror(errno));
	forward_begin(forward);
}

void
forward_reload(struct forward *forward)
{
	if (forward->is_over)
		return;
	if (forward->pid == 0) {
		forward->place->inode = 0;	/* what was before is past */
		forward_begin(forward);
		return;
	}
	if (forward->lifeline >= 0)
		close(forward->lifeline);
	forward->lifeline = -1;
}

void
forward_stop(struct forward *forward)
{
	forward->is_over = true;
	timer_clear(&forward->timer);
	if (forward->lifeline >= 0)
		close(forward->lifeline);
	forward->lifeline = -1;
}

/* One that was told to end has a successor at once. */
void
forward_ended(struct forward *forward, pid_t pid)
{
	bool was_told = forward->lifeline < 0;

	if (pid != forward->pid || pid == 0)
		return;
	forward->pid = 0;
	if (!was_told)
		close(forward->lifeline);
	forward->lifeline = -1;
	if (was_told)
		forward_begin(forward);
	else if (!forward->is_over)
		timer_set(forward->loop, &forward->timer, clock_steady_ms() +
		    FORWARD_AGAIN_MS, forward_begin, forward);
}
