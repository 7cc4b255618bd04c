/* exim4.h - convert an exim4.conf to a zmailer.conf
 *
 * All statements are read first.  Then routers are walked in their order for
 * each name that one of them treats as ours: what they do with it becomes the
 * block of its domain.  Those for all other names become routes.  In the end
 * each driver is reported as a whole: each option was used, is not needed here,
 * or is missing.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_EXIM4_H
#define ZM_TOOLS_IMPORT_EXIM4_H

#include "tools/zmailer/import/exim/read.h"
#include "tools/zmailer/import/exim/text.h"
#include "tools/zmailer/import/import.h"

struct exim4_row {			/* a statement */
	struct import_item	 item;
	struct exim4_statement	 said;
	struct slice		 value;	/* without quotes, folded */
	bool			 is_used;
};
struct exim4_driver {			/* a router, an ACL, ... */
	enum exim4_section	 section;
	struct slice		 name;
	size_t			 first, end;	/* rows: its own, after it */
	int			 statement;	/* of ours, or -1 */
	const char		*why;	/* it is missing; NULL: it is not */
	const char		*differs;	/* what is different here */
	const char		*needless;	/* why it is not needed; NULL */
	const char		*came;	/* first of our names here */
	bool			 is_walked;	/* a name came this far */
	bool			 is_odd;	/* it is not here: differs */
};
/* Names of a list, in their order: "a.example", ".a.example" for what is
 * below it, "*", "<table>" for a database. */
struct exim4_word {
	const char	*text;
	bool		 is_not;
};
enum { EXIM4_WORDS_MAX = 5000, EXIM4_DRIVERS_MAX = 1000 };
struct exim4_set {
	struct exim4_word	*words;
	size_t			 count;
	const char		*odd;	/* an element that is none of these */
	bool			 is_given;	/* the option is there */
};
struct exim4 {
	struct import		*import;
	struct exim4_row	*rows;
	size_t			 count;
	struct exim4_driver	 drivers[EXIM4_DRIVERS_MAX];
	size_t			 driver_count;
	struct exim4_reader	 reader;
	struct import_names	 sets;		/* by text; of those kept: */
	struct exim4_set	*kept;
	size_t			 kept_count;
	struct exim4_word	*words;		/* of the one being read */
	struct import_names	 local;		/* names that are ours */
	struct str		 local_words;	/* " a b " */
	const char		*host;
	const char		*files;		/* of tables: " FILE=<ours> " */
	const char		*mailbox;	/* said once */
	int			 mailbox_at;
	bool			 has_all;	/* "route *" was said */
	struct str		 relays;	/* hosts of routes, " a b " */
	struct str		 passwords;	/* rows of auth-to */
};

/* ---- rows and drivers (rows.c) ------------------------------------------ */

/* The last option of a driver with this name, which counts as used from then
 * on; NULL: it is not set. */
struct exim4_row *exim4_option(struct exim4 *exim,
    const struct exim4_driver *driver, const char *name);
/* Its value; "" when it is not set. */
struct slice exim4_value(struct exim4 *exim,
    const struct exim4_driver *driver, const char *name);
/* Is NAME set, and not to false?  no_NAME is. */
bool exim4_flag(struct exim4 *exim, const struct exim4_driver *driver,
    const char *name);
/* A setting before the first begin; NULL: it is not set. */
struct exim4_row *exim4_main(struct exim4 *exim, const char *name);
struct exim4_driver *exim4_driver_of(struct exim4 *exim,
    enum exim4_section section, struct slice name);
