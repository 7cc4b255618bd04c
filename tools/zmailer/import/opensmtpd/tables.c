/* tables.c - tables of smtpd.conf as tables of ours
 *
 * In     inline lists, files, the sources of databases of makemap
 * Out    tables of the new directory, one for each role
 * Holds  nothing
 * Trusts no entry: each is read as text, and written as one line
 * Spec   table(5) of OpenSMTPD; zmailer-table(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/net.h"
#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

static const struct {
	const char		*base;
	enum import_reader	 reader;
} roles[OPENSMTPD_ROLES] = {
	[OPENSMTPD_ALIASES] = { "aliases", IMPORT_EVERYBODY },
	[OPENSMTPD_USERS] = { "users", IMPORT_EVERYBODY },
	[OPENSMTPD_DOMAINS] = { "domains", IMPORT_EVERYBODY },
	[OPENSMTPD_NETS] = { "networks", IMPORT_EVERYBODY },
	[OPENSMTPD_ADDRESSES] = { "addresses", IMPORT_EVERYBODY },
	[OPENSMTPD_LOGINS] = { "logins", IMPORT_ROOT },
	[OPENSMTPD_PASSWORDS] = { "auth-to", IMPORT_AGENTS },
	[OPENSMTPD_SENDERS] = { "owners", IMPORT_EVERYBODY },
};

/* { a, b } or { a = b, c = d }. */
static void
opensmtpd_inline(struct opensmtpd *smtpd, struct opensmtpd_row *table,
    struct import_entries *out)
{
	const struct opensmtpd_word *word;

	out->rows = arena_alloc(smtpd->import->arena, (table->count + 1) *
	    sizeof(*out->rows));
	while ((word = opensmtpd_word(table)) != NULL) {
		if (word->kind == OPENSMTPD_SIGN) {
			if (slice_is(word->text, "=") && out->count > 0)
				out->rows[out->count - 1].value =
				    opensmtpd_text(table);
			continue;
		}
		out->rows[out->count++] = (struct import_entry){
			.key = word->text, .value = SLICE(""),
			.line = table->item.line
		};
	}
}

/* TYPE:PATH of a table; file when nothing is said. */
static void
opensmtpd_place(struct slice spec, struct slice *out_type,
    struct slice *out_path)
{
	size_t at = slice_find(spec, ':');

	*out_type = at < spec.n && spec.p[0] != '/' ? slice_first(spec, at) :
	    SLICE("file");
	*out_path = at < spec.n && spec.p[0] != '/' ?
	    slice_from(spec, at + 1) : spec;
}

static bool
opensmtpd_file(struct opensmtpd *smtpd, struct opensmtpd_row *table,
    struct slice path, struct import_entries *out)
{
	const char *here = import_file_here(smtpd->import, path);
	struct slice text;
	struct err err;

	if (import_file_take(smtpd->import->arena, here, &text, &err) != 0) {
		import_item_note(smtpd->import, &table->item, IMPORT_MISSING,
		    "%s: %s; put the file there and import again", here,
		    err.text);
		return false;
	}
	import_read_table(smtpd->import->arena, text, out);
	return true;
}

/* Rows that were read, or why there are none. */
static bool
opensmtpd_table_read(struct opensmtpd *smtpd, struct opensmtpd_row *table,
    struct import_entries *out)
{
	struct slice type, path;

	*out = (struct import_entries){ NULL, 0 };
	table->at = 2;
	if (opensmtpd_is(table, "{")) {
		opensmtpd_inline(smtpd, table, out);
		return true;
	}
	opensmtpd_place(opensmtpd_text(table), &type, &path);
	if (slice_is(type, "db") && slice_ends(path, ".db"))
		path.n -= 3;
	if (slice_is(type, "file") || slice_is(type, "db"))
		return opensmtpd_file(smtpd, table, path, out);
	import_item_note(smtpd->import, &table->item, IMPORT_MISSING,
	    "what a database has cannot be listed here: write a `table` "
	    "(zmailer-table(8)) and name it in the statement");
	return false;
}

