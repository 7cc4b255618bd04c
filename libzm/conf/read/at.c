/* at.c - places in sources, and arrays that grow in an arena
 *
 * In     a token
 * Out    where it stands, as settings and complaints keep it
 * Holds  nothing: below all other rooms of conf/
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/read/read.h"

#include "base/banned.h"

void *
conf_push(struct arena *arena, void *array, size_t count, size_t size)
{
	void *wider;

	if (count > 0 && (count < 4 || (count & (count - 1)) != 0))
		return array;
	wider = arena_alloc(arena, (count == 0 ? 4 : count * 2) * size);
	if (count > 0)
		memcpy(wider, array, count * size);
	return wider;
}

struct conf_at
conf_at(const struct conf_token *token)
{
	return (struct conf_at){ token->source->name, token->line,
		token->column };
}
