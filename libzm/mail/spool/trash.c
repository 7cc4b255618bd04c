/* trash.c - what a person deleted, and the way back
 *
 * In     a message that was set aside
 * Out    its file in trash/, its old area in the name
 * Holds  nothing
 * Trusts the caller that a person asked: housekeeping never comes here
 * Spec   doc/INTERNALS.md rows D5 and D6
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

static const enum spool_area aside_areas[] =
    { AREA_DEFERRED, AREA_FREEZER, AREA_POSTMAN };

static bool
is_aside(enum spool_area area)
{
	return area == AREA_DEFERRED || area == AREA_FREEZER ||
	    area == AREA_POSTMAN;
}

/* "123.policy" of freezer/ <-> "123.freezer-policy"; the "_" of a copy
 * stays in front: "123._postman-twice". */
static bool
trash_name(enum spool_area from, const char *name,
    char out_name[SPOOL_NAME_BYTES])
{
	struct spool_name parts;
	bool is_copy;

	if (strchr(name, '/') != NULL ||
	    !spool_name_parse(slice_of(name), &parts) || parts.pid != 0 ||
	    parts.why.n == 0 || slice_ends(parts.why, ".control"))
		return false;
	is_copy = slice_starts(parts.why, "_");
	return (size_t)snprintf(out_name, SPOOL_NAME_BYTES, "%.*s%s%s-"
	    SLICE_FMT, (int)(parts.why.p - name), name, is_copy ? "_" : "",
	    spool_area_names[from],
	    SLICE_ARG(slice_from(parts.why, is_copy))) < SPOOL_NAME_BYTES;
}

/* The area that a name in trash/ tells, and the name there. */
static bool
untrash_name(const char *name, enum spool_area *out_area,
    char out_name[SPOOL_NAME_BYTES])
{
	struct spool_name parts;
	struct slice why;
	bool is_copy;

	if (!spool_name_parse(slice_of(name), &parts) || parts.why.n == 0)
		return false;
	is_copy = slice_starts(parts.why, "_");
	why = slice_from(parts.why, is_copy);
	for (size_t i = 0; i < sizeof(aside_areas) / sizeof(aside_areas[0]);
	    i++) {
		const char *area = spool_area_names[aside_areas[i]];

		if (!slice_starts(why, area) || why.n < strlen(area) + 2 ||
		    why.p[strlen(area)] != '-')
			continue;
		*out_area = aside_areas[i];
		return (size_t)snprintf(out_name, SPOOL_NAME_BYTES,
		    "%.*s%s" SLICE_FMT, (int)(parts.why.p - name), name,
		    is_copy ? "_" : "", SLICE_ARG(slice_from(why,
		    strlen(area) + 1))) < SPOOL_NAME_BYTES;
	}
	return false;
}

bool
spool_trash_origin(const char *name, enum spool_area *out_area)
{
	char was[SPOOL_NAME_BYTES];

	return untrash_name(name, out_area, was);
}

/* The control file that lies beside a shelved message goes with it. */
static void
move_control(struct spool *spool, enum spool_area from, const char *name,
    enum spool_area to, const char *target)
{
	char a[SPOOL_NAME_BYTES + 8], b[SPOOL_NAME_BYTES + 8];

	snprintf(a, sizeof(a), "%s.control", name);
	snprintf(b, sizeof(b), "%s.control", target);
	if (spool_rename(spool->area_fd[from], a, spool->area_fd[to], b) != 0
	    && errno != ENOENT)
		warning("%s stays where it is: %s", spool_label(from, 0, a),
		    strerror(errno));
}

static int
move_aside(struct spool *spool, enum spool_area from, const char *name,
    enum spool_area to, const char *target, struct err *err)
{
	/* D1 or D2 <-> D5: one name at any time */
	if (spool_rename(spool->area_fd[from], name, spool->area_fd[to],
		target) != 0)
		return err_sys(err, "move %s to %s/%s",
		    spool_label(from, 0, name), spool_area_names[to],
		    target);
	move_control(spool, from, name, to, target);
	spool_note_move(spool, from, to);
	return spool_sync_dirs(spool, spool->area_fd[from],
	    spool->area_fd[to], err);
}

int
spool_trash(struct spool *spool, enum spool_area from, const char *name,
    char out_name[SPOOL_NAME_BYTES], struct err *err)
{
	if (!is_aside(from) || !trash_name(from, name, out_name))
		return err_set(err, "%s is not a message that was set aside",
		    spool_label(from, 0, name));
	return move_aside(spool, from, name, AREA_TRASH, out_name, err);
}

int
spool_untrash(struct spool *spool, const char *name,
    enum spool_area *out_area, char out_name[SPOOL_NAME_BYTES],
    struct err *err)
{
	if (!untrash_name(name, out_area, out_name))
		return err_set(err, "%s does not tell where it was",
		    spool_label(AREA_TRASH, 0, name));
	return move_aside(spool, AREA_TRASH, name, *out_area, out_name, err);
}

/* ---- the end of the day ------------------------------------------ */

struct sweep {
	struct spool	*spool;
	int64_t		 before_s;
	unsigned	 count;
};

/* The moment of a rename is in ctime: when it came into trash/.  One that is
 * still to come is of a clock that was set back: its day begins now. */
static bool
sweep_is_over(const struct sweep *sweep, const char *name,
    const struct stat *st)
{
	if (clock_since_s(st->st_ctime) == CLOCK_LONG_AGO_S &&
	    st->st_ctime >= sweep->before_s)
		(void)utimensat(sweep->spool->area_fd[AREA_TRASH], name, NULL,
		    AT_SYMLINK_NOFOLLOW);
	return st->st_ctime < sweep->before_s;
}

static bool
sweep_one(void *context, const char *name)
{
	struct sweep *sweep = context;
	int dir_fd = sweep->spool->area_fd[AREA_TRASH];
	struct spool_name parts;
	struct stat st;

	if (strchr(name, '/') != NULL ||
	    !spool_name_parse(slice_of(name), &parts) ||
	    fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode) || !sweep_is_over(sweep, name, &st))
		return true;
	/* D6: a person deleted it, and the time to undo that is over */
	if (unlinkat(dir_fd, name, 0) == 0)
		sweep->count++;
	else if (errno != ENOENT)
		warning("remove %s: %s", spool_label(AREA_TRASH, 0, name),
		    strerror(errno));
	return true;
}

int
spool_sweep_trash(struct spool *spool, int64_t before_s,
    unsigned *out_count, struct err *err)
{
	struct sweep sweep = { .spool = spool, .before_s = before_s };
	int result = spool_scan(spool, AREA_TRASH, 0, sweep_one, &sweep,
	    err);

	*out_count = sweep.count;
	return result;
}
