/* spool.c - the spool's directories as metrics
 *
 * In     the spool
 * Out    numbers, ages, sizes; room on the disk
 * Holds  an age for each message of queue/ while it counts
 * Trusts nothing in the spool but times and sizes of files
 * Spec   zmailer-metrics(8); doc/INTERNALS.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "base/mem.h"
#include "tools/queue/area.h"
#include "tools/zmailer/metrics/metrics.h"

#include "base/banned.h"

/* ---- router/ ----------------------------------------------------------- */

static struct area
add_router(struct str *out, const struct spool *spool, int64_t now_s)
{
	struct area all = { .spool = spool, .area = AREA_ROUTER,
	    .now_s = now_s };
	uint64_t before;

	counters_print_head(out, "router_messages");
	for (all.priority = 0; all.priority < SPOOL_PRIORITIES;
	    all.priority++) {
		before = all.count;
		(void)area_count(&all, NULL);
		str_adds(out, "zmailer_router_messages{area=\"router");
		if (all.priority > 0)
			str_addf(out, ".%u", all.priority);
		str_addf(out, "\"} %" PRIu64 "\n", all.count - before);
	}
	counters_print_head(out, "router_oldest_seconds");
	str_addf(out, "zmailer_router_oldest_seconds %" PRId64 "\n",
	    all.oldest_s);
	return all;
}

/* ---- queue/ ------------------------------------------------------------ */

static void
add_bodies(struct str *out, const struct spool *spool, int64_t now_s)
{
	struct area bodies = { .spool = spool, .area = AREA_QUEUE,
	    .now_s = now_s, .has_ages = true };

	(void)area_count(&bodies, NULL);
	counters_print_head(out, "queue_bytes");
	str_addf(out, "zmailer_queue_bytes %" PRIu64 "\n", bodies.bytes);
	counters_print_ages(out, "queue_age_seconds", bodies.ages_s,
	    bodies.count);
	mem_free(&bodies.ages_s);
}

/* ---- all of them ------------------------------------------------------- */

static const enum spool_area areas[] = { AREA_ROUTER, AREA_TRANSPORT,
	AREA_DEFERRED, AREA_FREEZER, AREA_POSTMAN, AREA_TRASH };
enum { AREAS = sizeof(areas) / sizeof(areas[0]) };

static const char *
area_name(enum spool_area area)
{
	return area == AREA_TRANSPORT ? "queue" : spool_area_names[area];
}

static void
add_areas(struct str *out, const struct area *found)
{
	uint64_t only_copies = 0;

	counters_print_head(out, "area_messages");
	for (size_t i = 0; i < AREAS; i++) {
		str_addf(out, "zmailer_area_messages{area=\"%s\"} %" PRIu64
		    "\n", area_name(areas[i]), found[i].count);
		if (areas[i] == AREA_POSTMAN)
			only_copies = found[i].count - found[i].copies;
	}
	counters_print_head(out, "area_oldest_seconds");
	for (size_t i = 0; i < AREAS; i++)
		str_addf(out, "zmailer_area_oldest_seconds{area=\"%s\"} %"
		    PRId64 "\n", area_name(areas[i]), found[i].oldest_s);
	counters_print_head(out, "postman_only_copies");
	str_addf(out, "zmailer_postman_only_copies %" PRIu64 "\n",
	    only_copies);
}

static void
add_room(struct str *out, const char *dir)
{
	struct statvfs fs;

	if (statvfs(dir, &fs) != 0)
		return;
	counters_print_head(out, "spool_free_bytes");
	str_addf(out, "zmailer_spool_free_bytes %" PRIu64 "\n",
	    (uint64_t)fs.f_bavail * fs.f_frsize);
	counters_print_head(out, "spool_free_inodes");
	str_addf(out, "zmailer_spool_free_inodes %" PRIu64 "\n",
	    (uint64_t)fs.f_favail);
}

void
metrics_add_spool(struct str *out, const struct spool *spool, const char *dir)
{
	int64_t now_s = clock_wall_s();
	struct area found[AREAS];

	found[0] = add_router(out, spool, now_s);
	for (size_t i = 1; i < AREAS; i++) {
		found[i] = (struct area){ .spool = spool, .area = areas[i],
		    .now_s = now_s };
		(void)area_count(&found[i], NULL);
	}
	add_bodies(out, spool, now_s);
	add_areas(out, found);
	add_room(out, dir);
}
