/* mysql.c - engine mysql: MariaDB and MySQL, by Connector/C
 *
 * In     keys, as parameters of the query, never as part of its text
 * Out    the first column of the rows
 * Holds  a connection, and the query prepared there
 * Trusts the server with what it may answer, no more
 * Spec   engine.h; MariaDB Connector/C 3.3
 *
 * SPDX-License-Identifier: ISC
 */
#include "tables/engine/engine.h"

#ifdef HAVE_MARIADB
#include <mysql.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tables/engine/query.h"
#include "tables/engine/servers.h"

#include "base/banned.h"

enum { COLUMNS_MAX = 64, NAME_BYTES = 256 };
#define DEFAULT_HOSTS "/run/mysqld/mysqld.sock"

struct mysql {
	const struct definition	*definition;
	struct query		 query;
	MYSQL			*link;		/* NULL: none */
	MYSQL_STMT		*statement;
	char			 value[ENGINE_VALUE_BYTES_MAX];
};

static void *
mysql_open(const struct definition *definition)
{
	struct mysql *mysql = mem_alloc(1, sizeof(*mysql));

	mysql->definition = definition;
	query_render(&mysql->query, definition->values[DEFINITION_QUERY],
	    QUERY_MARK);
	return mysql;
}

static void
mysql_disconnect(struct mysql *mysql)
{
	if (mysql->statement != NULL)
		(void)mysql_stmt_close(mysql->statement);
	if (mysql->link != NULL)
		mysql_close(mysql->link);
	mysql->statement = NULL;
	mysql->link = NULL;
}

static void
mysql_end(void *state)
{
	struct mysql *mysql = state;

	mysql_disconnect(mysql);
	query_release(&mysql->query);
	mem_free(&mysql);
}

/* ---- a connection ----------------------------------------------------- */

