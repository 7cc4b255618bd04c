/* read.c - a plain file, whole
 *
 * In     the path of a file
 * Out    its bytes, or what parse.c made of them
 * Holds  nothing
 * Trusts nothing: a file that changes while it is read is read again
 * Spec   mail/table/type.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "mail/table/internal.h"
#include "mail/table/type.h"

#include "base/banned.h"

enum { READ_TRIES = 3 };

/* All bytes of an open file.  NULL with err. */
static char *
read_all(int fd, const struct stat *st, size_t *out_bytes, struct err *err)
{
	size_t room, bytes = 0;
	ssize_t n = 0;
	char *text;

	if (!S_ISREG(st->st_mode) || st->st_size > TABLE_BYTES_MAX) {
		err_set(err, S_ISREG(st->st_mode) ? "the file is too long" :
		    "it is no regular file");
		return NULL;
	}
	room = (size_t)st->st_size + 1;
	text = mem_grow(NULL, room, 1);
	do {
		bytes += (size_t)n;
		n = read(fd, text + bytes, room - bytes);
	} while (n > 0);
	*out_bytes = bytes;
	if (n == 0)
		return text;
	err_set(err, "%s", strerror(errno));
	mem_release(text);
	return NULL;
}

char *
table_read_file(const char *path, struct stat *out_seen, size_t *out_bytes,
    struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat after;

	if (fd < 0) {
		err_set(err, "%s", strerror(errno));
		return NULL;
	}
	for (int i = 0; i < READ_TRIES; i++) {
		mem_free(&text);
		if (fstat(fd, out_seen) != 0 || lseek(fd, 0, SEEK_SET) != 0) {
			err_set(err, "%s", strerror(errno));
			break;
		}
		text = read_all(fd, out_seen, out_bytes, err);
		if (text == NULL || (fstat(fd, &after) == 0 &&
		    table_looks_the_same(out_seen, &after)))
			break;
	}
	close(fd);
	if (text == NULL)
		memset(out_seen, 0, sizeof(*out_seen));
	return text;
}

/* The file parsed, or the contents in hand when the bytes are the same. */
int
table_contents_read(struct table_source *source, struct table_contents *old,
    struct table_contents **out, struct err *err)
{
	size_t bytes = 0;
	char *text = table_read_file(source->argument, &source->seen, &bytes,
	    err);

	if (text == NULL && source->may_be_absent &&
	    access(source->argument, F_OK) != 0 && errno == ENOENT)
		text = mem_grow(NULL, 1, 1);
	if (text == NULL)
		return -1;
	if (old != NULL && old->bytes == bytes &&
	    old->crc == crc32c(0, text, bytes)) {
		mem_release(text);
		*out = old;
		return 0;
	}
	return table_contents_parse(text, bytes, out, err);
}
