/* draft.c - a message being written: public/ -> router/
 *
 * In     envelope and body bytes
 * Out    a file other programs see whole or not at all
 * Holds  one descriptor a draft, locked, so that recovery knows that it is
 *        being written
 * Trusts fsync once: what it refuses is abandoned, never tried again
 * Spec   doc/INTERNALS.md section 1.1, rows S0 to S3
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/fd.h"
#include "base/pid.h"
#include "mail/spool/internal.h"
#include "mail/spool/rewrite.h"

#include "base/banned.h"

enum {
	DRAFT_PENDING_BYTES_MAX = 65536,
	DRAFT_NAME_TRIES = 100,
	DRAFT_LOCK_TRIES = 50		/* of 1 ms */
};

static const char blank_first_line[] = "complete ------------ --------\n";

/* Process and time are for people.  The rest nobody can guess: who may not
 * list the directory (strangers, a session that was taken over) finds the
 * drafts of others by no name. */
static void
draft_name(struct spool *spool, char out_name[SPOOL_NAME_BYTES])
{
	char name[SPOOL_NAME_BYTES], room[DECIMAL_BYTES], *at = name;
	struct slice pid = slice_decimal((uint64_t)pid_own(), room);
	uint64_t secret;

	arc4random_buf(&secret, sizeof(secret));
	memcpy(at, pid.p, pid.n);
	at[pid.n] = '.';
	at = hex_put(at + pid.n + 1, (uint64_t)clock_wall_us(), 16);
	*at = '.';
	*hex_put(at + 1, secret, 16) = '\0';
	if (spool->is_spread)
		spool_spread_name(spool, AREA_PUBLIC, name, out_name);
	else
		memcpy(out_name, name, SPOOL_NAME_BYTES);
}

/* Recovery may have opened the fresh file first.  It holds the lock while it
 * looks, and unlinks what is empty; so whoever has the lock after it asks
 * whether the file has its name still.  The name is recovery's until then:
 * nothing may be unlinked or created under it. */
static bool
draft_lock(int fd, struct stat *out_st)
{
	for (int i = 0; i < DRAFT_LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fstat(fd, out_st) == 0 && out_st->st_nlink > 0;
		if (errno != EWOULDBLOCK)
			return false;
		poll(NULL, 0, 1);
	}
	return false;
}

/* Row S0: create the file and lock it. */
static int
draft_create(struct spool *spool, const char *stem, struct draft *out,
    struct stat *out_st)
{
	for (int i = 0; i < DRAFT_NAME_TRIES; i++) {
		if (stem != NULL)
			snprintf(out->name, sizeof(out->name), "%s", stem);
		else
			draft_name(spool, out->name);
		out->fd = openat(spool->area_fd[AREA_PUBLIC], out->name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    SPOOL_DRAFT_MODE);
		if (out->fd < 0 && errno == ENOENT && spool->is_spread) {
			spool->is_spread = false;	/* an old spool */
			continue;
		}
		if (out->fd < 0 && (errno != EEXIST || stem != NULL))
			return -1;
		if (out->fd < 0)
			continue;
		if (draft_lock(out->fd, out_st))
			return 0;
		close(out->fd);		/* recovery has it: S0 is over */
	}
	errno = EEXIST;
	return -1;
}

int
draft_open(struct spool *spool, const char *stem, struct draft *out,
    struct err *err)
{
	struct stat st;

	memset(out, 0, sizeof(*out));
	str_init(&out->pending);
	out->spool = spool;
	out->fd = -1;
	if (stem != NULL && strlen(stem) >= sizeof(out->name))
		return err_set(err, "draft name of %zu bytes", strlen(stem));
	if (draft_create(spool, stem, out, &st) != 0) {
		err_sys(err, "create %s", spool_label(AREA_PUBLIC, 0,
		    stem ? stem : "(draft)"));
		out->fd = -1;
		out->name[0] = '\0';
		return -1;
	}
	if (spool->must_chmod && fchmod(out->fd, SPOOL_DRAFT_MODE) != 0) {
		int saved = errno;

		err_sys(err, "chmod %s",
		    spool_label(AREA_PUBLIC, 0, out->name));
		draft_abort(out);
		errno = saved;
		return -1;
	}
	out->inode = st.st_ino;
	spool_make_id(spool, st.st_ino, out->id);
	str_add(&out->pending, blank_first_line, DRAFT_FIRST_LINE_BYTES);
	return 0;
}

