/* nosync.c - the planted fault: smtpserver says 250 and syncs nothing
 *
 * In     preloaded into all programs of an instance
 * Out    in smtpserver each call that makes bytes durable succeeds at once
 * Spec   tests/crash/disk/disk.py --planted, which must see lost mail
 *
 * SPDX-License-Identifier: ISC
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

typedef int sync_call(int);

static bool
is_planted(void)
{
	return strcmp(program_invocation_short_name, "smtpserver") == 0;
}

static int
sync_unless_planted(const char *call, int fd)
{
	void *found = dlsym(RTLD_NEXT, call);
	sync_call *real;

	if (is_planted())
		return 0;
	memcpy(&real, &found, sizeof(real));
	return real(fd);
}

int
fsync(int fd)
{
	return sync_unless_planted("fsync", fd);
}

int
fdatasync(int fd)
{
	return sync_unless_planted("fdatasync", fd);
}

int
syncfs(int fd)
{
	return sync_unless_planted("syncfs", fd);
}

int
sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags)
{
	int (*real)(int, off64_t, off64_t, unsigned);
	void *found = dlsym(RTLD_NEXT, "sync_file_range");

	if (is_planted())
		return 0;
	memcpy(&real, &found, sizeof(real));
	return real(fd, offset, bytes, flags);
}
