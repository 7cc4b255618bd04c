/* archive.c - members of a tar archive, one after the other
 *
 * In     texts and files
 * Out    bytes to a descriptor, in large writes; their checksum
 * Holds  up to a quarter of a mebibyte that is not written yet
 * Trusts no length but the one in its head: a file that has become shorter is
 *        filled up with zeros
 * Spec   backup.h; grammar/tar.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/fd.h"
#include "tools/zmailer/backup/backup.h"

#include "base/banned.h"

enum { PENDING_BYTES = 256 << 10, READ_BYTES = 64 << 10 };

void
archive_open(struct archive *archive, int fd)
{
	memset(archive, 0, sizeof(*archive));
	str_init(&archive->pending);
	archive->fd = fd;
}

void
archive_release(struct archive *archive)
{
	str_release(&archive->pending);
}

static int
archive_flush(struct archive *archive)
{
	if (!archive->is_bad && fd_write_all(archive->fd,
	    archive->pending.buf, archive->pending.len) != 0) {
		err_sys(&archive->err, "write the archive");
		archive->is_bad = true;
	}
	str_reset(&archive->pending);
	return archive->is_bad ? -1 : 0;
}

static int
archive_put(struct archive *archive, const void *bytes, size_t n)
{
	archive->crc = crc32c(archive->crc, bytes, n);
	archive->bytes += n;
	str_add(&archive->pending, bytes, n);
	return archive->pending.len >= PENDING_BYTES ? archive_flush(archive) :
	    archive->is_bad ? -1 : 0;
}

static int
put_zeros(struct archive *archive, uint64_t n)
{
	static const char zeros[READ_BYTES];

	for (; n > 0 && !archive->is_bad; n -= n < READ_BYTES ? n : READ_BYTES)
		(void)archive_put(archive, zeros, n < READ_BYTES ? (size_t)n :
		    READ_BYTES);
	return archive->is_bad ? -1 : 0;
}

static int
put_head(struct archive *archive, const struct tar_head *head)
{
	char block[TAR_BLOCK_BYTES];

	if (tar_head_format(head, block) == 0)
		return archive_put(archive, block, sizeof(block));
	errno = head->size_bytes > TAR_MEMBER_BYTES_MAX ? EFBIG :
	    ENAMETOOLONG;
	return -1;
}

int
archive_add_text(struct archive *archive, const char *name,
    struct slice text, unsigned mode, int64_t mtime_s)
{
	struct tar_head head = { .size_bytes = text.n, .mode = mode,
	    .mtime_s = mtime_s };

	if (strlcpy(head.name, name, sizeof(head.name)) >= sizeof(head.name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (put_head(archive, &head) != 0 ||
	    archive_put(archive, text.p, text.n) != 0)
		return -1;
	return put_zeros(archive, tar_padding(text.n));
}

/* Up to n bytes of fd; how many came. */
static uint64_t
archive_copy(struct archive *archive, int fd, uint64_t n)
{
	uint64_t done = 0;

	while (done < n && !archive->is_bad) {
		char buffer[READ_BYTES];
		ssize_t got = fd_read_at(fd, buffer, n - done < READ_BYTES ?
		    (size_t)(n - done) : READ_BYTES, done);

		if (got <= 0)
			break;
		(void)archive_put(archive, buffer, (size_t)got);
		done += (uint64_t)got;
	}
	return done;
}

int
archive_add_file(struct archive *archive, const struct tar_head *head,
    int fd, bool *out_is_whole)
{
	uint64_t done;

	*out_is_whole = true;
	if (put_head(archive, head) != 0)
		return -1;
	done = archive_copy(archive, fd, head->size_bytes);
	*out_is_whole = done == head->size_bytes;
	return put_zeros(archive, head->size_bytes - done +
	    tar_padding(head->size_bytes));
}

int
archive_end(struct archive *archive)
{
	if (put_zeros(archive, 2 * TAR_BLOCK_BYTES) != 0)
		return -1;
	return archive_flush(archive);
}
