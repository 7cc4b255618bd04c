/* mbox.c - many messages in one file
 *
 * In     a path, its owner, a message
 * Out    the message behind the others, durable, or nothing
 * Holds  a dotlock and a record lock for as long as it writes
 * Trusts nothing at the path: no symlink, no FIFO, no second link, no file
 *        of somebody else
 * Spec   zmailer-mailbox(8), mbox; RFC 4155
 *
 * A crash in the middle leaves a torn message at the end, which was never
 * reported; the next delivery begins on a line of its own behind it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "transports/mailbox/mailbox.h"

#include "base/banned.h"

static bool is_unsynced;

void
mbox_setup(bool unsafe_no_sync)
{
	is_unsynced = unsafe_no_sync;
}

static void
nap(int ms)
{
	struct timespec span = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&span, NULL);
}

/* ---- the dotlock ------------------------------------------------------- */

/* A lock that nobody touched for minutes is the rest of a crash. */
static void
dotlock_age(const char *lock)
{
	struct stat st;

	if (lstat(lock, &st) == 0 &&
	    clock_wall_s() - st.st_mtime > MAILBOX_LOCK_STALE_S)
		(void)unlink(lock);
}

/* returns 1 locked; 0 this directory takes no locks of ours, the record
 * lock must do; -1 somebody else has it for too long. */
static int
dotlock_take(const char *lock, struct err *err)
{
	int64_t until_ms = clock_steady_ms() + MAILBOX_LOCK_WAIT_MS;

	for (int wait_ms = 5;; wait_ms = wait_ms < 500 ? wait_ms * 2 : 500) {
		int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);

		if (fd >= 0) {
			close(fd);
			return 1;
		}
		if (errno == EACCES || errno == EPERM || errno == EROFS)
			return 0;
		if (errno != EEXIST)
			return err_sys(err, "%s", lock);
		dotlock_age(lock);
		if (clock_steady_ms() >= until_ms)
			return err_set(err, "%s: the mailbox is locked by "
			    "another program", lock);
		nap(wait_ms);
	}
}

/* ---- the file ---------------------------------------------------------- */

/* Root makes a missing file for its owner, where only root could have put
 * something else in the way: O_EXCL, in a directory given by the
 * configuration. */
