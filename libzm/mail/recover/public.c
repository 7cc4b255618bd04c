/* public.c - recovery of submissions: rows S0, S1, S3, S4
 *
 * In     the files of public/
 * Out    complete ones in router/, unfinished old ones gone, those of
 *        other users copied in
 * Trusts a complete first line and its checksum, nothing else
 * Spec   doc/INTERNALS.md section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "mail/recover/internal.h"
#include "mail/spool/imports.h"
#include "mail/spool/keep.h"
#include "mail/control_file/window.h"

#include "base/banned.h"

/* Can nobody be at it, because those who were have ended? */
static bool
is_left(const struct recover *r, const struct stat *st)
{
	return (r->mode & RECOVERY_START) != 0 ||
	    ((r->mode & RECOVERY_ROUTED) != 0 && recover_is_settled(r, st));
}

static bool
is_older(const struct recover *r, const struct stat *st, int64_t seconds)
{
	return is_left(r, st) || clock_since_s(st->st_ctime) >= seconds;
}

struct told_of {		/* the message that a report tells of */
	struct recover	*r;
	const char	*id;
	char		 control[SPOOL_NAME_BYTES];
	bool		 is_there;
};

/* spool_entry_fn */
static bool
told_note(void *context, const char *name, ino_t inode)
{
	struct told_of *told = context;
	const struct place place = { AREA_TRANSPORT, 0, name };
	char id[SPOOL_ID_BYTES];

	if (!recover_control_id(told->r, place, id) ||
	    strcmp(id, told->id) != 0)
		return true;
	told->is_there = true;
	snprintf(told->control, sizeof(told->control), "%s", name);
	return false;
}

/* Its control file has the inode number that its id tells, unless the message
 * was encoded, restored or came from elsewhere: then all are looked through,
 * which happens where a report lies there, in few starts. */
static bool
told_find(struct told_of *told)
{
	char usual[SPOOL_NAME_BYTES];

	if (recover_find_queued(told->r, AREA_TRANSPORT,
	    spool_id_inode(slice_of(told->id)), usual) &&
	    !told_note(told, usual, 0))
		return true;
	(void)spool_scan_entries(told->r->spool, AREA_TRANSPORT, 0, told_note,
	    told, NULL);
	return told->is_there;
}

/* How many records of reports the control file of id has, some of its
 * recipients at a time.  false: it is not that, or cannot be read. */
static bool
report_records_count(int fd, struct slice id, uint64_t *out)
{
	struct control_windows *windows;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct control_file window;
	bool is_read = control_windows_open(fd, NULL, &windows, NULL) ==
	    CONTROL_WINDOWS_GOOD &&
	    slice_is(id, control_windows_common(windows)->id);

	*out = 0;
	for (size_t i = 0; is_read && control_windows_have_reports(windows) &&
	    i < control_windows_count(windows); i++) {
		arena_reset(arena);
		is_read = control_windows_read(windows, i, arena, &text,
		    &window, NULL) == 0;
		if (is_read)
			*out += window.report_records;
	}
	control_windows_free(&windows);
	arena_free(&arena);
	str_release(&text);
	return is_read;
}

/* Row S3: "dsn-<id>-<k>": has the control file of id more than k report
 * records, or is it gone?  Then the report is to go out. */
static bool
report_is_owed(struct recover *r, const char *name)
{
	struct slice rest = slice_from(slice_of(name), 4), id, digits;
	char told_id[SPOOL_ID_BYTES];
	struct told_of told = { .r = r, .id = told_id };
	uint64_t k, records;
	int fd;
	bool is_owed = true;

	if (!slice_cut(&rest, '-', &id) || !slice_cut(&rest, '-', &digits) ||
	    !spool_id_is(id) || !slice_number(digits, 0, UINT32_MAX, &k))
		return true;
	snprintf(told_id, sizeof(told_id), SLICE_FMT, SLICE_ARG(id));
	if (!told_find(&told))
		return true;
	fd = spool_open_file(r->spool->area_fd[AREA_TRANSPORT], told.control,
	    O_RDONLY);
	if (fd < 0)
		return true;
	if (report_records_count(fd, id, &records))
		is_owed = records > k;
	close(fd);
	return is_owed;
}

