/* helpers_process.c - helper processes and connections as the listener sees
 * them
 *
 * In     answers of helpers, ends of file
 * Out    questions on their way; helpers that start and end
 * Holds  what each helper has in hand
 * Trusts no helper: a token counts only when that helper has it in hand
 * Spec   helper.h has the lines
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "smtpserver/helper/helpers_internal.h"

#include "base/banned.h"

static void
note_exit(const struct helper *helper, int status)
{
	struct str name = STR_INIT;

	str_addf(&name, "smtpserver %s", helper->kind->row->name);
	event(EV_DAEMON_EXIT, NULL, "name", str_slice(&name),
	    "child", event_number(helper->pid),
	    "status", event_number(status), "restart", event_number(0), NULL);
	str_release(&name);
}

void
helper_end(struct helper *helper, const char *why)
{
	struct kind *kind = helper->kind;
	struct question *question;
	int status = 0;

	watch_free(&helper->watch);
	close(helper->socket);
	TAILQ_REMOVE(&kind->helpers, helper, entry);
	if (!helper->is_leaving)
		kind->staying--;
	if (helper->pid > 0) {
		(void)kill(helper->pid, SIGKILL);	/* it keeps nothing */
		while (waitpid(helper->pid, &status, 0) < 0 &&
		    errno == EINTR)
			;
	}
	if (helper->pid > 0 && !helper->is_leaving) {
		note_exit(helper, status);
		if (clock_steady_ms() - helper->started_at_ms <
		    HELPER_RESTART_AFTER_MS)
			kind->not_before_ms = clock_steady_ms() +
			    HELPER_RESTART_AFTER_MS;
	}
	while ((question = TAILQ_FIRST(&helper->in_hand)) != NULL) {
		TAILQ_REMOVE(&helper->in_hand, question, entry);
		/* somebody else's process may just have been replaced */
		if (helper->pid == 0 && !question->is_again)
			question_requeue(kind, question);
		else
			question_answer(kind->all, question, slice_of(why));
	}
	ipc_inbox_release(&helper->inbox);
	explicit_bzero(helper->outbox.buf, helper->outbox.len);
	str_release(&helper->outbox);
	mem_free(&helper);
}

static void
helper_line(struct helper *helper, struct slice line)
{
	struct helpers *all = helper->kind->all;
	struct question *question = NULL;
	struct slice token_text;
	uint64_t token;

	if (slice_word(&line, &token_text) &&
	    slice_number(token_text, 1, UINT64_MAX, &token))
		question = asks_find(all->asks, token);
	line = slice_from(line, line.n > 0);
	if (question == NULL || question->helper != helper ||
	    !(slice_starts(line, "ok ") || slice_starts(line, "trouble "))) {
		warning("helper %s talks nonsense",
		    helper->kind->row->name);
		return;
	}
	TAILQ_REMOVE(&helper->in_hand, question, entry);
	helper->in_hand_count--;
	question_answer(all, question, line);
}

void
helper_leave_if_done(struct helper *helper)
{
	if (helper->is_leaving && !helper->kind->row->keeps &&
	    helper->in_hand_count == 0 &&
	    helper->outbox.len == 0)
		(void)shutdown(helper->socket, SHUT_WR);
}

void
helper_write(struct helper *helper)
{
	ssize_t n = ipc_send(helper->socket, str_slice(&helper->outbox),
	    NULL, 0);

	if (n > 0) {
		explicit_bzero(helper->outbox.buf, (size_t)n);
		str_consume(&helper->outbox, (size_t)n);
	}
	/* an error shows as an end of file on the next read */
	watch_set(helper->watch, LOOP_READ |
	    (helper->outbox.len > 0 ? LOOP_WRITE : 0));
}

static void
on_helper(void *context, unsigned ready)
{
	struct helper *helper = context;
	struct kind *kind = helper->kind;
	struct slice line;
	size_t cursor = 0;
	int got;

	if (ready & LOOP_WRITE)
		helper_write(helper);
	if (!(ready & (LOOP_READ | LOOP_HANGUP)))
		return;
	got = ipc_receive(helper->socket, &helper->inbox);
	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		helper_end(helper, "trouble the helper died");
		kind_stir(kind);
		return;
	}
	while ((got = ipc_line(&helper->inbox, &cursor, &line)) == 1)
		helper_line(helper, line);
	ipc_inbox_consume(&helper->inbox, cursor);
	if (got < 0)
		helper_end(helper, "trouble the helper talks nonsense");
	else
		helper_leave_if_done(helper);
	kind_stir(kind);
}

void
helper_ask_to_leave(struct helper *helper)
{
	if (helper->kind->row->keeps) {
		str_adds(&helper->outbox, "leave\n");
		helper_write(helper);
	}
	helper_leave_if_done(helper);
}

static void
helper_add(struct kind *kind, pid_t pid, int fd)
{
	struct helper *helper = mem_alloc(1, sizeof(*helper));

	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	helper->kind = kind;
	helper->pid = pid;
	helper->socket = fd;
	helper->started_at_ms = clock_steady_ms();
	TAILQ_INIT(&helper->in_hand);
	ipc_inbox_init(&helper->inbox);
	str_init(&helper->outbox);
	helper->watch = loop_watch(kind->all->process->loop, fd, LOOP_READ,
	    on_helper, helper);
	TAILQ_INSERT_TAIL(&kind->helpers, helper, entry);
	kind->staying++;
}

/* In the child: nothing of the listener's stays open. */
static void __attribute__((noreturn))
child_begin(struct kind *kind, int fd)
{
	struct process *process = kind->all->process;

	kind->all->child_fn(kind->all->context);
	kind->row->serve(process, fd);
	event_flush();
	_exit(0);
}

static int
helper_fork(struct kind *kind, struct err *err)
{
	int fd;
	pid_t pid = daemon_fork(kind->all->process, kind->row->name, &fd,
	    err);

	if (pid == 0)
		child_begin(kind, fd);
	if (pid < 0)
		return -1;
	helper_add(kind, pid, fd);
	return 0;
}

static int
helper_connect(struct kind *kind, struct err *err)
{
	const char *dir = kind->all->process->conf->run_dir;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, n = snprintf(address.sun_path, sizeof(address.sun_path),
	    "%s/%s", dir, kind->row->socket);

	if (n < 0 || (size_t)n >= sizeof(address.sun_path))
		return err_set(err, "the path of socket %s is too long",
		    kind->row->socket);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(err, "cannot make a socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		err_sys(err, "cannot reach %s", address.sun_path);
		close(fd);
		return -1;
	}
	helper_add(kind, 0, fd);
	return 0;
}

static int
helper_open(struct kind *kind, struct err *err)
{
	struct helpers *all = kind->all;
	int fd;

	if (all->open_fn == NULL)
		return err_set(err, "nobody answers questions of kind %s",
		    kind->row->name);
	fd = all->open_fn(all->context, err);
	if (fd < 0)
		return -1;
	helper_add(kind, 0, fd);
	return 0;
}

int
helper_start(struct kind *kind, struct err *err)
{
	if (kind->row->serve != NULL)
		return helper_fork(kind, err);
	return kind->row->socket != NULL ? helper_connect(kind, err) :
	    helper_open(kind, err);
}
