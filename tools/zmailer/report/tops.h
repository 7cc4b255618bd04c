/* tops.h - who has most: senders, users, clients, domains
 *
 * Exact up to TOPS_NAMES_MAX names of a sort.  With one name more the lighter
 * half is forgotten, and what it had is kept as a sum: floods of names that
 * come once hide nobody who comes often.  A name that was forgotten and comes
 * again begins at zero; the table says when some were.
 *
 * A failure belongs to the sender, user and client of its message when that
 * is among the last TOPS_MESSAGES.
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

struct tops_message;			/* whose a message is */

struct tops {
	struct tops_table tables[TOPS_SORTS];
	struct tops_message *messages;
	struct str	 value;		/* scratch */
};

/* Nothing is counted yet; the end of what was. */
void tops_init(struct tops *tops);
void tops_release(struct tops *tops);

/* Count one line of the journal; ev is its name. */
void tops_count_line(struct tops *tops, struct slice ev, struct slice line);

/* "senders" ...; "count" ...; -1: it is none. */
int tops_sort_parse(const char *text);
int tops_by_parse(const char *text);

/* The rows in order, the largest first; counting goes on after it. */
void tops_order(struct tops *tops, enum tops_sort sort, enum tops_by by);
/* A table for people with at most so many rows, heads included; nothing when
 * there is no name.  A line of JSON for each of most rows. */
void tops_print(struct tops *tops, enum tops_sort sort, enum tops_by by,
    size_t most, struct str *out);
void tops_print_json(struct tops *tops, enum tops_sort sort, enum tops_by by,
    size_t most, struct str *out);

#endif
