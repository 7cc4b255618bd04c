/* maps.c - the tables that Postfix names, as tables of ours
 *
 * In     TYPE:PLACE of a list of maps; the sources beside their databases
 * Out    tables of the new directory; what cannot be one is reported
 * Holds  nothing
 * Trusts no entry: each is read as text, and written as one line
 * Spec   DATABASE_README of Postfix; zmailer-table(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/units.h"
#include "mail/table/table.h"
#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

static const char *const line_types[] = { "hash", "btree", "lmdb", "cdb",
	"texthash", "dbm", "sdbm" };

static const struct { const char *type, *text; } other_types[] = {
	{ "mysql", "write hosts, user, password, dbname (database) and query, "
	    "with $1 for %s, $2 for %u, $3 for %d, into a file anew: `table "
	    "NAME mysql:/FILE` (zmailer-table(8)), and name <NAME> in the "
	    "statement" },
	{ "pgsql", "write hosts, user, password, dbname (database) and query, "
	    "with $1 for %s, $2 for %u, $3 for %d, into a file anew: `table "
	    "NAME pgsql:/FILE` (zmailer-table(8)), and name <NAME> in the "
	    "statement" },
	{ "sqlite", "write dbpath (database) and query, with $1 for %s, $2 for "
	    "%u, $3 for %d, into a file anew: `table NAME sqlite:/FILE` "
	    "(zmailer-table(8)), and name <NAME> in the statement" },
	{ "socketmap", "write it into a file: `table NAME socketmap:/FILE` "
	    "(zmailer-table(8)), and name <NAME> in the statement" },
	{ "ldap", "write hosts (server_host), base (search_base), user "
	    "(bind_dn), password (bind_pw), filter (query_filter, with $1 for "
	    "%s) and attribute (result_attribute) into a file anew: `table "
	    "NAME ldap:/FILE` (zmailer-table(8)), and name <NAME> in the "
	    "statement" },
	{ "tcp", "write server inet:ADDRESS:PORT into a file: `table NAME "
	    "tcp:/FILE` (zmailer-table(8)), and name <NAME> in the "
	    "statement" },
	{ "unionmap", "write what its tables say into one table" },
	{ "pipemap", "write what comes out at its end into one table" },
	{ "static", "it says the same of everything: write a statement, not "
	    "a table" },
};

/* TYPE:PLACE, without a leading proxy: */
static bool
map_cut(struct slice spec, struct import_map *out)
{
	size_t at;

	*out = (struct import_map){ .spec = spec };
	if (slice_starts(spec, "proxy:"))
		spec = slice_from(spec, 6);
	at = slice_find(spec, ':');
	out->type = slice_first(spec, at);
	out->place = slice_from(spec, at + 1);
	return at < spec.n && out->place.n > 0;
}

static bool
map_is_lines(struct slice type)
{
	for (size_t i = 0; i < sizeof(line_types) / sizeof(line_types[0]);
	    i++)
		if (slice_is(type, line_types[i]))
			return true;
	return false;
}

static bool
map_is_patterns(struct slice type)
{
	return slice_is(type, "pcre") || slice_is(type, "regexp");
}

/* inline:{ {a=b} c=d }. */
static void
map_read_inline(struct import *import, struct import_map *map)
{
	struct slice rest = map->place, inner, row;
	struct str text = STR_INIT;

	if (import_list_next(&rest, &inner))
		while (import_list_next(&inner, &row)) {
			size_t at = slice_find(row, '=');

			str_add_slice(&text, slice_trim(slice_first(row, at)));
			str_addc(&text, ' ');
			str_add_slice(&text, slice_trim(slice_from(row,
			    at + 1)));
			str_addc(&text, '\n');
		}
	map->path = "main.cf";
	map->is_lines = true;
	import_read_table(import->arena, slice_copy(import->arena,
	    str_slice(&text)), &map->entries);
	str_release(&text);
}

/* Patterns and networks are copied as they are: entries has one row, the
 * whole text, as its key. */
static void
map_take_whole(struct import *import, struct import_map *map,
    struct slice text)
{
	map->is_networks = slice_is(map->type, "cidr");
	map->is_patterns = !map->is_networks;
	map->entries.rows = arena_alloc(import->arena,
	    sizeof(*map->entries.rows));
	map->entries.rows[0] = (struct import_entry){ .key = text };
	map->entries.count = 1;
}

static bool
map_read(struct import *import, const char *name, struct import_map *map)
{
	struct slice text = SLICE("");
	struct err err;

	map->path = import_path(import, map->place);
	if (import_file_take(import->arena, map->path, &text, &err) != 0 &&
	    (!map_is_lines(map->type) || import_postmap(import, map, &text) !=
	    0)) {
		import_note(import, name, map->spec, IMPORT_MISSING,
		    "%s: %s; make it a text file there, KEY VALUE on each "
		    "line (postmap -s " SLICE_FMT "), and import again",
		    map->path, err.text, SLICE_ARG(map->spec));
		return false;
	}
	map->is_lines = map_is_lines(map->type);
	if (map->is_lines)
		import_read_table(import->arena, text, &map->entries);
	else
		map_take_whole(import, map, text);
	return true;
}

