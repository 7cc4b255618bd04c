/* run.c - a ZMailer 2.99 is read from beginning to end
 *
 * In     zmailer.conf, mail.conf and files below MAILSHARE and MAILVAR
 * Out    a struct import that is ready to be laid out
 * Holds  nothing
 * Spec   the manual of ZMailer 2.99.57; zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "tools/zmailer/import/ancestor/ancestor.h"

#include "base/banned.h"

enum { ANCESTOR_DEPTH_MAX = 10, ANCESTOR_VALUE_MAX = 4096 };

struct import_item *
ancestor_item(struct ancestor *old, const char *name)
{
	for (size_t i = old->count; i-- > 0;)
		if (strcmp(old->items[i].name, name) == 0)
			return &old->items[i];
	return NULL;
}

/* $NAME or ${NAME} at the front.  returns its bytes; 0: there is none */
static size_t
variable_cut(struct slice text, struct slice *out_name)
{
	bool is_brace = slice_starts(text, "${");
	size_t n = is_brace ? 2 : 1, begin = n;

	while (n < text.n && (ascii_is_alnum(text.p[n]) || text.p[n] == '_'))
		n++;
	*out_name = (struct slice){ text.p + begin, n - begin };
	if (is_brace && (n == text.n || text.p[n] != '}'))
		return 0;
	return out_name->n == 0 ? 0 : n + is_brace;
}

struct slice
ancestor_filled(struct ancestor *old, struct slice value)
{
	struct arena *arena = old->import->arena;
	bool is_found = true;

	for (int depth = 0; depth < ANCESTOR_DEPTH_MAX && is_found &&
	    value.n < ANCESTOR_VALUE_MAX; depth++) {
		struct str out = STR_INIT;
		struct slice rest = value, name;

		is_found = false;
		while (rest.n > 0) {
			size_t n = rest.p[0] == '$' ? variable_cut(rest,
			    &name) : 0;
			struct import_item *item = n == 0 ? NULL :
			    ancestor_item(old, slice_dup(arena, name));

			is_found |= item != NULL;
			if (item != NULL)
				str_adds(&out, item->value);
			else
				str_add_slice(&out, slice_first(rest, n > 0 ?
				    n : 1));
			rest = slice_from(rest, n > 0 ? n : 1);
		}
		value = slice_copy(arena, str_slice(&out));
		str_release(&out);
	}
	return value;
}

struct slice
ancestor_value(struct ancestor *old, const char *name)
{
	struct import_item *item = ancestor_item(old, name);

	return item == NULL ? SLICE("") : ancestor_filled(old, slice_of(
	    item->value));
}

/* ---- files -------------------------------------------------------------- */

static int
ancestor_file_read(struct ancestor *old, const char *path, struct err *err)
{
	struct import *import = old->import;
	struct ancestor_lines lines = { .line = 0 };
	struct ancestor_line line;

	if (import_file_take(import->arena, path, &lines.rest, err) != 0)
		return -1;
	while (ancestor_assignment_next(import->arena, &lines, &line)) {
		struct import_item item = import_item_at(import, path,
		    line.line, line.name, line.value);

		if (line.wrong != NULL)
			import_item_note(import, &item, IMPORT_MISSING, "%s",
			    line.wrong);
		else if (slice_is(line.name, "export"))
			import_item_note(import, &item, IMPORT_NOT_NEEDED,
			    "programs here need no variables");
		else if (old->count == ANCESTOR_ITEMS_MAX)
			import_item_note(import, &item, IMPORT_MISSING,
			    "more than %d variables", ANCESTOR_ITEMS_MAX);
		else
			old->items[old->count++] = item;
	}
	return 0;
}

/* In a copy, their file may be beside zmailer.conf. */
static void
ancestor_homes(struct ancestor *old)
{
	static const char *const presets[] = { "/opt/mail/", "/etc/zmailer/",
		"/var/lib/zmailer/", "/usr/share/zmailer/", "/etc/", NULL };
	const char **homes = arena_alloc(old->import->arena, 8 *
	    sizeof(*homes));
	struct slice share = ancestor_value(old, "MAILSHARE");
	struct slice var = ancestor_value(old, "MAILVAR");
	size_t n = 0;

	old->share = share.n > 0 ? slice_dup(old->import->arena, share) :
	    "/opt/mail";
	old->var = var.n > 0 ? slice_dup(old->import->arena, var) :
	    old->share;
	homes[n++] = arena_printf(old->import->arena, "%s/", old->var);
	homes[n++] = arena_printf(old->import->arena, "%s/", old->share);
	for (size_t i = 0; presets[i] != NULL; i++)
		homes[n++] = presets[i];
	homes[n] = NULL;
	old->import->homes = homes;
}

