/* abnf.h - sentences of a grammar, at random
 *
 * The grammar is text, as the RFCs write it (RFC 5234): alternatives with
 * "/", groups, options in [ ], repetition ("*", "1*3", "2"), strings in any
 * case, %d65, %d65-90, %x41, names of other rules.  No prose, no =/ .
 *
 * A sentence is finite: past ABNF_DEEP rules inside one another the first
 * alternative is taken, no option, and the least repetition.  So the first
 * alternative of a rule that comes back to itself must not.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_ABNF_H
#define ZM_TESTS_ABNF_H

#include "base/str.h"

enum { ABNF_DEEP = 24, ABNF_REPEATS = 4 };

struct abnf_rule {
	const char	*name, *body;
};

struct abnf {
	const struct abnf_rule	*rules;	/* ends with a name of NULL */
	uint64_t		 seed;	/* not 0; changes with each choice */
	unsigned		 depth;
};

/* A number below n, of the generator's own. */
unsigned abnf_random(struct abnf *abnf, unsigned n);

/* Append a sentence of the rule.  A rule that does not exist or cannot be
 * read fails the test. */
void abnf_make(struct abnf *abnf, const char *rule, struct str *out);

#endif
