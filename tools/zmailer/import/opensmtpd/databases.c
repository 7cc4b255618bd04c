/* databases.c - tables of OpenSMTPD in sqlite, MySQL and PostgreSQL
 *
 * In     the file that table-sqlite(5) and its like read
 * Out    the definition of a table of ours, with $1 in its query
 * Holds  nothing
 * Spec   table-sqlite(5), table-mysql(5), table-postgres(5);
 *        zmailer-table(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

/* Which query answers in that role, NULL: none that means the same. */
static const char *const queries[OPENSMTPD_ROLES] = {
	[OPENSMTPD_ALIASES] = "query_alias",
	[OPENSMTPD_USERS] = "query_alias",
	[OPENSMTPD_DOMAINS] = "query_domain",
	[OPENSMTPD_ADDRESSES] = "query_mailaddr",
};
static const char *const whys[OPENSMTPD_ROLES] = {
	[OPENSMTPD_NETS] = "networks are read, not asked for: write them "
	    "into a file, and `from <TABLE>`",
	[OPENSMTPD_LOGINS] = "let a query answer what crypt(3) made of the "
	    "password, one column: `table NAME TYPE:/FILE`, and `auth users "
	    "<NAME>`",
	[OPENSMTPD_PASSWORDS] = "passwords of next hops are read, not asked "
	    "for: write LABEL USER PASSWORD into a file, and `auth-to "
	    "<TABLE>`",
	[OPENSMTPD_SENDERS] = "let a query answer the users who own the "
	    "address $1: `table NAME TYPE:/FILE`, and `auth ... senders "
	    "<NAME>`",
};
/* Their settings as ours; what has none is told to be missing. */
static const struct { const char *theirs, *ours; } settings[] = {
	{ "host", "hosts" }, { "username", "user" }, { "user", "user" },
	{ "password", "password" }, { "database", "database" },
	{ "dbname", "database" }, { "dbpath", "database" },
};

static void
question_set(struct str *out, struct slice name, struct slice value)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (slice_is(name, settings[i].theirs))
			str_addf(out, "%s " SLICE_FMT "\n", settings[i].ours,
			    SLICE_ARG(value));
}

/* host='x' user=y ... of libpq. */
static void
question_conninfo(struct slice text, struct str *out)
{
	struct slice word;

	while (slice_word(&text, &word)) {
		size_t at = slice_find(word, '=');
		struct slice value = slice_from(word, at + 1);

		if (value.n > 1 && value.p[0] == '\'' &&
		    slice_ends(value, "'"))
			value = (struct slice){ value.p + 1, value.n - 2 };
		question_set(out, slice_first(word, at), value);
	}
}

/* Each ? outside of quotes is $1.  returns false: a quote is open */
static bool
question_marks(struct slice query, struct str *out)
{
	char open = '\0';

	for (size_t i = 0; i < query.n; i++) {
		char c = query.p[i];

		if (open == '\0' && (c == '\'' || c == '"' || c == '`'))
			open = c;
		else if (c == open)
			open = '\0';
		if (c == '?' && open == '\0')
			str_adds(out, "$1");
		else
			str_addc(out, c);
	}
	return open == '\0';
}

int
opensmtpd_question(struct opensmtpd *smtpd, struct opensmtpd_row *table,
    enum opensmtpd_role role, struct str *out, const char **out_why)
{
	struct arena *arena = smtpd->import->arena;
	struct slice spec = table->count > 2 ? table->words[2].text :
	    SLICE("");
	struct slice path = slice_from(spec, slice_find(spec, ':') + 1);
	bool is_whole = false;
	struct import_entries lines;
	struct slice type = slice_first(spec, slice_find(spec, ':')), text;
	const char *here = import_file_here(smtpd->import, path);
	struct err err;

	*out_why = "no table of this type is read here: write its rows into "
	    "a file, or a definition of ours (zmailer-table(8))";
	if (!slice_is(type, "sqlite") && !slice_is(type, "mysql") &&
	    !slice_is(type, "postgres"))
		return -1;
	*out_why = whys[role];
	if (queries[role] == NULL)
		return -1;
	if (import_file_take(arena, here, &text, &err) != 0) {
		*out_why = arena_printf(arena, "%s: %s", here, err.text);
		return -1;
	}
	import_read_table(arena, text, &lines);
	if (slice_is(type, "mysql"))
		str_adds(out, "tls no\n");
	for (size_t i = 0; i < lines.count; i++) {
		struct slice key = lines.rows[i].key;

		if (slice_is(key, "conninfo"))
			question_conninfo(lines.rows[i].value, out);
		else if (slice_is(key, queries[role])) {
			str_adds(out, "query ");
			is_whole = question_marks(slice_trim(
			    lines.rows[i].value), out);
			str_addc(out, '\n');
		} else
			question_set(out, key, lines.rows[i].value);
	}
	*out_why = arena_printf(arena, "%s has no %s whose quotes close",
	    here, queries[role]);
	return is_whole ? 0 : -1;
}
