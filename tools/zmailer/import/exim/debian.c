/* debian.c - Exim as Debian's update-exim4.conf.conf sets it up
 *
 * In     update-exim4.conf.conf; passwd.client, aliases and mailname beside it
 * Out    a struct import that is ready to be laid out
 * Holds  nothing
 * Trusts no value: each is a word that could stand in a statement, or missing
 * Spec   update-exim4.conf(8), exim4_passwd_client(5); zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grammar/net.h"
#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

static const char exim_conf[] = "update-exim4.conf.conf";

enum { EXIM_ITEMS_MAX = 200 };
struct exim {
	struct import		*import;
	struct import_item	 items[EXIM_ITEMS_MAX];
	size_t			 count;
	const char		*host, *relays[10];
	size_t			 relay_count;
};

/* The item of that name, of several the last; NULL: none. */
static struct import_item *
exim_item(struct exim *exim, const char *name)
{
	for (size_t i = exim->count; i-- > 0;)
		if (strcmp(exim->items[i].name, name) == 0)
			return &exim->items[i];
	return NULL;
}

/* The next of a list with ; (or : if it has no ;); false: there is none. */
static bool
exim_list_next(struct slice *rest, char mark, struct slice *out)
{
	while (rest->n > 0 && slice_cut(rest, mark, out)) {
		*out = slice_trim(*out);
		if (out->n > 0)
			return true;
	}
	return false;
}

static void
exim_domains(struct exim *exim, struct import_item *item)
{
	static const char from[] = "/etc/aliases";
	const char *path = import_file_here(exim->import, slice_of(from));
	struct slice rest = slice_of(item->value), word, text;
	struct import_entries entries = { NULL, 0 };
	struct str names = STR_INIT, rows = STR_INIT;
	const char *name, *table = import_no_aliases_say(exim->import);

	if (import_file_take(exim->import->arena, path, &text, NULL) == 0) {
		import_read_table(exim->import->arena, text, &entries);
		for (size_t i = 0; i < entries.count; i++)
			str_addf(&rows, SLICE_FMT ": " SLICE_FMT "\n",
			    SLICE_ARG(entries.rows[i].key),
			    SLICE_ARG(entries.rows[i].value));
		table = arena_printf(exim->import->arena, "<%s>",
		    import_table_add(exim->import, "", "file", "aliases",
		    &rows, IMPORT_EVERYBODY));
	}
	while (exim_list_next(&rest, strchr(item->value, ';') ? ';' : ':',
	    &word)) {
		name = import_domain(exim->import, word);
		if (name == NULL)
			import_item_note(exim->import, item, IMPORT_MISSING,
			    SLICE_FMT ": it is no name of a domain",
			    SLICE_ARG(word));
		else if (strcmp(name, exim->host) != 0 &&
		    strcmp(name, "localhost") != 0)
			str_addf(&names, " %s", name);
	}
	import_item_taken(exim->import, item, import_say(exim->import,
	    IMPORT_DOMAINS, "", "domain %s localhost%s { aliases %s }",
	    exim->host, names.buf, table));
	str_release(&names);
	str_release(&rows);
}

/* ADDRESS or ADDRESS.PORT. */
static void
exim_listen(struct exim *exim, struct import_item *item)
{
	struct slice rest = slice_of(item->value), word;
	struct net net;

	if (item->value[0] == '\0')
		import_item_taken(exim->import, item, import_say(
		    exim->import, IMPORT_LISTEN, "", "listen 25"));
	while (exim_list_next(&rest, ';', &word)) {
		if (net_parse(word, &net, NULL) != 0 ||
		    slice_find(word, '/') < word.n) {
			import_item_note(exim->import, item, IMPORT_MISSING,
			    SLICE_FMT ": write `listen ADDRESS:PORT`",
			    SLICE_ARG(word));
			continue;
		}
		import_item_taken(exim->import, item, import_say(
		    exim->import, IMPORT_LISTEN, "", slice_find(word, ':') <
		    word.n ? "listen [" SLICE_FMT "]:25" : "listen "
		    SLICE_FMT ":25", SLICE_ARG(word)));
	}
}

static void
exim_relaying(struct exim *exim, struct import_item *item)
{
	bool is_nets = strcmp(item->name, "dc_relay_nets") == 0;
	struct slice rest = slice_of(item->value), word;
	const char *name;
	struct net net;

	while (exim_list_next(&rest, is_nets || strchr(item->value, ';') ?
	    ';' : ':', &word)) {
		name = is_nets ? import_word(exim->import, word) :
		    import_domain(exim->import, word);
		if (name == NULL || (is_nets && net_parse(word, &net, NULL) !=
		    0))
			import_item_note(exim->import, item, IMPORT_MISSING,
			    SLICE_FMT ": write `accept %s for any`",
			    SLICE_ARG(word), is_nets ? "from NET" :
			    "to PATTERN");
		else
			import_item_taken(exim->import, item, import_say(
			    exim->import, IMPORT_RELAYING, "", is_nets ?
			    "accept from %s for any" : "accept to @%s for any",
			    name));
	}
}

