/* postfix.h - Postfix's main.cf, master.cf and maps
 *
 * The rows of rows.h are visited in their order; each says of its parameter
 * what became of it, or calls a function that does.  A parameter without a
 * row is "missing: not known", one that no statement came from is said to be
 * so.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_POSTFIX_H
#define ZM_TOOLS_IMPORT_POSTFIX_H

#include "tools/zmailer/import/import.h"

/* ---- what there is (value.c) -------------------------------------------- */

/* The setting in force, NULL: it is not in main.cf. */
const struct import_setting *import_setting(const struct import *import,
    const char *name);
bool import_is_set(const struct import *import, const char *name);
/* Its value, else Postfix's preset, all filled in; "" when there is none or
 * it cannot be filled in (which is said when the rows are visited). */
struct slice import_value(const struct import *import, const char *name);
struct slice import_fill(const struct import *import, struct slice value,
    struct err *err);
bool import_is_yes(const struct import *import, const char *name);
/* A path of Postfix as it lies here: /etc/postfix/x may be DIR/x; relative
 * ones are below queue_directory. */
const char *import_path(const struct import *import, struct slice path);
/* unix:PATH, local:PATH or inet:HOST:PORT as a socket of ours; NULL: it is
 * none. */
const char *import_socket(struct import *import, struct slice text);
/* One more finding about a setting of main.cf; what of it is meant stands
 * in element ("": all of it). */
void import_note(struct import *import, const char *name,
    struct slice element, enum import_kind kind, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* ---- tables (maps.c) ---------------------------------------------------- */

struct import_map {			/* one of a list of maps */
	struct slice	spec;		/* as it stands there */
	struct slice	type;		/* without proxy: */
	struct slice	place;		/* what follows the type */
	const char	*path;		/* its source */
	struct import_entries entries;	/* of hash: and its like */
	bool		is_lines;	/* entries are there */
	bool		is_patterns;	/* pcre, regexp */
	bool		is_networks;	/* cidr */
};
/* The next map of a list that can be used; what cannot is noted for name. */
bool import_map_next(struct import *import, const char *name,
    struct slice *rest, struct import_map *out);
/* A value for each entry, whose key it may change; NULL leaves it out (and
 * the function says so). */
typedef const char *import_entry_fn(struct import *import, const char *name,
    const struct import_map *map, struct import_entry *entry);
/* A finding about an entry. */
void import_entry_note(struct import *import, const struct import_map *map,
    const struct import_entry *entry, enum import_kind kind,
    const char *text);
/* Is it a question to a database: mysql:, pgsql:, sqlite:? */
bool import_map_is_question(const struct import_map *map);
/* The definition of such a table (sql.c), appended to out.  0; -1: it cannot
 * be said here, which was noted */
int import_question(struct import *import, const char *name,
    struct import_map *map, struct str *out);
/* The same as a table; NULL: noted. */
const char *import_question_add(struct import *import, const char *name,
    const char *base, struct import_map *map);
/* One table of two questions to the same database.  NULL: noted. */
const char *import_question_join(struct import *import, const char *name,
    const char *base, struct import_map *first, struct import_map *second);
/* What postmap says of a database without a source (postmap.c).
 * returns 0 or -1 */
int import_postmap(struct import *import, const struct import_map *map,
    struct slice *out_text);
/* One map as a table; fn as below.  returns its name */
const char *import_map_add(struct import *import, const char *name,
    const char *base, const struct import_map *map, import_entry_fn *fn);
/* All maps of a setting as tables: fn (NULL: as they are) gives the values,
 * but what a database says stays as it is.
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
/* All rows, then every setting and service that nothing was said of. */
void import_visit(struct import *import);
/* master.cf. */
void import_services_visit(struct import *import);
/* TRANSPORT:HOP as the target of a route; NULL: *out_why says why not. */
const char *import_transport(struct import *import, struct slice value,
    const char **out_why);
/* Every name of a list of domains: names, files of names, keys of tables, and
 * "<TABLE>" for one in a database, where name has such.  fn is called with
 * each; what is none of these is noted. */
typedef void import_domain_fn(struct import *import, void *context,
    struct slice domain);
void import_domains_each(struct import *import, const char *name,
    import_domain_fn *fn, void *context);
/* Maps whose keys have a mailbox, as tables: "<t>"; "" when there is none. */
const char *import_users_add(struct import *import, const char *name,
    struct slice maps);
/* Where Postfix's virtual(8) puts mail: one place for all, or a note. */
void import_virtual_mailboxes(struct import *import);
/* Postfix's preset of a parameter (presets.c), NULL: not known. */
const char *import_preset(struct slice name);

#endif
