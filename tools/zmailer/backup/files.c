/* files.c - the configuration of an archive into a directory
 *
 * In     an archive and its index; a directory
 * Out    the files below it, under the paths that they had; one that is
 *        there stays as it is
 * Holds  nothing
 * Trusts no path of the archive: no "..", no symbolic link on the way
 * Spec   zmailer-restore(8); doc/INTERNALS.md row B6
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/zmailer/backup/backup.h"

#include "base/banned.h"

enum { COPY_BYTES = 64 << 10 };

/* Down to the directory of path, made where it is missing; *out_name is what
 * is left.  A descriptor, or -1. */
static int
way_open(int top_fd, struct slice path, char out_name[TAR_NAME_BYTES])
{
	int fd = fcntl(top_fd, F_DUPFD_CLOEXEC, 0);

	while (fd >= 0) {
		size_t n = slice_find(path, '/');
		struct slice part = slice_first(path, n);
		int below;

		if (part.n == 0 || part.n >= TAR_NAME_BYTES ||
		    slice_is(part, ".") || slice_is(part, "..")) {
			close(fd);
			errno = EINVAL;
			return -1;
		}
		snprintf(out_name, TAR_NAME_BYTES, SLICE_FMT,
		    SLICE_ARG(part));
		if (n == path.n)
			break;
		if (mkdirat(fd, out_name, 0755) != 0 && errno != EEXIST) {
			close(fd);
			return -1;
		}
		below = openat(fd, out_name, O_RDONLY | O_DIRECTORY |
		    O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = below;
		path = slice_from(path, n + 1);
	}
	return fd;
}

static int
backup_copy(int from, const struct backup_file *file, int to)
{
	char buffer[COPY_BYTES];
	uint64_t done = 0;

	while (done < file->bytes) {
		size_t want = file->bytes - done < sizeof(buffer) ?
		    (size_t)(file->bytes - done) : sizeof(buffer);
		ssize_t n = pread(from, buffer, want,
		    (off_t)(file->at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || write(to, buffer, (size_t)n) != n)
			return -1;
		done += (uint64_t)n;
	}
	return fchmod(to, file->mode & 0777) == 0 && fsync(to) == 0 ? 0 : -1;
}

/* Row B6.  1 written, 0 it was there, -1. */
static int
backup_file_put(int fd, const struct backup_file *file, int dir_fd,
    const char *name)
{
	char draft[TAR_NAME_BYTES + 32];
	int to, result = -1;

	snprintf(draft, sizeof(draft), "%s.new-%ld", name, (long)getpid());
	if (faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	to = openat(dir_fd, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (to < 0)
		return -1;
	if (backup_copy(fd, file, to) == 0)
		result = linkat(dir_fd, draft, dir_fd, name, 0) == 0 ? 1 :
		    errno == EEXIST ? 0 : -1;
	close(to);
	(void)unlinkat(dir_fd, draft, 0);	/* B6: ours alone */
	return result;
}

int
backup_put_settings(int fd, const struct backup_index *index,
    const char *dir, unsigned *out_kept, struct err *err)
{
	int top_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = 0;

	*out_kept = 0;
	if (top_fd < 0)
		return err_sys(err, "cannot open the directory %s", dir);
	for (size_t i = 0; i < index->file_count; i++) {
		const struct backup_file *file = &index->files[i];
		char name[TAR_NAME_BYTES];
		int dir_fd = way_open(top_fd, slice_of(file->path), name);
		int result = dir_fd < 0 ? -1 : backup_file_put(fd, file, dir_fd,
		    name);

		if (result < 0)
			err_sys(err, "cannot write %s/%s", dir, file->path);
		if (dir_fd >= 0)
			close(dir_fd);
		if (result < 0) {
			close(top_fd);
			return -1;
		}
		count += result;
		*out_kept += result == 0;
	}
	if (count > 0 && syncfs(top_fd) != 0)
		count = err_sys(err, "cannot make %s durable", dir);
	close(top_fd);
	return count;
}
