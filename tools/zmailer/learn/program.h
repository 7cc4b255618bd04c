/* program.h - a message on the standard input of the site's program
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_LEARN_PROGRAM_H
#define ZM_TOOLS_LEARN_PROGRAM_H

#include "base/str.h"
#include "conf/conf.h"

enum { LEARN_OUTPUT_BYTES_MAX = 2048 };	/* of what it says; the rest is
					 * read and forgotten */

/* Run the program as its account, with text on its standard input, and wait
 * for its end, at most learn->timeout_ms; then it and what it started are
 * killed.  out_said: what it wrote, up to the bound.
 * returns 0: it ended with 0; -1 with err: it did not, could not be started, or
 * its account is root, is missing or cannot be taken */
int learn_program_run(const struct conf_learn *learn, struct slice text,
    struct str *out_said, struct err *err);

#endif