static int
create_for(const char *path, const struct account *owner, struct err *err)
{
	int fd;

	account_back();
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (fd >= 0 && fchown(fd, owner->uid, owner->gid) != 0) {
		err_sys(err, "give %s to its owner", path);
		(void)unlink(path);
		close(fd);
		fd = -1;
	} else if (fd < 0) {
		err_sys(err, "%s", path);
	}
	if (account_become(owner, err) < 0 && fd >= 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int
file_open(const char *path, const struct account *owner, bool may_create,
    struct err *err)
{
	/* O_NONBLOCK: a FIFO in the way must not hold us */
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EACCES && may_create && account_is_root())
		fd = create_for(path, owner, err);
	else if (fd < 0 && (errno == ELOOP || errno == EMLINK)) {
		errno = EPERM;
		return err_set(err, "%s is a symbolic link: refused", path);
	} else if (fd < 0)
		return err_sys(err, "%s", path);
	return fd;
}

static int
file_check(int fd, const char *path, const struct account *owner,
    struct stat *out_st, struct err *err)
{
	if (fstat(fd, out_st) != 0)
		return err_sys(err, "%s", path);
	errno = EPERM;
	if (!S_ISREG(out_st->st_mode))
		return err_set(err, "%s is no regular file: refused", path);
	if (out_st->st_nlink != 1)
		return err_set(err, "%s has %ld links: refused", path,
		    (long)out_st->st_nlink);
	if (out_st->st_uid != owner->uid)
		return err_set(err, "%s belongs to uid %ld, not to %ld: "
		    "refused", path, (long)out_st->st_uid, (long)owner->uid);
	return 0;
}

static int
record_lock(int fd, const char *path, struct err *err)
{
	int64_t until_ms = clock_steady_ms() + MAILBOX_LOCK_WAIT_MS;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	for (int wait_ms = 5;; wait_ms = wait_ms < 500 ? wait_ms * 2 : 500) {
		if (fcntl(fd, F_SETLK, &lock) == 0)
			return 0;
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return err_sys(err, "lock %s", path);
		if (clock_steady_ms() >= until_ms)
			return err_set(err, "%s: the mailbox is locked by "
			    "another program", path);
		nap(wait_ms);
	}
}

/* The path leads to the open file and is its only name.  Asked more than
 * once: lstat looks the name up first and counts the links afterwards, so
 * that one answer can be put together from two moments. */
static bool
is_only_name(const char *path, const struct stat *opened, struct stat *now)
{
	for (int i = 0; i < 3; i++)
		if (lstat(path, now) != 0 || now->st_ino != opened->st_ino ||
		    now->st_dev != opened->st_dev || now->st_nlink != 1)
			return false;
	return true;
}

/* Open, check, lock; and once more when the file was replaced while we
 * waited for the lock. */
static int
file_lock(const char *path, const struct account *owner, bool may_create,
    struct stat *out_st, struct err *err)
{
	for (int turn = 0; turn < 5; turn++) {
		int fd = file_open(path, owner, may_create, err), kept;
		struct stat now;

		if (fd < 0)
			return -1;
		if (file_check(fd, path, owner, out_st, err) < 0 ||
		    record_lock(fd, path, err) < 0 ||
		    file_check(fd, path, owner, out_st, err) < 0) {
			kept = errno;
			close(fd);
			errno = kept;
			return -1;
		}
		if (is_only_name(path, out_st, &now))
			return fd;
		close(fd);
	}
	errno = EAGAIN;
	return err_set(err, "%s is replaced again and again", path);
}

/* What must stand before a From_ line: a line end and an empty line, also
 * when another program, or a crash, left the end torn. */
static int
end_mend(int fd, const struct stat *st, struct err *err)
{
	char tail[2] = { '\n', '\n' };
	const char *missing;
	size_t n = st->st_size >= 2 ? 2 : (size_t)st->st_size;

	if (n > 0 && pread(fd, tail + 2 - n, n, st->st_size - (off_t)n) < 0)
		return err_sys(err, "read the end");
	missing = tail[1] != '\n' ? "\n\n" : tail[0] != '\n' ? "\n" : "";
	if (*missing != '\0' &&
	    write(fd, missing, strlen(missing)) != (ssize_t)strlen(missing))
		return err_sys(err, "write");
	return 0;
}

static int
file_append(int fd, const struct stat *st, const struct content *content,
    struct slice trace, struct err *err)
{
	uint64_t bytes;
	int kept;

	if (end_mend(fd, st, err) == 0 &&
	    content_write(content, fd, trace, &bytes, err) == 0) {
		if (is_unsynced || fsync(fd) == 0)
			return 0;
		err_sys(err, "fsync");
	}
	kept = errno;
	if (ftruncate(fd, st->st_size) != 0)
		warning("a torn message could not be cut off: %s",
		    strerror(errno));
	errno = kept;
	return -1;
}

static int
locked_append(const char *path, const struct account *owner,
    bool may_create, const struct content *content, struct slice trace,
    struct err *err)
{
	struct stat st;
	int fd, result, kept;

	fd = file_lock(path, owner, may_create, &st, err);
	if (fd < 0)
		return -1;
	result = file_append(fd, &st, content, trace, err);
	if (result < 0)
		err_prefix(err, "%s", path);
	kept = errno;
	close(fd);			/* and with it the record lock */
	errno = kept;
	return result;
}

void
mbox_append(const char *path, const struct account *owner, bool may_create,
    const struct content *content, struct slice trace,
    struct verdict *verdict)
{
	char lock[MAILBOX_PATH_BYTES + 8];
	struct err err;
	int has_lock, result, kept;

	snprintf(lock, sizeof(lock), "%s.lock", path);
	has_lock = dotlock_take(lock, &err);
	if (has_lock < 0) {
		mailbox_trouble(verdict, &err);
		return;
	}
	result = locked_append(path, owner, may_create, content, trace, &err);
	kept = errno;
	if (has_lock > 0)
		(void)unlink(lock);
	errno = kept;
	if (result < 0)
		mailbox_trouble(verdict, &err);
	else
		verdict_set(verdict, VERDICT_DELIVERED, "2.0.0", "mailbox",
		    "appended to %s", path);
}
