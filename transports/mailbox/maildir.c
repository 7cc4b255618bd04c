/* maildir.c - one file a message, in tmp/, then in new/
 *
 * In     a Maildir's path, its owner, a message
 * Out    new/<time>.Z<spool id>R<recipient>.<host>,S=<bytes>, durable
 * Holds  deliveries written and not yet synced, their descriptors
 * Trusts the owner with the owner's own directory, nobody else: new/ must
 *        be a directory of the owner that strangers cannot write
 * Spec   zmailer-mailbox(8), Maildir
 *
 * The order is tmp/ file, its write-back begun (of several together), rename
 * to new/, fsync of the file, verdict.  An fsync after the rename makes
 * contents and name durable together (ext4, XFS, btrfs); `sync strict` adds
 * one of new/.  Power that fails in between may leave a file in new/ that is
 * not whole: the message is delivered again, and since its name there is made
 * of its spool id and the recipient's number, the whole one takes that place.
 * System calls a delivery: open new/, fstat, openat, (pread,) writev,
 * (sync_file_range,) renameat, fsync, close, close.
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
#include "base/pid.h"
#include "mail/spool/spool.h"
#include "transports/mailbox/mailbox.h"
#include "transports/mailbox/quota.h"
#include "transports/mailbox/roots.h"

#include "base/banned.h"

enum { NAME_BYTES = 256 };

struct pending {
	struct account	 owner;
	char		*path;		/* of the Maildir */
	char		 name[NAME_BYTES];	/* in tmp/ */
	char		 full[NAME_BYTES];	/* in new/ */
	int		 new_fd;
	bool		 owns_new;	/* new_fd is ours to close */
	int		 file_fd;
	int		 size_fd;	/* maildirsize; -1: there is none */
	uint64_t	 bytes;
	struct verdict	*verdict;
	bool		 is_bad;
};

static struct pending pendings[MAILDIR_PENDING_MAX];
static size_t pending_count;
static char host_name[128] = "localhost";
static enum conf_sync how_synced;

void
maildir_setup(const char *host, enum conf_sync sync)
{
	size_t n = 0;

	for (; *host != '\0' && n + 1 < sizeof(host_name); host++)
		host_name[n++] = *host == '/' || *host == ':' ||
		    *host == ',' || *host <= ' ' ? '_' : *host;
	host_name[n] = '\0';
	how_synced = sync;
}

/* In tmp/: no two deliveries agree, also of one message. */
static void
maildir_make_tmp_name(char out[NAME_BYTES])
{
	static unsigned count;
	int64_t now_us = clock_wall_us();

	snprintf(out, NAME_BYTES, "%lld.M%06dP%ldQ%u.%s",
	    (long long)(now_us / 1000000), (int)(now_us % 1000000),
	    (long)pid_own(), ++count, host_name);
}

/* In new/: the same whenever this message comes to this recipient. */
static void
maildir_make_new_name(const struct delivery *delivery, uint64_t bytes,
    char out[NAME_BYTES])
{
	int64_t accepted_us = spool_id_time_us(slice_of(delivery->id));

	snprintf(out, NAME_BYTES, "%lld.Z%sR%u.%s,S=%llu",
	    (long long)(accepted_us / 1000000), delivery->id, delivery->rcpt,
	    host_name, (unsigned long long)bytes);
}

/* Its mail shall lie apart from that of others and from the spool, where
 * ext4 may have to step over many removed files to make one. */
static void
maildir_set_apart(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	spool_spread_flag(fd);
	close(fd);
}

/* Their names in the Maildir, before there is new/: btrfs makes a message in
 * new/ durable, and new/ with it, but nothing beside them. */
static void
maildir_sync_parts(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (how_synced != SYNC_UNSAFE && fsync(fd) != 0)
		warning("fsync %s: %s", path, strerror(errno));
	close(fd);
}

/* What is not there yet of a Maildir; parents are not made.  new/ is last:
 * who finds it finds the others. */
static int
maildir_make(const struct pending *pending, const char *base, struct err *err)
{
	static const char *const parts[] = { "", "/tmp", "/cur", "/new" };
	const size_t last = sizeof(parts) / sizeof(parts[0]) - 1;
	const char *path = pending->path;
	char name[MAILBOX_PATH_BYTES + 8];

	if (base != NULL && parents_make(path, base, &pending->owner,
	    err) < 0)
		return -1;
	if (mkdir(path, 0700) != 0 && errno == EACCES && base != NULL &&
	    account_is_root() && roots_make_directory(path, base, 0700,
	    &pending->owner, err) < 0)
		return -1;
	maildir_set_apart(path);
	for (size_t i = 0; i <= last; i++) {
		if (i == last)
			maildir_sync_parts(path);
		snprintf(name, sizeof(name), "%s%s", path, parts[i]);
		if (mkdir(name, 0700) != 0 && errno != EEXIST)
			return err_sys(err, "make %s", name);
	}
	return 0;
}

