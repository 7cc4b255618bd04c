/* acts.c - a request of the operator's socket at work
 *
 * In     a request that may be done
 * Out    its steps
 * Holds  the request's arena
 * Spec   doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

static act_fn *const act_functions[OP_COUNT_OF] = {
	[OP_LIST] = act_list, [OP_COUNT] = act_count, [OP_WHY] = act_why,
	[OP_DESTINATIONS] = act_destinations, [OP_ORDERS] = act_orders,
	[OP_EVENTS] = act_events, [OP_NEXT] = act_next,
	[OP_QUEUE] = act_queue, [OP_GROUPS] = act_groups,
	[OP_JOB] = act_job, [OP_TURNS] = act_turns,
	[OP_CONNECTIONS] = act_connections, [OP_ARRIVALS] = act_arrivals,
	[OP_MOVES] = act_moves, [OP_OBJECTIVES] = act_objectives,
	[OP_HISTORY] = act_history,
	[OP_HOLD] = act_change,
	[OP_RELEASE] = act_change, [OP_FREEZE] = act_change,
	[OP_THAW] = act_change, [OP_RETRY] = act_retry,
	[OP_RETRY_FAILED] = act_change,
	[OP_SCHEDULE] = act_change, [OP_BOUNCE] = act_change,
	[OP_DELETE] = act_change, [OP_UNDELETE] = act_undelete,
	[OP_REROUTE] = act_reroute, [OP_MOVE] = act_move,
	[OP_SUSPEND] = act_suspend,
	[OP_RESUME] = act_resume, [OP_PIN] = act_pin,
	[OP_DRAIN] = act_drain, [OP_UNDRAIN] = act_undrain,
	[OP_ETRN] = act_etrn, [OP_SEARCHES] = act_searches,
	[OP_SAVE_SEARCH] = act_save_search,
	[OP_REMOVE_SEARCH] = act_remove_search
};

struct act *
act_new(struct agents *agents, const struct rights_peer *peer,
    struct arena *arena, const struct request *request)
{
	struct act *act = mem_alloc(1, sizeof(*act));

	act->agents = agents;
	act->queue = agents->queue;
	act->intake = agents->intake;
	act->peer = peer;
	act->arena = arena;
	str_init(&act->restored);
	act->request = *request;
	/* nobody speaks for others who has no right of his own */
	if (request->who[0] != '\0' && peer->right >= RIGHT_READ &&
	    strcmp(request->who, peer->name) != 0)
		snprintf(act->by, sizeof(act->by), "%s(%s)", request->who,
		    peer->name);
	else
		snprintf(act->by, sizeof(act->by), "%s", peer->name);
	return act;
}

void
act_free(struct act **pact)
{
	struct act *act = *pact;

	if (act == NULL)
		return;
	act_sync_leave(act);
	str_release(&act->restored);
	act_change_drop(act);
	mem_free(&act->meant);
	visit_end(&act->visit);	/* also of one that was not begun */
	tail_free(&act->tail);
	tally_free(&act->tally);
	roll_free(&act->roll);
	lates_free(&act->lates);
	past_free(&act->past);
	arena_free(&act->arena);
	mem_free(pact);
}

enum act_step
act_step(struct act *act, struct str *out)
{
	return act_functions[act->request.op](act, out);
}
