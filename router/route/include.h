/* include.h - the lines of a list file of any size
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_INCLUDE_H
#define ZM_ROUTER_INCLUDE_H

#include <sys/stat.h>

#include "base/err.h"
#include "base/str.h"

enum {
	INCLUDE_BUFFER_BYTES = 65536,
	INCLUDE_LINE_BYTES_MAX = 16384,	/* a longer line is not an address */
	INCLUDE_BYTES_MAX = 1 << 30
};

struct include {
	int		 fd;		/* -1: not open */
	const char	*path;
	struct stat	 seen;
	char		*buffer;
	size_t		 begin, end;	/* unread bytes in it */
	unsigned	 line;		/* number of the one read last */
	bool		 is_end;
};

/* Open a list file: a regular one that only its owner can write, in a directory
 * where nobody else could replace it.  asker: the uid in whose name it is read,
 * -2 the configuration's; for a user, only files are read that the user owns or
 * that everybody may read.
 * returns 0; -1: err says what to change. */
int include_open(struct include *include, const char *path, int64_t asker,
    struct err *err);

/* The next line without its end; valid until the next call.  Of a line that is
 * too long, the first INCLUDE_LINE_BYTES_MAX + 1 bytes. */
enum include_result { INCLUDE_TROUBLE = -1, INCLUDE_END, INCLUDE_LINE };
enum include_result include_line(struct include *include,
    struct slice *out_line,
    struct err *err);

/* Close the file.  0; -1: it changed while it was read. */
int include_close(struct include *include, struct err *err);

#endif
