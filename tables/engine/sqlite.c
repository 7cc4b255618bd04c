/* sqlite.c - engine sqlite: a file of SQLite; read only, but for its owner
 *
 * In     keys, as parameters of the query, never as part of its text
 * Out    the first column of the rows
 * Holds  the file, and the query prepared; both again when the file is another
 * Trusts the file's owner
 * Spec   engine.h; SQLite 3
 *
 * SPDX-License-Identifier: ISC
 */
#include "tables/engine/engine.h"

#ifdef HAVE_SQLITE3
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "tables/engine/query.h"

#include "base/banned.h"

enum { BUSY_MS = 2000, DIR_BYTES = 4096 };

struct sqlite {
	const struct definition	*definition;
	const char	*path, *list;	/* list: NULL, or its question */
	struct query	 query;
	sqlite3		*link;		/* NULL: not open */
	sqlite3_stmt	*statement;
	struct stat	 seen;		/* the file that is open */
};

static void *
sqlite_open(const struct definition *definition)
{
	struct sqlite *sqlite = mem_alloc(1, sizeof(*sqlite));

	sqlite->definition = definition;
	sqlite->path = definition->values[DEFINITION_DATABASE];
	sqlite->list = definition->values[DEFINITION_LIST];
	query_render(&sqlite->query, definition->values[DEFINITION_QUERY],
	    QUERY_MARK_NUMBER);
	return sqlite;
}

static void
sqlite_disconnect(struct sqlite *sqlite)
{
	(void)sqlite3_finalize(sqlite->statement);
	(void)sqlite3_close(sqlite->link);
	sqlite->statement = NULL;
	sqlite->link = NULL;
}

static void
sqlite_close(void *state)
{
	struct sqlite *sqlite = state;

	sqlite_disconnect(sqlite);
	query_release(&sqlite->query);
	mem_free(&sqlite);
}

static enum engine_answer
sqlite_trouble(struct sqlite *sqlite, enum engine_answer answer,
    struct err *err)
{
	err_set(err, "%s: %s", sqlite->path, sqlite->link == NULL ?
	    "out of memory" : sqlite3_errmsg(sqlite->link));
	sqlite_disconnect(sqlite);
	return answer;
}

/* ENGINE_FOUND: it is open. */
static enum engine_answer
sqlite_connect(struct sqlite *sqlite, struct err *err)
{
	struct stat now;

	if (stat(sqlite->path, &now) != 0) {
		err_sys(err, "%s", sqlite->path);
		sqlite_disconnect(sqlite);
		return ENGINE_AWAY;
	}
	if (sqlite->link != NULL && now.st_dev == sqlite->seen.st_dev &&
	    now.st_ino == sqlite->seen.st_ino)
		return ENGINE_FOUND;
	sqlite_disconnect(sqlite);
	sqlite->seen = now;
	if (sqlite3_open_v2(sqlite->path, &sqlite->link, SQLITE_OPEN_NOMUTEX |
	    (sqlite->definition->may_write ? SQLITE_OPEN_READWRITE :
	    SQLITE_OPEN_READONLY), NULL) != SQLITE_OK)
		return sqlite_trouble(sqlite, ENGINE_AWAY, err);
	(void)sqlite3_busy_timeout(sqlite->link, BUSY_MS);
	if (sqlite3_prepare_v2(sqlite->link, sqlite->query.text.buf, -1,
	    &sqlite->statement, NULL) != SQLITE_OK)
		return sqlite_trouble(sqlite, ENGINE_TROUBLE, err);
	return ENGINE_FOUND;
}

static enum engine_answer
sqlite_rows(struct sqlite *sqlite, struct str *out, struct err *err)
{
	sqlite3_stmt *statement = sqlite->statement;
	unsigned rows = 0;
	int step;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		if (sqlite3_column_type(statement, 0) == SQLITE_NULL)
			continue;
		if (!engine_add_row(out, (struct slice){
		    (const char *)sqlite3_column_text(statement, 0),
		    (size_t)sqlite3_column_bytes(statement, 0) }, rows++,
		    err))
			return ENGINE_TROUBLE;
	}
	if (step != SQLITE_DONE)
		return sqlite_trouble(sqlite, ENGINE_TROUBLE, err);
	return rows > 0 ? ENGINE_FOUND : ENGINE_NONE;
}

