/* trials.c - the figures of canaries that went back
 *
 * In     SPOOL/desk/publish/trials of the node that publishes
 * Out    the same; counters without them
 * Holds  nothing
 * Trusts its own record; counters of a node that are smaller than they were at
 *        the end of a trial began anew, and have none of it
 * Spec   trials.h; doc/CLUSTER.md; doc/INTERNALS.md row E8
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/skeleton.h"
#include "tools/publish/trials.h"

#include "base/banned.h"

enum { TRIALS_FIELDS = 4 };

static void
trials_fields(struct figures *figures, uint64_t *out[TRIALS_FIELDS])
{
	out[0] = &figures->accepted;
	out[1] = &figures->refused;
	out[2] = &figures->delivered;
	out[3] = &figures->failed;
}

/* Eight numbers: those of the trials, and the counters after the last. */
static bool
trials_parse(struct slice text, struct figures *out_sum,
    struct figures *out_end)
{
	uint64_t *fields[2 * TRIALS_FIELDS];
	struct slice word;

	trials_fields(out_sum, fields);
	trials_fields(out_end, fields + TRIALS_FIELDS);
	for (size_t i = 0; i < 2 * TRIALS_FIELDS; i++)
		if (!slice_word(&text, &word) ||
		    !slice_number(word, 0, INT64_MAX, fields[i]))
			return false;
	return true;
}

/* Its sum, unless its counters began anew; else none. */
static struct figures
trials_sum(const struct publish_record *record, const char *node,
    struct figures all)
{
	struct figures sum = { .accepted = 0 }, end = sum;
	uint64_t *ends[TRIALS_FIELDS], *now[TRIALS_FIELDS];

	for (size_t i = 0; i < record->count; i++) {
		if (strcmp(record->files[i].path, node) != 0)
			continue;
		if (!trials_parse(record->files[i].text, &sum, &end))
			return (struct figures){ .accepted = 0 };
	}
	trials_fields(&end, ends);
	trials_fields(&all, now);
	for (size_t i = 0; i < TRIALS_FIELDS; i++)
		if (*now[i] < *ends[i])
			return (struct figures){ .accepted = 0 };
	return sum;
}

static bool
trials_read(const struct publish *publish, struct publish_record *out)
{
	struct err err;

	switch (record_read(publish->conf->spool_dir, RECORD_TRIALS,
	    publish->arena, out, &err)) {
	case RECORD_READ:
		return true;
	case RECORD_BAD:
		warning("publish: %s", err.text);
		break;
	case RECORD_NONE:
		break;
	}
	*out = (struct publish_record){ .count = 0 };
	return false;
}

struct figures
trials_leave_out(const struct publish *publish, const char *node,
    struct figures all)
{
	struct publish_record record;
	struct figures sum;

	if (!trials_read(publish, &record))
		return all;
	sum = trials_sum(&record, node, all);
	return figures_between(&sum, &all);
}

void
trials_note(const struct publish *publish, const char *node,
    const struct figures *trial, const struct figures *end)
{
	struct publish_record old, record = { .who = "", .sum = "",
		.from = publish->conf->cluster.self,
		.since_s = clock_wall_s() };
	struct figures sum;
	struct err err;

	(void)trials_read(publish, &old);
	sum = trials_sum(&old, node, *end);
	strlcpy(record.id, publish->id, sizeof(record.id));
	record.files = arena_alloc(publish->arena, (old.count + 1) *
	    sizeof(*record.files));
	/* who is no node any more is forgotten */
	for (size_t i = 0; i < old.count; i++)
		for (size_t n = 0; n < publish->count; n++)
			if (strcmp(old.files[i].path, node) != 0 &&
			    strcmp(old.files[i].path,
			    publish->nodes[n].name) == 0)
				record.files[record.count++] = old.files[i];
	record.files[record.count++] = (struct bundle_file){ node,
		slice_of(arena_printf(publish->arena, "%" PRIu64 " %" PRIu64
		    " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %"
		    PRIu64 " %" PRIu64, sum.accepted + trial->accepted,
		    sum.refused + trial->refused,
		    sum.delivered + trial->delivered,
		    sum.failed + trial->failed, end->accepted, end->refused,
		    end->delivered, end->failed)) };
	if (record_write(publish->conf->spool_dir, RECORD_TRIALS, &record,
	    &err) < 0)
		warning("publish: the next canary is compared with this one, "
		    "too: %s", err.text);
}