bool
opensmtpd_entries(struct opensmtpd *smtpd, struct opensmtpd_row *user,
    const struct opensmtpd_word *word, struct import_entries *out)
{
	struct opensmtpd_row *table;

	*out = (struct import_entries){ NULL, 0 };
	if (word->kind != OPENSMTPD_TABLE) {
		out->rows = arena_alloc(smtpd->import->arena,
		    sizeof(*out->rows));
		out->rows[out->count++] = (struct import_entry){
			.key = word->text, .line = user->item.line,
			.value = SLICE("")
		};
		return true;
	}
	table = opensmtpd_row_of(smtpd, "table", word->text);
	if (table == NULL) {
		import_item_note(smtpd->import, &user->item, IMPORT_MISSING,
		    "there is no table " SLICE_FMT, SLICE_ARG(word->text));
		return false;
	}
	return opensmtpd_table_read(smtpd, table, out);
}

/* ---- a table of ours ---------------------------------------------------- */

static void
opensmtpd_senders_add(const struct import_entry *entry, struct str *out)
{
	struct slice rest = entry->value, one;

	while (import_list_next(&rest, &one))
		str_addf(out, SLICE_FMT " " SLICE_FMT "\n", SLICE_ARG(one),
		    SLICE_ARG(entry->key));
}

/* LABEL USER:PASSWORD becomes LABEL USER PASSWORD. */
static void
opensmtpd_password_add(struct opensmtpd *smtpd, const char *path,
    struct import_entry *entry, struct str *out)
{
	size_t at = slice_find(entry->value, ':');
	struct slice password = slice_from(entry->value, at + 1);

	if (at == 0 || password.n == 0 ||
	    slice_find(entry->value, ' ') < entry->value.n) {
		entry->value = SLICE("");
		import_row_note(smtpd->import, path, entry, IMPORT_MISSING,
		    "no USER:PASSWORD: write LABEL USER PASSWORD into the "
		    "table of auth-to");
		return;
	}
	str_addf(out, SLICE_FMT " " SLICE_FMT " " SLICE_FMT "\n",
	    SLICE_ARG(entry->key), SLICE_ARG(slice_first(entry->value, at)),
	    SLICE_ARG(password));
}

/* A key of theirs as one of ours in that role. */
static struct slice
opensmtpd_key(struct opensmtpd *smtpd, enum opensmtpd_role role,
    struct slice key)
{
	if (role == OPENSMTPD_NETS && slice_starts(key, "ipv6:"))
		return slice_from(key, 5);
	if (role == OPENSMTPD_DOMAINS && slice_starts(key, "*."))
		return slice_from(key, 1);
	if (role == OPENSMTPD_ADDRESSES && slice_find(key, '@') == key.n &&
	    slice_find(key, '*') == key.n)
		return slice_of(arena_printf(smtpd->import->arena,
		    SLICE_FMT "@", SLICE_ARG(key)));
	return key;
}

static void
opensmtpd_entry_add(struct opensmtpd *smtpd, const char *path,
    enum opensmtpd_role role, struct import_entry *entry)
{
	struct str *out = &smtpd->import->files[
	    smtpd->import->file_count].text;
	struct slice key = opensmtpd_key(smtpd, role, entry->key);
	struct net net;

	if (role == OPENSMTPD_SENDERS)
		opensmtpd_senders_add(entry, out);
	else if (role == OPENSMTPD_PASSWORDS)
		opensmtpd_password_add(smtpd, path, entry, out);
	else if (role == OPENSMTPD_NETS && net_parse(key, &net, NULL) != 0)
		import_row_note(smtpd->import, path, entry, IMPORT_MISSING,
		    "it is no network");
	else if (role == OPENSMTPD_ALIASES || role == OPENSMTPD_LOGINS) {
		if (entry->value.n == 0)
			import_row_note(smtpd->import, path, entry,
			    IMPORT_MISSING, "no KEY VALUE; it was left out");
		else
			str_addf(out, SLICE_FMT "%s " SLICE_FMT "\n",
			    SLICE_ARG(slice_is(key, "@") ? SLICE("@") : key),
			    role == OPENSMTPD_ALIASES ? ":" : "",
			    SLICE_ARG(entry->value));
	} else
		str_addf(out, SLICE_FMT "%s\n", SLICE_ARG(key),
		    role == OPENSMTPD_DOMAINS || role == OPENSMTPD_USERS ?
		    " -" : "");
}

const char *
opensmtpd_table_path(struct opensmtpd *smtpd, struct opensmtpd_row *table)
{
	struct slice type, path;

	table->at = 2;
	opensmtpd_place(opensmtpd_text(table), &type, &path);
	if (slice_ends(path, ".db"))
		path.n -= 3;
	return slice_is(path, "{") ? smtpd->import->file :
	    import_file_here(smtpd->import, path);
}