/* Sockets are not encrypted; hosts are, unless that is not wanted. */
static void
mysql_settings(struct mysql *mysql, bool is_socket)
{
	char *const *values = mysql->definition->values;
	unsigned connect_s = ENGINE_CONNECT_S;
	my_bool yes = 1;

	(void)mysql_options(mysql->link, MYSQL_OPT_CONNECT_TIMEOUT,
	    &connect_s);
	(void)mysql_options(mysql->link, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (is_socket || (values[DEFINITION_TLS] != NULL &&
	    strcmp(values[DEFINITION_TLS], "no") == 0))
		return;
	(void)mysql_options(mysql->link, MYSQL_OPT_SSL_ENFORCE, &yes);
	(void)mysql_options(mysql->link, MYSQL_OPT_SSL_VERIFY_SERVER_CERT,
	    &yes);
	(void)mysql_options(mysql->link, MYSQL_OPT_SSL_CA,
	    values[DEFINITION_CA] != NULL ? values[DEFINITION_CA] :
	    SERVERS_CA);
}

/* ENGINE_FOUND: it is there. */
static enum engine_answer
mysql_connect_to(struct mysql *mysql, const struct server_place *place,
    struct err *err)
{
	char *const *values = mysql->definition->values;
	bool is_socket = slice_starts(place->name, "/");
	char name[NAME_BYTES];
	uint64_t port = 0;

	snprintf(name, sizeof(name), SLICE_FMT, SLICE_ARG(place->name));
	(void)slice_number(place->port, 1, 65535, &port);
	mysql->link = mysql_init(NULL);
	mysql_settings(mysql, is_socket);
	if (mysql_real_connect(mysql->link, is_socket ? "localhost" : name,
	    values[DEFINITION_USER], values[DEFINITION_PASSWORD],
	    values[DEFINITION_DATABASE], (unsigned)port,
	    is_socket ? name : NULL, 0) != NULL)
		return ENGINE_FOUND;
	err_set(err, "%s: %s", name, mysql_error(mysql->link));
	mysql_disconnect(mysql);
	return ENGINE_AWAY;
}

static enum engine_answer
mysql_prepare_query(struct mysql *mysql, struct err *err)
{
	mysql->statement = mysql_stmt_init(mysql->link);
	if (mysql_stmt_prepare(mysql->statement, mysql->query.text.buf,
	    mysql->query.text.len) == 0 &&
	    mysql_stmt_param_count(mysql->statement) == mysql->query.count &&
	    mysql_stmt_field_count(mysql->statement) >= 1 &&
	    mysql_stmt_field_count(mysql->statement) <= COLUMNS_MAX)
		return ENGINE_FOUND;
	err_set(err, "the query: %s", mysql_stmt_errno(mysql->statement) ?
	    mysql_stmt_error(mysql->statement) : "it is no SELECT of 1 to 64 "
	    "columns with these parameters");
	mysql_disconnect(mysql);
	return ENGINE_TROUBLE;
}

static enum engine_answer
mysql_connect_any(struct mysql *mysql, struct err *err)
{
	const char *hosts = mysql->definition->values[DEFINITION_HOSTS];
	enum engine_answer answer = ENGINE_AWAY;
	struct server_place places[SERVERS_MAX];
	size_t count = servers_of(hosts != NULL ? hosts : DEFAULT_HOSTS,
	    places);

	for (size_t i = 0; i < count && answer == ENGINE_AWAY; i++)
		answer = mysql_connect_to(mysql, &places[i], err);
	return answer == ENGINE_FOUND ? mysql_prepare_query(mysql, err) :
	    answer;
}

/* ---- a question ------------------------------------------------------- */

/* The connection ended: numbers of the client's own errors begin at 2000. */
static enum engine_answer
mysql_judge(unsigned number)
{
	return number >= 2000 && number < 3000 ? ENGINE_AWAY : ENGINE_TROUBLE;
}

/* Or the statement is no longer known there. */
static enum engine_answer
mysql_trouble(struct mysql *mysql, struct err *err)
{
	unsigned number = mysql_stmt_errno(mysql->statement);

	err_set(err, "%s", mysql_stmt_error(mysql->statement));
	mysql_disconnect(mysql);
	return mysql_judge(number);
}

static enum engine_answer
mysql_rows(struct mysql *mysql, struct str *out, struct err *err)
{
	MYSQL_BIND columns[COLUMNS_MAX];
	unsigned long bytes = 0;
	my_bool is_null = 0;
	unsigned rows = 0;
	int step;

	memset(columns, 0, sizeof(columns));
	for (int i = 0; i < COLUMNS_MAX; i++)
		columns[i].buffer_type = MYSQL_TYPE_STRING;
	columns[0].buffer = mysql->value;
	columns[0].buffer_length = sizeof(mysql->value);
	columns[0].length = &bytes;
	columns[0].is_null = &is_null;
	if (mysql_stmt_bind_result(mysql->statement, columns) != 0 ||
	    mysql_stmt_store_result(mysql->statement) != 0)
		return mysql_trouble(mysql, err);
	while ((step = mysql_stmt_fetch(mysql->statement)) == 0 ||
	    step == MYSQL_DATA_TRUNCATED) {
		if (is_null)
			continue;
		if (bytes > sizeof(mysql->value))
			bytes = sizeof(mysql->value);	/* too much: so said */
		if (!engine_add_row(out, (struct slice){ mysql->value, bytes },
		    rows++, err))
			return ENGINE_TROUBLE;
	}
	if (step != MYSQL_NO_DATA)
		return mysql_trouble(mysql, err);
	return rows > 0 ? ENGINE_FOUND : ENGINE_NONE;
}

/* The values of a statement, in the order of its places. */
static bool
mysql_bind_all(MYSQL_STMT *statement, const struct query *query,
    const struct slice *parameters)
{
	MYSQL_BIND values[DEFINITION_PLACES_MAX];

	memset(values, 0, sizeof(values));
	for (unsigned i = 0; i < query->count; i++) {
		struct slice value = parameters[query->which[i]];

		values[i].buffer_type = MYSQL_TYPE_STRING;
		values[i].buffer = (void *)(uintptr_t)value.p;
		values[i].buffer_length = value.n;
	}
	return mysql_stmt_bind_param(statement, values) == 0;
}

static enum engine_answer
mysql_try(struct mysql *mysql,
    const struct slice parameters[DEFINITION_PARAMETERS], struct str *out,
    struct err *err)
{
	enum engine_answer answer = ENGINE_FOUND;

	if (mysql->link == NULL)
		answer = mysql_connect_any(mysql, err);
	if (answer != ENGINE_FOUND)
		return answer;
	if (!mysql_bind_all(mysql->statement, &mysql->query, parameters) ||
	    mysql_stmt_execute(mysql->statement) != 0)
		return mysql_trouble(mysql, err);
	answer = mysql_rows(mysql, out, err);
	if (mysql->statement != NULL)
		(void)mysql_stmt_free_result(mysql->statement);
	return answer;
}

/* A kept connection may have ended since: then once more. */
static enum engine_answer
mysql_ask(void *state, const struct slice parameters[DEFINITION_PARAMETERS],
    struct str *out, struct err *err)
{
	struct mysql *mysql = state;
	bool was_kept = mysql->link != NULL;
	enum engine_answer answer = mysql_try(mysql, parameters, out, err);

	if (answer == ENGINE_AWAY && was_kept)
		answer = mysql_try(mysql, parameters, out, err);
	return answer;
}

static enum engine_answer
mysql_list(void *state, engine_row_fn *fn, void *context, struct err *err)
{
	struct mysql *mysql = state;
	enum engine_answer answer = mysql->link != NULL ? ENGINE_FOUND :
	    mysql_connect_any(mysql, err);
	const char *query = mysql->definition->values[DEFINITION_LIST];
	MYSQL_RES *result = NULL;
	MYSQL_ROW row;

	if (answer != ENGINE_FOUND)
		return answer;
	if (mysql_real_query(mysql->link, query, strlen(query)) == 0)
		result = mysql_store_result(mysql->link);
	if (result == NULL) {
		answer = mysql_judge(mysql_errno(mysql->link));
		err_set(err, "the list: %s", mysql_errno(mysql->link) ?
		    mysql_error(mysql->link) : "it is no SELECT");
		mysql_disconnect(mysql);
		return answer;
	}
	while ((row = mysql_fetch_row(result)) != NULL)
		if (row[0] != NULL && !fn(context, slice_of(row[0])))
			break;
	mysql_free_result(result);
	return ENGINE_NONE;
}

/* Never twice: it may have been done when the connection ended. */
static enum engine_answer
mysql_write(void *state, enum definition_word word,
    const struct slice parameters[DEFINITION_WRITTEN], uint64_t *out_rows,
    struct err *err)
{
	struct mysql *mysql = state;
	enum engine_answer answer = mysql->link != NULL ? ENGINE_FOUND :
	    mysql_connect_any(mysql, err);
	MYSQL_STMT *statement;
	struct query query;

	if (answer != ENGINE_FOUND)
		return answer;
	query_render(&query, mysql->definition->values[word], QUERY_MARK);
	statement = mysql_stmt_init(mysql->link);
	if (mysql_stmt_prepare(statement, query.text.buf, query.text.len) == 0
	    && mysql_stmt_param_count(statement) == query.count &&
	    mysql_bind_all(statement, &query, parameters) &&
	    mysql_stmt_execute(statement) == 0) {
		*out_rows = mysql_stmt_affected_rows(statement);
	} else {
		err_set(err, "%s", mysql_stmt_errno(statement) ?
		    mysql_stmt_error(statement) : "its parameters are not "
		    "those of the definition");
		answer = mysql_judge(mysql_stmt_errno(statement));
	}
	(void)mysql_stmt_close(statement);
	query_release(&query);
	if (answer == ENGINE_AWAY)
		mysql_disconnect(mysql);
	return answer;
}

const struct engine engine_mysql = {
	.name = "mysql", .open = mysql_open, .ask = mysql_ask,
	.list = mysql_list, .write = mysql_write,
	.close = mysql_end, .lock_in = engine_lock_in,
};
#endif
