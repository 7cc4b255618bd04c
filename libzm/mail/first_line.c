/* first_line.c - the line that says that a message file is whole
 *
 * In     the front of a file
 * Out    how long it promises to be, and its checksum
 * Holds  nothing
 * Spec   doc/INTERNALS.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/crc32c.h"
#include "mail/first_line.h"

#include "base/banned.h"

enum {
	COUNT_AT = 9,			/* after "complete " */
	CRC_AT = COUNT_AT + FIRST_LINE_COUNT_DIGITS + 1,
	CRC_DIGITS = 8
};

bool
first_line_is_there(struct slice file)
{
	return slice_starts(file, "complete ");
}

bool
first_line_read(struct slice file, struct first_line *out)
{
	uint32_t crc = 0;

	if (file.n < DRAFT_FIRST_LINE_BYTES || !first_line_is_there(file) ||
	    file.p[CRC_AT - 1] != ' ' ||
	    file.p[DRAFT_FIRST_LINE_BYTES - 1] != '\n' ||
	    !slice_number((struct slice){ file.p + COUNT_AT,
	    FIRST_LINE_COUNT_DIGITS }, 0, INT64_MAX, &out->bytes))
		return false;
	for (int i = CRC_AT; i < CRC_AT + CRC_DIGITS; i++) {
		int digit = ascii_is_upper(file.p[i]) ? -1 :
		    ascii_hex(file.p[i]);

		if (digit < 0)
			return false;
		crc = crc << 4 | (uint32_t)digit;
	}
	out->crc = crc;
	return true;
}

void
first_line_make(const struct first_line *line,
    char out[DRAFT_FIRST_LINE_BYTES + 1])
{
	static const char shown[] = "complete 000000000000 ........\n";
	char room[DECIMAL_BYTES];
	struct slice digits = slice_decimal(line->bytes, room);

	memcpy(out, shown, sizeof(shown));
	memcpy(out + CRC_AT - 1 - digits.n, digits.p, digits.n);
	hex_put(out + CRC_AT, line->crc, CRC_DIGITS);
}
