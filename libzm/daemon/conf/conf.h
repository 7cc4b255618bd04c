/* conf.h - zmailer.conf: one table of statements, one struct of settings
 *
 * statements.h has a row for each statement: name, positional
 * arguments, keywords, block items, default, text.  Parser, `zmailer check`,
 * `zmailer help`, `config show` and zmailer.conf(5) come from it.
 * A struct conf is made whole or not at all, is never changed, and is
 * released whole; daemons hold one and swap it on reload.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_CONF_H
#define ZM_DAEMON_CONF_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"
#include "daemon/conf/hooks.h"
#include "daemon/conf/rewrite.h"
#include "grammar/net.h"
#include "grammar/path.h"

enum conf_role {	/* process roles that have an account of their own */
	ROLE_SMTPSERVER, ROLE_ROUTER, ROLE_SCHEDULER, ROLE_AGENT, ROLE_COUNT
};
extern const char *const conf_role_names[ROLE_COUNT];
	/* "smtpserver" "router" "scheduler" "agent" */

enum { CONF_LISTEN_BYTES = 128 };

struct conf_listen {
	struct sockaddr_storage	address;
	socklen_t		length;
	char			text[CONF_LISTEN_BYTES];
					/* "127.0.0.1:25" "unix:/path" */
	bool			is_submission;
	bool			no_verify;	/* of recipients */
	bool			is_lmtp;	/* RFC 2033 */
	bool			decides_early;	/* rules before RCPT */
	bool			is_tls;		/* from the first byte */
	bool			is_optional;	/* the IPv6 half of a port
						 * alone: no IPv6, no error */
	struct conf_at		at;
};

struct conf_certificate {	/* tls certificate FILE key FILE [for NAME] */
	const char	*file, *key;	/* PEM; the first row is the default */
	const char	*name;		/* NULL: the names in it */
	struct conf_at	 at;
};

struct conf_auth {		/* auth ...: who checks passwords */
	enum conf_auth_kind {
		AUTH_NONE, AUTH_USERS, AUTH_DOVECOT, AUTH_PAM, AUTH_SASLAUTHD
	} kind;
	const char	*table;		/* AUTH_USERS: its name */
	const char	*path;		/* a socket: dovecot, saslauthd */
	const char	*service;	/* pam, saslauthd: "smtp" */
	const char	*mechanisms;	/* that are offered, blanks between;
					 * without those of SCRAM's that
					 * need TLS */
	bool		 clear_loopback;	/* without TLS from loopback */
	struct conf_at	 at;
};

struct conf_table {
	const char	*name;
	const char	*spec;		/* for table_new */
	struct conf_at	 at;
};

/* Where mail of a local domain goes in the end. */
struct conf_deliver {
	const char	*channel;	/* "local", "lmtp", "pipe", "smtp" */
	const char	*host;		/* lmtp: "unix:/path" or "inet:h:port";
					 * pipe: "=" and the first name of
					 * the domain; else "-" */
	const char	*command;	/* pipe */
	const char	*account;	/* as whom; NULL: nobody */
};

struct conf_domain {		/* one `domain` statement, maybe many names */
	const char	**names;	/* lower case; ".x.org": all below */
	size_t		 name_count;
	enum conf_users { USERS_PASSWD, USERS_ANY, USERS_NONE,
	    USERS_TABLE } users;
	const char	*users_table;
	const char	**aliases;	/* tables, in order */
	size_t		 alias_count;
	struct conf_deliver deliver;
	struct conf_at	 at;
};

struct conf_list {		/* list ADDRESS members FILE owner ADDRESS */
	const char	*local;		/* lower case */
	const char	*domain;	/* lower case, one of ours */
	const char	*members;	/* a file, as of :include: */
	const char	*owner;
	const char	*errors_to;	/* NULL: the owner */
	bool		 is_verp;	/* a sender of its own for each */
	struct conf_at	 at;
};

struct conf_way {		/* TARGET of a route, or behind its else */
	const char	*channel, *host;	/* as in a route */
	int64_t		 after_s;	/* of the way before it; 0: until that
					 * has failed */
};