static enum engine_answer
sqlite_ask(void *state, const struct slice parameters[DEFINITION_PARAMETERS],
    struct str *out, struct err *err)
{
	struct sqlite *sqlite = state;
	enum engine_answer answer = sqlite_connect(sqlite, err);

	if (answer != ENGINE_FOUND)
		return answer;
	for (unsigned i = 0; i < sqlite->query.count; i++) {
		struct slice value = parameters[sqlite->query.which[i]];

		if (sqlite3_bind_text(sqlite->statement, (int)i + 1, value.p,
		    (int)value.n, SQLITE_STATIC) != SQLITE_OK)
			return sqlite_trouble(sqlite, ENGINE_TROUBLE, err);
	}
	answer = sqlite_rows(sqlite, out, err);
	if (sqlite->statement != NULL) {
		(void)sqlite3_reset(sqlite->statement);
		(void)sqlite3_clear_bindings(sqlite->statement);
	}
	return answer;
}

static enum engine_answer
sqlite_list(void *state, engine_row_fn *fn, void *context, struct err *err)
{
	struct sqlite *sqlite = state;
	enum engine_answer answer = sqlite_connect(sqlite, err);
	sqlite3_stmt *statement = NULL;
	int step = SQLITE_ROW;

	if (answer != ENGINE_FOUND)
		return answer;
	if (sqlite3_prepare_v2(sqlite->link, sqlite->list, -1, &statement,
	    NULL) != SQLITE_OK)
		return sqlite_trouble(sqlite, ENGINE_TROUBLE, err);
	while (step == SQLITE_ROW &&
	    (step = sqlite3_step(statement)) == SQLITE_ROW)
		if (sqlite3_column_type(statement, 0) != SQLITE_NULL &&
		    !fn(context, (struct slice){
		    (const char *)sqlite3_column_text(statement, 0),
		    (size_t)sqlite3_column_bytes(statement, 0) }))
			step = SQLITE_DONE;
	if (step != SQLITE_DONE)
		err_set(err, "%s: %s", sqlite->path,
		    sqlite3_errmsg(sqlite->link));
	(void)sqlite3_finalize(statement);
	return step == SQLITE_DONE ? ENGINE_NONE : ENGINE_TROUBLE;
}

static enum engine_answer
sqlite_write(void *state, enum definition_word word,
    const struct slice parameters[DEFINITION_WRITTEN], uint64_t *out_rows,
    struct err *err)
{
	struct sqlite *sqlite = state;
	enum engine_answer answer = sqlite_connect(sqlite, err);
	sqlite3_stmt *statement = NULL;
	struct query query;
	bool is_good;

	if (answer != ENGINE_FOUND)
		return answer;
	query_render(&query, sqlite->definition->values[word],
	    QUERY_MARK_NUMBER);
	is_good = sqlite3_prepare_v2(sqlite->link, query.text.buf, -1,
	    &statement, NULL) == SQLITE_OK;
	for (unsigned i = 0; i < query.count && is_good; i++)
		is_good = sqlite3_bind_text(statement, (int)i + 1,
		    parameters[query.which[i]].p,
		    (int)parameters[query.which[i]].n, SQLITE_STATIC) ==
		    SQLITE_OK;
	is_good = is_good && sqlite3_step(statement) == SQLITE_DONE;
	*out_rows = is_good ? (uint64_t)sqlite3_changes(sqlite->link) : 0;
	if (!is_good)
		err_set(err, "%s: %s", sqlite->path,
		    sqlite3_errmsg(sqlite->link));
	(void)sqlite3_finalize(statement);
	query_release(&query);
	return is_good ? ENGINE_FOUND : ENGINE_TROUBLE;
}

/* The directory: a journal that a writer left is read, too. */
static void
sqlite_lock_in(const struct definition *definition, struct sandbox *out)
{
	static char dir[DIR_BYTES];
	char *slash;

	strlcpy(dir, definition->values[DEFINITION_DATABASE], sizeof(dir));
	slash = strrchr(dir, '/');
	if (slash != NULL)
		slash[slash == dir] = '\0';
	if (definition->may_write)
		out->worked[out->worked_count++] = dir;
	else
		out->readable[out->readable_count++] = dir;
	out->sockets = SOCKETS_NONE;
}

const struct engine engine_sqlite = {
	.name = "sqlite", .open = sqlite_open, .ask = sqlite_ask,
	.list = sqlite_list, .write = sqlite_write,
	.close = sqlite_close, .lock_in = sqlite_lock_in,
};
#endif
