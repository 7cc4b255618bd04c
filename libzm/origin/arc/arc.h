/* arc.h - who forwarded this message, and what had they seen?  (RFC 8617)
 *
 * In     a message as it came, answers of the DNS
 * Out    a judgement of its chain of seals, and what each of them says
 *
 * A chain passes when nobody changed the message after the last seal, and
 * each seal is good.  What it says is worth as much as those who sealed it:
 * arc_vouches compares them with a list of ours.  We never seal.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_ARC_H
#define ZM_ORIGIN_ARC_H

#include "origin/answers.h"
#include "origin/origin.h"

enum {
	ARC_SETS_MAX = 50,		/* RFC 8617 section 5.1.1 */
	ARC_BYTES_MAX = 256 << 10	/* of their fields */
};

struct arc_set {		/* of one that forwarded the message */
	struct slice	domain, selector;	/* of its seal: d=, lower case,
						 * and s= */
	struct slice	results;	/* what it claims to have seen (RFC
					 * 8601), after "i=N;" */
};

struct arc {
	enum origin	 origin;	/* none, pass, fail, temperror */
	size_t		 count;
	struct arc_set	*sets;		/* count of them, the oldest first;
					 * NULL: they could not be read */
	const char	*reason;	/* a sentence for a postmaster */
};

/* Judge.  The keys of the last set are asked for first; if it is good, those of
 * the others.  A key that cannot be looked up now is a temperror.
 * returns out->origin; ORIGIN_ASKS: out is not filled in yet */
enum origin arc_judge(struct answers *answers, struct slice message,
    int64_t received_s, struct arena *arena, struct arc *out);

/* The sealers that we trust: ".lists.example" means all below it. */
struct arc_trust {
	const char *const *domains;
	size_t		 count;
};

/* Does a good chain say that the mail once passed DMARC for the author's
 * domain?  The sets count from the last one down to the first that is not of a
 * trusted sealer: dmarc=pass for the domain, or, in a set without DMARC, SPF or
 * DKIM passed for exactly this domain.
 * returns the set; NULL: no */
const struct arc_set *arc_vouches(const struct arc *arc,
    const struct arc_trust *trust, struct slice author, struct arena *arena);

#endif
