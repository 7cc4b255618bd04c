/* mbox.c - many messages in one file
 *
 * In     a path, its owner, a message
 * Out    the message after the others, durable, or nothing
 * Holds  a dotlock and a record lock for as long as it writes
 * Trusts nothing at the path: no symlink, no FIFO, no second link, no file
 *        of somebody else
 * Spec   zmailer-mailbox(8), mbox; RFC 4155
 *
 * The order is dotlock, record lock, a note of the file's length in the
 * dotlock, append, fsync, unlock, unlink of the dotlock, verdict.  What a
 * crash left after the noted length, not whole, was never reported: the
 * next delivery cuts it off (end_look), if it is what the note tells of and
 * nothing else.  What is whole stays, and is not written again.  Without a
 * dotlock it stays, too, and the next message begins on a line of its own.
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
#include "base/crc32c.h"
#include "transports/mailbox/dotlock.h"
#include "transports/mailbox/quota.h"
#include "transports/mailbox/roots.h"
#include "transports/mailbox/berths.h"

#include "base/banned.h"

enum {
	TORN_BYTES_MAX = 64 << 20,	/* a longer torn end stays */
	NUL_PIECE_BYTES = 4096,
	MEND_BYTES_MAX = 2		/* line ends in front of a message */
};

static enum conf_sync how_synced;

void
mbox_setup(enum conf_sync sync)
{
	how_synced = sync;
}

static void
mbox_nap(int ms)
{
	struct timespec span = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&span, NULL);
}

/* ---- the file ---------------------------------------------------------- */

static int
mbox_open(const char *path, const struct account *owner, const char *base,
    struct err *err)
{
	/* O_NONBLOCK: a FIFO in the way must not hold us */
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EACCES && base != NULL && account_is_root())
		fd = roots_make_file(path, base, owner, err);
	else if (fd < 0 && (errno == ELOOP || errno == EMLINK)) {
		errno = EPERM;
		return err_set(err, "%s is a symbolic link: refused", path);
	} else if (fd < 0)
		return err_sys(err, "%s", path);
	return fd;
}