struct conf_route {		/* route PATTERN via TARGET */
	const char	*pattern;	/* "example.org", ".example.org", "*",
					 * or "<table>" (routes <table>) */
	const char	*table;		/* NULL, or table of such routes */
	const char	*channel;	/* "smtp" "lmtp" "error" "hold" ... */
	const char	*host;		/* "" : the domain's MX; "[h]:25":
					 * this host, no MX; "NAME@[h]:25":
					 * logged in as NAME of auth-to */
	const struct conf_way *ways;	/* behind else */
	size_t		 way_count;
	const char	*sender, *user;	/* patterns as of a rule; NULL: all */
	enum conf_route_by { ROUTE_BY_RCPT, ROUTE_BY_SENDER,
		ROUTE_BY_USER } by;	/* what is looked for in table */
	const char	*zone;		/* sent from there; NULL: as zones
					 * say */
	struct conf_at	 at;
};

/* How far a next hop must be protected, weakest first. */
enum conf_tls_level { TLS_LEVEL_NONE, TLS_LEVEL_MAY, TLS_LEVEL_ENCRYPT,
	TLS_LEVEL_VERIFY };

struct conf_tls_to {		/* tls-to PATTERN LEVEL ... */
	const char	*pattern;	/* as of a route; of the domain or
					 * host that the route names */
	enum conf_tls_level level;
	const char	*roots;		/* PEM files; NULL: the system's */
	const char	*certificate, *key;	/* ours; NULL: none */
	const char	**names;	/* that a certificate may have; ".x":
					 * anything below x */
	size_t		 name_count;	/* 0: those of the destination */
	struct conf_at	 at;
};

struct conf_xclient_to {	/* xclient-to PATTERN */
	const char	*pattern;	/* as of tls-to */
	struct conf_at	 at;
};

struct conf_auth_to {		/* auth-to <table> [unencrypted] */
	const char	*table;
	bool		 is_plain_ok;	/* also where there is no TLS */
	struct conf_at	 at;
};

enum conf_action { ACTION_ACCEPT, ACTION_REJECT, ACTION_DEFER,
	ACTION_FREEZE, ACTION_SERVICE };

enum conf_pattern {		/* what a rule compares with a text */
	PATTERN_NAME, PATTERN_HELO, PATTERN_LISTENER, PATTERN_USER,
	PATTERN_SENDER, PATTERN_RCPT, PATTERN_LISTED, PATTERN_CERT,
	PATTERN_ISSUER, PATTERN_OWNERS, PATTERN_COUNT
};
extern const char *const conf_key_words[];	/* as enum conf_key */
extern const char *const conf_pattern_words[PATTERN_COUNT];
	/* "name" "helo" ...: as they stand in a rule */

