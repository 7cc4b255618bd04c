/* read.h - the files of Postfix, as bytes
 *
 * Pure: bytes in, rows out; anything malformed is kept as a row with what is
 * wrong with it, so that nothing is ignored.  Slices point into the text or the
 * arena.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_READ_H
#define ZM_TOOLS_IMPORT_READ_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

struct import_setting {		/* of main.cf: NAME = VALUE */
	struct slice	 name, value;	/* value: one line, not expanded */
	unsigned	 line;
	const char	*wrong;		/* NULL: nothing; name is the line */
};
struct import_settings {
	struct import_setting	*rows;
	size_t			 count;
};

enum { IMPORT_SERVICE_FIELDS = 7 };
struct import_service {		/* of master.cf */
	struct slice	 name, type, command, arguments;
	unsigned	 line;
	const char	*wrong;		/* NULL: nothing; name is the line */
};
struct import_services {
	struct import_service	*rows;
	size_t			 count;
};

struct import_entry {		/* of a table's source: KEY VALUE */
	struct slice	key, value;
	unsigned	line;
};
struct import_entries {
	struct import_entry	*rows;
	size_t			 count;
};

/* The next logical line of a file of Postfix: lines that begin with a blank
 * belong to the one before, comments and empty lines do not count.
 * *out_line is one line without blanks at its ends; *out_number is where it
 * begins.  returns false at the end */
struct import_lines {
	struct slice	rest;
	unsigned	number;		/* of the line that was read last */
};
bool import_line_next(struct arena *arena, struct import_lines *lines,
    struct slice *out_line, unsigned *out_number);

/* Read main.cf; master.cf; the source of a table (alias: KEY: VALUE). */
void import_read_main(struct arena *arena, struct slice text,
    struct import_settings *out);
void import_read_master(struct arena *arena, struct slice text,
    struct import_services *out);
void import_read_table(struct arena *arena, struct slice text,
    struct import_entries *out);

/* The next element of a list, between blanks and commas; the text in { } is one
 * element, without the braces.  returns false at the end */
bool import_list_next(struct slice *rest, struct slice *out_element);

/* The same, only between blanks: the words of a command. */
bool import_word_next(struct slice *rest, struct slice *out_word);

/* The value of a name; returns false when it is not known. */
typedef bool import_lookup_fn(void *context, struct slice name,
    struct slice *out_value);
/* Expand $name, ${name}, $(name), ${name?then:else} and ${name:else} in a
 * value.  returns 0; -1: a bracket is not closed, a name refers to itself, or
 * the result is too long */
int import_expand(struct arena *arena, struct slice value,
    import_lookup_fn *lookup, void *context, struct slice *out,
    struct err *err);

/* Append a query of mysql_table(5) with $1, $2, $3 for %s, %u, %d (sql.c).
 * returns NULL, or why that is impossible: then out is unfinished */
const char *import_query(struct slice query, bool is_mysql, struct str *out);

#endif
