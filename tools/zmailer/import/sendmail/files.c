/* files.c - the files beside sendmail.mc, as text
 *
 * In     maps' definitions, paths
 * Out    entries; files that nothing names
 * Holds  nothing
 * Trusts no entry, and reads no database: the text that makemap(8) read
 * Spec   cf/README of sendmail; makemap(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

const char *
sendmail_path(struct sendmail *mail, struct sendmail_row *row,
    struct slice definition, const char *preset)
{
	struct slice rest = sendmail_filled(mail, definition), word;
	struct slice path = SLICE("");

	while (slice_word(&rest, &word))
		path = word;
	if (definition.n == 0)
		path = slice_of(preset);
	if (path.n == 0 || path.p[0] != '/' ||
	    slice_starts(definition, "ldap")) {
		sendmail_note(mail, row, IMPORT_MISSING, "\"" SLICE_FMT
		    "\" is no file: write a `table` (zmailer-table(8)) and "
		    "the statement that asks it", SLICE_ARG(definition));
		return NULL;
	}
	if (slice_ends(path, ".db"))
		path.n -= 3;
	return import_file_here(mail->import, path);
}

bool
sendmail_preset_is_there(struct sendmail *mail, const char *path)
{
	const char *here = import_file_here(mail->import, slice_of(path));

	return access(here, F_OK) == 0 && (strcmp(here, path) != 0 ||
	    strncmp(mail->import->dir, "/etc", 4) == 0);
}

bool
sendmail_entries(struct sendmail *mail, struct sendmail_row *row,
    const char *path, struct import_entries *out)
{
	struct slice text;
	struct err err;

	*out = (struct import_entries){ NULL, 0 };
	str_addf(&mail->read, " %s ", import_file_name(mail->import, path));
	if (import_file_take(mail->import->arena, path, &text, &err) != 0) {
		sendmail_note(mail, row, IMPORT_MISSING, "%s: %s%s", path,
		    err.text, access(arena_printf(mail->import->arena,
		    "%s.db", path), F_OK) == 0 ? "; the text that its .db "
		    "was made from is wanted (makemap -u prints it)" :
		    "; put the file there and import again");
		return false;
	}
	import_read_table(mail->import->arena, text, out);
	return true;
}

void
sendmail_entry_note(struct sendmail *mail, const char *path,
    const struct import_entry *entry, enum import_kind kind,
    const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = import_text(mail->import, format, args);
	va_end(args);
	import_row_note(mail->import, path, entry, kind, text);
}

bool
sendmail_names(struct sendmail *mail, struct sendmail_row *row,
    const char *path, struct import_entries *out)
{
	if (!sendmail_entries(mail, row, path, out))
		return false;
	for (size_t i = 0; i < out->count; i++)
		if (out->rows[i].value.n > 0)
			sendmail_entry_note(mail, path, &out->rows[i],
			    IMPORT_MISSING, "one name a line, and no blank "
			    "in front of it: what comes after the first is "
			    "not read");
	return true;
}

void
sendmail_files_end(struct sendmail *mail)
{
	static const struct { const char *name, *text; } rows[] = {
		{ "local-host-names", "no FEATURE(`use_cw_file') names it" },
		{ "relay-domains", "nothing names it" },
		{ "access", "no FEATURE(`access_db') names it" },
		{ "mailertable", "no FEATURE(`mailertable') names it" },
		{ "virtusertable", "no FEATURE(`virtusertable') names it" },
		{ "genericstable", "no FEATURE(`genericstable') names it" },
		{ "generics-domains", "no GENERICS_DOMAIN_FILE names it" },
		{ "domaintable", "no FEATURE(`domaintable') names it" },
		{ "trusted-users", "sendmail(1) asks nobody whether -f may "
		    "be said: who logged in or submitted is noted" },
		{ "authinfo", "no FEATURE(`authinfo') names it" },
		{ "aliases", "no map of aliases has this path" },
		{ "submit.mc", "sendmail(1) here needs no daemon to submit "
		    "to" },
		{ "sendmail.cf", "sendmail.mc says what is in it; lines that "
		    "were changed in it by hand are not seen" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct import_item item = { .file = rows[i].name,
			.name = rows[i].name, .value = "" };
		const char *path = arena_printf(mail->import->arena, "%s/%s",
		    mail->import->dir, rows[i].name);

		if (access(path, F_OK) == 0 && strstr(mail->read.buf,
		    arena_printf(mail->import->arena, " %s ",
		    rows[i].name)) == NULL)
			import_item_note(mail->import, &item,
			    IMPORT_NOT_NEEDED, "%s", rows[i].text);
	}
}