/* 0: gone, or there was none; -1: it is not ours, or stays. */
static int
draft_remove_ours(const struct spool *spool, const char *name)
{
	int dir = spool->area_fd[AREA_PUBLIC];
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : -1;
	if (!S_ISREG(st.st_mode) || !spool_is_own(st.st_uid))
		return -1;
	return unlinkat(dir, name, 0) == 0 || errno == ENOENT ? 0 : -1;
}

int
draft_open_again(struct spool *spool, const char *stem, struct draft *out,
    struct err *err)
{
	char secret[SPOOL_NAME_BYTES];

	if (draft_open(spool, stem, out, err) == 0)
		return 0;
	if (errno != EEXIST)
		return -1;
	if (draft_remove_ours(spool, stem) == 0 &&
	    draft_open(spool, stem, out, err) == 0)
		return 0;
	if ((size_t)snprintf(secret, sizeof(secret), "%s-%08x%08x", stem,
	    arc4random(), arc4random()) >= sizeof(secret)) {
		errno = ENAMETOOLONG;
		return err_sys(err, "create %s", spool_label(AREA_PUBLIC, 0,
		    stem));
	}
	return draft_open(spool, secret, out, err);
}

static int
draft_fail(struct draft *draft, const char *what, struct err *err)
{
	draft->is_bad = true;
	return err_sys(err, "%s %s", what,
	    spool_label(AREA_PUBLIC, 0, draft->name));
}

/* Still row S0: the file's size does not change. */
int
draft_reserve(struct draft *draft, uint64_t bytes, struct err *err)
{
#ifdef FALLOC_FL_KEEP_SIZE
	if (bytes > INT64_MAX)
		return 0;
	if (fallocate(draft->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) == 0)
		draft->reserved_bytes = bytes;
	else if (errno == ENOSPC || errno == EDQUOT)
		return draft_fail(draft, "fallocate", err);
#endif
	return 0;
}

/* Give back what was taken and not used: cut after what was written. */
static void
draft_unreserve(const struct draft *draft)
{
	uint64_t bytes = DRAFT_FIRST_LINE_BYTES + draft->bytes;

	if (draft->reserved_bytes > bytes &&
	    ftruncate(draft->fd, (off_t)bytes) != 0)
		warning("ftruncate %s: %s", spool_label(AREA_PUBLIC, 0,
		    draft->name), strerror(errno));
}

static int
draft_flush(struct draft *draft, struct err *err)
{
	struct slice rest = slice_from(str_slice(&draft->pending),
	    draft->settled_bytes);

	if (rest.n > 0 && fd_write_all(draft->fd, rest.p, rest.n) != 0)
		return draft_fail(draft, "write", err);
	str_reset(&draft->pending);
	draft->settled_bytes = 0;
	return 0;
}

/* Nothing of it was ever flushed: all is in memory. */
static bool
draft_is_in_memory(const struct draft *draft)
{
	return draft->pending.len == DRAFT_FIRST_LINE_BYTES + draft->bytes;
}

int
draft_write(struct draft *draft, const void *bytes, size_t n,
    struct err *err)
{
	if (draft->is_bad || draft->fd < 0) {
		errno = EIO;
		return err_set(err, "this message could not be stored");
	}
	draft->crc = crc32c(draft->crc, bytes, n);
	draft->bytes += n;
	if (draft->pending.len + n > DRAFT_PENDING_BYTES_MAX &&
	    draft_flush(draft, err) != 0)
		return -1;
	if (n < DRAFT_PENDING_BYTES_MAX) {
		str_add(&draft->pending, bytes, n);
		return 0;
	}
	if (fd_write_all(draft->fd, bytes, n) != 0)
		return draft_fail(draft, "write", err);
	return 0;
}

int
draft_settle(struct draft *draft, struct err *err)
{
	if (draft->is_bad || draft->fd < 0) {
		errno = EIO;
		return err_set(err, "this message could not be stored");
	}
	return draft_flush(draft, err);
}

int
draft_settle_text(struct draft *draft, struct slice *out_text,
    struct err *err)
{
	struct slice rest = slice_from(str_slice(&draft->pending),
	    draft->settled_bytes);

	*out_text = (struct slice){ NULL, 0 };
	if (draft->is_bad || draft->fd < 0 || !draft_is_in_memory(draft))
		return draft_settle(draft, err);
	if (rest.n > 0 && fd_write_all(draft->fd, rest.p, rest.n) != 0)
		return draft_fail(draft, "write", err);
	draft->settled_bytes = draft->pending.len;
	*out_text = slice_from(str_slice(&draft->pending),
	    DRAFT_FIRST_LINE_BYTES);
	return 0;
}

