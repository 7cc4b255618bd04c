/* databases.c - ZMailer's databases, read as text
 *
 * In     aliases, localnames, routes, fqdnaliases, userdb and so on below db
 * Out    domain, virtual, canonical, routes, list; tables
 * Holds  nothing
 * Trusts no row
 * Spec   the manual of ZMailer 2.99.57, "Databases"; zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "tools/zmailer/import/ancestor/ancestor.h"

#include "base/banned.h"

enum { ANCESTOR_LISTS_MAX = 1000 };

static void
database_taken(struct ancestor *old, const char *path, int statement)
{
	struct import_item item = { .line = 1, .value = "",
		.file = import_file_name(old->import, path) };

	item.name = item.file;
	import_item_taken(old->import, &item, statement);
}

/* ---- our domains -------------------------------------------------------- */

static void
domain_name_add(struct ancestor *old, const char *path,
    struct import_entry *entry, struct slice name)
{
	const char *domain = import_domain(old->import, name);

	if (domain == NULL && entry != NULL)
		import_row_note(old->import, path, entry, IMPORT_MISSING,
		    "it is no name of a domain");
	else if (domain != NULL && strstr(old->domains.buf, arena_printf(
	    old->import->arena, " %s ", domain)) == NULL)
		str_addf(&old->domains, " %s ", domain);
}

/* Rows of a file of names. */
static void
domains_read(struct ancestor *old, const char *name, const char **out_path)
{
	struct import_entries entries;
	const char *path;

	if (!ancestor_entries(old, name, &entries, &path))
		return;
	*out_path = path;
	for (size_t i = 0; i < entries.count; i++)
		domain_name_add(old, path, &entries.rows[i],
		    entries.rows[i].key);
}

/* name: value, as they are. */
static void
aliases_read(struct ancestor *old, const char *name)
{
	struct import_entries entries;
	const char *path;

	if (!ancestor_entries(old, name, &entries, &path))
		return;
	old->has_aliases = true;
	for (size_t i = 0; i < entries.count; i++) {
		struct import_entry *entry = &entries.rows[i];

		if (entry->value.n == 0)
			import_row_note(old->import, path, entry,
			    IMPORT_MISSING, "no KEY VALUE; it was left out");
		else
			str_addf(&old->aliases, SLICE_FMT ": " SLICE_FMT
			    "\n", SLICE_ARG(entry->key),
			    SLICE_ARG(entry->value));
	}
}

/* Mail for names that nobody has: @domain of each of ours. */
static void
domains_punt(struct ancestor *old, const char *variable)
{
	struct import_item *item = ancestor_item(old, variable);
	const char *host = import_domain(old->import, ancestor_value(old,
	    variable));
	struct slice rest = str_slice(&old->domains), name;
	struct str rows = STR_INIT;
	bool is_forced = strcmp(variable, "FORCEPUNT") == 0;

	if (item == NULL || item->value[0] == '\0')
		return;
	if (host == NULL) {
		import_item_note(old->import, item, IMPORT_MISSING, "it is "
		    "no name of a host: write `@DOMAIN @HOST` into a table, "
		    "and `virtual <TABLE>`");
		return;
	}
	while (slice_word(&rest, &name))
		if (name.p[0] != '.' && !slice_is(name, host))
			str_addf(is_forced ? &rows : &old->aliases, "@"
			    SLICE_FMT ": @%s\n", SLICE_ARG(name), host);
	if (is_forced)
		import_item_taken(old->import, item, import_say(old->import,
		    IMPORT_ADDRESSES, "", "virtual <%s>", import_table_add(
		    old->import, "", "file", "forced", &rows,
		    IMPORT_EVERYBODY)));
	else
		old->has_aliases = true;
	str_release(&rows);
}

static void
domains_say(struct ancestor *old, const char *localnames)
{
	struct import_item *punt = ancestor_item(old, "PUNTHOST");
	struct slice rest = str_slice(&old->domains), name;
	const char *table, *path = NULL;
	struct import_entries entries;
	struct str words = STR_INIT;
	int statement;

	while (slice_word(&rest, &name))
		str_addf(&words, " " SLICE_FMT, SLICE_ARG(name));
	if (words.len > 1000) {
		struct str rows = STR_INIT;

		rest = str_slice(&old->domains);
		while (slice_word(&rest, &name))
			str_addf(&rows, SLICE_FMT " -\n", SLICE_ARG(name));
		str_reset(&words);
		str_addf(&words, " <%s>", import_table_add(old->import, "",
		    "file", "localnames", &rows, IMPORT_EVERYBODY));
		str_release(&rows);
	}
	table = !old->has_aliases ? import_no_aliases_say(old->import) :
	    arena_printf(old->import->arena, "<%s>", import_table_add(
	    old->import, "", "file", "aliases", &old->aliases,
	    IMPORT_EVERYBODY));
	statement = import_say(old->import, IMPORT_DOMAINS, "",
	    "domain%s { aliases %s }", words.buf, table);
	if (localnames != NULL)
		database_taken(old, localnames, statement);
	if (ancestor_entries(old, "aliases", &entries, &path))
		database_taken(old, path, statement);
	if (ancestor_entries(old, "fullnamemap", &entries, &path))
		database_taken(old, path, statement);
	if (punt != NULL && !punt->is_told && punt->value[0] != '\0')
		import_item_taken(old->import, punt, statement);
	str_release(&words);
}

