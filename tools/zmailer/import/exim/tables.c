/* tables.c - files that exim4.conf looks things up in, as tables
 *
 * In     ${lookup{$local_part}lsearch{FILE}}, TYPE;FILE
 * Out    tables of ours; what their rows had that has no place here
 * Holds  nothing
 * Trusts no row
 * Spec   the Exim specification, chapters 9 and 22 (redirect); aliases(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

/* KEY: VALUE, KEY VALUE, "a key": VALUE. */
static void
entry_key_cut(struct slice line, struct import_entry *out)
{
	size_t n = 0;

	if (slice_starts(line, "\"")) {
		n = slice_find(slice_from(line, 1), '"');
		out->key = slice_first(slice_from(line, 1), n);
		n += 2;
	} else {
		while (n < line.n && line.p[n] != ':' && line.p[n] != ' ' &&
		    line.p[n] != '\t')
			n++;
		out->key = slice_first(line, n);
	}
	out->value = slice_trim(slice_from(line, n));
	if (slice_starts(out->value, ":"))
		out->value = slice_trim(slice_from(out->value, 1));
}

bool
exim4_entries(struct exim4 *exim, struct slice path,
    struct import_entries *out, const char **out_why)
{
	struct arena *arena = exim->import->arena;
	const char *here = import_file_here(exim->import, path);
	struct import_entries lines;
	struct import_lines rest = { SLICE(""), 0 };
	struct slice line;
	unsigned number = 0;
	struct err err;

	*out = (struct import_entries){ NULL, 0 };
	if (slice_find(path, '$') < path.n) {
		*out_why = arena_printf(arena, SLICE_FMT ": the name of the "
		    "file is made for each address", SLICE_ARG(path));
		return false;
	}
	if (import_file_take(arena, here, &rest.rest, &err) != 0) {
		*out_why = arena_printf(arena, "%s: %s; put the file there "
		    "and import again", here, err.text);
		return false;
	}
	/* counted once, so that the rows are one array */
	import_read_table(arena, rest.rest, &lines);
	out->rows = arena_alloc(arena, (lines.count + 1) *
	    sizeof(*out->rows));
	while (out->count < lines.count && import_line_next(arena, &rest,
	    &line, &number)) {
		entry_key_cut(line, &out->rows[out->count]);
		out->rows[out->count++].line = number;
	}
	return true;
}

/* ---- made once ---------------------------------------------------------- */

const char *
exim4_made(struct exim4 *exim, const char *role, struct slice key)
{
	const char *name = arena_printf(exim->import->arena, " %s\n" SLICE_FMT
	    "\n=", role, SLICE_ARG(key)), *at = strstr(exim->files, name);

	return at == NULL ? NULL : arena_printf(exim->import->arena, "%.*s",
	    (int)strcspn(at + strlen(name), " "), at + strlen(name));
}

void
exim4_made_put(struct exim4 *exim, const char *role, struct slice key,
    const char *ours)
{
	exim->files = arena_printf(exim->import->arena, "%s %s\n" SLICE_FMT
	    "\n=%s ", exim->files, role, SLICE_ARG(key), ours);
}

static const char *
table_make(struct exim4 *exim, const char *role, struct slice key,
    struct str *rows)
{
	const char *ours = arena_printf(exim->import->arena, "<%s>",
	    import_table_add(exim->import, "", "file", role, rows,
	    IMPORT_EVERYBODY));

	str_release(rows);
	exim4_made_put(exim, role, key, ours);
	return ours;
}

/* ---- aliases ------------------------------------------------------------ */

struct exim4_aliasing {		/* rows on their way */
	struct exim4	*exim;
	const char	*path, *domain;		/* domain: NULL for all */
	bool		 is_address;		/* keys have an @ */
	struct str	 rows;
};

static void
alias_note(struct exim4_aliasing *aliasing, const struct import_entry *entry,
    const char *text)
{
	import_row_note(aliasing->exim->import, aliasing->path, entry,
	    IMPORT_MISSING, text);
}

/* The key as ours: "@domain" for *; NULL: it has none here. */
static const char *
alias_key(struct exim4_aliasing *aliasing, const struct import_entry *entry)
{
	struct arena *arena = aliasing->exim->import->arena;

	if (slice_is(entry->key, "*") && aliasing->domain == NULL)
		return NULL;
	if (slice_is(entry->key, "*"))
		return arena_printf(arena, "@%s", aliasing->domain);
	if (slice_starts(entry->key, "*@"))
		return slice_dup(arena, slice_from(entry->key, 1));
	return slice_dup(arena, entry->key);
}

/* Programs with blanks get quotes; :blackhole: is not a file. */
static void
alias_row_add(struct exim4_aliasing *aliasing,
    const struct import_entry *entry)
{
	struct slice value = entry->value;
	const char *key = alias_key(aliasing, entry);
	bool is_open = slice_starts(value, "|") && slice_find(value, ',') ==
	    value.n && slice_find(value, '"') == value.n;

	if (value.n == 0)
		alias_note(aliasing, entry, "no KEY: VALUE; it was left out");
	else if (key != NULL && key[0] != '@' && (strchr(key, '@') != NULL) !=
	    aliasing->is_address)
		alias_note(aliasing, entry, aliasing->is_address ? "no "
		    "USER@DOMAIN: Exim never finds it; it was left out" :
		    "no name alone: Exim never finds it; it was left out");
	else if (key == NULL)
		alias_note(aliasing, entry, "all other names: write "
		    "`@DOMAIN: VALUE` for each domain into the table");
	else if (slice_starts(value, ":fail:"))
		alias_note(aliasing, entry, "write `reject to ADDRESS text "
		    "\"WORDS\"`");
	else if (slice_starts(value, ":defer:"))
		alias_note(aliasing, entry, "write `defer to ADDRESS text "
		    "\"WORDS\"`");
	else if (slice_starts(value, ":unknown:"))
		alias_note(aliasing, entry, "leave the name out: no table "
		    "after this one is asked for it there");
	else
		str_addf(&aliasing->rows, "%s: %s" SLICE_FMT "%s\n", key,
		    is_open ? "\"" : "", SLICE_ARG(slice_is(value,
		    ":blackhole:") ? SLICE("/dev/null") : value), is_open ?
		    "\"" : "");
}

