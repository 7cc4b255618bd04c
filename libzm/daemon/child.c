/* child.c - a process that a daemon forks, talks with and starts again
 *
 * In     lines of the process, its end, time
 * Out    lines and descriptors; calls to the functions of its kind
 * Holds  the socket, the process, the timer of the next start
 * Trusts the process with nothing: lines are bounded; one that closes its
 *        socket is killed
 * Spec   child.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "daemon/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/ipc.h"
#include "journal/event.h"

#include "base/banned.h"

struct child {
	struct process			*process;
	const struct child_kind		*kind;
	void				*context;
	pid_t				 pid;
	int				 socket;	/* -1: none runs */
	struct watch			*watch;
	struct ipc_inbox		 inbox;
	size_t				 cursor;	/* lines were taken */
	struct str			 outbox;
	int				 fds[IPC_FDS_MAX];
	size_t				 fd_count;
	int64_t				 started_ms;
	unsigned			 early_deaths;	/* in a row */
	struct timer			 restart_timer;
	bool				 is_dismissed;
	bool				 is_broken;	/* a line too long */
	bool				 is_inbox_old;	/* of one that ended */
	bool				 is_freed;
	unsigned			 calls;	/* of its kind, under way */
	LIST_ENTRY(child)		 entry;
};

static void child_leave_call(struct child *child);
static void child_on_ready(void *context, unsigned ready);
static void child_on_due(void *context);

struct child *
child_new(struct process *process, const struct child_kind *kind,
    void *context)
{
	struct child *child = mem_alloc(1, sizeof(*child));

	child->process = process;
	child->kind = kind;
	child->context = context;
	child->socket = -1;
	ipc_inbox_init(&child->inbox);
	str_init(&child->outbox);
	LIST_INSERT_HEAD(&process->children, child, entry);
	return child;
}

/* ---- the socket ------------------------------------------------------- */

static void
child_close_fds(struct child *child)
{
	for (size_t i = 0; i < child->fd_count; i++)
		close(child->fds[i]);
	child->fd_count = 0;
}

static void
child_wipe(struct child *child, size_t bytes)
{
	if (child->kind->is_secret)
		explicit_bzero(child->outbox.buf, bytes);
}

/* Lines that the caller of a callback still holds stay until it returns. */
static void
child_drop_inbox(struct child *child)
{
	if (child->calls > 0) {
		child->is_inbox_old = true;
		return;
	}
	ipc_inbox_release(&child->inbox);
	ipc_inbox_init(&child->inbox);
	child->cursor = 0;
	child->is_inbox_old = child->is_broken = false;
}

static void
child_close_socket(struct child *child)
{
	watch_free(&child->watch);
	close(child->socket);
	child->socket = -1;
	child_close_fds(child);
	child_wipe(child, child->outbox.len);
	str_reset(&child->outbox);
	child_drop_inbox(child);
}

void
child_attach(struct child *child)
{
	if (child->socket < 0 || child->watch != NULL)
		return;
	(void)fcntl(child->socket, F_SETFL, O_NONBLOCK);
	child->watch = loop_watch(child->process->loop, child->socket,
	    LOOP_READ, child_on_ready, child);
	child_send(child);
}

void
child_connect(struct child *child, int fd)
{
	child->pid = 0;
	child->socket = fd;
	child->is_dismissed = false;
	child->started_ms = clock_steady_ms();
	timer_clear(&child->restart_timer);
	if (child->process->loop != NULL)
		child_attach(child);
}

struct str *
child_outbox(struct child *child)
{
	return &child->outbox;
}

size_t
child_fd_room(const struct child *child)
{
	return IPC_FDS_MAX - child->fd_count;
}

void
child_add_fd(struct child *child, int fd)
{
	if (child->fd_count == IPC_FDS_MAX)
		panic("child_add_fd: there is no room for it");
	child->fds[child->fd_count++] = fd;
}

/* Descriptors go with the first byte: they are gone when it is.  An error
 * shows as an end of file on the next read. */
