/* arrivals.c - how long mail to each destination took to arrive
 *
 * In     deliveries; RUN/scheduler.arrivals
 * Out    a record a destination and channel; the file
 * Holds  at most ARRIVALS_MAX records, of less than 150 bytes and two names
 * Trusts the file no more than its lines are in bounds
 * Spec   doc/INTERNALS.md row O8
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/mem.h"
#include "scheduler/plan/arrivals/arrivals.h"
#include "scheduler/plan/shaping/shape_line.h"

#include "base/banned.h"

enum {
	ARRIVALS_TABLE_SIZE = 4096,	/* buckets; a power of two */
	ARRIVALS_GAP_SHARE = 16		/* weight of those before */
};

static const char arrivals_head[] = "# how long mail took to arrive; made by "
    "the scheduler\n";
static const char arrivals_channel[] = "*";	/* as host */

/* ---- the table ------------------------------------------------------- */

static struct arrival **
arrivals_link(const struct arrivals *arrivals, struct slice channel,
    struct slice host)
{
	uint32_t crc = crc32c(0, channel.p, channel.n);
	struct arrival **link;

	crc = crc32c(crc32c(crc, "", 1), host.p, host.n);
	link = &arrivals->buckets[crc & (arrivals->size - 1)];
	while (*link != NULL && (!slice_is(channel, (*link)->channel) ||
	    !slice_is(host, (*link)->host)))
		link = &(*link)->next;
	return link;
}

/* NULL: there is no room for it. */
static struct arrival *
arrivals_get(struct arrivals *arrivals, struct slice channel,
    struct slice host)
{
	struct arrival **link = arrivals_link(arrivals, channel, host);
	struct arrival *arrival = *link;
	char *name;

	/* channels are few, and always have room */
	if (arrival != NULL || (arrivals->count >= ARRIVALS_MAX &&
	    !slice_is(host, arrivals_channel)))
		return arrival;
	arrival = mem_alloc(1, sizeof(*arrival) + channel.n + host.n + 2);
	memcpy(arrival->channel, channel.p, channel.n);
	name = arrival->channel + channel.n + 1;
	memcpy(name, host.p, host.n);
	arrival->host = name;
	*link = arrival;
	arrivals->count++;
	return arrival;
}

static void
arrivals_drop(struct arrivals *arrivals, struct arrival **link)
{
	struct arrival *arrival = *link;

	*link = arrival->next;
	arrivals->count--;
	mem_free(&arrival);
}

const struct arrival *
arrivals_find(const struct arrivals *arrivals, const char *channel,
    const char *host)
{
	return arrivals->buckets == NULL ? NULL : *arrivals_link(arrivals,
	    slice_of(channel), slice_of(host));
}

void
arrivals_sweep(struct arrivals *arrivals, int64_t now_s)
{
	for (size_t i = 0; i < arrivals->size; i++) {
		struct arrival **link = &arrivals->buckets[i];

		while (*link != NULL)
			if ((*link)->seen_s + ARRIVALS_KEPT_S < now_s)
				arrivals_drop(arrivals, link);
			else
				link = &(*link)->next;
	}
}

/* ---- deliveries ------------------------------------------------------ */

/* The pace of those in line: what came while nobody waited says nothing. */
static void
arrival_pace(struct arrival *arrival, const struct thread *thread,
    int64_t now_ms)
{
	int64_t gap_us = (now_ms - arrival->last_ms) * 1000;

	if (arrival->last_ms != 0 && arrival->gap_us == 0)
		arrival->gap_us = gap_us > 0 ? gap_us : 1;
	else if (arrival->last_ms != 0)
		arrival->gap_us += (gap_us - arrival->gap_us) /
		    ARRIVALS_GAP_SHARE;
	arrival->last_ms = thread->ready_count > 0 ? now_ms : 0;
}

