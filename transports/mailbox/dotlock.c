/* dotlock.c - FILE.lock beside a mailbox, and what it tells after a crash
 *
 * In     a mailbox's path
 * Out    a lock file, or the note of somebody who died
 * Holds  the lock's descriptor, with flock(2) on it
 * Trusts a note only in a file that nobody but us, root and the recipient
 *        can have written; a lock of ours only when its holder is dead;
 *        those of others until nobody touched them for minutes
 * Spec   zmailer-mailbox(8), mbox
 *
 *   lock = pid LF "zmailer" [ SP inode SP old SP new SP sample SP whole
 *       SP id SP rcpt ] LF
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "transports/mailbox/dotlock.h"
#include "transports/mailbox/roots.h"
#include "transports/mailbox/berths.h"

#include "base/banned.h"

enum {
	LOCK_TEXT_BYTES = 200,
	NOTE_WORDS = 8		/* "zmailer" counted */
};

bool
dotlock_parse(struct slice text, struct dotlock_note *out)
{
	struct slice rest = text, line, words[NOTE_WORDS + 1];
	uint64_t pid, sample, whole, rcpt;
	size_t count = 0;

	memset(out, 0, sizeof(*out));
	if (!slice_cut(&rest, '\n', &line) ||
	    !slice_number(line, 1, INT32_MAX, &pid) || rest.n == 0 ||
	    rest.p[rest.n - 1] != '\n')
		return false;
	line = slice_first(rest, slice_find(rest, '\n'));
	while (count < NOTE_WORDS + 1 && slice_word(&line, &words[count]))
		count++;
	if (count == 0 || !slice_is(words[0], "zmailer"))
		return false;
	if (count == NOTE_WORDS &&
	    slice_number(words[1], 1, INT64_MAX, &out->inode) &&
	    slice_number(words[2], 0, INT64_MAX, &out->old_bytes) &&
	    slice_number(words[3], 0, INT64_MAX, &out->new_bytes) &&
	    slice_number(words[4], 0, UINT32_MAX, &sample) &&
	    slice_number(words[5], 0, UINT32_MAX, &whole) &&
	    words[6].n < sizeof(out->id) &&
	    slice_number(words[7], 0, UINT32_MAX, &rcpt)) {
		out->sample_crc = (uint32_t)sample;
		out->whole_crc = (uint32_t)whole;
		memcpy(out->id, words[6].p, words[6].n);
		out->rcpt = (unsigned)rcpt;
		return true;
	}
	memset(out, 0, sizeof(*out));
	return true;
}

int
dotlock_write(const struct dotlock *lock, const struct dotlock_note *note,
    bool is_synced)
{
	char text[LOCK_TEXT_BYTES];
	ssize_t done;
	int n;

	if (note == NULL)
		n = snprintf(text, sizeof(text), "%ld\nzmailer\n",
		    (long)getpid());
	else
		n = snprintf(text, sizeof(text), "%ld\nzmailer %" PRIu64
		    " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32
		    " %s %u\n", (long)getpid(), note->inode, note->old_bytes,
		    note->new_bytes, note->sample_crc, note->whole_crc,
		    note->id, note->rcpt);
	done = pwrite(lock->fd, text, (size_t)n, 0);
	if (done >= 0 && done != n)
		errno = ENOSPC;		/* a short write says no more */
	if (done != n)
		return -1;
	return is_synced ? fsync(lock->fd) : 0;
}

/* ---- a lock that is there ---------------------------------------------- */

