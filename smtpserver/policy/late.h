/* late.h - rules about mail authentication
 *
 * SPF needs no message.  A rule that asks for SPF and no other result decides
 * at RCPT, as any rule does, if the helper can be asked there (origin/judge.h).
 *
 * All others wait: if all other conditions of such a rule fit at RCPT, it is
 * left open, and the policy goes on to what decides without it.  When the
 * message is complete and was authenticated, the open rules are tried in their
 * order, and the first that fits decides; if none does, the decision without
 * them holds.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_LATE_H
#define ZM_SMTPSERVER_POLICY_LATE_H

#include "conf/conf.h"
#include "origin/dmarc/policy.h"
#include "origin/origin.h"
#include "smtpserver/origin/judge.h"

struct late_rules {		/* in file order; shadows among them */
	const struct conf_rule	*all[POLICY_LATE_MAX];
	unsigned		 count;
	bool			 may_take;	/* one of them accepts: a
						 * refusal waits */
};

struct late_origin {		/* what was judged */
	enum origin	  spf, dkim, dmarc;
	enum dmarc_policy policy;
	struct slice	  sealer;	/* a trusted one that saw DMARC pass
					 * before it failed here; or empty */
	struct slice	  signers;	/* "a.example,b.example": of good
					 * signatures, in lower case */
	enum origin	  dkim2;	/* none where it is not asked for */
	const struct judge_names *names;	/* or NULL */
};

enum {
	LATE_REPLY_BYTES = 400	/* a name that would make it longer is left
				 * out: a line of a reply has 512 (RFC 5321
				 * section 4.5.3.1.5) */
};

/* Leave a rule open. */
void late_add(struct late_rules *late, const struct conf_rule *rule,
    bool is_ours);
/* May one of them refuse the message, or set it aside? */
bool late_may_refuse(const struct late_rules *late);
/* Do they have the same rules? */
bool late_rules_equal(const struct late_rules *a, const struct late_rules *b);

/* Do all results that the rule asks for fit? */
bool late_fits(const struct conf_rule *rule, const struct late_origin *origin);

/* Does the rule ask for SPF, and for no other result? */
bool late_is_of_spf(const struct conf_rule *rule);
bool late_spf_fits(const struct conf_rule *rule, enum origin spf);

/* The status of a refusal by this rule, by RFC 7372 section 3: "5.7.26", or
 * "4.7.26" for now; of DKIM2 alone "5.7.7", "4.7.5" (RFC 3463 section 3.8;
 * draft-ietf-dkim-dkim2-spec-04 section 10.4); static. */
const char *late_status(const struct conf_rule *rule);

/* Append the reply to a message that the rule refuses: its words, and "SPF
 * fail, DKIM none, DMARC fail (its policy: reject)", and "DKIM2 fail" if the
 * rule asks for that.  Where names are known, each of those that it asks for
 * has its own in parentheses: the record, the key, of DKIM2 the reason (its
 * draft, section 11.1).  A rule by DMARC asks for SPF and DKIM as well. */
void late_add_reply(struct str *out, const struct conf_rule *rule,
    const struct late_origin *origin);
/* The same at RCPT: its words, and "SPF fail (RECORD)"; at may be empty. */
void late_add_reply_spf(struct str *out, const struct conf_rule *rule,
    enum origin spf, struct slice at);

#endif
