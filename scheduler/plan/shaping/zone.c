/* zone.c - what a sending zone may send today
 *
 * In     threads about to be fed, the configuration's plan, the day
 * Out    yes; or the mail in another zone, or a held thread
 * Holds  a count a zone and provider, of one day
 * Trusts the wall clock: where it jumps a day begins anew
 * Spec   zmailer.conf(5), zone
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/mem.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/plan/shaping/shape_line.h"
#include "scheduler/plan/shaping/zone.h"

#include "base/banned.h"

enum { DAY_S = 86400, TABLE_SIZE = 1024 };

struct warm {
	struct warm	*next;
	uint64_t	 count;
	const char	*key;		/* after the zone */
	char		 zone[];
};

/* ---- counts ---------------------------------------------------------- */

static void
warm_clear(struct warm_table *table)
{
	for (size_t i = 0; i < table->size; i++) {
		struct warm *warm;

		while ((warm = table->buckets[i]) != NULL) {
			table->buckets[i] = warm->next;
			mem_free(&warm);
		}
	}
	table->count = 0;
}

void
warm_release(struct warm_table *table)
{
	warm_clear(table);
	allowance_release(&table->shared);
	mem_free(&table->buckets);
	table->size = 0;
}

/* Of today; NULL: they are full, or there is none and it is not to be made. */
static struct warm *
warm_get(struct warm_table *table, struct slice zone, struct slice key,
    int64_t now_s, bool is_made)
{
	uint32_t crc = crc32c(crc32c(0, zone.p, zone.n), key.p, key.n);
	struct warm **link, *warm;

	if (table->day != now_s / DAY_S) {
		warm_clear(table);
		table->day = now_s / DAY_S;
	}
	if (table->size == 0) {
		table->size = TABLE_SIZE;
		table->buckets = mem_alloc(table->size,
		    sizeof(*table->buckets));
	}
	link = &table->buckets[crc & (table->size - 1)];
	for (; *link != NULL; link = &(*link)->next)
		if (slice_is(zone, (*link)->zone) &&
		    slice_is(key, (*link)->key))
			return *link;
	if (!is_made || table->count >= WARMS_MAX)
		return NULL;
	warm = mem_alloc(1, sizeof(*warm) + zone.n + key.n + 2);
	memcpy(warm->zone, zone.p, zone.n);
	memcpy(warm->zone + zone.n + 1, key.p, key.n);
	warm->key = warm->zone + zone.n + 1;
	*link = warm;
	table->count++;
	return warm;
}

static struct slice
warm_key(const struct thread *thread)
{
	return slice_of(thread->provider ? thread->provider->name :
	    thread->host);
}

uint64_t
warm_left(struct warm_table *table, const struct conf_zone *zone,
    const struct thread *thread, int64_t now_s)
{
	int64_t day = (now_s - zone->warm_start_s) / DAY_S;
	const struct warm *warm;
	uint64_t cap;

	if (zone->warm_count == 0 || (now_s >= zone->warm_start_s &&
	    (uint64_t)day >= zone->warm_count))
		return UINT64_MAX;
	cap = zone->warm_caps[now_s < zone->warm_start_s ? 0 : day];
	warm = warm_get(table, slice_of(thread->zone), warm_key(thread), now_s,
	    false);
	if (warm == NULL)
		return cap;
	return warm->count < cap ? cap - warm->count : 0;
}

void
warm_add(struct warm_table *table, const struct thread *thread,
    unsigned rcpts, int64_t now_s)
{
	struct warm *warm = warm_get(table, slice_of(thread->zone),
	    warm_key(thread), now_s, true);

	if (warm != NULL)
		warm->count += rcpts;
}

int64_t
warm_until_s(int64_t now_s)
{
	return DAY_S - now_s % DAY_S;
}

/* ---- the file's lines -------------------------------------------------- */

void
warm_add_lines(const struct warm_table *table, struct str *out)
{
	for (size_t i = 0; i < table->size; i++)
		for (const struct warm *warm = table->buckets[i];
		    warm != NULL; warm = warm->next)
			if (strpbrk(warm->key, "\t\n") == NULL)
				str_addf(out, "%%warm\t%s\t%s\t%lld\t%llu\n",
				    warm->zone, warm->key,
				    (long long)table->day,
				    (unsigned long long)warm->count);
	allowance_add_lines(&table->shared, out);
}

void
warm_read(struct warm_table *table, struct slice text, int64_t now_s)
{
	struct slice line, word, zone, key, day_text;
	uint64_t day, count;
	struct warm *warm;

	allowance_read(&table->shared, text);
	while (slice_cut(&text, '\n', &line)) {
		if (!shape_line_is_text(line) ||
		    !slice_cut(&line, '\t', &word) ||
		    !slice_is(word, "%warm") ||
		    !slice_cut(&line, '\t', &zone) ||
		    !slice_cut(&line, '\t', &key) ||
		    !slice_cut(&line, '\t', &day_text) ||
		    !slice_number(day_text, 0, INT64_MAX, &day) ||
		    !slice_number(line, 0, UINT32_MAX, &count) ||
		    (int64_t)day != now_s / DAY_S)
			continue;
		warm = warm_get(table, zone, key, now_s, true);
		if (warm != NULL)
			warm->count = count;
	}
}

