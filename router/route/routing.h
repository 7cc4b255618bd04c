/* routing.h - one recipient on its way: what the files here share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_ROUTING_H
#define ZM_ROUTER_ROUTING_H

#include "conf/route_value.h"
#include "mail/table/table.h"
#include "mail/users.h"
#include "router/route/route.h"

struct router {
	const struct conf	*conf;
	struct table		**tables;	/* as conf->tables */
	bool			 asks_databases;	/* for one of them */
	struct table		*srs_keys;	/* NULL: no srs */
	struct users		*users;
	struct hooks		*hooks;		/* NULL: no script */
	struct rcpts		*asking;	/* that a script is asked for */
	struct arena		*arena;
	struct memo		 lists;		/* "local@domain"; numbers as
						 * conf->lists */
};

/* One recipient on its way; copied when an alias is opened. */
struct routing {
	struct router			*router;
	struct rcpts			*rcpts;
	const struct given_rcpt	*given;
	struct slice			 to;	/* given->path as text */
	struct routing_count		*counts;
	struct slice			 domain;	/* for bare names */
	unsigned			 depth;		/* aliases open */
	unsigned			 sender;	/* rcpts->senders */
	int64_t				 uid;		/* of the list file */
	unsigned			 notify;	/* of its recipients */
	bool				 is_plain;	/* no aliases */
	bool				 skips_virtual;
	bool				 is_of_database;	/* addresses
							 * only */
	const char			*zone;	/* of the route; NULL */
	struct rcpt_rule		 rule;	/* alias it came by; or 0 */
};

struct routing_count {		/* of one given, over all its aliases */
	size_t	first_expanded;	/* rcpts->expanded when it began */
	size_t	added;		/* recipients */
	size_t	hits;		/* recipients added or met again */
	bool	met_loop;
	bool	was_postmaster;
	bool	is_over;	/* too deep or too many: give it up */
	bool	waits;		/* given up because it leads to a list */
};

/* Was a question answered, a way found?  Then routing is done.  ROUTE_TROUBLE:
 * the message has to wait; rcpts->trouble says why. */
enum route_answer { ROUTE_TROUBLE = -1, ROUTE_NO, ROUTE_YES };

static inline enum route_answer
route_done(int result)
{
	return result < 0 ? ROUTE_TROUBLE : ROUTE_YES;
}

static inline enum route_answer
route_is(bool is_so)
{
	return is_so ? ROUTE_YES : ROUTE_NO;
}

/* Route any address.  0, or -1: trouble. */
int route_path(struct routing *routing, const struct path *path,
    struct err *err);
/* Route an address of the virtual tables. */
enum route_answer route_virtual(struct routing *routing, struct slice name,
    const struct path *path, struct err *err);
/* Route a list, or the owner or request address of one. */
enum route_answer route_list(struct routing *routing, struct slice name,
    struct slice local, struct err *err);
/* Route an address of ours; one of another system.  0, or -1: trouble. */
int route_local(struct routing *routing, const struct conf_domain *domain,
    struct slice name, const struct path *path, struct err *err);
int route_remote(struct routing *routing, struct slice domain,
    const struct path *path, struct err *err);

/* Add the recipient of such a route for an address "local@domain".
 * 0, or -1 trouble. */
int route_target_add(struct routing *routing,
    const struct route_target *target, struct slice address,
    const struct rcpt_rule *rule, struct err *err);

/* Add one recipient for this routing; counts it.  0, or -1 trouble. */
int routing_add(struct routing *routing, const char *channel,
    struct slice host, struct slice user, int64_t uid,
    const struct rcpt_rule *rule, struct err *err);
/* The same for a recipient that may have other ways; the caller fills in its
 * channel, host, user, uid, ways and rule.  0, or -1: trouble. */
int routing_add_rcpt(struct routing *routing, const struct draft_rcpt *found,
    struct err *err);
/* Channel error. user: local@domain of path.  0, or -1 trouble. */
int routing_refuse(struct routing *routing, const char *form,
    const struct path *path, const struct rcpt_rule *rule);

/* Does the mail have this sender when it leaves; is it of this user?  pattern:
 * of a route; NULL matches all. */
enum route_answer who_sends(struct routing *routing, const char *pattern,
    struct err *err);
enum route_answer who_submits(struct routing *routing, const char *pattern,
    struct err *err);
/* The same for any address. */
enum route_answer who_is(struct routing *routing, const char *pattern,
    struct slice address, struct err *err);
/* The sender of mail of this routing, in lower case, "" for null; the domain of
 * an address. */
struct slice who_sender(struct routing *routing);
struct slice who_domain(struct slice address);

/* Open a table by name.  NULL with err and trouble if there is none. */
struct table *routing_table(struct routing *routing, const char *name,
    struct err *err);
/* Note trouble: "table-NAME" and the like; returns -1. */
int routing_trouble(struct routing *routing, const char *what,
    const char *name);
/* Is a name one of our domains, and of which statement (*out_domain, NULL
 * unless ROUTE_YES)?  A database may be asked. */
enum route_answer routing_domain(struct routing *routing, struct slice name,
    const struct conf_domain **out_domain, struct err *err);
/* Look a key up; the value is copied. */
enum route_answer routing_lookup(struct routing *routing, struct table *table,
    struct slice key, struct slice *out_value, unsigned *out_line,
    struct err *err);

/* The sender for a redirected recipient (SRS): a number of rcpts->senders, 0:
 * unchanged.  0 or -1. */
int routing_redirect(struct routing *routing, unsigned *out_sender,
    struct err *err);
/* Decode a local part for which srs_is() is true into *out, whose local part is
 * empty if it is not ours, was changed, or is too old.  0, or -1: trouble. */
int redirect_open(struct routing *routing, struct slice local,
    struct path *out, struct err *err);
/* Note that the recipient became others, or those of a list, so that a report
 * of success is owed (RFC 3461 section 5.2.7). */
void routing_done(const struct routing *routing, struct slice address,
    enum rcpt_done done, const struct rcpt_rule *rule);
/* Does this message expand text for the first time? */
bool routing_opens(struct routing *routing, struct slice text);
/* The index of the first delimiter in local with text on both sides, or
 * local.n. */
size_t routing_detail(const struct routing *routing, struct slice local);

/* Databases that have aliases or users of the domain are asked about whole
 * (key@domain) and key; nothing waits for their answers. */
void route_foresee_local(const struct router *router,
    const struct conf_domain *domain, struct slice whole, struct slice key);

/* Must this list wait until other recipients are routed?  Then routing this one
 * ends for now. */
bool routing_waits(struct routing *routing);

/* Add a line for a person who asked how an address is routed; otherwise does
 * nothing. */
void routing_note(const struct routing *routing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "local@domain" in the arena. */
struct slice routing_join(struct routing *routing, struct slice local,
    struct slice domain);

#endif
