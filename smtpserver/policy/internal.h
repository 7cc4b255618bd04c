/* internal.h - what policy.c and policy/fit.c share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_INTERNAL_H
#define ZM_SMTPSERVER_POLICY_INTERNAL_H

#include "mail/table/table.h"
#include "smtpserver/policy/policy.h"
#include "smtpserver/policy/policyd.h"

enum {
	POLICY_LENT_MAX = 1024,		/* answers, and of how many bytes */
	POLICY_LENT_BYTES = 256
};

struct policy {
	const struct conf	 *conf;
	struct table		**tables;	/* as conf->tables */
	struct arena		 *scratch;
	struct cache		 *lent;		/* by "NAME KEY": what tables
						 * in databases answered */
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
	struct policyd_answer		 service;	/* of this rule */
	enum origin			 spf;	/* when a rule about it fits */
	struct slice			 spf_at;	/* of the fact */
	struct slice			 row;	/* of the table that had the
						 * key, while it is looked at */
	const struct conf_rule		*pending;	/* DEFER_IF_PERMIT */
	const char			*pending_words;
};

enum fit {
	FIT_NO,
	FIT_YES,
	FIT_LATE,		/* known when the message has come */
	FIT_NEED,		/* out->need says what */
	FIT_TROUBLE		/* out->err says why */
};

/* The address as rules compare it, in arena. */
struct canonical canonical_of(struct arena *arena, const struct path *path);

/* The answer to a question; NULL: it is needed first (trial->out->need). */
const struct fact *fact_or_need(struct trial *trial, const char *kind,
    struct slice question, enum fact_scope scope);
enum client_name {
	CLIENT_NAME_NONE,	/* it has none that is confirmed */
	CLIENT_NAME_KNOWN,
	CLIENT_NAME_NEED,	/* out->need says what */
	CLIENT_NAME_TROUBLE	/* out->err says why */
};

/* The client's name, confirmed in both directions. */
enum client_name trial_name(struct trial *trial, struct slice *out_name);
/* The client's address, or the first bytes of it, in the scratch arena. */
const char *client_net(struct trial *trial, size_t bytes_4, size_t bytes_6);

/* The table of this name; NULL: there is none. */
struct table *policy_table(const struct policy *policy, struct slice name);
/* The table of a pattern "<name>"; NULL: the pattern is something else. */
struct table *trial_table(struct trial *trial, const char *pattern);
/* The row of a key, in trial->row: borrowed from the table, or from facts. */
enum fit table_row(struct trial *trial, struct table *table,
    struct slice key);
/* Does the table have the key?  FIT_YES: its value is in trial->row. */
enum fit table_fits(struct trial *trial, struct table *table,
    struct slice key);
/* Does it have a name, or ".parent" of a domain above it? */
enum fit table_fits_name(struct trial *trial, struct table *table,
    struct slice name);
/* The answer by the result of a look-up; a row whose "until=" is over does not
 * count. */
enum fit fit_of_row(enum table_result result, struct slice value);
/* Does it have one of user@domain, "<>"; @domain, domain, .parent ...; user@?
 * The first counts. */
enum fit table_fits_address(struct trial *trial, struct table *table,
    const struct canonical *address);

/* Is a lower-case name a domain of ours, and of which statement?  *out_domain
 * is NULL unless FIT_YES.  A database may have it, which is asked first. */
enum fit trial_domain(struct trial *trial, struct slice name,
    const struct conf_domain **out_domain);

/* The certificate, its issuer, the user who logged in, the owners of the
 * sender's address. */
enum fit fit_cert(struct trial *trial, const struct conf_rule *rule);
enum fit fit_issuer(struct trial *trial, const struct conf_rule *rule);
enum fit fit_user(struct trial *trial, const struct conf_rule *rule);
enum fit fit_not_owner(struct trial *trial, const struct conf_rule *rule);

/* "alice, bob@example.org": is the user one of them? */
bool name_is_among(struct slice users, struct slice user);

/* Is the client on loopback, or does a rule about clients let it relay?  A
 * look-up that fails lets nobody relay. */
enum fit fit_trusted(struct trial *trial);

/* Is the result of SPF the rule's?  FIT_NEED: the helper is asked first. */
enum fit fit_spf(struct trial *trial, const struct conf_rule *rule);

/* Ask the rule's service; FIT_YES: it has an opinion, which is in
 * trial->service. */
enum fit fit_service(struct trial *trial, const struct conf_rule *rule);

/* Does the rule spare users who logged in?  One for a listener where users log
 * in is meant for them. */
static inline bool
spares_users(const struct policy_question *question,
    const struct conf_rule *rule)
{
	return rule->spares_users && (rule->clients == CLIENTS_STRANGERS ||
	    rule->patterns[PATTERN_LISTENER] == NULL ||
	    !question->is_submission);
}

/* Is the rule's counter over its limit?  Is the mail too new for its greylist?
 * FIT_NEED: the helpers are asked first. */
enum fit fit_count(struct trial *trial, const struct conf_rule *rule);
enum fit fit_greylist(struct trial *trial, const struct conf_rule *rule);

/* Do all conditions of the rule fit?  Cheap ones are checked first, so that
 * nothing is asked in vain.  *out_why: the condition that did not fit, or that
 * needs something; static. */
enum fit rule_fit(struct trial *trial, const struct conf_rule *rule,
    const char **out_why);

#endif