struct conf_rule {		/* accept|reject|... , first match wins */
	const char	*word;		/* of the statement */
	enum conf_action action;
	bool		 is_shadow;	/* noted, decides nothing */
	/* conditions; each NULL / not set: matches always */
	const char	*from_table;	/* client networks */
	struct net	 from_net;
	bool		 has_from_net;
	const char	*patterns[PATTERN_COUNT];	/* "<name>": a table;
					 * else as zmailer.conf(5) has it */
	enum conf_tls_word { TLS_EITHER, TLS_YES, TLS_NO } tls;
	uint64_t	 over_bytes;	/* announced size; 0: any */
	bool		 sender_unknown;
	int64_t		 until_s;	/* wall; 0: for ever */
	struct conf_count {		/* limit rate, limit parallel */
		enum { COUNT_NOTHING, COUNT_RATE, COUNT_PARALLEL } kind;
		uint64_t	max;
		int64_t		span_ms;	/* of a rate */
		bool		of_messages;	/* else of recipients */
		bool		of_sessions;	/* parallel: not messages */
		enum conf_key { COUNT_BY_CLIENT, COUNT_BY_NET,
			COUNT_BY_USER, COUNT_BY_SENDER,
			COUNT_BY_SENDER_DOMAIN, COUNT_BY_RCPT,
			COUNT_BY_DOMAIN, COUNT_BY_ALL } key;
	} count;
	struct conf_greylist {
		int64_t		after_s, within_s, keep_s;	/* 0: none */
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

enum conf_trust_word {	/* what a peer may tell about others */
	TRUST_PROXY, TRUST_XCLIENT, TRUST_XFORWARD, TRUST_PRIORITY,
	TRUST_AUTH, TRUST_ETRN, TRUST_VRFY, TRUST_EXPN
};

struct conf_peers {		/* trust NET ...; ehlo without ... for NET */
	const char	*table;		/* client networks; or */
	struct net	 net;		/* 0 bits: all */
	unsigned	 words;		/* bits 1 << enum conf_trust_word, or
					 * 1 << enum ehlo_keyword */
	struct conf_at	 at;
};


enum {
	CONF_RETRIES_MAX = 64,
	CONF_RULE_WAITS_MAX = 16,	/* of a `retry on` */
	CONF_RETRY_RULES_MAX = 16,	/* of a clause, inherited ones too */
	CONF_WARNS_MAX = 8
};

enum conf_retry_action {
	RETRY_ON_WAIT,		/* another list of waits */
	RETRY_ON_SUSPEND,	/* nothing more to this destination for a
				 * while */
	RETRY_ON_END		/* it failed for good */
};

struct conf_retry_rule {	/* retry on CLASS... */
	uint32_t	 classes;	/* bit 1 << enum mail_class */
	enum conf_retry_action action;
	int64_t		 wait_s[CONF_RULE_WAITS_MAX];
	size_t		 wait_count;	/* the last one repeats */
	bool		 stops;		/* no, the recipient is exhausted */
	int64_t		 suspend_s;
};

enum conf_exhaust {		/* what becomes of mail that is given up */
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
	bool		 retry_stops;	/* no, then it is exhausted */
	unsigned	 jitter_percent;	/* more or less, by random */
	struct conf_retry_rule rules[CONF_RETRY_RULES_MAX];
	size_t		 rule_count;	/* first match wins */
	int64_t		 warn_s[CONF_WARNS_MAX];	/* ages, ascending */
	size_t		 warn_count;	/* 0: no notice of delay */
	int64_t		 expire_s;	/* after an attempt at least */
	int64_t		 untried_s;	/* and so much later without one */
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
	int64_t		 idle_ms;	/* an idle agent is kept so long */
	const char	*command;	/* NULL: the channel's own agent */
	int64_t		 until_s;	/* wall; 0: for ever.  Not inherited */
	struct conf_at	 at;
};

enum conf_milter_fail {
	MILTER_FAIL_TEMPFAIL, MILTER_FAIL_ACCEPT, MILTER_FAIL_REJECT,
	MILTER_FAIL_QUARANTINE
};
extern const char *const conf_milter_fails[];
	/* "tempfail" "accept" "reject" "quarantine" */

struct conf_milter {		/* milter SOCKET ..., in file order */
	const char	*socket;	/* "unix:/path", "inet:host:port" */
	enum conf_milter_fail fail;	/* when it does not do its work */
	bool		 has_except;
	struct net	 except;	/* clients that it does not see */
	int64_t		 connect_ms;	/* until it has said what it wants */
	int64_t		 command_ms;	/* its answer to a command */
	int64_t		 timeout_ms;	/* an answer at the end of data */
	struct conf_at	 at;
};

struct conf_outlet {		/* an address that mail is sent from */
	struct sockaddr_storage	address;	/* port 0 */
	const char	*text;
	const char	*helo;		/* NULL: the zone's */
	unsigned	 weight;
};

struct conf_zone {		/* zone NAME { ... } */
	const char	*name;
	const char	*helo;		/* NULL: the host's name */
	struct conf_outlet *sources;	size_t source_count;
	const char	**senders;	size_t sender_count;	/* patterns */
	const char	**hosts;	size_t host_count;
	unsigned	 agents, parallel;	/* 0: as the clauses say */
	uint64_t	 rate_count;
	int64_t		 rate_per_ms;
	const char	*overflow;	/* NULL: what is too much waits */
	int64_t		 warm_start_s;	/* midnight, UTC */
	unsigned	*warm_caps;	size_t warm_count;	/* a day each */
	struct conf_at	 at;
};

struct conf_mailq {		/* mailq ADDRESS users FILE */
	struct conf_listen listen;
	const char	*users;		/* a file; NULL: nobody may ask */
	bool		 is_sha256_only;
};

struct conf_log_level {		/* log-level normal|debug ...: first fit */
	bool		 is_debug, has_client;
	struct net	 client;
	const char	*dest;		/* as of tls-to; NULL: not of these */
	int64_t		 until_s;	/* wall; 0: for ever */
	struct conf_at	 at;
};

struct conf_limits {		/* limit NAME VALUE; every bound by name */
	uint64_t	size_bytes;		/* of a message */
	unsigned	recipients;		/* a message over SMTP */
	unsigned	recipient_domains;	/* of these; 0: any number */
	int64_t		hold_ms;		/* FUTURERELEASE; 0: none */
	unsigned	sessions;		/* all */
	unsigned	sessions_per_client;	/* an address */
	unsigned	session_messages;	/* a session */
	unsigned	errors;			/* then 421 */
	unsigned	auth_failures;		/* of an address: then 421 */
	unsigned	auth_failures_user;	/* of a user: then 454 */
	unsigned	command_bytes;		/* a command line */
	unsigned	line_bytes;		/* a line of data */
	uint64_t	header_bytes;		/* header of a message */
	unsigned	received;		/* Received fields: a loop */
	unsigned	expansion;		/* recipients one alias makes */
	unsigned	expansion_depth;
	uint64_t	table_memory_bytes;	/* of a plain file */
	uint64_t	dsn_bytes;		/* text returned in a report */
	unsigned	agents;			/* all transport agents */
	uint64_t	program_memory_bytes;	/* of a program; 0: no limit */
	uint64_t	program_output_bytes;	/* that it may write */
};

struct conf_timeouts {		/* timeout NAME SPAN; milliseconds */
	int64_t	command_ms, data_ms, handshake_ms, session_ms;	/* server */
	int64_t	connect_ms, greeting_ms, helo_ms, mail_ms, rcpt_ms,
		data_start_ms, data_block_ms, data_end_ms,
		quit_ms;				/* client */
	int64_t	job_ms;					/* pipe programs */
};

enum conf_mailbox_kind { MAILBOX_MAILDIR, MAILBOX_MBOX, MAILBOX_MMDF };

struct conf_quota {		/* quota SIZE ... */
	uint64_t	 bytes;		/* of a mailbox; 0: no limit of ours */
	unsigned	 messages;	/* 0: no limit */
	bool		 fails;		/* what does not fit fails, else it
					 * waits */
};

struct conf {
	struct arena	*arena;
	const char	*path;			/* "" : no file, defaults */

