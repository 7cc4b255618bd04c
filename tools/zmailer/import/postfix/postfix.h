/* postfix.h - Postfix's main.cf, master.cf and maps
 *
 * The rows of rows.h are visited in their order; each says what became of its
 * parameter, or calls a function that does.  A parameter without a row is
 * "missing: not known"; one that led to no statement is reported, too.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_POSTFIX_H
#define ZM_TOOLS_IMPORT_POSTFIX_H

#include "tools/zmailer/import/import.h"

/* ---- settings (value.c) ------------------------------------------------- */

/* The setting in force; NULL: it is not in main.cf. */
const struct import_setting *import_setting(const struct import *import,
    const char *name);
bool import_is_set(const struct import *import, const char *name);
/* Its value, else Postfix's preset, expanded; "" when there is none or it
 * cannot be expanded (which is reported when the rows are visited). */
struct slice import_value(const struct import *import, const char *name);
struct slice import_fill(const struct import *import, struct slice value,
    struct err *err);
bool import_is_yes(const struct import *import, const char *name);
/* Where a path of Postfix is here: /etc/postfix/x may be DIR/x; relative ones
 * are below queue_directory. */
const char *import_path(const struct import *import, struct slice path);
/* unix:PATH, local:PATH or inet:HOST:PORT as a socket of ours; NULL: it is
 * not a socket. */
const char *import_socket(struct import *import, struct slice text);
/* Add a finding about an element of a setting of main.cf ("": all of it). */
void import_note(struct import *import, const char *name,
    struct slice element, enum import_kind kind, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* ---- tables (maps.c) ---------------------------------------------------- */

struct import_map {			/* one of a list of maps */
	struct slice	spec;		/* as it is written there */
	struct slice	type;		/* without proxy: */
	struct slice	place;		/* what follows the type */
	const char	*path;		/* its source */
	struct import_entries entries;	/* of hash: and the like */
	bool		is_lines;	/* entries are there */
	bool		is_patterns;	/* pcre, regexp */
	bool		is_networks;	/* cidr */
};
/* The next usable map of a list; unusable ones are noted for name. */
bool import_map_next(struct import *import, const char *name,
    struct slice *rest, struct import_map *out);
/* A value for each entry, whose key it may change; NULL leaves it out (and
 * the function says so). */
typedef const char *import_entry_fn(struct import *import, const char *name,
    const struct import_map *map, struct import_entry *entry);
/* Add a finding about an entry. */
void import_entry_note(struct import *import, const struct import_map *map,
    const struct import_entry *entry, enum import_kind kind,
    const char *text);
/* Is it a query to a database: mysql:, pgsql:, sqlite:? */
bool import_map_is_question(const struct import_map *map);
/* Append the definition of such a table (sql.c).  0; -1: it cannot be written
 * here, which was noted */
int import_question(struct import *import, const char *name,
    struct import_map *map, struct str *out);
/* The same as a table; NULL: noted. */
const char *import_question_add(struct import *import, const char *name,
    const char *base, struct import_map *map);
/* One table of two queries to the same database.  NULL: noted. */
const char *import_question_join(struct import *import, const char *name,
    const char *base, struct import_map *first, struct import_map *second);
/* What postmap says of a database without a source (postmap.c).
 * returns 0 or -1 */
int import_postmap(struct import *import, const struct import_map *map,
    struct slice *out_text);
/* One map as a table; fn as below.  returns its name */
const char *import_map_add(struct import *import, const char *name,
    const char *base, const struct import_map *map, import_entry_fn *fn);
/* All maps of a setting as tables: fn gives the values (NULL: they stay as they
 * are); values of a database do not change.
 * returns "<a> <b>", "" when there is none */
const char *import_maps_add(struct import *import, const char *name,
    const char *base, import_entry_fn *fn);

/* ---- functions of rows.h ------------------------------------------------ */

#define IMPORT_NOTHING(name, preset, text)
#define IMPORT_DIFFERENT(name, preset, text)
#define IMPORT_LACKS(name, preset, text)
#define IMPORT_WITH(name, preset, text)
#define IMPORT_STATEMENT(name, preset, part, text)
#define IMPORT_FUNCTION(parameter, preset, function) \
	void import_##function(struct import *import, const char *name);
#include "tools/zmailer/import/postfix/rows.h"

/* tls certificate, before the listeners that want one. */
void import_certificate(struct import *import);
/* Visit all rows, then every setting and service without a finding. */
void import_visit(struct import *import);
/* master.cf. */
void import_services_visit(struct import *import);
/* TRANSPORT:HOP as the target of a route; NULL: *out_why says why not. */
const char *import_transport(struct import *import, struct slice value,
    const char **out_why);
/* Call fn for every name of a list of domains: names, files of names, keys of
 * tables, and "<TABLE>" for one in a database.  Anything else is noted. */
typedef void import_domain_fn(struct import *import, void *context,
    struct slice domain);
void import_domains_each(struct import *import, const char *name,
    import_domain_fn *fn, void *context);
/* Maps whose keys have a mailbox, as tables: "<t>"; "" when there is none. */
const char *import_users_add(struct import *import, const char *name,
    struct slice maps);
/* Say where Postfix's virtual(8) puts mail: one place for all, or a note. */
void import_virtual_mailboxes(struct import *import);
/* Postfix's preset of a parameter (presets.c), NULL: not known. */
const char *import_preset(struct slice name);

#endif
