/* policy.h - who may send what to whom
 *
 * The accept, reject and freeze rules of a configuration, asked once for
 * each recipient.  Pure but for the tables that rules name.
 *
 *   1. postmaster, bare or of a domain of ours, is always accepted
 *      (RFC 5321 section 4.5.1), whatever the rules say.
 *   2. Rules in file order, the first that fits decides.  Without `for any`
 *      an accept rule speaks of our domains only.  A freeze rule accepts
 *      what is for our domains and marks the message; for other domains it
 *      marks only: whether to relay is for the rules behind it to say.
 *   3. No rule decided: domains of ours accepted, everything else refused.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_H
#define ZM_SMTPSERVER_POLICY_H

#include "base/err.h"
#include "daemon/conf.h"
#include "grammar/net.h"
#include "grammar/path.h"

struct policy;

/* Rules and tables of conf, which must outlive the policy. */
struct policy *policy_new(const struct conf *conf);
void policy_free(struct policy **policy);

struct policy_question {
	struct net	client;
	struct path	sender;		/* null path: <> */
	struct path	rcpt;		/* no domain: <postmaster> */
};

enum policy_result {
	POLICY_ACCEPT,
	POLICY_REJECT,		/* a rule said so */
	POLICY_NO_RELAY,	/* not our domain, and no rule allows it */
	POLICY_TROUBLE		/* a table cannot be read: err says which */
};

struct policy_verdict {
	enum policy_result	 result;
	const struct conf_rule	*rule;		/* who decided; or NULL */
	const struct conf_rule	*freeze;	/* set the message aside */
	struct err		 err;
};

void policy_ask(struct policy *policy, const struct policy_question *question,
    struct policy_verdict *out);

#endif
