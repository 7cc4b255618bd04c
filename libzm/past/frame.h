/* frame.h - closed parts of the journal, packed so that they can be searched
 *
 * A packed part is pairs of a head and a Zstandard frame (RFC 8878) of at most
 * FRAME_RAW_MAX bytes of whole lines.  `zstdcat` prints the part as it was,
 * because the head is a skippable frame (section 3.1.2).  The head has the
 * first and last time in the lines, and a filter (B. H. Bloom: "Space/time
 * trade-offs in hash coding with allowable errors", 1970) of every value that
 * trace asks for: id, session, client, from, to, user, orcpt, msgid, dsn.  So a
 * question for one message unpacks only a few frames of a thousand.
 *
 * A build without Zstandard leaves parts as they are and cannot read packed
 * ones.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_PAST_FRAME_H
#define ZM_PAST_FRAME_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	FRAME_RAW_MAX = 1024 * 1024,
	FRAME_FILTER_BYTES = 8192	/* 10 bits for each of 6500 values */
};

/* The key of a value that lines are searched for: without < >, "rfc822;", case
 * and, for a client, the port. */
struct frame_key { uint64_t low, high; };
struct frame_key frame_key_of(struct slice value);
/* "192.0.2.1" of "192.0.2.1:4711", "2001:db8::1" of "[2001:db8::1]:25". */
struct slice frame_client(struct slice value);
/* "a@b" of "<a@b>" and "rfc822;a@b". */
struct slice frame_bare(struct slice value);

struct frame {			/* borrows from the file */
	int64_t		 first_ms, last_ms;
	size_t		 raw_bytes;
	struct slice	 filter, packed;
};

/* The next frame of a packed file; *offset starts at 0.  false: there are no
 * more, or the rest is damaged. */
bool frame_next(struct slice file, size_t *offset, struct frame *out);
/* false: none of its lines has the value. */
bool frame_may_have(const struct frame *frame, const struct frame_key *key);
/* Replace *out's text by its lines; false: they are damaged. */
bool frame_unpack(const struct frame *frame, struct str *out);

/* Write the lines of a part as frames to out_fd.  0 or -1. */
int frames_write(struct slice lines, int out_fd, struct err *err);
/* Can this build pack? */
bool frames_can(void);

#endif
