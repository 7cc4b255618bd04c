/* runfile.h - a file of the run directory that may be lost
 *
 * What was learned and is only worth keeping: text, written now and then
 * beside itself and renamed, never synced.  Half of it is never read.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_RUNFILE_H
#define ZM_SCHEDULER_RUNFILE_H

#include "base/str.h"

enum { RUNFILE_BYTES_MAX = 16 << 20 };

struct runfile {
	char		*path;		/* NULL: nothing is read or written */
	uint32_t	 written;	/* checksum of what it holds */
};

/* Name the file of that directory. */
void runfile_open(struct runfile *file, const char *run_dir,
    const char *name);
void runfile_release(struct runfile *file);

/* Append what it holds to out.  False: it is not there, cannot be read or is
 * too long; out is as before then. */
bool runfile_read(const struct runfile *file, struct str *out);

/* Write head, a first line about the file, and text, when text is news.
 * What cannot be written is tried with the next news. */
void runfile_write(struct runfile *file, const char *head,
    const struct str *text);

#endif
