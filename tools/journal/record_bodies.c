/* record_bodies.c - messages as they came, kept for replay: bounds, names
 *
 * In     SPOOL/record
 * Out    fewer files; directories of the days that come
 * Holds  one open directory
 * Trusts no name there: what is no day and no message is left alone
 * Spec   record_bodies.h; doc/INTERNALS.md row K1
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mem.h"
#include "journal/event.h"
#include "mail/spool/keep.h"
#include "past/names.h"
#include "tools/journal/record_bodies.h"

#include "base/banned.h"

enum { BODIES_DAYS_MAX = 400, BODIES_PATH_BYTES = 4200, DAY_BYTES = 12,
	BLOCK_BYTES = 512 };		/* of st_blocks */

struct bodies_day {
	char		text[DAY_BYTES];
	int64_t		until_ms;
	uint64_t	bytes;
};

struct bodies {
	int			 dir_fd;	/* SPOOL/record */
	struct bodies_day	*days;		/* oldest first */
	size_t			 count;
	uint64_t		 bytes;		/* of all */
	unsigned		 removed;
};

static int
bodies_open(const char *spool_dir)
{
	char path[BODIES_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/" SPOOL_KEPT_DIR, spool_dir);
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void
day_text(int64_t at_ms, char out[DAY_BYTES])
{
	char text[CLOCK_TEXT_BYTES];

	clock_rfc3339(at_ms * 1000, text);
	snprintf(out, DAY_BYTES, "%.10s", text);
}

/* "2026-11-20", as a name of the journal has its day. */
static bool
bodies_day_parse(const char *text, int64_t *out_until_ms)
{
	char alike[JOURNAL_NAME_BYTES];
	struct journal_name name;

	if (strlen(text) != DAY_BYTES - 2)
		return false;
	snprintf(alike, sizeof(alike), "events-%s.jsonl", text);
	if (!journal_name_parse(alike, &name))
		return false;
	*out_until_ms = name.until_ms;
	return true;
}

/* ---- each file of a day ------------------------------------------------- */

typedef bool body_fn(void *context, int day_fd, const char *name);

static DIR *
day_dir(int at_fd, const char *name)
{
	int fd = openat(at_fd, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL && fd >= 0)
		close(fd);
	return dir;
}

/* Until fn returns false. */
static void
day_each(int at_fd, const char *name, body_fn *fn, void *context)
{
	DIR *dir = day_dir(at_fd, name);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' &&
		    !fn(context, dirfd(dir), entry->d_name))
			break;
	if (dir != NULL)
		closedir(dir);
}

static bool
body_count(void *context, int day_fd, const char *name)
{
	struct bodies_day *day = context;
	struct stat st;

	if (fstatat(day_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		uint64_t on_disk = (uint64_t)st.st_blocks * BLOCK_BYTES;

		day->bytes += on_disk > (uint64_t)st.st_size ? on_disk :
		    (uint64_t)st.st_size;
	}
	return true;
}

/* Row K1 ends: the message, when it is still under way, has its own name, and
 * no mark that would hide a second one. */
static bool
body_remove(void *context, int day_fd, const char *name)
{
	struct bodies *bodies = context;
	int fd = openat(day_fd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st, day;

	if (unlinkat(day_fd, name, 0) == 0)
		bodies->removed++;
	if (fd >= 0 && fstat(fd, &st) == 0 && fstat(day_fd, &day) == 0 &&
	    S_ISREG(st.st_mode) && st.st_uid == day.st_uid &&
	    st.st_nlink > 0)
		(void)fchmod(fd, st.st_mode & 0777 & ~(mode_t)S_IXGRP);
	if (fd >= 0)
		close(fd);
	return bodies->removed < RECORD_BODIES_ROUND_MAX;
}

/* ---- the days ----------------------------------------------------------- */

static int
day_compare(const void *left, const void *right)
{
	const struct bodies_day *a = left, *b = right;

	return strcmp(a->text, b->text);
}

static void
bodies_list(struct bodies *bodies)
{
	DIR *dir = day_dir(bodies->dir_fd, ".");
	struct dirent *entry;
	int64_t until_ms;

	bodies->days = mem_alloc(BODIES_DAYS_MAX, sizeof(*bodies->days));
	while (dir != NULL && (entry = readdir(dir)) != NULL &&
	    bodies->count < BODIES_DAYS_MAX) {
		struct bodies_day *day = &bodies->days[bodies->count];

		if (!bodies_day_parse(entry->d_name, &until_ms))
			continue;
		*day = (struct bodies_day){ .until_ms = until_ms };
		strlcpy(day->text, entry->d_name, sizeof(day->text));
		day_each(bodies->dir_fd, day->text, body_count, day);
		bodies->bytes += day->bytes;
		bodies->count++;
	}
	if (dir != NULL)
		closedir(dir);
	qsort(bodies->days, bodies->count, sizeof(*bodies->days),
	    day_compare);
}

static mode_t
day_mode(const struct bodies *bodies, const struct bodies_day *day)
{
	struct stat st;

	return fstatat(bodies->dir_fd, day->text, &st, AT_SYMLINK_NOFOLLOW) ==
	    0 ? st.st_mode : 0;
}

static void
day_set_mode(const struct bodies *bodies, const struct bodies_day *day,
    mode_t mode)
{
	int fd = openat(bodies->dir_fd, day->text,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fchmod(fd, mode) != 0)
		warning("cannot change " SPOOL_KEPT_DIR "/%s: %s", day->text,
		    strerror(errno));
	close(fd);
}

static void
day_remove(struct bodies *bodies, const struct bodies_day *day)
{
	if (bodies->removed >= RECORD_BODIES_ROUND_MAX)
		return;
	if ((day_mode(bodies, day) & S_IWUSR) == 0)
		day_set_mode(bodies, day, 0700);
	day_each(bodies->dir_fd, day->text, body_remove, bodies);
	if (bodies->removed >= RECORD_BODIES_ROUND_MAX)
		return;			/* the rest counts until it is gone */
	bodies->bytes -= day->bytes;
	if (unlinkat(bodies->dir_fd, day->text, AT_REMOVEDIR) != 0)
		warning("cannot remove " SPOOL_KEPT_DIR "/%s: %s", day->text,
		    strerror(errno));
}

/* Today, when all others are gone: shut, or opened. */
static void
day_shut(const struct bodies *bodies, const struct bodies_day *day,
    uint64_t most_bytes)
{
	bool is_shut = (day_mode(bodies, day) & S_IWUSR) == 0;
	bool is_full = bodies->bytes >= most_bytes;

	if (is_shut == is_full)
		return;
	day_set_mode(bodies, day, is_full ? 0500 : 0700);
	if (is_full)
		event(EV_RECORD_FULL, NULL, "day", slice_of(day->text),
		    "bytes", event_number((int64_t)bodies->bytes), "size",
		    event_number((int64_t)most_bytes), NULL);
}

static bool
bodies_are_wanted(const struct conf *conf)
{
	return conf->record_ms > 0 && conf->record_bodies_max_bytes > 0;
}

static void
bodies_bound(struct bodies *bodies, const struct conf *conf, int64_t now_ms)
{
	for (size_t i = 0; i < bodies->count; i++) {
		const struct bodies_day *day = &bodies->days[i];

		if (!bodies_are_wanted(conf) ||
		    day->until_ms <= now_ms - conf->record_ms ||
		    (day->until_ms <= now_ms &&
		    bodies->bytes > conf->record_bodies_max_bytes))
			day_remove(bodies, day);
		else if (day->until_ms > now_ms &&
		    day->until_ms <= now_ms + JOURNAL_DAY_MS)
			day_shut(bodies, day, conf->record_bodies_max_bytes);
	}
}

static void
day_make(int dir_fd, int64_t at_ms)
{
	char text[DAY_BYTES];
	struct stat st;
	int fd;

	day_text(at_ms, text);
	if (mkdirat(dir_fd, text, 0700) != 0)
		return;
	/* its owner-to-be may have put something else there meanwhile: what is
	 * given away is a directory */
	fd = openat(dir_fd, text,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(dir_fd, &st) == 0 && geteuid() == 0 &&
	    fchown(fd, st.st_uid, st.st_gid) != 0)
		warning("cannot give " SPOOL_KEPT_DIR "/%s its owner: %s",
		    text, strerror(errno));
	if (fd >= 0)
		close(fd);
}

void
record_bodies_prepare(const struct conf *conf, int64_t now_ms)
{
	int fd;

	if (!bodies_are_wanted(conf) ||
	    (fd = bodies_open(conf->spool_dir)) < 0)
		return;
	day_make(fd, now_ms);
	day_make(fd, now_ms + JOURNAL_DAY_MS);
	close(fd);
}

unsigned
record_bodies_keep(const struct conf *conf, int64_t now_ms)
{
	struct bodies bodies = { .dir_fd = bodies_open(conf->spool_dir) };

	if (bodies.dir_fd < 0)
		return 0;
	bodies_list(&bodies);
	bodies_bound(&bodies, conf, now_ms);
	mem_free(&bodies.days);
	close(bodies.dir_fd);
	record_bodies_prepare(conf, now_ms);
	return bodies.removed;
}

/* ---- one message -------------------------------------------------------- */

static bool
id_is_good(struct slice id)
{
	for (size_t i = 0; i < id.n; i++)
		if (!ascii_is_alnum(id.p[i]))
			return false;
	return id.n > 0 && id.n < SPOOL_ID_BYTES;
}

bool
record_body_find(const char *spool_dir, struct slice id, int64_t at_ms,
    struct str *out_path)
{
	static const int64_t days[] = { 0, -JOURNAL_DAY_MS, JOURNAL_DAY_MS };
	char day[DAY_BYTES];

	for (size_t i = 0; id_is_good(id) &&
	    i < sizeof(days) / sizeof(days[0]); i++) {
		day_text(at_ms + days[i], day);
		str_reset(out_path);
		str_addf(out_path, "%s/" SPOOL_KEPT_DIR "/%s/" SLICE_FMT,
		    spool_dir, day, SLICE_ARG(id));
		if (access(out_path->buf, R_OK) == 0)
			return true;
	}
	str_reset(out_path);
	return false;
}
