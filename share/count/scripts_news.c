/* scripts_news.c - what Redis does for news in one step
 *
 * Out    the scripts, which go by the clock of Redis alone and bound what they
 *        keep and what they answer
 * Holds  nothing
 * Spec   words.h, news.h; doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "share/count/words.h"

#include "base/banned.h"

/* KEYS: the stream; ARGV: node, what, of whom. */
const char words_tell_script[] =
    "redis.call('XADD', KEYS[1], 'MAXLEN', '~', '4096', '*', 'n', ARGV[1],\n"
    "  'k', ARGV[2], 'v', ARGV[3])\n"
    "redis.call('PEXPIRE', KEYS[1], 900000)\n"
    "return 'ok'\n";

/* What is there after what was heard; of a stream that has begun anew, or that
 * has not come as far (a failover), what is to come.
 * KEYS: the stream, the counter of blocks; ARGV: what was heard, or "-". */
const char words_news_script[] =
    "local t = redis.call('TIME')\n"
    "local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)\n"
    "local function parts(id)\n"
    "  local ms, seq = string.match(id, '^(%d+)-(%d+)$')\n"
    "  return tonumber(ms) or 0, tonumber(seq) or 0\n"
    "end\n"
    "local after = ARGV[1]\n"
    "if after == '-' then after = string.format('%.0f-0', now - 900000) end\n"
    "local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]\n"
    "last = last and last[1] or '0-0'\n"
    "local ams, aseq = parts(after)\n"
    "local lms, lseq = parts(last)\n"
    "if ams > lms or (ams == lms and aseq > lseq) then after = last end\n"
    "local out = { redis.call('GET', KEYS[2]) or '-', after }\n"
    "local all = redis.call('XREAD', 'COUNT', 200, 'STREAMS', KEYS[1],\n"
    "  after)\n"
    "for _, entry in ipairs(all and all[1][2] or {}) do\n"
    "  local ms, field = parts(entry[1]), entry[2]\n"
    "  out[2] = entry[1]\n"
    "  if #field == 6 and #field[2] + #field[4] + #field[6] < 200 then\n"
    "    out[#out + 1] = field[2] .. ' ' .. field[4] .. ' ' .. field[6] ..\n"
    "      ' ' .. string.format('%.0f', math.max(0, now - ms))\n"
    "  end\n"
    "end\n"
    "return table.concat(out, ' ')\n";

/* The counter grows with the clock: one of a Redis that has lost it is never
 * one that was heard before. */
#define RAISE \
    "local t = redis.call('TIME')\n" \
    "local function raise()\n" \
    "  local n = tonumber(redis.call('GET', KEYS[2]) or 0) or 0\n" \
    "  n = math.max(n + 1, tonumber(t[1]) * 1000000 + tonumber(t[2]))\n" \
    "  redis.call('SET', KEYS[2], string.format('%.0f', n))\n" \
    "end\n"

/* KEYS: blocks, their counter; ARGV: the field, its value. */
const char words_block_script[] = RAISE
    "local function is_full()\n"
    "  return redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and\n"
    "    redis.call('HLEN', KEYS[1]) >= 4096\n"
    "end\n"
    "if is_full() then\n"
    "  local all = redis.call('HGETALL', KEYS[1])\n"
    "  for i = 1, #all, 2 do\n"
    "    local ends = tonumber(string.match(all[i + 1], '^%d+')) or 1\n"
    "    if ends > 0 and ends <= tonumber(t[1]) then\n"
    "      redis.call('HDEL', KEYS[1], all[i])\n"
    "    end\n"
    "  end\n"
    "end\n"
    "if is_full() then return 'full' end\n"
    "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])\n"
    "raise()\n"
    "return 'ok'\n";

/* KEYS: blocks, their counter; ARGV: the field. */
const char words_unblock_script[] = RAISE
    "if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 'none' end\n"
    "raise()\n"
    "return 'ok'\n";

/* As many as fit into an answer, in the order of their fields.
 * KEYS: blocks, their counter; ARGV: the last field that was told, or "". */
const char words_blocks_script[] =
    "local fields = redis.call('HKEYS', KEYS[1])\n"
    "table.sort(fields)\n"
    "local out, n, rest = { '' }, 0, 'end'\n"
    "for _, field in ipairs(fields) do\n"
    "  if field > ARGV[1] then\n"
    "    if n > 40000 then rest = 'more' break end\n"
    "    local value = redis.call('HGET', KEYS[1], field)\n"
    "    if #field + #value < 600 and\n"
    "        not string.find(field .. value, '\\n') then\n"
    "      out[#out + 1] = field .. ' ' .. value\n"
    "      n = n + #field + #value\n"
    "    end\n"
    "  end\n"
    "end\n"
    "out[1] = (redis.call('GET', KEYS[2]) or '-') .. ' ' .. rest\n"
    "return table.concat(out, '\\n')\n";
