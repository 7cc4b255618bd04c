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
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/ipc_link.h"
#include "sts/ask/askers.h"

#include "base/banned.h"

struct visitor {
	struct askers		*askers;
	struct ipc_link		*link;
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
visitor_gone(void *context)
{
	struct visitor *visitor = context;
	struct askers *askers = visitor->askers;

	known_forget(&visitor->wait);
	TAILQ_REMOVE(&askers->visitors, visitor, entry);
	askers->visitor_count--;
	ipc_link_free(&visitor->link);
	mem_free(&visitor);
	if (askers->is_leaving && TAILQ_EMPTY(&askers->visitors))
		loop_stop(askers->process->loop);
}

/* Who has been answered when the askers closes is gone. */
static void
visitor_on_idle(void *context)
{
	struct visitor *visitor = context;

	if (visitor->askers->is_leaving && !visitor->is_waiting &&
	    ipc_link_out(visitor->link)->len == 0)
		visitor_gone(visitor);
}

/* known_answer_fn */
static void
visitor_on_answer(void *context, struct slice answer)
{
	struct visitor *visitor = context;
	struct str *out = ipc_link_out(visitor->link);

	str_add_slice(out, answer);
	str_addc(out, '\n');
	visitor->is_waiting = false;
	if (visitor->wait == NULL)	/* at once */
		return;
	visitor->wait = NULL;
	ipc_link_resume(visitor->link);
}

/* ---- questions --------------------------------------------------------- */

static void
visitor_list(struct visitor *visitor)
{
	struct str *out = ipc_link_out(visitor->link);

	known_list(visitor->askers->known, out);
	str_adds(out, ".\n");
}

static enum ipc_link_taken
visitor_take(void *context, struct slice line)
{
	struct visitor *visitor = context;
	char domain[STS_DOMAIN_BYTES];
	struct slice verb;
	bool is_refresh;

	if (!slice_word(&line, &verb))
		return IPC_LINK_NONSENSE;
	if (slice_is(verb, "list")) {
		visitor_list(visitor);
		return IPC_LINK_NEXT;
	}
	is_refresh = slice_is(verb, "refresh");
	if (!is_refresh && !slice_is(verb, "policy"))
		return IPC_LINK_NONSENSE;
	if (!sts_domain(slice_trim(line), domain)) {
		str_adds(ipc_link_out(visitor->link), "none\n");
		return IPC_LINK_NEXT;
	}
	visitor->is_waiting = true;
	visitor->wait = known_ask(visitor->askers->known, domain, is_refresh,
	    visitor_on_answer, visitor);
	return visitor->is_waiting ? IPC_LINK_PAUSE : IPC_LINK_NEXT;
}

static const struct ipc_link_kind visitor_kind = {
	.take = visitor_take, .ended = visitor_gone, .idle = visitor_on_idle,
	.line_bytes_max = ASKERS_LINE_BYTES_MAX,
};

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
	visitor->link = ipc_link_new(askers->process->loop, fd, &visitor_kind,
	    visitor);
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
		visitor_on_idle(visitor);
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