/* The path for one domain. */
static struct slice
table_path_of(struct exim4 *exim, struct slice path, const char *domain)
{
	static const char name[] = "$domain";
	struct str out = STR_INIT;
	struct slice copy;

	path = exim4_plain(exim->import->arena, path);
	while (path.n > 0) {
		bool is_domain = domain != NULL && slice_starts(path, name);

		if (is_domain)
			str_adds(&out, domain);
		else
			str_addc(&out, path.p[0]);
		path = slice_from(path, is_domain ? sizeof(name) - 1 : 1);
	}
	copy = slice_copy(exim->import->arena, str_slice(&out));
	str_release(&out);
	return copy;
}

static bool
entries_have_star(const struct import_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		if (slice_is(entries->rows[i].key, "*"))
			return true;
	return false;
}

static const char *
aliases_file(struct exim4 *exim, const struct exim4_lookup *lookup,
    const char *domain, const char **out_why)
{
	struct exim4_aliasing aliasing = { .exim = exim, .rows = STR_INIT };
	struct slice path = table_path_of(exim, lookup->place, domain), key;
	struct import_entries entries;
	const char *ours;

	if (!exim4_entries(exim, path, &entries, out_why))
		return NULL;
	if (lookup->is_star && entries_have_star(&entries))
		aliasing.domain = domain;
	key = slice_of(arena_printf(exim->import->arena, SLICE_FMT " %s",
	    SLICE_ARG(path), aliasing.domain == NULL ? "" :
	    aliasing.domain));
	ours = exim4_made(exim, "aliases", key);
	if (ours != NULL)
		return ours;
	aliasing.path = import_file_here(exim->import, path);
	aliasing.is_address = !slice_is(lookup->key, "$local_part");
	for (size_t i = 0; i < entries.count; i++)
		alias_row_add(&aliasing, &entries.rows[i]);
	return table_make(exim, "aliases", key, &aliasing.rows);
}

/* DOMAIN: OTHER after $local_part@: @DOMAIN becomes @OTHER. */
static const char *
aliases_domains(struct exim4 *exim, const struct exim4_lookup *lookup,
    const char **out_why)
{
	struct import_entries entries;
	struct str rows = STR_INIT;
	const char *ours = exim4_made(exim, "domain-aliases", lookup->place);

	if (ours != NULL)
		return ours;
	if (!exim4_entries(exim, lookup->place, &entries, out_why))
		return NULL;
	for (size_t i = 0; i < entries.count; i++)
		str_addf(&rows, "@" SLICE_FMT ": @" SLICE_FMT "\n",
		    SLICE_ARG(entries.rows[i].key),
		    SLICE_ARG(entries.rows[i].value));
	return table_make(exim, "domain-aliases", lookup->place, &rows);
}

const char *
exim4_aliases(struct exim4 *exim, struct slice data, const char *domain,
    const char **out_why)
{
	static const char front[] = "$local_part@";
	struct arena *arena = exim->import->arena;
	struct slice plain = exim4_plain(arena, data);
	struct exim4_lookup lookup;
	bool is_domains = slice_starts(plain, front) &&
	    slice_starts(slice_from(plain, sizeof(front) - 1), "${lookup");

	*out_why = "what is made of the address is no look-up of a file or "
	    "database: write the names into a table, and `aliases <TABLE>` "
	    "or `virtual <TABLE>`";
	if (!exim4_lookup_cut(arena, is_domains ? slice_from(plain,
	    sizeof(front) - 1) : data, &lookup) ||
	    !slice_is(lookup.found, "$value"))
		return NULL;
	if (lookup.is_query)
		return exim4_question(exim, lookup.type, lookup.place,
		    "aliases", out_why);
	if (!slice_ends(lookup.type, "lsearch")) {
		*out_why = arena_printf(arena, "no table of type " SLICE_FMT
		    " is read: make a text of it, and name that by lsearch",
		    SLICE_ARG(lookup.type));
		return NULL;
	}
	if (is_domains)
		return slice_is(lookup.key, "$domain") ? aliases_domains(exim,
		    &lookup, out_why) : NULL;
	if (!slice_is(lookup.key, "$local_part") &&
	    !slice_is(lookup.key, "$local_part@$domain"))
		return NULL;
	return aliases_file(exim, &lookup, domain, out_why);
}

const char *
exim4_users(struct exim4 *exim, const struct exim4_lookup *lookup,
    const char *domain, const char **out_why)
{
	struct slice path = table_path_of(exim, lookup->place, domain);
	struct import_entries entries;
	struct str rows = STR_INIT;
	const char *ours = exim4_made(exim, "users", path);

	if (lookup->is_query)
		return exim4_question(exim, lookup->type, lookup->place,
		    "users", out_why);
	*out_why = "only lsearch, mysql, pgsql and sqlite are read: write the "
	    "names into a table, and `users <TABLE>`";
	if (ours != NULL)
		return ours;
	if (!slice_ends(lookup->type, "lsearch") ||
	    !exim4_entries(exim, path, &entries, out_why))
		return NULL;
	for (size_t i = 0; i < entries.count; i++)
		str_addf(&rows, SLICE_FMT " -\n",
		    SLICE_ARG(entries.rows[i].key));
	return table_make(exim, "users", path, &rows);
}