/* Is the name still that of the open file? */
static bool
dotlock_is_named(const struct dotlock *lock, int fd)
{
	struct stat named, opened;

	return fstatat(lock->dir_fd, lock->name, &named,
	    AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &opened) == 0 &&
	    named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

/* Is what it says ours?  Others may make files in a mail directory, with a
 * note that has us cut off the mailbox. */
static bool
dotlock_is_trusted(const struct stat *st, const struct account *owner)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1 &&
	    (st->st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	    (st->st_uid == 0 || st->st_uid == geteuid() ||
	    (account_is_root() && st->st_uid == owner->uid));
}

/* One of ours whose holder is dead becomes ours, with its note. */
static bool
dotlock_inherit(struct dotlock *lock, const struct account *owner)
{
	int fd = openat(lock->dir_fd, lock->name, O_RDWR | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[LOCK_TEXT_BYTES];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && dotlock_is_trusted(&st, owner) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    (n = pread(fd, text, sizeof(text), 0)) > 0 &&
	    dotlock_parse((struct slice){ text, (size_t)n }, &lock->left) &&
	    dotlock_is_named(lock, fd)) {
		lock->fd = fd;
		return true;
	}
	close(fd);
	memset(&lock->left, 0, sizeof(lock->left));
	return false;
}

/* A lock that nobody touched for minutes is the rest of a crash.  So is one of
 * another day that is to come: the clock was set back.  That of a file server
 * may be ahead by less. */
static void
dotlock_remove_old(const struct dotlock *lock)
{
	struct stat st;
	int64_t age_s;

	if (fstatat(lock->dir_fd, lock->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	age_s = clock_wall_s() - st.st_mtime;
	if (age_s > MAILBOX_LOCK_STALE_S || age_s < -MAILBOX_LOCK_AHEAD_S)
		(void)unlinkat(lock->dir_fd, lock->name, 0);
}

/* ---- taking ------------------------------------------------------------ */

enum lock_try { TRY_FAILED = -1, TRY_IS_THERE, TRY_LOCKED };

/* TRY_FAILED: errno. */
static enum lock_try
dotlock_create(struct dotlock *lock)
{
	lock->fd = openat(lock->dir_fd, lock->name, O_RDWR | O_CREAT |
	    O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock->fd < 0)
		return errno == EEXIST ? TRY_IS_THERE : TRY_FAILED;
	if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0 ||
	    dotlock_write(lock, NULL, false) < 0) {
		int kept = errno;

		(void)unlinkat(lock->dir_fd, lock->name, 0);
		close(lock->fd);
		lock->fd = -1;
		errno = kept;
		/* somebody looks whether he may inherit it */
		return kept == EWOULDBLOCK ? TRY_IS_THERE : TRY_FAILED;
	}
	return TRY_LOCKED;
}

static bool
dotlock_is_denied(int number)
{
	return number == EACCES || number == EPERM || number == EROFS;
}

/* Look at the lock by this path from now on. */
static void
dotlock_by_path(struct dotlock *lock)
{
	if (lock->dir_fd >= 0)
		close(lock->dir_fd);
	lock->dir_fd = AT_FDCWD;
	lock->name = lock->path;
}

/* One try as root, who looks only into directories to help in. */
static enum lock_try
dotlock_try_as_root(struct dotlock *lock, const struct account *owner,
    const char *base)
{
	enum lock_try got;
	struct err err;

	account_back();
	lock->is_roots = true;
	lock->dir_fd = roots_open_parent(lock->path, base, &lock->name, &err);
	if (lock->dir_fd < 0) {
		dotlock_by_path(lock);
		return TRY_FAILED;
	}
	got = dotlock_create(lock);
	if (got == TRY_IS_THERE && dotlock_inherit(lock, owner))
		got = TRY_LOCKED;
	if (got == TRY_IS_THERE)
		dotlock_remove_old(lock);
	return got;
}

/* One try as who we are, and then as root where that is allowed. */
static enum lock_try
dotlock_try(struct dotlock *lock, const struct account *owner,
    const char *base)
{
	enum lock_try got;

	dotlock_by_path(lock);
	lock->is_roots = false;
	got = dotlock_create(lock);
	if (got == TRY_IS_THERE && dotlock_inherit(lock, owner))
		return TRY_LOCKED;
	if (got == TRY_LOCKED || (got == TRY_FAILED &&
	    !dotlock_is_denied(errno)) || base == NULL)
		return got;
	return dotlock_try_as_root(lock, owner, base);
}

static void
dotlock_nap(int ms)
{
	struct timespec span = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&span, NULL);
}

static enum dotlock_result
dotlock_wait(struct dotlock *lock, const struct account *owner,
    const char *base, struct err *err)
{
	int64_t began_ms = clock_steady_ms();

	for (int wait_ms = 5;; wait_ms = wait_ms < 500 ? wait_ms * 2 : 500) {
		enum lock_try got = dotlock_try(lock, owner, base);
		int kept = errno;

		if (lock->is_roots && account_become(owner, err) < 0)
			return DOTLOCK_TROUBLE;
		errno = kept;
		if (got == TRY_LOCKED)
			return DOTLOCK_TAKEN;
		if (got == TRY_FAILED && dotlock_is_denied(errno))
			return DOTLOCK_DENIED;
		if (got == TRY_FAILED) {
			err_sys(err, "%s", lock->path);
			return DOTLOCK_TROUBLE;
		}
		dotlock_by_path(lock);
		dotlock_remove_old(lock);
		errno = EAGAIN;
		if (clock_steady_ms() - began_ms >= MAILBOX_LOCK_WAIT_MS ||
		    !berth_may_wait(began_ms)) {
			err_set(err, "%s: the mailbox is locked by another "
			    "program", lock->path);
			return DOTLOCK_TROUBLE;
		}
		dotlock_nap(wait_ms);
	}
}

enum dotlock_result
dotlock_take(const char *mailbox, const struct account *owner,
    const char *base, struct dotlock *out, struct err *err)
{
	enum dotlock_result got;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	out->dir_fd = AT_FDCWD;
	snprintf(out->path, sizeof(out->path), "%s.lock", mailbox);
	got = dotlock_wait(out, owner, account_is_root() ? base : NULL, err);
	if (got == DOTLOCK_TROUBLE && out->fd >= 0)
		dotlock_drop(out, NULL);
	return got;
}

void
dotlock_drop(struct dotlock *lock, const struct account *owner)
{
	int kept = errno;
	struct err err;

	if (lock->fd < 0) {
		dotlock_by_path(lock);
		return;
	}
	if (lock->is_roots)
		account_back();
	/* mailboxes: the last step of an append */
	if (unlinkat(lock->dir_fd, lock->name, 0) != 0 && errno != ENOENT &&
	    unlinkat(lock->dir_fd, lock->name, 0) != 0 &&
	    ftruncate(lock->fd, 0) != 0)
		warning("%s cannot be removed: %s", lock->path,
		    strerror(errno));
	close(lock->fd);
	lock->fd = -1;
	dotlock_by_path(lock);
	if (lock->is_roots && owner != NULL)
		(void)account_become(owner, &err);
	errno = kept;
}
