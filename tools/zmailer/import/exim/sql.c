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

#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

/* Variables of a query as those of postmap's, which import_query knows.
 * returns false: there is another one */
static bool
query_variables(struct slice query, const char *role, struct str *out)
{
	static const struct { const char *theirs, *ours; } rows[] = {
		{ "$local_part@$domain", "%s" }, { "$local_part", "%u" },
		{ "$sender_address_domain", "%d" },
		{ "$sender_address", "%s" }, { "$sender_host_address", "%s" },
		{ "$auth1", "%s" }, { "$auth2", "%s" }, { "$auth3", "" },
	};
	bool is_domain = strcmp(role, "domains") == 0;

	while (query.n > 0) {
		size_t i = 0;

		while (i < sizeof(rows) / sizeof(rows[0]) &&
		    !slice_starts(query, rows[i].theirs))
			i++;
		if (i < sizeof(rows) / sizeof(rows[0])) {
			if (rows[i].ours[0] == '\0')
				return false;
			str_adds(out, rows[i].ours);
			query = slice_from(query, strlen(rows[i].theirs));
		} else if (slice_starts(query, "$domain")) {
			str_adds(out, is_domain ? "%s" : "%d");
			query = slice_from(query, strlen("$domain"));
		} else if (query.p[0] == '$')
			return false;
		else {
			str_adds(out, query.p[0] == '%' ? "%%" : "");
			if (query.p[0] != '%')
				str_addc(out, query.p[0] == '\n' ? ' ' :
				    query.p[0]);
			query = slice_from(query, 1);
		}
	}
	return true;
}

/* HOST/DATABASE/USER/PASSWORD; returns false: it is not that */
static bool
question_server(struct exim4 *exim, struct slice type, struct str *out)
{
	struct exim4_row *row = exim4_main(exim, arena_printf(
	    exim->import->arena, SLICE_FMT "_servers", SLICE_ARG(type)));
	struct slice rest, part[4];
	struct exim4_list list;
	size_t n = 0;

	if (row == NULL)
		return false;
	exim4_list_begin(row->value, &list);
	if (!exim4_list_next(exim->import->arena, &list, &rest))
		return false;
	while (n < 3 && slice_cut(&rest, '/', &part[n]))
		n++;
	part[3] = rest;
	/* "localhost(/socket)" has slashes of its own */
	if (n < 3 || slice_find(part[0], '(') < part[0].n)
		return false;
	str_addf(out, "hosts " SLICE_FMT "\ndatabase " SLICE_FMT "\nuser "
	    SLICE_FMT "\npassword " SLICE_FMT "\n", SLICE_ARG(part[0]),
	    SLICE_ARG(part[1]), SLICE_ARG(part[2]), SLICE_ARG(part[3]));
	if (slice_is(type, "mysql"))
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
	return file.n > 0;
}

static const char *
question_add(struct exim4 *exim, struct slice type, struct slice query,
    const char *role, const char **out_why)
{
	struct str text = STR_INIT, asked = STR_INIT;
	const char *ours = NULL;
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
		str_adds(&text, "query ");
		*out_why = import_query(str_slice(&asked), slice_is(type,
		    "mysql"), &text);
		str_addc(&text, '\n');
		if (*out_why == NULL && strstr(text.buf, "$1") == NULL &&
		    strstr(text.buf, "$2") == NULL && strstr(text.buf,
		    "$3") == NULL)
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
