/* table.h - the lines of a record that is handed over; internal to
 * handover
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_HANDOVER_TABLE_H
#define ZM_TOOLS_RUN_HANDOVER_TABLE_H

#include "tools/run/handover/handover.h"

enum handover_kind {
	HANDOVER_NONE,		/* after the last one */
	HANDOVER_NUMBER,	/* int64_t, not negative */
	HANDOVER_FLAG,		/* bool: 0, 1 */
	HANDOVER_FD,		/* int; "-": none */
	HANDOVER_WORD,		/* char[], without blanks */
	HANDOVER_TEXT		/* char[]: the rest of the line */
};

/* What a descriptor must be. */
enum {
	HANDOVER_FILE = 1, HANDOVER_SOCKET = 2, HANDOVER_LISTENING = 4,
	HANDOVER_PIPE = 8,
	HANDOVER_LOCK = 32,	/* of a file or a directory */
	HANDOVER_MAYBE = 16	/* there may be none */
};

enum { HANDOVER_FIELDS_MAX = 13 };

struct handover_field {
	enum handover_kind kind;
	size_t		   at;		/* in its row */
	unsigned	   more;	/* bytes of a text; what a descriptor
					 * is */
};

struct handover_line {
	const char	*word;
	size_t		 at, bytes, max;	/* of its rows */
	size_t		 count_at;
	struct handover_field fields[HANDOVER_FIELDS_MAX];
};
extern const struct handover_line handover_lines[];	/* the last: NULL */

/* How many rows of a line there are. */
size_t handover_rows(const struct handover_line *line,
    const struct handover *handover);
/* One of them. */
const void *handover_row(const struct handover_line *line,
    const struct handover *handover, size_t i);

#endif
