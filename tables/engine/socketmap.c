/* socketmap.c - engine socketmap: any program that speaks Sendmail's protocol
 *
 * In     keys
 * Out    what the program answers
 * Holds  a connection
 * Trusts nothing in an answer: its length is bounded, its word is one of five
 * Spec   engine.h; socketmap_table(5) of Postfix, "PROTOCOL"
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/peer.h"
#include "tables/engine/engine.h"
#include "tables/engine/link.h"
#include "tables/engine/netstring.h"

#include "base/banned.h"

struct socketmap {
	const struct definition	*definition;
	struct peer		 peer;
};

static void *
socketmap_open(const struct definition *definition)
{
	struct socketmap *map = mem_alloc(1, sizeof(*map));

	map->definition = definition;
	peer_init(&map->peer);
	return map;
}

static void
socketmap_close(void *state)
{
	struct socketmap *map = state;

	peer_release(&map->peer);
	mem_free(&map);
}

/* A whole netstring.  false: err. */
static bool
socketmap_answer(struct socketmap *map, int64_t deadline_ms,
    struct slice *out, size_t *out_used, struct err *err)
{
	enum netstring_answer got;

	while ((got = netstring_read(peer_unread(&map->peer), out,
	    out_used)) == NETSTRING_MORE)
		if (!link_fill(&map->peer, deadline_ms, err))
			return false;
	if (got == NETSTRING_BAD)
		err_set(err, "what it answers is no netstring");
	return got == NETSTRING_WHOLE;
}

/* "OK VALUE", "NOTFOUND ", "TEMP WHY", "TIMEOUT WHY", "PERM WHY". */
static enum engine_answer
socketmap_read(struct slice text, struct str *out, struct err *err)
{
	struct slice word;

	if (slice_word(&text, &word) && slice_is(word, "OK"))
		return engine_add_row(out, slice_trim(text), 0, err) ?
		    ENGINE_FOUND : ENGINE_TROUBLE;
	if (slice_is(word, "NOTFOUND"))
		return ENGINE_NONE;
	if (slice_is(word, "TEMP") || slice_is(word, "TIMEOUT") ||
	    slice_is(word, "PERM"))
		err_set(err, "it says " SLICE_FMT " " SLICE_FMT,
		    SLICE_ARG(word), SLICE_ARG(slice_first(slice_trim(text),
		    200)));
	else
		err_set(err, "what it answers is none of OK, NOTFOUND, TEMP, "
		    "TIMEOUT and PERM");
	return ENGINE_TROUBLE;
}

static enum engine_answer
socketmap_try(struct socketmap *map, struct slice key, struct str *out,
    struct err *err)
{
	const char *name = map->definition->values[DEFINITION_MAP];
	int64_t deadline_ms = clock_steady_ms() + LINK_ANSWER_MS;
	enum engine_answer answer;
	struct slice text;
	size_t used;

	if (!link_connect(&map->peer, slice_of(
	    map->definition->values[DEFINITION_SERVER]), deadline_ms, err))
		return ENGINE_AWAY;
	str_addf(&map->peer.out, "%zu:%s " SLICE_FMT ",", slice_of(name).n +
	    1 + key.n, name, SLICE_ARG(key));
	if (peer_flush(&map->peer, deadline_ms, err) != PEER_OK ||
	    !socketmap_answer(map, deadline_ms, &text, &used, err)) {
		peer_close(&map->peer);
		err_prefix(err, "%s",
		    map->definition->values[DEFINITION_SERVER]);
		return ENGINE_AWAY;
	}
	answer = socketmap_read(text, out, err);
	peer_consume(&map->peer, used);
	return answer;
}

/* A kept connection may have ended since: then once more. */
static enum engine_answer
socketmap_ask(void *state,
    const struct slice parameters[DEFINITION_PARAMETERS], struct str *out,
    struct err *err)
{
	struct socketmap *map = state;
	bool was_kept = peer_is_open(&map->peer);
	enum engine_answer answer = socketmap_try(map, parameters[0], out,
	    err);

	if (answer == ENGINE_AWAY && was_kept)
		answer = socketmap_try(map, parameters[0], out, err);
	return answer;
}

static void
socketmap_lock_in(const struct definition *definition, struct sandbox *out)
{
	out->sockets = SOCKETS_ALL;
}

const struct engine engine_socketmap = {
	.name = "socketmap", .open = socketmap_open, .ask = socketmap_ask,
	.close = socketmap_close, .lock_in = socketmap_lock_in,
};