/* ---- where mail goes ---------------------------------------------------- */

/* A value of routes as ours; NULL: *out_why says what to do. */
static const char *
route_value(struct ancestor *old, struct slice value, const char **out_why)
{
	struct arena *arena = old->import->arena;
	size_t at = slice_find(value, '!');
	struct slice channel = slice_first(value, at);
	const char *host = import_word(old->import, slice_from(value, at +
	    1));

	*out_why = "write `route DOMAIN via TARGET` (zmailer help route)";
	if (at == value.n)
		*out_why = "no CHANNEL!HOST: write `route DOMAIN via TARGET`";
	else if (slice_is(channel, "dns") || (slice_is(channel, "smtp") &&
	    host == NULL))
		return "mx";
	else if (slice_is(channel, "smtpx") && host != NULL)
		return slice_starts(slice_of(host), "[") ? arena_printf(arena,
		    "%s:25", host) : arena_printf(arena, "[%s]:25", host);
	else if (slice_is(channel, "smtp") && slice_starts(slice_of(host),
	    "["))
		return arena_printf(arena, "%s:25", host);
	else if (slice_is(channel, "smtp"))
		return arena_printf(arena, "smtp!%s", host);
	else if (slice_is(channel, "error"))
		return arena_printf(arena, "error!5.1.2 %s", import_quote(
		    old->import, slice_from(value, at + 1)));
	else if (slice_is(channel, "bitbucket"))
		return "discard!-";
	else if (slice_is(channel, "local"))
		*out_why = "write `domain NAME` for it";
	else if (slice_is(channel, "delay") || slice_is(channel, "hold"))
		*out_why = "write `route DOMAIN via hold`";
	else if (slice_starts(channel, "smtp-") ||
	    slice_starts(channel, "smtp"))
		*out_why = "a channel of your own: write `route DOMAIN via "
		    "HOST:PORT`, and what its command said as schedule or "
		    "tls-to";
	else if (slice_is(channel, "uucp") || slice_is(channel, "usenet"))
		*out_why = "write `route DOMAIN via sm MAILER/HOST` "
		    "(zmailer-sm(8))";
	return NULL;
}

static void
routes_read(struct ancestor *old, const char *name)
{
	struct import_entries entries;
	struct str rows = STR_INIT;
	const char *path, *why, *value, *key;

	if (!ancestor_entries(old, name, &entries, &path))
		return;
	for (size_t i = 0; i < entries.count; i++) {
		struct import_entry *entry = &entries.rows[i];

		key = slice_is(entry->key, ".") ? "." : import_domain(
		    old->import, entry->key);
		value = route_value(old, entry->value, &why);
		if (slice_starts(entry->value, "ignore!"))
			import_row_note(old->import, path, entry,
			    IMPORT_NOT_NEEDED, "it says nothing");
		else if (key == NULL)
			import_row_note(old->import, path, entry,
			    IMPORT_MISSING, "a key for senders or errors: "
			    "write `route DOMAIN from SENDER via TARGET`");
		else if (value == NULL)
			import_row_note(old->import, path, entry,
			    IMPORT_MISSING, why);
		else
			str_addf(&rows, "%s %s\n", key, value);
	}
	if (rows.len > 0)
		database_taken(old, path, import_say(old->import,
		    IMPORT_ROUTES, "", "routes <%s>", import_table_add(
		    old->import, "", "file", "routes", &rows,
		    IMPORT_EVERYBODY)));
	str_release(&rows);
}

/* ---- addresses that become others --------------------------------------- */

/* "%1@other" becomes "@other"; NULL: %1 is elsewhere. */
static const char *
virtual_value(struct ancestor *old, struct slice value)
{
	if (slice_starts(value, "%1@"))
		return slice_dup(old->import->arena, slice_from(value, 2));
	return slice_find(value, '%') < value.n || value.n == 0 ? NULL :
	    slice_dup(old->import->arena, value);
}

