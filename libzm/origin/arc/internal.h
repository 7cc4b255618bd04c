/* internal.h - between the files of ARC
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_ARC_INTERNAL_H
#define ZM_ORIGIN_ARC_INTERNAL_H

#include "origin/arc/arc.h"
#include "origin/dkim/internal.h"

enum arc_kind { ARC_RESULTS, ARC_MESSAGE, ARC_SEAL, ARC_KINDS };

struct arc_part {		/* one of the three fields of a set */
	struct header_field field;	/* .whole.n 0: not there */
	struct slice	    results;	/* only of ARC_RESULTS */
	struct dkim_field   said;	/* of the others */
	struct dkim	    out;	/* the same: names, what is wrong */
	struct dkim_key	    key;
	bool		    is_read;
};

struct arc_chain {		/* a message that is being judged */
	struct arena	*arena;
	struct answers	*answers;
	int64_t		 received_s;
	struct header_field *fields;	/* all of the header */
	size_t		 field_count;
	struct slice	 body;
	struct arc_part	(*parts)[ARC_KINDS];	/* ARC_SETS_MAX of them, the
						 * oldest first */
	size_t		 bytes;		/* of their fields */
	size_t		 count;		/* of sets; there may be gaps until
					 * that was checked */
	struct arc	*out;
};

/* ---- read.c: the sets as written (RFC 8617 section 4) --------------- */

/* Read a header.  ORIGIN_NONE: nobody sealed it; ORIGIN_PASS: the sets from 1
 * on are complete and their fields can be read, and out->sets has them; else
 * out has result and reason. */
enum origin arc_read(struct arc_chain *chain, struct slice message);

/* Let the chain fail for this reason; returns ORIGIN_FAIL. */
enum origin arc_fail(struct arc_chain *chain, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
