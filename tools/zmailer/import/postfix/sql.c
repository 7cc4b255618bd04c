/* sql.c - Postfix's questions to databases, as definitions of ours
 *
 * In     the file that mysql:, pgsql: or sqlite: names
 * Out    the text of a definition; what could not be said in one
 * Holds  nothing
 * Trusts no line: what is not understood is said, and nothing of it written
 * Spec   mysql_table(5), pgsql_table(5), sqlite_table(5) of Postfix;
 *        zmailer-table(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "io/unix_socket.h"
#include "mail/table/definition.h"
#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

struct question {
	struct import		*import;
	const char		*name;		/* of the setting */
	const struct import_map	*map;
	struct str		*out;
	struct slice		 table, select, where, rest;	/* old form */
	bool			 has_query, is_bad;
};

static void
question_tell(struct question *question, enum import_kind kind,
    struct slice word, const char *text)
{
	import_note(question->import, question->name, question->map->spec,
	    kind, "%s: " SLICE_FMT ": %s", question->map->path,
	    SLICE_ARG(word), text);
	question->is_bad |= kind == IMPORT_MISSING;
}

/* ---- the question ----------------------------------------------------- */

/* The text in quotes, if it is only a parameter, which needs no quotes.  NULL:
 * it is other text. */
static const char *
query_parameter(struct slice text)
{
	static const struct { const char *theirs, *ours; } rows[] = {
		{ "%s", "$1" }, { "%u@%d", "$1" }, { "%u", "$2" },
		{ "%d", "$3" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is(text, rows[i].theirs))
			return rows[i].ours;
	return NULL;
}

/* Append text, which has no parameter; %% is a percent sign. */
static int
query_add_text(struct str *out, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '%' && (++i == text.n || text.p[i] != '%'))
			return -1;
		str_addc(out, text.p[i]);
	}
	return 0;
}

/* How far the text goes that has no parameter. */
static size_t
query_text_bytes(struct slice text)
{
	size_t n = 0;

	while (n < text.n && (text.p[n] != '%' ||
	    query_parameter(slice_first(slice_from(text, n), 2)) == NULL))
		n += text.p[n] == '%' && n + 1 < text.n ? 2 : 1;
	return n < text.n ? n : text.n;
}

/* The database joins parameters with the text around them. */
static int
query_add_parts(struct str *out, bool is_mysql, struct slice text)
{
	const char *between = is_mysql ? ", " : " || ";
	unsigned parts = 0;
	size_t n;

	str_adds(out, is_mysql ? "CONCAT(" : "(");
	while (text.n > 0) {
		str_adds(out, parts++ > 0 ? between : "");
		n = query_text_bytes(text);
		if (n == 0) {
			n = slice_starts(text, "%u@%d") ? 5 : 2;
			str_adds(out, query_parameter(slice_first(text, n)));
		} else {
			str_addc(out, '\'');
			if (query_add_text(out, slice_first(text, n)) != 0)
				return -1;
			str_addc(out, '\'');
		}
		text = slice_from(text, n);
	}
	str_addc(out, ')');
	return 0;
}

/* mark: ' and, for MySQL, " have text between them, ` a name. */
static int
query_add_quoted(struct str *out, bool is_mysql, char mark,
    struct slice text)
{
	const char *parameter = query_parameter(text);

	if (parameter != NULL && mark != '`') {
		str_adds(out, parameter);
		return 0;
	}
	if (query_text_bytes(text) < text.n && (mark == '\'' ||
	    (mark == '"' && is_mysql && slice_find(text, '\'') == text.n)))
		return query_add_parts(out, is_mysql, text);
	str_addc(out, mark);
	if (query_add_text(out, text) != 0)
		return -1;
	str_addc(out, mark);
	return 0;
}

/* What no definition may have: too many places for parameters, or what stands
 * for one in Postfix's. */
static const char *
query_oddity(struct slice query)
{
	unsigned places = 0;

	for (size_t i = 0; i < query.n; i++) {
		char next = i + 1 < query.n ? query.p[i + 1] : '\0';

		if (query.p[i] == '%' && (next == 's' || next == 'u' ||
		    next == 'd'))
			return "it has a % before s, u or d, which a "
			    "definition may not have: put the text together "
			    "in the database";
		places += query.p[i] == '$';
	}
	return places <= DEFINITION_PLACES_MAX ? NULL :
	    "it has more than 16 places for what is asked: write a "
	    "definition (zmailer-table(8))";
}

static bool
query_ends_with_place(const struct str *out)
{
	return out->len >= 2 && out->buf[out->len - 2] == '$' &&
	    ascii_is_digit(out->buf[out->len - 1]);
}

const char *
import_query(struct slice query, bool is_mysql, struct str *out)
{
	size_t begun = out->len;

	query = slice_trim(query);
	if (query.n == 0 || query.p[0] == '=')
		return "it is no query";
	while (query.n > 0) {
		char c = query.p[0];
		size_t end;

		if (c == '\'' || c == '"' || c == '`') {
			query = slice_from(query, 1);
			end = slice_find(query, c);
			if (end == query.n)
				return "a quote is open";
			if (query_add_quoted(out, is_mysql, c, slice_first(
			    query, end)) != 0)
				return "%s, %u or %d in a name, or another % "
				    "in quotes: write it with $1, $2, $3";
			query = slice_from(query, end + 1);
		} else if (c == '%' && query_parameter(slice_first(query,
		    2)) != NULL) {
			str_adds(out, query_parameter(slice_first(query, 2)));
			query = slice_from(query, 2);
		} else if (c == '%') {
			return "there is $1 for %s, $2 for %u, $3 for %d, and "
			    "nothing for the others";
		} else if (c == '$' || c == '\\') {
			return "a $ or a backslash has another meaning here";
		} else {
			if (ascii_is_digit(c) && query_ends_with_place(out))
				str_addc(out, ' ');	/* not $1 and 2: $12 */
			str_addc(out, c);
			query = slice_from(query, 1);
		}
	}
	return query_oddity(slice_from(str_slice(out), begun));
}