void
child_send(struct child *child)
{
	ssize_t n;

	if (child->socket < 0 || child->outbox.len == 0)
		return;
	n = ipc_send(child->socket, str_slice(&child->outbox), child->fds,
	    child->fd_count);
	if (n > 0) {
		child_close_fds(child);
		child_wipe(child, (size_t)n);
		str_consume(&child->outbox, (size_t)n);
	}
	if (child->watch != NULL)
		watch_set(child->watch, LOOP_READ |
		    (child->outbox.len > 0 ? LOOP_WRITE : 0));
	if (n > 0 && child->kind->sent != NULL) {
		child->calls++;
		child->kind->sent(child->context);
		child_leave_call(child);
	}
}

bool
child_line(struct child *child, struct slice *out_line)
{
	int got;

	if (child->is_inbox_old)	/* stopped in this very callback */
		return false;
	got = ipc_line(&child->inbox, &child->cursor, out_line);
	if (got < 0)
		child->is_broken = true;
	return got == 1;
}

void
children_forget(struct process *process)
{
	struct child *child;

	LIST_FOREACH(child, &process->children, entry) {
		if (child->socket >= 0)
			close(child->socket);
		child->socket = -1;
		child->watch = NULL;	/* its loop is gone */
		child->pid = 0;
		child_close_fds(child);
	}
}

/* ---- its beginning ---------------------------------------------------- */

static void __attribute__((noreturn))
child_run_kind(struct child *child, int socket)
{
	child->kind->run(child->context, socket);
	event_flush();
	_exit(0);
}

int
child_start(struct child *child, struct err *err)
{
	int socket;
	pid_t pid;

	if (child->socket >= 0)
		panic("child_start: %s runs already", child->kind->name);
	timer_clear(&child->restart_timer);
	pid = daemon_fork(child->process, child->kind->name, &socket, err);
	if (pid == 0)
		child_run_kind(child, socket);
	if (pid < 0)
		return -1;
	child_connect(child, socket);
	child->pid = pid;
	return 0;
}

/* How long an early death, or a start that failed, makes it wait. */
static int64_t
child_pause_ms(struct child *child)
{
	int64_t pause_ms = CHILD_RESTART_MS;

	for (unsigned i = 0; i < child->early_deaths &&
	    pause_ms < CHILD_RESTART_MAX_MS; i++)
		pause_ms *= 2;
	child->early_deaths++;
	return pause_ms < CHILD_RESTART_MAX_MS ? pause_ms :
	    CHILD_RESTART_MAX_MS;
}

static void
child_start_in(struct child *child, int64_t wait_ms)
{
	timer_set(child->process->loop, &child->restart_timer,
	    clock_steady_ms() + wait_ms, child_on_due, child);
}

void
child_start_later(struct child *child)
{
	child_start_in(child, child_pause_ms(child));
}

static void
child_on_due(void *context)
{
	struct child *child = context;
	struct err err;

	child->calls++;
	if (child->kind->due != NULL) {
		child->kind->due(child->context);
	} else if (child_start(child, &err) < 0) {
		warning("%s", err.text);
		child_start_later(child);
	}
	child_leave_call(child);
}

/* ---- its end ---------------------------------------------------------- */

/* The kernel closes what a process has open, and with it its locks, before
 * it can be waited for. */
