/* shape.c - what was learned of destinations, kept over a restart
 *
 * In     threads that come and go; RUN/scheduler.shape
 * Out    limits and pauses of new threads; the file
 * Holds  a struct a destination, at most SHAPES_MAX
 * Trusts the file no more than a clause: every number is bounded by it
 *
 *	CHANNEL TAB HOST TAB LIMIT TAB THRESHOLD TAB PAUSE_US TAB SEEN_S TAB
 *	PROVIDER|-
 * and lines of zone.c (%warm) and provider.c (%provider)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/err.h"
#include "base/mem.h"
#include "scheduler/plan/shaping/pace.h"
#include "scheduler/plan/shaping/shape.h"
#include "scheduler/plan/shaping/shape_line.h"
#include "scheduler/plan/thread.h"

#include "base/banned.h"

enum {
	TABLE_SIZE = 4096,		/* buckets; a power of two */
	LIMIT_MAX = 10000,
	CHANNEL_BYTES = 256
};

static const char head[] =
    "# what the scheduler learned of destinations; made by the scheduler\n";

struct shape {
	struct shape	*next;
	unsigned	 limit, threshold;
	int64_t		 slow_us, seen_s;
	const char	*host, *provider;	/* after the struct; "-" */
	char		 channel[];
};

/* ---- lines --------------------------------------------------------- */

static bool
shape_is_notable(const struct thread *thread)
{
	const struct conf_schedule *clause = &thread->ring->clause;

	return clause->has_feedback && ((thread->provider != NULL &&
	    (clause->provider > 0 || thread->provider->learned > 0)) ||
	    thread->pace.slow_us > 0 || thread->limit > THREAD_LIMIT_START ||
	    thread->pace.threshold < clause->parallel);
}

/* The channel, with the zone after a percent sign. */
static const char *
shape_channel(const struct thread *thread)
{
	static char text[CHANNEL_BYTES];

	snprintf(text, sizeof(text), "%s%s%s", thread->channel,
	    thread->zone[0] ? "%" : "", thread->zone);
	return text;
}

static bool
shape_is_field(const char *text)
{
	return text[0] != '\0' && strpbrk(text, "\t\n") == NULL;
}

static void
shape_add_line(struct str *out, const struct shape *shape)
{
	str_addf(out, "%s\t%s\t%u\t%u\t%lld\t%lld\t%s\n", shape->channel,
	    shape->host, shape->limit, shape->threshold,
	    (long long)shape->slow_us, (long long)shape->seen_s,
	    shape->provider);
}

void
shape_add_thread(struct str *out, const struct thread *thread, int64_t now_s)
{
	if (!shape_is_notable(thread) ||
	    !shape_is_field(shape_channel(thread)) ||
	    !shape_is_field(thread->host))
		return;
	str_addf(out, "%s\t%s\t%u\t%u\t%lld\t%lld\t%s\n", shape_channel(thread),
	    thread->host, thread->limit, thread->pace.threshold,
	    (long long)thread->pace.slow_us, (long long)now_s,
	    thread->provider ? thread->provider->name : "-");
}

void
shape_add_remembered(const struct shape_table *table, struct str *out)
{
	for (size_t i = 0; i < table->size; i++)
		for (const struct shape *shape = table->buckets[i];
		    shape != NULL; shape = shape->next)
			shape_add_line(out, shape);
}

/* ---- the table ----------------------------------------------------- */

static struct shape **
shape_link(const struct shape_table *table, struct slice channel,
    struct slice host)
{
	uint32_t crc = crc32c(crc32c(0, channel.p, channel.n), host.p, host.n);
	struct shape **link = &table->buckets[crc & (table->size - 1)];

	while (*link != NULL && (!slice_is(channel, (*link)->channel) ||
	    !slice_is(host, (*link)->host)))
		link = &(*link)->next;
	return link;
}

static void
shape_drop(struct shape_table *table, struct shape **link)
{
	struct shape *shape = *link;

	*link = shape->next;
	table->count--;
	mem_free(&shape);
}

static char *
shape_append(char *to, struct slice text)
{
	memcpy(to, text.p, text.n);
	to[text.n] = '\0';
	return to + text.n + 1;
}

/* Fields of a line: channel, host, provider and the numbers of *like. */
static void
shape_put(struct shape_table *table, struct slice channel, struct slice host,
    struct slice provider, const struct shape *like)
{
	struct shape **link = shape_link(table, channel, host), *shape;