/* HOST or HOST::PORT, several with ; between. */
static void
exim_smarthost(struct exim *exim, struct import_item *item)
{
	struct slice rest = slice_of(item->value), word, port;
	struct str via = STR_INIT;
	uint64_t number;

	while (exim->relay_count < 10 && exim_list_next(&rest, ';', &word)) {
		size_t at = slice_find(word, ':');
		const char *host = import_domain(exim->import,
		    slice_first(word, at));

		port = slice_from(word, at);
		while (slice_starts(port, ":"))
			port = slice_from(port, 1);
		if (at == word.n)
			port = SLICE("25");
		if (host == NULL || host[0] == '.' ||
		    !slice_number(port, 1, 65535, &number)) {
			import_item_note(exim->import, item, IMPORT_MISSING,
			    SLICE_FMT ": write `route * via HOST:PORT`",
			    SLICE_ARG(word));
			continue;
		}
		exim->relays[exim->relay_count++] = host;
		str_addf(&via, "%s%s:%llu", via.len > 0 ? " else " : "", host,
		    (unsigned long long)number);
	}
	if (via.len > 0)
		import_item_taken(exim->import, item, import_say(
		    exim->import, IMPORT_LAST_ROUTES, "", "route * via %s",
		    via.buf));
	str_release(&via);
}

/* What kind of host it is. */
static void
exim_type(struct exim *exim, struct import_item *item)
{
	struct import_item *host = exim_item(exim, "dc_smarthost");
	bool is_relayed = strcmp(item->value, "smarthost") == 0 ||
	    strcmp(item->value, "satellite") == 0;

	if (host != NULL && is_relayed)
		exim_smarthost(exim, host);
	else if (host != NULL)
		import_item_note(exim->import, host, IMPORT_NOT_NEEDED,
		    "this type of configuration has no smart host");
	if (strcmp(item->value, "internet") == 0)
		import_item_taken(exim->import, item, import_say(
		    exim->import, IMPORT_LAST_ROUTES, "", "route * via mx"));
	else if (strcmp(item->value, "local") == 0)
		import_item_taken(exim->import, item, import_say(
		    exim->import, IMPORT_LAST_ROUTES, "", "route * via error "
		    "\"Mailing to remote domains not supported\""));
	else if (strcmp(item->value, "satellite") == 0)
		import_item_note(exim->import, item, IMPORT_MISSING,
		    "mail for users of this host stays here: write `@%s "
		    "@READHOST` into a table, and `virtual <TABLE>`",
		    exim->host);
	else if (strcmp(item->value, "smarthost") == 0)
		import_item_note(exim->import, item, IMPORT_NOT_NEEDED,
		    "dc_smarthost says it");
	else
		import_item_note(exim->import, item, IMPORT_MISSING,
		    "mail is not configured there: zmailer setup");
}

/* Users' addresses elsewhere are not those of this host. */
static void
exim_hide(struct exim *exim, struct import_item *item)
{
	struct import_item *other = exim_item(exim, "dc_readhost");
	const char *name = other == NULL ? NULL : import_domain(exim->import,
	    slice_of(other->value));

	if (strcmp(item->value, "true") != 0 || name == NULL) {
		import_item_note(exim->import, item, IMPORT_NOT_NEEDED,
		    "addresses keep the name of this host");
		return;
	}
	import_say(exim->import, IMPORT_TABLES, "",
	    "table hidden { @%s @%s }", exim->host, name);
	import_item_taken(exim->import, item, import_say(exim->import,
	    IMPORT_ADDRESSES, "", "generic <hidden>"));
	import_item_taken(exim->import, other,
	    (int)exim->import->statement_count - 1);
}

static void
exim_mailbox(struct exim *exim, struct import_item *item)
{
	if (strcmp(item->value, "mail_spool") == 0)
		import_item_taken(exim->import, item, import_say(
		    exim->import, IMPORT_DELIVERY, "",
		    "mailbox mbox /var/mail/{user}"));
	else if (strcmp(item->value, "maildir_home") == 0)
		import_item_taken(exim->import, item, import_say(
		    exim->import, IMPORT_DELIVERY, "",
		    "mailbox maildir {home}/Maildir"));
	else
		import_item_note(exim->import, item, IMPORT_MISSING,
		    "a transport of your own: write `mailbox` or `deliver` "
		    "(zmailer help deliver)");
}

/* ---- HOST:USER:PASSWORD ------------------------------------------------- */