	const char	*host;			/* our name */
	const char	*postmaster;		/* local part or address */
	const char	*spool_dir, *run_dir, *log_dir;
	unsigned	 hash_levels;		/* 0, 1, 2 */
	enum conf_sync { SYNC_GROUP, SYNC_STRICT, SYNC_UNSAFE } sync;
	int64_t		 greet_pause_ms;
	int64_t		 tarpit_first_ms, tarpit_max_ms;
	enum { VERIFY_REJECT, VERIFY_ACCEPT, VERIFY_OFF } verify;
				/* recipients of ours at RCPT; ACCEPT: those
				 * that cannot be looked up now, too */
	bool		 bare_lf_ok;		/* bare-newline accept */
	const char	*dns_server;		/* NULL: the system's */
	unsigned	 mx_port;	/* where next hops found by MX listen */
	const char	*accounts[ROLE_COUNT];	/* user names when root */
	unsigned	 smtpserver_workers, router_workers;
	int64_t		 group_ms;		/* outcomes durable within */
	int64_t		 trash_ms;	/* deleted mail is kept */
	int64_t		 journal_keep_ms;	/* events are kept, */
	uint64_t	 journal_max_bytes;	/* at most so many bytes, */
	uint64_t	 journal_part_bytes;	/* in files of so many */
	const char	*report_languages, *report_forms;
	const char	*control_admins, *control_operators;	/* groups;
						 * "-": none */

	bool		 needs_tls13;		/* tls min 1.3 */
	struct conf_auth auth;
	enum conf_client_certificates {
		CLIENT_CERTIFICATES_IGNORE, CLIENT_CERTIFICATES_ASK,
		CLIENT_CERTIFICATES_REQUIRE
	} client_certificates;
	const char	*client_ca;	/* NULL: the system's authorities */

