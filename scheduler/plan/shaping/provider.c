/* provider.c - destinations whose mail the same hosts take
 *
 * In     names that transport agents say
 * Out    whether there is a session left for a thread
 * Holds  one struct a provider that a thread belongs to, or did today
 * Trusts nothing about the names: they are bytes that are hashed and copied
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/plan/shaping/shape_line.h"

#include "base/banned.h"

enum {
	TABLE_SIZE_MIN = 64,
	LEARNED_MAX = 1000		/* then it is no limit any more */
};

static size_t
provider_bucket(const struct provider_table *table, struct slice name)
{
	return crc32c(0, name.p, name.n) & (table->size - 1);
}

static void
provider_table_grow(struct provider_table *table)
{
	struct provider **old = table->buckets, *provider;
	size_t old_size = table->size;

	table->size = old_size ? old_size * 2 : TABLE_SIZE_MIN;
	table->buckets = mem_alloc(table->size, sizeof(*table->buckets));
	for (size_t i = 0; i < old_size; i++)
		while ((provider = old[i]) != NULL) {
			size_t at = provider_bucket(table,
			    slice_of(provider->name));

			old[i] = provider->hash_next;
			provider->hash_next = table->buckets[at];
			table->buckets[at] = provider;
		}
	mem_free(&old);
}

static struct provider *
provider_get(struct provider_table *table, struct slice name)
{
	struct provider *provider;
	size_t at;

	if (table->count >= table->size)
		provider_table_grow(table);
	at = provider_bucket(table, name);
	for (provider = table->buckets[at]; provider != NULL;
	    provider = provider->hash_next)
		if (slice_is(name, provider->name))
			return provider;
	provider = mem_alloc(1, sizeof(*provider) + name.n + 1);
	memcpy(provider->name, name.p, name.n);
	TAILQ_INIT(&provider->blocked);
	provider->hash_next = table->buckets[at];
	table->buckets[at] = provider;
	table->count++;
	return provider;
}

void
provider_table_release(struct provider_table *table)
{
	struct provider *provider;

	for (size_t i = 0; i < table->size; i++)
		while ((provider = table->buckets[i]) != NULL) {
			table->buckets[i] = provider->hash_next;
			mem_free(&provider);
		}
	mem_free(&table->buckets);
	table->size = table->count = 0;
}

/* Nothing belongs to it, and nothing was learned of it. */
static void
provider_forget(struct provider_table *table, struct provider *provider)
{
	struct provider **link;

	if (provider->thread_count > 0 || provider->learned > 0 ||
	    !TAILQ_EMPTY(&provider->blocked))
		return;
	link = &table->buckets[provider_bucket(table,
	    slice_of(provider->name))];
	while (*link != provider)
		link = &(*link)->hash_next;
	*link = provider->hash_next;
	table->count--;
	mem_free(&provider);
}

void
provider_join(struct provider_table *table, struct thread *thread,
    struct slice name)
{
	struct provider *old = thread->provider;

	if (name.n == 0 || name.n >= PROVIDER_NAME_BYTES ||
	    (old != NULL && slice_is(name, old->name)))
		return;
	provider_part(thread);
	if (old != NULL)
		provider_forget(table, old);
	thread->provider = provider_get(table, name);
	thread->provider->thread_count++;
	thread->provider->serving += thread->serving;
}

void
provider_part(struct thread *thread)
{
	struct provider *provider = thread->provider;

	if (provider == NULL)
		return;
	provider->thread_count--;
	provider->serving -= thread->serving;
	thread->provider = NULL;
}

static bool
provider_is_needed(struct provider *provider, int64_t now_s)
{
	if (provider->thread_count > 0 || provider->seen_s == 0)
		provider->seen_s = now_s;
	return provider->thread_count > 0 || (provider->learned > 0 &&
	    now_s - provider->seen_s < PROVIDER_KEPT_S);
}