/* The rows go into the file that import_table_add takes next. */
static const char *
opensmtpd_rows_add(struct opensmtpd *smtpd, struct opensmtpd_row *table,
    enum opensmtpd_role role, struct import_entries *entries)
{
	struct import *import = smtpd->import;
	const char *path = opensmtpd_table_path(smtpd, table);
	struct str text;

	if (import->file_count == IMPORT_FILES_MAX) {
		import_item_note(import, &table->item, IMPORT_MISSING,
		    "more than %d tables", IMPORT_FILES_MAX);
		return NULL;
	}
	str_init(&import->files[import->file_count].text);
	for (size_t i = 0; i < entries->count; i++)
		opensmtpd_entry_add(smtpd, path, role, &entries->rows[i]);
	text = import->files[import->file_count].text;
	return import_table_add(import, "", "file", roles[role].base, &text,
	    roles[role].reader);
}

bool
opensmtpd_is_question(struct opensmtpd_row *table)
{
	struct slice type, path;

	table->at = 2;
	opensmtpd_place(opensmtpd_text(table), &type, &path);
	return !slice_is(type, "file") && !slice_is(type, "db") &&
	    !slice_is(type, "{");
}

static const char *
opensmtpd_question_add(struct opensmtpd *smtpd, struct opensmtpd_row *table,
    enum opensmtpd_role role)
{
	struct str text = STR_INIT;
	struct slice type, path;
	const char *why, *name = NULL;

	table->at = 2;
	opensmtpd_place(opensmtpd_text(table), &type, &path);
	if (opensmtpd_question(smtpd, table, role, &text, &why) == 0)
		name = import_table_add(smtpd->import, "", slice_is(type,
		    "postgres") ? "pgsql" : slice_dup(smtpd->import->arena,
		    type), roles[role].base, &text, IMPORT_ROOT);
	else
		import_item_note(smtpd->import, &table->item, IMPORT_MISSING,
		    "%s", why);
	str_release(&text);
	return name;
}

const char *
opensmtpd_table(struct opensmtpd *smtpd, struct opensmtpd_row *user,
    struct slice name, enum opensmtpd_role role)
{
	struct import *import = smtpd->import;
	struct opensmtpd_row *table = opensmtpd_row_of(smtpd, "table", name);
	const char *known = smtpd->tables[role] ? smtpd->tables[role] : "";
	const char *key = arena_printf(import->arena, " " SLICE_FMT "=<",
	    SLICE_ARG(name)), *at = strstr(known, key), *ours = NULL;
	struct import_entries entries;

	if (at != NULL)
		return arena_printf(import->arena, "%.*s", (int)(strcspn(at +
		    strlen(key) - 1, " ")), at + strlen(key) - 1);
	if (table == NULL) {
		import_item_note(import, &user->item, IMPORT_MISSING,
		    "there is no table " SLICE_FMT, SLICE_ARG(name));
		return NULL;
	}
	if (opensmtpd_is_question(table))
		ours = opensmtpd_question_add(smtpd, table, role);
	else if (opensmtpd_table_read(smtpd, table, &entries))
		ours = opensmtpd_rows_add(smtpd, table, role, &entries);
	if (ours == NULL)
		return NULL;
	import_item_taken(import, &table->item,
	    (int)import->statement_count - 1);
	smtpd->tables[role] = arena_printf(import->arena, "%s " SLICE_FMT
	    "=<%s> ", known, SLICE_ARG(name), ours);
	return arena_printf(import->arena, "<%s>", ours);
}

const char *
opensmtpd_pattern(struct opensmtpd *smtpd, struct opensmtpd_row *user,
    const struct opensmtpd_word *word, enum opensmtpd_role role)
{
	const char *out;

	if (word == NULL) {
		import_item_note(smtpd->import, &user->item, IMPORT_MISSING,
		    "the line ends where a value is wanted");
		return NULL;
	}
	if (word->kind == OPENSMTPD_TABLE)
		return opensmtpd_table(smtpd, user, word->text, role);
	out = import_word(smtpd->import, opensmtpd_key(smtpd, role,
	    word->text));
	if (out == NULL)
		import_item_note(smtpd->import, &user->item, IMPORT_MISSING,
		    "the value " SLICE_FMT " has bytes that have no place in "
		    "zmailer.conf", SLICE_ARG(word->text));
	return out;
}
