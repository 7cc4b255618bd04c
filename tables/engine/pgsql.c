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
#include "base/siphash.h"
#include "tables/engine/query.h"
#include "tables/engine/servers.h"

#include "base/banned.h"

enum { KEYWORDS_MAX = 16, STATEMENT_BYTES = 40 };
#define DEFAULT_HOSTS "/run/postgresql"

struct pgsql {
	const struct definition	*definition;
	struct query		 query;
	PGconn			*link;		/* NULL: none */
	char			 statement[STATEMENT_BYTES];
	bool			 is_prepared;	/* over this link */
	bool			 is_plain;	/* nothing is prepared: a
						 * pooler stands between */
	bool			 is_lost;	/* the statement was gone */
};

/* The name tells the query: over a pooler that gives us others' connections,
 * a statement of this name is ours. */
static void
pgsql_name_statement(struct pgsql *pgsql)
{
	static const struct siphash_key key = { 0, 0 };
	struct siphash sum = siphash(&key, str_slice(&pgsql->query.text));

	snprintf(pgsql->statement, sizeof(pgsql->statement), "zmailer_%016llx",
	    (unsigned long long)sum.low);
}

static void *
pgsql_open(const struct definition *definition)
{
	struct pgsql *pgsql = mem_alloc(1, sizeof(*pgsql));

	pgsql->definition = definition;
	query_render(&pgsql->query, definition->values[DEFINITION_QUERY],
	    QUERY_DOLLAR);
	pgsql_name_statement(pgsql);
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
	pgsql->is_prepared = false;
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

/* A prepared statement is not there any more, as of a pooler that hands a
 * connection to another after each transaction (26000), or there already
 * (42P05); or a column has another type than it had (0A000).  true: without a
 * statement, over a fresh connection, there may be an answer. */
static bool
pgsql_was_statement(struct pgsql *pgsql, const PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	if (state == NULL || pgsql->is_plain || (strcmp(state, "26000") != 0 &&
	    strcmp(state, "42P05") != 0 && strcmp(state, "0A000") != 0))
		return false;
	pgsql->is_plain = strcmp(state, "0A000") != 0;
	return true;
}

/* Once a connection: the server parses and plans the query then.  A query
 * that it does not take tells so when it is asked. */
static void
pgsql_prepare(struct pgsql *pgsql)
{
	PGresult *result;

	if (pgsql->is_plain || pgsql->is_prepared)
		return;
	result = PQprepare(pgsql->link, pgsql->statement,
	    pgsql->query.text.buf, (int)pgsql->query.count, NULL);
	pgsql->is_prepared = PQresultStatus(result) == PGRES_COMMAND_OK;
	PQclear(result);
}

static bool
pgsql_send(struct pgsql *pgsql, const struct engine_question *question)
{
	struct arena *arena = arena_new();
	const char *values[DEFINITION_PLACES_MAX];
	int count = (int)pgsql->query.count, sent;

	for (int i = 0; i < count; i++)
		values[i] = slice_dup(arena,
		    question->parameters[pgsql->query.which[i]]);
	sent = pgsql->is_prepared ? PQsendQueryPrepared(pgsql->link,
	    pgsql->statement, count, values, NULL, NULL, 0) :
	    PQsendQueryParams(pgsql->link, pgsql->query.text.buf, count, NULL,
	    values, NULL, NULL, 0);
	arena_free(&arena);
	return sent == 1;
}

/* One that was sent with it failed. */
static bool
pgsql_was_aborted(ExecStatusType status)
{
#ifdef LIBPQ_HAS_PIPELINING
	return status == PGRES_PIPELINE_ABORTED;
#else
	(void)status;
	return false;
#endif
}

/* Its result.  ENGINE_AWAY stays when there is none: the connection ended, a
 * question before it failed, or the statement is gone. */
static void
pgsql_take(struct pgsql *pgsql, struct engine_question *question, bool is_last)
{
	PGresult *result = PQgetResult(pgsql->link);
	ExecStatusType status = PQresultStatus(result);

	if (status == PGRES_TUPLES_OK) {
		question->answer = pgsql_rows(result, &question->value,
		    &question->err);
	} else {
		pgsql_words(pgsql, &question->err);
		if (pgsql_was_statement(pgsql, result) && !is_last)
			pgsql->is_lost = true;
		else if (PQstatus(pgsql->link) == CONNECTION_OK &&
		    !pgsql_was_aborted(status))
			question->answer = ENGINE_TROUBLE;
	}
	while (result != NULL) {
		PQclear(result);
		result = PQgetResult(pgsql->link);
	}
}

/* Several on their way at once.  They are one transaction: after one that
 * fails the others have no result. */
static void
pgsql_ask_together(struct pgsql *pgsql, struct engine_question *questions,
    size_t count)
{
#ifdef LIBPQ_HAS_PIPELINING
	size_t sent = 0;

	if (PQenterPipelineMode(pgsql->link) == 0)
		return;
	while (sent < count && pgsql_send(pgsql, &questions[sent]))
		sent++;
	if (PQpipelineSync(pgsql->link) == 1)
		for (size_t i = 0; i < sent; i++)
			pgsql_take(pgsql, &questions[i], false);
	PQclear(PQgetResult(pgsql->link));	/* the end of all */
	(void)PQexitPipelineMode(pgsql->link);
#else
	for (size_t i = 0; i < count; i++)
		if (pgsql_send(pgsql, &questions[i]))
			pgsql_take(pgsql, &questions[i], false);
#endif
}

/* Answer what can be answered over one connection.  A connection that broke
 * is closed. */
static void
pgsql_round(struct pgsql *pgsql, struct engine_question *questions,
    size_t count, bool is_last)
{
	struct err err = { "" };

	if (!pgsql_is_there(pgsql, &err)) {
		for (size_t i = 0; i < count; i++)
			questions[i].err = err;
		return;
	}
	pgsql_prepare(pgsql);
	if (count > 1)
		pgsql_ask_together(pgsql, questions, count);
	else if (pgsql_send(pgsql, questions))
		pgsql_take(pgsql, questions, is_last);
	else
		pgsql_words(pgsql, &questions->err);
	if (PQstatus(pgsql->link) != CONNECTION_OK || pgsql->is_lost)
		pgsql_disconnect(pgsql);
}

/* A kept connection may have ended since, and its statement may be gone: then
 * once more, one after the other. */
static void
pgsql_ask_all(void *state, struct engine_question *questions, size_t count)
{
	struct pgsql *pgsql = state;
	bool was_kept = pgsql->link != NULL;

	for (size_t i = 0; i < count; i++)
		questions[i].answer = ENGINE_AWAY;
	pgsql->is_lost = false;
	pgsql_round(pgsql, questions, count, false);
	if (pgsql->link == NULL && !was_kept && !pgsql->is_lost)
		return;
	pgsql->is_lost = false;
	for (size_t i = 0; i < count; i++) {
		if (questions[i].answer != ENGINE_AWAY)
			continue;
		pgsql_round(pgsql, &questions[i], 1, true);
		if (pgsql->link == NULL)
			return;		/* nobody answers there */
	}
}

static enum engine_answer
pgsql_ask(void *state, const struct slice parameters[DEFINITION_PARAMETERS],
    struct str *out, struct err *err)
{
	struct engine_question question = { .value = STR_INIT };

	memcpy(question.parameters, parameters, sizeof(question.parameters));
	pgsql_ask_all(state, &question, 1);
	str_add_slice(out, str_slice(&question.value));
	str_release(&question.value);
	*err = question.err;
	return question.answer;
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
		answer = PQstatus(pgsql->link) == CONNECTION_OK ?
		    ENGINE_TROUBLE : ENGINE_AWAY;
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
		    ENGINE_FOUND : PQstatus(pgsql->link) == CONNECTION_OK ?
		    ENGINE_TROUBLE : ENGINE_AWAY;
		if (answer != ENGINE_FOUND)
			pgsql_words(pgsql, err);
		else if (!slice_number(slice_of(PQcmdTuples(result)), 0,
		    UINT32_MAX, out_rows))
			*out_rows = 0;
		PQclear(result);
		if (answer == ENGINE_AWAY)
			pgsql_disconnect(pgsql);
	}
	query_release(&query);
	arena_free(&arena);
	return answer;
}

const struct engine engine_pgsql = {
	.name = "pgsql", .open = pgsql_open, .ask = pgsql_ask,
	.ask_all = pgsql_ask_all, .list = pgsql_list, .write = pgsql_write,
	.close = pgsql_close, .lock_in = engine_lock_in,
};
#endif
