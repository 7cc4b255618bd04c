/* policy.h - who may send what to whom
 *
 * The rules of a configuration, asked for each recipient.  Pure but for the
 * tables that rules name: what only others know (the DNS, counters, what
 * happened before) is looked for among the facts, and when it is not there
 * the verdict is POLICY_NEED with the question to be asked; with its answer
 * among the facts the policy is asked again.  So nothing is asked that no
 * rule needs.
 *
 *   1. postmaster, bare or of a domain of ours, is always accepted
 *      (RFC 5321 section 4.5.1), whatever the rules say.
 *   2. Rules in file order, the first that fits decides.  Without `for any`
 *      an accept rule speaks of our domains only.  A freeze rule accepts
 *      what is for our domains and marks the message; for other domains it
 *      marks only: whether to relay is for the rules after it to say.
 *      A shadow rule is noted in the verdict and decides nothing.
 *   3. A rule about whose mail it is (late.h), unless SPF alone tells, is
 *      put by in the verdict.  If it might take the message, a rule that
 *      refuses after it is held.
 *   4. No rule decided: domains of ours accepted, everything else refused.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_POLICY_H
#define ZM_SMTPSERVER_POLICY_POLICY_H

#include "base/err.h"
#include "conf/conf.h"
#include "grammar/net.h"
#include "grammar/smtp/path.h"
#include "smtpserver/policy/facts.h"
#include "smtpserver/policy/late.h"

struct policy;

/* Rules and tables of conf, which must outlive the policy. */
struct policy *policy_new(const struct conf *conf);
void policy_free(struct policy **policy);

/* Told of each rule that is tried: why it does not fit ("sender"), or
 * "fits", or "later" of one that is put by. */
typedef void policy_trace_fn(void *context, const struct conf_rule *rule,
    const char *why);

struct policy_question {
	struct net		 client;
	struct slice		 listener;	/* "192.0.2.1:25", or empty */
	bool			 is_submission;
	struct slice		 name;	/* as a trusted proxy says; or empty */
	unsigned		 port;	/* of the client */
	struct slice		 instance;	/* of the message */
	bool			 is_esmtp;
	struct slice		 helo;
	bool			 is_encrypted;
	struct policy_cert {		/* that it shows; zeroed: none */
		struct slice	subject, issuer, fingerprint;
		bool		is_verified;
	}			 cert;
	struct slice		 user;		/* empty: nobody logged in */
	struct slice		 mechanism;	/* with which; or empty */
	bool			 is_judged;	/* its message will be */
	bool			 asks_spf;	/* then a rule about SPF alone
						 * need not wait for it */
	struct path		 sender;	/* null path: <> */
	uint64_t		 size_bytes;	/* announced, or 0 */
	struct path		 rcpt;		/* no domain: <postmaster> */
	const struct facts	*facts;	/* FACT_SCOPES of them; or NULL */
	policy_trace_fn		*trace;		/* NULL: nobody listens */
	void			*trace_context;
};

enum policy_result {
	POLICY_ACCEPT,
	POLICY_REJECT,		/* a rule said so */
	POLICY_DEFER,		/* a rule said so: for now */
	POLICY_NO_RELAY,	/* not our domain, and no rule allows it */
	POLICY_TROUBLE,		/* a table cannot be read: err says which */
	POLICY_NEED		/* need must be known first */
};

enum { POLICY_SHADOWS_MAX = 8, POLICY_FIELDS_MAX = 8 };

struct policy_need {
	const char	*kind;		/* of helpers */
	struct slice	 question;	/* until the policy is asked again */
	enum fact_scope	 scope;		/* of the answer */
};

struct policy_verdict {
	enum policy_result	 result;
	bool			 is_ours;	/* the recipient's domain */
	const struct conf_rule	*rule;		/* who decided; or NULL */
	const struct conf_rule	*freeze;	/* set the message aside */
	const struct conf_rule	*shadows[POLICY_SHADOWS_MAX];
	unsigned		 shadow_count;	/* would have decided */
	const char		*words;		/* of a service or of SPF; or
						 * NULL */
	int			 code;		/* of a service or of SPF; or
						 * 0 */
	const char		*status;	/* of SPF; or NULL; static */
	const char		*fields[POLICY_FIELDS_MAX];	/* of services,
					 * for the header; until the policy is
					 * asked again, like words */
	unsigned		 field_count;
	const char		*warning;	/* of a service; or NULL */
	struct late_rules	 late;		/* put by; they come first */
	enum policy_result	 held;		/* REJECT, DEFER by held_rule,
						 * when none of them takes the
						 * message; ACCEPT: nothing */
	const struct conf_rule	*held_rule;
	struct policy_need	 need;
	int64_t			 wait_s;	/* DEFER: try again then; 0:
						 * nobody knows */
	struct err		 err;
};

/* The verdict on one recipient. */
void policy_ask(struct policy *policy, const struct policy_question *question,
    struct policy_verdict *out);

enum policy_stage {
	POLICY_AT_CONNECT, POLICY_AT_HELO, POLICY_AT_AUTH, POLICY_AT_MAIL
};

/* Decide before there is a recipient, by what is known at a stage: of the
 * rules in file order those that refuse and look at nothing else.  A rule that
 * might accept some recipient ends the search, for those after it are not
 * asked then.  Result REJECT, DEFER or NEED; ACCEPT: nothing is decided. */
void policy_ask_early(struct policy *policy,
    const struct policy_question *question, enum policy_stage stage,
    struct policy_verdict *out);

/* Is this user not to be logged in at all?  So a rule says that rejects, names
 * users and looks at nothing that only a message brings.  What would have to be
 * asked first (a name, a counter) bars nobody here: MAIL and RCPT will tell.
 * returns the rule that bars, with its words or preset ones in *out_words;
 * NULL: none does */
const struct conf_rule *policy_bars_user(struct policy *policy,
    const struct policy_question *question, const char **out_words);
/* Is there any such rule? */
bool policy_may_bar(const struct policy *policy);

enum policy_ownership {
	OWNER_NO, OWNER_YES,
	OWNER_NEED,		/* out->need must be known first */
	OWNER_TROUBLE		/* out->err: a table cannot be read */
};

/* May who has logged in (question->user) give question->sender in MAIL?  By
 * `auth ... senders`; aliases and owners are looked up in the configuration's
 * tables. */
enum policy_ownership policy_owns(struct policy *policy,
    const struct policy_question *question, struct policy_verdict *out);

/* May this client relay, whatever it says of itself?  By the rules that look
 * at nothing but its address; a table that cannot be read knows nobody. */
bool policy_knows(struct policy *policy, const struct net *client);

/* Is the client on loopback, or does a rule about clients let it relay?  By
 * what is known: a rule that would have to ask first lets nobody. */
bool policy_trusts(struct policy *policy,
    const struct policy_question *question);

/* As held says. */
struct policy_verdict policy_held(const struct policy_verdict *verdict);

/* What the client is told; of POLICY_NEED as of trouble. */
struct policy_reply {
	int		 code;		/* 250: accepted */
	const char	*status;	/* RFC 3463; static */
	const char	*words;		/* static, or the rule's */
};
void policy_reply(const struct policy_verdict *verdict,
    struct policy_reply *out);

/* A submission service where logins are known takes mail of who has logged in
 * only, before any rule is asked (RFC 6409 section 4.3). */
static inline bool
policy_owes_login(const struct conf *conf, bool is_submission, bool has_user)
{
	return is_submission && !has_user && conf->auth.kind != AUTH_NONE;
}

#endif