static int
maildir_check_new(int fd, const char *path, const struct account *owner,
    struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_sys(err, "%s/new", path);
	errno = EPERM;
	if (st.st_uid != owner->uid)
		return err_set(err, "%s/new belongs to uid %ld, not to %ld",
		    path, (long)st.st_uid, (long)owner->uid);
	if (st.st_mode & S_IWOTH)
		return err_set(err, "%s/new can be written by everybody",
		    path);
	return 0;
}

static int
maildir_open_new(const struct pending *pending, const char *base,
    struct err *err)
{
	const char *path = pending->path;
	char name[MAILBOX_PATH_BYTES + 8];
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd, kept;

	snprintf(name, sizeof(name), "%s/new", path);
	fd = open(name, flags);
	if (fd < 0 && errno == ENOENT) {
		if (maildir_make(pending, base, err) < 0)
			return -1;
		fd = open(name, flags);
	}
	if (fd < 0)
		return err_sys(err, "%s", name);
	if (maildir_check_new(fd, path, &pending->owner, err) == 0)
		return fd;
	kept = errno;
	close(fd);
	errno = kept;
	return -1;
}

/* A neighbour in this batch may have the same Maildir open. */
static int
maildir_find_new(struct pending *pending, const char *base, struct err *err)
{
	for (size_t i = 0; i < pending_count; i++)
		if (strcmp(pendings[i].path, pending->path) == 0 &&
		    pendings[i].owner.uid == pending->owner.uid) {
			pending->new_fd = pendings[i].new_fd;
			return 0;
		}
	pending->new_fd = maildir_open_new(pending, base, err);
	pending->owns_new = pending->new_fd >= 0;
	return pending->owns_new ? 0 : -1;
}

static void
maildir_tmp_name(const struct pending *pending, char out[NAME_BYTES + 8])
{
	snprintf(out, NAME_BYTES + 8, "../tmp/%s", pending->name);
}

static void
maildir_remove_tmp(struct pending *pending)
{
	char tmp[NAME_BYTES + 8];
	int kept = errno;

	maildir_tmp_name(pending, tmp);
	(void)unlinkat(pending->new_fd, tmp, 0);
	errno = kept;
}

/* Deliveries to the same Maildir that nobody else can see yet count.
 * 1; 0 it does not fit; -1. */
static enum quota_answer
maildir_look_at_quota(struct pending *pending, const struct delivery *delivery,
    struct err *err)
{
	uint64_t more_bytes = 0;
	unsigned more = 0;

	for (size_t i = 0; i < pending_count; i++)
		if (pendings[i].new_fd == pending->new_fd) {
			more_bytes += pendings[i].bytes;
			more++;
		}
	return quota_of_maildir(pending->new_fd, delivery->quota,
	    content_bytes(delivery->content, delivery->trace), more_bytes,
	    more, &pending->size_fd, pending->verdict, err);
}

/* new/ is there, so tmp/ was made before it: but a power cut on btrfs, or a
 * person, may have taken it away. */
static int
maildir_open_tmp(struct pending *pending, const char *base, struct err *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	char tmp[NAME_BYTES + 8];

	maildir_make_tmp_name(pending->name);
	maildir_tmp_name(pending, tmp);
	pending->file_fd = openat(pending->new_fd, tmp, flags, 0600);
	if (pending->file_fd < 0 && errno == ENOENT) {
		if (maildir_make(pending, base, err) < 0)
			return -1;
		pending->file_fd = openat(pending->new_fd, tmp, flags, 0600);
	}
	if (pending->file_fd < 0)
		return err_sys(err, "%s/tmp", pending->path);
	return 0;
}

static int
maildir_write_tmp(struct pending *pending, const char *base,
    const struct delivery *delivery, struct err *err)
{
	uint64_t bytes;

	if (maildir_open_tmp(pending, base, err) < 0)
		return -1;
	if (content_write(delivery->content, pending->file_fd,
	    delivery->trace, &bytes, err) < 0) {
		int kept = errno;

		maildir_remove_tmp(pending);
		close(pending->file_fd);
		errno = kept;
		return err_prefix(err, "%s/tmp", pending->path);
	}
	pending->bytes = bytes;
	maildir_make_new_name(delivery, bytes, pending->full);
	return 0;
}

static void
maildir_free_pending(struct pending *pending)
{
	if (pending->size_fd >= 0)
		close(pending->size_fd);
	if (pending->owns_new)
		close(pending->new_fd);
	mem_free(&pending->path);
	memset(pending, 0, sizeof(*pending));
}

void
maildir_begin(const char *path, const struct account *owner,
    const char *base, const struct delivery *delivery,
    struct verdict *verdict)
{
	struct pending *pending;
	struct err err;
	enum quota_answer got;

