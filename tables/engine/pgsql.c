/* pgsql.c - engine pgsql: PostgreSQL, by libpq
 *
 * In     keys, as parameters of the query, never as part of its text
 * Out    the first column of the rows
 * Holds  a connection
 * Trusts the server with what it may answer, no more
 * Spec   engine.h; PostgreSQL 15, chapter 34 (libpq)
 *
 * SPDX-License-Identifier: ISC
 */
#include "tables/engine/engine.h"

#ifdef HAVE_PGSQL
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tables/engine/query.h"
#include "tables/engine/servers.h"

#include "base/banned.h"

enum { KEYWORDS_MAX = 16 };
#define DEFAULT_HOSTS "/run/postgresql"

struct pgsql {
	const struct definition	*definition;
	struct query		 query;
	PGconn			*link;		/* NULL: none */
};

static void *
pgsql_open(const struct definition *definition)
{
	struct pgsql *pgsql = mem_alloc(1, sizeof(*pgsql));

	pgsql->definition = definition;
	query_render(&pgsql->query, definition->values[DEFINITION_QUERY],
	    QUERY_DOLLAR);
	return pgsql;
}

static void
pgsql_close(void *state)
{
	struct pgsql *pgsql = state;

	PQfinish(pgsql->link);
	query_release(&pgsql->query);
	mem_free(&pgsql);
}

/* ---- a connection ----------------------------------------------------- */

/* libpq has a list of names and one of ports. */
static void
hosts_add(const char *text, struct str *names, struct str *ports)
{
	struct server_place places[SERVERS_MAX];
	size_t count = servers_of(text != NULL ? text : DEFAULT_HOSTS,
	    places);

	for (size_t i = 0; i < count; i++) {
		if (i > 0) {
			str_addc(names, ',');
			str_addc(ports, ',');
		}
		str_add_slice(names, places[i].name);
		str_add_slice(ports, places[i].port);
	}
}

static void
pgsql_connect(struct pgsql *pgsql)
{
	char *const *values = pgsql->definition->values;
	bool is_clear = values[DEFINITION_TLS] != NULL &&
	    strcmp(values[DEFINITION_TLS], "no") == 0;
	struct str names = STR_INIT, ports = STR_INIT;
	char wait[16];

	hosts_add(values[DEFINITION_HOSTS], &names, &ports);
	snprintf(wait, sizeof(wait), "%d", ENGINE_CONNECT_S);
	{
		const char *const keywords[KEYWORDS_MAX] = { "host", "port",
		    "dbname", "user", "password", "sslmode", "sslrootcert",
		    "connect_timeout", "client_encoding", "gssencmode",
		    "passfile", "application_name", NULL };
		const char *const texts[KEYWORDS_MAX] = { names.buf,
		    ports.buf,
		    values[DEFINITION_DATABASE], values[DEFINITION_USER],
		    values[DEFINITION_PASSWORD],
		    is_clear ? "disable" : "verify-full",
		    values[DEFINITION_CA] != NULL ? values[DEFINITION_CA] :
		    SERVERS_CA, wait, "UTF8", "disable", "/dev/null",
		    "zmailer", NULL };

		pgsql->link = PQconnectdbParams(keywords, texts, 0);
	}
	str_release(&names);
	str_release(&ports);
}