	enum conf_mailbox_kind mailbox_kind;
	const char	*mailbox_path;		/* a template: {user} ... */
	const char	*mailbox_account;	/* owner of all mailboxes; NULL:
						 * each user */
	const char	*forward_path;		/* a template; "": nobody can
						 * forward */
	bool		 mailbox_is_addressed;	/* templates speak of {domain}
						 * or {detail} */
	struct conf_quota quota;

	struct conf_mailq	 mailq;
	struct conf_listen	*listens;	size_t listen_count;
	struct conf_certificate	*certificates;	size_t certificate_count;
	struct conf_table	*tables;	size_t table_count;
	struct conf_domain	*domains;	size_t domain_count;
	struct conf_route	*routes;	size_t route_count;
	struct conf_list	*lists;		size_t list_count;
	const char		**virtuals;	/* tables */
	size_t			 virtual_count;
	struct conf_at		 virtual_at;
	struct conf_srs		 srs;
	struct conf_canonical	*canonicals;	size_t canonical_count;
	struct conf_masquerade	*masquerades;	size_t masquerade_count;
	struct conf_generic	*generics;	size_t generic_count;
	struct conf_copy	*copies;	size_t copy_count;
	const char		*qualify;	/* "none", or the domain that
						 * bare addresses get */
	enum conf_header_check	 header_check;
	enum conf_header_repair	 header_repair;
	struct conf_hooks	 hooks;
	const char		*delimiters;	/* of user and detail, or
						 * "none" */
	struct conf_rule	*rules;		size_t rule_count;
	struct conf_dnsbl	*dnsbls;	size_t dnsbl_count;
	struct conf_milter	*milters;	size_t milter_count;
	struct conf_milter	 content_filter;	/* socket: a command or
						 * unix:; NULL: none */
	struct conf_peers	*trusts;	size_t trust_count;
	struct conf_peers	*withouts;	size_t without_count;
	struct conf_zone	*zones;		size_t zone_count;
	const char	*classes_path;		/* NULL: none of the site */
	struct conf_tls_to	*tls_to;	size_t tls_to_count;
	struct conf_xclient_to	*xclient_to;	size_t xclient_to_count;
	struct conf_log_level	*log_levels;	size_t log_level_count;
	struct conf_auth_to	 auth_to;	/* table NULL: none */
	struct conf_schedule	*schedules;	size_t schedule_count;
						/* the built-in ones last */
	struct conf_limits	 limits;
	struct conf_timeouts	 timeouts;

