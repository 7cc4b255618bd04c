/* whole.c - is a message file what its writer completed?
 *
 * In     a descriptor, or bytes
 * Out    yes; no, and what is wrong
 * Holds  nothing; a piece at a time
 * Trusts nothing: the length is counted, the checksum is taken of every byte
 * Spec   doc/INTERNALS.md section 1.1
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/crc32c.h"
#include "base/fd.h"
#include "base/mem.h"
#include "mail/first_line.h"
#include "mail/whole.h"

#include "base/banned.h"

enum { PIECE_BYTES = 16384 };

/* bytes: of the file after its first line, with this checksum. */
static enum whole
whole_judge(const struct first_line *line, uint64_t bytes, uint32_t crc,
    struct err *err)
{
	if (bytes == line->bytes && crc == line->crc)
		return WHOLE_YES;
	if (bytes != line->bytes)
		err_set(err, "the file has %llu bytes after its first line, it "
		    "should have %llu", (unsigned long long)bytes,
		    (unsigned long long)line->bytes);
	else
		err_set(err, "the file is damaged: its checksum does not fit");
	return WHOLE_DAMAGED;
}

static enum whole
whole_begin(struct slice front, struct first_line *line, struct err *err)
{
	if (first_line_read(front, line))
		return WHOLE_YES;
	err_set(err, "the file was never completed");
	return WHOLE_DAMAGED;
}

enum whole
whole_bytes(struct slice file, struct err *err)
{
	struct slice rest = slice_from(file, DRAFT_FIRST_LINE_BYTES);
	struct first_line line;

	if (!first_line_is_there(file))
		return WHOLE_YES;
	if (whole_begin(file, &line, err) != WHOLE_YES)
		return WHOLE_DAMAGED;
	if (rest.n != line.bytes)
		return whole_judge(&line, rest.n, 0, err);
	return whole_judge(&line, rest.n, crc32c(0, rest.p, rest.n), err);
}

static enum whole
whole_pieces(int fd, char piece[PIECE_BYTES], struct err *err)
{
	struct slice bytes = { piece, 0 };
	struct first_line line = { 0, 0 };
	uint64_t at = 0;
	uint32_t crc = 0;
	ssize_t n;

	do {
		n = fd_read_at(fd, piece, PIECE_BYTES, at);
		if (n < 0) {
			err_sys(err, "read the message file");
			return WHOLE_UNREADABLE;
		}
		bytes.n = (size_t)n;
		if (at == 0) {
			if (!first_line_is_there(bytes))
				return WHOLE_YES;
			if (whole_begin(bytes, &line, err) != WHOLE_YES)
				return WHOLE_DAMAGED;
			bytes = slice_from(bytes, DRAFT_FIRST_LINE_BYTES);
		}
		crc = crc32c(crc, bytes.p, bytes.n);
		bytes.p = piece;
		at += (uint64_t)n;
	} while (n == PIECE_BYTES);
	return whole_judge(&line, at - DRAFT_FIRST_LINE_BYTES, crc, err);
}

/* On the heap: the stack of an agent in a thread stays as deep as it once
 * was. */
enum whole
whole_file(int fd, struct err *err)
{
	char *piece = mem_grow(NULL, 1, PIECE_BYTES);
	enum whole result = whole_pieces(fd, piece, err);

	mem_free(&piece);
	return result;
}
