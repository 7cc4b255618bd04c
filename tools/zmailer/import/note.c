/* note.c - what becomes of each setting: statements and findings
 *
 * In     what the readers of the folders say
 * Out    the text of zmailer.conf; the table of findings
 * Holds  nothing
 * Trusts no value: words that could be more than one are quoted or refused
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/json.h"
#include "grammar/smtp/path.h"
#include "tools/zmailer/import/import.h"

#include "base/banned.h"

static const char *const kind_names[] = {
	[IMPORT_TAKEN] = "taken", [IMPORT_NOT_NEEDED] = "not needed",
	[IMPORT_DIFFERS] = "differs", [IMPORT_MISSING] = "missing",
};
static const char *const part_titles[IMPORT_PARTS] = {
	[IMPORT_SITE] = "the host", [IMPORT_LISTEN] = "where mail comes in",
	[IMPORT_TABLES] = "tables", [IMPORT_DOMAINS] = "whose mail ends here",
	[IMPORT_ADDRESSES] = "addresses that become others",
	[IMPORT_RULES] = "rules and filters",
	[IMPORT_RELAYING] = "who may send through this host",
	[IMPORT_ROUTES] = "where mail for others goes",
	[IMPORT_LAST_ROUTES] = "where all other mail goes",
	[IMPORT_DELIVERY] = "how it is delivered",
	[IMPORT_QUEUE] = "how it is tried",
};

const char *
import_text(struct import *import, const char *format, va_list args)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = arena_alloc(import->arena, (size_t)n + 1);
	(void)vsnprintf(text, (size_t)n + 1, format, args);
	return text;
}

int
import_say(struct import *import, enum import_part part, const char *from,
    const char *format, ...)
{
	va_list args;

	import->statements = arena_grow(import->arena, import->statements,
	    import->statement_count, sizeof(*import->statements));
	va_start(args, format);
	import->statements[import->statement_count] =
	    (struct import_statement){ .part = part, .from = from,
		.text = import_text(import, format, args) };
	va_end(args);
	return (int)import->statement_count++;
}

int
import_say_once(struct import *import, enum import_part part,
    const char *text)
{
	uint32_t number = import_name_number(&import->texts, slice_of(text));

	if (number == 0) {
		number = (uint32_t)import_say(import, part, "", "%s", text) +
		    1;
		import_name_put(import->arena, &import->texts, slice_of(text),
		    number);
	}
	return (int)number - 1;
}

void
import_find(struct import *import, const struct import_finding *finding)
{
	import->findings = arena_grow(import->arena, import->findings,
	    import->finding_count, sizeof(*import->findings));
	import->findings[import->finding_count++] = *finding;
}

static struct import_finding
item_finding(const struct import_item *item)
{
	return (struct import_finding){ .file = item->file,
		.line = item->line, .name = item->name, .value = item->value,
		.statement = -1 };
}

void
import_item_taken(struct import *import, struct import_item *item,
    int statement)
{
	struct import_finding finding = item_finding(item);

	finding.kind = IMPORT_TAKEN;
	finding.statement = statement;
	import_find(import, &finding);
	item->is_told = true;
}

void
import_item_note(struct import *import, struct import_item *item,
    enum import_kind kind, const char *format, ...)
{
	struct import_finding finding = item_finding(item);
	va_list args;

	finding.kind = kind;
	va_start(args, format);
	finding.text = import_text(import, format, args);
	va_end(args);
	import_find(import, &finding);
	item->is_told = true;
}

static bool
told_fits(const char *pattern, struct slice name)
{
	const char *star = strchr(pattern, '*');
	size_t front = star == NULL ? 0 : (size_t)(star - pattern);

	if (star == NULL)
		return slice_is(name, pattern);
	return name.n + 1 >= strlen(pattern) &&
	    memcmp(name.p, pattern, front) == 0 && slice_ends(name, star + 1);
}

const struct import_told *
import_told_of(const struct import_told *rows, size_t count,
    struct slice name)
{
	for (size_t i = 0; i < count; i++)
		if (told_fits(rows[i].name, name))
			return &rows[i];
	return NULL;
}

bool
import_item_tell(struct import *import, struct import_item *item,
    const struct import_told *rows, size_t count, struct slice name)
{
	const struct import_told *told = import_told_of(rows, count, name);

	if (told != NULL)
		import_item_note(import, item, told->kind, "%s", told->text);
	return told != NULL;
}

unsigned
import_port(struct slice text)
{
	uint64_t port;

	if (slice_is(text, "smtp"))
		return 25;
	if (slice_is(text, "submission"))
		return 587;
	if (slice_is(text, "smtps") || slice_is(text, "submissions"))
		return 465;
	return slice_number(text, 1, 65535, &port) ? (unsigned)port : 0;
}

const char *
import_word(struct import *import, struct slice text)
{
	if (text.n == 0 || text.n > 1000)
		return NULL;
	for (size_t i = 0; i < text.n; i++)
		if (!ascii_is_alnum(text.p[i]) &&
		    memchr("._-+@/:[]*=,!~?%&", text.p[i], 17) == NULL)
			return NULL;
	return slice_dup(import->arena, text);
}

const char *
import_domain(struct import *import, struct slice text)
{
	struct slice name = slice_from(text, slice_starts(text, "."));

	if (name.n == 0 || domain_parse(name, NULL) != 0 ||
	    import_word(import, text) == NULL)
		return NULL;
	return slice_dup(import->arena, slice_lower(import->arena, text));
}

const char *
import_quote(struct import *import, struct slice text)
{
	char *out = slice_dup(import->arena, slice_first(text, 400));

	for (char *p = out; *p != '\0'; p++)
		if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
			*p = ' ';
	return out;
}

/* ---- the new file ------------------------------------------------------- */