	if (*link != NULL)
		shape_drop(table, link);
	if (table->count >= SHAPES_MAX)
		return;
	shape = mem_alloc(1, sizeof(*shape) + channel.n + host.n +
	    provider.n + 3);
	*shape = *like;
	shape->next = *link;
	shape->host = shape_append(shape->channel, channel);
	shape->provider = shape_append((char *)(uintptr_t)shape->host, host);
	shape_append((char *)(uintptr_t)shape->provider, provider);
	*link = shape;
	table->count++;
}

static bool
shape_read_line(struct shape_table *table, struct slice line, int64_t now_s)
{
	struct slice channel, host, fields[4];
	uint64_t limit, threshold, slow_us, seen_s;
	struct shape like = { .next = NULL };

	if (!slice_cut(&line, '\t', &channel) ||
	    !slice_cut(&line, '\t', &host))
		return false;
	for (int i = 0; i < 4; i++)
		if (!slice_cut(&line, '\t', &fields[i]))
			return false;
	if (channel.n == 0 || host.n == 0 || line.n == 0 ||
	    line.n >= PROVIDER_NAME_BYTES ||
	    !slice_number(fields[0], 1, LIMIT_MAX, &limit) ||
	    !slice_number(fields[1], 1, LIMIT_MAX, &threshold) ||
	    !slice_number(fields[2], 0, PACE_SLOW_MAX_US, &slow_us) ||
	    !slice_number(fields[3], 0, INT64_MAX, &seen_s) ||
	    (int64_t)seen_s < now_s - SHAPE_KEPT_S)
		return false;
	like.limit = (unsigned)limit;
	like.threshold = (unsigned)threshold;
	like.slow_us = (int64_t)slow_us;
	/* what claims to be of tomorrow would be kept for ever */
	like.seen_s = (int64_t)seen_s < now_s ? (int64_t)seen_s : now_s;
	shape_put(table, channel, host, line, &like);
	return true;
}

void
shape_read(struct shape_table *table, struct slice text, int64_t now_s)
{
	struct slice line;

	while (slice_cut(&text, '\n', &line))
		if (shape_line_is_text(line) && !slice_starts(line, "#") &&
		    !slice_starts(line, "%"))
			(void)shape_read_line(table, line, now_s);
}

void
shape_recall(struct shape_table *table, struct thread *thread)
{
	unsigned most = thread->ring->clause.parallel;
	struct shape **link;

	if (table->size == 0 || !thread->ring->clause.has_feedback)
		return;
	link = shape_link(table, slice_of(shape_channel(thread)),
	    slice_of(thread->host));
	if (*link == NULL)
		return;
	most = most > 0 ? most : 1;
	thread->limit = (*link)->limit < most ? (*link)->limit : most;
	thread->pace.threshold = (*link)->threshold < most ?
	    (*link)->threshold : most;
	thread->pace.slow_us = (*link)->slow_us;
	if (strcmp((*link)->provider, "-") != 0)
		provider_join(table->providers, thread,
		    slice_of((*link)->provider));
	shape_drop(table, link);
}

void
shape_keep(struct shape_table *table, const struct thread *thread,
    int64_t now_s)
{
	struct shape like = { .limit = thread->limit,
	    .threshold = thread->pace.threshold,
	    .slow_us = thread->pace.slow_us, .seen_s = now_s };

	if (table->size > 0 && shape_is_notable(thread) &&
	    shape_is_field(shape_channel(thread)) &&
	    shape_is_field(thread->host))
		shape_put(table, slice_of(shape_channel(thread)),
		    slice_of(thread->host), slice_of(thread->provider ?
		    thread->provider->name : "-"), &like);
}

/* ---- the file ------------------------------------------------------ */

static void
shape_read_file(struct shape_table *table)
{
	struct str text = STR_INIT;

	if (runfile_read(&table->file, &text)) {
		shape_read(table, str_slice(&text), clock_wall_s());
		warm_read(table->warms, str_slice(&text), clock_wall_s());
		provider_read(table->providers, str_slice(&text),
		    clock_wall_s());
	}
	str_release(&text);
}

void
shape_open(struct shape_table *table, struct provider_table *providers,
    struct warm_table *warms, const char *run_dir)
{
	*table = (struct shape_table){ .size = TABLE_SIZE,
	    .providers = providers, .warms = warms };
	table->buckets = mem_alloc(table->size, sizeof(*table->buckets));
	runfile_open(&table->file, run_dir, "scheduler.shape");
	shape_read_file(table);
}

void
shape_release(struct shape_table *table)
{
	for (size_t i = 0; i < table->size; i++)
		while (table->buckets[i] != NULL)
			shape_drop(table, &table->buckets[i]);
	mem_free(&table->buckets);
	runfile_release(&table->file);
	table->size = 0;
}

void
shape_write(struct shape_table *table, const struct str *text)
{
	runfile_write(&table->file, head, text);
}
