/* mover.c - mail that other nodes of the cluster give to this one comes here
 *
 * In     the time; share's word about offers and lost nodes
 * Out    a process now and then that takes what is offered
 * Holds  a question, or its pid: there is one at a time
 * Spec   tools/copies/moved.h; doc/protocol/share.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/consult/share_ask.h"
#include "io/unix_socket.h"
#include "journal/event.h"
#include "tools/copies/moved.h"
#include "tools/run/beside/mover.h"

#include "base/banned.h"

/* In a process of its own, without what we have open: our locks and lifelines
 * end with us, not with it. */
static void
move_here(const struct conf *conf, const sigset_t *before)
	__attribute__((noreturn));
static void
move_here(const struct conf *conf, const sigset_t *before)
{
	uint64_t count;
	struct err err;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, before, NULL);
	event_open_fd(-1);
	closefrom(STDERR_FILENO + 1);
	(void)event_open(conf->log_dir);
	if (moved_take(conf, &count, &err) < 0)
		warning("mail from other nodes: %s", err.text);
	event_flush();
	_exit(EX_OK);
}

static void
mover_fork(struct mover *mover)
{
	sigset_t all, before;

	event_flush();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	mover->pid = fork();
	if (mover->pid == 0)
		move_here(*mover->conf, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (mover->pid < 0) {
		warning("mail from other nodes: cannot fork: %s",
		    strerror(errno));
		mover->pid = 0;
	}
}

/* ---- the question ------------------------------------------------------- */

static void
mover_on_end(void *context)
{
	struct mover *mover = context;

	ipc_link_free(&mover->link);
}

/* "m ok offers NODE COUNT BYTES ...", "o ok overdue NODE EPOCH COUNT BYTES
 * ..."; nothing after that word: there is nothing to be taken. */
static enum ipc_link_taken
mover_take_line(void *context, struct slice line)
{
	struct mover *mover = context;
	struct slice word;

	if (slice_word(&line, &word) && slice_word(&line, &word) &&
	    slice_is(word, "ok") && slice_word(&line, &word) &&
	    (slice_is(word, "offers") || slice_is(word, "overdue")) &&
	    slice_trim(line).n > 0 && mover->pid == 0)
		mover_fork(mover);
	if (--mover->waits > 0)
		return IPC_LINK_NEXT;
	return IPC_LINK_NONSENSE;	/* no more questions */
}

static const struct ipc_link_kind mover_link_kind = {
	.take = mover_take_line, .ended = mover_on_end,
};

static void
mover_ask(struct mover *mover)
{
	struct err err;
	int fd = unix_socket_connect_in((*mover->conf)->run_dir, SHARE_SOCKET,
	    SOCK_NONBLOCK, &err);

	if (fd < 0)
		return;			/* the next time */
	mover->link = ipc_link_new(mover->loop, fd, &mover_link_kind, mover);
	mover->waits = 1;
	str_adds(ipc_link_out(mover->link), "m offers\n");
	if ((*mover->conf)->cluster.takeover_after_ms > 0) {
		mover->waits++;
		str_addf(ipc_link_out(mover->link), "o overdue %" PRId64 "\n",
		    (*mover->conf)->cluster.takeover_after_ms / 1000);
	}
	ipc_link_send(mover->link);
}

static void
on_mover_time(void *context)
{
	struct mover *mover = context;

	timer_set(mover->loop, &mover->timer, clock_steady_ms() +
	    MOVER_EVERY_MS, on_mover_time, mover);
	ipc_link_free(&mover->link);	/* it had its time */
	if (mover->pid == 0 && conf_keeps_copies(*mover->conf))
		mover_ask(mover);
}

void
mover_start(struct mover *mover, struct loop *loop, struct conf *const *conf)
{
	mover->loop = loop;
	mover->conf = conf;
	timer_set(loop, &mover->timer, clock_steady_ms() + MOVER_EVERY_MS,
	    on_mover_time, mover);
}

void
mover_adopt(struct mover *mover, pid_t pid)
{
	mover->pid = pid;
}

void
mover_stop(struct mover *mover)
{
	timer_clear(&mover->timer);
	ipc_link_free(&mover->link);
}

void
mover_ended(struct mover *mover, pid_t pid)
{
	if (pid == mover->pid)
		mover->pid = 0;
}
