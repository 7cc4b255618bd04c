/* program.h - the file that a process was started from, and the present one
 *
 * Programs are installed over running ones: until `zmailer upgrade` the daemons
 * are older than the installed programs.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_PROGRAM_H
#define ZM_TOOLS_RUN_PROGRAM_H

#include <stdint.h>

#include "base/str.h"

struct state;

struct program {
	char	path[256];	/* "": not known */
	int64_t	made_s;		/* the file's mtime when it was started */
	int64_t	bytes;		/* its size then */
};

/* Look at the present file at path; out->path is "" if it is not there or its
 * name is too long. */
void program_look(const char *path, struct program *out);
/* The file that this process was started from, as program_look. */
void program_look_self(struct program *out);

/* If files of running processes were replaced or removed: append a sentence to
 * out, without the next step.  False: there are none. */
bool program_add_older(struct str *out, const struct state *state);
/* The next step for this; a restart, if the supervisor cannot hand over. */
const char *program_older_next(const struct state *state);

#endif
