/* claim.c - a message in a router worker's hands
 *
 * In     a name seen in router/
 * Out    a claim: open, locked, renamed to <inode>-<pid>; then the plan is
 *        published, or the claim given back
 * Holds  the exclusive lock of the message from claim to close
 * Trusts neither name nor kind of file: regular, one link, the number in
 *        the name is made to agree with the inode
 * Spec   doc/INTERNALS.md section 2, rows C1 and P1 to P4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/fd.h"
#include "mail/spool/internal.h"
#include "mail/spool/keep.h"

#include "base/banned.h"

static int
close_keep_errno(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
	return -1;
}

/* Lock an open message and see that it is one. */
static enum spool_claimed
claim_check(int fd, const char *label, struct claim *out, struct err *err)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK)
			return SPOOL_CLAIM_NONE;
		return err_sys(err, "lock %s", label);
	}
	if (fstat(fd, &st) != 0)
		return err_sys(err, "stat %s", label);
	if (!S_ISREG(st.st_mode))
		return err_set(err, "%s is not a regular file", label);
	if (st.st_nlink == 0)
		return SPOOL_CLAIM_NONE;
	if (spool_links(&st) != 1)
		return err_set(err, "%s has %ju links; a message has one",
		    label, spool_links(&st));
	out->inode = st.st_ino;
	out->bytes = (uint64_t)st.st_size;
	out->uid = st.st_uid;
	return SPOOL_CLAIMED;
}

enum spool_claimed
spool_claim(struct spool *spool, unsigned priority, const char *name,
    struct claim *out, struct err *err)
{
	int dir_fd = spool_dir_fd(spool, AREA_ROUTER, priority);
	const char *label = spool_label(AREA_ROUTER, priority, name);
	enum spool_claimed result;

	memset(out, 0, sizeof(*out));
	out->area = AREA_ROUTER;
	out->priority = priority;
	out->fd = spool_open_file(dir_fd, name, O_RDONLY);
	if (out->fd < 0)
		return errno == ENOENT ? SPOOL_CLAIM_NONE :
					 err_sys(err, "open %s", label);
	errno = 0;
	result = claim_check(out->fd, label, out, err);
	if (result != SPOOL_CLAIMED)
		goto drop;
	/* Named by its inode whatever it was called before (a file copied
	 * back from a backup has another one). */
	spool_own_name("", out->inode, out->name);
	/* S2 -> C1; the loser of a race finds nothing to rename */
	if (strcmp(out->name, name) == 0 ||
	    spool_rename(dir_fd, name, dir_fd, out->name) == 0)
		return SPOOL_CLAIMED;
	result = errno == ENOENT ? SPOOL_CLAIM_NONE :
				   err_sys(err, "claim %s", label);
drop:
	close_keep_errno(out->fd);
	out->fd = -1;
	return result;
}

ssize_t
spool_claim_peek(struct spool *spool, unsigned priority, const char *name,
    char *bytes, size_t room)
{
	int fd = spool_open_file(spool_dir_fd(spool, AREA_ROUTER, priority),
	    name, O_RDONLY);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = pread(fd, bytes, room, 0);
	close(fd);
	return got;
}

enum spool_claimed
spool_claim_aside(struct spool *spool, enum spool_area from,
    const char *name, struct claim *out, struct err *err)
{
	const char *label = spool_label(from, 0, name);
	int dir_fd = spool_dir_fd(spool, from, 0);
	enum spool_claimed result;

	memset(out, 0, sizeof(*out));
	out->area = AREA_ROUTER;
	if (strchr(name, '/') != NULL)
		return err_set(err, "%s is not a message", label);
	out->fd = spool_open_file(dir_fd, name, O_RDONLY);
	if (out->fd < 0)
		return errno == ENOENT ? SPOOL_CLAIM_NONE :
					 err_sys(err, "open %s", label);
	result = claim_check(out->fd, label, out, err);
	if (result == SPOOL_CLAIMED) {
		spool_own_name("", out->inode, out->name);
		/* D1 -> C1; the loser of a race finds nothing to rename */
		if (spool_rename(dir_fd, name, spool_dir_fd(spool,
		    AREA_ROUTER, 0), out->name) == 0) {
			spool_note_move(spool, from, AREA_ROUTER);
			return SPOOL_CLAIMED;
		}
		result = errno == ENOENT ? SPOOL_CLAIM_NONE :
					   err_sys(err, "claim %s", label);
	}
	close_keep_errno(out->fd);
	out->fd = -1;
	return result;
}

