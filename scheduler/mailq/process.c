/* process.c - the process that answers ZMailer's mailq protocol, kept alive
 *
 * In     the mailq statement; notices of the launcher; time
 * Out    requests to the launcher; clients for the operator's socket
 * Holds  our end of the pair, over which the process sends connections
 * Trusts the process: it is the agents' account's, so what its connections
 *        may do is bounded here (RIGHT_READ and is_mailq)
 * Spec   doc/protocol/mailq.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/control/control.h"
#include "scheduler/mailq/process.h"

#include "base/banned.h"

struct mailq_process {
	const struct agents *agents;
	struct control	*control;	/* who serves its clients */
	mailq_start_fn	*start;
	int		 socket;	/* -1: none runs, or it shall end */
	bool		 is_alive;	/* started; its end was not yet told */
	bool		 is_old;	/* it ends because it was told to */
	struct watch	*watch;
	struct ipc_inbox inbox;
	struct timer	 again;
	unsigned	 failures;	/* in a row */
	int64_t		 started_ms;
};

static void mailq_start(struct mailq_process *mailq);

static void
mailq_let_go(struct mailq_process *mailq)
{
	if (mailq->socket < 0)
		return;
	watch_free(&mailq->watch);
	ipc_inbox_release(&mailq->inbox);
	close(mailq->socket);
	mailq->socket = -1;
}

static void
mailq_again(void *context)
{
	mailq_start(context);
}

static int64_t
mailq_pause_ms(struct mailq_process *mailq)
{
	unsigned shift = mailq->failures < 8 ? mailq->failures : 8;
	int64_t pause = (int64_t)MAILQ_PAUSE_FIRST_MS << shift;

	mailq->failures++;
	return pause < MAILQ_PAUSE_MAX_MS ? pause : MAILQ_PAUSE_MAX_MS;
}

static void
mailq_start_later(struct mailq_process *mailq, int64_t wait_ms)
{
	timer_set(mailq->agents->queue->loop, &mailq->again,
	    clock_steady_ms() + wait_ms, mailq_again, mailq);
}

/* ---- its clients ------------------------------------------------------- */

static void
mailq_clients_ready(void *context, unsigned ready)
{
	struct mailq_process *mailq = context;
	struct rights_peer peer = { .uid = geteuid(), .right = RIGHT_READ,
	    .is_mailq = true, .name = "mailq" };
	int got = ipc_receive(mailq->socket, &mailq->inbox);
	int client;

	/* its lines say nothing, the sockets do */
	ipc_inbox_consume(&mailq->inbox, mailq->inbox.bytes.len);
	while ((client = ipc_take_fd(&mailq->inbox)) >= 0)
		control_take(mailq->control, client, &peer);
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	mailq_let_go(mailq);		/* the launcher's notice follows */
}

/* ---- its beginning and its end ----------------------------------------- */

static void
mailq_start(struct mailq_process *mailq)
{
	struct err err;
	int ends[2];

	if (mailq->is_alive || mailq->agents->queue->conf->mailq.users == NULL)
		return;
	if (ipc_pair(ends, &err) < 0 || mailq->start(ends[1], &err) < 0) {
		warning("mailq: %s", err.text);
		mailq_start_later(mailq, mailq_pause_ms(mailq));
		return;
	}
	close(ends[1]);
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	mailq->socket = ends[0];
	mailq->is_alive = true;
	mailq->is_old = false;
	mailq->started_ms = clock_steady_ms();
	ipc_inbox_init(&mailq->inbox);
	mailq->watch = loop_watch(mailq->agents->queue->loop, ends[0],
	    LOOP_READ,
	    mailq_clients_ready, mailq);
}

void
mailq_ended(struct mailq_process *mailq, pid_t pid, int status)
{
	struct str text = STR_INIT;
	int64_t wait_ms = 0;

	mailq_let_go(mailq);
	mailq->is_alive = false;
	if (mailq->agents->is_stopping)
		return;
	if (!mailq->is_old) {
		if (clock_steady_ms() - mailq->started_ms > MAILQ_STEADY_MS)
			mailq->failures = 0;
		wait_ms = mailq_pause_ms(mailq);
		if (pid == 0)
			str_adds(&text, "it could not be started");
		else if (WIFSIGNALED(status))
			str_addf(&text, "signal %d", WTERMSIG(status));
		else
			str_addf(&text, "%d", WEXITSTATUS(status));
		event(EV_MAILQ_EXIT, NULL, "child", event_number(pid),
		    "status", str_slice(&text), "again_ms",
		    event_number(wait_ms), NULL);
		str_release(&text);
	}
	mailq_start_later(mailq, wait_ms);
}

struct mailq_process *
mailq_new(const struct agents *agents, struct control *control,
    mailq_start_fn *start)
{
	struct mailq_process *mailq = mem_alloc(1, sizeof(*mailq));

	mailq->agents = agents;
	mailq->control = control;
	mailq->start = start;
	mailq->socket = -1;
	mailq_start(mailq);
	return mailq;
}

static bool
mailq_is_same(const struct conf_mailq *a, const struct conf_mailq *b)
{
	if (a->users == NULL || b->users == NULL)
		return a->users == b->users;
	return strcmp(a->users, b->users) == 0 &&
	    strcmp(a->listen.text, b->listen.text) == 0 &&
	    a->is_sha256_only == b->is_sha256_only;
}

void
mailq_reload(struct mailq_process *mailq, const struct conf *old)
{

	if (mailq_is_same(&old->mailq, &mailq->agents->queue->conf->mailq))
		return;
	mailq->failures = 0;
	/* the address is free for its successor when its end was told */
	mailq->is_old = mailq->is_alive;
	mailq_let_go(mailq);
	if (!mailq->is_alive)
		mailq_start_later(mailq, 0);
}

void
mailq_free(struct mailq_process **mailq)
{
	if (*mailq == NULL)
		return;
	timer_clear(&(*mailq)->again);
	mailq_let_go(*mailq);
	mem_free(mailq);
}