/* Databases that Postfix asks for more than names. */
static const struct { const char *name, *text; } question_rows[] = {
	{ "transport_maps", "what it answers are next hops in Postfix's "
	    "words: let the query answer HOST:PORT, [ADDRESS]:PORT, lmtp "
	    "unix:/PATH or mx (zmailer help route), and write `routes "
	    "<TABLE>`" },
	{ "sender_dependent_relayhost_maps", "let the query answer "
	    "[HOST]:PORT, and write `routes <TABLE> by sender`" },
	{ "smtp_sasl_password_maps", "passwords of next hops are read, not "
	    "asked for: write HOST USER PASSWORD into a file, and `auth-to "
	    "<TABLE>`" },
	{ "smtp_tls_policy_maps", "write `tls-to PATTERN LEVEL` for each "
	    "(zmailer help tls-to)" },
	{ "sender_bcc_maps", "write `copy ADDRESS from user@domain` for each, "
	    "@domain for all of one" },
	{ "recipient_bcc_maps", "write `copy ADDRESS to user@domain` for "
	    "each, @domain for all of one" },
	{ "smtpd_client_restrictions", "networks are read, not asked for: "
	    "write them into a file, and `reject from <TABLE>`" },
	{ "smtpd_*_restrictions", "what it answers is an action: let a query "
	    "have only those that are refused, and write `reject to <TABLE>`, "
	    "`reject sender <TABLE>`" },
};

/* What is said of a type that cannot be read. */
static void
map_refuse(struct import *import, const char *name,
    const struct import_map *map)
{
	size_t n = strlen(name);

	if (import_map_is_question(map) && n > 8 &&
	    strcmp(name + n - 8, "_domains") == 0) {
		import_note(import, name, map->spec, IMPORT_MISSING,
		    "what a database has cannot be listed: write a `domain` "
		    "statement with the names of those that are yours");
		return;
	}
	for (size_t i = 0; import_map_is_question(map) &&
	    i < sizeof(question_rows) / sizeof(question_rows[0]); i++)
		if (glob_match(slice_of(question_rows[i].name),
		    slice_of(name))) {
			import_note(import, name, map->spec, IMPORT_MISSING,
			    "%s", question_rows[i].text);
			return;
		}
	for (size_t i = 0; i < sizeof(other_types) / sizeof(other_types[0]);
	    i++)
		if (slice_is(map->type, other_types[i].type)) {
			import_note(import, name, map->spec, IMPORT_MISSING,
			    "%s", other_types[i].text);
			return;
		}
	import_note(import, name, map->spec, IMPORT_MISSING, "no table of "
	    "this type here: write its rows into a file, KEY VALUE on each "
	    "line: table NAME file:/PATH");
}

