/* askers.c - who asks for policies, over RUN/sts.sock
 *
 * In     connections and questions of our own agents and tools
 * Out    answers, in the order of questions
 * Holds  callers, and for each the question in hand
 * Trusts no question; who may connect is said by the socket's group and mode
 * Spec   askers.h, doc/protocol/sts.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/ipc.h"
#include "sts/ask/askers.h"

#include "base/banned.h"

struct visitor {
	struct askers		*askers;
	int			 socket;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 outbox;
	struct known_wait	*wait;
	bool			 is_waiting;	/* for an answer */
	TAILQ_ENTRY(visitor)	 entry;
};

struct askers {
	struct process		*process;
	struct known		*known;
	int			 socket;
	struct watch		*listener, *lifeline_watch;
	TAILQ_HEAD(, visitor)	 visitors;
	size_t			 visitor_count;
	bool			 is_leaving;
	struct timer		 leave_timer;
};

/* ---- visitors ---------------------------------------------------------- */

static void
visitor_gone(struct visitor *visitor)
{
	struct askers *askers = visitor->askers;

	known_forget(&visitor->wait);
	TAILQ_REMOVE(&askers->visitors, visitor, entry);
	askers->visitor_count--;
	watch_free(&visitor->watch);
	close(visitor->socket);
	ipc_inbox_release(&visitor->inbox);
	str_release(&visitor->outbox);
	mem_free(&visitor);
	if (askers->is_leaving && TAILQ_EMPTY(&askers->visitors))
		loop_stop(askers->process->loop);
}

/* Send what there is; who has been answered when the askers closes is gone. */
static void
visitor_send(struct visitor *visitor)
{
	ssize_t sent = ipc_send(visitor->socket, str_slice(&visitor->outbox),
	    NULL, 0);

	if (sent >= 0)
		str_consume(&visitor->outbox, (size_t)sent);
	if (sent < 0 || (visitor->askers->is_leaving &&
	    visitor->outbox.len == 0 && !visitor->is_waiting)) {
		visitor_gone(visitor);
		return;
	}
	/* who does not read answers is not asked for more */
	watch_set(visitor->watch, visitor->outbox.len > 0 ? LOOP_WRITE :
	    LOOP_READ);
}

/* known_answer_fn */
static void
visitor_on_answer(void *context, struct slice answer)
{
	struct visitor *visitor = context;

	str_add_slice(&visitor->outbox, answer);
	str_addc(&visitor->outbox, '\n');
	visitor->is_waiting = false;
	if (visitor->wait == NULL)	/* at once */
		return;
	visitor->wait = NULL;
	watch_set(visitor->watch, LOOP_WRITE);
}

/* ---- questions --------------------------------------------------------- */

static void
visitor_list(struct visitor *visitor)
{
	known_list(visitor->askers->known, &visitor->outbox);
	str_adds(&visitor->outbox, ".\n");
}

/* false: it is no question. */
static bool
visitor_take(struct visitor *visitor, struct slice line)
{
	char domain[STS_DOMAIN_BYTES];
	struct slice verb;
	bool is_refresh;

	if (!slice_word(&line, &verb))
		return false;
	if (slice_is(verb, "list")) {
		visitor_list(visitor);
		return true;
	}
	is_refresh = slice_is(verb, "refresh");
	if (!is_refresh && !slice_is(verb, "policy"))
		return false;
	if (!sts_domain(slice_trim(line), domain)) {
		str_adds(&visitor->outbox, "none\n");
		return true;
	}
	visitor->is_waiting = true;
	visitor->wait = known_ask(visitor->askers->known, domain, is_refresh,
	    visitor_on_answer, visitor);
	return true;
}

static bool
visitor_take_all(struct visitor *visitor)
{
	struct slice line;
	size_t cursor = 0;
	bool is_good = true;

	while (is_good && !visitor->is_waiting &&
	    ipc_line(&visitor->inbox, &cursor, &line) == IPC_LINE)
		is_good = line.n <= ASKERS_LINE_BYTES_MAX &&
		    visitor_take(visitor, line);
	ipc_inbox_consume(&visitor->inbox, cursor);
	return is_good && visitor->inbox.bytes.len <= 4 * ASKERS_LINE_BYTES_MAX;
}

static void
visitor_on_socket(void *context, unsigned ready)
{
	struct visitor *visitor = context;
	enum ipc_answer got;

	if (ready & (LOOP_READ | LOOP_HANGUP)) {
		got = ipc_receive(visitor->socket, &visitor->inbox);
		if (got == IPC_END || (got == IPC_TROUBLE &&
		    errno != EAGAIN)) {
			visitor_gone(visitor);
			return;
		}
	}
	if (!visitor_take_all(visitor)) {
		visitor_gone(visitor);
		return;
	}
	visitor_send(visitor);
}

static void
askers_on_listener(void *context, unsigned ready)
{
	struct askers *askers = context;
	struct visitor *visitor;
	int fd = accept4(askers->socket, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (askers->visitor_count >= ASKERS_MAX) {
		close(fd);
		return;
	}
	visitor = mem_alloc(1, sizeof(*visitor));
	visitor->askers = askers;
	visitor->socket = fd;
	ipc_inbox_init(&visitor->inbox);
	str_init(&visitor->outbox);
	visitor->watch = loop_watch(askers->process->loop, fd, LOOP_READ,
	    visitor_on_socket, visitor);
	TAILQ_INSERT_TAIL(&askers->visitors, visitor, entry);
	askers->visitor_count++;
}

/* ---- the end ----------------------------------------------------------- */

static void
askers_on_leave_time(void *context)
{
	struct askers *askers = context;

	loop_stop(askers->process->loop);
}

static void
askers_on_lifeline(void *context, unsigned ready)
{
	struct askers *askers = context;
	struct visitor *visitor, *next;

	askers->is_leaving = true;
	watch_free(&askers->lifeline_watch);
	watch_free(&askers->listener);
	timer_set(askers->process->loop, &askers->leave_timer,
	    clock_steady_ms() + ASKERS_LEAVE_MS, askers_on_leave_time, askers);
	if (TAILQ_EMPTY(&askers->visitors))
		loop_stop(askers->process->loop);
	TAILQ_FOREACH_SAFE(visitor, &askers->visitors, entry, next)
		visitor_send(visitor);
}

struct askers *
askers_new(struct process *process, struct known *known, int socket,
    int lifeline)
{
	struct askers *askers = mem_alloc(1, sizeof(*askers));

	askers->process = process;
	askers->known = known;
	askers->socket = socket;
	TAILQ_INIT(&askers->visitors);
	askers->listener = loop_watch(process->loop, socket, LOOP_READ,
	    askers_on_listener, askers);
	askers->lifeline_watch = loop_watch(process->loop, lifeline, LOOP_READ,
	    askers_on_lifeline, askers);
	return askers;
}

void
askers_free(struct askers **paskers)
{
	struct askers *askers = *paskers;
	struct visitor *visitor;

	if (askers == NULL)
		return;
	while ((visitor = TAILQ_FIRST(&askers->visitors)) != NULL)
		visitor_gone(visitor);
	timer_clear(&askers->leave_timer);
	watch_free(&askers->listener);
	watch_free(&askers->lifeline_watch);
	mem_free(paskers);
}
