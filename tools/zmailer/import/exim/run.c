/* run.c - exim4.conf is read from beginning to end
 *
 * In     exim4.conf, what it includes
 * Out    a struct import that is ready to be laid out
 * Holds  nothing
 * Spec   the Exim specification; zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

enum { EXIM4_INCLUDES_MAX = 10 };

static bool
exim4_file_exists(void *context, struct slice path)
{
	struct exim4 *exim = context;

	return access(import_file_here(exim->import, slice_trim(path)),
	    F_OK) == 0;
}

/* ---- rows --------------------------------------------------------------- */

static const char *
exim4_row_name(struct exim4 *exim, const struct exim4_statement *said)
{
	const char *name = slice_dup(exim->import->arena, slice_first(
	    said->name, 200));

	if (said->verb.n > 0)
		return arena_printf(exim->import->arena, SLICE_FMT "%s%s",
		    SLICE_ARG(said->verb), name[0] != '\0' ? " " : "", name);
	return name;
}

/* Passwords are not printed. */
static bool
exim4_row_is_secret(const struct exim4_statement *said)
{
	return said->is_hidden || slice_is(said->name, "client_send") ||
	    slice_is(said->name, "client_secret") ||
	    slice_is(said->name, "server_secret") ||
	    slice_ends(said->name, "_servers");
}

static void
exim4_row_add(struct exim4 *exim, const char *file,
    const struct exim4_statement *said)
{
	struct import *import = exim->import;

	exim->rows = arena_grow(import->arena, exim->rows, exim->count,
	    sizeof(*exim->rows));
	exim->rows[exim->count++] = (struct exim4_row){
		.said = *said,
		.value = exim4_fold(import->arena, exim4_unquote(
		    import->arena, said->value), exim4_file_exists, exim),
		.item = { .file = file, .line = said->line,
		    .name = exim4_row_name(exim, said),
		    .value = exim4_row_is_secret(said) ? "..." :
		    slice_dup(import->arena, said->value) }
	};
}

/* A name with a colon begins a driver, which ends at the next. */
static void
exim4_driver_add(struct exim4 *exim, const struct exim4_statement *said)
{
	struct exim4_driver *driver;

	if (said->kind != EXIM4_DRIVER)
		return;
	if (exim->driver_count == EXIM4_DRIVERS_MAX) {
		exim4_note(exim, &exim->rows[exim->count - 1], IMPORT_MISSING,
		    "more than %d routers, transports and so on",
		    EXIM4_DRIVERS_MAX);
		return;
	}
	driver = &exim->drivers[exim->driver_count++];
	*driver = (struct exim4_driver){ .section = said->section,
		.name = said->name, .first = exim->count - 1,
		.statement = -1 };
}

/* ---- files -------------------------------------------------------------- */

static int exim4_file_read(struct exim4 *exim, const char *path, int depth,
    struct err *err);

static void
exim4_include(struct exim4 *exim, size_t row, int depth)
{
	struct exim4_row kept = exim->rows[row];
	const char *path = import_file_here(exim->import, kept.value);
	struct err err;

	if (slice_is(kept.said.name, ".include_if_exists") &&
	    access(path, F_OK) != 0)
		exim4_note(exim, &kept, IMPORT_NOT_NEEDED,
		    "there is no such file");
	else if (depth >= EXIM4_INCLUDES_MAX)
		exim4_note(exim, &kept, IMPORT_MISSING,
		    "includes go deeper than %d", EXIM4_INCLUDES_MAX);
	else if (exim4_file_read(exim, path, depth + 1, &err) != 0)
		exim4_note(exim, &kept, IMPORT_MISSING, "%s: %s", path,
		    err.text);
	else
		exim4_note(exim, &kept, IMPORT_NOT_NEEDED,
		    "its statements are told by themselves");
	exim->rows[row].item.is_told = true;
}

