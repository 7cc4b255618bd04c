/* site.h - accounts, limits, timeouts, and what is logged
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_SITE_H
#define ZM_CONF_SETTINGS_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "conf/settings/at.h"
#include "grammar/net.h"

struct conf;

enum conf_role {	/* process roles that have an account of their own */
	ROLE_SMTPSERVER, ROLE_ROUTER, ROLE_SCHEDULER, ROLE_AGENT, ROLE_TABLES,
	ROLE_STS, ROLE_SHARE, ROLE_RESOLVER, ROLE_WEB, ROLE_NOTIFY,
	ROLE_NODES, ROLE_COUNT
};
extern const char *const conf_role_names[ROLE_COUNT];
	/* "smtpserver" "router" "scheduler" "agent" "tables" "sts"
	 * "share" "resolver" "web" "notify" "nodes" */
/* Does the process of that role run only if the configuration asks for it? */
bool conf_role_is_extra(int role);

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
	unsigned	processes;	/* of a channel, before its processes
					 * carry many agents */
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
	unsigned	router_share;		/* one of so many turns is the
						 * lowest priority's; 0: none */
	uint64_t	program_memory_bytes;	/* of a program; 0: no limit */
	uint64_t	program_output_bytes;	/* that it may write */
};

struct conf_timeouts {		/* timeout NAME SPAN; milliseconds */
	int64_t	command_ms, data_ms, handshake_ms, session_ms;	/* server */
	int64_t	connect_ms, greeting_ms, helo_ms, mail_ms, rcpt_ms,
		data_start_ms, data_block_ms, data_end_ms,
		quit_ms;				/* client */
	int64_t	job_ms;					/* pipe programs */
	int64_t	cut_through_ms;		/* server: the next hop's answer */
};

struct conf_log_level {		/* log-level normal|debug ...: first match */
	bool		 is_debug, has_client;
	struct net	 client;
	const char	*dest;		/* as of tls-to; NULL: not of these */
	int64_t		 until_s;	/* wall; 0: for ever */
	struct conf_at	 at;
};

struct conf_log_to {		/* log-to: a second home of events */
	enum conf_log_to_kind { LOG_TO_NONE, LOG_TO_SYSLOG, LOG_TO_JOURNALD }
			 kind;
	unsigned	 facility;	/* as of syslog(3), not shifted */
	const char	*path;		/* of the socket */
	struct conf_at	 at;
};

/* Is the dialogue with this client, or this next hop, logged now (log-level)?
 * conf_log_level_add appends what follows the word of the statement. */
bool conf_debugs_client(const struct conf *conf, const struct net *client);
bool conf_debugs_dest(const struct conf *conf, struct slice name);
void conf_log_level_add(struct str *out, const struct conf_log_level *level);

/* Append what follows the word log-to. */
void conf_log_to_add(struct str *out, const struct conf_log_to *to);

/* Can others look up this name of ours in the DNS?  It has a dot inside, and is
 * not one that means only this machine or its own network. */
bool conf_name_is_full(const char *name);

#endif
