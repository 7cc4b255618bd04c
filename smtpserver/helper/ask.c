/* ask.c - what a session asks of a helper process
 *
 * In     a question of a command handler
 * Out    a struct ask for the worker to carry; tokens
 * Holds  a slot for each question that is out
 * Trusts no token: one that is not open finds nobody
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "smtpserver/helper/ask.h"

#include "base/banned.h"

struct ask *
ask_new(const char *kind, struct slice question, int64_t for_ms,
    answered_fn *fn)
{
	struct ask *ask = mem_alloc(1, sizeof(*ask));

	ask->kind = kind;
	ask->for_ms = for_ms > 0 ? for_ms : ASK_FOR_MS;
	ask->answered_fn = fn;
	str_init(&ask->question);
	str_init(&ask->answer);
	if (question.n > ASK_TEXT_BYTES_MAX ||
	    slice_find(question, '\n') < question.n) {
		ask->state = ASK_TROUBLE;
		str_adds(&ask->answer, "this cannot be asked");
	} else {
		str_add_slice(&ask->question, question);
	}
	return ask;
}

void
ask_free(struct ask **ask)
{
	if (*ask == NULL)
		return;
	/* there may be a password in it */
	explicit_bzero((*ask)->question.buf, (*ask)->question.len);
	str_release(&(*ask)->question);
	str_release(&(*ask)->answer);
	mem_free(ask);
}

/* ---- who waits for which answer --------------------------------------- */

struct asks_slot {
	void		*owner;		/* NULL: free */
	uint32_t	 generation;	/* of the token; never 0 */
	uint32_t	 next_free;
};

enum { NO_SLOT = UINT32_MAX, SLOTS_FIRST = 16 };

struct asks {
	struct asks_slot	*slots;
	uint32_t		 count, first_free;
};

struct asks *
asks_new(void)
{
	struct asks *asks = mem_alloc(1, sizeof(*asks));

	asks->first_free = NO_SLOT;
	return asks;
}

void
asks_free(struct asks **asks)
{
	if (*asks == NULL)
		return;
	mem_free(&(*asks)->slots);
	mem_free(asks);
}

static void
asks_grow(struct asks *asks)
{
	uint32_t more = asks->count > 0 ? asks->count * 2 : SLOTS_FIRST;

	asks->slots = mem_grow(asks->slots, more, sizeof(*asks->slots));
	for (uint32_t i = asks->count; i < more; i++)
		asks->slots[i] = (struct asks_slot){ NULL, 0,
		    i + 1 < more ? i + 1 : NO_SLOT };
	asks->first_free = asks->count;
	asks->count = more;
}

uint64_t
asks_open(struct asks *asks, void *owner)
{
	struct asks_slot *slot;
	uint32_t index;

	if (asks->first_free == NO_SLOT)
		asks_grow(asks);
	index = asks->first_free;
	slot = &asks->slots[index];
	asks->first_free = slot->next_free;
	slot->owner = owner;
	if (++slot->generation == 0)
		slot->generation = 1;
	return (uint64_t)slot->generation << 32 | index;
}

void *
asks_find(const struct asks *asks, uint64_t token)
{
	uint32_t index = (uint32_t)token;

	if (index >= asks->count ||
	    asks->slots[index].generation != token >> 32)
		return NULL;
	return asks->slots[index].owner;
}

void
asks_close(struct asks *asks, uint64_t *token)
{
	uint32_t index = (uint32_t)*token;

	if (asks_find(asks, *token) != NULL) {
		asks->slots[index].owner = NULL;
		asks->slots[index].next_free = asks->first_free;
		asks->first_free = index;
	}
	*token = 0;
}
