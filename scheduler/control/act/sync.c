/* sync.c - what an act wrote is made durable, and the loop goes on
 *
 * In     records of control files, the spool, a change of the orders
 * Out    the end of its sync, told to who waits for the act
 * Holds  one sync an act; it goes on when the act is gone, and a change of
 *        the orders counts then, too
 * Spec   act.h; io/sync.h; doc/INTERNALS.md rows P4, D7, O1
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>

#include "base/mem.h"
#include "scheduler/control/act/act.h"
#include "scheduler/intake/intake.h"

#include "base/banned.h"

struct act_sync {
	struct act	*act;		/* NULL: it is gone */
	struct queue	*queue;
	struct sync_task task;
	struct spool_barrier barrier;	/* or, if is_change: */
	struct orders_change change;
	bool		 is_change;
	int		 error;		/* of the barrier: errno */
};

static struct act_sync *
act_sync_new(struct act *act, bool is_change)
{
	struct act_sync *sync = mem_alloc(1, sizeof(*sync));

	sync->act = act;
	sync->queue = act->queue;
	sync->is_change = is_change;
	act->sync = sync;
	act->sync_failed = false;
	return sync;
}

static void
act_sync_work(void *context)
{
	struct act_sync *sync = context;
	size_t parts;

	if (sync->is_change) {
		orders_change_write(&sync->change);
		return;
	}
	parts = spool_barrier_parts(&sync->barrier);
	for (size_t i = 0; i < parts && sync->error == 0; i++)
		sync->error = spool_barrier_part(sync->queue->spool,
		    &sync->barrier, i);
}

/* 0, or -1 with err. */
static int
act_sync_finish(struct act_sync *sync, struct err *err)
{
	if (sync->is_change) {
		if (orders_change_end(&sync->queue->orders, &sync->change,
		    err) < 0)
			return -1;
		queue_orders(sync->queue);
		return 0;
	}
	spool_barrier_release(&sync->barrier);
	errno = sync->error;
	return sync->error == 0 ? 0 : err_sys(err, "sync of control files");
}

static void
act_sync_on_end(void *context)
{
	struct act_sync *sync = context;
	struct act *act = sync->act;
	struct err err;
	int result = act_sync_finish(sync, &err);

	mem_free(&sync);
	if (act == NULL)
		return;
	act->sync = NULL;
	if (result < 0 && !act->sync_failed)
		act->sync_err = err;
	act->sync_failed |= result < 0;
	if (act->wake != NULL)
		act->wake(act->wake_context);
}

static void
act_sync_begin(struct act *act, struct act_sync *sync)
{
	sync->task = (struct sync_task){ act_sync_work, act_sync_on_end, sync,
	    NULL };
	syncer_add(act->intake->group->syncer, &sync->task);
}

void
act_sync_records(struct act *act, const int control_fds[], size_t count)
{
	struct act_sync *sync = act_sync_new(act, false);

	spool_barrier_init(&sync->barrier);
	for (size_t i = 0; i < count; i++)	/* P4: records */
		spool_barrier_add_records(&sync->barrier, control_fds[i]);
	act_sync_begin(act, sync);
}

void
act_sync_spool(struct act *act)
{
	struct act_sync *sync = act_sync_new(act, false);

	spool_barrier_init(&sync->barrier);
	sync->barrier.is_whole = true;
	act_sync_begin(act, sync);
}

void
act_sync_orders(struct act *act, const struct orders_change *change)
{
	struct act_sync *sync = act_sync_new(act, true);

	sync->change = *change;
	act_sync_begin(act, sync);
}

void
act_sync_trouble(struct act *act, const struct err *err)
{
	act->sync_failed = true;
	act->sync_err = *err;
}

int
act_sync_end(struct act *act, struct err *err)
{
	if (!act->sync_failed)
		return 0;
	act->sync_failed = false;
	*err = act->sync_err;
	return -1;
}

void
act_sync_leave(struct act *act)
{
	if (act->sync != NULL)
		act->sync->act = NULL;
	act->sync = NULL;
}
