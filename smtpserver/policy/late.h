/* late.h - rules that ask whose mail a message is
 *
 * SPF needs no message.  A rule that asks for it and for nothing else of the
 * origin decides at RCPT, as any rule does, when the helper can be asked there
 * (origin/judge.h).
 *
 * All others wait: at RCPT such a rule, whose other conditions all fit, is put
 * by: the policy goes on to what decides without it.  When the message has
 * come whole and was judged, the rules that were put by are tried in their
 * order, and the first that fits decides; when none does, what was decided
 * without them stands.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_LATE_H
#define ZM_SMTPSERVER_POLICY_LATE_H

#include "conf/conf.h"
#include "origin/dmarc/policy.h"
#include "origin/origin.h"

struct late_rules {		/* in file order; shadows among them */
	const struct conf_rule	*all[POLICY_LATE_MAX];
	unsigned		 count;
	bool			 may_take;	/* one of them accepts: a
						 * refusal waits */
};

struct late_origin {		/* what was judged */
	enum origin	  spf, dkim, dmarc;
	enum dmarc_policy policy;
	struct slice	  sealer;	/* who is trusted to have seen DMARC
					 * pass before it failed here; or
					 * empty */
	struct slice	  signers;	/* "a.example,b.example": of good
					 * signatures, in lower case */
};

/* Put a rule by. */
void late_add(struct late_rules *late, const struct conf_rule *rule,
    bool is_ours);
/* Have they the same rules? */
bool late_rules_equal(const struct late_rules *a, const struct late_rules *b);

/* Do all that the rule says of the origin fit? */
bool late_fits(const struct conf_rule *rule, const struct late_origin *origin);

/* Does the rule ask for SPF, and for nothing else of the origin? */
bool late_is_of_spf(const struct conf_rule *rule);
bool late_spf_fits(const struct conf_rule *rule, enum origin spf);

/* RFC 7372 section 3: what a refusal by this rule is about, "5.7.26", or
 * "4.7.26" for now; static. */
const char *late_status(const struct conf_rule *rule);

/* Append what is said of a message that the rule refuses: its words, and
 * "SPF fail, DKIM none, DMARC fail (its policy: reject)". */
void late_add_reply(struct str *out, const struct conf_rule *rule,
    const struct late_origin *origin);
/* The same at RCPT: its words, and "SPF fail". */
void late_add_reply_spf(struct str *out, const struct conf_rule *rule,
    enum origin spf);

#endif