void
arrivals_took(struct arrivals *arrivals, const struct thread *thread,
    int64_t span_ms, int64_t now_ms, int64_t now_s)
{
	const char *hosts[] = { thread->host, arrivals_channel };

	if (arrivals->buckets == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		struct arrival *arrival = arrivals_get(arrivals,
		    slice_of(thread->channel), slice_of(hosts[i]));

		if (arrival == NULL)
			continue;
		arrival->seen_s = now_s;
		arrival_pace(arrival, thread, now_ms);
		if (span_ms >= 0)
			arrive_add(&arrival->arrive, span_ms, now_s);
	}
}

void
arrivals_judge(struct arrivals *arrivals, const struct thread *thread,
    bool has_held, int64_t now_s)
{
	const char *hosts[] = { thread->host, arrivals_channel };

	if (arrivals->buckets == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		struct arrival *arrival = *arrivals_link(arrivals,
		    slice_of(thread->channel), slice_of(hosts[i]));

		if (arrival != NULL)
			arrive_judge(&arrival->arrive, has_held, now_s);
	}
}

/* ---- the file -------------------------------------------------------- */

static void
arrival_add_line(const struct arrival *arrival, struct str *out)
{
	if (strpbrk(arrival->host, "\t\n") != NULL ||
	    strpbrk(arrival->channel, "\t\n#%") != NULL)
		return;
	str_addf(out, "%s\t%s\t%lld\t", arrival->channel, arrival->host,
	    (long long)arrival->seen_s);
	arrive_add_text(&arrival->arrive, out);
	str_addc(out, '\n');
}

void
arrivals_add_lines(const struct arrivals *arrivals, struct str *out)
{
	for (size_t i = 0; i < arrivals->size; i++)
		for (const struct arrival *arrival = arrivals->buckets[i];
		    arrival != NULL; arrival = arrival->next)
			arrival_add_line(arrival, out);
}

static void
arrivals_read_line(struct arrivals *arrivals, struct slice line,
    int64_t now_s)
{
	struct slice channel, host, field;
	struct arrival *arrival;
	struct arrive arrive;
	uint64_t seen_s;

	if (!slice_cut(&line, '\t', &channel) || channel.n == 0 ||
	    !slice_cut(&line, '\t', &host) || host.n == 0 ||
	    !slice_cut(&line, '\t', &field) ||
	    !slice_number(field, 0, INT64_MAX, &seen_s) ||
	    (int64_t)seen_s < now_s - ARRIVALS_KEPT_S ||
	    !arrive_read(line, &arrive))
		return;
	if (arrivals->count >= ARRIVALS_MAX)
		return;
	arrival = arrivals_get(arrivals, channel, host);
	arrival->arrive = arrive;
	arrival->seen_s = (int64_t)seen_s < now_s ? (int64_t)seen_s : now_s;
}

void
arrivals_read(struct arrivals *arrivals, struct slice text, int64_t now_s)
{
	struct slice line;

	while (slice_cut(&text, '\n', &line))
		if (shape_line_is_text(line) && !slice_starts(line, "#") &&
		    !slice_starts(line, "%"))
			arrivals_read_line(arrivals, line, now_s);
}

void
arrivals_open(struct arrivals *arrivals, const char *run_dir)
{
	struct str text = STR_INIT;

	*arrivals = (struct arrivals){ .size = ARRIVALS_TABLE_SIZE };
	arrivals->buckets = mem_alloc(arrivals->size,
	    sizeof(*arrivals->buckets));
	if (run_dir[0] != '\0')
		runfile_open(&arrivals->file, run_dir, "scheduler.arrivals");
	if (runfile_read(&arrivals->file, &text))
		arrivals_read(arrivals, str_slice(&text), clock_wall_s());
	str_release(&text);
}

void
arrivals_release(struct arrivals *arrivals)
{
	for (size_t i = 0; i < arrivals->size; i++)
		while (arrivals->buckets[i] != NULL)
			arrivals_drop(arrivals, &arrivals->buckets[i]);
	mem_free(&arrivals->buckets);
	runfile_release(&arrivals->file);
	arrivals->size = 0;
}

void
arrivals_write(struct arrivals *arrivals, const struct str *text)
{
	runfile_write(&arrivals->file, arrivals_head, text);
}
