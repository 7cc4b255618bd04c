/* dial.c - connections to the submission listener, made by who may
 *
 * In     descriptors of the process that orders
 * Out    each to who asked for it, in their order
 * Holds  who waits
 * Trusts nothing but the order: see dialogue.c for what comes over them
 * Spec   dial.h, web/ask/wire.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/queue.h>

#include <errno.h>
#include <event2/event.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/ipc.h"
#include "web/ask/wire.h"
#include "web/send/dial.h"

#include "base/banned.h"

struct dial {
	STAILQ_ENTRY(dial) line;
	dial_fn		*fn;	/* NULL: nobody waits for it any more */
	void		*context;
};

static struct {
	STAILQ_HEAD(, dial) line;
	struct ipc_inbox inbox;
	struct event	*event;
	int		 fd;	/* -1: nobody connects any more */
} dials = { .fd = -1 };

static void
dials_end_first(int fd)
{
	struct dial *dial = STAILQ_FIRST(&dials.line);
	dial_fn *fn = dial->fn;
	void *context = dial->context;

	STAILQ_REMOVE_HEAD(&dials.line, line);
	mem_free(&dial);
	if (fn != NULL)
		fn(context, fd);
	else if (fd >= 0)
		close(fd);
}

/* Who waits is told, and who comes later, in the next turn. */
static void
dials_lose(void)
{
	if (dials.fd >= 0)
		close(dials.fd);
	dials.fd = -1;
	(void)event_del(dials.event);
	while (!STAILQ_EMPTY(&dials.line))
		dials_end_first(-1);
}

static void
dials_on_answer(evutil_socket_t fd, short what, void *context)
{
	enum ipc_answer answer = ipc_receive(dials.fd, &dials.inbox);
	bool is_good = answer == IPC_GOT || (answer == IPC_TROUBLE &&
	    errno == EAGAIN);
	enum ipc_line_answer found = IPC_LINE_NONE;
	size_t cursor = 0;
	struct slice line;

	while (is_good && (found = ipc_line(&dials.inbox, &cursor, &line)) ==
	    IPC_LINE) {
		is_good = !STAILQ_EMPTY(&dials.line);
		if (is_good)
			dials_end_first(slice_is(line, WIRE_THERE) ?
			    ipc_take_fd(&dials.inbox) : -1);
	}
	ipc_inbox_consume(&dials.inbox, cursor);
	if (!is_good || found == IPC_LINE_TOO_LONG)
		dials_lose();
}

void
dial_open(struct event_base *base, int fd)
{
	STAILQ_INIT(&dials.line);
	ipc_inbox_init(&dials.inbox);
	dials.fd = fd;
	dials.event = event_new(base, fd, EV_READ | EV_PERSIST,
	    dials_on_answer, NULL);
	if (dials.event == NULL || event_add(dials.event, NULL) < 0)
		panic("no event for connections");
}

struct dial *
dial_begin(dial_fn *fn, void *context)
{
	struct dial *dial = mem_alloc(1, sizeof(*dial));
	struct slice line = SLICE(WIRE_CONNECT "\n");

	*dial = (struct dial){ .fn = fn, .context = context };
	STAILQ_INSERT_TAIL(&dials.line, dial, line);
	if (dials.fd < 0 || ipc_send(dials.fd, line, NULL, 0) !=
	    (ssize_t)line.n)
		event_active(dials.event, EV_READ, 0);
	return dial;
}

void
dial_drop(struct dial **dial)
{
	if (*dial != NULL)
		(*dial)->fn = NULL;
	*dial = NULL;
}
