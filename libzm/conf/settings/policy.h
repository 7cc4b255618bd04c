/* policy.h - who may send what to whom
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_POLICY_H
#define ZM_CONF_SETTINGS_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "conf/settings/at.h"
#include "grammar/net.h"

enum { POLICY_LATE_MAX = 16 };	/* rules about mail authentication */

enum conf_action { ACTION_ACCEPT, ACTION_REJECT, ACTION_DEFER,
	ACTION_FREEZE, ACTION_SERVICE };

enum conf_pattern {		/* what a rule compares with a text */
	PATTERN_NAME, PATTERN_HELO, PATTERN_LISTENER, PATTERN_USER,
	PATTERN_SENDER, PATTERN_RCPT, PATTERN_LISTED, PATTERN_CERT,
	PATTERN_ISSUER, PATTERN_OWNERS, PATTERN_SPF, PATTERN_DKIM,
	PATTERN_DMARC, PATTERN_DMARC_POLICY, PATTERN_DKIM2, PATTERN_COUNT
};

struct conf_rule {		/* accept|reject|... , first match wins */
	const char	*word;		/* of the statement */
	enum conf_action action;
	bool		 is_shadow;	/* noted, decides nothing */
	enum conf_clients { CLIENTS_PRESET, CLIENTS_STRANGERS,
		CLIENTS_EVERYBODY } clients;	/* as it was written */
	bool		 spares_users;	/* not for clients that logged in */
	bool		 spares_trusted;	/* nor for those on loopback or
						 * that may relay */
	/* conditions; each NULL / not set: matches always */
	const char	*from_table;	/* client networks */
	struct net	 from_net;
	bool		 has_from_net;
	const char	*patterns[PATTERN_COUNT];	/* "<name>": a table;
					 * else as in zmailer.conf(5) */
	enum conf_tls_word { TLS_EITHER, TLS_YES, TLS_NO } tls;
	uint64_t	 over_bytes;	/* announced size; 0: any */
	bool		 sender_unknown;
	int64_t		 until_s;	/* wall; 0: for ever */
	struct conf_count {		/* limit rate, limit parallel */
		enum { COUNT_NOTHING, COUNT_RATE, COUNT_PARALLEL } kind;
		unsigned	before;		/* earlier rules that count and
						 * have the same line number,
						 * in any file */
		uint64_t	max;
		int64_t		span_ms;	/* of a rate */
		bool		of_messages;	/* else of recipients */
		bool		of_sessions;	/* parallel: not messages */
		bool		is_shared;	/* of all nodes */
		uint32_t	shared_id;	/* the same for all rules
						 * written alike */
		enum conf_key { COUNT_BY_CLIENT, COUNT_BY_NET,
			COUNT_BY_USER, COUNT_BY_SENDER,
			COUNT_BY_SENDER_DOMAIN, COUNT_BY_RCPT,
			COUNT_BY_DOMAIN, COUNT_BY_ALL } key;
	} count;
	struct conf_greylist {
		int64_t		after_s, within_s, keep_s;	/* 0: none */
		bool		is_shared;	/* with all nodes */
	} greylist;
	const char	*service;	/* policy-service; or NULL */
	bool		 service_optional;	/* without its answer: go on */
	bool		 for_any;	/* accept: relaying allowed */
	const char	*text;		/* words of the reply, or NULL */
	int64_t		 delay_ms;	/* of the reply */
	struct conf_at	 at;
};

struct conf_dnsbl {		/* dnsbl, dnswl ZONE ... */
	const char	*zone;		/* lower case */
	int		 weight;	/* dnswl: below 0 */
	struct net	 answer;
	bool		 has_answer;
	struct conf_at	 at;
};

/* Append a rule as a person would write it. */
void conf_rule_add(struct str *out, const struct conf_rule *rule);
/* Does an earlier rule decide everything that a later one would? */
bool conf_rule_covers(const struct conf_rule *wide,
    const struct conf_rule *narrow);
/* Is it about mail authentication?  That is known when the message has come
 * (verify-origin), and only for mail of strangers. */
bool conf_rule_is_of_origin(const struct conf_rule *rule);
/* Set spares_users and spares_trusted from what the rule says. */
void conf_rule_spare(struct conf_rule *rule);
/* Does this rule let clients relay because of who they are, to anybody? */
bool conf_rule_trusts(const struct conf_rule *rule);
/* Does it serve clients, known by their addresses, whatever the destination?
 * What a client says about itself does not count: anybody can say it. */
bool conf_rule_serves_clients(const struct conf_rule *rule);
/* Is the network so large that much of it belongs to strangers: more than a /8
 * of IPv4, or a /16 of IPv6 that is not local (RFC 4193)? */
bool conf_net_is_wide(const struct net *net);

#endif
