/* ahead.c - what databases will be asked about messages that wait
 *
 * In     names of messages in router/
 * Out    questions on their way
 * Holds  nothing
 * Trusts nothing: the message is read and checked again when it is routed
 * Spec   doc/protocol/tables.md section 3
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/workers/ahead.h"

#include "base/banned.h"

enum { AHEAD_BYTES = 4096 };		/* of a message's front */

void
ahead_foresee(struct spool *spool, struct router *router, unsigned priority,
    const char *name)
{
	char front[AHEAD_BYTES];
	ssize_t n = spool_claim_peek(spool, priority, name, front,
	    sizeof(front));
	struct arena *arena;
	struct envelope envelope;
	struct err ignored;

	if (n <= 0)
		return;
	arena = arena_new();
	if (envelope_parse(arena, (struct slice){ front, (size_t)n },
	    &envelope, &ignored) == 0)
		router_foresee_rcpts(router, arena, &envelope, 0);
	arena_free(&arena);
}
