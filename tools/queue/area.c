/* area.c - what lies in a directory of the spool: how much, how old
 *
 * In     names and times of files
 * Out    numbers, ages, sizes
 * Holds  nothing
 * Trusts nothing in the spool but times and sizes of files
 * Spec   area.h; doc/INTERNALS.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "tools/queue/area.h"

#include "base/banned.h"

int64_t
area_age_s(int64_t now_s, const struct statx *st)
{
	int64_t since_s = st->stx_mtime.tv_sec;

	if ((st->stx_mask & STATX_BTIME) != 0 &&
	    st->stx_btime.tv_sec > since_s)
		since_s = st->stx_btime.tv_sec;
	return now_s > since_s ? now_s - since_s : 0;
}

static void
area_take_file(struct area *area, const char *name)
{
	struct statx st;
	int64_t age_s;

	if (statx(spool_dir_fd(area->spool, area->area, area->priority),
	    name, AT_SYMLINK_NOFOLLOW, STATX_MTIME | STATX_BTIME |
	    STATX_SIZE, &st) != 0)
		return;
	age_s = area_age_s(area->now_s, &st);
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
area_count_file(void *context, const char *path)
{
	struct area *area = context;
	const char *last = strrchr(path, '/');
	const char *name = last != NULL ? last + 1 : path;
	struct spool_name parts = { .inode = 0 };

	/* what is being written in public/ has any name */
	if (name[0] == '.' || (!spool_name_parse(slice_of(name), &parts) &&
	    area->area != AREA_PUBLIC) || slice_ends(parts.why, ".control"))
		return true;
	area_take_file(area, path);
	area->count += !area->has_ages;
	area->copies += slice_starts(parts.why, "_");
	return true;
}

int
area_count(struct area *area, struct err *err)
{
	return spool_scan(area->spool, area->area, area->priority,
	    area_count_file, area, err);
}