static int
mbox_check(int fd, const char *path, const struct account *owner,
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
mbox_lock_record(int fd, const char *path, struct err *err)
{
	int64_t began_ms = clock_steady_ms();
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	for (int wait_ms = 5;; wait_ms = wait_ms < 500 ? wait_ms * 2 : 500) {
		if (fcntl(fd, F_SETLK, &lock) == 0)
			return 0;
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return err_sys(err, "lock %s", path);
		if (clock_steady_ms() - began_ms >= MAILBOX_LOCK_WAIT_MS ||
		    !berth_may_wait(began_ms))
			return err_set(err, "%s: the mailbox is locked by "
			    "another program", path);
		mbox_nap(wait_ms);
	}
}

/* The path leads to the open file and is its only name.  Asked more than
 * once: lstat looks the name up first and counts the links afterwards, so
 * that one answer can be put together from two moments. */
static bool
mbox_is_only_name(const char *path, const struct stat *opened, struct stat *now)
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
mbox_lock(const char *path, const struct account *owner, const char *base,
    struct stat *out_st, struct err *err)
{
	for (int turn = 0; turn < 5; turn++) {
		int fd = mbox_open(path, owner, base, err), kept;
		struct stat now;

		if (fd < 0)
			return -1;
		if (mbox_check(fd, path, owner, out_st, err) < 0 ||
		    mbox_lock_record(fd, path, err) < 0 ||
		    mbox_check(fd, path, owner, out_st, err) < 0) {
			kept = errno;
			close(fd);
			errno = kept;
			return -1;
		}
		if (mbox_is_only_name(path, out_st, &now))
			return fd;
		close(fd);
	}
	errno = EAGAIN;
	return err_set(err, "%s is replaced again and again", path);
}

/* ---- the end of the file ------------------------------------------------ */

/* Lines that a message begins with here. */
static unsigned
mbox_count_beginnings(struct slice text, const char *begin)
{
	unsigned count = 0;
	struct slice line;

	while (slice_cut(&text, '\n', &line))
		count += slice_starts(line, begin);
	return count;
}

/* Does nothing but a part of the one message that was being appended stand in
 * text?  Message beginnings inside a message are quoted, so a second one is
 * somebody else's mail. */
static bool
mbox_is_torn_append(struct slice text, const struct job_content *content,
    const struct dotlock_note *note)
{
	bool is_mmdf = content->flags & CONTENT_MMDF;
	const char *begin = is_mmdf ? "\1\1\1\1" : "From ";

	if (text.n >= strlen(begin) && !slice_starts(text, begin))
		return false;
	if (text.n >= DOTLOCK_SAMPLE_BYTES && note->sample_crc !=
	    crc32c(0, text.p, DOTLOCK_SAMPLE_BYTES))
		return false;
	/* of MMDF the line after the message looks the same */
	return text.n <= note->new_bytes &&
	    mbox_count_beginnings(text, begin) <= (is_mmdf ? 2 : 1);
}

static int
mbox_cut_end(int fd, uint64_t bytes, struct stat *st, struct err *err)
{
	if (ftruncate(fd, (off_t)bytes) != 0)
		return err_sys(err, "cut a torn message off");
	st->st_size = (off_t)bytes;
	return 0;
}

/* A power cut can leave a file longer than what was written to the disk:
 * NULs, which no message ends with. */
static int
mbox_cut_nuls(int fd, struct stat *st, struct err *err)
{
	uint64_t bytes = (uint64_t)st->st_size;
	char piece[NUL_PIECE_BYTES] = { '\0' };
	size_t n = 1;			/* at first: is there any */

	while (bytes > 0 && (uint64_t)st->st_size - bytes < TORN_BYTES_MAX) {
		if (n > bytes)
			n = (size_t)bytes;
		if (pread(fd, piece, n, (off_t)(bytes - n)) != (ssize_t)n)
			return err_sys(err, "read the end");
		bytes -= n;
		while (n > 0 && piece[n - 1] == '\0')
			n--;
		bytes += n;
		if (n > 0)
			break;
		n = sizeof(piece);
	}
	return bytes == (uint64_t)st->st_size ? 0 :
	    mbox_cut_end(fd, bytes, st, err);
}

/* What did somebody who died leave there?  *out_is_there: this very message,
 * whole.  Else nothing that is torn is there now. */
static int
mbox_look_at_end(int fd, const struct dotlock_note *note,
    const struct delivery *delivery, struct stat *st, bool *out_is_there,
    struct err *err)
{
	struct str all = STR_INIT;
	struct slice text;
	uint64_t more;
	int result = 0;
	ssize_t n;

	*out_is_there = false;
	if (mbox_cut_nuls(fd, st, err) < 0)
		return -1;
	more = (uint64_t)st->st_size - note->old_bytes;
	if (note->inode != (uint64_t)st->st_ino ||
	    (uint64_t)st->st_size <= note->old_bytes ||
	    more > note->new_bytes + MEND_BYTES_MAX || more > TORN_BYTES_MAX)
		return 0;
	n = pread(fd, str_room(&all, more), more, (off_t)note->old_bytes);
	text = (struct slice){ all.buf, n > 0 ? (size_t)n : 0 };
	while (text.n > 0 && text.p[0] == '\n')		/* of end_mend */
		text = slice_from(text, 1);
	if (text.n == note->new_bytes &&
	    crc32c(0, text.p, text.n) == note->whole_crc)
		*out_is_there = note->rcpt == delivery->rcpt &&
		    strcmp(note->id, delivery->id) == 0;
	else if (n == (ssize_t)more && mbox_is_torn_append(text,
	    delivery->content,
	    note))
		result = mbox_cut_end(fd, note->old_bytes, st, err);
	str_release(&all);
	return result;
}

/* What must stand before a message: a line end, and in an mbox an empty
 * line, also when another program, or a crash, left the end torn. */
static int
mbox_mend_end(int fd, const struct stat *st, const struct job_content *content,
    struct err *err)
{
	char tail[2] = { '\n', '\n' };
	const char *missing;
	size_t n = st->st_size >= 2 ? 2 : (size_t)st->st_size;

	if (n > 0 && pread(fd, tail + 2 - n, n, st->st_size - (off_t)n) < 0)
		return err_sys(err, "read the end");
	missing = tail[1] != '\n' ? "\n\n" : tail[0] != '\n' ? "\n" : "";
	if (content->flags & CONTENT_MMDF)
		missing = tail[1] != '\n' ? "\n" : "";
	if (*missing != '\0' &&
	    write(fd, missing, strlen(missing)) != (ssize_t)strlen(missing))
		return err_sys(err, "write");
	return 0;
}

/* ---- appending --------------------------------------------------------- */

static uint32_t
mbox_sample_crc(const struct delivery *delivery)
{
	const struct job_content *content = delivery->content;
	struct str sample = STR_INIT;
	uint32_t crc;

	str_add_slice(&sample, str_slice(&content->head));
	str_add_slice(&sample, delivery->trace);
	str_add_slice(&sample, slice_first(str_slice(&content->text),
	    DOTLOCK_SAMPLE_BYTES));
	crc = crc32c(0, sample.buf, sample.len < DOTLOCK_SAMPLE_BYTES ?
	    sample.len : DOTLOCK_SAMPLE_BYTES);
	str_release(&sample);
	return crc;
}

/* Say in the lock what is going to be torn if we die. */
static int
mbox_note_append(const struct dotlock *lock, const struct stat *st,
    const struct delivery *delivery, struct err *err)
{
	struct dotlock_note note = {
		.inode = (uint64_t)st->st_ino,
		.old_bytes = (uint64_t)st->st_size,
		.sample_crc = mbox_sample_crc(delivery),
		.rcpt = delivery->rcpt,
	};

	strlcpy(note.id, delivery->id, sizeof(note.id));
	if (lock->fd < 0)
		return 0;
	if (content_measure(delivery->content, delivery->trace,
	    &note.new_bytes, &note.whole_crc, err) < 0)
		return -1;
	if (dotlock_write(lock, &note, how_synced == SYNC_STRICT) < 0)
		return err_sys(err, "%s", lock->path);
	return 0;
}

static int
mbox_write(int fd, const struct stat *st, const struct delivery *delivery,
    struct err *err)
{
	const struct job_content *content = delivery->content;
	uint64_t bytes;
	int kept;

	if (mbox_mend_end(fd, st, content, err) == 0 &&
	    content_write(content, fd, delivery->trace, &bytes, err) == 0) {
		if (how_synced == SYNC_UNSAFE || fsync(fd) == 0)
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

enum append_result { APPEND_FAILED = -1, APPEND_REFUSED, APPEND_DONE };

/* APPEND_REFUSED: the verdict says why. */
static enum append_result
mbox_append_locked(const char *path, const struct account *owner,
    const char *base, const struct dotlock *lock,
    const struct delivery *delivery, struct verdict *verdict,
    struct err *err)
{
	struct stat st;
	enum append_result result = APPEND_FAILED;
	bool is_there;
	int fd, kept;

	fd = mbox_lock(path, owner, base, &st, err);
	if (fd < 0)
		return APPEND_FAILED;
	if (mbox_look_at_end(fd, &lock->left, delivery, &st, &is_there,
	    err) < 0)
		goto done;
	if (is_there) {
		if (how_synced != SYNC_UNSAFE && fsync(fd) != 0)
			err_sys(err, "fsync");
		else
			result = APPEND_DONE;
	} else if (!quota_of_file(delivery->quota, (uint64_t)st.st_size,
	    content_bytes(delivery->content, delivery->trace), verdict)) {
		result = APPEND_REFUSED;
	} else if (mbox_note_append(lock, &st, delivery, err) == 0 &&
	    mbox_write(fd, &st, delivery, err) == 0) {
		result = APPEND_DONE;
	}
done:
	if (result == APPEND_FAILED)
		err_prefix(err, "%s", path);
	kept = errno;
	close(fd);			/* and with it the record lock */
	errno = kept;
	return result;
}

void
mbox_append(const char *path, const struct account *owner, const char *base,
    const struct delivery *delivery, struct verdict *verdict)
{
	struct dotlock lock;
	struct err err;
	enum append_result result = APPEND_FAILED;

	if (base != NULL && parents_make(path, base, owner, &err) < 0) {
		mailbox_trouble(verdict, &err);
		return;
	}
	if (dotlock_take(path, owner, base, &lock, &err) !=
	    DOTLOCK_TROUBLE)
		result = mbox_append_locked(path, owner, base, &lock, delivery,
		    verdict, &err);
	dotlock_drop(&lock, owner);
	berth_leave();
	if (result == APPEND_FAILED)
		mailbox_trouble(verdict, &err);
	else if (result == APPEND_DONE)
		verdict_set(verdict, VERDICT_DELIVERED, "2.0.0", "mailbox",
		    "appended to %s", path);
}
