/* preset.h - ready-made queries for programs that manage accounts
 *
 * "preset SCHEMA KIND" in a definition replaces its query, and its list
 * if there is one.  Schemas: postfixadmin, mailcow, ispmail, vmail (that of
 * iRedMail).
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

/* Its query for that type of table. */
const char *table_preset_query(const struct table_preset *preset,
    const char *type);

#endif
