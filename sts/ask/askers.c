/* askers.c - who asks for policies, over RUN/sts.sock
 *
 * In     connections and questions of our own agents and tools
 * Out    answers, in the order of questions
 * Holds  of each the question in hand
 * Trusts no question; who may connect is said by the socket's group and mode
 * Spec   askers.h, doc/protocol/sts.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "sts/ask/askers.h"

#include "base/banned.h"

enum {
	ASKERS_MAX = 512,
	ASKERS_LEAVE_MS = 6000,
	ASKERS_LINE_BYTES_MAX = 1024
};

struct visitor {
	struct caller		 caller;
	struct known_wait	*wait;
};

static void
visitor_gone(struct caller *caller)
{
	struct visitor *visitor = (struct visitor *)caller;

	known_forget(&visitor->wait);
}

/* known_answer_fn */
static void
visitor_on_answer(void *context, struct slice answer)
{
	struct visitor *visitor = context;
	struct str *out = ipc_link_out(visitor->caller.link);

	str_add_slice(out, answer);
	str_addc(out, '\n');
	visitor->caller.wait_count = 0;
	if (visitor->wait == NULL)	/* at once */
		return;
	visitor->wait = NULL;
	ipc_link_resume(visitor->caller.link);
}

/* ---- questions --------------------------------------------------------- */

static enum ipc_link_taken
visitor_list(struct caller *caller)
{
	struct str *out = ipc_link_out(caller->link);

	known_list(caller->context, out);
	str_adds(out, ".\n");
	return IPC_LINK_NEXT;
}

static enum ipc_link_taken
visitor_take(struct caller *caller, struct slice line)
{
	struct visitor *visitor = (struct visitor *)caller;
	char domain[STS_DOMAIN_BYTES];
	struct slice verb;
	bool is_refresh;

	if (!slice_word(&line, &verb))
		return IPC_LINK_NONSENSE;
	if (slice_is(verb, "list"))
		return visitor_list(caller);
	is_refresh = slice_is(verb, "refresh");
	if (!is_refresh && !slice_is(verb, "policy"))
		return IPC_LINK_NONSENSE;
	if (!sts_domain(slice_trim(line), domain)) {
		str_adds(ipc_link_out(caller->link), "none\n");
		return IPC_LINK_NEXT;
	}
	caller->wait_count = 1;
	visitor->wait = known_ask(caller->context, domain, is_refresh,
	    visitor_on_answer, visitor);
	return caller->wait_count > 0 ? IPC_LINK_PAUSE : IPC_LINK_NEXT;
}

const struct callers_kind askers_kind = {
	.take = visitor_take, .gone = visitor_gone,
	.caller_bytes = sizeof(struct visitor),
	.line_bytes_max = ASKERS_LINE_BYTES_MAX,
	.callers_max = ASKERS_MAX, .leave_ms = ASKERS_LEAVE_MS,
};
