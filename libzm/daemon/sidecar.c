/* sidecar.c - a process that the supervisor has beside its daemons
 *
 * In     whether it is wanted; that it ended; time
 * Out    a process, and another one after it
 * Holds  the lifeline, the timer of the next start
 * Trusts the process with nothing: it gets two descriptors, and is not heard
 * Spec   sidecar.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/child.h"
#include "daemon/sidecar.h"
#include "journal/event.h"

#include "base/banned.h"

void
sidecar_init(struct sidecar *sidecar, const struct sidecar_kind *kind,
    struct loop *loop, void *context)
{
	*sidecar = (struct sidecar){ .kind = kind, .context = context,
	    .loop = loop, .socket = -1, .second = -1,
	    .lifeline = -1 };
}

void
sidecar_adopt(struct sidecar *sidecar, pid_t pid, int lifeline, int socket)
{
	sidecar->pid = pid;
	sidecar->lifeline = lifeline;
	sidecar->socket = socket;
}

/* Put a descriptor in its place, from above all places; -1: nothing does. */
static int
sidecar_place(int fd, int place)
{
	int above = fcntl(fd, F_DUPFD, SIDECAR_SECOND_FD + 1);

	return above < 0 ? -1 : dup2(above, place);
}

/* Without what we have open: our locks and lifelines end with us, not with
 * it. */
static void __attribute__((noreturn))
sidecar_child(const struct sidecar *sidecar, int lifeline,
    const sigset_t *before)
{
	int socket = sidecar->socket, second = sidecar->second, held;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, before, NULL);
	event_open_fd(-1);
	/* each may stand in another's place */
	held = fcntl(lifeline, F_DUPFD, SIDECAR_SECOND_FD + 1);
	if (second >= 0)
		second = fcntl(second, F_DUPFD, SIDECAR_SECOND_FD + 1);
	if (held < 0 || (sidecar->second >= 0 && second < 0) ||
	    (socket >= 0 && sidecar_place(socket, SIDECAR_SOCKET_FD) < 0) ||
	    dup2(held, SIDECAR_LIFELINE_FD) < 0 ||
	    (second >= 0 && dup2(second, SIDECAR_SECOND_FD) < 0))
		_exit(EXIT_FATAL);
	if (socket < 0)
		close(SIDECAR_SOCKET_FD);
	closefrom(second < 0 ? SIDECAR_SECOND_FD : SIDECAR_SECOND_FD + 1);
	sidecar->kind->run(sidecar->context);
	_exit(0);
}

/* 0; -1 with errno. */
static int
sidecar_fork(struct sidecar *sidecar)
{
	sigset_t all, before;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	event_flush();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	sidecar->pid = fork();
	if (sidecar->pid == 0)
		sidecar_child(sidecar, ends[0], &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	sidecar->lifeline = ends[1];
	return sidecar->pid < 0 ? -1 : 0;
}

/* Close the lifeline. */
static void
sidecar_let_go(struct sidecar *sidecar)
{
	if (sidecar->lifeline >= 0)
		close(sidecar->lifeline);
	sidecar->lifeline = -1;
}

static void
sidecar_on_due(void *context)
{
	sidecar_begin(context);
}

static void
sidecar_begin_later(struct sidecar *sidecar)
{
	timer_set(sidecar->loop, &sidecar->timer, clock_steady_ms() +
	    CHILD_RESTART_MS, sidecar_on_due, sidecar);
}

void
sidecar_begin(struct sidecar *sidecar)
{
	if (sidecar->is_over || sidecar->pid > 0)
		return;
	timer_clear(&sidecar->timer);
	if ((sidecar->kind->is_wanted != NULL &&
	    !sidecar->kind->is_wanted(sidecar->context)) ||
	    sidecar_fork(sidecar) == 0)
		return;
	warning("%s: cannot start: %s", sidecar->kind->name, strerror(errno));
	sidecar->pid = 0;
	sidecar_let_go(sidecar);
	sidecar_begin_later(sidecar);
}

void
sidecar_renew(struct sidecar *sidecar)
{
	sidecar_let_go(sidecar);
	sidecar_begin(sidecar);
}

void
sidecar_replace(struct sidecar *sidecar)
{
	sidecar_let_go(sidecar);
	sidecar->pid = 0;
	sidecar_begin(sidecar);
}

void
sidecar_stop(struct sidecar *sidecar)
{
	sidecar->is_over = true;
	timer_clear(&sidecar->timer);
	sidecar_let_go(sidecar);
}

static void
sidecar_on_patience(void *context)
{
	struct sidecar *sidecar = context;

	if (sidecar->pid > 0)
		(void)kill(sidecar->pid, SIGKILL);
}

bool
sidecar_end(struct sidecar *sidecar, int64_t patience_ms, loop_fn *ended_fn,
    void *context)
{
	bool is_first = sidecar->ended_fn == NULL;

	sidecar->is_over = true;
	sidecar_let_go(sidecar);
	if (sidecar->pid == 0) {
		timer_clear(&sidecar->timer);
		return true;
	}
	if (!is_first)
		return false;
	sidecar->ended_fn = ended_fn;
	sidecar->ended_context = context;
	timer_set(sidecar->loop, &sidecar->timer, clock_steady_ms() +
	    patience_ms, sidecar_on_patience, sidecar);
	return false;
}

void
sidecar_ended(struct sidecar *sidecar, pid_t pid)
{
	bool was_told = sidecar->lifeline < 0;

	if (pid != sidecar->pid || pid == 0)
		return;
	sidecar->pid = 0;
	sidecar_let_go(sidecar);
	timer_clear(&sidecar->timer);
	if (sidecar->is_over && sidecar->ended_fn != NULL)
		sidecar->ended_fn(sidecar->ended_context);
	else if (was_told)
		sidecar_begin(sidecar);
	else if (!sidecar->is_over)
		sidecar_begin_later(sidecar);
}
