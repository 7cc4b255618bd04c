/* search.c - searches that people save, for every tool
 *
 * In     a name, a selector that request.c has parsed
 * Out    a line of transport/.orders, durable; the lines of one person
 * Holds  nothing
 * Trusts who may write to say for whom he does it
 * Spec   doc/protocol/control.md section 6, save-search
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

/* Whose searches they are: the person for whom a program acts, "ann" of
 * "ann(web)", or else the peer's user. */
static const char *
search_owner(const struct act *act)
{
	struct slice by = slice_of(act->by);
	struct slice owner = slice_first(by, slice_find(by, '('));

	return owner.n > 0 ? slice_dup(act->arena, owner) : act->peer->name;
}

enum act_step
act_searches(struct act *act, struct str *out)
{
	const struct orders *orders = &act->queue->orders;
	struct slice owner = slice_of(search_owner(act));
	int64_t count = 0;

	for (size_t i = 0; i < orders->count; i++) {
		const struct order *order = &orders->all[i];

		if (order->kind != ORDER_SEARCH || !slice_equal_nocase(owner,
		    slice_of(order->channel)))
			continue;
		json_open(out);
		json_text(out, "name", slice_of(order->host));
		json_text(out, "select", slice_of(order->reason));
		json_number(out, "since", order->since_s);
		json_close(out);
		count++;
	}
	act_done(act, out);
	json_number(out, "searches", count);
	json_close(out);
	return ACT_DONE;
}

/* The same way as an order about destinations: one file has both. */
static enum act_step
search_change(struct act *act, bool is_given, struct str *out)
{
	enum act_step step;

	act->request.channel = search_owner(act);
	act->request.host = act->request.name;
	act->request.reason = is_given ? act->request.words : "";
	if (!act_order_change(act, ORDER_SEARCH, is_given, out, &step))
		return step;
	act_done(act, out);
	json_number(out, "searches", (int64_t)act->order_count);
	json_close(out);
	act_journal(act);
	return ACT_DONE;
}

enum act_step
act_save_search(struct act *act, struct str *out)
{
	return search_change(act, true, out);
}

enum act_step
act_remove_search(struct act *act, struct str *out)
{
	return search_change(act, false, out);
}
