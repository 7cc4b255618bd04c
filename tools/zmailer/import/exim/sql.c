/* sql.c - queries of exim4.conf to databases, as definitions of ours
 *
 * In     ${lookup mysql{SELECT ...}}, mysql_servers and the like
 * Out    definitions of tables, readable only by root
 * Holds  nothing
 * Spec   the Exim specification, chapter 9.20 ("SQL lookups");
 *        zmailer-table(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

/* "$name" or "${name}" at the front, cut off.  false: it is neither */
static bool
query_variable_cut(struct slice *rest, struct slice *out)
{
	struct slice text = slice_from(*rest, 1);
	bool is_braced = slice_starts(text, "{");
	size_t n = 0;

	text = slice_from(text, is_braced);
	while (n < text.n && (ascii_is_alnum(text.p[n]) || text.p[n] == '_'))
		n++;
	*out = slice_first(text, n);
	text = slice_from(text, n);
	if (n == 0 || (is_braced && !slice_starts(text, "}")))
		return false;
	*rest = slice_from(text, is_braced);
	return true;
}

/* What Exim 4.94 and later call what it looked up is the same name. */
static bool
variable_is(struct slice name, const char *plain)
{
	size_t n = strlen(plain);

	return slice_is(name, plain) || (name.n == n + strlen("_data") &&
	    slice_starts(name, plain) && slice_ends(name, "_data"));
}

/* "$local_part" is cut off: with "@$domain" after it, it is the address. */
static bool
domain_follows(struct slice *query)
{
	struct slice rest = slice_from(*query, 1), name;

	if (!slice_starts(*query, "@$") || !query_variable_cut(&rest, &name) ||
	    !variable_is(name, "domain"))
		return false;
	*query = rest;
	return true;
}

/* NULL: no table is asked with it. */
static const char *
variable_ours(struct slice name, bool is_domain, struct slice *query)
{
	static const struct { const char *theirs, *ours; } rows[] = {
		{ "sender_address_domain", "%d" }, { "sender_address", "%s" },
		{ "sender_host_address", "%s" },
		{ "auth1", "%s" }, { "auth2", "%s" },
	};

	if (variable_is(name, "local_part"))
		return domain_follows(query) ? "%s" : "%u";
	if (variable_is(name, "domain"))
		return is_domain ? "%s" : "%d";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is(name, rows[i].theirs))
			return rows[i].ours;
	return NULL;
}

/* Variables of a query as those of postmap's, which import_query knows.
 * returns false: there is another one */
static bool
query_variables(struct slice query, const char *role, struct str *out)
{
	bool is_domain = strcmp(role, "domains") == 0;
	const char *ours;
	struct slice name;

	while (query.n > 0) {
		if (query.p[0] == '$') {
			if (!query_variable_cut(&query, &name))
				return false;
			ours = variable_ours(name, is_domain, &query);
			if (ours == NULL)
				return false;
			str_adds(out, ours);
			continue;
		}
		if (query.p[0] == '%')
			str_adds(out, "%%");
		else
			str_addc(out, query.p[0] == '\n' ? ' ' : query.p[0]);
		query = slice_from(query, 1);
	}
	return true;
}

/* "localhost(/run/mysqld/mysqld.sock)", "(/run/postgresql/.s.PGSQL.5433)":
 * a socket of this machine.  false: it is none, or has more beside it */
static bool
server_socket(struct slice type, struct slice *host, struct str *out)
{
	static const char of_pgsql[] = "/.s.PGSQL.";
	struct slice path = slice_from(*host, slice_find(*host, '(') + 1);
	struct slice name;
	size_t n = path.n;

	if (!slice_ends(path, ")") || !slice_starts(path, "/"))
		return false;
	path = slice_first(path, path.n - 1);
	if (slice_is(type, "mysql")) {
		str_addf(out, SLICE_FMT, SLICE_ARG(path));
		return true;
	}
	for (n = path.n; n > 0 && path.p[n - 1] != '/'; n--)
		continue;
	name = slice_from(path, n - 1);
	if (n < 2 || !slice_starts(name, of_pgsql))
		return false;
	str_addf(out, SLICE_FMT ":" SLICE_FMT, SLICE_ARG(slice_first(path,
	    n - 1)), SLICE_ARG(slice_from(name, strlen(of_pgsql))));
	return true;
}

/* HOST before the slash; one with a socket has slashes of its own. */
static bool
server_host_cut(struct slice *rest, struct slice *out)
{
	size_t at = slice_find(*rest, '('), slash = slice_find(*rest, '/');
	size_t end;

	if (at == rest->n || at > slash)
		return slice_cut(rest, '/', out);
	end = slice_find(*rest, ')');
	if (end == rest->n || !slice_starts(slice_from(*rest, end + 1), "/"))
		return false;
	*out = slice_first(*rest, end + 1);
	*rest = slice_from(*rest, end + 2);
	return true;
}