int
draft_rewrite(struct draft *draft, struct slice text, struct err *err)
{
	/* S0: as long as the first line says nothing */
	if (lseek(draft->fd, 0, SEEK_SET) != 0 || (text.n < draft->bytes &&
	    ftruncate(draft->fd, DRAFT_FIRST_LINE_BYTES + (off_t)text.n) != 0))
		return draft_fail(draft, "cut", err);
	str_reset(&draft->pending);
	str_add(&draft->pending, blank_first_line, DRAFT_FIRST_LINE_BYTES);
	str_add_slice(&draft->pending, text);
	draft->settled_bytes = 0;
	draft->bytes = text.n;
	draft->crc = crc32c(0, text.p, text.n);
	return 0;
}

int
draft_finish(struct draft *draft, struct err *err)
{
	char line[DRAFT_FIRST_LINE_BYTES + 1];
	bool is_small = draft_is_in_memory(draft) &&
	    draft->settled_bytes == 0;
	ssize_t n;

	if (draft->is_bad || draft->fd < 0) {
		errno = EIO;
		return err_set(err, "this message could not be stored");
	}
	if (draft->bytes > 999999999999u) {	/* its digits */
		errno = EFBIG;
		return draft_fail(draft, "write", err);
	}
	first_line_make(&(struct first_line){ draft->bytes, draft->crc },
	    line);
	if (is_small)
		memcpy(draft->pending.buf, line, DRAFT_FIRST_LINE_BYTES);
	if (draft_flush(draft, err) != 0)
		return -1;
	str_release(&draft->pending);
	draft_unreserve(draft);
	if (is_small)
		return 0;
	do {
		n = pwrite(draft->fd, line, DRAFT_FIRST_LINE_BYTES, 0);
	} while (n < 0 && errno == EINTR);
	if (n != DRAFT_FIRST_LINE_BYTES)
		return draft_fail(draft, "write", err);
	return 0;
}

void
draft_sync_begin(struct draft *drafts[], size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (draft_finish(drafts[i], err) != 0)
			continue;
#ifdef HAVE_SYNC_FILE_RANGE
		/* all write-backs run side by side; fsync then waits */
		if (count > 1)
			sync_file_range(drafts[i]->fd, 0, 0,
			    SYNC_FILE_RANGE_WRITE);
#endif
	}
}

int
draft_sync_wait(const struct draft *draft)
{
	if (draft->is_bad || draft->fd < 0)
		return EIO;
	/* S0 -> S1: after this the message survives a power cut */
	return fsync(draft->fd) == 0 ? 0 : errno;
}

bool
draft_sync_end(struct draft *draft, int error, struct err *err)
{
	if (draft->is_bad || draft->fd < 0)
		return false;
	if (error == 0)
		return true;
	errno = error;
	draft_fail(draft, "fsync", err);
	return false;
}

size_t
draft_sync(struct draft *drafts[], size_t count, struct err *err)
{
	size_t durable = 0;

	draft_sync_begin(drafts, count, err);
	for (size_t i = 0; i < count; i++)
		durable += draft_sync_end(drafts[i],
		    draft_sync_wait(drafts[i]), err);
	return durable;
}

static void
draft_close(struct draft *draft)
{
	if (draft->fd >= 0)
		close(draft->fd);
	draft->fd = -1;
	str_release(&draft->pending);
}

int
draft_leave(struct draft *draft, struct err *err)
{
	if (draft_settle(draft, err) != 0)
		return -1;
	draft_close(draft);
	return 0;
}

int
draft_replace(struct draft *draft, const char *name, uint64_t bytes,
    uint32_t crc, struct err *err)
{
	const char *label = spool_label(AREA_PUBLIC, 0, name);
	struct draft old = *draft;
	struct stat st;
	int fd;

	if (strlen(name) >= sizeof(draft->name) || name[0] == '/' ||
	    strstr(name, "..") != NULL)
		return err_set(err, "'%s' is no draft", name);
	fd = openat(spool_dir_fd(draft->spool, AREA_PUBLIC, 0), name,
	    O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_sys(err, "open %s", label);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_nlink != 1 || st.st_uid != geteuid() ||
	    (uint64_t)st.st_size != DRAFT_FIRST_LINE_BYTES + bytes ||
	    lseek(fd, 0, SEEK_END) < 0) {
		close(fd);
		return err_set(err, "%s is not the draft that was left",
		    label);
	}
	draft->fd = fd;
	draft->inode = st.st_ino;
	draft->bytes = bytes;
	draft->crc = crc;
	draft->reserved_bytes = 0;
	draft->is_bad = false;
	str_init(&draft->pending);
	draft->settled_bytes = 0;
	memcpy(draft->name, name, strlen(name) + 1);
	draft_abort(&old);	/* row S0: the unchanged one */
	return 0;
}