/* * means each smart host.  returns false: it is not such a row */
static bool
exim_password(struct exim *exim, struct slice line, struct str *out)
{
	struct slice rest = line, host, user;

	if (!slice_cut(&rest, ':', &host) || !slice_cut(&rest, ':', &user) ||
	    host.n == 0 || user.n == 0 || rest.n == 0 ||
	    memchr(line.p, ' ', line.n) != NULL)
		return false;
	if (!slice_is(host, "*")) {
		str_addf(out, SLICE_FMT " " SLICE_FMT " " SLICE_FMT "\n",
		    SLICE_ARG(host), SLICE_ARG(user), SLICE_ARG(rest));
		return true;
	}
	for (size_t i = 0; i < exim->relay_count; i++)
		str_addf(out, "%s " SLICE_FMT " " SLICE_FMT "\n",
		    exim->relays[i], SLICE_ARG(user), SLICE_ARG(rest));
	return exim->relay_count > 0;
}

static void
exim_passwords(struct exim *exim)
{
	const char *path = import_file_here(exim->import,
	    SLICE("passwd.client"));
	struct import_item item = { .file = "passwd.client", .name =
	    "passwd.client", .value = "", .line = 1 };
	struct slice text, line;
	struct str rows = STR_INIT;
	struct err err;

	if (access(path, F_OK) != 0)
		return;
	if (import_file_take(exim->import->arena, path, &text, &err) != 0) {
		import_item_note(exim->import, &item, IMPORT_MISSING,
		    "it cannot be read: %s", err.text);
		return;
	}
	for (unsigned number = 1; slice_cut(&text, '\n', &line); number++) {
		line = slice_trim(line);
		item.line = number;
		if (line.n > 0 && memchr(line.p, '\0', line.n) != NULL)
			import_item_note(exim->import, &item, IMPORT_MISSING,
			    "a NUL byte: what stands there is no password");
		else if (line.n > 0 && line.p[0] != '#' &&
		    !exim_password(exim, line, &rows))
			import_item_note(exim->import, &item, IMPORT_MISSING,
			    "no HOST:USER:PASSWORD without blanks: write "
			    "HOST USER PASSWORD into the table of auth-to");
	}
	item.line = 1;
	if (rows.len > 0)
		import_item_taken(exim->import, &item, import_say(
		    exim->import, IMPORT_LAST_ROUTES, "", "auth-to <%s>",
		    import_table_add(exim->import, "", "file", "auth-to",
		    &rows, IMPORT_AGENTS)));
	str_release(&rows);
}

/* ---- the file ----------------------------------------------------------- */

static void
exim_line(struct exim *exim, struct slice line, unsigned number)
{
	struct arena *arena = exim->import->arena;
	size_t at = slice_find(line, '=');
	struct slice value = slice_trim(slice_from(line, at + 1));
	struct import_item item = { .file = exim->import->order[0],
		.line = number, .value = "" };

	if (value.n > 1 && (value.p[0] == '\'' || value.p[0] == '"') &&
	    value.p[value.n - 1] == value.p[0])
		value = (struct slice){ value.p + 1, value.n - 2 };
	item.name = slice_dup(arena, slice_first(line, at));
	item.value = slice_dup(arena, value);
	if (at == line.n || memchr(line.p, '\0', line.n) != NULL)
		import_item_note(exim->import, &item, IMPORT_MISSING,
		    "no NAME='VALUE'");
	else if (exim->count == EXIM_ITEMS_MAX)
		import_item_note(exim->import, &item, IMPORT_MISSING,
		    "more than %d settings", EXIM_ITEMS_MAX);
	else
		exim->items[exim->count++] = item;
}

static void
exim_rest(struct exim *exim, struct import_item *item)
{
	static const char *const needless[] = { "CFILEMODE",
		"dc_use_split_config", "dc_minimaldns", "dc_mailname_in_oh",
		"dc_relay_nets", "dc_relay_domains", "dc_readhost" };

	if (exim_item(exim, item->name) != item) {
		import_item_note(exim->import, item, IMPORT_NOT_NEEDED,
		    "a later line says it again, and the last one counts");
		return;
	}
	for (size_t i = 0; i < sizeof(needless) / sizeof(needless[0]); i++)
		if (strcmp(item->name, needless[i]) == 0) {
			import_item_note(exim->import, item,
			    IMPORT_NOT_NEEDED, item->value[0] == '\0' ?
			    "it is empty" : "no statement here needs it");
			return;
		}
	import_item_note(exim->import, item, IMPORT_MISSING, "not known: see "
	    "update-exim4.conf(8), and `zmailer help`");
}