/* The server's words in one line. */
static int
pgsql_words(const struct pgsql *pgsql, struct err *err)
{
	char text[ERR_TEXT_BYTES];
	size_t n;

	strlcpy(text, PQerrorMessage(pgsql->link), sizeof(text));
	n = strlen(text);
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	for (char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	return err_set(err, "%s", text);
}

/* ---- a question ------------------------------------------------------- */

static enum engine_answer
pgsql_rows(PGresult *result, struct str *out, struct err *err)
{
	unsigned rows = 0;

	for (int i = 0; i < PQntuples(result); i++) {
		if (PQnfields(result) < 1 || PQgetisnull(result, i, 0))
			continue;
		if (!engine_add_row(out, (struct slice){ PQgetvalue(result, i,
		    0), (size_t)PQgetlength(result, i, 0) }, rows++, err))
			return ENGINE_TROUBLE;
	}
	return rows > 0 ? ENGINE_FOUND : ENGINE_NONE;
}

static void
pgsql_disconnect(struct pgsql *pgsql)
{
	PQfinish(pgsql->link);
	pgsql->link = NULL;
}

static bool
pgsql_is_there(struct pgsql *pgsql, struct err *err)
{
	if (pgsql->link == NULL)
		pgsql_connect(pgsql);
	if (PQstatus(pgsql->link) == CONNECTION_OK)
		return true;
	pgsql_words(pgsql, err);
	pgsql_disconnect(pgsql);
	return false;
}

static enum engine_answer
pgsql_try(struct pgsql *pgsql, const char *const *values, struct str *out,
    struct err *err)
{
	enum engine_answer answer = ENGINE_TROUBLE;
	PGresult *result;

	if (!pgsql_is_there(pgsql, err))
		return ENGINE_AWAY;
	result = PQexecParams(pgsql->link, pgsql->query.text.buf,
	    (int)pgsql->query.count, NULL, values, NULL, NULL, 0);
	if (PQresultStatus(result) == PGRES_TUPLES_OK)
		answer = pgsql_rows(result, out, err);
	else
		pgsql_words(pgsql, err);
	PQclear(result);
	if (PQstatus(pgsql->link) != CONNECTION_OK) {
		pgsql_disconnect(pgsql);
		return answer == ENGINE_TROUBLE ? ENGINE_AWAY : answer;
	}
	return answer;
}

/* A kept connection may have ended since: then once more. */
static enum engine_answer
pgsql_ask(void *state, const struct slice parameters[DEFINITION_PARAMETERS],
    struct str *out, struct err *err)
{
	struct pgsql *pgsql = state;
	struct arena *arena = arena_new();
	const char *values[DEFINITION_PLACES_MAX];
	bool was_kept = pgsql->link != NULL;
	enum engine_answer answer;

	for (unsigned i = 0; i < pgsql->query.count; i++)
		values[i] = slice_dup(arena,
		    parameters[pgsql->query.which[i]]);
	answer = pgsql_try(pgsql, values, out, err);
	if (answer == ENGINE_AWAY && was_kept)
		answer = pgsql_try(pgsql, values, out, err);
	arena_free(&arena);
	return answer;
}

static enum engine_answer
pgsql_list(void *state, engine_row_fn *fn, void *context, struct err *err)
{
	struct pgsql *pgsql = state;
	enum engine_answer answer = ENGINE_NONE;
	PGresult *result;

	if (!pgsql_is_there(pgsql, err))
		return ENGINE_AWAY;
	result = PQexec(pgsql->link,
	    pgsql->definition->values[DEFINITION_LIST]);
	if (PQresultStatus(result) != PGRES_TUPLES_OK) {
		pgsql_words(pgsql, err);
		answer = ENGINE_TROUBLE;
	}
	for (int i = 0; answer == ENGINE_NONE && i < PQntuples(result); i++)
		if (PQnfields(result) >= 1 && !PQgetisnull(result, i, 0) &&
		    !fn(context, (struct slice){ PQgetvalue(result, i, 0),
		    (size_t)PQgetlength(result, i, 0) }))
			break;
	PQclear(result);
	if (PQstatus(pgsql->link) != CONNECTION_OK)
		pgsql_disconnect(pgsql);
	return answer;
}

/* Never twice: it may have been done when the connection ended. */
static enum engine_answer
pgsql_write(void *state, enum definition_word word,
    const struct slice parameters[DEFINITION_WRITTEN], uint64_t *out_rows,
    struct err *err)
{
	struct pgsql *pgsql = state;
	struct arena *arena = arena_new();
	const char *values[DEFINITION_PLACES_MAX];
	enum engine_answer answer = ENGINE_AWAY;
	struct query query;
	PGresult *result;

	query_render(&query, pgsql->definition->values[word], QUERY_DOLLAR);
	for (unsigned i = 0; i < query.count; i++)
		values[i] = slice_dup(arena, parameters[query.which[i]]);
	if (pgsql_is_there(pgsql, err)) {
		result = PQexecParams(pgsql->link, query.text.buf,
		    (int)query.count, NULL, values, NULL, NULL, 0);
		answer = PQresultStatus(result) == PGRES_COMMAND_OK ?
		    ENGINE_FOUND : ENGINE_TROUBLE;
		if (answer != ENGINE_FOUND)
			pgsql_words(pgsql, err);
		else if (!slice_number(slice_of(PQcmdTuples(result)), 0,
		    UINT32_MAX, out_rows))
			*out_rows = 0;
		PQclear(result);
	}
	query_release(&query);
	arena_free(&arena);
	return answer;
}

const struct engine engine_pgsql = {
	.name = "pgsql", .open = pgsql_open, .ask = pgsql_ask,
	.list = pgsql_list, .write = pgsql_write,
	.close = pgsql_close, .lock_in = engine_lock_in,
};
#endif