struct original {
	ino_t		 inode;
	int64_t		 ctime_s;
	long		 ctime_ns;
	struct recover	*r;
};

/* Row S4: both the copy and its original are here: the original goes. */
static bool
drop_if_original(void *context, const char *name, ino_t inode)
{
	struct original *original = context;
	struct recover *r = original->r;
	struct stat st;

	if (fstatat(r->spool->area_fd[AREA_PUBLIC], name, &st,
		AT_SYMLINK_NOFOLLOW) != 0 || st.st_ino != original->inode ||
	    st.st_ctim.tv_sec != original->ctime_s ||
	    st.st_ctim.tv_nsec != original->ctime_ns)
		return true;
	recover_remove(r, &r->out->copied_in, NULL,
	    (struct place){ AREA_PUBLIC, 0, name },
	    "its copy is durable (S4)");
	return false;
}

static void
drop_original(struct recover *r, const char *copy_name)
{
	struct original original = { .r = r };
	intmax_t seconds;
	uintmax_t inode;

	if (sscanf(copy_name + strlen(SPOOL_COPY_OF), "%ju-%jd-%ld", &inode,
		&seconds, &original.ctime_ns) != 3)
		return;
	original.inode = (ino_t)inode;
	original.ctime_s = seconds;
	spool_scan_entries(r->spool, AREA_PUBLIC, 0, drop_if_original,
	    &original, NULL);
}

/* Row L2: what milters have seen is durable, the original goes.  Where it goes
 * itself stands in its name. */
static void
seen_adopt(struct recover *r, const char *name, int fd, const struct stat *st)
{
	bool is_frozen = slice_starts(slice_of(name), SPOOL_SEEN_FROZEN);
	const struct place place = { AREA_PUBLIC, 0, name };
	char original[SPOOL_NAME_BYTES];
	char id[SPOOL_ID_BYTES], its[SPOOL_ID_BYTES];
	uintmax_t inode;
	int old = -1;

	if (sscanf(name + strlen(is_frozen ? SPOOL_SEEN_FROZEN :
	    SPOOL_SEEN_OF), "%ju-", &inode) == 1) {
		snprintf(original, sizeof(original), "%ju.milter", inode);
		old = spool_open_file(r->spool->area_fd[AREA_DEFERRED],
		    original, O_RDONLY);
	}
	if (old >= 0 && spool_read_id(fd, id) && spool_read_id(old, its) &&
	    strcmp(id, its) == 0)
		recover_remove(r, &r->out->copied_in, id,
		    (struct place){ AREA_DEFERRED, 0, original },
		    "milters have seen it, that copy is durable (L2)");
	if (old >= 0)
		close(old);
	if (is_frozen) {
		snprintf(original, sizeof(original), "%ju.milter",
		    (uintmax_t)st->st_ino);
		recover_move(r, &r->out->adopted, NULL, place,
		    (struct place){ AREA_FREEZER, 0, original },
		    "set aside by a milter (L3)");
	} else {
		recover_route(r, &r->out->adopted, NULL, place, fd,
		    st->st_ino, "milters have seen it (L3)");
	}
}

struct first {			/* the message that a draft encodes */
	struct recover	*r;
	enum spool_area	 area;
	unsigned	 priority;
	ino_t		 inode;
	const char	*id;
	bool		 is_there;
};

/* spool_entry_fn */
static bool
first_note(void *context, const char *name, ino_t inode)
{
	struct first *first = context;
	const struct place place = { first->area, first->priority, name };
	char id[SPOOL_ID_BYTES];
	int fd;

	if (inode != first->inode)
		return true;
	fd = spool_open_file(spool_dir_fd(first->r->spool, place.area,
	    place.priority), name, O_RDONLY);
	if (fd < 0)
		return true;
	first->is_there = spool_read_id(fd, id) && strcmp(id, first->id) == 0;
	close(fd);
	return !first->is_there;
}

/* Is it anywhere, routed or not?  What cannot be looked through may have
 * it. */
