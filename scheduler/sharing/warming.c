/* warming.c - what is asked about warm-ups that all nodes share
 *
 * In     what the plan wants to know (allowance.h); answers of share
 * Out    `warm` to share
 * Holds  a connection, once there was something to ask
 * Trusts share's word about numbers
 * Spec   warming.h; doc/protocol/share.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/consult/share_ask.h"
#include "io/ipc_link.h"
#include "io/unix_socket.h"
#include "scheduler/sharing/warming.h"

#include "base/banned.h"

struct warming {
	struct queue	*queue;
	struct ipc_link	*link;		/* NULL: not connected */
	struct timer	 tick;		/* once there is something shared */
	int64_t		 tried_ms;	/* to connect */
};

/* "wNUMBER ok ..." */
static enum ipc_link_taken
warming_take_line(void *context, struct slice line)
{
	struct warming *warming = context;
	struct allowance_now now = queue_now(warming->queue);
	struct slice token, word;

	if (!slice_word(&line, &token) || !slice_starts(token, "w") ||
	    !slice_word(&line, &word))
		return IPC_LINK_NONSENSE;
	/* "trouble": its cluster has no Redis, or not yet; it counts as no
	 * answer */
	if (!slice_is(word, "ok"))
		return IPC_LINK_NONSENSE;
	return allowance_answered(&warming->queue->warms.shared,
	    slice_from(token, 1), slice_trim(line), &now) ? IPC_LINK_NEXT :
	    IPC_LINK_NONSENSE;
}

static void
warming_on_gone(void *context)
{
	struct warming *warming = context;

	ipc_link_free(&warming->link);
	allowance_lost(&warming->queue->warms.shared);
}

static const struct ipc_link_kind warming_link_kind = {
	.take = warming_take_line, .ended = warming_on_gone, .reads_on = true,
};

static void
warming_connect(struct warming *warming)
{
	int64_t now_ms = clock_steady_ms();
	struct err err;
	int fd;

	if (warming->tried_ms != 0 && now_ms - warming->tried_ms <
	    WARMING_TICK_MS)
		return;
	warming->tried_ms = now_ms;
	fd = unix_socket_connect_in(warming->queue->conf->run_dir,
	    SHARE_SOCKET, SOCK_NONBLOCK, &err);
	if (fd >= 0)
		warming->link = ipc_link_new(warming->queue->loop, fd,
		    &warming_link_kind, warming);
}

static void
warming_ask(struct warming *warming)
{
	struct allowance_table *table = &warming->queue->warms.shared;
	int64_t now_ms = clock_steady_ms();

	if (!allowance_wants(table))
		return;
	if (warming->link == NULL)
		warming_connect(warming);
	if (warming->link == NULL)
		return;
	while (allowance_question(table, now_ms,
	    ipc_link_out(warming->link)))
		;
	ipc_link_send(warming->link);
}

static void
warming_on_tick(void *context)
{
	struct warming *warming = context;
	int64_t now_ms = clock_steady_ms();

	allowance_tick(&warming->queue->warms.shared, now_ms);
	warming_ask(warming);
	timer_set(warming->queue->loop, &warming->tick, now_ms +
	    WARMING_TICK_MS, warming_on_tick, warming);
}

void
warming_turn(struct warming *warming)
{
	if (warming->queue->warms.shared.count == 0)
		return;
	if (warming->tick.at_ms == 0)
		warming_on_tick(warming);
	else
		warming_ask(warming);
}

struct warming *
warming_new(struct queue *queue)
{
	struct warming *warming = mem_alloc(1, sizeof(*warming));

	warming->queue = queue;
	return warming;
}

void
warming_free(struct warming **pwarming)
{
	struct warming *warming = *pwarming;

	if (warming == NULL)
		return;
	timer_clear(&warming->tick);
	allowance_tick(&warming->queue->warms.shared, clock_steady_ms() +
	    ALLOWANCE_IDLE_MS);
	if (warming->link != NULL)
		warming_ask(warming);
	ipc_link_free(&warming->link);
	mem_free(pwarming);
}
