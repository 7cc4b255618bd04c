/* runfile.c - a file of the run directory that may be lost
 *
 * In     text
 * Out    the file, whole or as it was; its text
 * Holds  its path and the checksum of what was written last
 * Trusts nothing: who reads the text looks at each line of it
 * Spec   doc/INTERNALS.md rows O2, O8
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "scheduler/plan/runfile.h"

#include "base/banned.h"

enum { RUNFILE_PIECE_BYTES = 65536 };

void
runfile_open(struct runfile *file, const char *run_dir, const char *name)
{
	struct str path = STR_INIT;

	str_addf(&path, "%s/%s", run_dir, name);
	*file = (struct runfile){ .path = mem_strdup(path.buf) };
	str_release(&path);
}

void
runfile_release(struct runfile *file)
{
	mem_free(&file->path);
}

bool
runfile_read(const struct runfile *file, struct str *out)
{
	size_t before = out->len;
	ssize_t n = 1;
	int fd;

	if (file->path == NULL)
		return false;
	fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	while (n > 0 && out->len - before < RUNFILE_BYTES_MAX) {
		n = read(fd, str_room(out, RUNFILE_PIECE_BYTES),
		    RUNFILE_PIECE_BYTES);
		if (n > 0)
			out->len += (size_t)n;
	}
	close(fd);
	if (n != 0)
		str_truncate(out, before);
	return n == 0;
}

void
runfile_write(struct runfile *file, const char *head, const struct str *text)
{
	uint32_t sum = crc32c(0, text->buf, text->len);
	struct str new_path = STR_INIT;
	size_t head_bytes = strlen(head);
	ssize_t n = -1;
	int fd;

	if (file->path == NULL || sum == file->written)
		return;
	file->written = sum;
	str_addf(&new_path, "%s.new", file->path);
	fd = open(new_path.buf, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
	    O_NOFOLLOW, 0640);
	if (fd >= 0 && write(fd, head, head_bytes) == (ssize_t)head_bytes)
		n = write(fd, text->buf, text->len);
	if (fd >= 0 && (close(fd) < 0 || n != (ssize_t)text->len ||
	    rename(new_path.buf, file->path) < 0))
		(void)unlink(new_path.buf);
	str_release(&new_path);
}
