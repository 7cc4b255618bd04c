/* edit.c - route, tls-to, auth-to and the table of passwords
 *
 * In     what is wanted
 * Out    edited texts of the main file and the table of passwords
 * Trusts no statement in another file: a person wrote that
 * Spec   zmailer-smarthost(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>
#include <unistd.h>

#include "tools/zmailer/smarthost/smarthost.h"

#include "base/banned.h"

#define SECRETS_TABLE "smarthost-login"
#define SECRETS_FILE "smarthost.secret"

/* ---- reading ----------------------------------------------------------- */

const struct conf_route *
smarthost_route(const struct conf *conf)
{
	for (size_t i = 0; i < conf->route_count; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->table == NULL && route->sender == NULL &&
		    route->user == NULL && strcmp(route->pattern, "*") == 0)
			return route;
	}
	return NULL;
}

const char *
smarthost_name(struct arena *arena, const char *target)
{
	struct slice name = slice_of(target);
	size_t end;

	if (slice_starts(name, "smtps:"))
		name = slice_from(name, 6);
	if (slice_starts(name, "[")) {
		name = slice_from(name, 1);
		end = slice_find(name, ']');
		if (end == name.n)
			return NULL;
	} else {
		end = slice_find(name, ':');
	}
	name = slice_first(name, end);
	if (name.n == 0 || name.n >= SMARTHOST_NAME_BYTES)
		return NULL;
	return slice_lower(arena, name).p;
}

/* ---- the main file ----------------------------------------------------- */

/* The first statement of these two words, or NULL; pieces are fresh. */
static struct conf_piece *
piece_find(struct change *change, struct str *text, const char *verb,
    const char *second)
{
	struct conf_piece *pieces;
	size_t count = conf_pieces(change->arena, str_slice(text), &pieces);

	for (size_t i = 0; i < count; i++)
		if (conf_piece_is(&pieces[i], 0, verb) &&
		    (second == NULL || conf_piece_is(&pieces[i], 1, second)))
			return &pieces[i];
	return NULL;
}

/* `route * via ...` and nothing between. */
static struct conf_piece *
route_find(struct change *change, struct str *text)
{
	struct conf_piece *pieces;
	size_t count = conf_pieces(change->arena, str_slice(text), &pieces);

	for (size_t i = 0; i < count; i++)
		if (conf_piece_is(&pieces[i], 0, "route") &&
		    conf_piece_is(&pieces[i], 1, "*") &&
		    conf_piece_is(&pieces[i], 2, "via"))
			return &pieces[i];
	return NULL;
}

static void
statement_replace(struct str *text, struct conf_piece *old, const char *line)
{
	conf_put_after(text, old, line);	/* old's bytes stand before */
	conf_take_piece(text, old);
}

/* The last of routes, as the first that fits wins. */
static int
route_put(struct change *change, struct str *text,
    const struct smarthost *host)
{
	static const char *const words[] = { "route", "routes", NULL };
	struct conf_piece *old = route_find(change, text);
	const struct conf_route *now = smarthost_route(change->conf);
	const char *line = arena_printf(change->arena, "route * via %s\n",
	    host->target);

	if (old != NULL) {
		statement_replace(text, old, line);
		return EX_OK;
	}
	if (now != NULL && now->at.file != NULL) {
		fprintf(stderr, "zmailer: smarthost: %s:%u says where all "
		    "other mail goes; take that out first\n", now->at.file,
		    now->at.line);
		return EX_CONFIG;
	}
	conf_put_after_last(change->arena, text, words, line);
	return EX_OK;
}

/* In front of the others, as the first that fits wins. */
static void
tls_put(struct change *change, struct str *text,
    const struct smarthost *host)
{
	struct conf_piece *piece = piece_find(change, text, "tls-to",
	    host->name);
	struct str line = STR_INIT;

	if (host->level == NULL)
		return;
	str_addf(&line, "tls-to %s %s", host->name, host->level);
	if (host->roots != NULL)
		str_addf(&line, " ca \"%s\"", host->roots);
	str_addc(&line, '\n');
	if (piece != NULL) {
		statement_replace(text, piece, line.buf);
	} else {
		piece = piece_find(change, text, "tls-to", NULL);
		if (piece != NULL)
			conf_put_before(text, piece, line.buf);
		else
			conf_put_last(text, line.buf);
	}
	str_release(&line);
}

/* ---- the table of passwords -------------------------------------------- */

/* The file that auth-to names, or will name; NULL after words. */
static const char *
secrets_path(struct change *change, struct str *text)
{
	const char *name = change->conf->auth_to.table;
	const struct conf_table *table;
	const char *slash, *path;

	if (name != NULL) {
		table = conf_table_find(change->conf, name);
		if (conf_table_file(table) != NULL)
			return conf_table_file(table);
		fprintf(stderr, "zmailer: smarthost: auth-to <%s> is no text "
		    "file; write the login for this host there yourself, and "
		    "say no --user\n", name);
		return NULL;
	}
	slash = strrchr(change->conf_path, '/');
	path = slash == NULL ? SECRETS_FILE : arena_printf(change->arena,
	    "%.*s/" SECRETS_FILE, (int)(slash - change->conf_path),
	    change->conf_path);
	if (text != NULL)
		conf_put_last(text, arena_printf(change->arena, "table "
		    SECRETS_TABLE " \"file:%s\"\nauth-to <" SECRETS_TABLE
		    ">\n", path));
	return path;
}

