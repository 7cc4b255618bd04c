/* ancestor.h - convert the configuration of a ZMailer 2.99
 *
 * Its settings are in several files: zmailer.conf (shell variables),
 * smtpserver.conf, scheduler.conf, and the databases below db, which are read
 * as the text that they were made from.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_ANCESTOR_H
#define ZM_TOOLS_IMPORT_ANCESTOR_H

#include "tools/zmailer/import/ancestor/read.h"
#include "tools/zmailer/import/import.h"

enum { ANCESTOR_ITEMS_MAX = 500 };
struct ancestor {
	struct import		*import;
	struct import_item	 items[ANCESTOR_ITEMS_MAX];	/* variables */
	size_t			 count;
	const char		*host, *share, *var;	/* MAILSHARE, MAILVAR */
	struct str		 aliases;	/* rows of our domains' table */
	struct str		 domains;	/* names, " a b " */
	bool			 has_aliases, has_auth;
};

/* The last variable of that name; NULL: there is none (run.c). */
struct import_item *ancestor_item(struct ancestor *old, const char *name);
/* Its value, "" if there is none; ${NAME} and $NAME are expanded. */
struct slice ancestor_value(struct ancestor *old, const char *name);
/* A value with ${NAME} and $NAME of these files expanded, at most 10 deep. */
struct slice ancestor_filled(struct ancestor *old, struct slice value);

/* The rows of a file of db; false: it does not exist (which is no fault). */
bool ancestor_entries(struct ancestor *old, const char *name,
    struct import_entries *out, const char **out_path);
/* Convert domains, aliases and routes; who may send (databases.c, policy.c). */
void ancestor_databases(struct ancestor *old);
void ancestor_policy(struct ancestor *old);
/* Convert zmailer.conf's variables; smtpserver.conf; scheduler.conf. */
void ancestor_variables(struct ancestor *old);
void ancestor_smtpserver(struct ancestor *old);
void ancestor_scheduler(struct ancestor *old);

#endif
