/* tables.c - the tables of a configuration are there, and good line by line
 *
 * In     a conf that is right in itself; the files of its tables
 * Out    a complaint for each fault, where it stands in the file
 * Holds  the text of one table at a time
 * Spec   zmailer(8), check; zmailer-table(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/machine/look.h"
#include "daemon/skeleton.h"
#include "base/odd.h"
#include "mail/table/alias_check.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum { PROGRAM_BYTES = 4200 };

enum { LINES_SAID_MAX = 20 };		/* complaints about one table */

static bool
has_peers(const struct conf_peers *peers, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (peers[i].table != NULL &&
		    strcmp(peers[i].table, name) == 0)
			return true;
	return false;
}

/* Is the table asked for networks by some rule? */
static bool
is_of_networks(const struct conf *conf, const char *name)
{
	if (has_peers(conf->trusts, conf->trust_count, name) ||
	    has_peers(conf->withouts, conf->without_count, name))
		return true;
	for (size_t i = 0; i < conf->rule_count; i++)
		if (conf->rules[i].from_table != NULL &&
		    strcmp(conf->rules[i].from_table, name) == 0)
			return true;
	return false;
}

static bool
machine_name_is_among(const char *name, const char *const names[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Are its values aliases? */
static bool
is_of_aliases(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->domain_count; i++)
		if (machine_name_is_among(name, conf->domains[i].aliases,
		    conf->domains[i].alias_count))
			return true;
	return machine_name_is_among(name, conf->virtuals, conf->virtual_count);
}

/* ---- the lines ------------------------------------------------------ */

struct line_look {
	struct machine_table	*place;
	unsigned		 said;
	unsigned		 bad[LINES_SAID_MAX];	/* lines */
	size_t			 bad_count;
};

static const char *
fault_hint(const char *what, bool is_doubt)
{
	static const struct {
		const char	*words, *hint;
	} rows[] = {
		{ "begins with a blank", "delete the blank in front of it" },
		{ "the key is missing", "write KEY VALUE, or delete the "
		    "line" },
		{ "no text file", "name a file of text lines; for a database "
		    "write cdb: or lmdb: in front of its path" },
		{ "has bits after", "write the network, or the address "
		    "without /BITS" },
		{ "is not a network", "write 192.0.2.0/24, 2001:db8::/32 or "
		    "an address" },
		{ "parenthesis", "write the missing one, or \\ in front of "
		    "one that is meant as it is" },
		{ "has no '", "write /PATTERN/ VALUE" },
		{ "written /PATTERN/", "write /PATTERN/ VALUE" },
		{ "too long", "split it" },
	};

	if (is_doubt)
		return "keep one of them";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strstr(what, rows[i].words) != NULL)
			return rows[i].hint;
	return NULL;
}

/* table_fault_fn */
static void
line_complain(void *context, unsigned line, const char *what, bool is_doubt)
{
	struct line_look *lines = context;

	if (!is_doubt && lines->bad_count < LINES_SAID_MAX)
		lines->bad[lines->bad_count++] = line;
	if (lines->said++ < LINES_SAID_MAX)
		machine_tell_line(lines->place, is_doubt ? CONF_WARNING :
		    CONF_ERROR, line, SLICE(""), fault_hint(what, is_doubt),
		    what);
}

static const char *
alias_hint(const char *what)
{
	if (strstr(what, "include") != NULL)
		return "write :include:/DIRECTORY/FILE; mail for it waits in "
		    "deferred/ until then";
	if (strstr(what, "not an address") != NULL)
		return "write a user, user@domain, \"|/PROGRAM\" or "
		    "/FILE; mail for it waits in deferred/ until then";
	return "mend it: mail for it waits in deferred/ until then";
}

/* alias_say_fn */
static void
alias_complain_item(void *context, unsigned line, const char *what)
{
	struct line_look *lines = context;
	struct slice word = SLICE("");
	const char *end = strrchr(what, '\'');

	if (what[0] == '\'')		/* the item is quoted */
		word = (struct slice){ what + 1, (size_t)(end - what) -
		    (end > what) };
	if (lines->said++ < LINES_SAID_MAX)
		machine_tell_line(lines->place, CONF_ERROR, line, word,
		    alias_hint(what), what);
}

/* table_fn: characters that look like others. */
static bool
entry_look(void *context, struct slice key, struct slice value, unsigned line)
{
	struct line_look *lines = context;
	struct odd odd;
	struct slice text = key;
	bool is_odd = odd_find(key, &odd);
	struct err what;

	if (!is_odd) {
		text = value;
		is_odd = odd_find(value, &odd) && odd.kind != ODD_DASH;
	}
	if (!is_odd)
		return true;
	err_set(&what, "%s (U+%04X) stands in this line", odd.name, odd.code);
	while (text.n > 0 && !odd_at(text, &odd))
		text = slice_from(text, 1);
	if (lines->said++ < LINES_SAID_MAX)
		machine_tell_line(lines->place, CONF_WARNING, line,
		    slice_first(text, odd.bytes), odd.mend, what.text);
	return lines->said < LINES_SAID_MAX;
}

/* table_fn: an alias for nobody. */
static bool
alias_look_empty(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct line_look *lines = context;

	if (slice_trim(value).n == 0 && lines->said++ < LINES_SAID_MAX)
		machine_tell_line(lines->place, CONF_WARNING, line, key,
		    "write who gets its mail; /dev/null throws it away",
		    "this alias stands for nobody");
	return lines->said < LINES_SAID_MAX;
}

/* ---- the file ------------------------------------------------------- */

