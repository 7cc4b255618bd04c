/* faults.c - system calls that fail when a test says so
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "faults.h"

#include "base/banned.h"

struct faults faults;

int renameat2(int, const char *, int, const char *, unsigned);

int
fsync(int fd)
{
	faults.calls++;
	faults.held++;
	while (faults.is_held)
		usleep(1000);
	faults.held--;
	if (faults.fsync_error != 0 && faults.fsyncs++ >= faults.fsync_after) {
		errno = faults.fsync_error;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

static int
rename_fails(void)
{
	if (faults.rename_error == 0)
		return 0;
	errno = faults.rename_error;
	return -1;
}

int
renameat2(int from_fd, const char *from, int to_fd, const char *to,
    unsigned flags)
{
	return rename_fails() != 0 ? -1 : (int)syscall(SYS_renameat2, from_fd,
	    from, to_fd, to, flags);
}

int
renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return rename_fails() != 0 ? -1 : (int)syscall(SYS_renameat2, from_fd,
	    from, to_fd, to, 0);
}

int
fstatvfs(int fd, struct statvfs *out)
{
	struct statfs fs;

	faults.statvfs_calls++;
	if (fstatfs(fd, &fs) != 0)
		return -1;
	*out = (struct statvfs){ .f_bsize = (unsigned long)fs.f_bsize,
	    .f_frsize = (unsigned long)fs.f_bsize, .f_blocks = fs.f_blocks,
	    .f_bavail = faults.is_full ? 0 : faults.free_bytes > 0 ?
	    faults.free_bytes / (unsigned long)fs.f_bsize : fs.f_bavail };
	return 0;
}
