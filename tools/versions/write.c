/* write.c - a file is replaced, whole or not at all
 *
 * In     the text that shall stand there
 * Out    a new file under the old name
 * Holds  a temporary name beside it, as short as can be
 * Trusts no symbolic link that lies under the temporary name
 * Spec   write.h; doc/INTERNALS.md row E1
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tools/versions/write.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200, TRIES = 20 };

/* PATH.new-PID, or the next number when somebody has that. */
static int
change_draft_open(const char *target, char path[PATH_BYTES])
{
	for (int i = 0; i < TRIES; i++) {
		int fd;

		snprintf(path, PATH_BYTES, "%s.new-%ld-%d", target,
		    (long)getpid(), i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* Owner and mode of the one it replaces; who may not give a file away
 * keeps to a file of his own. */
static int
make_alike(int fd, const struct change_file *file)
{
	const struct passwd *owner;
	struct stat st;

	if (stat(file->target, &st) != 0) {
		owner = geteuid() == 0 && file->account != NULL ?
		    getpwnam(file->account) : NULL;
		if (owner != NULL &&
		    fchown(fd, owner->pw_uid, (gid_t)-1) != 0)
			return -1;
		return fchmod(fd, file->mode);
	}
	if ((st.st_uid != geteuid() || st.st_gid != getegid()) &&
	    fchown(fd, st.st_uid, st.st_gid) != 0)
		return -1;
	return fchmod(fd, st.st_mode & 07777);
}

int
change_directory_sync(const char *target)
{
	char dir[PATH_BYTES];
	char *slash;
	int fd, result;

	snprintf(dir, sizeof(dir), "%s", target);
	slash = strrchr(dir, '/');
	if (slash == NULL)
		snprintf(dir, sizeof(dir), ".");
	else
		slash[slash == dir ? 1 : 0] = '\0';
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	result = fd < 0 ? -1 : fsync(fd);
	if (fd >= 0)
		close(fd);
	return result;
}

static int
change_file_remove(const struct change_file *file, struct err *err)
{
	if (unlink(file->target) != 0 && errno != ENOENT)
		return err_sys(err, "cannot remove %s", file->target);
	(void)change_directory_sync(file->target);
	return 0;
}

static int
change_file_replace(const struct change_file *file, struct err *err)
{
	char path[PATH_BYTES];
	int fd = change_draft_open(file->target, path);
	bool is_good;

	if (fd < 0)
		return err_sys(err, "cannot write beside %s", file->target);
	is_good = fd_write_all(fd, file->after.buf, file->after.len) == 0 &&
	    make_alike(fd, file) == 0 && fsync(fd) == 0;
	if (!is_good)
		err_sys(err, "cannot write %s", path);
	if (close(fd) != 0 && is_good) {
		err_sys(err, "cannot write %s", path);
		is_good = false;
	}
	/* E1: until here the old file stands, from here the new one */
	if (is_good && rename(path, file->target) != 0) {
		err_sys(err, "cannot replace %s", file->target);
		is_good = false;
	}
	if (!is_good) {
		(void)unlink(path);	/* E1: ours alone */
		return -1;
	}
	(void)change_directory_sync(file->target);
	return 0;
}

int
change_file_write(const struct change_file *file, struct err *err)
{
	return file->goes_empty && file->after.len == 0 ?
	    change_file_remove(file, err) : change_file_replace(file, err);
}