static bool
first_is_there(struct first *first)
{
	static const enum spool_area areas[] = { AREA_ROUTER, AREA_PUBLIC,
		AREA_DEFERRED, AREA_FREEZER, AREA_POSTMAN };
	char body[SPOOL_NAME_BYTES];

	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		unsigned count = areas[i] == AREA_ROUTER ? SPOOL_PRIORITIES :
		    1;

		first->area = areas[i];
		for (first->priority = 0; first->priority < count;
		    first->priority++)
			if (spool_scan_entries(first->r->spool, first->area,
			    first->priority, first_note, first, NULL) != 0 ||
			    first->is_there)
				return true;
	}
	return recover_find_queued(first->r, AREA_QUEUE, first->inode, body);
}

/* Row C2: the first is there, and this draft is nobody's.  Only after a power
 * cut that kept one half of the rename it is not: this is the only one. */
static void
encoded_adopt(struct recover *r, const char *name, int fd,
    const struct stat *st)
{
	const struct place place = { AREA_PUBLIC, 0, name };
	char id[SPOOL_ID_BYTES] = "";
	struct first first = { .r = r, .id = id };
	uintmax_t inode = 0;

	(void)sscanf(name + strlen(SPOOL_ENCODED_OF), "%ju-", &inode);
	first.inode = (ino_t)inode;
	if ((r->mode & RECOVERY_START) == 0 || !spool_read_id(fd, id) ||
	    first_is_there(&first))
		recover_remove(r, &r->out->swept, NULL, place,
		    "its message is there as it came (C2)");
	else
		recover_route(r, &r->out->adopted, id, place, fd, st->st_ino,
		    "what it encodes is gone (C2)");
}

/* Row S1: complete, so somebody may have been told 250: into router/. */
static void
public_adopt(struct recover *r, const char *name, int fd, const struct stat *st)
{
	char id[SPOOL_ID_BYTES] = "";

	if (slice_starts(slice_of(name), "dsn-") && !report_is_owed(r, name)) {
		recover_remove(r, &r->out->swept, NULL,
		    (struct place){ AREA_PUBLIC, 0, name },
		    "a report that is not recorded, to be written again (S3)");
		return;
	}
	if (slice_starts(slice_of(name), SPOOL_ENCODED_OF)) {
		encoded_adopt(r, name, fd, st);
		return;
	}
	if (slice_starts(slice_of(name), SPOOL_SEEN_OF)) {
		seen_adopt(r, name, fd, st);
		return;
	}
	if (slice_starts(slice_of(name), SPOOL_IMPORT_OF)) {
		recover_import(r, name, fd, st);
		return;
	}
	if (slice_starts(slice_of(name), SPOOL_COPY_OF))
		drop_original(r, name);
	recover_route(r, &r->out->adopted, spool_read_id(fd, id) ? id : NULL,
	    (struct place){ AREA_PUBLIC, 0, name }, fd, st->st_ino,
	    "complete (S1)");
}

/* What a submitter left complete is adopted when it has lain a while; a
 * report of a running scheduler only if its record says that nothing but
 * the rename was left to do (S3). */
static bool
may_adopt(struct recover *r, const char *name, const struct stat *st)
{
	if (is_left(r, st))
		return true;
	return is_older(r, st, ADOPT_OLD_S) &&
	    (!slice_starts(slice_of(name), "dsn-") ||
	    report_is_owed(r, name));
}

static void
own_draft(struct recover *r, const char *name, int fd, const struct stat *st)
{
	const struct place place = { AREA_PUBLIC, 0, name };
	struct err err;
	int is_complete;
	ino_t body;

	if (spool_links(st) > 1) {
		recover_twin(r, place, st);
		return;
	}
	if (spool_import_control_is(name, &body)) {	/* no message */
		if (is_older(r, st, ADOPT_OLD_S))
			recover_import_control(r, name);
		return;
	}
	is_complete = spool_is_complete(fd, &err);
	if (is_complete < 0)
		recover_trouble(r, spool_label(AREA_PUBLIC, 0, name), "read",
		    err.text);
	else if (is_complete == 1 && may_adopt(r, name, st))
		public_adopt(r, name, fd, st);
	else if (is_complete == 0 && is_older(r, st, DRAFT_OLD_S))
		recover_remove(r, &r->out->swept, NULL, place,
		    "unfinished, and nobody writes it (S0)");
}

/* A submission that cannot be taken (its envelope is bad, it has two links)
 * may have been promised to its writer: a person looks at it. */
