/* neighbours.c - programs beside ours that mail depends on, when they fail
 *
 * In     what came of asking one
 * Out    since when it fails, why, how many were told; two events
 * Holds  nothing: a place for each stands in the counters' file
 * Trusts nothing that stands there: any process of ours may have written it,
 *        and it only goes into text
 * Spec   neighbours.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "journal/counters_table.h"
#include "journal/event.h"
#include "journal/neighbours.h"

#include "base/banned.h"

struct neighbour_place {
	uint64_t	hash;		/* of kind and name; 0: free */
	int64_t		since_s;	/* 0: it works */
	uint64_t	told;
	char		reason[NEIGHBOUR_REASON_BYTES];
};

enum { NEIGHBOURS_MAX = COUNTERS_BESIDE_BYTES /
	(int)sizeof(struct neighbour_place) };

static uint64_t
neighbour_hash(const char *kind, const char *name)
{
	uint32_t crc = crc32c(0, kind, strlen(kind) + 1);

	return UINT64_C(1) << 32 | crc32c(crc, name, strlen(name));
}

/* Its place; NULL: it has none. */
static struct neighbour_place *
neighbour_find(uint64_t hash)
{
	struct neighbour_place *places = counters_beside();

	for (int i = 0; places != NULL && i < NEIGHBOURS_MAX; i++)
		if (__atomic_load_n(&places[i].hash, __ATOMIC_RELAXED) == hash)
			return &places[i];
	return NULL;
}

/* A place that is free, or of one that works: that one takes another when it
 * fails. */
static struct neighbour_place *
neighbour_take(uint64_t hash)
{
	struct neighbour_place *places = counters_beside();

	for (int i = 0; places != NULL && i < NEIGHBOURS_MAX; i++) {
		uint64_t there = __atomic_load_n(&places[i].hash,
		    __ATOMIC_RELAXED);

		if ((there == 0 || __atomic_load_n(&places[i].since_s,
		    __ATOMIC_RELAXED) == 0) &&
		    __atomic_compare_exchange_n(&places[i].hash, &there, hash,
		    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return &places[i];
	}
	return NULL;
}

/* Of several that notice at once one says so. */
static bool
neighbour_turn(struct neighbour_place *place, int64_t from_s, int64_t to_s)
{
	return __atomic_compare_exchange_n(&place->since_s, &from_s, to_s,
	    false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void
neighbour_works(const char *kind, const char *name)
{
	struct neighbour_place *place = neighbour_find(neighbour_hash(kind,
	    name));
	int64_t since_s = place == NULL ? 0 : __atomic_load_n(
	    &place->since_s, __ATOMIC_RELAXED);

	if (since_s == 0 || !neighbour_turn(place, since_s, 0))
		return;
	event(EV_NEIGHBOUR_UP, NULL, "kind", slice_of(kind), "name",
	    slice_of(name), "down_s", event_number(clock_wall_s() - since_s),
	    "told", event_number((int64_t)place->told), NULL);
}

void
neighbour_fails(const char *kind, const char *name, const char *reason)
{
	uint64_t hash = neighbour_hash(kind, name);
	struct neighbour_place *place = neighbour_find(hash);

	if (place == NULL)
		place = neighbour_take(hash);
	if (place == NULL || __atomic_load_n(&place->since_s,
	    __ATOMIC_RELAXED) != 0 ||
	    !neighbour_turn(place, 0, clock_wall_s()))
		return;
	__atomic_store_n(&place->told, 0, __ATOMIC_RELAXED);
	snprintf(place->reason, sizeof(place->reason), "%s", reason);
	event(EV_NEIGHBOUR_DOWN, NULL, "kind", slice_of(kind), "name",
	    slice_of(name), "reason", slice_of(reason), NULL);
}

void
neighbour_told(const char *kind, const char *name)
{
	struct neighbour_place *place = neighbour_find(neighbour_hash(kind,
	    name));

	if (place != NULL)
		__atomic_fetch_add(&place->told, 1, __ATOMIC_RELAXED);
}

bool
neighbour_is_down(const char *kind, const char *name, struct neighbour *out)
{
	const struct neighbour_place *place = neighbour_find(
	    neighbour_hash(kind, name));

	memset(out, 0, sizeof(*out));
	if (place == NULL)
		return false;
	out->since_s = __atomic_load_n(&place->since_s, __ATOMIC_ACQUIRE);
	out->told = __atomic_load_n(&place->told, __ATOMIC_RELAXED);
	memcpy(out->reason, place->reason, sizeof(out->reason) - 1);
	return out->since_s != 0;
}
