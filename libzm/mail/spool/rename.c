/* rename.c - the one call that moves mail
 *
 * In     two directories by descriptor, two names
 * Out    the file under its new name, or nothing changed
 * Holds  nothing
 * Trusts the file system to rename atomically; where renameat2 is missing
 *        a hard link takes its place (a crash between link and unlink
 *        leaves two names of one inode: row T1, recovery)
 * Spec   doc/INTERNALS.md section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mail/spool/internal.h"

#include "base/banned.h"

/* Without hard links, too: look, then rename.  Names carry the inode
 * number, so nobody else makes the name that is looked for. */
static int
rename_checked(int from_fd, const char *from, int to_fd, const char *to)
{
	struct stat st;

	if (fstatat(to_fd, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	if (errno != ENOENT)
		return -1;
	return renameat(from_fd, from, to_fd, to);
}

static int
rename_linked(int from_fd, const char *from, int to_fd, const char *to)
{
	if (linkat(from_fd, from, to_fd, to, 0) == 0)
		return unlinkat(from_fd, from, 0);
	if (errno == EPERM || errno == ENOTSUP || errno == ENOSYS ||
	    errno == EMLINK)
		return rename_checked(from_fd, from, to_fd, to);
	return -1;
}

#if !defined(HAVE_RENAMEAT2) && defined(SYS_renameat2)
/* The kernel has it, the C library (musl) does not. */
#define RENAME_NOREPLACE 1
int renameat2(int, const char *, int, const char *, unsigned);
__attribute__((weak)) int
renameat2(int from_fd, const char *from, int to_fd, const char *to,
    unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}
#endif

int
spool_rename(int from_fd, const char *from, int to_fd, const char *to)
{
#ifdef RENAME_NOREPLACE
	static bool is_missing;

	if (!is_missing) {
		int result;

		do
			result = renameat2(from_fd, from, to_fd, to,
			    RENAME_NOREPLACE);
		while (result != 0 && errno == EINTR);
		if (result == 0)
			return 0;
		if (errno != ENOSYS && errno != EINVAL)
			return -1;
		is_missing = true;
	}
#endif
	return rename_linked(from_fd, from, to_fd, to);
}

void
spool_note_move(struct spool *spool, enum spool_area from, enum spool_area to)
{
	spool->moved_areas |= 1u << from | 1u << to;
}

int
spool_sync_dirs(const struct spool *spool, int a_fd, int b_fd,
    struct err *err)
{
	if ((spool->flags & SPOOL_STRICT) == 0)
		return 0;
	/* a directory that we may write but not read cannot be synced:
	 * EBADF from O_PATH; the file's own fsync has to do */
	if (fsync(b_fd) != 0 && errno != EBADF)
		return err_sys(err, "sync spool directory");
	if (a_fd != b_fd && fsync(a_fd) != 0 && errno != EBADF)
		return err_sys(err, "sync spool directory");
	return 0;
}