static unsigned
text_lines(const char *text)
{
	unsigned lines = 1;

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

void
import_lay_out(struct import *import, struct str *out)
{
	unsigned line = 5;

	str_addf(out, "# zmailer.conf - made by zmailer import from %s\n#\n"
	    "# What became of each setting: zmailer import %s --dry-run\n"
	    "# What each statement means: zmailer help STATEMENT\n",
	    import->dir, import->mailer);
	for (int part = 0; part < IMPORT_PARTS; part++) {
		bool is_first = part_titles[part] != NULL;

		for (size_t i = 0; i < import->statement_count; i++) {
			struct import_statement *row = &import->statements[i];

			if (row->part != (enum import_part)part)
				continue;
			if (is_first)
				str_addf(out, "\n# %s\n", part_titles[part]);
			line += is_first ? 2 : 0;
			is_first = false;
			row->line = line;
			str_addf(out, "%s\n", row->text);
			line += text_lines(row->text);
		}
	}
}

/* ---- the table ---------------------------------------------------------- */

static void
finding_json(const struct import *import, const struct import_finding *finding,
    struct str *out)
{
	json_open_answer(out);
	json_text(out, "file", slice_of(finding->file));
	json_number(out, "line", finding->line);
	json_text(out, "name", slice_of(finding->name));
	json_text(out, "value", slice_of(finding->value));
	json_text(out, "kind", slice_of(kind_names[finding->kind]));
	if (finding->statement >= 0) {
		const struct import_statement *row =
		    &import->statements[finding->statement];

		json_text(out, "statement", slice_of(row->text));
		json_number(out, "at", row->line);
	} else {
		json_text(out, "text", slice_of(finding->text));
	}
	json_close(out);
}

/* FILE:LINE NAME = VALUE, and below it what came of it. */
static void
finding_text(const struct import *import, const struct import_finding *finding,
    struct str *out)
{
	struct slice value = slice_of(finding->value);

	str_addf(out, "%s", finding->file);
	if (finding->line > 0)
		str_addf(out, ":%u", finding->line);
	str_addc(out, ' ');
	str_add_escaped(out, slice_of(finding->name));
	if (value.n > 0)
		str_adds(out, " = ");
	str_add_escaped(out, slice_first(value, 60));
	str_adds(out, value.n > 60 ? "...\n" : "\n");
	str_addf(out, "    %-10s  ", kind_names[finding->kind]);
	if (finding->statement >= 0) {
		const struct import_statement *row =
		    &import->statements[finding->statement];
		struct slice first = slice_first(slice_of(row->text),
		    slice_find(slice_of(row->text), '\n'));

		str_addf(out, "zmailer.conf:%u  ", row->line);
		str_add_escaped(out, first);
	} else {
		str_add_escaped(out, slice_of(finding->text));
	}
	str_addc(out, '\n');
}

/* Findings in the order of file and line; few thousands at most matter. */
static int
file_rank(const struct import *import, const char *file)
{
	int rank = 0;

	while (import->order[rank] != NULL &&
	    strcmp(import->order[rank], file) != 0)
		rank++;
	return rank;
}

static int
finding_order(const void *a, const void *b)
{
	const struct import_finding *one = a, *other = b;
	int files = one->rank - other->rank;

	if (files == 0)
		files = strcmp(one->file, other->file);

	if (files != 0)
		return files;
	if (one->line != other->line)
		return one->line < other->line ? -1 : 1;
	if (one->statement != other->statement)
		return one->statement < other->statement ? -1 : 1;
	files = strcmp(one->value, other->value);
	return files != 0 ? files : strcmp(one->text == NULL ? "" : one->text,
	    other->text == NULL ? "" : other->text);
}

void
import_print(struct import *import, bool is_json, struct str *out)
{
	size_t counts[4] = { 0 };

	for (size_t i = 0; i < import->finding_count; i++)
		import->findings[i].rank = file_rank(import,
		    import->findings[i].file);
	if (import->finding_count > 0)
		qsort(import->findings, import->finding_count,
		    sizeof(*import->findings), finding_order);
	for (size_t i = 0; i < import->finding_count; i++) {
		/* a setting that was read twice is said once */
		if (i > 0 && finding_order(&import->findings[i - 1],
		    &import->findings[i]) == 0)
			continue;
		counts[import->findings[i].kind]++;
		if (is_json)
			finding_json(import, &import->findings[i], out);
		else
			finding_text(import, &import->findings[i], out);
	}
	if (!is_json)
		str_addf(out, "\n%zu taken, %zu not needed, %zu differ, %zu "
		    "missing\n", counts[IMPORT_TAKEN],
		    counts[IMPORT_NOT_NEEDED], counts[IMPORT_DIFFERS],
		    counts[IMPORT_MISSING]);
}
