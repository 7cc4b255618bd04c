/* first_line.h - the line that says that a message file is whole
 *
 * "complete 000000004711 1a2b3c4d\n" has the number of bytes that follow it and
 * their CRC-32C.  It is written last, over blanks.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_FIRST_LINE_H
#define ZM_MAIL_FIRST_LINE_H

#include "base/str.h"

enum {
	DRAFT_FIRST_LINE_BYTES = 31,
	FIRST_LINE_COUNT_DIGITS = 12
};

struct first_line {
	uint64_t	bytes;		/* that follow */
	uint32_t	crc;		/* of them */
};

/* Does the file claim to have one?  A file made by a person has none. */
bool first_line_is_there(struct slice file);

/* Read it from the front of a file.  False: there is none, or it is cut. */
bool first_line_read(struct slice file, struct first_line *out);

/* Write it, with a NUL; bytes has at most FIRST_LINE_COUNT_DIGITS digits. */
void first_line_make(const struct first_line *line,
    char out[DRAFT_FIRST_LINE_BYTES + 1]);

#endif
