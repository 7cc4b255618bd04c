/* file.c - one file of the spool: opened, written whole, its name durable
 *
 * In     a directory, a name; bytes
 * Out    an fd that is no symbolic link's; bytes in the file; a synced name
 * Holds  nothing: below drafts, claims and work, which all do this
 * Trusts no name to be a plain file: nothing is followed or waited for
 * Spec   doc/INTERNALS.md section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mail/spool/internal.h"

#include "base/banned.h"

int
spool_open_file(int dir_fd, const char *name, int flags)
{
	return openat(dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC |
	    O_NONBLOCK);
}

void
spool_parent(const char *name, char out_dir[SPOOL_NAME_BYTES])
{
	const char *slash = strrchr(name, '/');
	size_t n = slash ? (size_t)(slash - name) : 0;

	if (n == 0 || n >= SPOOL_NAME_BYTES)
		snprintf(out_dir, SPOOL_NAME_BYTES, ".");
	else
		snprintf(out_dir, SPOOL_NAME_BYTES, "%.*s", (int)n, name);
}

int
spool_sync_parent(const struct spool *spool, enum spool_area area,
    const char *name, struct err *err)
{
	char dir[SPOOL_NAME_BYTES];
	int fd, result = 0;

	spool_parent(name, dir);
	fd = openat(spool->area_fd[area], dir, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "open %s", spool_label(area, 0, dir));
	if (fsync(fd) != 0)
		result = err_sys(err, "fsync %s", spool_label(area, 0, dir));
	close(fd);
	return result;
}
