/* disklog.c - a disk that keeps a log of what it was told, in its order
 *
 *     disklog DIRECTORY IMAGE LOG BYTES
 *
 * In     writes and flushes of DIRECTORY/disk, a file of BYTES, over which a
 *        loop device lies: its flush is an fsync of the file
 * Out    IMAGE as the file system sees it; LOG: a struct row for each call
 *        and the bytes of a write, in one append each, before the call is
 *        answered
 * Holds  two descriptors; one thread, so that the log has one order
 * Trusts the kernel, its only client; others append rows of the kind MARK
 * Spec   tests/crash/disk/disk.py reads the log
 *
 * SPDX-License-Identifier: ISC
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define DISK "/disk"
enum { WORDS = 5, SECOND_NS = 1000000000 };

static struct disk {
	int	 image_fd, log_fd;
	off_t	 bytes;
} disk;

struct row {
	char		 kind[8];		/* "write", "flush" */
	uint64_t	 time_ns, offset, bytes;
};

/* One append, whole or the call fails: a log with a gap proves nothing. */
static int
log_row(const char *kind, const char *data, size_t n, off_t offset)
{
	struct timespec now;
	struct row row = { .offset = (uint64_t)offset, .bytes = n };
	struct iovec parts[] = { { &row, sizeof(row) },
		{ (void *)(uintptr_t)data, n } };

	clock_gettime(CLOCK_MONOTONIC, &now);
	row.time_ns = (uint64_t)now.tv_sec * SECOND_NS +
	    (uint64_t)now.tv_nsec;
	strncpy(row.kind, kind, sizeof(row.kind) - 1);
	return writev(disk.log_fd, parts, n > 0 ? 2 : 1) ==
	    (ssize_t)(sizeof(row) + n) ? 0 : -EIO;
}

static int
disk_getattr(const char *path, struct stat *st, struct fuse_file_info *file)
{
	(void)file;
	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	if (strcmp(path, "/") == 0) {
		st->st_mode = S_IFDIR | 0755;
		return 0;
	}
	if (strcmp(path, DISK) != 0)
		return -ENOENT;
	st->st_mode = S_IFREG | 0600;
	st->st_size = disk.bytes;
	return 0;
}

static int
disk_readdir(const char *path, void *list, fuse_fill_dir_t fill, off_t offset,
    struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
	(void)path;
	(void)offset;
	(void)file;
	(void)flags;
	return fill(list, DISK + 1, NULL, 0, 0) == 0 ? 0 : -ENOMEM;
}

static int
disk_open(const char *path, struct fuse_file_info *file)
{
	if (strcmp(path, DISK) != 0)
		return -ENOENT;
	file->keep_cache = 1;
	return 0;
}

static int
disk_read(const char *path, char *out, size_t n, off_t offset,
    struct fuse_file_info *file)
{
	ssize_t got = pread(disk.image_fd, out, n, offset);

	(void)path;
	(void)file;
	return got < 0 ? -errno : (int)got;
}

static int
disk_write(const char *path, const char *data, size_t n, off_t offset,
    struct fuse_file_info *file)
{
	(void)path;
	(void)file;
	if (offset < 0 || (uint64_t)offset + n > (uint64_t)disk.bytes)
		return -ENOSPC;
	if (pwrite(disk.image_fd, data, n, offset) != (ssize_t)n)
		return -EIO;
	return log_row("write", data, n, offset) < 0 ? -EIO : (int)n;
}

static int
disk_fsync(const char *path, int is_datasync, struct fuse_file_info *file)
{
	(void)path;
	(void)is_datasync;
	(void)file;
	return log_row("flush", NULL, 0, 0);
}

static const struct fuse_operations operations = {
	.getattr = disk_getattr,
	.readdir = disk_readdir,
	.open = disk_open,
	.read = disk_read,
	.write = disk_write,
	.fsync = disk_fsync,
};

int
main(int argc, char *argv[])
{
	char foreground[] = "-f", alone[] = "-s";
	char *words[] = { argv[0], foreground, alone, argv[1], NULL };

	if (argc != WORDS) {
		fprintf(stderr, "usage: disklog DIRECTORY IMAGE LOG BYTES\n");
		return 2;
	}
	disk.bytes = (off_t)strtoll(argv[4], NULL, 10);
	disk.image_fd = open(argv[2], O_RDWR | O_CREAT, 0600);
	disk.log_fd = open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (disk.image_fd < 0 || disk.log_fd < 0 || disk.bytes <= 0 ||
	    ftruncate(disk.image_fd, disk.bytes) < 0) {
		perror("disklog");
		return 1;
	}
	return fuse_main(WORDS - 1, words, &operations, NULL);
}