/* Can it stand in a definition?  It has no other line in it, and is not taken
 * for what Postfix writes. */
static bool
value_is_fit(struct slice value)
{
	for (size_t i = 0; i < value.n; i++)
		if ((unsigned char)value.p[i] < ' ')
			return false;
	return value.n > 0 && value.p[0] != '=' &&
	    slice_equal(value, slice_trim(value));
}

/* HOST/DATABASE/USER/PASSWORD; returns false: it is not that */
static bool
question_server(struct exim4 *exim, struct slice type, struct str *out)
{
	struct exim4_row *row = exim4_main(exim, arena_printf(
	    exim->import->arena, SLICE_FMT "_servers", SLICE_ARG(type)));
	struct slice rest, host, base, user;
	struct exim4_list list;
	bool is_socket;

	if (row == NULL)
		return false;
	exim4_list_begin(row->value, &list);
	if (!exim4_list_next(exim->import->arena, &list, &rest) ||
	    !server_host_cut(&rest, &host) || !slice_cut(&rest, '/', &base) ||
	    !slice_cut(&rest, '/', &user) || !value_is_fit(host) ||
	    !value_is_fit(base) || !value_is_fit(user) ||
	    (rest.n > 0 && !value_is_fit(rest)))
		return false;
	is_socket = slice_find(host, '(') < host.n;
	str_adds(out, "hosts ");
	if (!is_socket)
		str_add_slice(out, host);
	else if (!server_socket(type, &host, out))
		return false;
	str_addf(out, "\ndatabase " SLICE_FMT "\nuser " SLICE_FMT "\n",
	    SLICE_ARG(base), SLICE_ARG(user));
	if (rest.n > 0)		/* else the server asks for none */
		str_addf(out, "password " SLICE_FMT "\n", SLICE_ARG(rest));
	if (slice_is(type, "mysql") && !is_socket)
		str_adds(out, "tls no\n");
	row->is_used = true;
	return true;
}

/* "/FILE SELECT ...", or the file of sqlite_dbfile. */
static bool
question_sqlite(struct exim4 *exim, struct slice *query, struct str *out)
{
	struct exim4_row *row = exim4_main(exim, "sqlite_dbfile");
	struct slice file = SLICE("");

	if (slice_starts(*query, "/"))
		(void)slice_word(query, &file);
	else if (row != NULL) {
		file = row->value;
		row->is_used = true;
	}
	*query = slice_trim(*query);
	str_addf(out, "database " SLICE_FMT "\n", SLICE_ARG(file));
	return slice_starts(file, "/") && value_is_fit(file);
}

/* Does what was written from there on have a parameter? */
static bool
question_asks(const struct str *text, size_t from)
{
	const char *query = text->buf + from;

	return strstr(query, "$1") != NULL || strstr(query, "$2") != NULL ||
	    strstr(query, "$3") != NULL;
}

static const char *
question_add(struct exim4 *exim, struct slice type, struct slice query,
    const char *role, const char **out_why)
{
	struct str text = STR_INIT, asked = STR_INIT;
	const char *ours = NULL;
	size_t from;
	bool is_there = slice_is(type, "sqlite") ? question_sqlite(exim,
	    &query, &text) : question_server(exim, type, &text);

	query = exim4_plain(exim->import->arena, query);
	if (!is_there)
		*out_why = arena_printf(exim->import->arena, "no "
		    SLICE_FMT "_servers (sqlite_dbfile) says HOST/DATABASE/"
		    "USER/PASSWORD: write a definition (zmailer-table(8))",
		    SLICE_ARG(type));
	else if (!query_variables(query, role, &asked))
		*out_why = "the query has variables that no table is asked "
		    "with: write a definition (zmailer-table(8))";
	else {
		from = text.len;
		str_adds(&text, "query ");
		*out_why = import_query(str_slice(&asked), slice_is(type,
		    "mysql"), &text);
		str_addc(&text, '\n');
		if (*out_why == NULL && !question_asks(&text, from))
			*out_why = "the query asks for nothing that a table "
			    "is asked with: write its answer into a file";
		if (*out_why == NULL)
			ours = arena_printf(exim->import->arena, "<%s>",
			    import_table_add(exim->import, "", slice_dup(
			    exim->import->arena, type), role, &text,
			    IMPORT_ROOT));
	}
	str_release(&text);
	str_release(&asked);
	return ours;
}

const char *
exim4_question(struct exim4 *exim, struct slice type, struct slice query,
    const char *role, const char **out_why)
{
	const char *ours = exim4_made(exim, role, query);

	*out_why = "a query of this type is not read here: write a "
	    "definition (zmailer-table(8))";
	if (ours != NULL)
		return ours;
	if (!slice_is(type, "mysql") && !slice_is(type, "pgsql") &&
	    !slice_is(type, "sqlite"))
		return NULL;
	ours = question_add(exim, type, slice_trim(query), role, out_why);
	if (ours != NULL)
		exim4_made_put(exim, role, query, ours);
	return ours;
}
