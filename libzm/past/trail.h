/* trail.h - the journal from a place that is kept, a line at a time
 *
 * A part of the journal is renamed when it is closed and is another file when
 * it is packed.  A place finds it again all the same: it knows the part by a
 * checksum of its first line, and counts the bytes of its text.
 *
 * A trail goes on from part to part, and to lines that are written later.
 * Nothing of it waits: who has all lines asks again after a while.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_PAST_TRAIL_H
#define ZM_PAST_TRAIL_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	TRAIL_LINE_BYTES_MAX = 512 * 1024,	/* a longer one is left out */
	TRAIL_DAY_BYTES = 11
};

struct trail_place {
	char		day[TRAIL_DAY_BYTES];	/* of the part, "2026-11-20";
					 * "": the first part that there is */
	uint64_t	first;		/* the checksum of its first line */
	uint64_t	offset;		/* of the first byte not taken */
	int64_t		at_ms;		/* of the line before it, since 1970;
					 * -1: there is none */
};

/* Append it as four words. */
void trail_place_add(struct str *out, const struct trail_place *place);
/* Take these words from *rest.  false: they make no sense. */
bool trail_place_take(struct slice *rest, struct trail_place *out);
bool trail_place_equal(const struct trail_place *a,
    const struct trail_place *b);

/* The place after the last whole line that there is now.  dir_fd is the log
 * directory's and stays the caller's.  0 or -1. */
int trail_end(int dir_fd, struct trail_place *out, struct err *err);

struct trail;

/* dir_fd stays the caller's and open. */
struct trail *trail_new(int dir_fd);
void trail_free(struct trail **trail);

/* The next line is the one at this place. */
void trail_go(struct trail *trail, const struct trail_place *place);
/* Let go of the file, for a while: what the journal drops meanwhile takes no
 * room on the disk. */
void trail_rest(struct trail *trail);
/* Where it is. */
const struct trail_place *trail_at(const struct trail *trail);

enum trail_got {
	TRAIL_NONE,		/* there is no more yet, or it cannot be read
				 * now */
	TRAIL_LINE,
	TRAIL_GAP		/* lines after this moment are gone: the next
				 * line is the oldest that there is */
};

/* The next line without its LF (past/line.h: journal_line_whole); good until
 * the next call.  Of TRAIL_GAP out_line is empty. */
enum trail_got trail_next(struct trail *trail, struct slice *out_line);

#endif
