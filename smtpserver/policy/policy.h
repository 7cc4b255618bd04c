/* policy.h - who may send what to whom
 *
 * The rules of a configuration, tried for each recipient.  Pure except for the
 * tables that rules name: what must be asked (the DNS, counters, what happened
 * before) is looked up in the facts, and if it is not there the verdict is
 * POLICY_NEED with the question to ask; when its answer is among the facts, the
 * policy is asked again.  So nothing is asked that no rule needs.
 *
 *   1. postmaster, bare or of a domain of ours, is always accepted
 *      (RFC 5321 section 4.5.1), whatever the rules say.
 *   2. A block of the cluster (blocks.h) refuses.  Then rules in file order,
 *      the first that fits decides.  Without `for any` an accept rule is about
 *      our domains only.  A freeze rule accepts
 *      what is for our domains and marks the message; for other domains it
 *      only marks, and the rules after it decide whether to relay.
 *      A shadow rule is noted in the verdict and decides nothing.
 *   3. A rule about mail authentication (late.h), unless it needs only SPF,
 *      is left open in the verdict.  If it might take the message, the
 *      refusal by a later rule is held.
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

/* Called for each rule that is tried: why it does not fit ("sender"), or
 * "fits", or "later" for one that is left open. */
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
	struct slice		 mechanism;	/* of the login; or empty */
	bool			 is_judged;	/* the message will be */
	bool			 asks_spf;	/* then a rule that needs only
						 * SPF does not wait for that */
	struct path		 sender;	/* null path: <> */
	uint64_t		 size_bytes;	/* announced, or 0 */
	struct path		 rcpt;		/* no domain: <postmaster> */
	const struct facts	*facts;	/* FACT_SCOPES of them; or NULL */
	policy_trace_fn		*trace;		/* NULL: none */
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

enum { POLICY_SHADOWS_MAX = 8, POLICY_FIELDS_MAX = 8,
	POLICY_TELLS_MAX = 8 };

struct policy_need {
	const char	*kind;		/* of helpers */
	struct slice	 question;	/* until the policy is asked again */
	enum fact_scope	 scope;		/* of the answer */
};

struct policy_verdict {
	enum policy_result	 result;
	bool			 is_ours;	/* the recipient's domain */
	const struct conf_rule	*rule;		/* that decided; or NULL */
	const struct conf_rule	*freeze;	/* set the message aside */
	const struct conf_rule	*shadows[POLICY_SHADOWS_MAX];
	unsigned		 shadow_count;	/* they would have decided */
	const char		*words;		/* of a service or of SPF; or
						 * NULL */
	int			 code;		/* of a service or of SPF; or
						 * 0 */
	const char		*status;	/* of SPF; or NULL; static */
	const char		*fields[POLICY_FIELDS_MAX];	/* of services,
					 * for the header; until the policy is
					 * asked again, like words */
	unsigned		 field_count;
	/* "KIND QUESTION": what others shall know when this is the verdict,
	 * and nobody waits for; like words */
	const char		*tells[POLICY_TELLS_MAX];
	unsigned		 tell_count;
	const char		*warning;	/* of a service; or NULL */
	struct late_rules	 late;		/* left open; they come first */
	enum policy_result	 held;		/* REJECT, DEFER by held_rule
						 * if none of them takes the
						 * message; ACCEPT: nothing */
	const struct conf_rule	*held_rule;
	struct policy_need	 need;
	int64_t			 wait_s;	/* DEFER: when to try again;
						 * 0: not known */
	struct err		 err;
};

/* The verdict on one recipient. */
void policy_ask(struct policy *policy, const struct policy_question *question,
    struct policy_verdict *out);

enum policy_stage {
	POLICY_AT_CONNECT, POLICY_AT_HELO, POLICY_AT_AUTH, POLICY_AT_MAIL
};

/* Decide before there is a recipient, by what is known at a stage: only rules
 * that refuse and need nothing else are tried, in file order.  A rule that
 * might accept some recipient ends the search, as later rules would not be
 * tried then.  Result REJECT, DEFER or NEED; ACCEPT: nothing is decided. */
void policy_ask_early(struct policy *policy,
    const struct policy_question *question, enum policy_stage stage,
    struct policy_verdict *out);

/* May this user not log in at all?  By rules that reject, name users and need
 * nothing of a message.  A rule that would have to ask first (a name, a
 * counter) bars nobody here, but decides at MAIL and RCPT.
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

/* May the user who logged in (question->user) give question->sender in MAIL?
 * By `auth ... senders`; aliases and owners are looked up in the
 * configuration's tables. */
enum policy_ownership policy_owns(struct policy *policy,
    const struct policy_question *question, struct policy_verdict *out);

/* May this client relay by its address alone?  By the rules that need nothing
 * else; a table that cannot be read has nobody. */
bool policy_knows(struct policy *policy, const struct net *client);

/* Is the client on loopback, or does a rule about clients let it relay?  A rule
 * that would have to ask first does not count. */
bool policy_trusts(struct policy *policy,
    const struct policy_question *question);

/* The verdict by held and held_rule. */
struct policy_verdict policy_held(const struct policy_verdict *verdict);

/* The reply to the client; POLICY_NEED counts as trouble. */
struct policy_reply {
	int		 code;		/* 250: accepted */
	const char	*status;	/* RFC 3463; static */
	const char	*words;		/* static, or the rule's */
};
void policy_reply(const struct policy_verdict *verdict,
    struct policy_reply *out);

/* A submission service with logins takes mail only from users who logged in,
 * before any rule is tried (RFC 6409 section 4.3). */
static inline bool
policy_owes_login(const struct conf *conf, bool is_submission, bool has_user)
{
	return is_submission && !has_user && conf->auth.kind != AUTH_NONE;
}

#endif
