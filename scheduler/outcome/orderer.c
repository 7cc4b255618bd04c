/* orderer.c - orders that the scheduler gives itself, by its own protocol
 *
 * In     requests of doc/protocol/control.md
 * Out    the same on a connection; refusals as events
 * Holds  the requests that wait, one connection
 * Trusts the answers to end with an empty line
 * Spec   doc/HOOKS.md, before_attempt
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/outcome/orderer.h"

#include <sys/socket.h>

#include <errno.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "journal/event.h"

#include "base/banned.h"

enum { READ_BYTES = 4096 };

struct orderer {
	struct loop		*loop;
	orderer_connect_fn	*connect;
	int			 socket;	/* -1: none */
	struct watch		*watch;
	struct str		 waiting, answer;
	bool			 is_busy;	/* an answer is to come */
};

static void
orderer_trouble(const char *reason)
{
	event(EV_HOOK_TROUBLE, NULL, "function", SLICE("before_attempt"),
	    "reason", slice_of(reason), NULL);
}

static void
orderer_hang_up(struct orderer *orderer)
{
	if (orderer->socket < 0)
		return;
	watch_free(&orderer->watch);
	close(orderer->socket);
	orderer->socket = -1;
	str_reset(&orderer->answer);
}

static void orderer_ready(void *context, unsigned ready);

static bool
orderer_reach(struct orderer *orderer)
{
	struct err err;

	if (orderer->socket >= 0)
		return true;
	orderer->socket = orderer->connect(&err);
	if (orderer->socket < 0) {
		orderer_trouble(err.text);
		return false;
	}
	orderer->watch = loop_watch(orderer->loop, orderer->socket, LOOP_READ,
	    orderer_ready, orderer);
	return true;
}

/* The next request, unless one is under way.  What cannot be given is
 * dropped: its message is asked about again. */
static void
orderer_go(struct orderer *orderer)
{
	struct slice line = str_slice(&orderer->waiting);

	line = slice_first(line, slice_find(line, '\n') + 1);
	if (orderer->is_busy || line.n == 0)
		return;
	if (!orderer_reach(orderer) || send(orderer->socket, line.p, line.n,
	    MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)line.n) {
		orderer_hang_up(orderer);
		str_reset(&orderer->waiting);
		return;
	}
	orderer->is_busy = true;
	str_consume(&orderer->waiting, line.n);
}

/* Lines up to an empty one. */
static void
orderer_take_answer(struct orderer *orderer)
{
	struct slice rest = str_slice(&orderer->answer), line;
	struct str words = STR_INIT;

	while (slice_cut(&rest, '\n', &line)) {
		if (json_get(line, "error", &words))
			orderer_trouble(words.buf);
		if (line.n == 0) {
			orderer->is_busy = false;
			str_reset(&orderer->answer);
			break;
		}
	}
	str_release(&words);
}

static void
orderer_ready(void *context, unsigned ready)
{
	struct orderer *orderer = context;
	ssize_t got = read(orderer->socket, str_room(&orderer->answer,
	    READ_BYTES), READ_BYTES);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {			/* nothing was asked for long */
		orderer_hang_up(orderer);
		orderer->is_busy = false;
	} else {
		orderer->answer.len += (size_t)got;
		orderer_take_answer(orderer);
	}
	orderer_go(orderer);
}

struct orderer *
orderer_new(struct loop *loop, orderer_connect_fn *connect)
{
	struct orderer *orderer = mem_alloc(1, sizeof(*orderer));

	orderer->loop = loop;
	orderer->connect = connect;
	orderer->socket = -1;
	str_init(&orderer->waiting);
	str_init(&orderer->answer);
	return orderer;
}

void
orderer_free(struct orderer **porderer)
{
	struct orderer *orderer = *porderer;

	if (orderer == NULL)
		return;
	orderer_hang_up(orderer);
	str_release(&orderer->waiting);
	str_release(&orderer->answer);
	mem_free(porderer);
}

void
orderer_add(struct orderer *orderer, struct slice line)
{
	str_add_slice(&orderer->waiting, line);
	orderer_go(orderer);
}