/* What is told as it is read. */
static void
exim4_row_first(struct exim4 *exim, int depth)
{
	struct exim4_row *row = &exim->rows[exim->count - 1];
	const struct exim4_statement *said = &row->said;

	if (said->wrong != NULL)
		exim4_note(exim, row, IMPORT_MISSING, "%s", said->wrong);
	else if (said->kind == EXIM4_INCLUDE)
		exim4_include(exim, exim->count - 1, depth);
	else if (said->kind == EXIM4_BRANCH)
		exim4_note(exim, row, IMPORT_NOT_NEEDED, "not in force here: "
		    "what stands below it, up to .else or .endif");
	else if (said->kind == EXIM4_MACRO)
		exim4_note(exim, row, IMPORT_NOT_NEEDED,
		    "it only stands in other statements");
	else if (said->kind == EXIM4_BEGIN)
		exim4_note(exim, row, slice_is(said->value, "local_scan") ||
		    said->section != EXIM4_ODD || exim->reader.section !=
		    EXIM4_ODD ? IMPORT_NOT_NEEDED : IMPORT_MISSING,
		    exim->reader.section != EXIM4_ODD ? "its statements are "
		    "told by themselves" : "not known: no section of this "
		    "name is in the tables of zmailer import");
	else if (said->section == EXIM4_ODD)
		exim4_note(exim, row, IMPORT_MISSING, "it is of a section "
		    "that is not known here");
}

static int
exim4_file_read(struct exim4 *exim, const char *path, int depth,
    struct err *err)
{
	struct exim4_reader *reader = &exim->reader;
	struct slice text, kept = reader->rest;
	struct exim4_statement said;
	unsigned line = reader->line;
	size_t branches = reader->depth;
	const char *name = import_file_name(exim->import, path);

	if (import_file_take(exim->import->arena, path, &text, err) != 0)
		return -1;
	reader->rest = text;
	reader->line = 0;
	while (exim4_next(exim->import->arena, reader, &said)) {
		exim4_row_add(exim, name, &said);
		exim4_driver_add(exim, &said);
		if (exim->driver_count > 0)
			exim->drivers[exim->driver_count - 1].end =
			    exim->count;
		exim4_row_first(exim, depth);
	}
	if (reader->depth > branches) {
		said = (struct exim4_statement){ .kind = EXIM4_BRANCH,
			.name = SLICE(".ifdef"), .line = reader->line,
			.wrong = "a condition is not closed by .endif" };
		exim4_row_add(exim, name, &said);
		exim4_row_first(exim, depth);
		reader->depth = branches;
	}
	reader->rest = kept;
	reader->line = line;
	return 0;
}

/* Each row that nothing was said of. */
static void
exim4_rest(struct exim4 *exim)
{
	for (size_t i = 0; i < exim->count; i++) {
		struct exim4_row *row = &exim->rows[i];

		if (row->item.is_told)
			continue;
		if (row->said.kind == EXIM4_LIST)
			exim4_note(exim, row, IMPORT_NOT_NEEDED, row->is_used ?
			    "it only stands in other statements" :
			    "no statement that was taken names it");
		else
			exim4_note(exim, row, IMPORT_MISSING, "not known: no "
			    "setting of this name is in the tables of "
			    "zmailer import; see the Exim specification, and "
			    "`zmailer help`");
	}
}

int
import_exim4(struct import *import, const char *path, struct err *err)
{
	struct exim4 *exim = arena_alloc(import->arena, sizeof(*exim));

	memset(exim, 0, sizeof(*exim));
	exim->import = import;
	exim->files = "";
	str_init(&exim->local_words);
	str_init(&exim->relays);
	str_init(&exim->passwords);
	exim->mailbox_at = -1;
	if (exim4_file_read(exim, path, 0, err) != 0)
		return err_prefix(err, "%s", path);
	exim4_host(exim);
	exim4_listen(exim);
	exim4_local(exim);
	exim4_remote(exim);
	exim4_logins(exim);
	exim4_acls(exim);
	exim4_rewrites(exim);
	exim4_retries(exim);
	exim4_options(exim);
	exim4_drivers_tell(exim);
	exim4_rest(exim);
	str_release(&exim->local_words);
	str_release(&exim->relays);
	str_release(&exim->passwords);
	return 0;
}
