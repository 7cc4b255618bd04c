/* logins.c - who logs in here, and how Exim logs in elsewhere
 *
 * In     authenticators, files of names and passwords
 * Out    auth; auth-to, with a table that only agents can read
 * Holds  nothing
 * Spec   the Exim specification, chapters 33 to 41; exim4_passwd_client(5);
 *        zmailer.conf(5), auth, auth-to
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

/* The look-up somewhere in a condition. */
static bool
login_lookup(struct exim4 *exim, struct slice text, struct exim4_lookup *out)
{
	struct slice from = slice_from(text, slice_find_text(text,
	    SLICE("${lookup")));
	struct slice rest = slice_from(from, 1), inner;

	return from.n > 0 && exim4_brace_cut(&rest, &inner) &&
	    exim4_lookup_cut(exim->import->arena, slice_first(from,
	    (size_t)(inner.p + inner.n - from.p) + 1 + strspn(slice_dup(
	    exim->import->arena, slice_from(from, (size_t)(inner.p + inner.n -
	    from.p))), " \t")), out);
}

/* ---- users of ours ------------------------------------------------------ */

static void
server_say(struct exim4 *exim, struct exim4_driver *driver, const char *how)
{
	exim4_driver_say(exim, driver, IMPORT_LISTEN, "auth %s senders any",
	    how);
	driver->differs = "users may give any sender, as before: `senders "
	    "own` holds them to their own addresses";
}

/* NAME: HASH, or NAME:HASH:... where a field is cut out. */
static const char *
server_table(struct exim4 *exim, const struct exim4_lookup *lookup,
    const char **out_why)
{
	const char *ours = exim4_made(exim, "logins", lookup->place);
	struct import_entries entries;
	struct str rows = STR_INIT;

	if (lookup->is_query)
		return exim4_question(exim, lookup->type, lookup->place,
		    "logins", out_why);
	if (ours != NULL)
		return ours;
	*out_why = "only lsearch, mysql, pgsql and sqlite are read: write "
	    "NAME HASH into a table, and `auth users <TABLE>`";
	if (!slice_ends(lookup->type, "lsearch") ||
	    !exim4_entries(exim, lookup->place, &entries, out_why))
		return NULL;
	for (size_t i = 0; i < entries.count; i++) {
		struct slice hash = slice_trim(slice_first(
		    entries.rows[i].value, slice_find(entries.rows[i].value,
		    ':')));

		if (memchr(hash.p, '\0', hash.n) == NULL && hash.n > 0)
			str_addf(&rows, SLICE_FMT " " SLICE_FMT "\n",
			    SLICE_ARG(entries.rows[i].key), SLICE_ARG(hash));
	}
	ours = arena_printf(exim->import->arena, "<%s>", import_table_add(
	    exim->import, "", "file", "logins", &rows, IMPORT_ROOT));
	exim4_made_put(exim, "logins", lookup->place, ours);
	return ours;
}

static void
server_condition(struct exim4 *exim, struct exim4_driver *driver,
    struct slice condition)
{
	struct exim4_lookup lookup;
	const char *why = "its passwords are compared in a way that is not "
	    "known: write NAME and what `openssl passwd -6` makes of each "
	    "password into a table, and `auth users <TABLE>`", *ours;

	if (slice_find_text(condition, SLICE("saslauthd{")) < condition.n) {
		server_say(exim, driver,
		    "saslauthd unix:/var/run/saslauthd/mux");
		return;
	}
	if (slice_find_text(condition, SLICE("pam{")) < condition.n) {
		server_say(exim, driver, "pam");
		return;
	}
	ours = slice_find_text(condition, SLICE("crypteq")) < condition.n &&
	    login_lookup(exim, condition, &lookup) ? server_table(exim,
	    &lookup, &why) : NULL;
	if (ours != NULL)
		server_say(exim, driver, arena_printf(exim->import->arena,
		    "users %s", ours));
	else
		driver->why = why;
}

/* Where it checks passwords.  returns whether it does */
static bool
login_here(struct exim4 *exim, struct exim4_driver *driver)
{
	struct slice condition = exim4_value(exim, driver,
	    "server_condition");
	struct slice kind = exim4_value(exim, driver, "driver");
	const char *socket = import_word(exim->import, exim4_value(exim,
	    driver, "server_socket"));

	if (slice_is(kind, "dovecot")) {
		if (socket == NULL || socket[0] != '/')
			driver->why = "server_socket: write `auth dovecot "
			    "unix:/PATH`";
		else
			server_say(exim, driver, arena_printf(
			    exim->import->arena, "dovecot unix:%s", socket));
		return true;
	}
	if (slice_is(kind, "plaintext") && condition.n > 0) {
		server_condition(exim, driver, condition);
		return true;
	}
	if (exim4_option(exim, driver, "server_secret") != NULL)
		driver->why = "the server would need the password itself: "
		    "let programs use PLAIN over TLS, and `auth users "
		    "<TABLE>` with hashes";
	return driver->why != NULL;
}

/* ---- elsewhere ---------------------------------------------------------- */

