/* read.h - the files of ZMailer 2.99, as bytes
 *
 * Pure: bytes in, lines out; a malformed line is kept with what is wrong with
 * it.  Slices point into the text or the arena.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_ANCESTOR_READ_H
#define ZM_TOOLS_IMPORT_ANCESTOR_READ_H

#include "base/mem.h"
#include "base/str.h"

struct ancestor_line {
	struct slice	 name, value;	/* without quotes */
	unsigned	 line;
	bool		 is_below;	/* it begins with a blank */
	const char	*wrong;		/* NULL: nothing; name is the line */
};
struct ancestor_lines {		/* zeroed but for rest */
	struct slice	rest;
	unsigned	line;
};

/* The next line of zmailer.conf or mail.conf: [export] NAME=VALUE.
 * returns false at the end */
bool ancestor_assignment_next(struct arena *arena,
    struct ancestor_lines *lines, struct ancestor_line *out);
/* The next line that is neither empty nor a comment: its first word, and the
 * rest.  returns false at the end */
bool ancestor_line_next(struct ancestor_lines *lines,
    struct ancestor_line *out);
/* The next setting of a line of scheduler.conf: NAME, NAME=WORD,
 * NAME="WORDS".  returns false at the end */
bool ancestor_setting_next(struct slice *rest, struct slice *out_name,
    struct slice *out_value);

#endif
