/* queue.h - when, how often and from where mail is tried
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_QUEUE_H
#define ZM_CONF_SETTINGS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"
#include "conf/settings/at.h"

struct conf;

enum {
	CONF_RETRIES_MAX = 64,
	CONF_RULE_WAITS_MAX = 16,	/* of a `retry on` */
	CONF_RETRY_RULES_MAX = 16,	/* of a clause, inherited ones too */
	CONF_WARNS_MAX = 8
};

enum conf_retry_action {
	RETRY_ON_WAIT,		/* another list of waits */
	RETRY_ON_SUSPEND,	/* send nothing to this destination for a
				 * while */
	RETRY_ON_END		/* it failed for good */
};

struct conf_retry_rule {	/* retry on CLASS... */
	uint32_t	 classes;	/* bit 1 << enum mail_class */
	enum conf_retry_action action;
	int64_t		 wait_s[CONF_RULE_WAITS_MAX];
	size_t		 wait_count;	/* the last one repeats */
	bool		 stops;		/* it does not: then it is exhausted */
	int64_t		 suspend_s;
};

enum conf_exhaust {		/* what is done with mail that is given up */
	EXHAUST_BOUNCE, EXHAUST_FREEZE, EXHAUST_REROUTE
};

struct conf_schedule {		/* schedule CHANNEL/HOST { ... } */
	const char	*channel;	/* glob */
	const char	*host;		/* glob */
	unsigned	 parallel;	/* agents a destination (thread) */
	unsigned	 agents;	/* agents of this clause (ring) */
	unsigned	 overfeed;	/* jobs given ahead to one agent */
	int64_t		 retry_s[CONF_RETRIES_MAX];
	size_t		 retry_count;	/* the last one repeats */
	bool		 retry_stops;	/* it does not: then it is exhausted */
	unsigned	 jitter_percent;	/* more or less, by random */
	struct conf_retry_rule rules[CONF_RETRY_RULES_MAX];
	size_t		 rule_count;	/* first match wins */
	int64_t		 warn_s[CONF_WARNS_MAX];	/* ages, ascending */
	size_t		 warn_count;	/* 0: no notice of delay */
	int64_t		 expire_s;	/* if there was an attempt */
	int64_t		 untried_s;	/* added if there was none */
	enum conf_exhaust exhaust;
	unsigned	 channel_agents;	/* 0: no limit of its own */
	unsigned	 provider;	/* agents of all destinations that
					 * share their MX; 0: no limit */
	uint64_t	 rate_count;	/* messages to a destination ... */
	int64_t		 rate_per_ms;	/* ... in this span; 0: no limit */
	unsigned	 connection_messages;	/* 0: no limit */
	bool		 is_queue_only;	/* an arrival starts nothing */
	bool		 is_by_age;	/* oldest first, else as they came */
	bool		 is_fair;	/* sources take turns */
	bool		 has_feedback;	/* parallel follows the answers */
	int64_t		 idle_ms;	/* how long an idle agent is kept */
	unsigned	 warm;		/* connections kept without mail */
	const char	*command;	/* NULL: the channel's own agent */
	int64_t		 until_s;	/* wall; 0: for ever.  Not inherited */
	struct conf_at	 at;
};

struct conf_outlet {		/* an address that mail is sent from */
	struct sockaddr_storage	address;	/* port 0 */
	const char	*text;
	const char	*helo;		/* NULL: the zone's */
	unsigned	 weight;
};

enum { CONF_OBJECTIVES_MAX = 64 };
struct conf_objective {		/* objective PATTERN PERCENT SPAN */
	const char	*pattern;
	unsigned	 percent;
	int64_t		 span_s;
	struct conf_at	 at;
};
/* Does the pattern match the address, as the queue shows it? */
bool conf_objective_fits(const char *pattern, struct slice address);

struct conf_zone {		/* zone NAME { ... } */
	const char	*name;
	const char	*helo;		/* NULL: the host's name */
	struct conf_outlet *sources;	size_t source_count;
	const char	**senders;	size_t sender_count;	/* patterns */
	const char	**hosts;	size_t host_count;
	unsigned	 agents, parallel;	/* 0: as the clauses say */
	uint64_t	 rate_count;
	int64_t		 rate_per_ms;
	const char	*overflow;	/* NULL: excess mail waits */
	int64_t		 warm_start_s;	/* midnight, UTC */
	unsigned	*warm_caps;	size_t warm_count;	/* a day each */
	bool		 warm_is_shared;	/* of all nodes together */
	struct conf_at	 at;
};

/* The first schedule clause whose globs match and that has not ended (there
 * always is one). */
const struct conf_schedule *conf_schedule_for(const struct conf *conf,
    struct slice channel, struct slice host);
/* When the next clause ends: a wall moment; 0: none will. */
int64_t conf_schedule_next_end(const struct conf *conf);

/* The zone of this name; NULL: there is none. */
const struct conf_zone *conf_zone_find(const struct conf *conf,
    struct slice name);
/* The zone for mail from this sender (empty: null) to this host; asked: the
 * zone named by its envelope, or empty.  NULL: none. */
const struct conf_zone *conf_zone_for(const struct conf *conf,
    struct slice asked, struct slice channel, struct slice sender,
    struct slice host);

/* Put the site's rules about replies into force (mail/classify.h).  0; -1: the
 * file cannot be read or is wrong (err names line and reason), and the rules
 * stay as they were. */
int conf_classes_load(const struct conf *conf, struct err *err);

#endif