/* The name it gets: the inode; in freezer/ with the cause after it. */
static int
publish_name(const struct draft *draft, enum spool_area area,
    const char *cause, char out_name[SPOOL_NAME_BYTES], struct err *err)
{
	if (area == AREA_ROUTER) {
		spool_inode_name(draft->inode, out_name);
		return 0;
	}
	if (area != AREA_FREEZER || cause == NULL ||
	    !spool_why_is(cause, false))
		return err_set(err, "'%s' cannot be a cause in a file name",
		    cause ? cause : "");
	snprintf(out_name, SPOOL_NAME_BYTES, "%ju.%s", (uintmax_t)draft->inode,
	    cause);
	return 0;
}

/* A public/ file that stays for the router to copy in (row S4): true when
 * it still is where it was written. */
static int
leave_in_public(struct draft *draft, struct err *err)
{
	struct stat st;

	if (fstat(draft->fd, &st) != 0)
		return err_sys(err, "stat draft");
	if (st.st_nlink != 1) {
		errno = ENOENT;
		return err_sys(err, "draft in public/");
	}
	draft_close(draft);
	draft->name[0] = '\0';
	return 0;
}

int
draft_publish(struct draft *draft, enum spool_area area, unsigned priority,
    const char *cause, struct err *err)
{
	struct spool *spool = draft->spool;
	int to_fd = spool_dir_fd(spool, area, priority);
	bool is_synced = area == AREA_FREEZER ||
	    (spool->flags & SPOOL_STRICT) != 0;
	char name[SPOOL_NAME_BYTES], from[SPOOL_NAME_BYTES];

	if (draft->is_bad || draft->name[0] == '\0') {
		errno = EIO;
		return err_set(err, "this message could not be stored");
	}
	if (area == AREA_PUBLIC)
		return leave_in_public(draft, err);
	if (to_fd < 0 && area == AREA_ROUTER)
		to_fd = spool->router_fd[0];
	if (publish_name(draft, area, cause, name, err) != 0)
		return -1;
	/* Not locked when it can be seen: a router worker that comes at once
	 * must find the lock free. */
	if (!is_synced)
		draft_close(draft);
	else if (area == AREA_ROUTER)
		flock(draft->fd, LOCK_UN);
	/* S1 -> S2 (freezer: D1) */
	if (spool_rename(spool->area_fd[AREA_PUBLIC], draft->name, to_fd,
		name) != 0)
		return err_sys(err, "rename %s to %s",
		    spool_label(AREA_PUBLIC, 0, draft->name),
		    spool_label(area, priority, name));
	memcpy(from, draft->name, sizeof(from));
	draft->name[0] = '\0';
	if (!is_synced)
		return 0;
	/* D1: a person's look at it must not be lost by a power cut.  The
	 * contents are durable already; a failure here is only told. */
	if (fsync(draft->fd) != 0)
		warning("fsync %s after its rename: %s",
		    spool_label(area, priority, name), strerror(errno));
	draft_close(draft);
	/* one that we may write but not read cannot be synced */
	if ((spool->flags & SPOOL_STRICT) != 0 &&
	    spool_sync_parent(spool, AREA_PUBLIC, from, err) != 0 &&
	    errno != EACCES)
		return -1;
	return spool_sync_dirs(spool, to_fd, to_fd, err);
}

void
draft_hand_over(struct draft *draft)
{
	draft_close(draft);	/* S4: not unlocked before it is complete */
	draft->name[0] = '\0';
}

void
draft_abort(struct draft *draft)
{
	if (draft->name[0] == '\0')
		return;
	/* S0, S1: nothing was promised for it.  Still locked: recovery shall
	 * not have the next of this name in its hands */
	unlinkat(draft->spool->area_fd[AREA_PUBLIC], draft->name, 0);
	draft_close(draft);
	draft->name[0] = '\0';
}