static int
child_reap(struct child *child)
{
	int status = 0;

	while (child->pid > 0 &&
	    waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	child->pid = 0;
	return status;
}

/* It was told to end.  One that does not (a person stopped it, or it hangs)
 * must not keep its owner's loop. */
static void
child_reap_soon(struct child *child)
{
	const struct timespec nap = { .tv_nsec = 2000000 };
	int64_t until_ms = clock_steady_ms() + CHILD_END_MS;

	while (child->pid > 0 && clock_steady_ms() < until_ms) {
		pid_t got = waitpid(child->pid, NULL, WNOHANG);

		if (got == child->pid || (got < 0 && errno != EINTR)) {
			child->pid = 0;
			return;
		}
		(void)nanosleep(&nap, NULL);
	}
	child_signal(child, SIGKILL);
	(void)child_reap(child);
}

static void
child_note_end(const struct child *child, const struct child_end *end)
{
	char how[32], when[32] = "no";

	if (WIFSIGNALED(end->status))
		snprintf(how, sizeof(how), "signal %d",
		    WTERMSIG(end->status));
	else
		snprintf(how, sizeof(how), "exit %d",
		    WEXITSTATUS(end->status));
	if (end->again_ms >= 0)
		snprintf(when, sizeof(when), "%lldms",
		    (long long)end->again_ms);
	event(EV_DAEMON_EXIT, NULL, "name", slice_of(child->kind->title),
	    "child", event_number(end->pid), "status", slice_of(how),
	    "restart", slice_of(when), NULL);
}

static int64_t
child_again_ms(struct child *child, int64_t lived_ms)
{
	if (!child->kind->is_kept || child->is_dismissed)
		return -1;
	if (lived_ms < CHILD_RESTART_MS)
		return child_pause_ms(child);
	child->early_deaths = 0;
	return 0;
}

/* It ended by itself, or broke the rules.  Its socket is closed: whatever it
 * still does, it is of no use to anybody. */
static void
child_gone(struct child *child)
{
	struct child_end end = { .pid = child->pid,
	    .lived_ms = clock_steady_ms() - child->started_ms };

	child_signal(child, SIGKILL);
	child_close_socket(child);
	end.status = child_reap(child);
	end.again_ms = child_again_ms(child, end.lived_ms);
	if (end.again_ms >= 0)
		child_start_in(child, end.again_ms);
	if (child->kind->title != NULL && !child->is_dismissed)
		child_note_end(child, &end);
	if (child->kind->ended != NULL)
		child->kind->ended(child->context, &end);
}

static void
child_receive(struct child *child)
{
	int got = ipc_receive(child->socket, &child->inbox);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == 1 && child->kind->read != NULL)
		child->kind->read(child->context);
	else if (got == 1)
		child->cursor = child->inbox.bytes.len;	/* nobody listens */
	if (child->is_inbox_old)
		return;		/* it was stopped, perhaps started again */
	ipc_inbox_consume(&child->inbox, child->cursor);
	child->cursor = 0;
	if (got != 1 || child->is_broken)
		child_gone(child);
}

static void
child_on_ready(void *context, unsigned ready)
{
	struct child *child = context;

	child->calls++;
	if (ready & LOOP_WRITE)
		child_send(child);
	if (child->socket >= 0 && !child->is_inbox_old &&
	    (ready & (LOOP_READ | LOOP_HANGUP)))
		child_receive(child);
	child_leave_call(child);
}

void
child_signal(struct child *child, int number)
{
	if (child->pid > 0)
		(void)kill(child->pid, number);
}

void
child_dismiss(struct child *child)
{
	child->is_dismissed = true;
	timer_clear(&child->restart_timer);
}

void
child_hang_up(struct child *child)
{
	child_dismiss(child);
	child_send(child);
	if (child->socket < 0)
		return;
	(void)shutdown(child->socket, SHUT_WR);
	child_close_fds(child);
	child_wipe(child, child->outbox.len);
	str_reset(&child->outbox);
	if (child->watch != NULL)
		watch_set(child->watch, LOOP_READ);
}

void
child_stop(struct child *child)
{
	child_dismiss(child);
	if (child->socket < 0)
		return;
	if (child->kind->end_signal != 0)
		child_signal(child, child->kind->end_signal);
	child_close_socket(child);
	child_reap_soon(child);
}

static void
child_release(struct child *child)
{
	ipc_inbox_release(&child->inbox);
	str_release(&child->outbox);
	mem_free(&child);
}

void
child_free(struct child **pchild)
{
	struct child *child = *pchild;

	if (child == NULL)
		return;
	*pchild = NULL;
	child_stop(child);
	LIST_REMOVE(child, entry);
	child->is_freed = true;
	if (child->calls == 0)
		child_release(child);
}

/* After a callback: what it left behind for us. */
static void
child_leave_call(struct child *child)
{
	if (--child->calls > 0)
		return;
	if (child->is_freed)
		child_release(child);
	else if (child->is_inbox_old)
		child_drop_inbox(child);
}

bool
child_is_running(const struct child *child)
{
	return child->socket >= 0;
}

pid_t
child_pid(const struct child *child)
{
	return child->pid;
}