/* Take the line of a host out of the table. */
static void
secret_take(struct str *table, const char *name)
{
	struct slice rest = str_slice(table), line;
	struct str kept = STR_INIT;

	while (rest.n > 0) {
		size_t n = slice_find(rest, '\n');
		struct slice words, key = { "", 0 };

		line = slice_first(rest, n < rest.n ? n + 1 : n);
		rest = slice_from(rest, line.n);
		words = line;
		if (slice_word(&words, &key) && slice_is_nocase(key, name))
			continue;
		str_add_slice(&kept, line);
	}
	str_reset(table);
	str_add_slice(table, str_slice(&kept));
	if (kept.cap > 0)
		explicit_bzero(kept.buf, kept.cap);
	str_release(&kept);
}

/* The host that is to be replaced, when it is another; or NULL. */
static const char *
smarthost_before(struct change *change, const struct smarthost *host)
{
	const struct conf_route *route = smarthost_route(change->conf);
	const char *name = route == NULL || route->host == NULL ||
	    route->host[0] == '\0' ? NULL :
	    smarthost_name(change->arena, route->host);

	return name != NULL && strcasecmp(name, host->name) != 0 ? name : NULL;
}

static int
secret_put(struct change *change, struct str *text,
    const struct smarthost *host)
{
	const char *path;
	struct str *table;

	if (host->user == NULL)
		return EX_OK;
	path = secrets_path(change, text);
	if (path == NULL)
		return EX_CONFIG;
	table = change_file(change, path, true, 0600);
	if (table == NULL)
		return EX_NOINPUT;
	change->files[change->file_count - 1].is_secret = true;
	change->files[change->file_count - 1].account =
	    change->conf->accounts[ROLE_AGENT];
	secret_take(table, host->name);
	if (smarthost_before(change, host) != NULL)
		secret_take(table, smarthost_before(change, host));
	if (table->len > 0 && table->buf[table->len - 1] != '\n')
		str_addc(table, '\n');
	str_addf(table, "%s %s %s\n", host->name, host->user, host->password);
	return EX_OK;
}

static bool
secrets_are_there(const struct str *table)
{
	struct slice rest = str_slice(table), line, word;

	while (slice_cut(&rest, '\n', &line))
		if (slice_word(&line, &word) && word.p[0] != '#')
			return true;
	return false;
}

static void
login_statement_take(struct change *change, struct str *text, const char *verb,
    const char *second)
{
	struct conf_piece *piece = piece_find(change, text, verb, second);

	if (piece != NULL)
		conf_take_piece(text, piece);
}

/* Take out the login of a host, and what names the table when it was the last
 * one there.  A table of another name is the site's own. */
static void
smarthost_login_take(struct change *change, struct str *text, const char *name)
{
	const char *path, *called = change->conf->auth_to.table;
	struct change_file *file;
	struct str *table;

	if (called == NULL)
		return;
	path = secrets_path(change, NULL);
	table = path == NULL || access(path, F_OK) != 0 ? NULL :
	    change_file(change, path, true, 0);
	if (table == NULL)
		return;		/* it is kept elsewhere: theirs */
	file = &change->files[change->file_count - 1];
	file->is_secret = true;
	file->mode = 0600;
	file->account = change->conf->accounts[ROLE_AGENT];
	secret_take(table, name);
	/* a table of its own goes with the last login in it */
	file->goes_empty = strcmp(called, SECRETS_TABLE) == 0;
	if (strcmp(called, SECRETS_TABLE) != 0 || secrets_are_there(table))
		return;
	login_statement_take(change, text, "auth-to", NULL);
	login_statement_take(change, text, "table", SECRETS_TABLE);
}

/* ---- both -------------------------------------------------------------- */

int
smarthost_edit(struct change *change, const struct smarthost *host)
{
	struct str *text = change_main(change);
	const char *before = smarthost_before(change, host);
	int status;

	if (text == NULL)
		return EX_NOINPUT;
	if (before != NULL && host->user == NULL)
		smarthost_login_take(change, text, before);
	status = route_put(change, text, host);
	if (status == EX_OK)
		tls_put(change, text, host);
	return status == EX_OK ? secret_put(change, text, host) : status;
}

int
smarthost_take(struct change *change, const char *name)
{
	struct str *text = change_main(change);
	struct conf_piece *piece;

	if (text == NULL)
		return EX_NOINPUT;
	piece = route_find(change, text);
	if (piece == NULL) {
		fprintf(stderr, "zmailer: smarthost: %s has no such route; "
		    "zmailer smarthost show says where it stands\n",
		    change->conf_path);
		return 1;
	}
	conf_take_piece(text, piece);
	piece = piece_find(change, text, "tls-to", name);
	if (piece != NULL)
		conf_take_piece(text, piece);
	smarthost_login_take(change, text, name);
	return EX_OK;
}