	struct conf_book	*book;	/* sources, origins: conf_*.c only */
};

/* One complaint about a file. */
struct conf_complaint {
	bool		 is_error;	/* else a warning */
	struct conf_at	 at;
	unsigned	 width;		/* columns to underline */
	const char	*source;	/* the line's text */
	const char	*text;		/* "'submision' is not a port" */
	const char	*hint;		/* "did you mean 'x'?" or NULL */
};
struct conf_report {		/* lives in the arena given to conf_load */
	struct conf_complaint	*complaints;	/* sorted by line */
	size_t			 count, errors, warnings;
};

/* Read a configuration.  path NULL: the environment's ZMAILER_CONF, else
 * SYSCONFDIR/zmailer/zmailer.conf, else (no such file) all defaults.
 * arena receives the report.
 * returns a conf; NULL when there were errors (the report has them). */
struct conf *conf_load(const char *path, struct arena *arena,
    struct conf_report *out_report);
/* The same from memory (tests, fuzz); name stands in messages. */
struct conf *conf_parse(const char *name, struct slice text,
    struct arena *arena, struct conf_report *out_report);
void conf_free(struct conf **conf);

/* conf_load for a program that starts: what is wrong goes to standard error,
 * as conf_report_print words it.  NULL: there were errors. */
struct conf *conf_load_or_tell(const char *path);

/* The report as ux shows it: "file:7:8: error: ..." with source line, caret
 * and hint; then the count. */
void conf_report_print(const struct conf_report *report, const char *path,
    struct str *out);

/* Second level of `zmailer check`: tables parse, directories exist and are
 * on one file system, accounts exist.  Adds complaints. */
void conf_check_files(const struct conf *conf, struct arena *arena,
    struct conf_report *report);

/* A rule as somebody would write it; and whether it says nothing that
 * another rule in front of it has not said already. */
void conf_rule_add(struct str *out, const struct conf_rule *rule);
bool conf_rule_covers(const struct conf_rule *wide,
    const struct conf_rule *narrow);

/* The listener with this text; NULL when there is none. */
const struct conf_listen *conf_listen_find(const struct conf *conf,
    const char *text);

/* Of a name of ours that stands in a table: path, line, how often all were
 * read.  NULL: it stands in the configuration itself. */
const char *conf_domain_source(const struct conf *conf, struct slice name,
    unsigned *out_line, unsigned *out_generation);
/* Look at the files of names: 1 they changed and are taken over, 0 not, -1 one
 * is bad (err) and the names stay. */
int conf_domains_refresh(struct conf *conf, struct err *err);

/* First schedule clause whose globs match and that is not over (there always
 * is one). */
const struct conf_schedule *conf_schedule_for(const struct conf *conf,
    struct slice channel, struct slice host);
/* When the next of them is over: a wall moment; 0: none will be. */
int64_t conf_schedule_next_end(const struct conf *conf);
/* The zone of this name; NULL: there is none. */
const struct conf_zone *conf_zone_find(const struct conf *conf,
    struct slice name);
/* The zone that mail of this sender (empty: null) to this host takes; asked
 * is what its envelope names, or empty.  NULL: none. */
const struct conf_zone *conf_zone_for(const struct conf *conf,
    struct slice asked, struct slice channel, struct slice sender,
    struct slice host);
/* Table spec by name; NULL when there is none. */
const struct conf_table *conf_table_find(const struct conf *conf,
    const char *name);
/* The domain statement whose `deliver pipe` has this host; NULL: none. */
const struct conf_domain *conf_domain_of_pipe(const struct conf *conf,
    struct slice host);
/* The domain statement for a lower-case name, or NULL: not ours. */
const struct conf_domain *conf_domain_find(const struct conf *conf,
    struct slice name);

/* What stands behind `via`, or in the value of a <table> of routes:
 * "mx", "HOST[:PORT]", "[ADDRESS]:PORT", "lmtp HOST", "local", "hold",
 * "error TEXT".  Channel and host as in struct conf_route, in the arena.
 * 1 or -1. */
int conf_target_parse(struct arena *arena, struct slice text,
    const char **out_channel, const char **out_host, struct err *err);

/* The host of a control file without the login in front of it. */
struct slice conf_host_bare(struct slice host);

/* Does the pattern of a route cover this domain?  "example.org" itself,
 * ".example.org" all below, "*" everything; * and ? in it as a glob. */
bool conf_route_covers(const char *pattern, struct slice domain);

/* Is what is said with this client, or this next hop, to be noted now
 * (log-level)?  Append what stands behind the statement. */
bool conf_debugs_client(const struct conf *conf, const struct net *client);
bool conf_debugs_dest(const struct conf *conf, struct slice name);
void conf_log_level_add(struct str *out, const struct conf_log_level *level);

/* Does a route's channel deliver?  Not error, hold, discard. */
bool conf_channel_leads_on(const char *channel);

/* Put the site's rules about replies in force (mail/classify.h).  1, or -1:
 * the file cannot be read or is wrong, and err names line and reason; the
 * rules stay as they were. */
int conf_classes_load(const struct conf *conf, struct err *err);

/* Read mailq's file of users into out.  0; -1: it cannot be read or has a
 * bad line, err says which. */
int conf_mailq_read(const char *path, struct str *out, struct err *err);

/* Where conf_load looks when path is NULL. */
const char *conf_default_path(void);

/* Generated views of the table. */
void conf_help(struct str *out, const char *statement);	/* NULL: all */
void conf_manual(struct str *out);			/* roff, section 5 */
/* Every setting with value and origin; only changed ones unless all. */
void conf_show(const struct conf *conf, bool all, struct str *out);
/* The same as JSON, an object a line: statement, value, file, line. */
void conf_show_json(const struct conf *conf, bool all, struct str *out);
/* Complaints as JSON, an object a line, for editors. */
void conf_report_json(const struct conf_report *report, struct str *out);

#endif
