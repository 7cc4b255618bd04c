/* attempt.c - the site's script is asked before a try (before_attempt)
 *
 * In     questions of the scheduler
 * Out    orders in the words of the control protocol, or leave to go on
 * Holds  which messages were routed again by the script's wish
 * Trusts the script with nothing: a moment that is over, and a second wish
 *        to be routed again, are leave to go on
 * Spec   doc/HOOKS.md; doc/protocol/control.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/outcome/attempt.h"

#include <stdio.h>

#include "base/json.h"
#include "daemon/hook/frame.h"
#include "journal/event.h"
#include "mail/spool/spool.h"

#include "base/banned.h"

enum { REASON_BYTES_MAX = 200 };	/* of the control protocol */

static void
attempt_trouble(const char *id, const char *reason)
{
	event(EV_HOOK_TROUBLE, id[0] != '\0' ? id : NULL, "function",
	    SLICE("before_attempt"), "reason", slice_of(reason), NULL);
}

/* Was it routed again by our wish before?  Else it is remembered. */
static bool
attempt_was_rerouted(struct attempt_memory *memory, struct slice id)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < id.n; i++)
		hash = (hash ^ (unsigned char)id.p[i]) * 1099511628211u;
	for (size_t i = 0; i < ATTEMPT_REROUTES; i++)
		if (memory->rerouted[i] == hash)
			return true;
	memory->rerouted[memory->next++ % ATTEMPT_REROUTES] = hash;
	return false;
}

/* The operation of the control protocol; NULL: it may go on.  *out_next_s:
 * its moment, 0: none. */
static const char *
attempt_operation(struct attempt_memory *memory,
    const struct hook_answer *answer, const char *id, int64_t now_s,
    int64_t *out_next_s)
{
	uint64_t at = 0;

	*out_next_s = 0;
	switch (answer->verdict) {
	case HOOK_AT:
		if (!slice_number(answer->code, 0, INT64_MAX, &at) ||
		    (int64_t)at <= now_s)
			return NULL;
		*out_next_s = (int64_t)at;
		return "schedule";
	case HOOK_DEFER:
		*out_next_s = now_s + ATTEMPT_LATER_S;
		return "schedule";
	case HOOK_FREEZE:
		return "freeze";
	case HOOK_REJECT:
		return "bounce";
	case HOOK_DROP:
		return "delete";
	case HOOK_REROUTE:
		if (!attempt_was_rerouted(memory, slice_of(id)))
			return "reroute";
		attempt_trouble(id, "zm.reroute() a second time: the message "
		    "goes on as it is");
		return NULL;
	case HOOK_VIA:
		attempt_trouble(id, "zm.via() is an answer of route; "
		    "zm.reroute() has a message routed again");
		return NULL;
	default:
		return NULL;
	}
}

static void
attempt_add_order(const char *operation, struct slice id,
    struct slice offset, int64_t next_s, struct slice reason, struct str *out)
{
	str_adds(out, "order ");
	json_open(out);
	json_number(out, "v", 1);
	json_text(out, "op", slice_of(operation));
	json_list(out, "ids", &id, 1);
	json_list(out, "offsets", &offset, 1);
	if (next_s > 0)
		json_number(out, "next", next_s);
	json_text(out, "reason", slice_first(reason, REASON_BYTES_MAX));
	json_close(out);
}

static int
attempt_ask(struct hooks *hooks, const struct slice *fields, struct slice to,
    int64_t now_s, struct hook_answer *out, struct err *err)
{
	hooks_question(hooks, HOOK_BEFORE_ATTEMPT);
	hooks_add(hooks, "message.id", fields[ATTEMPT_ID]);
	hooks_add(hooks, "message.from", fields[ATTEMPT_FROM]);
	hooks_add(hooks, "message.age", fields[ATTEMPT_AGE]);
	hooks_add(hooks, "message.now", event_number(now_s));
	hooks_add(hooks, "recipient.to", to);
	hooks_add(hooks, "recipient.tries", fields[ATTEMPT_TRIES]);
	hooks_add(hooks, "destination.channel", fields[ATTEMPT_CHANNEL]);
	hooks_add(hooks, "destination.host", fields[ATTEMPT_HOST]);
	return hooks_ask(hooks, out, err);
}

/* All recipients.  0, *out_orders of them are not tried now; -1 with err. */
static int
attempt_ask_all(struct hooks *hooks, struct attempt_memory *memory,
    const struct slice *fields, struct slice rest, int64_t now_s,
    size_t *out_orders, struct str *out, struct err *err)
{
	struct slice offset, to;
	struct hook_answer answer;
	char id[SPOOL_ID_BYTES];
	const char *operation;
	int64_t next_s;

	*out_orders = 0;
	snprintf(id, sizeof(id), SLICE_FMT, SLICE_ARG(fields[ATTEMPT_ID]));
	while (hook_field(&rest, &offset) && hook_field(&rest, &to)) {
		if (attempt_ask(hooks, fields, to, now_s, &answer, err) < 0)
			return -1;
		operation = attempt_operation(memory, &answer, id, now_s,
		    &next_s);
		if (operation == NULL)
			continue;
		attempt_add_order(operation, fields[ATTEMPT_ID], offset,
		    next_s, answer.text, out);
		++*out_orders;
	}
	return 0;
}

void
attempt_answer(struct hooks *hooks, struct attempt_memory *memory,
    struct slice fields, int64_t now_s, struct str *out)
{
	struct slice values[ATTEMPT_FIELDS];
	enum hook_has has;
	char id[SPOOL_ID_BYTES];
	size_t orders = 0;
	struct err err;

	for (size_t i = 0; i < ATTEMPT_FIELDS; i++)
		if (!hook_field(&fields, &values[i]))
			return;
	snprintf(id, sizeof(id), SLICE_FMT, SLICE_ARG(values[ATTEMPT_ID]));
	has = hooks_has(hooks, HOOK_BEFORE_ATTEMPT, &err);
	if (has == HOOK_TROUBLE || (has == HOOK_DEFINED &&
	    attempt_ask_all(hooks, memory, values, fields, now_s, &orders,
		out, &err) < 0)) {
		attempt_trouble(id, err.text);
		str_addf(out, "trouble");
	} else if (orders > 0) {
		return;
	} else {
		str_addf(out, "go");
	}
	str_addf(out, " " SLICE_FMT " " SLICE_FMT " " SLICE_FMT "\n",
	    SLICE_ARG(values[ATTEMPT_NUMBER]),
	    SLICE_ARG(values[ATTEMPT_INODE]),
	    SLICE_ARG(values[ATTEMPT_INDEX]));
}