enum spool_whole
spool_is_complete(int fd, struct err *err)
{
	static char buffer[SPOOL_IO_BYTES];
	struct first_line want;
	uint64_t at = 0;
	uint32_t crc = 0;
	ssize_t n;

	for (;;) {
		size_t skip = at == 0 ? DRAFT_FIRST_LINE_BYTES : 0;

		n = pread(fd, buffer, sizeof(buffer), (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read message");
		if (at == 0 && !first_line_read((struct slice){ buffer,
		    (size_t)n }, &want))
			return SPOOL_FILE_PART;
		crc = crc32c(crc, buffer + skip, (size_t)n - skip);
		at += (uint64_t)n;
		if ((size_t)n < sizeof(buffer) ||
		    at > want.bytes + DRAFT_FIRST_LINE_BYTES)
			break;
	}
	return at == want.bytes + DRAFT_FIRST_LINE_BYTES &&
	    crc == want.crc;
}

enum { ID_HEAD_BYTES = DRAFT_FIRST_LINE_BYTES + SPOOL_ID_BYTES + 4 };

/* Only what is in memory; -1: the disk has to be asked. */
static ssize_t
id_head_read_now(int fd, char head[ID_HEAD_BYTES])
{
#ifdef RWF_NOWAIT
	struct iovec part = { head, ID_HEAD_BYTES };

	return preadv2(fd, &part, 1, 0, RWF_NOWAIT);
#else
	(void)fd;
	(void)head;
	return -1;
#endif
}

static bool
id_head_parse(struct slice text, char out_id[SPOOL_ID_BYTES])
{
	if (slice_starts(text, "complete "))
		text = slice_from(text, DRAFT_FIRST_LINE_BYTES);
	if (!slice_starts(text, "id "))
		return false;
	text = slice_from(text, 3);
	text = slice_first(text, slice_find(text, '\n'));
	if (!spool_id_is(text))
		return false;
	memcpy(out_id, text.p, text.n);
	out_id[text.n] = '\0';
	return true;
}

bool
spool_read_id(int fd, char out_id[SPOOL_ID_BYTES])
{
	char head[ID_HEAD_BYTES];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	return id_head_parse((struct slice){ head, n > 0 ? (size_t)n : 0 },
	    out_id);
}

bool
spool_read_id_soon(int fd, char out_id[SPOOL_ID_BYTES], bool *out_waited)
{
	char head[ID_HEAD_BYTES];
	ssize_t n = id_head_read_now(fd, head);

	/* a part may be all that is in memory */
	*out_waited = n < 0;
	return (n > 0 && id_head_parse((struct slice){ head, (size_t)n },
	    out_id)) || spool_read_id(fd, out_id);
}

/* ---- publishing a plan ---------------------------------------------- */

static int
plan_create_as(int dir_fd, const char *name)
{
	int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir_fd, name, how, SPOOL_CONTROL_MODE);

	if (fd < 0 && errno == EEXIST && unlinkat(dir_fd, name, 0) == 0)
		fd = openat(dir_fd, name, how, SPOOL_CONTROL_MODE);
	return fd;
}

/* Row P1: the plan below the claim's directory, or beside it.  One left by a
 * dead process of our number goes: the claim's lock is ours, so the plan is,
 * too. */
static int
plan_create(struct spool *spool, const struct claim *claim, int dir_fd,
    char out_name[SPOOL_NAME_BYTES])
{
	char name[SPOOL_NAME_BYTES];
	int fd;

	spool_own_name("..", claim->inode, name);
	if (spool->is_spread && claim->priority == 0) {
		spool_spread_name(spool, AREA_ROUTER, name, out_name);
		fd = plan_create_as(dir_fd, out_name);
		if (fd >= 0 || errno != ENOENT)
			return fd;
		spool->is_spread = false;		/* an old spool */
	}
	memcpy(out_name, name, sizeof(name));
	return plan_create_as(dir_fd, out_name);
}

int
spool_plan_begin(struct spool *spool, const struct claim *claim,
    struct spool_plan *out, struct err *err)
{
	int dir_fd = spool_dir_fd(spool, AREA_ROUTER, claim->priority);

	out->dir_fd = dir_fd;
	out->fd = plan_create(spool, claim, dir_fd, out->name);
	if (out->fd < 0)
		return err_sys(err, "create plan %s", out->name);
	if (!spool->must_chmod || fchmod(out->fd, SPOOL_CONTROL_MODE) == 0)
		return 0;
	err_sys(err, "chmod plan %s", out->name);
	spool_plan_drop(out);
	return -1;
}

void
spool_plan_drop(struct spool_plan *plan)
{
	if (plan->fd < 0)
		return;
	close_keep_errno(plan->fd);
	plan->fd = -1;
	/* P1: a plan is no message; the claim stays */
	unlinkat(plan->dir_fd, plan->name, 0);
}

int
spool_plan_write(struct spool_plan *plan, struct slice bytes, struct err *err)
{
	if (fd_write_all(plan->fd, bytes.p, bytes.n) == 0)
		return 0;
	return err_sys(err, "write plan %s", plan->name);
}

/* The control file of a finished message may keep this name until its group
 * is through (rows F1, F2) if the scheduler died in between.  Nobody else
 * can make the name meanwhile: the inode is ours. */
static int
target_is_free(const struct spool *spool, const char *name, struct err *err)
{
	if (faccessat(spool->area_fd[AREA_TRANSPORT], name, F_OK,
		AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 1 : err_sys(err, "look for %s",
		    spool_label(AREA_TRANSPORT, 0, name));
	errno = EEXIST;
	return err_set(err, "%s of a finished message is not yet gone; try "
	    "again", spool_label(AREA_TRANSPORT, 0, name));
}

/* P3 went wrong: the body goes back under its claimed name.  When even that
 * fails, recovery finds the body in queue/ and the plan in router/. */
static int
publish_undo(struct spool *spool, struct claim *claim, int dir_fd,
    const char *hashed, const char *plan)
{
	int saved = errno;

	if (spool_rename(spool->area_fd[AREA_QUEUE], hashed, dir_fd,
		claim->name) != 0) {
		close(claim->fd);
		claim->fd = -1;
	} else {
		unlinkat(dir_fd, plan, 0);	/* P2 -> C1 */
	}
	errno = saved;
	return -1;
}

/* `sync strict`: the directories on both ends of the two renames. */
static int
sync_routed(const struct spool *spool, int dir_fd, const char *plan,
    const char *hashed)
{
	struct err ignored;

	if ((spool->flags & SPOOL_STRICT) == 0)
		return 0;
	for (int i = AREA_QUEUE; i <= AREA_TRANSPORT; i++)
		if (spool_sync_parent(spool, (enum spool_area)i, hashed,
			&ignored) != 0)
			warning("%s", ignored.text);
	if (strchr(plan, '/') != NULL &&
	    spool_sync_parent(spool, AREA_ROUTER, plan, &ignored) != 0)
		warning("%s", ignored.text);
	if (spool_sync_dirs(spool, dir_fd, dir_fd, &ignored) != 0)
		warning("%s", ignored.text);
	return 0;	/* routed it is; recovery has a row for the rest */
}

/* Rows P2-P4: the plan is written. */
static int
claim_publish(struct spool *spool, struct claim *claim, struct spool_plan *plan,
    const char *hashed, struct err *err)
{
	int dir_fd = plan->dir_fd, saved;
	const char *name = plan->name;

	if (close(plan->fd) != 0) {
		err_sys(err, "close plan %s", name);
		unlinkat(dir_fd, name, 0);	/* P2 -> C1: the plan only */
		return -1;
	}
	plan->fd = -1;
	/* P2 -> P3 */
	if (spool_rename(dir_fd, claim->name, spool->area_fd[AREA_QUEUE],
		hashed) != 0) {
		err_sys(err, "rename %s to %s", spool_label(AREA_ROUTER,
		    claim->priority, claim->name),
		    spool_label(AREA_QUEUE, 0, hashed));
		saved = errno;
		unlinkat(dir_fd, name, 0);	/* P2 -> C1: the plan only */
		errno = saved;
		return -1;
	}
	/* P3 -> P4 */
	if (spool_rename(dir_fd, name, spool->area_fd[AREA_TRANSPORT],
		hashed) != 0) {
		err_sys(err, "rename %s to %s", spool_label(AREA_ROUTER,
		    claim->priority, name),
		    spool_label(AREA_TRANSPORT, 0, hashed));
		return publish_undo(spool, claim, dir_fd, hashed, name);
	}
	close(claim->fd);
	claim->fd = -1;
	return sync_routed(spool, dir_fd, name, hashed);
}

int
spool_route(struct spool *spool, struct claim *claim, struct slice bytes,
    struct err *err)
{
	struct spool_plan plan;
	char hashed[SPOOL_NAME_BYTES];

	spool_hashed_name(spool, claim->inode, hashed);
	if (target_is_free(spool, hashed, err) < 0 ||
	    spool_plan_begin(spool, claim, &plan, err) < 0)
		return -1;
	if (spool_plan_write(&plan, bytes, err) < 0) {
		spool_plan_drop(&plan);
		return -1;
	}
	return claim_publish(spool, claim, &plan, hashed, err);
}

int
spool_route_plan(struct spool *spool, struct claim *claim,
    struct spool_plan *plan, struct err *err)
{
	char hashed[SPOOL_NAME_BYTES];

	spool_hashed_name(spool, claim->inode, hashed);
	if (target_is_free(spool, hashed, err) == 1)
		return claim_publish(spool, claim, plan, hashed, err);
	spool_plan_drop(plan);
	return -1;
}
