/* run.c - smtpd.conf is read from beginning to end
 *
 * In     smtpd.conf, what it includes
 * Out    a struct import that is ready to be laid out
 * Holds  nothing
 * Spec   smtpd.conf(5) of OpenSMTPD; zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grammar/units.h"
#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

enum { OPENSMTPD_INCLUDES_MAX = 10 };

/* Its words as they are printed; secrets and rows of tables are not. */
static const char *
opensmtpd_value(struct opensmtpd *smtpd,
    const struct opensmtpd_statement *statement)
{
	struct slice first = statement->words[0].text;
	struct str text = STR_INIT;
	const char *out;

	for (size_t i = 1; i < statement->count; i++) {
		const struct opensmtpd_word *word = &statement->words[i];

		if ((slice_is(first, "table") && slice_is(word->text, "{")) ||
		    (slice_is(first, "srs") && i == 2) ||
		    (slice_is(first, "queue") && i == 3)) {
			str_adds(&text, " ...");
			break;
		}
		str_addf(&text, "%s%s" SLICE_FMT "%s", i > 1 ? " " : "",
		    word->kind == OPENSMTPD_TABLE ? "<" : "",
		    SLICE_ARG(word->text),
		    word->kind == OPENSMTPD_TABLE ? ">" : "");
	}
	out = slice_dup(smtpd->import->arena, str_slice(&text));
	str_release(&text);
	return out;
}

/* ---- files -------------------------------------------------------------- */

static int opensmtpd_file_read(struct opensmtpd *smtpd, const char *path,
    int depth, struct err *err);

static void
opensmtpd_include(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    int depth)
{
	struct opensmtpd_row kept = *row;
	const char *path;
	struct err err;

	kept.at = 1;
	path = import_file_here(smtpd->import, opensmtpd_text(&kept));
	if (depth >= OPENSMTPD_INCLUDES_MAX)
		import_item_note(smtpd->import, &kept.item, IMPORT_MISSING,
		    "includes go deeper than %d", OPENSMTPD_INCLUDES_MAX);
	else if (opensmtpd_file_read(smtpd, path, depth + 1, &err) != 0)
		import_item_note(smtpd->import, &kept.item, IMPORT_MISSING,
		    "%s: %s", path, err.text);
	else
		import_item_note(smtpd->import, &kept.item,
		    IMPORT_NOT_NEEDED, "its statements are told by "
		    "themselves");
}

static void
opensmtpd_statement_add(struct opensmtpd *smtpd, const char *file,
    const struct opensmtpd_statement *statement)
{
	struct import *import = smtpd->import;

	smtpd->rows = arena_grow(import->arena, smtpd->rows, smtpd->count,
	    sizeof(*smtpd->rows));
	smtpd->rows[smtpd->count++] = (struct opensmtpd_row){
		.item = { .file = file, .line = statement->line,
		    .name = slice_dup(import->arena, slice_first(
		    statement->words[0].text, 200)),
		    .value = opensmtpd_value(smtpd, statement) },
		.words = statement->words, .count = statement->count,
		.at = 1
	};
}

/* { a, b } in the place of a table is one without a name. */
static void
opensmtpd_lists_add(struct opensmtpd *smtpd, const char *file,
    struct opensmtpd_statement *statement)
{
	struct opensmtpd_statement list = { .line = statement->line };
	struct arena *arena = smtpd->import->arena;
	size_t from = 1, to;

	if (!slice_is(statement->words[0].text, "match") &&
	    !slice_is(statement->words[0].text, "action"))
		return;
	while (from < statement->count &&
	    !slice_is(statement->words[from].text, "{"))
		from++;
	for (to = from; to < statement->count &&
	    !slice_is(statement->words[to].text, "}");)
		to++;
	if (to >= statement->count)
		return;
	list.count = to - from + 3;
	list.words = arena_alloc(arena, list.count * sizeof(*list.words));
	list.words[0].text = SLICE("table");
	list.words[1].text = slice_of(arena_printf(arena, "list-%zu",
	    smtpd->count));
	memcpy(list.words + 2, statement->words + from, (to - from + 1) *
	    sizeof(*list.words));
	opensmtpd_statement_add(smtpd, file, &list);
	statement->words[from] = (struct opensmtpd_word){
		.text = list.words[1].text, .kind = OPENSMTPD_TABLE
	};
	memmove(statement->words + from + 1, statement->words + to + 1,
	    (statement->count - to - 1) * sizeof(*list.words));
	statement->count -= to - from;
	opensmtpd_lists_add(smtpd, file, statement);
}

