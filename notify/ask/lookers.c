/* lookers.c - who asks how receivers stand, over RUN/notify.sock
 *
 * In     connections and questions of our own tools
 * Out    answers
 * Holds  nothing
 * Trusts no question; who may connect is said by the socket's group and mode
 * Spec   lookers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "notify/ask/lookers.h"

#include "base/banned.h"

enum {
	LOOKERS_MAX = 64,
	LOOKERS_LEAVE_MS = 1000,
	LOOKERS_LINE_BYTES_MAX = 64
};

static void
looker_gone(struct caller *caller)
{
}

static enum ipc_link_taken
looker_take(struct caller *caller, struct slice line)
{
	struct str *out = ipc_link_out(caller->link);

	if (!slice_is(slice_trim(line), "list"))
		return IPC_LINK_NONSENSE;
	receivers_list(caller->context, out);
	str_adds(out, ".\n");
	return IPC_LINK_NEXT;
}

const struct callers_kind lookers_kind = {
	.take = looker_take, .gone = looker_gone,
	.caller_bytes = sizeof(struct caller),
	.line_bytes_max = LOOKERS_LINE_BYTES_MAX,
	.callers_max = LOOKERS_MAX, .leave_ms = LOOKERS_LEAVE_MS,
};