static void
exim_visit(struct exim *exim)
{
	static const struct { const char *name;
		void (*run)(struct exim *exim, struct import_item *item);
	} rows[] = {
		{ "dc_local_interfaces", exim_listen },
		{ "dc_other_hostnames", exim_domains },
		{ "dc_relay_domains", exim_relaying },
		{ "dc_relay_nets", exim_relaying },
		{ "dc_eximconfig_configtype", exim_type },
		{ "dc_hide_mailname", exim_hide },
		{ "dc_localdelivery", exim_mailbox },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (exim_item(exim, rows[i].name) != NULL)
			rows[i].run(exim, exim_item(exim, rows[i].name));
	exim_passwords(exim);
	for (size_t i = 0; i < exim->count; i++)
		if (!exim->items[i].is_told)
			exim_rest(exim, &exim->items[i]);
}

/* Does it exist, and say something?  Debian's own have only comments. */
static bool
exim_file_says(struct exim *exim, const char *path)
{
	struct slice text, line;
	struct err err;

	if (import_file_take(exim->import->arena, path, &text, &err) != 0)
		return access(path, F_OK) == 0;
	while (slice_cut(&text, '\n', &line)) {
		line = slice_trim(line);
		if (line.n > 0 && line.p[0] != '#')
			return true;
	}
	return false;
}

/* Files that say more than is read here. */
static void
exim_others(struct exim *exim)
{
	static const struct { const char *name, *text; } rows[] = {
		{ "exim4.conf.localmacros", NULL },
		{ "hubbed_hosts", NULL },
		{ "email-addresses", "write `generic <table>`" },
		{ "local_host_blacklist", "write `reject from <table>`" },
		{ "local_sender_blacklist", "write `reject sender <table>`" },
		{ "local_rcpt_callout", "recipients there are not asked for: "
		    "write `domain NAME { users ... }`" },
		{ "local_domain_dnsbl_whitelist", "write a rule before that "
		    "of `dnsbl`" },
		{ "host_local_deny_exceptions", "write `accept from <table>` "
		    "before what rejects" },
		{ "sender_local_deny_exceptions", "write `accept sender "
		    "<table>` before what rejects" },
	};
	struct import_item item = { .file = "conf.d", .name = "conf.d",
		.value = "" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct import_item one = { .file = rows[i].name, .name =
		    rows[i].name, .value = "" };

		if (exim_file_says(exim, import_file_here(exim->import,
		    slice_of(rows[i].name))))
			import_item_note(exim->import, &one, IMPORT_MISSING,
			    "it is not read: %s", rows[i].text != NULL ?
			    rows[i].text : "what you wrote there yourself has "
			    "to be written as domain, route and rules "
			    "(zmailer help)");
	}
	if (access(import_file_here(exim->import, slice_of(item.name)),
	    F_OK) == 0)
		import_item_note(exim->import, &item, IMPORT_DIFFERS, "it is "
		    "not read: what you wrote there yourself has to be written "
		    "as domain, route and rules (zmailer help)");
}

/* Of a directory the first that is there, as Exim of most systems has it;
 * Debian's exim4.conf counts before what makes one. */
static const char *
exim_first(struct import *import, const char *path)
{
	static const char *const names[] = { "exim4.conf", exim_conf,
		"exim.conf", "configure" };
	struct stat status;
	const char *one;

	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
		return path;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		one = arena_printf(import->arena, "%s/%s", path, names[i]);
		if (access(one, F_OK) == 0)
			return one;
	}
	return arena_printf(import->arena, "%s/%s", path, exim_conf);
}

static int
exim_debian(struct import *import, const char *path, struct err *err)
{
	struct exim *exim = arena_alloc(import->arena, sizeof(*exim));
	struct slice text, line;

	*exim = (struct exim){ .import = import };
	if (import_file_take(import->arena, path, &text, err) != 0)
		return err_prefix(err, "%s", path);
	exim->host = import_host_say(import);
	for (unsigned number = 1; slice_cut(&text, '\n', &line); number++) {
		line = slice_trim(line);
		if (line.n > 0 && line.p[0] != '#')
			exim_line(exim, line, number);
	}
	exim_visit(exim);
	exim_others(exim);
	return 0;
}

int
import_exim(struct import *import, const char *path, struct err *err)
{
	static const char *const homes[] = { "/etc/exim4/", "/etc/exim/",
		"/usr/local/etc/exim/", "/etc/", NULL };
	const char **order = arena_alloc(import->arena, 2 * sizeof(*order));

	path = exim_first(import, path);
	import->file = path;
	import->dir = arena_dup(import->arena, path, (size_t)(strrchr(path,
	    '/') - path));
	import->homes = homes;
	order[0] = import_file_name(import, path);
	order[1] = NULL;
	import->order = order;
	return slice_ends(slice_of(path), exim_conf) ? exim_debian(import,
	    path, err) : import_exim4(import, path, err);
}