/* Why it cannot be used, said at its statement. */
static void
table_complain(struct machine_look *look, const struct conf_table *entry,
    const char *path, const struct err *err)
{
	struct stat st;
	const char *hint = NULL;

	if (path[0] != '\0' && stat(path, &st) != 0 && errno == ENOENT)
		hint = "make the file, even an empty one, or name another";
	else if (path[0] != '\0' && stat(path, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		hint = "name one file; a directory is no table";
	/* passwords are root's alone: who checks may be somebody else */
	if (geteuid() != 0 && err_is_denied(err))
		machine_tell(look, CONF_WARNING, entry->at, "check it as root",
		    err->text);
	else
		machine_tell(look, CONF_ERROR, entry->at, hint, err->text);
}

/* Is it a secret that root alone should read? */
static const char *
secret_of(const struct conf *conf, const char *name)
{
	if (conf->auth.table != NULL && strcmp(conf->auth.table, name) == 0)
		return "the passwords";
	if (conf->auth_to.table != NULL &&
	    strcmp(conf->auth_to.table, name) == 0)
		return "the secrets";
	return NULL;
}

static void
check_mode(const struct machine_table *place)
{
	struct machine_look *look = place->look;
	const char *secret = secret_of(look->conf, place->entry->name);
	struct stat st;

	if (place->path[0] == '\0' || stat(place->path, &st) != 0)
		return;
	if (secret != NULL && (st.st_mode & S_IROTH) != 0)
		machine_tell(look, CONF_WARNING, place->entry->at,
		    arena_printf(look->arena, "chmod o-r %s", place->path),
		    arena_printf(look->arena, "%s in %s can be read by "
		    "everybody on this machine", secret, place->path));
	if ((st.st_mode & S_IWOTH) != 0)
		machine_tell(look, CONF_WARNING, place->entry->at,
		    arena_printf(look->arena, "chmod o-w %s", place->path),
		    arena_printf(look->arena, "%s can be changed by everybody "
		    "on this machine", place->path));
}

/* The lines that are good, each where it was; NULL: they cannot be told. */
static struct table *
table_of_good_lines(const struct line_look *lines)
{
	const struct machine_table *place = lines->place;
	struct slice rest = str_slice(&place->text), line;
	struct str spec = STR_INIT;
	struct table *table;
	unsigned number = 0;

	if (lines->bad_count == 0 || lines->bad_count == LINES_SAID_MAX ||
	    strcmp(table_kind(place->table), "file") != 0)
		return NULL;
	str_adds(&spec, "inline:");
	while (slice_cut(&rest, '\n', &line)) {
		bool is_bad = memchr(line.p, '\0', line.n) != NULL;

		number++;
		for (size_t i = 0; i < lines->bad_count; i++)
			is_bad = is_bad || lines->bad[i] == number;
		if (!is_bad)
			str_add_slice(&spec, line);
		str_addc(&spec, '\n');
	}
	table = table_new(place->entry->name, spec.buf);
	str_release(&spec);
	return table;
}

static void
check_lines(struct machine_table *place)
{
	struct line_look lines = { .place = place };
	const struct conf *conf = place->look->conf;
	const char *name = place->entry->name;
	struct table *whole = place->table, *good;
	struct err err;

	table_faults(place->table, is_of_networks(conf, name), line_complain,
	    &lines);
	good = table_of_good_lines(&lines);
	if (good != NULL)
		place->table = good;
	(void)table_each(place->table, entry_look, &lines, &err);
	if (is_of_aliases(conf, name)) {
		alias_check(place->table, alias_complain_item, &lines, NULL);
		(void)table_each(place->table, alias_look_empty, &lines, &err);
		machine_check_loops(place, machine_name_is_among(name,
		    conf->virtuals, conf->virtual_count));
	}
	place->table = whole;
	table_free(&good);
}

/* Packages may have it apart. */
static void
check_asking(struct machine_look *look, const struct conf_table *entry)
{
	char path[PROGRAM_BYTES];

	daemon_libexec("tables", path, sizeof(path));
	if (access(path, X_OK) != 0)
		machine_tell(look, CONF_ERROR, entry->at, "install it (Debian: "
		    "the package zmailer-tables)", arena_printf(look->arena,
		    "table %s: the program that asks databases, %s: %s",
		    entry->name, path, strerror(errno)));
}

static void
check_table(struct machine_look *look, const struct conf_table *entry)
{
	static const struct net anything = { .bits = 128 };
	struct table *table = table_new(entry->name, entry->spec);
	struct machine_table place = { .look = look, .entry = entry,
	    .table = table, .path = table_path(table) };
	struct err err, unread;
	size_t said = look->report->errors;
	int result = table_check(table, &err);

	str_init(&place.text);
	if (place.path[0] != '\0')
		(void)conf_read_file(place.path, &place.text, &unread);
	if (result != TABLE_CHECK_BAD &&
	    is_of_networks(look->conf, entry->name) &&
	    table_has_address(table, &anything, NULL, &err) == TABLE_TROUBLE)
		result = TABLE_CHECK_BAD;
	check_lines(&place);
	if (result == TABLE_CHECK_BAD && look->report->errors == said)
		table_complain(look, entry, place.path, &err);
	if (table_is_asked(table))
		check_asking(look, entry);
	if (result != TABLE_CHECK_BAD) {
		machine_check_values(&place);
		machine_check_sign_table(&place);
		check_mode(&place);
	}
	str_release(&place.text);
	table_free(&table);
}

void
machine_check_tables(struct machine_look *look)
{
	for (size_t i = 0; i < look->conf->table_count; i++)
		check_table(look, &look->conf->tables[i]);
}