bool
ancestor_entries(struct ancestor *old, const char *name,
    struct import_entries *out, const char **out_path)
{
	struct slice text;

	*out_path = import_file_here(old->import, slice_of(arena_printf(
	    old->import->arena, "%s/db/%s", old->var, name)));
	*out = (struct import_entries){ NULL, 0 };
	if (import_file_take(old->import->arena, *out_path, &text, NULL) !=
	    0)
		return false;
	import_read_table(old->import->arena, text, out);
	return true;
}

/* Files that say more than is read here. */
static void
ancestor_others(struct ancestor *old)
{
	static const struct import_told rows[] = {
		{ "router.cf", IMPORT_DIFFERS, "a script: it is not run; what "
		    "you wrote there yourself has to be written as domain, "
		    "virtual, routes and so on (zmailer help)" },
		{ "cf", IMPORT_DIFFERS, "scripts: they are not run; see "
		    "router.cf" },
		{ "sm.conf", IMPORT_DIFFERS, "the same form is read here: put "
		    "it beside zmailer.conf, and `route PATTERN via sm "
		    "MAILER/HOST` (zmailer-sm(8))" },
		{ "smtp-tls.conf", IMPORT_DIFFERS, "write `tls-to PATTERN "
		    "LEVEL cert FILE key FILE`" },
		{ "scheduler.auth", IMPORT_NOT_NEEDED, "who may see and "
		    "change the queue is said by accounts (zmailer-setup(8))" },
		{ "forms", IMPORT_DIFFERS, "reports have forms of their "
		    "own" },
		{ "db/dbases.conf", IMPORT_NOT_NEEDED, "the text of its "
		    "databases is read" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct import_item item = { .file = rows[i].name, .name =
		    rows[i].name, .value = "" };

		if (access(arena_printf(old->import->arena, "%s/%s",
		    old->import->dir, rows[i].name), F_OK) == 0)
			import_item_note(old->import, &item, rows[i].kind,
			    "%s", rows[i].text);
	}
}

/* hostname= of mail.conf. */
static void
ancestor_host(struct ancestor *old)
{
	struct import_item *item = ancestor_item(old, "hostname");
	const char *name = item == NULL ? NULL : import_domain(old->import,
	    ancestor_value(old, "hostname"));

	if (name == NULL) {
		old->host = import_host_say(old->import);
		return;
	}
	old->host = name;
	import_item_taken(old->import, item, import_say(old->import,
	    IMPORT_SITE, "", "host %s", name));
}

/* The first file, and in which order they are told. */
static void
ancestor_where(struct import *import, const char *path)
{
	static const char *const order[] = { "zmailer.conf", "mail.conf",
		"smtpserver.conf", "scheduler.conf", "router.cf", NULL };
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		path = arena_printf(import->arena, "%s/zmailer.conf", path);
	import->file = path;
	import->dir = arena_dup(import->arena, path, (size_t)(strrchr(path,
	    '/') - path));
	import->order = order;
}

int
import_zmailer(struct import *import, const char *path, struct err *err)
{
	struct ancestor *old = arena_alloc(import->arena, sizeof(*old));

	memset(old, 0, sizeof(*old));
	old->import = import;
	str_init(&old->aliases);
	str_init(&old->domains);
	ancestor_where(import, path);
	if (ancestor_file_read(old, import->file, err) != 0)
		return err_prefix(err, "%s", import->file);
	ancestor_homes(old);
	(void)ancestor_file_read(old, import_file_here(import, slice_of(
	    arena_printf(import->arena, "%s/mail.conf", old->var))), NULL);
	ancestor_host(old);
	ancestor_smtpserver(old);
	ancestor_databases(old);
	ancestor_policy(old);
	ancestor_scheduler(old);
	ancestor_variables(old);
	ancestor_others(old);
	str_release(&old->aliases);
	str_release(&old->domains);
	return 0;
}
