/* tar.h - the head of a member of a tar archive (POSIX ustar)
 *
 * Pure: 512 bytes to a struct and back.  A member is its head, its bytes,
 * and zeros up to the next multiple of 512; an archive ends with two blocks
 * of zeros.  A name has at most 256 bytes (100, a slash, and 155 before it); a
 * member at most 8 GiB less one byte.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_TAR_H
#define ZM_GRAMMAR_TAR_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { TAR_BLOCK_BYTES = 512, TAR_NAME_BYTES = 256 + 2 };
#define TAR_MEMBER_BYTES_MAX (((uint64_t)1 << 33) - 1)

struct tar_head {
	char		name[TAR_NAME_BYTES];	/* without leading "./" */
	uint64_t	size_bytes;
	unsigned	mode;			/* 07777 */
	int64_t		mtime_s;
	bool		is_file;		/* else a directory, a link,
						 * a comment: to be skipped */
};

/* Write the head of a regular file.  returns 0; -1: the name or the size does
 * not fit. */
int tar_head_format(const struct tar_head *head, char out[TAR_BLOCK_BYTES]);

enum tar_answer {
	TAR_HEAD_BAD = -1,
	TAR_HEAD_END = 0,
	TAR_HEAD = 1
};

/* Read a head.  returns TAR_HEAD_END for a block of zeros, TAR_HEAD_BAD with
 * err for a block that is not the head of a member. */
enum tar_answer tar_head_parse(const char block[TAR_BLOCK_BYTES],
    struct tar_head *out,
    struct err *err);

/* How many zeros follow a member of size_bytes. */
size_t tar_padding(uint64_t size_bytes);

#endif
