/* internal.h - what the rooms of conf/ share; nobody else includes it
 *
 * A configuration passes through four rooms: read/lex.c makes tokens of
 * bytes, read/parse.c a tree of statements of tokens, read/check.c holds a
 * statement against its row and makes values of its words, part/apply.c
 * puts values into the struct conf, whose parts stand in settings/.  A
 * statement that one room complained about does not reach the next: no
 * complaint follows from another.  at.c, word.c, file.c, complain.c and
 * index.c lie below these rooms; show/ writes a conf or a report as text;
 * machine/ looks whether the machine has what a conf names.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_INTERNAL_H
#define ZM_CONF_INTERNAL_H

#include <sys/stat.h>

#include "base/guess.h"
#include "conf/conf.h"
#include "grammar/ehlo.h"

enum {
	CONF_FILE_BYTES_MAX = 1 << 20,	/* of one file */
	CONF_INCLUDE_DEPTH_MAX = 8,
	CONF_FILES_MAX = 200,		/* included ones, all together */
	CONF_NESTING_MAX = 8,		/* blocks in blocks that are parsed */
	CONF_KEYWORDS_MAX = 32,		/* of one row */
	CONF_COMPLAINTS_MAX = 200,	/* that are kept */
	CONF_SOURCE_LINE_MAX = 400	/* bytes of a line in a complaint */
};

/* ---- rows ------------------------------------------------------------ */

enum conf_group { GROUP_TOP, GROUP_DOMAIN, GROUP_SCHEDULE, GROUP_ZONE,
	GROUP_NONE, GROUP_LINES };

struct conf_loader;
struct conf_statement;
typedef void conf_apply_fn(struct conf_loader *loader,
    const struct conf_statement *statement, void *target);

struct conf_row {
	enum conf_group	 group;
	const char	*name;
	enum conf_group	 block;
	conf_apply_fn	*apply;
	const char	*args, *keywords;
	const char	*usage, *preset, *text, *example;
};
struct conf_setting {
	const char	*statement, *key;
	size_t		 offset, width;	/* of the field in struct conf */
	const char	*type, *preset, *text;
};

extern const struct conf_row conf_rows[];
extern const size_t conf_row_count;
extern const struct conf_setting conf_settings[];
extern const size_t conf_setting_count;

/* The row of a statement in its group; NULL when there is none. */
const struct conf_row *conf_row_find(enum conf_group group,
    struct slice name);
/* NULL when statement has no such key. */
const struct conf_setting *conf_setting_find(const char *statement,
    struct slice key);
/* Does the row know word as a keyword?  Its index, or -1. */
int conf_keyword_find(const struct conf_row *row, struct slice word);
/* Walk "a=b c! d": false at the end. */
bool conf_spec_next(struct slice *rest, struct slice *out_name,
    struct slice *out_type, bool *out_is_needed);

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
	struct slice		 raw;	/* as it stands in the source */
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
};

/* Next token; a bad one was complained about. */
struct conf_token conf_lex(struct conf_lexer *lexer);

/* "{user}" and its like are part of a word, not blocks: bytes of the one
 * at the front of text, or 0. */
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
	struct conf_way		*ways;		/* target: behind else */
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

/* Words not yet taken of a node. */
struct conf_cursor {
	struct conf_loader	*loader;
	const struct conf_row	*row;
	const struct conf_token	*next, *end;
	const char		*subject;	/* "for timeout"; may be NULL */
};

/* Take a value of type ("span:1s-1d") off the cursor, where a token is.
 * Complains and returns false when it is none. */
bool conf_value_take(struct conf_cursor *cursor, struct slice type,
    struct conf_value *out);