/* A row for that host, and none twice.  returns whether it can be one */
static bool
password_add(struct exim4 *exim, struct slice host, struct slice user,
    struct slice password)
{
	const char *row = arena_printf(exim->import->arena, SLICE_FMT " "
	    SLICE_FMT " " SLICE_FMT "\n", SLICE_ARG(host), SLICE_ARG(user),
	    SLICE_ARG(password));
	struct slice rest = slice_of(row), word;
	int words = 0;

	while (slice_word(&rest, &word))
		words++;
	/* a blank in one would make it another word */
	if (words != 3 || host.n == 0 || user.n == 0 || password.n == 0 ||
	    memchr(password.p, '\0', password.n) != NULL)
		return false;
	if (strstr(exim->passwords.buf, row) == NULL)
		str_adds(&exim->passwords, row);
	return true;
}

/* Has the host a row already?  The first one counts. */
static bool
password_has(const struct exim4 *exim, struct slice host)
{
	struct slice rest = str_slice(&exim->passwords), line;

	while (slice_cut(&rest, '\n', &line))
		if (slice_equal(slice_first(line, slice_find(line, ' ')),
		    host))
			return true;
	return false;
}

/* The same for each host that a route names and that wants one. */
static bool
password_add_all(struct exim4 *exim, struct slice user, struct slice password)
{
	struct slice rest = str_slice(&exim->relays), host;
	bool is_good = exim->relays.len > 0;

	while (is_good && slice_word(&rest, &host))
		if (!password_has(exim, host))
			is_good = password_add(exim, host, user, password);
	return is_good;
}

/* HOST:USER:PASSWORD of a file; * means each host of a route. */
static void
client_file(struct exim4 *exim, struct exim4_driver *driver,
    struct slice path)
{
	const char *here = import_file_here(exim->import, path);
	struct slice text, line, host, user;
	struct import_entry entry = { SLICE("..."), SLICE(""), 0 };
	struct err err;

	if (import_file_take(exim->import->arena, here, &text, &err) != 0) {
		driver->needless = "there is no file of passwords";
		return;
	}
	while (slice_cut(&text, '\n', &line)) {
		bool is_good;

		entry.line++;
		line = slice_trim(line);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		is_good = slice_cut(&line, ':', &host);
		line = slice_trim(line);
		is_good = is_good && slice_cut(&line, ':', &user) &&
		    (slice_is(host, "*") ? password_add_all(exim, user,
		    line) : password_add(exim, host, user, line));
		if (!is_good)
			import_row_note(exim->import, here, &entry,
			    IMPORT_MISSING, "no HOST:USER:PASSWORD without "
			    "blanks: write HOST USER PASSWORD into the table "
			    "of auth-to");
	}
	if (exim->passwords.len == 0)
		driver->needless = "no host has a password in its file";
}

/* "^USER^PASSWORD", ": USER : PASSWORD". */
static bool
client_constant(struct exim4 *exim, struct slice send)
{
	struct slice part[3] = { SLICE(""), SLICE(""), SLICE("") }, rest;
	struct exim4_list list;
	size_t n = 0;

	exim4_list_begin(send, &list);
	while (n < 3 && exim4_list_next(exim->import->arena, &list, &part[n]))
		n++;
	if (n == 1 && slice_starts(part[0], "^")) {
		rest = slice_from(part[0], 1);
		(void)slice_cut(&rest, '^', &part[1]);
		part[2] = rest;
	} else if (n != 3)
		return false;
	return password_add_all(exim, part[1], part[2]);
}

static void
login_elsewhere(struct exim4 *exim, struct exim4_driver *driver)
{
	struct slice send = exim4_value(exim, driver, "client_send");
	struct slice name = exim4_value(exim, driver, "client_name");
	struct slice secret = exim4_value(exim, driver, "client_secret");
	struct slice value = send.n > 0 ? send : secret;
	struct slice from = slice_from(value, slice_find_text(value,
	    SLICE("lsearch{")));
	bool is_constant = slice_find(value, '$') == value.n;

	if (value.n == 0)
		return;
	from = slice_from(from, strlen("lsearch{"));
	if (from.n > 0)
		client_file(exim, driver, slice_first(from, slice_find(from,
		    '}')));
	else if (!is_constant || !(send.n > 0 ? client_constant(exim, send) :
	    password_add_all(exim, name, secret)))
		driver->why = "no transport whose hosts are known logs in "
		    "with it: write HOST USER PASSWORD into a table, and "
		    "`auth-to <TABLE>`";
	if (driver->why == NULL && driver->needless == NULL)
		exim4_driver_say(exim, driver, IMPORT_LAST_ROUTES,
		    "auth-to <auth-to>");
}

void
exim4_logins(struct exim4 *exim)
{
	for (size_t i = 0; i < exim->driver_count; i++) {
		struct exim4_driver *driver = &exim->drivers[i];

		if (driver->section != EXIM4_AUTHENTICATORS)
			continue;
		(void)exim4_option(exim, driver, "public_name");
		if (!login_here(exim, driver))
			login_elsewhere(exim, driver);
		if (driver->statement < 0 && driver->why == NULL &&
		    driver->needless == NULL)
			driver->why = "no authenticator of this kind is known "
			    "here: write `auth` (zmailer help auth)";
	}
	if (exim->passwords.len > 0)
		(void)import_table_add(exim->import, "", "file", "auth-to",
		    &exim->passwords, IMPORT_AGENTS);
}
