/* redis.c - engine redis: GET and HGET of a Redis
 *
 * In     keys, as words of a command, never as part of its text
 * Out    the value
 * Holds  a connection
 * Trusts nothing in an answer: its length is bounded
 * Spec   engine.h, resp.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "grammar/resp.h"
#include "io/peer.h"
#include "tables/engine/engine.h"
#include "tables/engine/link.h"

#include "base/banned.h"

enum { WORDS_MAX = 3 };		/* HGET HASH FIELD */

struct redis {
	const struct definition	*definition;
	struct peer		 peer;
};

static void *
redis_open(const struct definition *definition)
{
	struct redis *redis = mem_alloc(1, sizeof(*redis));

	redis->definition = definition;
	peer_init(&redis->peer);
	return redis;
}

static void
redis_close(void *state)
{
	struct redis *redis = state;

	peer_release(&redis->peer);
	mem_free(&redis);
}

/* Send a command and read its answer, which is borrowed until *out_used bytes
 * are consumed.  RESP_MORE: nobody answers, err. */
static enum resp_answer
redis_command(struct redis *redis, const struct slice *words, size_t count,
    int64_t deadline_ms, struct slice *out_text, size_t *out_used,
    struct err *err)
{
	enum resp_answer answer;

	resp_add_command(&redis->peer.out, words, count);
	if (peer_flush(&redis->peer, deadline_ms, err) != PEER_OK)
		return RESP_MORE;
	while ((answer = resp_read(peer_unread(&redis->peer), out_text,
	    out_used)) == RESP_MORE)
		if (!link_fill(&redis->peer, deadline_ms, err))
			return RESP_MORE;
	if (answer == RESP_BAD || answer == RESP_ARRAY)
		err_set(err, "what it answers is no string");
	if (answer == RESP_ERROR)
		err_set(err, "it says " SLICE_FMT, SLICE_ARG(slice_first(
		    *out_text, 200)));
	return answer;
}

static bool
redis_greet_by(struct redis *redis, const struct slice *words, size_t count,
    int64_t deadline_ms, struct err *err)
{
	struct slice text;
	size_t used;

	if (redis_command(redis, words, count, deadline_ms, &text, &used,
	    err) != RESP_VALUE)
		return false;
	peer_consume(&redis->peer, used);
	return true;
}

/* AUTH [USER] PASSWORD, SELECT NUMBER. */
static bool
redis_greet(struct redis *redis, int64_t deadline_ms, struct err *err)
{
	char *const *values = redis->definition->values;
	struct slice words[WORDS_MAX] = { SLICE("AUTH") };
	size_t count = 1;

	if (values[DEFINITION_USER] != NULL)
		words[count++] = slice_of(values[DEFINITION_USER]);
	if (values[DEFINITION_PASSWORD] != NULL) {
		words[count++] = slice_of(values[DEFINITION_PASSWORD]);
		if (!redis_greet_by(redis, words, count, deadline_ms, err))
			return false;
	}
	words[0] = SLICE("SELECT");
	words[1] = slice_of(values[DEFINITION_DATABASE] != NULL ?
	    values[DEFINITION_DATABASE] : "0");
	return values[DEFINITION_DATABASE] == NULL ||
	    redis_greet_by(redis, words, 2, deadline_ms, err);
}

static bool
redis_connect(struct redis *redis, int64_t deadline_ms, struct err *err)
{
	const char *server = redis->definition->values[DEFINITION_SERVER];

	if (peer_is_open(&redis->peer) && peer_is_quiet(&redis->peer))
		return true;
	if (!link_connect(&redis->peer, slice_of(server), deadline_ms, err))
		return false;
	if (redis_greet(redis, deadline_ms, err))
		return true;
	err_prefix(err, "%s", server);
	peer_close(&redis->peer);
	return false;
}

/* A word of the query with what $1, $2, $3 stand for. */
static struct slice
redis_word(struct arena *arena, struct slice word,
    const struct slice parameters[DEFINITION_PARAMETERS])
{
	struct str text = STR_INIT;
	struct slice out;

	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] == '$' && i + 1 < word.n &&
		    word.p[i + 1] >= '1' &&
		    word.p[i + 1] < '1' + DEFINITION_PARAMETERS)
			str_add_slice(&text, parameters[word.p[++i] - '1']);
		else
			str_addc(&text, word.p[i]);
	out = slice_copy(arena, str_slice(&text));
	str_release(&text);
	return out;
}

static enum engine_answer
redis_try(struct redis *redis, const struct slice *words, size_t count,
    struct str *out, struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + LINK_ANSWER_MS;
	enum engine_answer answer = ENGINE_TROUBLE;
	struct slice text;
	size_t used = 0;

	if (!redis_connect(redis, deadline_ms, err))
		return ENGINE_AWAY;
	switch (redis_command(redis, words, count, deadline_ms, &text, &used,
	    err)) {
	case RESP_VALUE:
		answer = engine_add_row(out, text, 0, err) ? ENGINE_FOUND :
		    ENGINE_TROUBLE;
		break;
	case RESP_NIL:
		answer = ENGINE_NONE;
		break;
	case RESP_ERROR:
		break;
	case RESP_ARRAY:
	case RESP_MORE:
	case RESP_BAD:
		err_prefix(err, "%s",
		    redis->definition->values[DEFINITION_SERVER]);
		peer_close(&redis->peer);
		return ENGINE_AWAY;
	}
	peer_consume(&redis->peer, used);
	return answer;
}

/* A kept connection may have ended since: then once more. */
static enum engine_answer
redis_ask(void *state, const struct slice parameters[DEFINITION_PARAMETERS],
    struct str *out, struct err *err)
{
	struct redis *redis = state;
	struct slice rest = slice_of(
	    redis->definition->values[DEFINITION_QUERY]), word;
	bool was_kept = peer_is_open(&redis->peer);
	struct slice words[WORDS_MAX];
	struct arena *arena = arena_new();
	enum engine_answer answer;
	size_t count = 0;

	while (count < WORDS_MAX && slice_word(&rest, &word))
		words[count++] = redis_word(arena, word, parameters);
	answer = redis_try(redis, words, count, out, err);
	if (answer == ENGINE_AWAY && was_kept)
		answer = redis_try(redis, words, count, out, err);
	arena_free(&arena);
	return answer;
}

static void
redis_lock_in(const struct definition *definition, struct sandbox *out)
{
	out->sockets = SOCKETS_ALL;
}

const struct engine engine_redis = {
	.name = "redis", .open = redis_open, .ask = redis_ask,
	.close = redis_close, .lock_in = redis_lock_in,
};
