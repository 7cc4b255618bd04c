/* tops.h - the senders, users, clients and domains with most mail
 *
 * Counts are exact up to TOPS_NAMES_MAX names of a sort.  With one more name,
 * the half with the smallest counts is forgotten, and only their sum is kept:
 * so a flood of names that come once does not hide those that come often.  A
 * forgotten name that comes again begins at zero; the table says if there were
 * any.
 *
 * A failure counts for the sender, user and client of its message if that is
 * among the last TOPS_MESSAGES.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_TOPS_H
#define ZM_TOOLS_REPORT_TOPS_H

#include "base/str.h"

enum tops_sort { TOPS_SENDERS, TOPS_USERS, TOPS_CLIENTS, TOPS_DOMAINS,
	TOPS_SORTS };
enum tops_by { TOPS_BY_COUNT, TOPS_BY_BYTES, TOPS_BY_FAILURES, TOPS_BYS };

enum {
	TOPS_NAMES_MAX = 8192,		/* of a sort */
	TOPS_MESSAGES = 65536,
	TOPS_NAME_BYTES = 80,		/* kept of a name, with its NUL */
	TOPS_SHOWN = 20, TOPS_SHOWN_EACH = 5
};

struct tops_row {
	uint64_t	hash;		/* of the whole name */
	uint64_t	numbers[TOPS_BYS];
	char		name[TOPS_NAME_BYTES];
};

struct tops_table {
	struct tops_row	*rows;
	size_t		 count;
	uint32_t	*slots;		/* hash: index + 1 */
	uint64_t	 forgotten;	/* names */
	uint64_t	 others[TOPS_BYS];	/* what they had */
};

struct tops_message;			/* sender, user and client of one */

struct tops {
	struct tops_table tables[TOPS_SORTS];
	struct tops_message *messages;
	struct str	 value;		/* scratch */
};

/* Begin to count; free it. */
void tops_init(struct tops *tops);
void tops_release(struct tops *tops);

/* Count one line of the journal; ev is its name. */
void tops_count_line(struct tops *tops, struct slice ev, struct slice line);

/* Parse "senders" ...; "count" ....  -1: it is not such a word. */
int tops_sort_parse(const char *text);
int tops_by_parse(const char *text);

/* Sort the rows, the largest first; counting may continue after it. */
void tops_order(struct tops *tops, enum tops_sort sort, enum tops_by by);
/* Append a table for people with at most `most` rows, heads included; nothing
 * if there is no name.  Or a line of JSON for each row, at most `most`. */
void tops_print(struct tops *tops, enum tops_sort sort, enum tops_by by,
    size_t most, struct str *out);
void tops_print_json(struct tops *tops, enum tops_sort sort, enum tops_by by,
    size_t most, struct str *out);

#endif
