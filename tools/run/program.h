/* program.h - which file a process was started from, and which lies there now
 *
 * Programs are installed over those that run: until `zmailer upgrade` the
 * daemons are older than what is installed.
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

/* The file at path as it is now; out->path is "" when it is not there or its
 * name is longer. */
void program_look(const char *path, struct program *out);
/* The file that this process was started from, as program_look. */
void program_look_self(struct program *out);

/* Processes of a running instance whose file is another one now, or gone: a
 * sentence is added to out, without the next step.  False: there are none. */
bool program_add_older(struct str *out, const struct state *state);
/* The next step for it: of what cannot hand over, a restart. */
const char *program_older_next(const struct state *state);

#endif