	if (pending_count == MAILDIR_PENDING_MAX)
		maildir_settle();
	pending = &pendings[pending_count];
	memset(pending, 0, sizeof(*pending));
	pending->owner = *owner;
	pending->path = mem_strdup(path);
	pending->verdict = verdict;
	pending->size_fd = -1;
	got = maildir_find_new(pending, base, &err) < 0 ?
	    QUOTA_TROUBLE : maildir_look_at_quota(pending, delivery, &err);
	if (got == QUOTA_FITS && maildir_write_tmp(pending, base,
	    delivery, &err) < 0)
		got = QUOTA_TROUBLE;
	if (got == QUOTA_TROUBLE)
		mailbox_trouble(verdict, &err);
	if (got != QUOTA_FITS) {
		maildir_free_pending(pending);
		return;
	}
	verdict_set(verdict, VERDICT_DEFERRED, "4.3.0", "mailbox",
	    "not finished");
	pending_count++;
}

/* ---- settling ---------------------------------------------------------- */

/* All write-backs run side by side, and what is renamed has its bytes on
 * their way; fsync then waits.  One alone has nobody to run beside. */
static void
maildir_begin_writeback(void)
{
#ifdef HAVE_SYNC_FILE_RANGE
	for (size_t i = 0; pending_count > 1 && i < pending_count; i++)
		if (how_synced != SYNC_UNSAFE)
			(void)sync_file_range(pendings[i].file_fd, 0, 0,
			    SYNC_FILE_RANGE_WRITE);
#endif
}

static void
maildir_move_files(void)
{
	char tmp[NAME_BYTES + 8];
	struct err err;

	for (size_t i = 0; i < pending_count; i++) {
		struct pending *pending = &pendings[i];

		maildir_tmp_name(pending, tmp);
		if (account_become(&pending->owner, &err) == 0) {
			if (renameat(pending->new_fd, tmp, pending->new_fd,
			    pending->full) == 0)
				continue;
			err_sys(&err, "rename into %s/new", pending->path);
		}
		mailbox_trouble(pending->verdict, &err);
		maildir_remove_tmp(pending);
		pending->is_bad = true;
	}
}

/* It is in new/ but perhaps not for long: it comes again, so it goes. */
static void
maildir_take_back(struct pending *pending, const struct err *err)
{
	int kept = errno;
	struct err ignored;

	if (account_become(&pending->owner, &ignored) == 0)
		(void)unlinkat(pending->new_fd, pending->full, 0);
	errno = kept;
	mailbox_trouble(pending->verdict, err);
	pending->is_bad = true;
}

/* The mail's own fsync, of its bytes and its name: done once, never tried
 * again (INTERNALS section 2: a failed fsync is not repeated). */
static void
maildir_sync_files(void)
{
	struct err err;

	for (size_t i = 0; i < pending_count; i++) {
		struct pending *pending = &pendings[i];

		if (!pending->is_bad && how_synced != SYNC_UNSAFE &&
		    fsync(pending->file_fd) != 0) {
			err_sys(&err, "fsync %s/new", pending->path);
			maildir_take_back(pending, &err);
		}
		close(pending->file_fd);
	}
}

/* `sync strict`, for file systems of which we know nothing: one fsync a
 * directory makes all its renames durable. */
static void
maildir_sync_directories(void)
{
	struct err err;

	for (size_t i = 0; i < pending_count; i++) {
		struct pending *pending = &pendings[i];

		if (!pending->owns_new || fsync(pending->new_fd) == 0)
			continue;
		err_sys(&err, "fsync %s/new", pending->path);
		for (size_t k = i; k < pending_count; k++)
			if (pendings[k].new_fd == pending->new_fd &&
			    !pendings[k].is_bad)
				maildir_take_back(&pendings[k], &err);
	}
}

static void
maildir_delivered(struct pending *pending)
{
	struct err ignored;

	verdict_set(pending->verdict, VERDICT_DELIVERED, "2.0.0", "mailbox",
	    "delivered to Maildir");
	if (pending->size_fd < 0)
		return;
	(void)account_become(&pending->owner, &ignored);
	quota_tell(pending->new_fd, pending->size_fd, pending->bytes);
	pending->size_fd = -1;
}

void
maildir_settle(void)
{
	maildir_begin_writeback();
	maildir_move_files();
	maildir_sync_files();
	if (how_synced == SYNC_STRICT)
		maildir_sync_directories();
	for (size_t i = 0; i < pending_count; i++) {
		struct pending *pending = &pendings[i];

		if (!pending->is_bad)
			maildir_delivered(pending);
	}
	for (size_t i = 0; i < pending_count; i++)
		maildir_free_pending(&pendings[i]);
	pending_count = 0;
}
