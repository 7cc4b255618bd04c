/* filter.c - the helper that keeps sessions' conversations with milters
 *
 * In     questions of sessions, by way of the listener
 * Out    answers; changed drafts
 * Holds  the spool; the conversations of this process, found by their key
 * Trusts the listener; a session for its own facts, and with no other's
 *        conversation: keys cannot be guessed
 * Spec   filter.h; doc/FILTERS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/ipc_link.h"
#include "smtpserver/helper/ask.h"
#include "smtpserver/helper/helper.h"
#include "smtpserver/milter/conversation.h"

#include "base/banned.h"

enum { TICK_MS = 60000, GRACE_MS = 60000, SLOTS_MAX = 8192 };

struct filter_slot {
	struct conversation	*conversation;
	uint64_t		 token;		/* part of the key */
	char			 key[FILTER_KEY_BYTES];
	int64_t			 until_ms;	/* its session cannot last */
	TAILQ_ENTRY(filter_slot)	 entry;
};

struct filter {
	struct process			*process;
	struct ipc_link			*listener;
	struct conversation_home	 home;
	TAILQ_HEAD(, filter_slot)		 slots;	/* oldest first */
	unsigned			 slot_count;
	struct asks			*tokens;
	struct timer			 tick;
	bool				 is_leaving;
};

static void
filter_add_answer(void *context, struct slice token, bool is_ok,
    struct slice text)
{
	struct filter *filter = context;

	helper_add_answer(ipc_link_out(filter->listener), token, is_ok, text);
}

/* ---- slots ------------------------------------------------------------ */

static struct filter_slot *
filter_slot_new(struct filter *filter)
{
	struct filter_slot *slot = mem_alloc(1, sizeof(*slot));

	slot->token = asks_open(filter->tokens, slot);
	snprintf(slot->key, sizeof(slot->key), "%ld-%" PRIx64 "-%08" PRIx32
	    "%08" PRIx32, (long)getpid(), slot->token, arc4random(),
	    arc4random());
	slot->until_ms = clock_steady_ms() + GRACE_MS +
	    filter->process->conf->timeouts.session_ms;
	slot->conversation = conversation_new(&filter->home, slot->key);
	TAILQ_INSERT_TAIL(&filter->slots, slot, entry);
	filter->slot_count++;
	return slot;
}

static void
filter_slot_free(struct filter *filter, struct filter_slot *slot)
{
	TAILQ_REMOVE(&filter->slots, slot, entry);
	filter->slot_count--;
	asks_close(filter->tokens, &slot->token);
	conversation_free(&slot->conversation);
	mem_free(&slot);
}

/* "123-TOKEN-SECRET" */
static struct filter_slot *
filter_slot_find(const struct filter *filter, struct slice key)
{
	struct slice rest = slice_from(key, slice_find(key, '-') + 1), hex;
	struct filter_slot *slot;
	uint64_t token = 0;

	hex = slice_first(rest, slice_find(rest, '-'));
	if (hex.n > 16)
		return NULL;
	for (size_t i = 0; i < hex.n; i++) {
		char c = hex.p[i];

		token = token << 4 | (uint64_t)(c <= '9' ? c - '0' :
		    c - 'a' + 10);
	}
	slot = asks_find(filter->tokens, token);
	return slot != NULL && slice_is(key, slot->key) ? slot : NULL;
}

/* A worker that died told nobody. */
static void
filter_on_tick(void *context)
{
	struct filter *filter = context;
	int64_t now_ms = clock_steady_ms();
	struct filter_slot *slot;

	while ((slot = TAILQ_FIRST(&filter->slots)) != NULL &&
	    now_ms >= slot->until_ms)
		filter_slot_free(filter, slot);
	timer_set(filter->process->loop, &filter->tick, now_ms + TICK_MS,
	    filter_on_tick, filter);
}

/* ---- questions -------------------------------------------------------- */

static void
filter_take_question(struct filter *filter, struct slice line)
{
	struct slice token, key, rest, word;
	struct filter_slot *slot = NULL;

	if (!slice_word(&line, &token) || !slice_word(&line, &key))
		return;
	if (!slice_is(key, "new"))
		slot = filter_slot_find(filter, key);
	else if (filter->slot_count < SLOTS_MAX)
		slot = filter_slot_new(filter);
	rest = line;
	if (slot == NULL) {
		filter_add_answer(filter, token, false,
		    SLICE("there is no such conversation"));
	} else if (slice_word(&rest, &word) && slice_is(word, "quit")) {
		filter_slot_free(filter, slot);
		filter_add_answer(filter, token, true, SLICE("over"));
	} else {
		conversation_ask(slot->conversation, token, line);
	}
}

static enum ipc_link_taken
filter_take_line(void *context, struct slice line)
{
	struct filter *filter = context;

	if (slice_is(line, "leave"))
		filter->is_leaving = true;
	else
		filter_take_question(filter, line);
	return IPC_LINK_NEXT;
}

static void
filter_on_listener_gone(void *context)
{
	struct filter *filter = context;

	loop_stop(filter->process->loop);
}

static void
filter_say_answers(void *context)
{
	struct filter *filter = context;

	ipc_link_send(filter->listener);
	if (filter->is_leaving && filter->slot_count == 0 &&
	    ipc_link_out(filter->listener)->len == 0)
		loop_stop(filter->process->loop);
}

static const struct ipc_link_kind filter_listener_kind = {
	.take = filter_take_line, .ended = filter_on_listener_gone,
	.reads_on = true,
};

void
filter_serve(struct process *process, int socket)
{
	struct filter filter = { .process = process,
	    .home = { process->loop, process->conf, NULL, filter_add_answer,
	    &filter } };
	struct filter_slot *slot;
	struct err err;

	signal(SIGHUP, SIG_IGN);	/* the listener makes a new one */
	if (conf_spool_open(process->conf, 0, &filter.home.spool, &err) < 0)
		fatal("%s", err.text);	/* the machine's error */
	TAILQ_INIT(&filter.slots);
	filter.tokens = asks_new();
	filter.listener = ipc_link_new(process->loop, socket,
	    &filter_listener_kind, &filter);
	loop_at_turn_end(process->loop, filter_say_answers, &filter);
	filter_on_tick(&filter);
	loop_run(process->loop);
	while ((slot = TAILQ_FIRST(&filter.slots)) != NULL)
		filter_slot_free(&filter, slot);
	asks_free(&filter.tokens);
	ipc_link_free(&filter.listener);
	spool_close(&filter.home.spool);
}
