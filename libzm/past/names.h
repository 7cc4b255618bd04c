/* names.h - the names of the files of the journal, and their meaning
 *
 *	events-2026-11-20.jsonl		being written
 *	events-2026-11-20.001.jsonl	closed: full, or its day is over
 *	events-2026-11-20.001.jsonl.zst	packed
 * Days are UTC.  The order of the names is the order of the parts.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_PAST_NAMES_H
#define ZM_PAST_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	JOURNAL_NAME_BYTES = 40,
	JOURNAL_PARTS_MAX = 999,	/* of a day */
	JOURNAL_FILES_MAX = 100000	/* looked at in a directory */
};
#define JOURNAL_DAY_MS	INT64_C(86400000)

struct journal_name {
	char		text[JOURNAL_NAME_BYTES];
	int64_t		since_ms, until_ms;	/* its day */
	unsigned	number;		/* 0: being written */
	bool		is_packed;
	bool		is_left_over;	/* a closed part that also exists
					 * packed */
};

struct journal_names {
	struct journal_name *rows;	/* oldest first */
	size_t		 count;
};

/* Parse a name; false: it is not one of ours. */
bool journal_name_parse(const char *text, struct journal_name *out);

/* All files of the journal in a directory.  0 or -1. */
int names_list(int dir_fd, struct journal_names *out, struct err *err);
void names_release(struct journal_names *names);

#endif
