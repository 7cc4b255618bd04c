/* scripts.c - what Redis does for us in one step
 *
 * Out    the scripts, which go by the clock of Redis alone, bound what they
 *        answer, and do not touch an expiry when they refuse
 * Holds  nothing
 * Spec   words.h; doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
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

/* Places of one key: who holds one, by the moment (microseconds) at which it
 * is free again unless it is kept.  A refusal changes nothing.
 * KEYS[1]; ARGV: how many there are, for how long (ms), who. */
static const char hold_script[] =
    "local t = redis.call('TIME')\n"
    "local now = tonumber(t[1]) * 1000000 + tonumber(t[2])\n"
    "local at = string.format('%.0f', now)\n"
    "local count, ttl = tonumber(ARGV[1]), tonumber(ARGV[2])\n"
    "if not redis.call('ZSCORE', KEYS[1], ARGV[3]) and\n"
    "    redis.call('ZCOUNT', KEYS[1], '(' .. at, '+inf') >= count then\n"
    "  return 'over'\n"
    "end\n"
    "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at)\n"
    "redis.call('ZADD', KEYS[1],\n"
    "  string.format('%.0f', now + ttl * 1000), ARGV[3])\n"
    "if redis.call('PTTL', KEYS[1]) < ttl then\n"
    "  redis.call('PEXPIRE', KEYS[1], ttl)\n"
    "end\n"
    "return 'ok'\n";

/* Places that are held still, or entered again, however many there are; with
 * no time they are given back.  A key of another type is passed over: the
 * others are no less held.
 * KEYS; ARGV: for how long (ms; 0: no more), then who, one for each key. */
static const char keep_script[] =
    "local t = redis.call('TIME')\n"
    "local now = tonumber(t[1]) * 1000000 + tonumber(t[2])\n"
    "local ttl = tonumber(ARGV[1])\n"
    "local at = string.format('%.0f', now + ttl * 1000)\n"
    "for i, key in ipairs(KEYS) do\n"
    "  local done\n"
    "  if ttl == 0 then\n"
    "    done = redis.pcall('ZREM', key, ARGV[i + 1])\n"
    "  else\n"
    "    done = redis.pcall('ZADD', key, at, ARGV[i + 1])\n"
    "  end\n"
    "  if type(done) == 'table' and done.err then\n"
    "    if not string.find(done.err, 'WRONGTYPE') then return done end\n"
    "  elseif ttl > 0 and redis.call('PTTL', key) < ttl then\n"
    "    redis.call('PEXPIRE', key, ttl)\n"
    "  end\n"
    "end\n"
    "return 'ok'\n";

/* Who was seen: "FIRST:LAST", seconds; LAST is 0 until it has passed.  A
 * network has a number, of pairs that passed; five pass for all.  Who has to
 * wait changes nothing but the first time.
 * KEYS: pair, network; ARGV: after, within, keep (s), 1: it has passed. */
static const char greet_script[] =
    "local now = tonumber(redis.call('TIME')[1])\n"
    "local after, keep = tonumber(ARGV[1]), tonumber(ARGV[3])\n"
    "local passed = ARGV[4] == '1'\n"
    "local known = tonumber(redis.call('GET', KEYS[2]) or 0) or 0\n"
    "if known >= 5 and not passed then return '0' end\n"
    "local first, last = string.match(redis.call('GET', KEYS[1]) or '',\n"
    "  '^(%d+):(%d+)$')\n"
    "first, last = tonumber(first) or now, tonumber(last)\n"
    "if not last and not passed then\n"
    "  redis.call('SET', KEYS[1], string.format('%d:0', now),\n"
    "    'EX', ARGV[2])\n"
    "  return string.format('%d', after)\n"
    "end\n"
    "if last == 0 and not passed and now < first + after then\n"
    "  return string.format('%d', first + after - now)\n"
    "end\n"
    "if (last or 0) == 0 and known < 5 then\n"
    "  redis.call('INCR', KEYS[2])\n"
    "end\n"
    "if redis.call('TTL', KEYS[2]) < keep then\n"
    "  redis.call('EXPIRE', KEYS[2], keep)\n"
    "end\n"
    "redis.call('SET', KEYS[1], string.format('%d:%d', first, now),\n"
    "  'EX', keep)\n"
    "return '0'\n";

const char *const words_scripts[SCRIPT_COUNT] = {
	[SCRIPT_TAKE] = take_script, [SCRIPT_SEEN] = seen_script,
	[SCRIPT_HOLD] = hold_script, [SCRIPT_KEEP] = keep_script,
	[SCRIPT_GREET] = greet_script, [SCRIPT_TELL] = words_tell_script,
	[SCRIPT_NEWS] = words_news_script,
	[SCRIPT_BLOCK] = words_block_script,
	[SCRIPT_UNBLOCK] = words_unblock_script,
	[SCRIPT_BLOCKS] = words_blocks_script,
	[SCRIPT_WARM] = words_warm_script
};
