/* read.h - sendmail.mc, as bytes
 *
 * Pure: bytes in, calls out; m4 is not run.  Text between calls is a
 * row of its own, and what is neither is kept with what is wrong with it, so
 * that nothing is passed over.  Comments (# and dnl) and what is diverted
 * (divert(-1)) are none.  Slices point into the arena.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_SENDMAIL_READ_H
#define ZM_TOOLS_IMPORT_SENDMAIL_READ_H

#include "base/mem.h"
#include "base/str.h"

enum { SENDMAIL_ARGUMENTS_MAX = 100, SENDMAIL_CALL_BYTES_MAX = 16384 };

struct sendmail_call {
	struct slice	 name;		/* "FEATURE"; of a text its section
					 * (LOCAL_CONFIG), or "text" */
	struct slice	*arguments;	/* quotes around all of one are off; of
					 * a text one, the line */
	size_t		 count;
	unsigned	 line;
	bool		 is_text;
	const char	*wrong;		/* NULL: nothing */
};
struct sendmail_reader {		/* zeroed: at the beginning */
	struct slice	rest;
	unsigned	line;		/* lines that lie before rest */
	struct slice	section;	/* LOCAL_CONFIG ..., or none */
	bool		is_diverted;
};

/* The next call or line of text.  returns false at the end */
bool sendmail_next(struct arena *arena, struct sendmail_reader *reader,
    struct sendmail_call *out);

#endif
