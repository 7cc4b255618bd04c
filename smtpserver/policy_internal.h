/* policy_internal.h - what policy.c and policy_fit.c share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_INTERNAL_H
#define ZM_SMTPSERVER_POLICY_INTERNAL_H

#include "mail/table.h"
#include "smtpserver/policy.h"

struct policy {
	const struct conf	 *conf;
	struct table		**tables;	/* as conf->tables */
	struct arena		 *scratch;
};

/* An address in the form that rules are compared with. */
struct canonical {
	struct slice	local, domain;
	struct slice	text;		/* "local@domain", "local", "" */
};

/* One asking. */
struct trial {
	struct policy			*policy;
	const struct policy_question	*question;
	struct canonical		 sender, rcpt;
	struct policy_verdict		*out;	/* err and need are filled */
};

enum fit {
	FIT_NO,
	FIT_YES,
	FIT_NEED,		/* out->need says what */
	FIT_TROUBLE		/* out->err says why */
};

/* Do all conditions of the rule fit?  Cheap ones are looked at first, so
 * that nothing is asked in vain.  *out_why: the condition that did not, or
 * that needs something; static. */
enum fit rule_fit(struct trial *trial, const struct conf_rule *rule,
    const char **out_why);

#endif
