/* attempts.c - how often somebody gave a wrong password, of late
 *
 * In     an address, a name: from anybody
 * Out    yes or no
 * Holds  counts
 * Trusts nothing: names are hashed with a key of this process
 * Spec   attempts.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "web/session/attempts.h"

#include "base/banned.h"

enum { CLIENT_GROUPS = 4 };	/* of an IPv6 address: a network of one */

void
attempts_init(struct attempts *attempts)
{
	unsigned char bytes[16];

	memset(attempts, 0, sizeof(*attempts));
	arc4random_buf(bytes, sizeof(bytes));
	attempts->key = siphash_key_of(bytes);
}

/* Who has a network of IPv6 has all of its addresses. */
static struct slice
attempts_network(const char *client)
{
	struct slice all = slice_of(client);
	int groups = 0;

	for (size_t i = 0; i < all.n; i++)
		if (all.p[i] == ':' && (++groups == CLIENT_GROUPS ||
		    (i + 1 < all.n && all.p[i + 1] == ':')))
			return slice_first(all, i);
	return all;
}

static uint64_t
attempts_hash(const struct attempts *attempts, char kind, struct slice name)
{
	uint64_t hash = siphash(&attempts->key, name).low;

	hash ^= (uint64_t)(unsigned char)kind << 56;
	return hash != 0 ? hash : 1;
}

/* Its place; NULL: it has none. */
static struct attempts_place *
attempts_find(struct attempts *attempts, uint64_t hash)
{
	for (size_t i = 0; i < ATTEMPTS_PLACES; i++)
		if (attempts->places[i].hash == hash)
			return &attempts->places[i];
	return NULL;
}

static bool
attempts_are_spent(struct attempts *attempts, uint64_t hash, unsigned most,
    int64_t now_ms)
{
	const struct attempts_place *place = attempts_find(attempts, hash);

	return place != NULL && place->count >= most &&
	    now_ms - place->last_ms < ATTEMPTS_MS;
}

const char *
attempts_refuse(struct attempts *attempts, const char *client,
    struct slice user, int64_t now_ms)
{
	if (attempts_are_spent(attempts, attempts_hash(attempts, 'c',
	    attempts_network(client)), ATTEMPTS_OF_CLIENT, now_ms) ||
	    attempts_are_spent(attempts, attempts_hash(attempts, 'u', user),
	    ATTEMPTS_OF_USER, now_ms))
		return "Too many wrong passwords: come back in a quarter of "
		    "an hour.";
	if (attempts->last_ms != 0 &&
	    now_ms - attempts->last_ms < ATTEMPTS_PAUSE_MS)
		return "Somebody tried to log in a moment ago: try again in "
		    "a second.";
	attempts->last_ms = now_ms;
	return NULL;
}

static void
attempts_count(struct attempts *attempts, uint64_t hash, int64_t now_ms)
{
	struct attempts_place *place = attempts_find(attempts, hash);

	if (place == NULL) {
		place = &attempts->places[0];
		for (size_t i = 1; i < ATTEMPTS_PLACES; i++)
			if (attempts->places[i].last_ms < place->last_ms)
				place = &attempts->places[i];
		*place = (struct attempts_place){ .hash = hash };
	}
	if (now_ms - place->last_ms >= ATTEMPTS_MS)
		place->count = 0;
	place->count++;
	place->last_ms = now_ms;
}

void
attempts_failed(struct attempts *attempts, const char *client,
    struct slice user, int64_t now_ms)
{
	attempts_count(attempts, attempts_hash(attempts, 'c',
	    attempts_network(client)), now_ms);
	attempts_count(attempts, attempts_hash(attempts, 'u', user), now_ms);
}

void
attempts_good(struct attempts *attempts, const char *client,
    struct slice user)
{
	struct attempts_place *places[] = {
		attempts_find(attempts, attempts_hash(attempts, 'c',
		    attempts_network(client))),
		attempts_find(attempts, attempts_hash(attempts, 'u', user)),
	};

	for (size_t i = 0; i < 2; i++)
		if (places[i] != NULL)
			*places[i] = (struct attempts_place){ .hash = 0 };
}
