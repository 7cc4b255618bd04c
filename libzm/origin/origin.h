/* origin.h - whose mail it is: the words of judgements about it
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_ORIGIN_H
#define ZM_ORIGIN_ORIGIN_H

#include "base/str.h"

/* RFC 8601 section 2.7; ORIGIN_ASKS is ours. */
enum origin {
	ORIGIN_NONE,		/* nothing is said about it */
	ORIGIN_PASS,
	ORIGIN_FAIL,
	ORIGIN_SOFTFAIL,	/* SPF alone */
	ORIGIN_NEUTRAL,
	ORIGIN_POLICY,		/* DKIM: good, but not good enough for us */
	ORIGIN_TEMPERROR,	/* may be known later */
	ORIGIN_PERMERROR,	/* what is said cannot be read */
	ORIGIN_ASKS		/* answers.h has questions: ask, judge again */
};

/* "pass", "softfail" ... as RFC 8601 has them; "asks". */
const char *origin_text(enum origin origin);
/* The reverse, of all but "asks"; false: it is no such word. */
bool origin_of_text(struct slice text, enum origin *out);

#endif
