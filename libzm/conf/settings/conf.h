/* conf.h - struct conf: all that a configuration says
 *
 * A struct conf is made as a whole or not at all, is never changed, and is
 * freed as a whole; a daemon has one and replaces it on reload.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_CONF_H
#define ZM_CONF_SETTINGS_CONF_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "conf/settings/agents.h"
#include "conf/settings/brief.h"
#include "conf/settings/control.h"
#include "conf/settings/clients.h"
#include "conf/settings/cluster.h"
#include "conf/settings/notify.h"
#include "conf/settings/hooks.h"
#include "conf/settings/policy.h"
#include "conf/settings/queue.h"
#include "conf/settings/report.h"
#include "conf/settings/resolver.h"
#include "conf/settings/rewrite.h"
#include "conf/settings/routing.h"
#include "conf/settings/secure.h"
#include "conf/settings/site.h"

struct conf {
	struct arena	*arena;
	const char	*path;			/* "" : no file, defaults */
	const char	*read_from;		/* path, or the snapshot read
						 * in its place */

	const char	*host;			/* our name */
	bool		 has_aliases;		/* /etc/aliases existed, for a
						 * snapshot: when it was made */
	const char	*postmaster;		/* local part or address */
	const char	*spool_dir, *run_dir, *log_dir;
	unsigned	 hash_levels;		/* 0, 1, 2 */
	enum conf_sync { SYNC_GROUP, SYNC_STRICT, SYNC_UNSAFE,
	    SYNC_EPHEMERAL } sync;
	int64_t		 greet_pause_ms;
	int64_t		 tarpit_first_ms, tarpit_max_ms;
	enum { VERIFY_REJECT, VERIFY_ACCEPT, VERIFY_OFF } verify;
				/* our recipients at RCPT; ACCEPT: also those
				 * that cannot be looked up now */
	bool		 bare_lf_ok;		/* bare-newline accept */
	bool		 bare_address_ok;	/* bare-address accept */
	enum { JUDGES_NOTHING, JUDGES_ORIGIN, JUDGES_DKIM2 } verifies_origin;
				/* SPF, DKIM, DMARC of mail from elsewhere;
				 * JUDGES_DKIM2: DKIM2 as well */
	const char	**arc_domains;		/* trust arc; ".x": below */
	size_t		 arc_domain_count;
	struct conf_at	 arc_at;		/* of the first */
	const char	*dns_server;		/* NULL: the system's; ours
						 * where resolver says so */
	unsigned	 mx_port;	/* where next hops found by MX listen */
	const char	*accounts[ROLE_COUNT];	/* user names when root */
	unsigned	 smtpserver_workers, router_workers;
	int64_t		 group_ms;		/* outcomes durable within */
	int64_t		 trash_ms;	/* how long deleted mail is kept */
	int64_t		 keep_failed_ms;	/* before they are reported */
	int64_t		 journal_keep_ms;	/* how long events are kept, */
	uint64_t	 journal_max_bytes;	/* at most so many bytes, */
	uint64_t	 journal_part_bytes;	/* in files of so many */
	int64_t		 record_ms;	/* sessions are kept; 0: not at all */
	uint64_t	 record_max_bytes;	/* at most so many bytes */
	uint64_t	 record_bodies_max_bytes;	/* also of messages; 0:
						 * none are kept */
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
	bool		 mailbox_is_addressed;	/* a template has {domain} or
						 * {detail} */
	struct conf_quota quota;

	struct conf_mailq	 mailq;
	struct conf_listen	*listens;	size_t listen_count;
	struct conf_certificate	*certificates;	size_t certificate_count;
	const char		*certificate_table;	/* NULL: none */
	struct conf_sign	*signs;		size_t sign_count;
	struct conf_sign_table	*sign_tables;	size_t sign_table_count;
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
	struct conf_learn	 learns[LEARN_COUNT];
	const char		*delimiters;	/* of user and detail, or
						 * "none" */
	struct conf_rule	*rules;		size_t rule_count;
	struct conf_dnsbl	*dnsbls;	size_t dnsbl_count;
	struct conf_milter	*milters;	size_t milter_count;
	struct conf_milter	 content_filter;	/* socket: a command or
						 * unix:; NULL: none */
	struct conf_peers	*trusts;	size_t trust_count;
	struct conf_peers	*withouts;	size_t without_count;
	struct conf_objective	*objectives;	size_t objective_count;
	struct conf_zone	*zones;		size_t zone_count;
	struct conf_cluster	 cluster;
	struct conf_notify	*notifies;	size_t notify_count;
	struct conf_resolver	 resolver;
	const char	*classes_path;		/* NULL: none of the site */
	struct conf_tls_to	*tls_to;	size_t tls_to_count;
	struct conf_sts	 sts;
	const char		*tls_reports;	/* their sender; "" none */
	const char		*dmarc_reports;	/* the same */
	struct conf_xclient_to	*xclient_to;	size_t xclient_to_count;
	struct conf_log_level	*log_levels;	size_t log_level_count;
	struct conf_log_to	 log_to;
	struct conf_auth_to	 auth_to;	/* table NULL: none */
	struct conf_schedule	*schedules;	size_t schedule_count;
						/* the built-in ones last */
	struct conf_limits	 limits;
	struct conf_timeouts	 timeouts;

	struct conf_book	*book;	/* read/read.h: sources, origins */
};

/* The domain in /etc/mailname, in lower case, in arena; NULL when there is no
 * such file or no domain with a dot in its first line.  Debian writes there
 * what mail shows after the @ of local addresses. */
const char *conf_mailname(struct arena *arena);

/* If mailname (may be NULL) differs from the statement host: a text, in arena,
 * that says which one counts.  Otherwise NULL. */
const char *conf_mailname_note(const struct conf *conf, const char *mailname,
    struct arena *arena);

/* Where conf_load looks when path is NULL: ZMAILER_CONF of the environment,
 * else SYSCONFDIR/zmailer/zmailer.conf. */
const char *conf_default_path(void);

/* Free all of it.  NULL is harmless; sets *conf to NULL. */
void conf_free(struct conf **conf);

/* What one message needs of a configuration; it borrows from conf. */
void conf_brief_of(const struct conf *conf, struct conf_brief *out);

#endif
