/* aside.c - messages that wait for a person, and their way back
 *
 * In     a claim, and why; or a name in deferred/, freezer/, postman/
 * Out    the file under a name that says why; or back in router/
 * Holds  nothing
 * Trusts no name: a why has a small alphabet, a file is checked before it
 *        is moved
 * Spec   doc/INTERNALS.md section 2, rows D1 to D3
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "mail/spool/internal.h"
#include "mail/spool/keep.h"

#include "base/banned.h"

enum { DEFERRED_WAIT_MIN_S = 60, DEFERRED_WAIT_MAX_S = 60 * 60 };

/* "<inode>.<why>", from the second try on "<inode>.<why>-2" ... */
static void
aside_name(ino_t inode, const char *why, unsigned turn,
    char out_name[SPOOL_NAME_BYTES])
{
	if (turn == 1)
		snprintf(out_name, SPOOL_NAME_BYTES, "%ju.%s",
		    (uintmax_t)inode, why);
	else
		snprintf(out_name, SPOOL_NAME_BYTES, "%ju.%s-%u",
		    (uintmax_t)inode, why, turn);
}

/* The control file of a message that is no more, or came back without it. */
static bool
has_control(int dir_fd, const char *name)
{
	char control[SPOOL_NAME_BYTES + 16];

	snprintf(control, sizeof(control), "%s.control", name);
	return faccessat(dir_fd, control, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int
spool_rename_aside(int from_fd, const char *from, int to_fd, ino_t inode,
    const char *why, char out_name[SPOOL_NAME_BYTES])
{
	for (unsigned turn = 1; turn < SPOOL_TAKEN_MAX; turn++) {
		aside_name(inode, why, turn, out_name);
		if (has_control(to_fd, out_name))
			continue;
		if (spool_rename(from_fd, from, to_fd, out_name) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

int
spool_set_aside(struct spool *spool, struct claim *claim,
    enum spool_area area, const char *why, char out_name[SPOOL_NAME_BYTES],
    struct err *err)
{
	int from_fd = spool_dir_fd(spool, claim->area, claim->priority);
	int to_fd = spool->area_fd[area];
	char name[SPOOL_NAME_BYTES];

	if ((area != AREA_DEFERRED && area != AREA_FREEZER &&
	    area != AREA_POSTMAN) || !spool_why_is(why, false))
		return err_set(err, "'%s' cannot be a reason in a file name",
		    why);
	/* C1 -> D1 */
	if (spool_rename_aside(from_fd, claim->name, to_fd, claim->inode, why,
		name) != 0)
		return err_sys(err, "move %s to %s", spool_label(claim->area,
		    claim->priority, claim->name),
		    spool_label(area, 0, why));
	if (out_name != NULL)
		snprintf(out_name, SPOOL_NAME_BYTES, "%s", name);
	/* D1: what a person is to see must not be back in router/ after a
	 * power cut; the contents have been durable since S1 */
	if (area != AREA_DEFERRED && fsync(claim->fd) != 0)
		warning("fsync %s after its rename: %s",
		    spool_label(area, 0, name), strerror(errno));
	close(claim->fd);
	claim->fd = -1;
	return spool_sync_dirs(spool, from_fd, to_fd, err);
}

int
spool_unclaim(struct spool *spool, struct claim *claim, struct err *err)
{
	int dir_fd = spool_dir_fd(spool, claim->area, claim->priority);
	char name[SPOOL_NAME_BYTES];
	int result = 0;

	snprintf(name, sizeof(name), "%ju", (uintmax_t)claim->inode);
	/* C1 -> S2 */
	if (spool_rename(dir_fd, claim->name, dir_fd, name) != 0)
		result = err_sys(err, "give %s back", spool_label(claim->area,
		    claim->priority, claim->name));
	close(claim->fd);
	claim->fd = -1;
	return result;
}

/* ---- copies ------------------------------------------------------------ */

static int
copy_bytes(int from_fd, int to_fd)
{
	static char buffer[SPOOL_IO_BYTES];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(from_fd, buffer, sizeof(buffer), at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || fd_write_all(to_fd, buffer, (size_t)n) != 0)
			return -1;
		at += n;
	}
	return 0;
}

/* A new file for the copy; a name that is taken gets "-2", "-3". */
static int
copy_create(struct spool *spool, ino_t inode, const char *why,
    char out_name[SPOOL_NAME_BYTES])
{
	for (unsigned turn = 1; turn < SPOOL_TAKEN_MAX; turn++) {
		int fd;

		aside_name(inode, why, turn, out_name);
		fd = openat(spool->area_fd[AREA_POSTMAN], out_name, O_WRONLY |
		    O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    SPOOL_DRAFT_MODE);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

int
spool_copy_aside(struct spool *spool, const struct claim *claim,
    const char *keyword, const char *reason,
    char out_name[SPOOL_NAME_BYTES], struct err *err)
{
	char why[SPOOL_WHY_BYTES_MAX + 2], name[SPOOL_NAME_BYTES];
	int fd, result;

	snprintf(why, sizeof(why), "_%s", keyword + (keyword[0] == '_'));
	if (!spool_why_is(why, true))
		return err_set(err, "'%s' cannot be a reason in a file name",
		    keyword);
	/* D2 */
	fd = copy_create(spool, claim->inode, why, name);
	if (fd < 0)
		return err_sys(err, "create %s", spool_label(AREA_POSTMAN, 0,
		    why));
	(void)spool_reason_write(fd, reason);
	result = copy_bytes(claim->fd, fd);
	if (result != 0) {
		err_sys(err, "write %s", spool_label(AREA_POSTMAN, 0, name));
		/* D2: half a copy is no copy; the message itself stays */
		unlinkat(spool->area_fd[AREA_POSTMAN], name, 0);
	}
	if (result == 0 && out_name != NULL)
		snprintf(out_name, SPOOL_NAME_BYTES, "%s", name);
	close(fd);
	return result;
}

/* ---- the way back ---------------------------------------------------- */

/* The control file that lay beside a shelved message goes to trash/: the
 * message is routed anew. */
static void
discard_control(struct spool *spool, enum spool_area from, const char *name)
{
	char control[SPOOL_NAME_BYTES];

	if ((size_t)snprintf(control, sizeof(control), "%s.control", name) >=
	    sizeof(control))
		return;
	if (spool_rename(spool->area_fd[from], control,
		spool->area_fd[AREA_TRASH], control) == 0)
		spool_note_move(spool, from, AREA_TRASH);
	else if (errno != ENOENT)
		warning("%s stays where it is: %s",
		    spool_label(from, 0, control), strerror(errno));
}

int64_t
spool_deferred_wait_s(int64_t age_s)
{
	int64_t wait_s = age_s / 2;

	if (wait_s < DEFERRED_WAIT_MIN_S)
		return DEFERRED_WAIT_MIN_S;
	return wait_s < DEFERRED_WAIT_MAX_S ? wait_s : DEFERRED_WAIT_MAX_S;
}

/* The wait is half the age at that moment, so the age is doubled then. */
int64_t
spool_deferred_next_s(int64_t submitted_s, int64_t deferred_s)
{
	return deferred_s + spool_deferred_wait_s(2 * (deferred_s -
	    submitted_s));
}

int
spool_resubmit(struct spool *spool, enum spool_area from, const char *name,
    struct err *err)
{
	const char *label = spool_label(from, 0, name);
	char target[SPOOL_NAME_BYTES];
	struct spool_name parts;
	struct stat st;

	if ((from != AREA_DEFERRED && from != AREA_FREEZER &&
	    from != AREA_POSTMAN && from != AREA_TRASH) ||
	    !spool_name_parse(slice_of(name), &parts) || parts.pid != 0 ||
	    strchr(name, '/') != NULL)
		return err_set(err, "%s is not a message that was set aside",
		    label);
	if (slice_starts(parts.why, "_"))
		return err_set(err, "%s is a copy: that message went on its "
		    "way", label);
	if (slice_ends(parts.why, ".control"))
		return err_set(err, "%s is a control file, not a message",
		    label);
	if (fstatat(spool->area_fd[from], name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return err_sys(err, "%s", label);
	if (!S_ISREG(st.st_mode) || spool_links(&st) != 1)
		return err_set(err, "%s is not a regular file with one name",
		    label);
	snprintf(target, sizeof(target), "%ju", (uintmax_t)st.st_ino);
	/* D1 -> S2 (D3) */
	if (spool_rename(spool->area_fd[from], name,
		spool->area_fd[AREA_ROUTER], target) != 0)
		return err_sys(err, "move %s to router/%s", label, target);
	discard_control(spool, from, name);
	spool_note_move(spool, from, AREA_ROUTER);
	return spool_sync_dirs(spool, spool->area_fd[from],
	    spool->area_fd[AREA_ROUTER], err);
}
