/* places.c - where one message goes: each place once
 *
 * In     places as routing finds them
 * Out    the list of different ones
 * Holds  nothing but arena memory
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "router/places.h"

#include "base/banned.h"

void
places_init(struct places *places, struct arena *arena, size_t expected)
{
	size_t none;

	*places = (struct places){ .arena = arena };
	places->capacity = expected > 4 ? expected : 4;
	places->list = arena_alloc(arena,
	    places->capacity * sizeof(*places->list));
	memo_init(&places->known, arena, expected);
	memo_init(&places->expanded, arena, 0);
	memo_init(&places->senders, arena, 0);
	memo_add(&places->senders, SLICE(""), &none);
}

static struct slice
part_add(char **at, struct slice part)
{
	char *start = *at;

	if (part.n > 0)
		memcpy(start, part.p, part.n);
	*at = start + part.n + 1;	/* the arena's zero parts them */
	return (struct slice){ start, part.n };
}

bool
places_add(struct places *places, const struct place *place)
{
	size_t n = place->channel.n + place->host.n + place->user.n + 3, number;
	char *key = arena_alloc(places->arena, n), *at = key;
	struct place copy = *place;

	copy.channel = part_add(&at, place->channel);
	copy.host = part_add(&at, place->host);
	copy.user = part_add(&at, place->user);
	if (!memo_add(&places->known, (struct slice){ key, n }, &number))
		return false;
	if (places->count == places->capacity) {
		struct place *grown = arena_alloc(places->arena,
		    places->capacity * 2 * sizeof(*grown));

		memcpy(grown, places->list, places->count * sizeof(*grown));
		places->list = grown;
		places->capacity *= 2;
	}
	places->list[places->count++] = copy;
	return true;
}

void
places_truncate(struct places *places, size_t count, size_t expanded)
{
	memo_truncate(&places->known, count);
	memo_truncate(&places->expanded, expanded);
	places->count = count;
}

void
place_rule_add(struct str *out, const struct place_rule *rule)
{
	str_adds(out, rule->kind != NULL ? rule->kind : "none");
	if (rule->where != NULL)
		str_addf(out, " %s", rule->where);
	if (rule->line > 0)
		str_addf(out, ":%u", rule->line);
}
