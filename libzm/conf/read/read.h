/* read.h - from bytes to a tree of statements that agree with their rows
 *
 * lex.c makes tokens of bytes, and parse.c a tree of statements of tokens.
 * check.c compares a statement with its row, makes values of its words
 * (value.c) and calls the row's applier, which puts them into the struct
 * conf.  A statement with a complaint goes no further, so that no complaint
 * follows from another.  names.c and index.c find domains by their names.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_READ_H
#define ZM_CONF_READ_H

#include <sys/stat.h>

#include "base/guess.h"
#include "conf/statements/rows.h"
#include "grammar/smtp/ehlo.h"

enum {
	CONF_FILE_BYTES_MAX = 1 << 20,	/* of one file */
	CONF_INCLUDE_DEPTH_MAX = 8,
	CONF_FILES_MAX = 200,		/* included ones, all together */
	CONF_NESTING_MAX = 8,		/* blocks in blocks that are parsed */
	CONF_KEYWORDS_MAX = 32,		/* of one row */
	CONF_COMPLAINTS_MAX = 200,	/* kept */
	CONF_SOURCE_LINE_MAX = 400	/* bytes of a line in a complaint */
};

/* ---- sources and tokens ---------------------------------------------- */

struct conf_source {
	struct conf_source	*next;	/* in the order they were read */
	const char		*name;	/* as in messages; NULL: presets */
	struct slice		 text;
};

enum conf_token_kind {
	TOKEN_WORD, TOKEN_STRING, TOKEN_TABLE, TOKEN_OPEN, TOKEN_CLOSE,
	TOKEN_ASSIGN,		/* NAME=value; text is the raw value */
	TOKEN_END, TOKEN_EOF, TOKEN_BAD
};

struct conf_token {
	enum conf_token_kind	 kind;
	struct slice		 text;	/* decoded; <name> without < > */
	struct slice		 raw;	/* as written in the source */
	struct slice		 name;	/* TOKEN_ASSIGN: what is assigned */
	unsigned		 line, column, width;
	const struct conf_source *source;
};

struct conf_lexer {
	struct conf_loader	*loader;
	const struct conf_source *source;
	size_t			 at;
	unsigned		 line, column;
	bool			 is_start;	/* of a statement */
	bool			 is_odd;	/* the statement has a complaint
						 * about a character that looks
						 * like another */
};

/* The next token; if it is TOKEN_BAD, the complaint was made. */
struct conf_token conf_lex(struct conf_lexer *lexer);

/* "{user}" and the like are part of a word, not blocks: the bytes of the one at
 * the front of text, or 0. */
size_t conf_placeholder_bytes(struct slice text);

/* ---- tree ------------------------------------------------------------ */

struct conf_node {
	struct conf_node	*next;
	struct conf_token	*tokens;	/* [0] is the name */
	size_t			 count;
	struct conf_node	*children;
	bool			 has_block;
	bool			 is_bad;	/* already complained about */
};

/* Is the source a text with line ends?  Complains once if it is not. */
bool conf_text_is_good(struct conf_loader *loader,
    const struct conf_source *source);
/* All statements of a source, in order. */
struct conf_node *conf_parse_tree(struct conf_loader *loader,
    const struct conf_source *source);

/* ---- values ---------------------------------------------------------- */

struct conf_value {
	const struct conf_token	*token;		/* NULL: not given */
	const char		*text;		/* NULL for pure numbers */
	const char		*table;		/* <table> was given */
	const char		*channel;	/* target, clause */
	uint64_t		 number;	/* choice: its index */
	int64_t			 span_ms;	/* rate: number in this */
	struct conf_way		*ways;		/* target: after else */
	size_t			 way_count;
	struct net		 net;
};

struct conf_statement {		/* a node that agrees with its row */
	const struct conf_row	*row;
	const struct conf_node	*node;
	struct conf_value	*args;
	size_t			 arg_count;
	struct conf_value	 keywords[CONF_KEYWORDS_MAX];
						/* in the row's order */
	const struct conf_setting *setting;	/* args "setting" */
};

/* The words of a node that are not taken yet. */
struct conf_cursor {
	struct conf_loader	*loader;
	const struct conf_row	*row;
	const struct conf_token	*first, *next, *end;	/* of the statement */
	const char		*subject;	/* "for timeout"; may be NULL */
	const char		*mend;		/* what to write instead, if
						 * the value's type knows */
};

/* Take a value of type ("span:1s-1d") from the cursor, which is at a token.
 * Returns false, after a complaint, if it is not such a value. */
bool conf_value_take(struct conf_cursor *cursor, struct slice type,
    struct conf_value *out);
/* Read out->token, where the cursor is, as a value of one type.  range is what
 * follows ":" in the type; why may be set to a better hint than the type's.
 * Returns false if it is not such a value. */
