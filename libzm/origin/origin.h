/* origin.h - the words of judgements by SPF, DKIM, DMARC, ARC, DKIM2
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_ORIGIN_H
#define ZM_ORIGIN_ORIGIN_H

#include "base/str.h"

/* RFC 8601 section 2.7; ORIGIN_SEVERAL and ORIGIN_ASKS are ours. */
enum origin {
	ORIGIN_NONE,		/* nothing is said about it */
	ORIGIN_PASS,
	ORIGIN_FAIL,
	ORIGIN_SOFTFAIL,	/* only SPF */
	ORIGIN_NEUTRAL,
	ORIGIN_POLICY,		/* DKIM: good, but not good enough for us */
	ORIGIN_TEMPERROR,	/* may be known later */
	ORIGIN_PERMERROR,	/* what is published cannot be read */
	ORIGIN_SEVERAL,		/* only DMARC: it is none, because From has
				 * addresses of several domains */
	ORIGIN_ASKS		/* answers.h has questions: ask, judge again */
};

/* "pass", "softfail" ... as RFC 8601 has them; "several", "asks". */
const char *origin_text(enum origin origin);
/* The same for others: ORIGIN_SEVERAL is "none". */
const char *origin_standard_text(enum origin origin);
/* The reverse, except of "asks"; false: it is not such a word. */
bool origin_of_text(struct slice text, enum origin *out);

/* A domain as the DNS has it: lower case, A-labels, in the arena.  Empty: there
 * is no such name. */
struct slice origin_name(struct arena *arena, struct slice domain);

#endif
