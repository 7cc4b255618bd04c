/* routing.h - where mail of a recipient goes
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_ROUTING_H
#define ZM_CONF_SETTINGS_ROUTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/settings/at.h"
#include "mail/table/table.h"

struct conf;

struct conf_table {
	const char	*name;
	const char	*spec;		/* for table_new; see table.h */
	bool		 has_lines;	/* a block: its line N is N - 1 lines
					 * below the statement */
	struct conf_at	 at;
};

/* Where mail of a local domain goes in the end. */
struct conf_deliver {
	const char	*channel;	/* "local", "lmtp", "pipe", "smtp" */
	const char	*host;		/* lmtp: "unix:/path" or "inet:h:port";
					 * pipe: "=" and the first name of
					 * the domain; else "-" */
	const char	*command;	/* pipe */
	const char	*account;	/* it runs as; NULL: nobody */
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

struct conf_way {		/* TARGET of a route, or after its else */
	const char	*channel, *host;	/* as in a route */
	int64_t		 after_s;	/* time for the way before it; 0: until
					 * that has failed */
};

struct conf_route {		/* route PATTERN via TARGET */
	const char	*pattern;	/* "example.org", ".example.org", "*",
					 * or "<table>" (routes <table>) */
	const char	*table;		/* NULL, or table of such routes */
	const char	*channel;	/* "smtp" "lmtp" "error" "hold" ... */
	const char	*host;		/* "" : the domain's MX; "[h]:25":
					 * this host, no MX; "NAME@[h]:25":
					 * logged in as NAME of auth-to */
	const struct conf_way *ways;	/* after else */
	size_t		 way_count;
	const char	*sender, *user;	/* patterns as of a rule; NULL: all */
	enum conf_route_by { ROUTE_BY_RCPT, ROUTE_BY_SENDER,
		ROUTE_BY_USER } by;	/* what is looked up in table */
	const char	*zone;		/* it is sent from; NULL: as zones
					 * say */
	bool		 is_cut_through;	/* clients wait for the next
						 * hop's answer */
	struct conf_at	 at;
};

/* The table that has this name of ours: its path, the line, and how often all
 * tables were read.  NULL: the name is in the configuration itself. */
const char *conf_domain_source(const struct conf *conf, struct slice name,
    unsigned *out_line, unsigned *out_generation);
/* Look at the files of names, and read what changed.  0; -1: one is bad (err),
 * and the names stay as they were. */
int conf_domains_refresh(struct conf *conf, bool *out_is_changed,
    struct err *err);

/* Is a table of the configuration in a database? */
bool conf_asks_databases(const struct conf *conf);
/* Does the configuration need that role's account? */
bool conf_uses_role(const struct conf *conf, int role);

/* The table of this name; NULL when there is none. */
const struct conf_table *conf_table_find(const struct conf *conf,
    const char *name);
/* The plain file that a table is, or would be if it existed; NULL: the table is
 * of another type, or table is NULL. */
const char *conf_table_file(const struct conf_table *table);
/* The domain statement whose `deliver pipe` has this host; NULL: none. */
const struct conf_domain *conf_domain_of_pipe(const struct conf *conf,
    struct slice host);
/* The domain statement for a lower-case name; NULL: neither the configuration
 * nor the files of its tables have it.  A database may (conf_domain_ask). */
const struct conf_domain *conf_domain_find(const struct conf *conf,
    struct slice name);

/* Tables in databases that have names of domains (domain <table>), in the
 * order of the statements.  Returns the name of number i, from 0, with its
 * statement in *out_domain (may be NULL); NULL: there are no more. */
const char *conf_domain_table(const struct conf *conf, size_t i,
    const struct conf_domain **out_domain);
/* Can such a table have this name?  Only whole names are looked up: neither an
 * address in brackets nor ".parent". */
bool conf_domain_is_asked(struct slice name);
/* The statement of a lower-case name, which a database may have: waits for its
 * answer.  TABLE_TROUBLE (err): it cannot be asked, so the name may be ours. */
enum table_result conf_domain_ask(const struct conf *conf, struct slice name,
    const struct conf_domain **out_domain, struct err *err);

/* Parse what follows `via`, or a value of a <table> of routes: "mx",
 * "HOST[:PORT]", "[ADDRESS]:PORT", "lmtp HOST[:PORT]", "local", "hold",
 * "error TEXT".  Channel and host are as in struct conf_route, in the arena.
 * 0 or -1. */
int conf_target_parse(struct arena *arena, struct slice text,
    const char **out_channel, const char **out_host, struct err *err);

/* The host of a control file without the login before it. */
struct slice conf_host_bare(struct slice host);

/* Does the pattern of a route cover this domain?  "example.org" is the domain
 * itself, ".example.org" all below it, "*" everything; * and ? are a glob. */
bool conf_route_covers(const char *pattern, struct slice domain);

/* Does a client that sends to this domain (lower case) wait for the next hop's
 * answer?  The first route that covers it decides, whatever its from and as
 * are; tables are not looked up. */
bool conf_cuts_through(const struct conf *conf, struct slice domain);

/* Does a route's channel deliver?  error, hold and discard do not. */
bool conf_channel_leads_on(const char *channel);

#endif