typedef bool conf_take_fn(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
/* The last reference must not be to a table in a database: must_be says what
 * the table is read for. */
void conf_reference_is_read(struct conf_loader *loader, const char *must_be);
/* <table>, noted as a reference. */
conf_take_fn conf_take_table;
/* A target, and what follows its else. */
conf_take_fn conf_take_target;
/* Parse "unix:/PATH", which is written alike for all sockets; *out_path (may be
 * NULL) fits into an address.  false: it is not that. */
bool conf_unix_parse(struct slice text, struct slice *out_path,
    struct err *why);
/* Values of rules, by the names of their types. */
conf_take_fn conf_take_net, conf_take_hostpattern, conf_take_certpattern,
    conf_take_tablepattern, conf_take_userpattern, conf_take_senders,
    conf_take_listener,
    conf_take_listed, conf_take_pattern, conf_take_dnszone, conf_take_dkim;
/* Append the targets of a route as a person would write them. */
void conf_route_add(struct str *out, const struct conf_route *route);
/* The name of a type for people: "a length of time". */
const char *conf_type_noun(struct slice type);

/* NAME=value of ZMailer's zmailer.conf: a name that we know sets its setting,
 * unless a statement does; all are kept for $NAME in later values. */
void conf_zenv(struct conf_loader *loader, const struct conf_token *token);

/* Check all statements of a list against the rows of a group, and apply
 * those that agree. */
void conf_check_list(struct conf_loader *loader, const struct conf_node *list,
    enum conf_group group, void *target);

/* ---- what was meant --------------------------------------------------- */

/* Hints that name the replacement ("write 10m"), in the arena; NULL if it is
 * unclear what was meant.  next: the word after text; may be empty. */
const char *conf_mend_span(struct arena *arena, struct slice text,
    struct slice next);
const char *conf_mend_size(struct arena *arena, struct slice text,
    struct slice next);
const char *conf_mend_number(struct arena *arena, struct slice text);
const char *conf_mend_rate(struct arena *arena, struct slice text,
    struct slice next);
const char *conf_mend_moment(struct arena *arena, struct slice text);
/* choices: "a,b,c". */
const char *conf_mend_choice(struct arena *arena, struct slice text,
    struct slice choices);
const char *conf_mend_listen(struct arena *arena, struct slice text);
const char *conf_mend_net(struct arena *arena, struct slice text);
/* "bücher.example" -> "xn--bcher-kva.example" (RFC 5891), in the arena; NULL:
 * it has no such form.  conf_to_ascii is NULL in a program without libidn2. */
typedef const char *conf_to_ascii_fn(struct arena *arena, struct slice name);
extern conf_to_ascii_fn *const conf_to_ascii;
/* The name of a host or domain that was meant; in the arena, or NULL. */
const char *conf_mend_name(struct arena *arena, struct slice text);
/* The same for a name that may begin with a dot or have a star. */
const char *conf_mend_domain(struct arena *arena, struct slice text);
/* from: the file in which it is written. */
const char *conf_mend_path(struct arena *arena, struct slice text,
    const char *from);
/* A socket that is not written unix:/PATH or inet:HOST:PORT. */
const char *conf_mend_socket(struct arena *arena, struct slice text);
/* A target that conf_target_parse does not take. */
const char *conf_mend_target(struct arena *arena, struct slice text);
/* A hint how to write here what another mail system calls by this word; or
 * NULL.  rest: what follows the word in its statement. */
const char *conf_foreign_hint(struct arena *arena, struct slice word,
    struct slice rest);

/* ---- loading --------------------------------------------------------- */

struct conf_reference {		/* <table>, looked for at the end */
	const struct conf_token	*token;
	const char		*must_be;	/* NULL; or why it must not be
						 * in a database */
};

struct conf_name {
	const char		*name;
	size_t			 domain;	/* index in conf->domains */
	const struct conf_token	*token;		/* NULL: a preset */
	const char		*table_path;	/* the table that has it; NULL:
						 * the configuration */
	unsigned		 line;		/* in the table */
};

struct conf_name_table {	/* of names, in a database */
	const char	*name, *spec;
	size_t		 domain;	/* index in conf->domains */
	struct table	*table;		/* NULL: it was not asked yet */
};

struct conf_name_file {		/* of a table of names */
	const char	*path;
	struct stat	 seen;
	bool		 is_young;	/* may change again unseen */
};

struct conf_book {		/* what check and show know beyond conf */
	struct conf_source	*sources, **sources_end;
	struct conf_at		*setting_at;	/* [conf_setting_count] */
	struct conf_at		 mailbox_at, forward_at, quota_at;
	struct conf_at		 tls_min_at, client_certificates_at;
	struct conf_name	*names;		/* of all domains */
	size_t			 name_count;
	unsigned		*name_slots;	/* hash: index in names + 1 */
	size_t			 slot_count;	/* a power of two */
	struct conf_name	*said;		/* as names, tables unread */
	size_t			 said_count;
	struct conf_name_file	*name_files;
	size_t			 name_file_count;
	struct conf_name_table	*name_tables;
	size_t			 name_table_count;
	unsigned		 names_generation;	/* how often re-read */
	struct arena		*names_arena;	/* has re-read names; or NULL */
};

struct conf_variable {		/* NAME=value */
	struct conf_variable	*next;
	const char		*name, *value;
};

struct conf_loader {
	struct conf		*conf;
	struct arena		*report_arena;
	struct conf_report	*report;
	struct conf_book	*book;
	struct conf_variable	*variables;
	struct conf_reference	*references;
	size_t			 reference_count;
	uint64_t		*schedule_set;	/* conf_clause.said */
	unsigned		 depth, files;
	const char		*open_files[CONF_INCLUDE_DEPTH_MAX];
	const struct conf_draft	*drafts;	/* in place of files */
	size_t			 draft_count;
	bool			 is_sealed;	/* a snapshot: no file but the
						 * drafts */
	bool			 is_lenient;	/* tables may be broken */
	bool			 includes_ok;
	bool			 is_partial;	/* something was not read, which
						 * may have tables */
};

/* The place of a token, for settings and complaints. */
struct conf_at conf_at(const struct conf_token *token);

/* ---- sources ---------------------------------------------------------- */

/* Process the text of a source; name NULL: a preset. */
typedef void conf_load_text_fn(struct conf_loader *loader, const char *name,
    struct slice text);

/* Read and apply statements. */
conf_load_text_fn conf_load_text;
/* Call load_text for a file that the statement at from names; complains if it
 * cannot be read. */
void conf_load_file(struct conf_loader *loader, const char *path,
    const struct conf_token *from, conf_load_text_fn *load_text);
/* Note the source in the book; its text is copied. */
struct conf_source *conf_source_new(struct conf_loader *loader,
    const char *name, struct slice text);
/* Append the text of a file, or of the draft that replaces it.  0, or -1 with
 * the reason in err. */
int conf_source_read(const struct conf_loader *loader, const char *path,
    struct str *out, struct err *err);
/* Append the bytes of a regular file: of an open one, which has at most max; of
 * the one at path, at most CONF_FILE_BYTES_MAX.  0, or -1 with the reason in
 * err. */
int conf_read_fd(int fd, size_t max, struct str *out, struct err *err);
int conf_read_file(const char *path, struct str *out, struct err *err);

/* Append a word so that the lexer reads it back, in quotes if necessary. */
void conf_add_word(struct str *out, const char *text);

/* ---- domains by name -------------------------------------------------- */

/* Add a domain; names: the values of its names; NULL: a preset. */
void conf_domain_add(struct conf_loader *loader,
    const struct conf_domain *domain, const struct conf_value *names);
/* Index all names, also those in tables, for conf_domain_find; complains about
 * names that are in two statements. */
void conf_index_domains(struct conf_loader *loader);
/* Make the index of book->names in an arena; if loader is not NULL, complain
 * about names that occur twice. */
void conf_index_names(struct arena *arena, struct conf_book *book,
    struct conf_loader *loader);

/* Note a table in a database that has names of domains. */
void conf_ours_add(struct conf *conf, const struct conf_table *row,
    size_t domain);
/* Close the tables that were asked. */
void conf_ours_release(struct conf_book *book);

/* ---- complaints ------------------------------------------------------ */

enum conf_kind { CONF_WARNING, CONF_ERROR };

/* Complain about a token.  hint may be NULL; both are copied. */
void conf_complain(struct conf_loader *loader, enum conf_kind kind,
    const struct conf_token *token, const char *hint, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* The same at a place, with the sources of a finished conf. */
void conf_complain_at(struct conf_report *report, struct arena *arena,
    const struct conf_book *book, enum conf_kind kind, struct conf_at at,
    unsigned width, const char *hint, const char *text);
/* The same with the text of the line, which is in the arena; or NULL. */
void conf_complain_line(struct conf_report *report, struct arena *arena,
    enum conf_kind kind, struct conf_at at, unsigned width,
    const char *line, const char *hint, const char *text);
/* A line of a source, without its end, cut to the length that is shown; empty
 * when there is none. */
struct slice conf_line_of(const struct conf_book *book, struct conf_at at);
/* Complain that the same was written at first already. */
void conf_complain_twice(struct conf_loader *loader,
    const struct conf_token *token, struct conf_at first, const char *what);

/* Complain about words of a connection to PostgreSQL, or a URL, that libpq
 * would refuse: names that it does not know, a quote without an end. */
void conf_check_connection(struct conf_loader *loader,
    const struct conf_token *token, const char *words);

struct conf_cluster;
/* Complain about `node NAME at ADDRESS` of that cluster when the address is
 * none, or a node before it has it. */
void conf_check_node_at(struct conf_loader *loader,
    const struct conf_statement *statement,
    const struct conf_cluster *cluster);

#endif
