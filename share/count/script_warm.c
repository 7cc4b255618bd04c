/* script_warm.c - what of a warm-up's day a node may send
 *
 * Out    a script, which goes by the clock of Redis alone
 * Holds  nothing
 * Spec   words.h; doc/protocol/share.md section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include "share/count/words.h"

#include "base/banned.h"

/* A hash of a day: each node by what it has sent and may send still.  A node
 * says what it has sent (of which day), so that nothing is forgotten when Redis
 * loses its data, or was away; and what it gives back.  At most half of a
 * node's part of what is left is given at once, but always what is needed, if
 * it is there.  What is more than the whole day goes first or never.
 * A hash of the first days: each node's, and when it was said.
 * KEYS: the counter without its day, the first days; ARGV: self, its first
 * day, the plan ("N N N"), the day of used, used, back, need, want, nodes. */
const char words_warm_script[] =
    "local now = tonumber(redis.call('TIME')[1])\n"
    "local today = math.floor(now / 86400)\n"
    "local self, kept = ARGV[1], 259200\n"
    "local first = tonumber(ARGV[2])\n"
    "redis.call('HSET', KEYS[2], self, string.format('%d %d', first, now))\n"
    "redis.call('EXPIRE', KEYS[2], kept)\n"
    "local days = redis.call('HGETALL', KEYS[2])\n"
    "for i = 1, #days, 2 do\n"
    "  local day, at = string.match(days[i + 1], '^(%d+) (%d+)$')\n"
    "  if not day or now - tonumber(at) > kept then\n"
    "    redis.call('HDEL', KEYS[2], days[i])\n"
    "  elseif tonumber(day) < first then\n"
    "    first = tonumber(day)\n"
    "  end\n"
    "end\n"
    "local cap, at = nil, math.max(today - first, 0)\n"
    "for word in string.gmatch(ARGV[3], '%d+') do\n"
    "  if at == 0 then cap = tonumber(word) end\n"
    "  at = at - 1\n"
    "end\n"
    "local used, back = tonumber(ARGV[5]), tonumber(ARGV[6])\n"
    "if tonumber(ARGV[4]) ~= today then used, back = 0, 0 end\n"
    "local key, others, mine, alone = KEYS[1] .. today, 0, 0, 0\n"
    "local all = redis.call('HGETALL', key)\n"
    "for i = 1, #all, 2 do\n"
    "  if all[i] == '*' then\n"
    "    alone = tonumber(all[i + 1])\n"
    "  elseif all[i] == self then\n"
    "    mine = tonumber(all[i + 1])\n"
    "  else\n"
    "    others = others + tonumber(all[i + 1])\n"
    "  end\n"
    "end\n"
    "if used > mine then\n"
    "  alone = now\n"
    "  redis.call('HSET', key, '*', string.format('%d', now))\n"
    "end\n"
    "mine = math.max(mine - back, used)\n"
    "local need, want = tonumber(ARGV[7]), tonumber(ARGV[8])\n"
    "local n, nodes = want, tonumber(ARGV[9])\n"
    "if cap then\n"
    "  local left = cap - others - mine\n"
    "  if now - alone < 10 then\n"
    "    left = math.min(left, math.floor(cap / nodes) - mine)\n"
    "  end\n"
    "  n = math.min(want, math.floor(left / (2 * nodes)))\n"
    "  n = math.min(math.max(n, need), left)\n"
    "  if others + mine == 0 and need > cap then n = need end\n"
    "  if n < 0 then n = 0 end\n"
    "end\n"
    "mine = mine + n\n"
    "redis.call('HSET', key, self, string.format('%d', mine))\n"
    "redis.call('EXPIRE', key, kept)\n"
    "return string.format('%d %d %d %d %d', today, 86400 - now % 86400,\n"
    "  first, others + mine, n)\n";
