/* spf.h - may this client send for this domain?  (RFC 7208)
 *
 * In     client, HELO, MAIL FROM, answers of the DNS
 * Out    a judgement, and the words that explain it
 *
 * It has all limits of RFC 7208 section 4.6.4: 10 terms that look up, 2
 * look-ups without records, 10 names of an MX, 10 of a PTR.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_SPF_H
#define ZM_ORIGIN_SPF_H

#include "origin/answers.h"
#include "origin/origin.h"

enum {
	SPF_TERMS_MAX = 10,	/* that look up (section 4.6.4) */
	SPF_VOIDS_MAX = 2,	/* look-ups without records */
	SPF_NAMES_MAX = 10,	/* of one MX, of one PTR */
	SPF_RECORD_MAX = 4096	/* bytes read of a record */
};

struct spf_ask {
	struct net	 client;
	struct slice	 helo;
	struct slice	 sender;	/* of MAIL FROM; empty: postmaster at
					 * HELO is judged (section 2.4) */
	struct slice	 receiver;	/* our name, for macros in exp */
	int64_t		 now_s;		/* since 1970, for the macro t */
};

struct spf {
	enum origin	 origin;
	struct slice	 domain;	/* the domain judged */
	struct slice	 record;	/* the record that decided, as
					 * published; or empty */
	struct slice	 record_at;	/* where it is published (include,
					 * redirect lead elsewhere) */
	struct slice	 term;		/* its term that decided: "-all" */
	struct slice	 exp;		/* the domain's explanation of a fail:
					 * printable ASCII, or empty */
	const char	*reason;	/* a sentence for a postmaster */
	unsigned	 terms, voids;	/* so far, against the limits */
};

/* Judge.  What out points to is in the arena, or in the answers.
 * returns out->origin; ORIGIN_ASKS: out is not filled in yet */
enum origin spf_judge(struct answers *answers, const struct spf_ask *ask,
    struct arena *arena, struct spf *out);

#endif
