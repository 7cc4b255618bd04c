/* arc.h - who passed this message on, and what had they seen?  (RFC 8617)
 *
 * In     a message as it came, answers of the DNS
 * Out    a judgement of its chain of seals, and what each of them says
 *
 * A chain passes when nobody changed the message after the last seal, and
 * each seal is good.  What it says is worth as much as who sealed it:
 * arc_vouches asks that of a list of ours.  Never sealed here.
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

struct arc_set {		/* one that passed the message on */
	struct slice	domain, selector;	/* of its seal: d=, lower case,
						 * and s= */
	struct slice	results;	/* what it says it saw (RFC 8601),
					 * after "i=N;" */
};

struct arc {
	enum origin	 origin;	/* none, pass, fail, temperror */
	size_t		 count;
	struct arc_set	*sets;		/* count of them, the oldest first;
					 * NULL: they could not be read */
	const char	*reason;	/* a sentence for a postmaster */
};

/* Judge.  The keys of the last set are asked for first, and those of the
 * others when it is good.  A key that cannot be looked up now is a temperror.
 * out->origin; ORIGIN_ASKS: out says nothing yet. */
enum origin arc_judge(struct answers *answers, struct slice message,
    int64_t received_s, struct arena *arena, struct arc *out);

/* Who seals for us: ".lists.example" are all below it. */
struct arc_trust {
	const char *const *domains;
	size_t		 count;
};

/* Does a good chain say that the author's domain stood by this mail once?
 * Heard are the sets of those who are trusted, from the last one down to the
 * first one who is not: dmarc=pass for the domain, or, of who says nothing of
 * DMARC, SPF or DKIM passed for just this domain.
 * returns the set; NULL: no. */
const struct arc_set *arc_vouches(const struct arc *arc,
    const struct arc_trust *trust, struct slice author, struct arena *arena);

#endif
