/* take.c - the spool into an archive, while mail moves in it
 *
 * In     a spool, with the daemons running or not
 * Out    each message at least once, control files after their messages
 * Holds  a key and a word for each message met
 * Trusts no directory to stay as it is.  Areas are read in the order in which
 *        mail moves, so mail that moves on is met again later; mail that
 *        moves back, or was made by an outcome that was read (a report, a
 *        forwarded mail), is met by the next pass
 * Spec   doc/INTERNALS.md section 10; zmailer-backup(8)
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
#include "mail/control_file/control_file.h"
#include "tools/zmailer/backup/backup.h"

#include "base/banned.h"

enum { HAS_BODY = 1, HAS_CONTROL = 2 };		/* flags of a key */

struct take {
	struct spool	*spool;
	struct archive	*archive;
	struct taken	*out;
	struct seen	*seen;
	enum spool_area	 area;
	unsigned	 priority;
	int64_t		 start_us;
	bool		 has_older;	/* this pass found what was there
					 * before the backup began */
	struct str	 control;
};

static int
backup_control_open(const struct take *take, enum spool_area area,
    const char *name)
{
	return openat(spool_dir_fd(take->spool, area, 0), name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* A control file as it is now.  Its outcomes may have had children that
 * this pass has gone past. */
static void
control_add(struct take *take, const char *member, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || control_file_read(fd,
	    CONTROL_BYTES_MAX, &take->control, NULL) != 0) {
		take->out->damaged++;
		return;
	}
	if (control_file_head_bytes(str_slice(&take->control)) <
	    take->control.len)
		take->has_older = true;
	(void)archive_add_text(take->archive, member,
	    str_slice(&take->control), 0660, st.st_mtime);
}

static void
body_add(struct take *take, const char *member, int fd,
    const struct stat *st)
{
	struct tar_head head = { .size_bytes = (uint64_t)st->st_size,
	    .mode = st->st_mode & 07777, .mtime_s = st->st_mtime };
	bool is_whole;

	if (spool_was_frozen(fd))
		head.mode |= S_IXUSR;

	snprintf(head.name, sizeof(head.name), "%s", member);
	if (archive_add_file(take->archive, &head, fd, &is_whole) != 0 &&
	    !take->archive->is_bad) {
		fprintf(stderr, "zmailer: backup: %s is left out: %s\n",
		    member, strerror(errno));
		is_whole = false;
	}
	take->out->damaged += !is_whole;
}

static bool
backup_is_older(const struct take *take, const char *key)
{
	return !spool_id_is(slice_of(key)) ||
	    spool_id_time_us(slice_of(key)) <= take->start_us;
}

/* The message when it is met for the first time, its control file when there
 * is one for the first time. */
static void
backup_pair_add(struct take *take, const char *key, const char *member, int fd,
    const struct stat *st, const char *control_member, int control_fd)
{
	unsigned *flags = seen_at(take->seen, key);

	if ((*flags & HAS_BODY) == 0) {
		*flags |= HAS_BODY;
		take->out->messages++;
		take->out->by_area[take->area]++;
		if (backup_is_older(take, key))
			take->has_older = true;
		body_add(take, member, fd, st);
	}
	if (control_fd < 0 || (*flags & HAS_CONTROL) != 0)
		return;
	*flags |= HAS_CONTROL;
	control_add(take, control_member, control_fd);
}

/* ---- what waits to be routed: public/, router/ -------------------------- */

static void
area_label(const struct take *take, char *out, size_t size)
{
	if (take->area == AREA_PUBLIC || take->priority == 0)
		snprintf(out, size, "%s", spool_area_names[AREA_ROUTER]);
	else
		snprintf(out, size, "%s.%u", spool_area_names[AREA_ROUTER],
		    take->priority);
}

static bool
take_unrouted(void *context, const char *name, int fd)
{
	struct take *take = context;
	char key[BACKUP_KEY_BYTES], member[TAR_NAME_BYTES], label[32];
	const char *base = strrchr(name, '/');
	struct stat st;

	base = base == NULL ? name : base + 1;
	if (*base == '.' || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (take->area == AREA_PUBLIC && spool_is_complete(fd, NULL) !=
	    SPOOL_FILE_WHOLE) ||
	    !backup_key(fd, key))
		return !take->archive->is_bad;
	area_label(take, label, sizeof(label));
	snprintf(member, sizeof(member), BACKUP_SPOOL "%s/%s", label, key);
	backup_pair_add(take, key, member, fd, &st, "", -1);
	return !take->archive->is_bad;
}

/* ---- queue/ and transport/ ---------------------------------------------- */

static bool
backup_is_of(int control_fd, const char *key)
{
	char head[CONTROL_FIRST_LINE_BYTES + SPOOL_ID_BYTES + 4];
	ssize_t n = pread(control_fd, head, sizeof(head), 0);
	struct slice text = { head, n > 0 ? (size_t)n : 0 };
	char want[BACKUP_KEY_BYTES + 4];

	snprintf(want, sizeof(want), "I %s\n", key);
	return text.n > CONTROL_FIRST_LINE_BYTES && slice_starts(
	    slice_from(text, CONTROL_FIRST_LINE_BYTES), want);
}

static bool
take_routed(void *context, const char *name, int fd)
{
	struct take *take = context;
	char key[BACKUP_KEY_BYTES], member[TAR_NAME_BYTES];
	char control[TAR_NAME_BYTES];
	struct stat st;
	int control_fd;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    !backup_key(fd, key))
		return !take->archive->is_bad;
	control_fd = backup_control_open(take, AREA_TRANSPORT, name);
	if (control_fd >= 0 && !backup_is_of(control_fd, key)) {
		close(control_fd);	/* of one that is finished (F1) */
		control_fd = -1;
	}
	snprintf(member, sizeof(member), BACKUP_SPOOL "queue/%s", key);
	snprintf(control, sizeof(control), BACKUP_SPOOL "transport/%s", key);
	backup_pair_add(take, key, member, fd, &st, control, control_fd);
	if (control_fd >= 0)
		close(control_fd);
	return !take->archive->is_bad;
}

