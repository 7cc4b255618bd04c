/* import.h - convert another mailer's configuration to ours
 *
 * A struct import has what was read, what will be written and the findings
 * about each setting.  Each folder here reads one mailer's files, and its
 * reader says what became of each of their statements: nothing is dropped in
 * silence.  Nothing is written before all is read (import_put).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_H
#define ZM_TOOLS_IMPORT_H

#include <stdarg.h>
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
struct import_name {
	struct slice	name;
	uint32_t	number;		/* 0: a free slot */
};
struct import_names {			/* zeroed: none */
	struct import_name	*slots;
	size_t			size, count;	/* size: 0, a power of two */
};
struct import_finding {
	const char	*file;		/* below the directory that is read */
	unsigned	 line;		/* 0: a preset of theirs */
	const char	*name, *value;
	enum import_kind kind;
	const char	*text;
	int		 statement;	/* -1: none */
	unsigned	 port;		/* of a listener; 0: none */
	int		 rank;		/* of its file, once printed */
};
struct import_item {			/* a statement of theirs */
	const char	*file, *name, *value;
	unsigned	 line;
	bool		 is_told;	/* it has a finding */
};
struct import_told {			/* what a name alone tells */
	const char	*name;		/* one * in it is any bytes */
	enum import_kind kind;
	const char	*text;
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
	const char		*mailer;	/* postfix, exim, ... */
	const char		*file;		/* its first file; absolute */
	const char		*dir, *to;	/* both absolute */
	const char *const	*order;		/* of files, NULL at its end */
	const char *const	*homes;		/* places that dir is a copy
						 * of, NULL at their end */
	struct import_settings	 settings;
	struct import_services	 services;
	struct import_statement	*statements;
	size_t			 statement_count;
	struct import_names	 texts;		/* of import_say_once */
	struct import_finding	*findings;
	size_t			 finding_count;
	struct import_file	 files[IMPORT_FILES_MAX];
	size_t			 file_count;
	struct str		 domains;	/* ours, " a b ", each once */
	int			 listens[3];	/* statements: 25 587 465 */
	bool			 has_smtp, has_submission, has_submissions;
	bool			 has_login, has_certificate, has_no_aliases,
				 has_mailbox;
	const char		*aliases;	/* "<aliases>", or NULL */
};

/* ---- files (file.c) ----------------------------------------------------- */

/* Read a file of at most 256 MB into the arena.  returns 0 or -1. */
int import_file_take(struct arena *arena, const char *path,
    struct slice *out, struct err *err);

/* Where their PATH is here: one below one of the homes may be in dir; one that
 * does not begin with / is in dir. */
const char *import_file_here(struct import *import, struct slice path);
/* The name of this machine, with a dot in it. */
const char *import_machine_name(struct arena *arena);
/* Say `host NAME`, by the copy's mailname or this machine's.  returns NAME */
const char *import_host_say(struct import *import);
/* A path as findings name it: what follows dir. */
const char *import_file_name(const struct import *import, const char *path);
/* A statement of the file at path, copied to the arena. */
struct import_item import_item_at(struct import *import, const char *path,
    unsigned line, struct slice name, struct slice value);

/* ---- names (names.c) ---------------------------------------------------- */

/* The number of a name, 0: it has none. */
uint32_t import_name_number(const struct import_names *names,
    struct slice name);
/* Give the name this number, which is not 0. */
void import_name_put(struct arena *arena, struct import_names *names,
    struct slice name, uint32_t number);

/* ---- what comes of it (note.c) ------------------------------------------ */

/* Add a statement made of these settings (blanks between their names).
 * returns its number */
int import_say(struct import *import, enum import_part part,
    const char *from, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The same without settings' names, unless there is one with this text: then
 * returns the number of that. */
int import_say_once(struct import *import, enum import_part part,
    const char *text);
/* Add a finding. */
void import_find(struct import *import, const struct import_finding *finding);
/* A statement of theirs became that one of ours. */
void import_item_taken(struct import *import, struct import_item *item,
    int statement);
/* What else became of it. */
void import_item_note(struct import *import, struct import_item *item,
    enum import_kind kind, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The first row of count whose name fits; NULL: there is none. */
const struct import_told *import_told_of(const struct import_told *rows,
    size_t count, struct slice name);
/* Add what that row tells as a finding.  returns false: there is none */
bool import_item_tell(struct import *import, struct import_item *item,
    const struct import_told *rows, size_t count, struct slice name);
/* Text in the arena from a format. */
const char *import_text(struct import *import, const char *format,
    va_list args);
/* The text as a word of zmailer.conf; NULL when it cannot be one. */
const char *import_word(struct import *import, struct slice text);
/* The name of a domain, or .NAME, in lower case; NULL when it is not one. */
const char *import_domain(struct import *import, struct slice text);
/* The port of a number, smtp, submission, submissions or smtps; 0: it is
 * none. */
unsigned import_port(struct slice text);
/* The text between quotes; bytes that are not allowed there are left out. */
const char *import_quote(struct import *import, struct slice text);
/* Append the statements in their order, as the text of zmailer.conf, and note
 * their line numbers. */
void import_lay_out(struct import *import, struct str *out);
/* Turn statements that zmailer would refuse into comments; conf is laid out
 * again. */
void import_verify(struct import *import, struct str *conf);
/* The table of findings, in the order of the files. */
void import_print(struct import *import, bool is_json, struct str *out);

/* ---- tables (tables.c) -------------------------------------------------- */

/* Add a table with this text, with a unique name made from base.
 * returns the table's name */
const char *import_table_add(struct import *import, const char *from,
    const char *type, const char *base, struct str *text,
    enum import_reader reader);
/* Add an empty table, for domains without aliases.  returns "<none-here>" */
const char *import_no_aliases_say(struct import *import);
/* Add a finding about a row of a table's source, which is at path. */
void import_row_note(struct import *import, const char *path,
    const struct import_entry *entry, enum import_kind kind,
    const char *text);

/* ---- from beginning to end (run.c) -------------------------------------- */

/* Nothing is read yet; all paths are absolute. */
void import_begin(struct import *import, struct arena *arena,
    const char *mailer, const char *to);
/* All was read: append the text of zmailer.conf, checked. */
void import_finish(struct import *import, struct str *out_conf);
/* Read a file or directory, and say what becomes of it.
 * returns 0; -1: it cannot be read */
typedef int import_reader_fn(struct import *import, const char *path,
    struct err *err);
import_reader_fn import_postfix, import_exim, import_opensmtpd,
    import_sendmail, import_zmailer;
/* Release what is not in the arena. */
void import_end(struct import *import);

/* ---- the new directory (put.c) ------------------------------------------ */

/* returns 0, or an exit status after words on standard error */
int import_put_check(const char *to);
int import_put(struct import *import, struct slice conf);

#endif
