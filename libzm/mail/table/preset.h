/* preset.h - ready-made queries for programs that manage accounts
 *
 * "preset SCHEMA KIND" in a definition replaces its query, and its list
 * if there is one.  Schemas: zmailer (our own, doc/examples/accounts.sql),
 * postfixadmin, mailcow, ispmail, vmail (that of iRedMail).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_PRESET_H
#define ZM_MAIL_TABLE_PRESET_H

#include "base/err.h"
#include "base/str.h"

struct table_preset {
	const char	*schema, *kind;
	const char	*query;
	const char	*mysql;		/* the same for MySQL; NULL: as query */
	const char	*list;		/* of all names; NULL: there is none */
};

/* Find "SCHEMA KIND".  NULL: there is none (err lists all). */
const struct table_preset *table_preset_find(struct slice words,
    struct err *err);

struct table_writing {		/* a schema and kind that zmailer user writes */
	const char	*schema, *kind;
	const char	*add, *change, *remove;
};

/* What writes rows of that kind.  NULL: the program that manages the accounts
 * does. */
const struct table_writing *table_preset_writing(
    const struct table_preset *preset);

/* Are all its names addresses, or @DOMAIN?  (Of aliases; who logs in may have a
 * name without a domain.) */
bool table_preset_has_addresses(const struct table_preset *preset);

/* Its query for that type of table. */
const char *table_preset_query(const struct table_preset *preset,
    const char *type);

#endif