/* Expand constants that we know: $primary_hostname, $qualify_domain. */
struct slice exim4_filled(struct exim4 *exim, struct slice value);
/* Note that a row became this statement of ours; or what else became of it. */
void exim4_say(struct exim4 *exim, struct exim4_row *row,
    enum import_part part, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void exim4_note(struct exim4 *exim, struct exim4_row *row,
    enum import_kind kind, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Note that the driver became this statement of ours. */
void exim4_driver_say(struct exim4 *exim, struct exim4_driver *driver,
    enum import_part part, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Report all rows of all drivers by what became of them (tell.c). */
void exim4_drivers_tell(struct exim4 *exim);

/* ---- lists (sets.c) ----------------------------------------------------- */

/* Read a list of domains, hosts or addresses; +NAME is followed.  An element
 * that is none of the words above is put into odd, and left out.  The result is
 * kept by its text. */
const struct exim4_set *exim4_set_of(struct exim4 *exim, const char *type,
    struct slice value);
/* Does it have that word? */
bool exim4_set_has(const struct exim4_set *set, const char *word);
/* Does it have words that are not negated? */
bool exim4_set_is_positive(const struct exim4_set *set);

/* ---- tables (tables.c) -------------------------------------------------- */

/* Rows of a file in Exim's form (KEY: VALUE).
 * returns whether it can be read; *out_why says what to do */
bool exim4_entries(struct exim4 *exim, struct slice path,
    struct import_entries *out, const char **out_why);
/* "<ours>" for the aliases that a look-up of data finds for that domain
 * (NULL: for all); made once.  NULL: *out_why says what to do */
const char *exim4_aliases(struct exim4 *exim, struct slice data,
    const char *domain, const char **out_why);
/* "<ours>" for the users that a look-up of a local part or an address finds. */
const char *exim4_users(struct exim4 *exim, const struct exim4_lookup *lookup,
    const char *domain, const char **out_why);
/* "<ours>" for a query to a database in a value (sql.c): role is the name of
 * the table. */
const char *exim4_question(struct exim4 *exim, struct slice type,
    struct slice query, const char *role, const char **out_why);
/* "<ours>" if the same file was used before in the same role, or NULL; and put
 * it. */
const char *exim4_made(struct exim4 *exim, const char *role,
    struct slice key);
void exim4_made_put(struct exim4 *exim, const char *role, struct slice key,
    const char *ours);

/* ---- what is done ------------------------------------------------------- */

/* Settings before the first begin (options.c). */
void exim4_host(struct exim4 *exim);
void exim4_options(struct exim4 *exim);
/* Listeners (listen.c). */
void exim4_listen(struct exim4 *exim);
/* Our domains, by the routers (local.c), then where other mail goes
 * (remote.c). */
void exim4_local(struct exim4 *exim);
void exim4_remote(struct exim4 *exim);
/* What a redirect does to a name of ours (redirect.c): the words of the block
 * are appended to aliases.
 * returns false: no name gets beyond it */
bool exim4_redirect(struct exim4 *exim, struct exim4_driver *router,
    const char *domain, struct str *aliases);
/* Is it a router that sends elsewhere? */
bool exim4_is_remote(struct exim4 *exim, const struct exim4_driver *router);
/* The domains of a router; is_given is false when it has none. */
const struct exim4_set *exim4_domains(struct exim4 *exim,
    const struct exim4_driver *router);
/* Their path as one of ours: $home, $local_part and $domain become {home},
 * {user} and {domain}; NULL: it has other variables. */
const char *exim4_place(struct exim4 *exim, struct slice path);
/* "deliver ..." of a transport that delivers here, "" for mailbox
 * (transports.c); NULL: router->why says what to do. */
const char *exim4_deliver(struct exim4 *exim, struct exim4_driver *router);
/* What follows `via` for hosts of a transport (transports.c): hosts is a list;
 * NULL: why is set. */
const char *exim4_via(struct exim4 *exim, struct exim4_driver *router,
    struct slice hosts);
/* "via mx", with the zone of its transport. */
const char *exim4_via_mx(struct exim4 *exim, struct exim4_driver *router);
/* Convert options of the router's transport for mail that it sends. */
void exim4_transport_smtp(struct exim4 *exim, struct exim4_driver *router,
    const char *pattern);
/* Convert ACLs (acl.c), retries (retry.c), rewriting (rewrite.c), and logins
 * here and at other hosts (logins.c). */
void exim4_acls(struct exim4 *exim);
void exim4_retries(struct exim4 *exim);
void exim4_rewrites(struct exim4 *exim);
/* headers_rewrite and return_path of a transport: generic (rewrite.c). */
void exim4_generic(struct exim4 *exim, struct exim4_driver *transport);
void exim4_logins(struct exim4 *exim);

/* From beginning to end (run.c).
 * returns 0, or -1: the file cannot be read */
int import_exim4(struct import *import, const char *path, struct err *err);

#endif