static void
shelve_foreign(struct recover *r, const char *name, const struct stat *st,
    const char *reason)
{
	char target[SPOOL_NAME_BYTES];

	snprintf(target, sizeof(target), "%ju.submission",
	    (uintmax_t)st->st_ino);
	recover_move(r, &r->out->copied_in, NULL,
	    (struct place){ AREA_PUBLIC, 0, name },
	    (struct place){ AREA_POSTMAN, 0, target }, reason);
}

/* Row S4.  An unfinished one is swept only by age, also at start: its
 * writer may be a user's program that holds no lock.  fd is ours, locked. */
static void
foreign_draft(struct recover *r, const char *name, int fd,
    const struct stat *st)
{
	bool is_old = clock_since_s(st->st_ctime) >= DRAFT_OLD_S;
	const char *label = spool_label(AREA_PUBLIC, 0, name);
	struct err err;
	int taken;

	flock(fd, LOCK_UN);		/* spool_copy_in takes it */
	taken = recover_acts(r) ? spool_copy_in(r->spool, name, &err) :
	    spool_copy_look(r->spool, name, &err);
	if (taken == 1)
		recover_note(r, &r->out->copied_in, NULL, label, "router/",
		    "a submission of another user (S4)");
	else if (taken < 0 && is_old)
		shelve_foreign(r, name, st, err.text);
	else if (taken < 0 && recover_is_full(r))
		recover_trouble(r, label, "copy", err.text);
	else if (taken == 0 && is_old && flock(fd, LOCK_EX | LOCK_NB) == 0)
		recover_remove(r, &r->out->swept, NULL,
		    (struct place){ AREA_PUBLIC, 0, name },
		    "unfinished, and nobody writes it (S4)");
}

/* What a stranger made that is no file, or that he hides from us as long as
 * nobody writes a message: no mail, and nobody was promised anything. */
static bool
foreign_clutter(struct recover *r, const char *name)
{
	const struct place place = { AREA_PUBLIC, 0, name };
	int dir = r->spool->area_fd[AREA_PUBLIC];
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    spool_is_own(st.st_uid) || (S_ISREG(st.st_mode) &&
	    (faccessat(dir, name, R_OK, AT_EACCESS) == 0 ||
	    clock_since_s(st.st_ctime) < DRAFT_OLD_S)))
		return false;
	if (!S_ISDIR(st.st_mode))
		return recover_remove(r, &r->out->swept, NULL, place,
		    "it is no submission (S4)");
	if (!recover_acts(r) || unlinkat(dir, name, AT_REMOVEDIR) != 0)
		return false;
	recover_note(r, &r->out->swept, NULL,
	    spool_label(AREA_PUBLIC, 0, name), "", "it is no submission (S4)");
	return true;
}

static bool
is_report(const char *name, ino_t inode)
{
	return slice_starts(slice_of(name), "dsn-");
}

/* Looked at after the messages, which take theirs along. */
static bool
is_import_control(const char *name, ino_t inode)
{
	ino_t body;

	return spool_import_control_is(name, &body);
}

static bool
is_other(const char *name, ino_t inode)
{
	return !is_report(name, inode) && !is_import_control(name, inode);
}

static int
public_mend(struct recover *r, bool (*keep)(const char *name, ino_t inode),
    struct err *err)
{
	struct name_list list;
	int result = recover_list(r, AREA_PUBLIC, 0, keep, &list, err);

	for (size_t i = 0; result == 0 && i < list.count; i++) {
		struct place place = { AREA_PUBLIC, 0, list.names[i] };
		struct stat st;
		int fd;

		if (foreign_clutter(r, place.name))
			continue;
		fd = recover_open(r, place, &st);
		if (fd < 0)
			continue;
		if (spool_is_own(st.st_uid))
			own_draft(r, place.name, fd, &st);
		else if ((r->mode & (RECOVERY_UNROUTED |
		    RECOVERY_ROUTED)) == 0)
			foreign_draft(r, place.name, fd, &st);
		close(fd);
	}
	mem_free(&list.names);
	return result;
}

int
recover_public(struct recover *r, struct err *err)
{
	if (public_mend(r, is_other, err) != 0)
		return -1;
	return public_mend(r, is_import_control, err);
}

int
recover_reports(struct recover *r, struct err *err)
{
	return public_mend(r, is_report, err);
}
