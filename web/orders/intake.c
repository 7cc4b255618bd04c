/* intake.c - what POST /send needs of the process that orders
 *
 * In     calls of the one that serves
 * Out    connections to the submission listener; what the journal knows
 * Trusts no call: it says when, never where
 * Spec   intake.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/ipc.h"
#include "web/orders/intake.h"
#include "web/orders/match.h"

#include "base/banned.h"

/* ---- connections --------------------------------------------------------- */

static struct {
	const struct orders_site *site;
	struct ipc_inbox inbox;
	struct event	*event;
	int		 fd;
} dialer;

/* One that may not be there yet: who gets it waits for it.  -1 with errno. */
static int
dialer_connect(void)
{
	const struct sockaddr *address = dialer.site->submit;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0), error;

	if (fd < 0 || connect(fd, address, dialer.site->submit_length) == 0 ||
	    errno == EINPROGRESS)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int
dialer_answer(void)
{
	struct str line = STR_INIT;
	int fd = dialer_connect(), result;

	if (fd >= 0)
		str_adds(&line, WIRE_THERE "\n");
	else
		str_addf(&line, WIRE_NOT " %s\n", strerror(errno));
	result = ipc_send(dialer.fd, str_slice(&line), &fd, fd >= 0) ==
	    (ssize_t)line.len ? 0 : -1;
	if (fd >= 0)
		close(fd);
	str_release(&line);
	return result;
}

static void
dialer_on_call(evutil_socket_t fd, short what, void *context)
{
	enum ipc_answer answer = ipc_receive(dialer.fd, &dialer.inbox);
	enum ipc_line_answer found = IPC_LINE_NONE;
	size_t cursor = 0;
	struct slice line;
	bool is_good = answer == IPC_GOT || (answer == IPC_TROUBLE &&
	    errno == EAGAIN);

	while (is_good && (found = ipc_line(&dialer.inbox, &cursor, &line)) ==
	    IPC_LINE)
		is_good = slice_is(line, WIRE_CONNECT) &&
		    dialer_answer() == 0;
	ipc_inbox_consume(&dialer.inbox, cursor);
	if (is_good && found != IPC_LINE_TOO_LONG)
		return;
	(void)event_del(dialer.event);	/* its end, or nonsense */
	close(dialer.fd);
	ipc_inbox_release(&dialer.inbox);
}

void
intake_dial_open(struct order_desk *orders, int fd)
{
	dialer.site = orders->site;
	dialer.fd = fd;
	ipc_inbox_init(&dialer.inbox);
	dialer.event = event_new(orders->asker.base, fd, EV_READ | EV_PERSIST,
	    dialer_on_call, NULL);
	if (dialer.event == NULL || event_add(dialer.event, NULL) < 0)
		panic("no event for the intake");
}

/* ---- the journal --------------------------------------------------------- */

struct tracing {
	struct order_desk *orders;
	unsigned	 serial;
	struct arena	*arena;
	struct question	 question;
};

static void
tracing_free(struct tracing *tracing)
{
	tracing->orders->calls--;
	question_release(&tracing->question);
	arena_free(&tracing->arena);
	mem_free(&tracing);
}

static void
tracing_on_answer(void *context)
{
	struct tracing *tracing = context;

	orders_answer(tracing->orders, tracing->serial,
	    &tracing->question.answer);
	tracing_free(tracing);
}

static void
tracing_begin(struct order_desk *orders, unsigned serial,
    const char *const *words)
{
	struct tracing *tracing = mem_alloc(1, sizeof(*tracing));
	const char *kept[] = { "trace", "--json", "--since", NULL, "--until",
	    NULL, "--", NULL, NULL };

	*tracing = (struct tracing){ .orders = orders, .serial = serial,
	    .arena = arena_new() };
	orders->calls++;
	kept[3] = slice_dup(tracing->arena, slice_of(words[0]));
	kept[5] = slice_dup(tracing->arena, slice_of(words[1]));
	kept[7] = slice_dup(tracing->arena, slice_of(words[2]));
	question_verb(&tracing->question, "", kept);
	errand_begin(&orders->asker, &tracing->question, "",
	    tracing_on_answer, tracing);
}

void
intake_trace(struct order_desk *orders, unsigned serial,
    const char *const *words)
{
	struct question_answer refused = { .kind = ANSWER_DENIED,
	    .text = STR_INIT, .trouble = STR_INIT };
	struct slice what = slice_of(words[2]);

	if (orders->site->has_intake && orders->calls < CALLS_MAX &&
	    strlen(words[0]) <= MATCH_TEXT_BYTES_MAX &&
	    strlen(words[1]) <= MATCH_TEXT_BYTES_MAX &&
	    (slice_starts(what, "msgid:") || slice_starts(what, "from:"))) {
		tracing_begin(orders, serial, words);
		return;
	}
	orders_answer(orders, serial, &refused);
	str_release(&refused.text);
	str_release(&refused.trouble);
}
