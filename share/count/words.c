/* words.c - what share is asked, what it asks Redis, what that answers
 *
 * In     lines of our own daemons; strings of Redis
 * Out    questions, keys, numbers
 * Holds  the scripts
 * Trusts nothing: numbers are bounded, keys escaped
 * Spec   words.h; doc/protocol/share.md
 *
 *	question = token " take " COUNT SP SPAN-MS SP key / token " status"
 *	taken    = GRANTED SP WAIT-US
 *	seen     = *( NAME SP SECONDS SP )
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/ascii.h"
#include "base/siphash.h"
#include "share/count/words.h"

#include "base/banned.h"

/* GCRA: a key holds the moment (microseconds of this server) at which its
 * limit is whole again.  One that is not there is whole.
 * KEYS[1]; ARGV: count, span (us), how many are needed, the largest batch. */
static const char take_script[] =
    "local t = redis.call('TIME')\n"
    "local now = tonumber(t[1]) * 1000000 + tonumber(t[2])\n"
    "local count, span = tonumber(ARGV[1]), tonumber(ARGV[2])\n"
    "local need, batch = tonumber(ARGV[3]), tonumber(ARGV[4])\n"
    "local each = span / count\n"
    "local whole = tonumber(redis.call('GET', KEYS[1]) or now)\n"
    "if whole < now then whole = now end\n"
    "if whole > now + span then whole = now + span end\n"
    "local left = math.floor((now + span - whole) / each + 0.001)\n"
    "local n = need\n"
    "if left > count * 0.2 then\n"
    "  n = math.max(need, math.min(batch, math.floor(left / 4)))\n"
    "end\n"
    "if n > left then n = left end\n"
    "if n > 0 then\n"
    "  whole = whole + n * each\n"
    "  redis.call('SET', KEYS[1], string.format('%.17g', whole),\n"
    "    'PX', string.format('%d', math.ceil((whole - now) / 1000)))\n"
    "end\n"
    "local wait = 0\n"
    "if n < need then wait = math.ceil(whole + each - now - span) end\n"
    "if wait < 0 then wait = 0 end\n"
    "return string.format('%d %.0f', n, wait)\n";

/* A sorted set of nodes, by the second in which each was there last.
 * KEYS[1]; ARGV: our name. */
static const char seen_script[] =
    "local now = tonumber(redis.call('TIME')[1])\n"
    "redis.call('ZADD', KEYS[1], now, ARGV[1])\n"
    "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 604800)\n"
    "redis.call('EXPIRE', KEYS[1], 604800)\n"
    "local all = redis.call('ZRANGE', KEYS[1], 0, 511, 'WITHSCORES')\n"
    "local out = {}\n"
    "for i = 1, #all, 2 do\n"
    "  out[#out + 1] = all[i] .. ' ' ..\n"
    "    string.format('%d', math.max(0, now - tonumber(all[i + 1])))\n"
    "end\n"
    "return table.concat(out, ' ')\n";

const char *const words_scripts[SCRIPT_COUNT] = {
	[SCRIPT_TAKE] = take_script, [SCRIPT_SEEN] = seen_script
};

static bool
words_number(struct slice *rest, uint64_t min, uint64_t max, uint64_t *out)
{
	struct slice word;

	return slice_word(rest, &word) && slice_number(word, min, max, out);
}

bool
words_question_read(struct slice line, struct words_question *out)
{
	struct slice verb;
	uint64_t span_ms;

	if (!slice_word(&line, &out->token) ||
	    out->token.n >= WORDS_TOKEN_BYTES || !slice_word(&line, &verb))
		return false;
	out->verb = WORDS_STATUS;
	if (slice_is(verb, "status"))
		return slice_trim(line).n == 0;
	out->verb = WORDS_TAKE;
	if (!slice_is(verb, "take") ||
	    !words_number(&line, 1, UINT32_MAX, &out->count) ||
	    !words_number(&line, 1, UINT32_MAX, &span_ms))
		return false;
	out->span_ms = (int64_t)span_ms;
	out->key = slice_from(line, line.n > 0);	/* the blank */
	return out->key.n > 0 && out->key.n <= WORDS_KEY_BYTES_MAX;
}

/* ---- keys ------------------------------------------------------------- */

static void
words_add_escaped(struct str *out, struct slice key)
{
	for (size_t i = 0; i < key.n; i++)
		if (ascii_is_alnum(key.p[i]) ||
		    ascii_is_among(key.p[i], "-_.@:="))
			str_addc(out, key.p[i]);
		else
			str_addf(out, "%%%02X", (unsigned char)key.p[i]);
}

void
words_add_rate_key(struct str *out, const char *cluster, struct slice key,
    uint64_t count, int64_t span_ms)
{
	static const struct siphash_key same = { 0, 0 };
	size_t start;
	struct siphash sum;

	str_addf(out, "zm:%s:r:{", cluster);
	start = out->len;
	words_add_escaped(out, key);
	if (out->len - start > WORDS_ESCAPED_MAX) {
		sum = siphash(&same, key);
		str_truncate(out, start + WORDS_ESCAPED_MAX);
		/* ~ is never in what was escaped */
		str_addf(out, "~%016" PRIx64 "%016" PRIx64, sum.high,
		    sum.low);
	}
	str_addf(out, "}:%" PRIu64 "/%" PRId64, count, span_ms);
}

void
words_add_nodes_key(struct str *out, const char *cluster)
{
	str_addf(out, "zm:%s:nodes", cluster);
}

/* ---- answers ---------------------------------------------------------- */

bool
words_taken_read(struct slice text, uint64_t *out_granted,
    int64_t *out_wait_us)
{
	uint64_t wait_us;

	if (!words_number(&text, 0, UINT32_MAX, out_granted) ||
	    !words_number(&text, 0, INT64_MAX / 2, &wait_us) ||
	    slice_trim(text).n > 0)
		return false;
	*out_wait_us = (int64_t)wait_us;
	return true;
}

bool
words_node_next(struct slice *rest, struct slice *out_name,
    uint64_t *out_seconds)
{
	return slice_word(rest, out_name) &&
	    words_number(rest, 0, UINT32_MAX, out_seconds);
}