void
provider_sweep(struct provider_table *table, int64_t now_s)
{
	for (size_t i = 0; i < table->size; i++) {
		struct provider **link = &table->buckets[i], *provider;

		while ((provider = *link) != NULL) {
			if (provider_is_needed(provider, now_s)) {
				link = &provider->hash_next;
				continue;
			}
			*link = provider->hash_next;
			table->count--;
			mem_free(&provider);
		}
	}
}

/* ---- the file's lines -------------------------------------------------- */

/* To the hour, as its other lines: that it is still there is no news. */
void
provider_add_lines(const struct provider_table *table, int64_t now_s,
    struct str *out)
{
	for (size_t i = 0; i < table->size; i++)
		for (const struct provider *provider = table->buckets[i];
		    provider != NULL; provider = provider->hash_next) {
			int64_t seen_s = provider->thread_count > 0 ||
			    provider->seen_s == 0 ? now_s : provider->seen_s;

			if (provider->learned > 0 &&
			    strpbrk(provider->name, "\t\n") == NULL)
				str_addf(out, "%%provider\t%s\t%u\t%lld\n",
				    provider->name, provider->learned,
				    (long long)(seen_s - seen_s % 3600));
		}
}

static void
provider_read_line(struct provider_table *table, struct slice line,
    int64_t now_s)
{
	struct slice word, name, learned_text;
	struct provider *provider;
	uint64_t learned, seen_s;

	if (!shape_line_is_text(line) || !slice_cut(&line, '\t', &word) ||
	    !slice_is(word, "%provider") ||
	    !slice_cut(&line, '\t', &name) || name.n == 0 ||
	    name.n >= PROVIDER_NAME_BYTES ||
	    !slice_cut(&line, '\t', &learned_text) ||
	    !slice_number(learned_text, 1, LEARNED_MAX, &learned) ||
	    !slice_number(line, 1, INT64_MAX / 2, &seen_s) ||
	    (int64_t)seen_s + PROVIDER_KEPT_S < now_s ||
	    table->count >= PROVIDERS_READ_MAX)
		return;
	provider = provider_get(table, name);
	provider->learned = (unsigned)learned;
	provider->seen_s = (int64_t)seen_s;
}

void
provider_read(struct provider_table *table, struct slice text, int64_t now_s)
{
	struct slice line;

	while (slice_cut(&text, '\n', &line))
		provider_read_line(table, line, now_s);
}

/* ---- what it may ------------------------------------------------------- */

unsigned
provider_limit(const struct thread *thread)
{
	const struct provider *provider = thread->provider;
	unsigned most = thread->ring->clause.provider;

	if (provider == NULL)
		return 0;
	if (provider->learned > 0 && (most == 0 || provider->learned < most))
		most = provider->learned;
	return most;
}

bool
provider_is_full(const struct thread *thread)
{
	unsigned most = provider_limit(thread);

	return most > 0 && thread->provider->serving >= most;
}

bool
provider_is_awaited(const struct thread *thread)
{
	return thread->provider != NULL &&
	    !TAILQ_EMPTY(&thread->provider->blocked);
}

void
provider_less(struct thread *thread, int64_t begun_ms, int64_t now_ms)
{
	struct provider *provider = thread->provider;

	if (provider == NULL || !thread->ring->clause.has_feedback ||
	    (provider->reduced_ms != 0 && begun_ms <= provider->reduced_ms))
		return;
	provider->learned = provider->serving > 1 ? provider->serving / 2 : 1;
	provider->credit = 0;
	provider->reduced_ms = now_ms;
}

void
provider_good(struct thread *thread, int64_t begun_ms)
{
	struct provider *provider = thread->provider;

	if (provider == NULL || provider->learned == 0 ||
	    begun_ms <= provider->reduced_ms ||
	    ++provider->credit < provider->learned)
		return;
	provider->credit = 0;
	if (++provider->learned > LEARNED_MAX)
		provider->learned = 0;
}

void
provider_block(struct thread *thread)
{
	TAILQ_INSERT_TAIL(&thread->provider->blocked, thread, run_entry);
	thread->is_blocked = true;
}

void
provider_unblock(struct thread *thread)
{
	TAILQ_REMOVE(&thread->provider->blocked, thread, run_entry);
	thread->is_blocked = false;
}
