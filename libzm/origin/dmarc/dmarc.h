/* dmarc.h - did the author's domain authorize this mail?  (RFC 9989)
 *
 * In     the domain of From, what SPF and DKIM judged, answers of the DNS
 * Out    a judgement, and what the domain asks of receivers
 *
 * The organizational domain is found by walking up the tree with at most 8
 * questions.  A look-up that fails is a temperror, never a fail.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DMARC_H
#define ZM_ORIGIN_DMARC_H

#include "origin/answers.h"
#include "origin/dkim/dkim.h"
#include "origin/dmarc/policy.h"
#include "origin/origin.h"
#include "origin/spf/spf.h"

enum { DMARC_QUESTIONS_MAX = 8 };	/* of one walk (section 4.10) */

struct dmarc {
	enum origin	 origin;
	struct slice	 domain;	/* of From, lower case, A-labels */
	struct slice	 organization;	/* its organizational domain */
	struct slice	 record;	/* as published; empty: none */
	struct slice	 record_at;	/* the name whose policy it is */
	struct slice	 trouble_at;	/* the name whose policy cannot be
					 * looked up now; empty: none */
	enum dmarc_policy policy;	/* p, sp or np, whichever counts; t=y
					 * weakens it by a step */
	enum dmarc_policy asked;	/* the same, not weakened */
	bool		 is_testing;	/* t=y */
	bool		 is_spf_aligned, is_dkim_aligned;
	struct slice	 rua;		/* where reports go, as published */
	const char	*reason;	/* a sentence for a postmaster */
};

/* The only domain of From, in the arena; false: there is none to judge, and
 * *out_instead is the judgement.  That is none where From is missing or names
 * no domain; several where it names more than one, which are exempt (RFC 9989
 * section 5.3.1); permerror for two fields From, or one that cannot be read: no
 * reader is bound to show what was judged (RFC 5322 section 3.6 allows
 * neither). */
bool dmarc_author(struct slice message, struct arena *arena,
    struct slice *out, struct dmarc *out_instead);

/* Judge.  spf may be NULL: not judged. */
enum origin dmarc_judge(struct answers *answers, struct slice author,
    const struct spf *spf, const struct dkim dkims[], size_t dkim_count,
    struct arena *arena, struct dmarc *out);

#endif
