/* places.c - where one message goes: each place once
 *
 * In     places as routing finds them
 * Out    the list of different ones, or lines of the plan
 * Holds  PLACES_HELD_MAX places, a fingerprint of each
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "router/message/places.h"

#include "base/banned.h"

/* ---- senders ---------------------------------------------------------- */

static unsigned
sender_add(struct places *places, struct slice key,
    const struct plan_sender *sender)
{
	struct plan_sender **grown;
	size_t number;

	if (!memo_add(&places->sender_keys, key, &number))
		return (unsigned)number;
	if (number == places->sender_room) {
		places->sender_room = number * 2 + 1;
		grown = arena_alloc(places->arena, places->sender_room *
		    sizeof(struct plan_sender *));
		if (number > 0)
			memcpy(grown, places->senders, number *
			    sizeof(struct plan_sender *));
		places->senders = grown;
	}
	places->senders[number] = arena_alloc(places->arena,
	    sizeof(*sender));
	*places->senders[number] = *sender;
	return (unsigned)number;
}

unsigned
places_sender(struct places *places, const struct plan_sender *sender)
{
	return sender_add(places, slice_of(arena_printf(places->arena,
	    SLICE_FMT "\t" SLICE_FMT "\t" SLICE_FMT,
	    SLICE_ARG(sender->address), SLICE_ARG(sender->errors_to),
	    SLICE_ARG(sender->verp))), sender);
}

/* ---- a message --------------------------------------------------------- */

void
places_init(struct places *places, struct arena *arena)
{
	*places = (struct places){ .arena = arena };
	fingerprints_init(&places->known);
	str_init(&places->key);
	places_reset(places, 0, NULL, SLICE(""));
}

void
places_release(struct places *places)
{
	fingerprints_release(&places->known);
	str_release(&places->key);
}

void
places_reset(struct places *places, size_t expected, struct plan *plan,
    struct slice sender)
{
	struct plan_sender as_it_came = { .address = sender };

	places->plan = plan;
	places->capacity = expected < 4 ? 4 : expected < PLACES_HELD_MAX ?
	    expected : PLACES_HELD_MAX;
	places->list = arena_alloc(places->arena,
	    places->capacity * sizeof(*places->list));
	places->held = places->count = 0;
	places->is_streaming = false;
	places->is_check = false;
	places->is_from_null = sender.n == 0;
	places->envelope = NULL;
	places->deferral = SLICE("");
	places->asker = (struct place_asker){ .user = { NULL, 0 } };
	places->is_released = places->is_frozen = places->met_death = false;
	places->bad_lines = 0;
	places->notes = NULL;
	places->was_redirected = false;
	places->user = (struct slice){ NULL, 0 };
	places->copies = NULL;
	places->generic.header = 0;
	places->redirect = 0;
	places->id[0] = 0;
	places->trouble[0] = 0;
	fingerprints_reset(&places->known);
	memo_init(&places->expanded, places->arena, 0);
	memo_init(&places->sender_keys, places->arena, 0);
	places->senders = NULL;
	places->sender_room = 0;
	sender_add(places, SLICE(""), &as_it_came);
	places_mark(places);
}

void
places_verp(struct places *places, const char *delimiters)
{
	struct plan_sender *sender = places->senders[0];
	struct slice address = sender->address;
	size_t at = address.n;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	if (at < 2)			/* null, or without a domain */
		return;
	sender->address = slice_first(address, at - 1);
	sender->verp = slice_from(address, at);
	sender->delimiter = strcmp(delimiters, "none") == 0 ? '+' :
	    delimiters[0];
}

/* ---- what goes into the plan ------------------------------------------- */

static const struct plan_sender *
sender_of(const struct places *places, const struct place *place)
{
	return places->senders[places->is_from_null ? 0 : place->sender];
}

static struct slice
key_of(struct places *places, const struct place *place)
{
	struct str *key = &places->key;

	str_reset(key);
	str_add_slice(key, place->channel);
	str_addc(key, '\0');
	str_add_slice(key, place->host);
	str_addc(key, '\0');
	str_add(key, &place->uid, sizeof(place->uid));
	str_add_slice(key, place->user);
	return str_slice(key);
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

static void
hold(struct places *places, const struct place *place)
{
	size_t n = place->channel.n + place->host.n + place->user.n + 3;
	char *at = arena_alloc(places->arena, n);
	struct place copy = *place;

	copy.channel = part_add(&at, place->channel);
	copy.host = part_add(&at, place->host);
	copy.user = part_add(&at, place->user);
	if (places->held == places->capacity) {
		struct place *grown = arena_alloc(places->arena,
		    places->capacity * 2 * sizeof(*grown));

		memcpy(grown, places->list, places->held * sizeof(*grown));
		places->list = grown;
		places->capacity *= 2;
	}
	places->list[places->held++] = copy;
}

/* From now on places go into the plan.  The mark stays where it was: between
 * the places before it and those behind. */
static void
stream(struct places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		if (i == places->mark.count)
			plan_mark(places->plan);
		plan_add(places->plan, &places->list[i],
		    sender_of(places, &places->list[i]));
	}
	if (places->mark.count == places->count)
		plan_mark(places->plan);
	places->is_streaming = true;
	places->held = 0;
}

bool
places_add(struct places *places, const struct place *place)
{
	if (!fingerprints_add(&places->known, key_of(places, place)))
		return false;
	if (places->count == PLACES_HELD_MAX && places->plan != NULL &&
	    places->plan->sink != NULL && !places->is_streaming)
		stream(places);
	if (places->is_streaming)
		plan_add(places->plan, place, sender_of(places, place));
	else if (places->plan != NULL || places->held < PLACES_HELD_MAX)
		hold(places, place);
	places->count++;
	return true;
}

void
places_mark(struct places *places)
{
	places->mark.count = places->count;
	places->mark.expanded = places->expanded.count;
	if (places->is_streaming)
		plan_mark(places->plan);
}

void
places_back(struct places *places)
{
	if (places->is_streaming)
		plan_back(places->plan);
	fingerprints_truncate(&places->known, places->mark.count);
	memo_truncate(&places->expanded, places->mark.expanded);
	places->count = places->mark.count;
	if (places->held > places->count)
		places->held = places->count;
}

/* Those of one header, grouped by sender. */
static void
finish_header(struct places *places, unsigned header)
{
	size_t senders = places->is_from_null ? 1 : places->sender_keys.count;

	for (size_t s = 0; s < senders; s++)
		for (size_t i = 0; i < places->held; i++)
			if (places->list[i].header == header &&
			    (places->is_from_null ||
			    places->list[i].sender == s))
				plan_add(places->plan, &places->list[i],
				    places->senders[s]);
}

void
places_finish(struct places *places)
{
	unsigned header = 0, next = 0, most = 0;

	if (places->is_streaming)
		return;
	for (size_t i = 0; i < places->held; i++)
		if (places->list[i].header > most)
			most = places->list[i].header;
	for (; header <= most; header = next) {
		finish_header(places, header);
		next = most + 1;
		for (size_t i = 0; i < places->held; i++)
			if (places->list[i].header > header &&
			    places->list[i].header < next)
				next = places->list[i].header;
	}
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
