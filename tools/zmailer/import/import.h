/* import.h - another mailer's configuration becomes one of ours
 *
 * A struct import holds what was read, what will be written and what there is
 * to say of each setting.  The rows of rows.h are visited in their order;
 * each says of its parameter what became of it, or calls a function that
 * does.  A parameter without a row is "missing: not known", one that no
 * statement came from is said to be so: nothing is dropped in silence.
 * Nothing is written before all is read (import_put).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_H
#define ZM_TOOLS_IMPORT_H

#include <stdio.h>

#include "tools/zmailer/import/read.h"

enum import_kind {
	IMPORT_TAKEN, IMPORT_NOT_NEEDED, IMPORT_DIFFERS, IMPORT_MISSING
};
/* Where in the new file: statements of a part stay in their order. */
enum import_part {
	IMPORT_SITE, IMPORT_LISTEN, IMPORT_TABLES, IMPORT_DOMAINS,
	IMPORT_ADDRESSES, IMPORT_RULES, IMPORT_RELAYING, IMPORT_ROUTES,
	IMPORT_LAST_ROUTES, IMPORT_DELIVERY, IMPORT_QUEUE, IMPORT_PARTS
};

struct import_statement {
	enum import_part part;
	const char	*from;		/* names of settings, blanks between */
	const char	*text;
	unsigned	 line;		/* of the new file, once laid out */
	const char	*refused;	/* why it is a comment, or NULL */
};
struct import_finding {
	const char	*file;		/* main.cf, master.cf, a table */
	unsigned	 line;		/* 0: a preset of Postfix */
	const char	*name, *value;
	enum import_kind kind;
	const char	*text;
	int		 statement;	/* -1: none */
	unsigned	 port;		/* of a listener; 0: none */
};
enum import_reader {			/* who may read a table */
	IMPORT_EVERYBODY,
	IMPORT_AGENTS,			/* passwords of next hops */
	IMPORT_ROOT			/* passwords of databases */
};
struct import_file {			/* a table to be written */
	const char	*name;
	struct str	 text;
	enum import_reader reader;
};

enum { IMPORT_FILES_MAX = 200 };
struct import {
	struct arena		*arena;
	const char		*dir, *to;	/* both absolute */
	struct import_settings	 settings;
	struct import_services	 services;
	struct import_statement	*statements;
	size_t			 statement_count;
	struct import_finding	*findings;
	size_t			 finding_count;
	struct import_file	 files[IMPORT_FILES_MAX];
	size_t			 file_count;
	struct str		 domains;	/* ours, " a b ": no twice */
	int			 listens[3];	/* statements: 25 587 465 */
	bool			 has_smtp, has_submission, has_submissions;
	bool			 has_login, has_certificate, has_no_aliases,
				 has_mailbox;
	const char		*aliases;	/* "<aliases>", or NULL */
};

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
/* A file of at most 256 MB.  returns 0 or -1. */
int import_file_take(struct arena *arena, const char *path,
    struct slice *out, struct err *err);

/* ---- what comes of it (note.c) ------------------------------------------ */

/* A statement from these settings (blanks between their names).
 * returns its number */
int import_say(struct import *import, enum import_part part,
    const char *from, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* One more finding about a setting of main.cf; what of it is meant stands
 * in element ("": all of it). */
void import_note(struct import *import, const char *name,
    struct slice element, enum import_kind kind, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* The same of any file. */
void import_find(struct import *import, const struct import_finding *finding);
/* As a word of zmailer.conf; NULL when it cannot be one. */
const char *import_word(struct import *import, struct slice text);
/* A name of a domain in small letters, .NAME too; NULL when it is none. */
const char *import_domain(struct import *import, struct slice text);
/* The words of a quoted text; what cannot stand there is left out. */
const char *import_quote(struct import *import, struct slice text);
/* Statements in their order with line numbers: the text of zmailer.conf. */
void import_lay_out(struct import *import, struct str *out);
/* Make comments of what zmailer would refuse; conf is laid out again. */
void import_verify(struct import *import, struct str *conf);
/* The table of findings, in the order of the files. */
void import_print(struct import *import, bool is_json, struct str *out);

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
/* A table with this text; "TABLE" is a word made from base, unique.
 * returns the table's name */
const char *import_table_add(struct import *import, const char *from,
    const char *type, const char *base, struct str *text,
    enum import_reader reader);
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
#include "tools/zmailer/import/rows.h"

/* tls certificate, before the listeners that want one. */
void import_certificate(struct import *import);
/* All rows, then every setting and service that nothing was said of. */
void import_visit(struct import *import);
/* master.cf. */
void import_services_visit(struct import *import);
/* HOST of a next hop as target of a route; NULL and a note when it cannot
 * be.  "[host]:port" is a host, "domain" is looked up by MX. */
const char *import_hop(struct import *import, struct slice hop);
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

/* ---- from beginning to end (run.c) -------------------------------------- */

/* Nothing is read yet; dir and to are absolute. */
void import_begin(struct import *import, struct arena *arena, const char *dir,
    const char *to);
/* Read DIR, say what becomes of it, and the text of zmailer.conf.
 * returns 0, or -1: main.cf cannot be read */
int import_postfix(struct import *import, struct str *out_conf,
    struct err *err);
/* Release what is not in the arena. */
void import_end(struct import *import);

/* ---- the new directory (put.c) ------------------------------------------ */

/* returns 0 or an exit status; what is wrong is said on standard error */
int import_put_check(const char *to);
int import_put(struct import *import, struct slice conf);

#endif
