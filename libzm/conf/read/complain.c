/* complain.c - a complaint about a configuration is put into its report
 *
 * In     a token or a place, words
 * Out    one complaint more, with the line it is about
 * Holds  nothing; a report lives in the caller's arena
 * Trusts nothing that is quoted: controls are replaced
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/read/read.h"
#include "base/odd.h"

#include "base/banned.h"

enum { TEXT_BYTES_MAX = 400 };

/* The text of a line, without its end, cut to a bearable length. */
static struct slice
source_line(const struct conf_source *source, unsigned line)
{
	struct slice rest = source->text, found = { NULL, 0 };

	for (unsigned i = 0; i < line; i++)
		if (!slice_cut(&rest, '\n', &found))
			return (struct slice){ NULL, 0 };
	if (line == 1 && slice_starts(found, ODD_MARK))
		found = slice_from(found, strlen(ODD_MARK));
	if (found.n > 0 && found.p[found.n - 1] == '\r')
		found.n--;
	return slice_first(found, CONF_SOURCE_LINE_MAX);
}

static const struct conf_source *
source_find(const struct conf_book *book, const char *name)
{
	if (name == NULL)
		return NULL;
	for (const struct conf_source *s = book->sources; s != NULL;
	    s = s->next)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

struct slice
conf_line_of(const struct conf_book *book, struct conf_at at)
{
	const struct conf_source *source = source_find(book, at.file);

	return source == NULL || at.line == 0 ? (struct slice){ NULL, 0 } :
	    source_line(source, at.line);
}

void
conf_complain_at(struct conf_report *report, struct arena *arena,
    const struct conf_book *book, enum conf_kind kind, struct conf_at at,
    unsigned width, const char *hint, const char *text)
{
	const struct conf_source *source = source_find(book, at.file);

	conf_complain_line(report, arena, kind, at, width,
	    source == NULL || at.line == 0 ? NULL :
	    slice_dup(arena, source_line(source, at.line)), hint, text);
}

void
conf_complain_line(struct conf_report *report, struct arena *arena,
    enum conf_kind kind, struct conf_at at, unsigned width,
    const char *line, const char *hint, const char *text)
{
	struct conf_complaint *complaint;

	if (kind == CONF_ERROR)
		report->errors++;
	else
		report->warnings++;
	if (report->count >= CONF_COMPLAINTS_MAX)
		return;
	report->complaints = arena_grow(arena, report->complaints,
	    report->count, sizeof(*complaint));
	complaint = &report->complaints[report->count++];
	*complaint = (struct conf_complaint){
		.is_error = kind == CONF_ERROR, .at = at, .width = width,
		.source = line,
		.text = arena_dup(arena, text, strlen(text)),
		.hint = hint ? arena_dup(arena, hint, strlen(hint)) : NULL,
	};
	if (at.file != NULL)
		complaint->at.file = arena_dup(arena, at.file,
		    strlen(at.file));
}

void
conf_complain(struct conf_loader *loader, enum conf_kind kind,
    const struct conf_token *token, const char *hint, const char *format, ...)
{
	char text[TEXT_BYTES_MAX];
	struct str safe = STR_INIT;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	for (const char *p = text; *p != '\0'; p++)
		str_addc(&safe, (unsigned char)*p < 32 || *p == 127 ? '?' : *p);
	conf_complain_at(loader->report, loader->report_arena, loader->book,
	    kind, conf_at(token), token->width, hint, safe.buf);
	str_release(&safe);
}

void
conf_complain_twice(struct conf_loader *loader,
    const struct conf_token *token, struct conf_at first, const char *what)
{
	conf_complain(loader, CONF_ERROR, token,
	    arena_printf(loader->conf->arena, "the first is in line %u%s%s; "
	    "keep one of them",
	    first.line, strcmp(first.file, token->source->name) ? " of " : "",
	    strcmp(first.file, token->source->name) ? first.file : ""),
	    "%s", what);
}
