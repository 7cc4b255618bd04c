/* engine.h - what a kind of database is to the process that asks them
 *
 * An engine lives in a process that asks one table, one question after the
 * other or a few together, and may block: who waits too long for it ends the
 * process.  To join, an engine is one file with one struct engine in it, a row
 * in engines.c, its words in libzm/mail/table/definition.c, and its type in
 * libzm/mail/table/asked.c.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ENGINE_ENGINE_H
#define ZM_TABLES_ENGINE_ENGINE_H

#include "daemon/sandbox.h"
#include "mail/table/definition.h"

enum engine_answer {
	ENGINE_AWAY = -2,	/* nobody answers there; err */
	ENGINE_TROUBLE = -1,	/* this question has no answer; err */
	ENGINE_NONE = 0,
	ENGINE_FOUND = 1
};

enum {
	ENGINE_VALUE_BYTES_MAX = 16000,	/* of an answer */
	ENGINE_ROWS_MAX = 1000,		/* of an answer: "a, b, c" */
	ENGINE_TOGETHER_MAX = 16,	/* questions */
	ENGINE_CONNECT_S = 3
};

/* One of several that are asked together. */
struct engine_question {
	struct slice		 parameters[DEFINITION_PARAMETERS];
	struct str		 value;		/* empty before */
	struct err		 err;
	enum engine_answer	 answer;
};

typedef bool engine_row_fn(void *context, struct slice row);

struct engine {
	const char	*name;		/* type of the table */
	/* Connects to nobody.  definition outlives the state. */
	void *(*open)(const struct definition *definition);
	/* Ask for a key in its forms (definition_parameters), connecting first
	 * when there is no connection.  The value is added to out. */
	enum engine_answer (*ask)(void *state,
	    const struct slice parameters[DEFINITION_PARAMETERS],
	    struct str *out, struct err *err);
	/* Ask all of these, in one trip, and answer each; at most
	 * ENGINE_TOGETHER_MAX.  NULL: they are
	 * asked one after the other. */
	void (*ask_all)(void *state, struct engine_question *questions,
	    size_t count);
	/* Every row of the definition's list; ENGINE_NONE at the end.  NULL: it
	 * cannot be listed. */
	enum engine_answer (*list)(void *state, engine_row_fn *fn,
	    void *context, struct err *err);
	/* Carry out the definition's add, change or remove, once: what came of
	 * it is unknown if the connection ends meanwhile (ENGINE_AWAY).
	 * *out_rows: how many were written.  ENGINE_FOUND, or err.  NULL: it
	 * cannot be written to. */
	enum engine_answer (*write)(void *state, enum definition_word word,
	    const struct slice parameters[DEFINITION_WRITTEN],
	    uint64_t *out_rows, struct err *err);
	void (*close)(void *state);
	/* What the process keeps of the file system and of sockets. */
	void (*lock_in)(const struct definition *definition,
	    struct sandbox *out);
};

/* NULL: none of that name is built in. */
const struct engine *engine_of(const char *type);

/* Add a row to a value.  false: it is too much, err says so. */
bool engine_add_row(struct str *out, struct slice row, unsigned rows,
    struct err *err);

/* Of an engine of servers: certificates, how names are looked up, libraries
 * for that. */
void engine_lock_in(const struct definition *definition,
    struct sandbox *out);

extern const struct engine engine_pgsql, engine_mysql, engine_sqlite,
    engine_ldap, engine_redis, engine_socketmap, engine_tcp;

#endif