static void
opensmtpd_row_add(struct opensmtpd *smtpd, const char *file,
    struct opensmtpd_statement *statement)
{
	if (statement->wrong == NULL)
		opensmtpd_lists_add(smtpd, file, statement);
	opensmtpd_statement_add(smtpd, file, statement);
}

/* A file, and below it those that it includes, each in its place. */
static int
opensmtpd_file_read(struct opensmtpd *smtpd, const char *path, int depth,
    struct err *err)
{
	struct opensmtpd_reader *reader = &smtpd->reader;
	struct opensmtpd_statement statement;
	struct slice text, kept = reader->rest;
	unsigned line = reader->line;
	struct opensmtpd_row *row;

	if (import_file_take(smtpd->import->arena, path, &text, err) != 0)
		return -1;
	reader->rest = text;
	reader->line = 0;
	while (opensmtpd_next(smtpd->import->arena, reader, &statement)) {
		opensmtpd_row_add(smtpd, import_file_name(smtpd->import,
		    path), &statement);
		row = &smtpd->rows[smtpd->count - 1];
		if (statement.wrong != NULL)
			import_item_note(smtpd->import, &row->item,
			    IMPORT_MISSING, "%s", statement.wrong);
		else if (slice_is(statement.words[0].text, "include")) {
			row->item.is_told = true;
			opensmtpd_include(smtpd, row, depth);
		}
	}
	reader->rest = kept;
	reader->line = line;
	return 0;
}

/* ---- single statements -------------------------------------------------- */

/* "smtp max-message-size 35M", K and M as ours. */
static void
opensmtpd_smtp(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	uint64_t bytes;

	if (opensmtpd_is(row, "max-message-size")) {
		struct slice size = opensmtpd_text(row);

		if (units_bytes(size, &bytes, NULL) == 0 ||
		    slice_number(size, 1, INT64_MAX, &bytes))
			opensmtpd_say(smtpd, row, IMPORT_SITE, "size %lluB",
			    (unsigned long long)bytes);
		else
			import_item_note(smtpd->import, &row->item,
			    IMPORT_MISSING, "it is no size: write `size 35M`");
	} else if (opensmtpd_is(row, "sub-addr-delim")) {
		const char *word = import_word(smtpd->import,
		    opensmtpd_text(row));

		if (word != NULL)
			opensmtpd_say(smtpd, row, IMPORT_SITE,
			    "recipient-delimiter %s", word);
	} else if (opensmtpd_is(row, "limit"))
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "write `limit session-messages N` or `limit recipients N`");
	else if (opensmtpd_is(row, "ciphers"))
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "OpenSSL's own presets");
	if (!row->item.is_told)
		opensmtpd_unknown(smtpd, row);
}

static void
opensmtpd_queue(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	if (opensmtpd_is(row, "ttl")) {
		const char *span = opensmtpd_span(smtpd, opensmtpd_text(row));

		if (span != NULL)
			opensmtpd_say(smtpd, row, IMPORT_QUEUE,
			    "schedule */* { expire %s }", span);
		else
			import_item_note(smtpd->import, &row->item,
			    IMPORT_MISSING, "it is no time: write `schedule "
			    "smtp/* { expire SPAN }`");
	} else if (opensmtpd_is(row, "compression"))
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "let the file system compress");
	else if (opensmtpd_is(row, "encryption"))
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "the spool is not encrypted: let it lie on a disk that "
		    "is");
	else
		opensmtpd_unknown(smtpd, row);
}

/* bounce warn-interval 4h, 1d */
static void
opensmtpd_bounce(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	struct str spans = STR_INIT;
	const struct opensmtpd_word *word;
	bool is_good = opensmtpd_is(row, "warn-interval");

	while (is_good && (word = opensmtpd_word(row)) != NULL) {
		if (slice_is(word->text, ","))
			continue;
		is_good = opensmtpd_span(smtpd, word->text) != NULL;
		str_addf(&spans, " " SLICE_FMT, SLICE_ARG(word->text));
	}
	if (is_good && spans.len > 0)
		opensmtpd_say(smtpd, row, IMPORT_QUEUE,
		    "schedule */* { warn%s }", spans.buf);
	else
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "write `schedule smtp/* { warn SPAN... }`");
	str_release(&spans);
}

/* Who is asked later, by its name. */
static void
opensmtpd_later(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	(void)smtpd;
	(void)row;
}