/* part/policy_value.c: values of rules, as in the table of types. */
bool conf_take_hostpattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
bool conf_take_certpattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
bool conf_take_tablepattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
bool conf_take_userpattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
bool conf_take_listener(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
bool conf_take_listed(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
bool conf_take_pattern(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
bool conf_take_dnszone(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
/* part/target.c: a target, and what stands behind its else. */
bool conf_take_target(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
/* As somebody would write it. */
void conf_target_add(struct str *out, const char *channel, const char *host);
void conf_route_add(struct str *out, const struct conf_route *route);
/* read/value.c: <table>, noted as a reference. */
bool conf_take_table(struct conf_cursor *cursor, struct slice range,
    struct conf_value *out, struct err *why);
/* part/apply.c: the names of the tables that all its values are, in the
 * configuration's arena. */
const char **conf_tables_of(struct conf_loader *loader,
    const struct conf_statement *statement);
/* What people call a type: "a length of time". */
const char *conf_type_noun(struct slice type);

/* Check all statements of a list against the rows of a group, and apply
 * those that agree. */
void conf_check_list(struct conf_loader *loader, const struct conf_node *list,
    enum conf_group group, void *target);

/* ---- loading --------------------------------------------------------- */

struct conf_reference {		/* <table>, looked for at the end */
	const struct conf_token	*token;
};

struct conf_name {
	const char		*name;
	size_t			 domain;	/* index in conf->domains */
	const struct conf_token	*token;		/* NULL: a preset */
	const char		*table_path;	/* where it stands; NULL: in
						 * the configuration */
	unsigned		 line;		/* of it */
};

struct conf_name_file {		/* of a table of names: read/names.c */
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
	unsigned		 names_generation;	/* how often anew */
	struct arena		*names_arena;	/* of names, then; or NULL */
};

struct conf_variable {		/* NAME=value */
	struct conf_variable	*next;
	const char		*name, *value;
};

enum conf_said {		/* what a schedule clause speaks of */
	SAID_PARALLEL = 1, SAID_AGENTS = 2, SAID_OVERFEED = 4, SAID_RETRY = 8,
	SAID_WARN = 16, SAID_EXPIRE = 32, SAID_IDLE = 64, SAID_COMMAND = 128,
	SAID_JITTER = 256, SAID_UNTRIED = 512, SAID_EXHAUST = 1024,
	SAID_CHANNEL = 2048, SAID_PROVIDER = 4096, SAID_RATE = 8192,
	SAID_CONNECTION = 1 << 14, SAID_QUEUE_ONLY = 1 << 15,
	SAID_ORDER = 1 << 16, SAID_FAIR = 1 << 17, SAID_FEEDBACK = 1 << 18,
	SAID_UNTIL = 1 << 19
};

struct conf_clause {		/* target of the items of a schedule */
	struct conf_schedule	schedule;
	unsigned		said;	/* enum conf_said */
};
/* Note that the item was said; complains when it was before. */
struct conf_schedule *conf_clause_say(struct conf_loader *loader,
    const struct conf_statement *statement, void *target,
    enum conf_said what);

struct conf_loader {
	struct conf		*conf;
	struct arena		*report_arena;
	struct conf_report	*report;
	struct conf_book	*book;
	struct conf_variable	*variables;
	struct conf_reference	*references;
	size_t			 reference_count;
	unsigned		*schedule_set;	/* enum conf_said, a clause */
	unsigned		 depth, files;
	const struct conf_draft	*drafts;	/* in place of files */
	size_t			 draft_count;
	bool			 includes_ok;
	bool			 is_partial;	/* something was not read:
						 * tables may be there */
};

/* Room for one more element: returns the array, moved to twice the space
 * in the arena when count is a power of two. */
void *conf_push(struct arena *arena, void *array, size_t count, size_t size);

/* Where a token stands, for settings and complaints. */
struct conf_at conf_at(const struct conf_token *token);

/* Read and apply one file (include); complains itself. */
void conf_load_file(struct conf_loader *loader, const char *path,
    const struct conf_token *from);
/* The same with a file of another grammar (include-legacy). */
void conf_load_legacy(struct conf_loader *loader, const char *path,
    const struct conf_token *from);
/* The bytes of a regular file of at most CONF_FILE_BYTES_MAX, behind what
 * out holds.  0, or -1 with the reason in err. */
int conf_read_file(const char *path, struct str *out, struct err *err);
void conf_load_text(struct conf_loader *loader, const char *name,
    struct slice text);

/* part/door.c: the words of a trust or ehlo statement, with a blank in front
 * of each. */
void conf_trust_add(struct str *out, unsigned words);
void conf_ehlo_add(struct str *out, unsigned words);

/* part/mailbox.c: what stands behind mailbox, forward and quota. */
void conf_mailbox_add(struct str *out, const struct conf *conf);
void conf_forward_add(struct str *out, const struct conf *conf);
void conf_quota_add(struct str *out, const struct conf *conf);

/* part/rewrite.c: what stands behind canonical, masquerade and generic. */
void conf_canonical_add(struct str *out, const struct conf_canonical *one);
void conf_masquerade_add(struct str *out, const struct conf_masquerade *one);
void conf_generic_add(struct str *out, const struct conf_generic *one);
/* Errors: routes whose ways differ in the generic that covers them. */
void conf_check_ways(struct conf_loader *loader);
void conf_copy_add(struct str *out, const struct conf_copy *one);

/* part/zenv.c: NAME=value. */
void conf_zenv(struct conf_loader *loader, const struct conf_token *token);

/* read/preset.c: what holds before and behind the file. */
void conf_preset_before(struct conf_loader *loader);
void conf_preset_behind(struct conf_loader *loader);
/* Store one value in its field. */
void conf_setting_store(struct conf *conf, const struct conf_setting *setting,
    const struct conf_value *value);

/* part/schedule.c: does the one match whatever the other matches?  Fill in
 * what clauses left unsaid. */
bool conf_schedule_covers(const struct conf_schedule *wide,
    const struct conf_schedule *narrow);
void conf_schedule_resolve(struct conf_loader *loader);

/* One more clause, at the end of those read so far. */
void conf_clause_push(struct conf_loader *loader,
    const struct conf_clause *clause);
/* What below says and the clause does not. */
void conf_clause_inherit(struct conf_clause *clause,
    const struct conf_clause *below);
/* legacy/legacy.c: clauses out of ZMailer's scheduler.conf. */
void conf_legacy_read(struct conf_loader *loader,
    const struct conf_source *source);

/* part/retry.c: the rules of `below` that this one's own do not hide. */
void conf_retry_inherit(struct conf_schedule *schedule,
    const struct conf_schedule *below);
/* show/schedule.c: what stands behind the word schedule. */
void conf_show_clause(const struct conf_schedule *schedule, struct str *out);
/* part/zone.c: what stands behind the word zone; zones that overflow names
 * are there, and none takes away what another wants. */
void conf_show_zone(const struct conf_zone *zone, struct str *out);
void conf_check_sending_zones(struct conf_loader *loader);
/* word.c: a word as the lexer reads it back. */
void conf_add_word(struct str *out, const char *text);

/* part/policy_text.c: a network as somebody would write it. */
void conf_add_net(struct str *out, const struct net *net);
/* part/apply.c: "192.0.2.1:25", "unix:/path", which the value's type has
 * checked. */
void conf_listen_make(struct conf_listen *listen_on, const char *text,
    unsigned port);
/* part/milter.c: "unix:/PATH" or "inet:ADDRESS:PORT"? */
bool conf_is_socket(const char *text);
/* part/policy.c: zones that rules name are there. */
void conf_check_zones(struct conf_loader *loader);

/* part/reach.c: statements that can never match, open relays, tables that
 * are not there. */
void conf_check_references(struct conf_loader *loader);
void conf_check_reach(struct conf_loader *loader);

/* part/tls.c: listeners that need a certificate have one. */
void conf_check_tls(struct conf_loader *loader);
/* part/auth.c: somebody can log in, this build can check. */
void conf_check_auth(struct conf_loader *loader);
/* part/routing.c: lists and srs of domains that are not ours. */
void conf_check_expansion(struct conf_loader *loader);

/* part/hooks.c: the words of the statement / the script compiles. */
void conf_show_hooks(const struct conf_hooks *hooks, struct str *out);
void conf_check_hooks(const struct conf *conf, struct arena *arena,
    struct conf_report *report);

/* index.c: make conf_domain_find quick; complains about names that
 * stand in two statements. */
void conf_index_domains(struct conf_loader *loader);
/* Make the index of book->names, in an arena; loader, if any, hears of names
 * that stand twice. */
void conf_index_names(struct arena *arena, struct conf_book *book,
    struct conf_loader *loader);
void conf_domain_add(struct conf_loader *loader,
    const struct conf_domain *domain, const struct conf_value *names);

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
/* What is said here was said at first already: complain. */
void conf_complain_twice(struct conf_loader *loader,
    const struct conf_token *token, struct conf_at first, const char *what);

/* A look from a finished conf at the machine it is for (machine/). */
struct conf_look {
	const struct conf	*conf;
	struct arena		*arena;		/* of the report */
	struct conf_report	*report;
	unsigned		 width;		/* of what is underlined */
};
/* Complain about what was seen; hint may be NULL; both are copied. */
void conf_tell(const struct conf_look *look, enum conf_kind kind,
    struct conf_at at, const char *hint, const char *text);
struct table;
/* machine/values.c: a warning for each value of a table of routes or of users
 * that the router could not use. */
void conf_check_values(struct conf_look *look, const struct conf_table *entry,
    struct table *table);
/* machine/certificates.c: they can be read, fit their keys, are in force. */
void conf_check_certificates(const struct conf *conf, struct arena *arena,
    struct conf_report *report);

/* show/report.c: by file in the order read, then by line and column. */
void conf_report_sort(struct conf_report *report,
    const struct conf_book *book);

/* Appliers, by the names of the rows. */
#define STATEMENT(group, name, block, apply, args, keywords, usage, preset, \
    text, example) conf_apply_fn conf_apply_##apply;
#include "conf/statements.h"

#endif
