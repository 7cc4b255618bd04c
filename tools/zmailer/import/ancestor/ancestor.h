/* ancestor.h - a ZMailer 2.99 on its way to become a zmailer.conf of ours
 *
 * Its settings lie in several files: zmailer.conf (variables of the shell),
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

/* The variable of that name, of several the last; NULL: none (run.c). */
struct import_item *ancestor_item(struct ancestor *old, const char *name);
/* Its value, "" when there is none; ${NAME} and $NAME are filled in. */
struct slice ancestor_value(struct ancestor *old, const char *name);
/* A value with ${NAME} and $NAME of these files filled in, 10 deep. */
struct slice ancestor_filled(struct ancestor *old, struct slice value);

/* Rows of a file of db; false: it is not there (which is no fault). */
bool ancestor_entries(struct ancestor *old, const char *name,
    struct import_entries *out, const char **out_path);
/* Whose mail this is, what it becomes, where it goes, who may send it
 * (databases.c, policy.c). */
void ancestor_databases(struct ancestor *old);
void ancestor_policy(struct ancestor *old);
/* zmailer.conf's variables, smtpserver.conf, scheduler.conf. */
void ancestor_variables(struct ancestor *old);
void ancestor_smtpserver(struct ancestor *old);
void ancestor_scheduler(struct ancestor *old);

#endif