static void
virtual_read(struct ancestor *old)
{
	struct import_entries entries;
	struct str rows = STR_INIT;
	const char *path, *value;

	if (!ancestor_entries(old, "fqdnaliases", &entries, &path))
		return;
	for (size_t i = 0; i < entries.count; i++) {
		value = virtual_value(old, entries.rows[i].value);
		if (value == NULL)
			import_row_note(old->import, path, &entries.rows[i],
			    IMPORT_MISSING, "a part of the address is put "
			    "in: write a row for each");
		else
			str_addf(&rows, SLICE_FMT ": %s\n",
			    SLICE_ARG(entries.rows[i].key), value);
	}
	database_taken(old, path, import_say(old->import, IMPORT_ADDRESSES,
	    "", "virtual <%s>", import_table_add(old->import, "", "file",
	    "fqdnaliases", &rows, IMPORT_EVERYBODY)));
	str_release(&rows);
}

/* user:mailname ADDRESS */
static void
senders_read(struct ancestor *old)
{
	struct import_entries entries;
	struct str rows = STR_INIT;
	const char *path;

	if (!ancestor_entries(old, "userdb", &entries, &path))
		return;
	for (size_t i = 0; i < entries.count; i++) {
		struct import_entry *entry = &entries.rows[i];
		struct slice key = entry->key;

		if (!slice_ends(key, ":mailname") || entry->value.n == 0) {
			import_row_note(old->import, path, entry,
			    IMPORT_MISSING, "no USER:mailname ADDRESS");
			continue;
		}
		key.n -= strlen(":mailname");
		str_addf(&rows, SLICE_FMT " " SLICE_FMT "%s%s\n",
		    SLICE_ARG(key), SLICE_ARG(entry->value), slice_find(
		    entry->value, '@') < entry->value.n ? "" : "@",
		    slice_find(entry->value, '@') < entry->value.n ? "" :
		    old->host);
	}
	if (rows.len > 0)
		database_taken(old, path, import_say(old->import,
		    IMPORT_ADDRESSES, "", "canonical <%s> senders",
		    import_table_add(old->import, "", "file", "userdb",
		    &rows, IMPORT_EVERYBODY)));
	str_release(&rows);
}

static int
list_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A file for each list. */
static void
lists_read(struct ancestor *old)
{
	struct import *import = old->import;
	const char *place = import_file_here(import, slice_of(arena_printf(
	    import->arena, "%s/lists", old->var)));
	const char **names = arena_alloc(import->arena, ANCESTOR_LISTS_MAX *
	    sizeof(*names));
	DIR *dir = opendir(place);
	struct dirent *entry;
	size_t count = 0;

	while (dir != NULL && count < ANCESTOR_LISTS_MAX &&
	    (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && import_word(import, slice_of(
		    entry->d_name)) != NULL)
			names[count++] = arena_printf(import->arena, "%s",
			    entry->d_name);
	if (dir != NULL)
		(void)closedir(dir);
	if (count > 0)
		qsort(names, count, sizeof(*names), list_order);
	for (size_t i = 0; i < count; i++) {
		struct import_item item = { .line = 0, .value = "",
			.name = names[i] };

		item.file = import_file_name(import, place);
		import_item_taken(import, &item, import_say(import,
		    IMPORT_ADDRESSES, "", "list %s@%s members %s/%s owner "
		    "postmaster@%s", names[i], old->host, place, names[i],
		    old->host));
		import_item_note(import, &item, IMPORT_DIFFERS, "its owner "
		    "was that of the file: name a person (owner ADDRESS)");
	}
}

/* Databases that nothing here is. */
static void
databases_others(struct ancestor *old)
{
	static const struct { const char *name, *text; } rows[] = {
		{ "fqdnroutes", "write `virtual <TABLE>` or `route DOMAIN via "
		    "TARGET`" },
		{ "mboxmap", "write `mailbox maildir PATH` with the places "
		    "(zmailer help mailbox), and those on other hosts into "
		    "aliases" },
		{ "expired", "write `reject to ADDRESS text \"WORDS\"`" },
		{ "newsgroup", "no channel posts news" },
		{ "iproutes", "write `route [ADDRESS] via TARGET`" },
	};
	struct import_entries entries;
	const char *path;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!ancestor_entries(old, rows[i].name, &entries, &path))
			continue;
		for (size_t k = 0; k < entries.count; k++)
			import_row_note(old->import, path, &entries.rows[k],
			    IMPORT_MISSING, rows[i].text);
	}
}

void
ancestor_databases(struct ancestor *old)
{
	const char *localnames = NULL;

	domain_name_add(old, NULL, NULL, slice_of(old->host));
	domain_name_add(old, NULL, NULL, SLICE("localhost"));
	domains_read(old, "localnames", &localnames);
	domains_read(old, "otherservers", &localnames);
	aliases_read(old, "aliases");
	aliases_read(old, "fullnamemap");
	domains_punt(old, "PUNTHOST");
	domains_punt(old, "FORCEPUNT");
	domains_say(old, localnames);
	virtual_read(old);
	senders_read(old);
	lists_read(old);
	routes_read(old, "routes");
	databases_others(old);
}
