/* keeper.c - the process that answers ZMailer's mailq protocol, kept alive
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
#include "scheduler/mailq/keeper.h"

#include "base/banned.h"

struct mailq_keeper {
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

static void begin(struct scheduler *scheduler);

static void
let_go(struct mailq_keeper *keeper)
{
	if (keeper->socket < 0)
		return;
	watch_free(&keeper->watch);
	ipc_inbox_release(&keeper->inbox);
	close(keeper->socket);
	keeper->socket = -1;
}

static void
again_due(void *context)
{
	begin(context);
}

static int64_t
pause_ms(struct mailq_keeper *keeper)
{
	unsigned shift = keeper->failures < 8 ? keeper->failures : 8;
	int64_t pause = (int64_t)MAILQ_PAUSE_FIRST_MS << shift;

	keeper->failures++;
	return pause < MAILQ_PAUSE_MAX_MS ? pause : MAILQ_PAUSE_MAX_MS;
}

static void
begin_later(struct scheduler *scheduler, int64_t wait_ms)
{
	timer_set(scheduler->loop, &scheduler->mailq->again,
	    clock_steady_ms() + wait_ms, again_due, scheduler);
}

/* ---- its clients ------------------------------------------------------- */

static void
clients_ready(void *context, unsigned ready)
{
	struct scheduler *scheduler = context;
	struct mailq_keeper *keeper = scheduler->mailq;
	struct peer peer = { .uid = geteuid(), .right = RIGHT_READ,
	    .is_mailq = true, .name = "mailq" };
	int got = ipc_receive(keeper->socket, &keeper->inbox);
	int client;

	/* its lines say nothing, the sockets do */
	ipc_inbox_consume(&keeper->inbox, keeper->inbox.bytes.len);
	while ((client = ipc_take_fd(&keeper->inbox)) >= 0)
		control_take(scheduler, client, &peer);
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	let_go(keeper);		/* the launcher's notice follows */
}

/* ---- its beginning and its end ----------------------------------------- */

static void
begin(struct scheduler *scheduler)
{
	struct mailq_keeper *keeper = scheduler->mailq;
	struct err err;
	int ends[2];

	if (keeper->is_alive || scheduler->conf->mailq.users == NULL)
		return;
	if (ipc_pair(ends, &err) < 0 || keeper->start(ends[1], &err) < 0) {
		warning("mailq: %s", err.text);
		begin_later(scheduler, pause_ms(keeper));
		return;
	}
	close(ends[1]);
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	keeper->socket = ends[0];
	keeper->is_alive = true;
	keeper->is_old = false;
	keeper->started_ms = clock_steady_ms();
	ipc_inbox_init(&keeper->inbox);
	keeper->watch = loop_watch(scheduler->loop, ends[0], LOOP_READ,
	    clients_ready, scheduler);
}

void
mailq_ended(struct scheduler *scheduler, pid_t pid, int status)
{
	struct mailq_keeper *keeper = scheduler->mailq;
	struct str text = STR_INIT;
	int64_t wait_ms = 0;

	if (keeper == NULL)
		return;
	let_go(keeper);
	keeper->is_alive = false;
	if (scheduler->agents.is_stopping)
		return;
	if (!keeper->is_old) {
		if (clock_steady_ms() - keeper->started_ms > MAILQ_STEADY_MS)
			keeper->failures = 0;
		wait_ms = pause_ms(keeper);
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
	begin_later(scheduler, wait_ms);
}

void
mailq_keep(struct scheduler *scheduler, mailq_start_fn *start)
{
	struct mailq_keeper *keeper = mem_alloc(1, sizeof(*keeper));

	keeper->start = start;
	keeper->socket = -1;
	scheduler->mailq = keeper;
	begin(scheduler);
}

static bool
is_same(const struct conf_mailq *a, const struct conf_mailq *b)
{
	if (a->users == NULL || b->users == NULL)
		return a->users == b->users;
	return strcmp(a->users, b->users) == 0 &&
	    strcmp(a->listen.text, b->listen.text) == 0 &&
	    a->is_sha256_only == b->is_sha256_only;
}

void
mailq_reload(struct scheduler *scheduler, const struct conf *old)
{
	struct mailq_keeper *keeper = scheduler->mailq;

	if (keeper == NULL || is_same(&old->mailq, &scheduler->conf->mailq))
		return;
	keeper->failures = 0;
	/* the address is free for its successor when its end was told */
	keeper->is_old = keeper->is_alive;
	let_go(keeper);
	if (!keeper->is_alive)
		begin_later(scheduler, 0);
}

void
mailq_release(struct scheduler *scheduler)
{
	if (scheduler->mailq == NULL)
		return;
	timer_clear(&scheduler->mailq->again);
	let_go(scheduler->mailq);
	mem_free(&scheduler->mailq);
}
