/* facts.c - what was asked and answered
 *
 * In     questions and answers
 * Out    the answer to a question that was asked before
 * Holds  an arena while there are any
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "smtpserver/policy/facts.h"

#include "base/banned.h"

void
facts_release(struct facts *facts)
{
	if (facts->arena != NULL)
		arena_free(&facts->arena);
	facts->first = NULL;
	facts->count = 0;
}

const struct fact *
facts_find(const struct facts *facts, const char *kind,
    struct slice question)
{
	const struct fact *fact = facts->first;

	while (fact != NULL && (strcmp(fact->kind, kind) != 0 ||
	    !slice_equal(fact->question, question)))
		fact = fact->next;
	return fact;
}

void
facts_add(struct facts *facts, const char *kind, struct slice question,
    enum ask_state state, struct slice answer)
{
	struct fact *fact;

	if (facts->count >= FACTS_MAX)
		facts_release(facts);
	if (facts->arena == NULL)
		facts->arena = arena_new();
	fact = arena_alloc(facts->arena, sizeof(*fact));
	fact->kind = kind;
	fact->question = slice_copy(facts->arena, question);
	fact->answer = slice_copy(facts->arena, answer);
	fact->state = state;
	fact->next = facts->first;
	facts->first = fact;
	facts->count++;
}