/* ---- deferred/, freezer/, postman/, trash/ --------------------------- */

static bool
take_aside(void *context, const char *name, int fd)
{
	struct take *take = context;
	char key[BACKUP_KEY_BYTES], member[TAR_NAME_BYTES];
	char control[TAR_NAME_BYTES + 8];
	struct spool_name parts;
	struct stat st;
	int control_fd;

	if (*name == '.' || !spool_name_parse(slice_of(name), &parts) ||
	    parts.why.n == 0 || slice_ends(parts.why, ".control") ||
	    fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    !backup_key(fd, key))
		return !take->archive->is_bad;
	(void)snprintf(control, sizeof(control), "%s.control", name);
	control_fd = backup_control_open(take, take->area, control);
	snprintf(member, sizeof(member), BACKUP_SPOOL "%s/%s." SLICE_FMT,
	    spool_area_names[take->area], key, SLICE_ARG(parts.why));
	snprintf(control, sizeof(control), "%s.control", member);
	backup_key_add_copy(key, parts.why);
	backup_pair_add(take, key, member, fd, &st, control, control_fd);
	if (control_fd >= 0)
		close(control_fd);
	return !take->archive->is_bad;
}

/* ---- all of it --------------------------------------------------------- */

static int
take_pass(struct take *take, struct err *err)
{
	static const struct {
		enum spool_area	 area;
		spool_file_fn	*fn;
	} rows[] = {		/* the way that mail goes */
		{ AREA_PUBLIC, take_unrouted }, { AREA_ROUTER, take_unrouted },
		{ AREA_QUEUE, take_routed }, { AREA_DEFERRED, take_aside },
		{ AREA_FREEZER, take_aside }, { AREA_POSTMAN, take_aside },
		{ AREA_TRASH, take_aside }
	};

	take->out->passes++;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned priorities = rows[i].area == AREA_ROUTER ?
		    SPOOL_PRIORITIES : 1;

		take->area = rows[i].area;
		for (take->priority = 0; take->priority < priorities;
		    take->priority++)
			if (spool_scan_files(take->spool, take->area,
			    take->priority, rows[i].fn, take, err) != 0)
				return -1;
	}
	if (!take->archive->is_bad)
		return 0;
	*err = take->archive->err;
	return -1;
}

/* What was ordered of destinations (row O1). */
static void
backup_orders_add(struct take *take)
{
	int fd = backup_control_open(take, AREA_TRANSPORT, SPOOL_ORDERS);

	if (fd < 0)
		return;
	if (control_file_read(fd, CONTROL_BYTES_MAX, &take->control,
	    NULL) == 0)
		(void)archive_add_text(take->archive,
		    BACKUP_SPOOL "transport/" SPOOL_ORDERS,
		    str_slice(&take->control), 0660, clock_wall_s());
	close(fd);
}

int
backup_take(struct spool *spool, struct archive *archive,
    struct taken *out, struct err *err)
{
	struct take take = { .spool = spool, .archive = archive, .out = out,
	    .start_us = clock_wall_us(), .control = STR_INIT };
	unsigned quiet = 0;
	int result;

	memset(out, 0, sizeof(*out));
	take.seen = seen_new();
	do {
		take.has_older = false;
		result = take_pass(&take, err);
		quiet = take.has_older ? 0 : quiet + 1;
	} while (result == 0 && quiet < BACKUP_QUIET &&
	    out->passes < BACKUP_PASSES_MAX);
	out->is_restless = quiet < BACKUP_QUIET;
	if (result == 0)
		backup_orders_add(&take);
	seen_free(&take.seen);
	str_release(&take.control);
	return result;
}
