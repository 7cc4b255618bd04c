/* carrier.c - a process that carries many agents, each in a thread
 *
 * In     the launcher's lines, each with the socket of an agent
 * Out    a thread for each; lines about those that ended
 * Holds  how many there are
 * Trusts the launcher; agents are told apart by their sockets alone
 * Spec   carrier.h; doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/ipc.h"
#include "transports/frame/carrier.h"

#include "base/banned.h"

enum {
	STACK_BYTES = 512 * 1024,	/* mapped; what is used is far less */
	HEAPS = 4			/* of the C library, for all threads */
};

struct carrier {
	const struct agent_run	*first;
	int			 socket;	/* the launcher's */
	pthread_mutex_t		 lock;		/* of what follows, and of
						 * what is said on socket */
	pthread_cond_t		 is_less;
	_Atomic unsigned	 count;
};

struct carried {
	struct carrier	*carrier;
	unsigned	 token;
	int		 socket;	/* the scheduler's */
};

/* The launcher need not hear of it when it is gone itself. */
static void
carrier_say_ended(struct carrier *carrier, unsigned token)
{
	struct str line = STR_INIT;

	str_addf(&line, "ended %u\n", token);
	(void)ipc_send(carrier->socket, str_slice(&line), NULL, 0);
	str_release(&line);
}

/* The socket is closed before the launcher hears of it: the scheduler takes
 * what was said on it first. */
static void
carried_end(struct carried *carried)
{
	struct carrier *carrier = carried->carrier;

	close(carried->socket);
	pthread_mutex_lock(&carrier->lock);
	carrier_say_ended(carrier, carried->token);
	carrier->count--;
	pthread_cond_signal(&carrier->is_less);
	pthread_mutex_unlock(&carrier->lock);
	mem_free(&carried);
}

static void *
carried_main(void *context)
{
	struct carried *carried = context;
	const struct agent_run *first = carried->carrier->first;
	struct agent_run run = { .agent = first->agent, .conf = first->conf,
	    .carried_count = &carried->carrier->count };
	struct err err;

	run.arena = arena_new();
	run.agent->join(&run, first);
	if (agent_serve(&run, carried->socket, carried->socket, &err) < 0)
		warning("%s", err.text);
	arena_free(&run.arena);
	carried_end(carried);
	return NULL;
}

static int
carried_start(struct carrier *carrier, const pthread_attr_t *how,
    unsigned token, int socket)
{
	struct carried *carried = mem_alloc(1, sizeof(*carried));
	pthread_t thread;

	*carried = (struct carried){ carrier, token, socket };
	pthread_mutex_lock(&carrier->lock);
	carrier->count++;
	pthread_mutex_unlock(&carrier->lock);
	errno = pthread_create(&thread, how, carried_main, carried);
	if (errno == 0)
		return 0;
	warning("an agent more: %s", strerror(errno));
	carried_end(carried);
	return 0;
}

static int
carrier_take_line(struct carrier *carrier, const pthread_attr_t *how,
    struct slice line, struct ipc_inbox *inbox, struct err *err)
{
	struct slice verb;
	uint64_t token;
	int socket;

	if (!slice_word(&line, &verb) || !slice_is(verb, "agent") ||
	    !slice_number(slice_trim(line), 0, UINT32_MAX, &token))
		return err_set(err, "the launcher asks for something unknown");
	socket = ipc_take_fd(inbox);
	if (socket < 0)
		return err_set(err, "an agent came without its socket");
	return carried_start(carrier, how, (unsigned)token, socket);
}

/* All whole lines of the inbox. */
static int
carrier_take_lines(struct carrier *carrier, const pthread_attr_t *how,
    struct ipc_inbox *inbox, struct err *err)
{
	struct slice line;
	size_t cursor = 0;
	int got;

	while ((got = ipc_line(inbox, &cursor, &line)) == IPC_LINE)
		if (carrier_take_line(carrier, how, line, inbox, err) < 0)
			return -1;
	if (got < 0)
		return err_set(err, "the launcher sends an endless line");
	ipc_inbox_consume(inbox, cursor);
	return 0;
}

static int
carrier_run(struct carrier *carrier, struct err *err)
{
	struct ipc_inbox inbox;
	pthread_attr_t how;
	int got, result = 0;

	pthread_attr_init(&how);
	pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&how, STACK_BYTES);
	ipc_inbox_init(&inbox);
	while (result == 0 &&
	    (got = ipc_receive(carrier->socket, &inbox)) != IPC_END) {
		if (got > 0)
			result = carrier_take_lines(carrier, &how, &inbox,
			    err);
		else if (errno == ECONNRESET)
			break;		/* it did not hear our last words */
		else if (errno != EINTR)
			result = err_sys(err, "the launcher's socket");
	}
	ipc_inbox_release(&inbox);
	pthread_attr_destroy(&how);
	return result;
}

int
carrier_serve(const struct agent_run *first, int socket, struct err *err)
{
	struct carrier carrier = { .first = first, .socket = socket,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .is_less = PTHREAD_COND_INITIALIZER };
	int result;

	mem_share_heaps(HEAPS);
	result = carrier_run(&carrier, err);
	pthread_mutex_lock(&carrier.lock);
	while (carrier.count > 0)
		pthread_cond_wait(&carrier.is_less, &carrier.lock);
	pthread_mutex_unlock(&carrier.lock);
	return result;
}
