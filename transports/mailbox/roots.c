/* roots.c - what root does for an owner in the configuration's directories
 *
 * In     a path below a directory that the configuration gives
 * Out    directories and files for their owners
 * Holds  nothing
 * Trusts root's own directories below the configuration's, and those of who
 *        owns that; no link, and no directory of anybody else
 * Spec   zmailer-mailbox(8), mbox
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transports/mailbox/roots.h"

#include "base/banned.h"

enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

/* The directory called name in parent, unless it is somebody's own. */
static int
roots_step(int parent, struct slice name, uid_t base_uid, const char *path,
    struct err *err)
{
	char text[NAME_MAX + 1];
	struct stat st;
	int fd;

	errno = ENAMETOOLONG;
	if (name.n >= sizeof(text))
		return err_sys(err, "%s", path);
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	fd = openat(parent, text, DIRECTORY | O_NOFOLLOW);
	if (fd < 0 && errno != ELOOP && errno != ENOTDIR)
		return err_sys(err, "%s: %s, as root", path, text);
	if (fd >= 0 && fstat(fd, &st) == 0 &&
	    (st.st_uid == 0 || st.st_uid == base_uid))
		return fd;
	if (fd >= 0)
		close(fd);
	errno = EACCES;
	return err_set(err, "%s: its owner may not make it, and root makes "
	    "nothing in %s, which is not root's", path, text);
}

int
roots_open_parent(const char *path, const char *base, const char **out_name,
    struct err *err)
{
	struct slice rest = slice_from(slice_of(path), strlen(base)), name;
	int fd = open(base, DIRECTORY), next;
	struct stat st;

	if (fd < 0)
		return err_sys(err, "%s", base);
	if (fstat(fd, &st) != 0) {
		close(fd);
		return err_sys(err, "%s", base);
	}
	while (slice_find(rest, '/') < rest.n) {
		name = slice_first(rest, slice_find(rest, '/'));
		rest = slice_from(rest, name.n + 1);
		if (name.n == 0)
			continue;
		next = roots_step(fd, name, st.st_uid, path, err);
		close(fd);
		if (next < 0)
			return -1;
		fd = next;
	}
	*out_name = rest.p;
	return fd;
}

/* Is what is open root's, as it was just made? */
static bool
roots_is_roots(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

static int
roots_make_in(int parent, const char *name, mode_t mode,
    const struct account *owner)
{
	int fd, kept, result = -1;

	if (mkdirat(parent, name, 0700) != 0)
		return -1;
	fd = openat(parent, name, DIRECTORY | O_NOFOLLOW);
	errno = EPERM;
	if (roots_is_roots(fd))
		result = mode != 0700 ? fchmod(fd, mode) :
		    fchown(fd, owner->uid, owner->gid);
	kept = errno;
	if (fd >= 0)
		close(fd);
	errno = kept;
	return result;
}

int
roots_make_directory(const char *path, const char *base, mode_t mode,
    const struct account *owner, struct err *err)
{
	const char *name;
	int parent, kept, result = -1;

	account_back();
	parent = roots_open_parent(path, base, &name, err);
	if (parent >= 0) {
		result = roots_make_in(parent, name, mode, owner);
		if (result != 0)
			err_sys(err, "make %s", path);
		kept = errno;
		close(parent);
		errno = kept;
	}
	kept = errno;
	if (account_become(owner, err) < 0)
		return -1;
	errno = kept;
	return result;
}

int
roots_make_file(const char *path, const char *base,
    const struct account *owner, struct err *err)
{
	const char *name;
	int parent, fd = -1, kept;

	account_back();
	parent = roots_open_parent(path, base, &name, err);
	if (parent >= 0) {
		fd = openat(parent, name, O_RDWR | O_CREAT | O_EXCL |
		    O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			err_sys(err, "%s", path);
	}
	if (fd >= 0 && fchown(fd, owner->uid, owner->gid) != 0) {
		err_sys(err, "give %s to its owner", path);
		(void)unlinkat(parent, name, 0);
		close(fd);
		fd = -1;
	}
	kept = errno;
	if (parent >= 0)
		close(parent);
	if (account_become(owner, err) < 0 && fd >= 0) {
		close(fd);
		fd = -1;
	}
	errno = kept;
	return fd;
}
