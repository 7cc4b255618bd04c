/* conf.h - zmailer.conf: one table of statements, one struct of settings
 *
 * statements.h has a row for each statement: name, positional
 * arguments, keywords, block items, default, text.  Parser, `zmailer check`,
 * `zmailer help`, `config show` and zmailer.conf(5) come from it.
 * settings/ has a header for each subject, as statements/ has: what its rows
 * fill in and what can be asked about that.  This one has the whole.
 * A struct conf is made whole or not at all, is never changed, and is
 * released whole; daemons hold one and swap it on reload.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_H
#define ZM_CONF_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "conf/settings/agents.h"
#include "conf/settings/control.h"
#include "conf/settings/door.h"
#include "conf/settings/hooks.h"
#include "conf/settings/policy.h"
#include "conf/settings/queue.h"
#include "conf/settings/rewrite.h"
#include "conf/settings/routing.h"
#include "conf/settings/secure.h"
#include "conf/settings/site.h"

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
	const char		*certificate_table;	/* NULL: none */
	struct conf_at		 certificate_table_at;
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

/* Where conf_load looks when path is NULL. */
const char *conf_default_path(void);

/* Generated views of the table. */
void conf_help(struct str *out, const char *statement);	/* NULL: all */
/* Offer the names of all statements to a guess. */
struct guess;
void conf_help_offer(struct guess *guess);
void conf_manual(struct str *out);			/* roff, section 5 */
/* Every setting with value and origin; only changed ones unless all. */
void conf_show(const struct conf *conf, bool all, struct str *out);
/* The same as JSON, an object a line: statement, value, file, line. */
void conf_show_json(const struct conf *conf, bool all, struct str *out);
/* Complaints as JSON, an object a line, for editors. */
void conf_report_json(const struct conf_report *report, struct str *out);

#endif