static void
question_add_query(struct question *question, struct slice query)
{
	struct str text = STR_INIT;
	const char *why = import_query(query, slice_is(question->map->type,
	    "mysql"), &text);

	if (why != NULL)
		question_tell(question, IMPORT_MISSING, SLICE("query"), why);
	else
		str_addf(question->out, "query %s\n", text.buf);
	question->has_query = true;
	str_release(&text);
}

/* select_field, table, where_field: as Postfix before 2.2 had it. */
static void
question_add_old_query(struct question *question)
{
	if (question->table.n == 0 || question->select.n == 0 ||
	    question->where.n == 0) {
		question_tell(question, IMPORT_MISSING, SLICE("query"),
		    "it has none");
		return;
	}
	str_addf(question->out, "query SELECT " SLICE_FMT " FROM " SLICE_FMT
	    " WHERE " SLICE_FMT " = $1 " SLICE_FMT "\n",
	    SLICE_ARG(question->select), SLICE_ARG(question->table),
	    SLICE_ARG(question->where), SLICE_ARG(question->rest));
}

/* ---- the other lines -------------------------------------------------- */

static bool
host_is_here(struct slice host)
{
	return slice_is(host, "localhost") || slice_starts(host, "127.") ||
	    slice_starts(host, "localhost:");
}

/* inet:NAME:PORT, unix:/PATH; where a server is on this machine nothing is
 * encrypted, as before. */
static void
question_add_hosts(struct question *question, struct slice list)
{
	bool is_mysql = slice_is(question->map->type, "mysql");
	bool are_here = true, has_any = false;
	struct slice host;
	struct str hosts = STR_INIT;

	while (import_list_next(&list, &host)) {
		if (!unix_socket_path(host, &host) &&
		    slice_starts(host, "inet:"))
			host = slice_from(host, 5);
		/* to libmysql it is the socket */
		if (is_mysql && slice_is(host, "localhost"))
			continue;
		are_here &= host_is_here(host) || slice_starts(host, "/");
		has_any = true;
		str_addf(&hosts, " " SLICE_FMT, SLICE_ARG(host));
	}
	if (has_any)
		str_addf(question->out, "hosts%s\n%s", hosts.buf, are_here ?
		    "tls no\n" : "");
	if (!are_here)
		question_tell(question, IMPORT_DIFFERS, SLICE("hosts"),
		    "the server must show a certificate for its name: `tls "
		    "no` asks it in the clear, as before");
	str_release(&hosts);
}

static void
question_take(struct question *question, struct slice word, struct slice value)
{
	static const struct { const char *theirs, *ours; } rows[] = {
		{ "user", "user" }, { "password", "password" },
		{ "dbname", "database" }, { "dbpath", "database" },
	};
	const struct { const char *word; struct slice *text; } old[] = {
		{ "table", &question->table },
		{ "select_field", &question->select },
		{ "where_field", &question->where },
		{ "additional_conditions", &question->rest },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is(word, rows[i].theirs)) {
			str_addf(question->out, "%s " SLICE_FMT "\n",
			    rows[i].ours, SLICE_ARG(value));
			return;
		}
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
		if (slice_is(word, old[i].word)) {
			*old[i].text = value;
			return;
		}
	if (slice_is(word, "query"))
		question_add_query(question, value);
	else if (slice_is(word, "hosts"))
		question_add_hosts(question, value);
	else if (slice_is(word, "result_format") && !slice_is(value, "%s"))
		question_tell(question, IMPORT_MISSING, word, "let the query "
		    "itself put the answer together: || or CONCAT()");
	else if (slice_is(word, "domain"))
		question_tell(question, IMPORT_DIFFERS, word,
		    "other domains are asked for, too");
	else if (!slice_is(word, "result_format") && !slice_is(word,
	    "expansion_limit"))
		question_tell(question, IMPORT_DIFFERS, word,
		    "it was left out: see zmailer-table(8) for what there is");
}

bool
import_map_is_question(const struct import_map *map)
{
	return slice_is(map->type, "mysql") || slice_is(map->type, "pgsql") ||
	    slice_is(map->type, "sqlite");
}

int
import_question(struct import *import, const char *name,
    struct import_map *map, struct str *out)
{
	struct question question = { .import = import, .name = name,
	    .map = map, .out = out };
	struct import_settings settings;
	struct slice text;
	struct err err;

	map->path = import_path(import, map->place);
	if (import_file_take(import->arena, map->path, &text, &err) != 0) {
		question_tell(&question, IMPORT_MISSING, SLICE("file"),
		    err.text);
		return -1;
	}
	import_read_main(import->arena, text, &settings);
	for (size_t i = 0; i < settings.count; i++)
		if (settings.rows[i].wrong != NULL)
			question_tell(&question, IMPORT_MISSING,
			    settings.rows[i].name, settings.rows[i].wrong);
		else
			question_take(&question, settings.rows[i].name,
			    settings.rows[i].value);
	if (!question.has_query)
		question_add_old_query(&question);
	return question.is_bad ? -1 : 0;
}
