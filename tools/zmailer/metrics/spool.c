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
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "base/mem.h"
#include "tools/zmailer/metrics/metrics.h"

#include "base/banned.h"

struct area {			/* what lies in one directory */
	const struct spool	*spool;
	enum spool_area		 area;
	unsigned		 priority;
	int64_t			 now_s;
	uint64_t		 count, copies, bytes;
	int64_t			 oldest_s;	/* age; 0: none */
	bool			 has_ages;	/* each is wanted */
	int64_t			*ages_s;
	size_t			 age_room;
};

/* By when a file was last written: mail keeps the time of its submission
 * (mtime is never touched), what waits for a person that of its being put
 * there.  A file that somebody put in by hand may say what it likes: it is
 * no older than its inode, where the file system knows when that was made. */
static int64_t
metrics_age_s(const struct area *area, const struct statx *st)
{
	int64_t since_s = st->stx_mtime.tv_sec;

	if ((st->stx_mask & STATX_BTIME) != 0 &&
	    st->stx_btime.tv_sec > since_s)
		since_s = st->stx_btime.tv_sec;
	return area->now_s > since_s ? area->now_s - since_s : 0;
}

static void
metrics_take_file(struct area *area, const char *name)
{
	struct statx st;
	int64_t age_s;

	if (statx(spool_dir_fd(area->spool, area->area, area->priority),
	    name, AT_SYMLINK_NOFOLLOW, STATX_MTIME | STATX_BTIME |
	    STATX_SIZE, &st) != 0)
		return;
	age_s = metrics_age_s(area, &st);
	if (age_s > area->oldest_s)
		area->oldest_s = age_s;
	area->bytes += (uint64_t)st.stx_size;
	if (!area->has_ages)
		return;
	if (area->count == area->age_room) {
		area->age_room = area->age_room > 0 ? area->age_room * 2 : 64;
		area->ages_s = mem_grow(area->ages_s, area->age_room,
		    sizeof(*area->ages_s));
	}
	area->ages_s[area->count] = age_s;
	area->count++;
}

static bool
metrics_count_file(void *context, const char *path)
{
	struct area *area = context;
	const char *last = strrchr(path, '/');
	const char *name = last != NULL ? last + 1 : path;
	struct spool_name parts;

	if (!spool_name_parse(slice_of(name), &parts) ||
	    slice_ends(parts.why, ".control") || name[0] == '.')
		return true;
	metrics_take_file(area, path);
	area->count += !area->has_ages;
	area->copies += slice_starts(parts.why, "_");
	return true;
}

static void
area_count(struct area *area)
{
	(void)spool_scan(area->spool, area->area, area->priority,
	    metrics_count_file,
	    area, NULL);
}

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
		area_count(&all);
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

	area_count(&bodies);
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
		area_count(&found[i]);
	}
	add_bodies(out, spool, now_s);
	add_areas(out, found);
	add_room(out, dir);
}