/* Whose answers mean the same here. */
static bool
map_is_asked(const char *name)
{
	static const char *const names[] = { "virtual_alias_maps",
	    "virtual_maps", "alias_maps", "canonical_maps",
	    "recipient_canonical_maps", "sender_canonical_maps",
	    "smtpd_sender_login_maps", "mydestination",
	    "virtual_mailbox_domains", "virtual_alias_domains",
	    "relay_domains", "virtual_mailbox_maps", "relay_recipient_maps",
	    "local_recipient_maps" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* takes_questions: to databases, too. */
static bool
map_next(struct import *import, const char *name, struct slice *rest,
    bool takes_questions, struct import_map *out)
{
	struct slice spec;
	struct err err;

	while (import_list_next(rest, &spec)) {
		if (!map_cut(spec, out)) {
			import_note(import, name, spec, IMPORT_MISSING,
			    "it is no TYPE:PLACE");
		} else if (slice_is(out->type, "inline")) {
			map_read_inline(import, out);
			return true;
		} else if (map_is_patterns(out->type) &&
		    table_spec_check("pcre:/x", &err) != 0) {
			import_note(import, name, spec, IMPORT_MISSING, "%s",
			    err.text);
		} else if (map_is_lines(out->type) ||
		    slice_is(out->type, "cidr") ||
		    map_is_patterns(out->type)) {
			if (map_read(import, name, out))
				return true;
		} else if (takes_questions && import_map_is_question(out)) {
			return true;
		} else {
			map_refuse(import, name, out);
		}
	}
	return false;
}

bool
import_map_next(struct import *import, const char *name, struct slice *rest,
    struct import_map *out)
{
	return map_next(import, name, rest, map_is_asked(name), out);
}

/* The rows of a map as lines of a table. */
static void
map_rows_add(struct import *import, const char *name,
    const struct import_map *map, import_entry_fn *fn, struct str *out)
{
	for (size_t i = 0; i < map->entries.count; i++) {
		struct import_entry entry = map->entries.rows[i];
		const char *value;

		if (fn == NULL)
			value = slice_dup(import->arena, entry.value);
		else
			value = fn(import, name, map, &entry);
		if (value == NULL)
			continue;
		if (strstr(value, ":include:") != NULL)
			import_entry_note(import, map, &entry, IMPORT_DIFFERS,
			    "the file after :include: stays where it is; the "
			    "router's account must be able to read it");
		if (value[0] == '\0' || memchr(entry.key.p, '\0',
		    entry.key.n) != NULL) {
			import_entry_note(import, map, &entry, IMPORT_MISSING,
			    "no KEY VALUE; it was left out");
			continue;
		}
		str_add_slice(out, entry.key);
		str_addf(out, "%s %s\n", strcmp(name, "alias_maps") == 0 ?
		    ":" : "", value);
	}
}

void
import_entry_note(struct import *import, const struct import_map *map,
    const struct import_entry *entry, enum import_kind kind,
    const char *text)
{
	import_row_note(import, map->path, entry, kind, text);
}

const char *
import_map_add(struct import *import, const char *name, const char *base,
    const struct import_map *map, import_entry_fn *fn)
{
	struct str text = STR_INIT;

	if (map->is_lines) {
		map_rows_add(import, name, map, fn, &text);
		return import_table_add(import, name, "file", base, &text,
		    strcmp(base, "auth-to") == 0 ?
		    IMPORT_AGENTS : IMPORT_EVERYBODY);
	}
	str_add_slice(&text, map->entries.rows[0].key);
	return import_table_add(import, name, map->is_networks ? "cidr" :
	    "pcre", base, &text, IMPORT_EVERYBODY);
}

/* The line query of a definition, out of it. */
static struct slice
question_cut(struct import *import, struct str *text)
{
	struct slice rest = slice_copy(import->arena, str_slice(text)), line,
	    query = SLICE("");

	str_reset(text);
	while (slice_cut(&rest, '\n', &line)) {
		if (slice_starts(line, "query "))
			query = slice_from(line, 6);
		else if (line.n > 0)
			str_addf(text, SLICE_FMT "\n", SLICE_ARG(line));
	}
	while (slice_ends(query, ";") || slice_ends(query, " "))
		query.n--;
	return query;
}

/* Can another SELECT follow? */
static bool
query_is_open(struct import *import, struct slice query)
{
	const char *text = slice_lower(import->arena, query).p;

	return strstr(text, "order by") == NULL &&
	    strstr(text, " limit ") == NULL && strchr(text, ';') == NULL;
}

const char *
import_question_join(struct import *import, const char *name,
    const char *base, struct import_map *first, struct import_map *second)
{
	struct str one = STR_INIT, two = STR_INIT;
	struct slice query, other;
	const char *table = NULL;

	if (import_question(import, name, first, &one) == 0 &&
	    import_question(import, name, second, &two) == 0) {
		query = question_cut(import, &one);
		other = question_cut(import, &two);
		if (slice_equal(first->type, second->type) &&
		    slice_equal(str_slice(&one), str_slice(&two)) &&
		    query_is_open(import, query) &&
		    query_is_open(import, other)) {
			str_addf(&one, "query " SLICE_FMT " UNION " SLICE_FMT
			    "\n", SLICE_ARG(query), SLICE_ARG(other));
			table = import_table_add(import, name, slice_dup(
			    import->arena, first->type), base, &one,
			    IMPORT_ROOT);
		} else {
			import_note(import, name, second->spec,
			    IMPORT_MISSING, "a domain has one table of users: "
			    "make one query of both (UNION)");
		}
	}
	str_release(&one);
	str_release(&two);
	return table;
}

/* NULL: it cannot be said here, which was noted. */
const char *
import_question_add(struct import *import, const char *name, const char *base,
    struct import_map *map)
{
	struct str text = STR_INIT;
	const char *table = NULL;

	if (import_question(import, name, map, &text) == 0)
		table = import_table_add(import, name,
		    slice_dup(import->arena, map->type), base, &text,
		    IMPORT_ROOT);
	str_release(&text);
	return table;
}

const char *
import_maps_add(struct import *import, const char *name, const char *base,
    import_entry_fn *fn)
{
	struct slice rest = import_value(import, name);
	struct str names = STR_INIT;
	struct import_map map;
	const char *out, *table;

	while (map_next(import, name, &rest, map_is_asked(name), &map)) {
		table = import_map_is_question(&map) ?
		    import_question_add(import, name, base, &map) :
		    import_map_add(import, name, base, &map, fn);
		if (table != NULL)
			str_addf(&names, "%s<%s>", names.len > 0 ? " " : "",
			    table);
	}
	out = slice_dup(import->arena, str_slice(&names));
	str_release(&names);
	return out;
}
