/* include.c - the lines of a list file, whatever its size
 *
 * In     a path from an alias, a list statement, or another list file
 * Out    lines
 * Holds  one buffer; a list of a million members is never in memory
 * Trusts a file only when nobody but its owner can write or replace it
 * Spec   zmailer-aliases(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/route/include.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "mail/table/table.h"

#include "base/banned.h"

static int
include_check_directory(const char *path, const struct stat *file,
    struct err *err)
{
	switch (table_is_replaceable(path, file)) {
	case 0:
		return 0;
	case 1:
		return err_set(err, "others could replace the list %s: chmod "
		    "go-w its directory", path);
	default:
		return err_sys(err, "the directory of the list %s", path);
	}
}

static int
include_check_file(const struct include *include, int64_t asker,
    struct err *err)
{
	const struct stat *st = &include->seen;
	const char *path = include->path;

	if (!S_ISREG(st->st_mode))
		return err_set(err, "the list %s is no regular file", path);
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return err_set(err, "the list %s can be written by others "
		    "than its owner: chmod go-w it", path);
	if (asker >= 0 && (int64_t)st->st_uid != asker &&
	    (st->st_mode & S_IROTH) == 0)
		return err_set(err, "the list %s is not for uid %lld to read",
		    path, (long long)asker);
	if (st->st_size > INCLUDE_BYTES_MAX)
		return err_set(err, "the list %s is larger than %d bytes",
		    path, INCLUDE_BYTES_MAX);
	return include_check_directory(path, st, err);
}

int
include_open(struct include *include, const char *path, int64_t asker,
    struct err *err)
{
	*include = (struct include){ .path = path };
	include->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (include->fd < 0)
		return err_sys(err, "open the list %s", path);
	if (fstat(include->fd, &include->seen) != 0)
		err_sys(err, "fstat the list %s", path);
	else if (include_check_file(include, asker, err) == 0) {
		include->buffer = mem_grow(NULL, INCLUDE_BUFFER_BYTES, 1);
		return 0;
	}
	close(include->fd);
	include->fd = -1;
	return -1;
}

/* More bytes after those that are unread. */
static int
include_fill(struct include *include, struct err *err)
{
	size_t left = include->end - include->begin;
	ssize_t got;

	memmove(include->buffer, include->buffer + include->begin, left);
	include->begin = 0;
	include->end = left;
	do
		got = read(include->fd, include->buffer + left,
		    INCLUDE_BUFFER_BYTES - left);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_sys(err, "read the list %s", include->path);
	include->is_end = got == 0;
	include->end += (size_t)got;
	return 0;
}

/* The rest of a line whose beginning was given away. */
static int
include_skip_line(struct include *include, struct err *err)
{
	for (;;) {
		size_t n = include->end - include->begin;
		struct slice bytes = { include->buffer + include->begin, n };
		size_t end = slice_find(bytes, '\n');

		include->begin += end;
		if (end < n || include->is_end)
			return 0;
		if (include_fill(include, err) < 0)
			return -1;
	}
}

enum include_result
include_line(struct include *include, struct slice *out_line,
    struct err *err)
{
	for (;;) {
		struct slice bytes = { include->buffer + include->begin,
			include->end - include->begin };
		size_t n = slice_find(bytes, '\n');

		if (n == bytes.n && !include->is_end &&
		    n <= INCLUDE_LINE_BYTES_MAX) {
			if (include_fill(include, err) < 0)
				return INCLUDE_TROUBLE;
			continue;
		}
		if (bytes.n == 0)
			return INCLUDE_END;
		include->line++;
		*out_line = slice_first(bytes, n);
		include->begin += n < bytes.n ? n + 1 : n;
		if (n <= INCLUDE_LINE_BYTES_MAX)
			return INCLUDE_LINE;
		*out_line = slice_first(bytes, INCLUDE_LINE_BYTES_MAX + 1);
		if (n < bytes.n)
			return INCLUDE_LINE;
		/* its slice would be overwritten: what counts is the length */
		if (include_skip_line(include, err) < 0)
			return INCLUDE_TROUBLE;
		include->begin += include->begin < include->end;
		return INCLUDE_LINE;
	}
}

int
include_close(struct include *include, struct err *err)
{
	struct stat now;
	int result = 0;

	if (include->fd < 0)
		return 0;
	if (fstat(include->fd, &now) != 0)
		result = err_sys(err, "fstat the list %s", include->path);
	else if (now.st_size != include->seen.st_size ||
	    now.st_mtim.tv_sec != include->seen.st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != include->seen.st_mtim.tv_nsec)
		result = err_set(err, "the list %s was changed while it was "
		    "read", include->path);
	close(include->fd);
	include->fd = -1;
	mem_free(&include->buffer);
	return result;
}