static void
opensmtpd_simple(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	static const struct import_told rows[] = {
		{ "admd", IMPORT_NOT_NEEDED, "Authentication-Results names "
		    "host" },
		{ "ca", IMPORT_DIFFERS, "write `tls client-certificates ask "
		    "ca FILE`, or `tls-to PATTERN verify ca FILE`" },
		{ "mda", IMPORT_MISSING, "write the wrapper's command into "
		    "`deliver pipe \"COMMAND\"` of the domain" },
		{ "mta", IMPORT_NOT_NEEDED, "schedule says how many sessions "
		    "there are (zmailer help schedule)" },
		{ "srs", IMPORT_MISSING, "write a label and the secret into "
		    "a file that the router can read, and `srs DOMAIN key "
		    "FILE` with one of your domains" },
		{ "proc", IMPORT_MISSING, "a filter's program: what filters "
		    "by milter, or a hook (doc/HOOKS.md), does the same" },
	};

	(void)import_item_tell(smtpd->import, &row->item, rows,
	    sizeof(rows) / sizeof(rows[0]), slice_of(row->item.name));
}

static const struct {
	const char	*name;
	void		(*run)(struct opensmtpd *smtpd,
	    struct opensmtpd_row *row);
} keywords[] = {			/* in the order of their visits */
	{ "pki", opensmtpd_pki }, { "listen", opensmtpd_listen },
	{ "filter", opensmtpd_filter }, { "match", opensmtpd_match },
	{ "smtp", opensmtpd_smtp }, { "queue", opensmtpd_queue },
	{ "bounce", opensmtpd_bounce }, { "table", opensmtpd_later },
	{ "action", opensmtpd_later }, { "admd", opensmtpd_simple },
	{ "ca", opensmtpd_simple }, { "mda", opensmtpd_simple },
	{ "mta", opensmtpd_simple }, { "srs", opensmtpd_simple },
	{ "proc", opensmtpd_simple },
};
enum { OPENSMTPD_KEYWORDS = sizeof(keywords) / sizeof(keywords[0]) };

/* What no other statement needed. */
static void
opensmtpd_unused(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	bool is_known = false;

	for (size_t k = 0; k < OPENSMTPD_KEYWORDS; k++)
		is_known |= strcmp(row->item.name, keywords[k].name) == 0;
	if (row->count > 2 && slice_is(row->words[1].text, "="))
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "it only stands in other statements");
	else if (is_known)
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "no statement that was taken names it");
	else
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "not known: no statement of this name is in the tables "
		    "of zmailer import; see smtpd.conf(5), and `zmailer "
		    "help`");
}

static void
opensmtpd_visit(struct opensmtpd *smtpd)
{
	opensmtpd_rows_name(smtpd);
	for (size_t k = 0; k < OPENSMTPD_KEYWORDS; k++)
		for (size_t i = 0; i < smtpd->count; i++)
			if (!smtpd->rows[i].item.is_told &&
			    strcmp(smtpd->rows[i].item.name,
			    keywords[k].name) == 0)
				keywords[k].run(smtpd, &smtpd->rows[i]);
	opensmtpd_matches_end(smtpd);
	for (size_t i = 0; i < smtpd->count; i++)
		if (!smtpd->rows[i].item.is_told)
			opensmtpd_unused(smtpd, &smtpd->rows[i]);
}

/* The first file, and where the copy of their directory is. */
static void
opensmtpd_where(struct import *import, const char *path)
{
	static const char *const homes[] = { "/etc/mail/", "/etc/smtpd/",
		"/etc/opensmtpd/", "/etc/", NULL };
	const char **order = arena_alloc(import->arena, 2 * sizeof(*order));
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		path = arena_printf(import->arena, "%s/smtpd.conf", path);
	import->file = path;
	import->dir = arena_dup(import->arena, path, (size_t)(strrchr(path,
	    '/') - path));
	import->homes = homes;
	order[0] = import_file_name(import, path);
	order[1] = NULL;
	import->order = order;
}

int
import_opensmtpd(struct import *import, const char *path, struct err *err)
{
	struct opensmtpd *smtpd = arena_alloc(import->arena, sizeof(*smtpd));

	*smtpd = (struct opensmtpd){ .import = import,
		.ours_words = STR_INIT };
	opensmtpd_where(import, path);
	if (opensmtpd_file_read(smtpd, import->file, 0, err) != 0)
		return err_prefix(err, "%s", import->file);
	smtpd->host = import_host_say(import);
	opensmtpd_visit(smtpd);
	str_release(&smtpd->ours_words);
	return 0;
}
