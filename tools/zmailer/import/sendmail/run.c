/* run.c - sendmail.mc is read from beginning to end
 *
 * In     sendmail.mc, what it includes and names
 * Out    a struct import that is ready to be laid out
 * Holds  nothing
 * Spec   cf/README of sendmail; zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

enum { SENDMAIL_ROWS_MAX = 5000, SENDMAIL_INCLUDES_MAX = 10,
	SENDMAIL_FILE_BYTES_MAX = 1 << 20 };

static int sendmail_file_read(struct sendmail *mail, const char *path,
    int depth, struct err *err);

/* ---- rows --------------------------------------------------------------- */

/* Its arguments as they are printed. */
static const char *
row_value(struct sendmail *mail, const struct sendmail_call *call)
{
	struct str text = STR_INIT;
	const char *out;

	for (size_t i = 0; i < call->count; i++) {
		str_adds(&text, i > 0 ? ", " : "");
		str_add_slice(&text, slice_trim(call->arguments[i]));
	}
	out = slice_dup(mail->import->arena, str_slice(&text));
	str_release(&text);
	return out;
}

/* returns NULL: there are too many */
static struct sendmail_row *
call_keep(struct sendmail *mail, const char *file,
    const struct sendmail_call *call)
{
	struct sendmail_row *row = &mail->rows[mail->count];

	if (mail->count == SENDMAIL_ROWS_MAX)
		return NULL;
	*row = (struct sendmail_row){
		.item = { .file = file, .line = call->line,
		    .name = slice_dup(mail->import->arena, slice_first(
		    call->name, 200)), .value = row_value(mail, call) },
		.arguments = call->arguments, .count = call->count,
		.is_text = call->is_text
	};
	mail->count++;
	return row;
}

/* A file that is included, if it exists, is read at that place. */
static void
row_include(struct sendmail *mail, struct sendmail_row *row, int depth)
{
	struct slice path = sendmail_argument(row, 0);
	const char *here = import_file_here(mail->import, path);
	struct err err;

	if (access(here, F_OK) != 0 || slice_ends(path, "/cf.m4"))
		return;
	if (depth >= SENDMAIL_INCLUDES_MAX)
		sendmail_note(mail, row, IMPORT_MISSING,
		    "includes go deeper than %d", SENDMAIL_INCLUDES_MAX);
	else if (sendmail_file_read(mail, here, depth + 1, &err) != 0)
		sendmail_note(mail, row, IMPORT_MISSING, "%s: %s", here,
		    err.text);
	else
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "its calls are told by themselves");
}

static void
call_read(struct sendmail *mail, const char *file,
    const struct sendmail_call *call, int depth)
{
	struct sendmail_row *row = call_keep(mail, file, call), none;

	if (row == NULL) {
		none = (struct sendmail_row){ .item = { .file = file,
			.line = call->line, .name = "sendmail.mc",
			.value = "" } };
		sendmail_note(mail, &none, IMPORT_MISSING,
		    "more than %d calls", SENDMAIL_ROWS_MAX);
	} else if (call->wrong != NULL) {
		sendmail_note(mail, row, IMPORT_MISSING, "%s", call->wrong);
		row->item.name = "";
		row->count = 0;
	} else if (slice_is(call->name, "include") ||
	    slice_is(call->name, "sinclude"))
		row_include(mail, row, depth);
}

static int
sendmail_file_read(struct sendmail *mail, const char *path, int depth,
    struct err *err)
{
	struct sendmail_reader reader = { .line = 0 };
	struct sendmail_call call;
	const char *file = import_file_name(mail->import, path);

	if (import_file_take(mail->import->arena, path, &reader.rest, err) !=
	    0)
		return -1;
	if (reader.rest.n > SENDMAIL_FILE_BYTES_MAX)
		return err_set(err, "it is larger than 1 MB");
	while (sendmail_next(mail->import->arena, &reader, &call))
		call_read(mail, file, &call, depth);
	return 0;
}

/* ---- the whole ---------------------------------------------------------- */

/* Addresses become others in this order: the first that knows one counts. */
static void
sendmail_addresses(struct sendmail *mail)
{
	struct sendmail_row *row = sendmail_row_of(mail, "FEATURE",
	    "domaintable");

	if (row != NULL)
		sendmail_domaintable(mail, row);
	row = sendmail_row_of(mail, "FEATURE", "genericstable");
	if (row != NULL)
		sendmail_genericstable(mail, row);
	sendmail_masquerade(mail);
}

static void
sendmail_visit(struct sendmail *mail)
{
	struct sendmail_row preset = { .item = { .file =
		mail->import->order[0], .name = "FEATURE", .value =
		"no accept_unresolvable_domains" } };

	sendmail_host(mail);
	sendmail_listen(mail);
	sendmail_domains(mail);
	sendmail_addresses(mail);
	if (!sendmail_has(mail, "accept_unresolvable_domains"))
		sendmail_say(mail, &preset, IMPORT_RULES,
		    "defer sender-unknown");
	for (size_t i = 0; i < mail->count; i++)
		if (mail->rows[i].item.name[0] != '\0')
			sendmail_call_visit(mail, &mail->rows[i]);
	if (sendmail_row_of(mail, "define", "confCR_FILE") != NULL)
		sendmail_relay_file(mail, sendmail_row_of(mail, "define",
		    "confCR_FILE"));
	else
		sendmail_relay_file(mail, NULL);
	sendmail_passwords_end(mail);
	sendmail_files_end(mail);
}

/* The first file, and where the copy of their directory is.
 * returns 0, or -1: only what m4 made is there */
static int
sendmail_where(struct import *import, const char *path, struct err *err)
{
	static const char *const homes[] = { "/etc/mail/", "/etc/", NULL };
	const char **order = arena_alloc(import->arena, 2 * sizeof(*order));
	struct stat status;
	const char *made = path;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		made = arena_printf(import->arena, "%s/sendmail.cf", path);
		path = arena_printf(import->arena, "%s/sendmail.mc", path);
	}
	import->file = path;
	import->dir = arena_dup(import->arena, path, (size_t)(strrchr(path,
	    '/') - path));
	import->homes = homes;
	order[0] = import_file_name(import, path);
	order[1] = NULL;
	import->order = order;
	if (slice_ends(slice_of(made), ".cf") && access(made, F_OK) == 0 &&
	    (made == path || access(path, F_OK) != 0))
		return err_set(err, "%s is what m4 made of a .mc file, and is "
		    "not read: its first lines say which one and where; put "
		    "that beside as sendmail.mc, or write one (cf/README of "
		    "sendmail), and import again", made);
	return 0;
}

int
import_sendmail(struct import *import, const char *path, struct err *err)
{
	struct sendmail *mail = arena_alloc(import->arena, sizeof(*mail));

	*mail = (struct sendmail){ .import = import, .domains = STR_INIT,
		.read = STR_INIT, .passwords = STR_INIT };
	mail->rows = arena_alloc(import->arena, SENDMAIL_ROWS_MAX *
	    sizeof(*mail->rows));
	if (sendmail_where(import, path, err) != 0)
		return -1;
	str_addf(&mail->read, " %s ", import->order[0]);
	if (sendmail_file_read(mail, import->file, 0, err) != 0)
		return err_prefix(err, "%s", import->file);
	sendmail_visit(mail);
	str_release(&mail->domains);
	str_release(&mail->read);
	str_release(&mail->passwords);
	return 0;
}
