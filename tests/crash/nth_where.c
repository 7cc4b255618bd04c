/* nth_where.c - where a call of the preloaded library acts
 *
 * In     a descriptor, or a directory's and a name
 * Out    an absolute path, and whether it is one that is watched
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nth.h"

bool
nth_is_below(const char *dirs, const char *path)
{
	const char *at = dirs;

	while (at != NULL && *at != '\0') {
		size_t n = strcspn(at, ":");

		if (n > 0 && strncmp(path, at, n) == 0 &&
		    (path[n] == '/' || path[n] == '\0'))
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

void
nth_fd_path(int fd, char out[1024])
{
	char link_name[64];
	ssize_t n;

	snprintf(link_name, sizeof(link_name), "/proc/self/fd/%d", fd);
	n = readlink(link_name, out, 1023);
	out[n > 0 ? n : 0] = '\0';
}

void
nth_full_path(int dir_fd, const char *name, char out[2048])
{
	char dir[1024];

	if (name[0] == '/') {
		snprintf(out, 2048, "%s", name);
		return;
	}
	if (dir_fd == AT_FDCWD) {
		if (getcwd(dir, sizeof(dir)) == NULL)
			dir[0] = '\0';
	} else {
		nth_fd_path(dir_fd, dir);
	}
	snprintf(out, 2048, "%s/%s", dir, name);
}

unsigned long
nth_inode_of_fd(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

unsigned long
nth_inode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_ino : 0;
}

long long
nth_size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (long long)st.st_size : 0;
}

bool
nth_is_there(int dir_fd, const char *name)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	errno = EEXIST;
	return true;
}
