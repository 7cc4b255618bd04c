/* key_table.c - which requests are known, and the lines that say so
 *
 * In     lines of the file; keys of requests
 * Out    keys, lines
 * Holds  at most KEYS_MAX keys of the last KEYS_FOR_S
 * Trusts no line: bounds first, one that is none of ours is left out
 * Spec   keys.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "web/send/key_table.h"

#include "base/banned.h"

/* By a key of this process: nobody outside chooses who shares one. */
static size_t
key_table_bucket(const unsigned char *sum)
{
	struct slice text = { (const char *)sum, DIGEST_SHA256_BYTES };

	return siphash(siphash_process_key(), text).low % KEYS_BUCKETS;
}

void
key_table_init(struct key_table *table)
{
	*table = (struct key_table){ .count = 0 };
	table->buckets = mem_alloc(KEYS_BUCKETS, sizeof(*table->buckets));
	TAILQ_INIT(&table->all);
}

void
key_table_remove(struct key_table *table, struct key *key)
{
	LIST_REMOVE(key, bucket);
	TAILQ_REMOVE(&table->all, key, age);
	table->count--;
	table->refused_bytes -= strlen(key->refused);
	mem_free(&key->refused);
	mem_free(&key);
}

void
key_table_release(struct key_table *table)
{
	while (!TAILQ_EMPTY(&table->all))
		key_table_remove(table, TAILQ_FIRST(&table->all));
	mem_free(&table->buckets);
}

struct key *
key_table_find(struct key_table *table, const unsigned char *sum)
{
	struct key *key;

	LIST_FOREACH(key, &table->buckets[key_table_bucket(sum)], bucket)
		if (memcmp(key->sums.key, sum, sizeof(key->sums.key)) == 0)
			return key;
	return NULL;
}

struct key *
key_table_add(struct key_table *table, const struct key_sums *sums,
    int64_t now_s, struct slice refused)
{
	struct key *key;

	if (table->count >= KEYS_MAX || refused.n > KEYS_REFUSED_BYTES_MAX ||
	    table->refused_bytes + refused.n > KEYS_REFUSED_ALL_BYTES_MAX)
		return NULL;
	key = mem_alloc(1, sizeof(*key));
	*key = (struct key){ .sums = *sums, .at_s = now_s };
	LIST_INSERT_HEAD(&table->buckets[key_table_bucket(sums->key)], key,
	    bucket);
	key->refused = mem_alloc(1, refused.n + 1);
	if (refused.n > 0)
		memcpy(key->refused, refused.p, refused.n);
	TAILQ_INSERT_TAIL(&table->all, key, age);
	table->count++;
	table->refused_bytes += refused.n;
	return key;
}

void
key_table_expire(struct key_table *table, int64_t now_s)
{
	struct key *key = TAILQ_FIRST(&table->all), *next;

	for (; key != NULL && key->at_s + KEYS_FOR_S <= now_s; key = next) {
		next = TAILQ_NEXT(key, age);
		if (!key->is_under_way)
			key_table_remove(table, key);
	}
}

/* ---- lines -------------------------------------------------------------- */

static void
key_add_sum(struct str *out, const unsigned char *sum)
{
	for (size_t i = 0; i < DIGEST_SHA256_BYTES; i++)
		str_addf(out, "%02x", sum[i]);
}

static bool
key_read_sum(struct slice word, unsigned char *out)
{
	if (word.n != 2 * DIGEST_SHA256_BYTES)
		return false;
	for (size_t i = 0; i < word.n; i += 2) {
		int high = ascii_hex_small(word.p[i]);
		int low = ascii_hex_small(word.p[i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i / 2] = (unsigned char)(high << 4 | low);
	}
	return true;
}

void
key_add_begun(struct str *out, const struct key *key)
{
	str_addf(out, "B %" PRId64 " ", key->at_s);
	key_add_sum(out, key->sums.key);
	str_addc(out, ' ');
	key_add_sum(out, key->sums.body);
	str_addf(out, " %s\n", key->refused);
}

void
key_add_end(struct str *out, const struct key *key)
{
	str_addf(out, "%c %" PRId64 " ", key->id[0] != '\0' ? 'D' : 'X',
	    key->at_s);
	key_add_sum(out, key->sums.key);
	str_addf(out, "%s%s\n", key->id[0] != '\0' ? " " : "", key->id);
}

static bool
key_is_refused(struct slice word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] <= ' ' || word.p[i] > '~')
			return false;
	return word.n > 0;
}

static int
key_take_begun(struct key_table *table, const struct key_sums *sums,
    int64_t at_s, struct slice rest)
{
	struct key_sums both = *sums;
	struct slice body, refused;
	struct key *before;

	if (!slice_cut(&rest, ' ', &body) || !key_read_sum(body, both.body) ||
	    !slice_cut(&rest, ' ', &refused) || rest.p != NULL ||
	    !key_is_refused(refused))
		return -1;
	/* the one before was forgotten after its day, and the key came again */
	before = key_table_find(table, sums->key);
	if (before != NULL)
		key_table_remove(table, before);
	return key_table_add(table, &both, at_s, refused) != NULL ? 0 : -1;
}

int
key_table_take(struct key_table *table, struct slice line)
{
	struct slice rest = line, kind, second, sum;
	struct key_sums sums;
	struct key *key;
	uint64_t at_s;

	if (!slice_cut(&rest, ' ', &kind) || kind.n != 1 ||
	    !slice_cut(&rest, ' ', &second) ||
	    !slice_number(second, 1, INT64_MAX / 2, &at_s) ||
	    !slice_cut(&rest, ' ', &sum) || !key_read_sum(sum, sums.key))
		return -1;
	if (kind.p[0] == 'B')
		return key_take_begun(table, &sums, (int64_t)at_s, rest);
	key = key_table_find(table, sums.key);
	if (key == NULL || (kind.p[0] != 'D' && kind.p[0] != 'X') ||
	    (kind.p[0] == 'X') != (rest.p == NULL))
		return -1;
	if (kind.p[0] == 'X') {
		key_table_remove(table, key);
		return 0;
	}
	if (!spool_id_is(rest) && !slice_is(rest, "-"))
		return -1;
	memcpy(key->id, rest.p, rest.n);
	key->id[rest.n] = '\0';
	return 0;
}

void
key_table_write(struct key_table *table, int64_t now_s, struct str *out)
{
	struct key *key;

	key_table_expire(table, now_s);
	TAILQ_FOREACH(key, &table->all, age) {
		key_add_begun(out, key);
		if (key->id[0] != '\0')
			key_add_end(out, key);
	}
}
