/* read.c - calls of m4 in sendmail.mc
 *
 * In     the bytes of a file, not trusted
 * Out    calls with the number of the line each begins on
 * Holds  nothing
 * Spec   cf/README of sendmail; m4(1): names, quotes, comments
 *
 * Only calls at the top are seen; one in another's arguments is part of their
 * text.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "tools/zmailer/import/sendmail/read.h"

#include "base/banned.h"

/* Names without brackets, which begin a section, or do nothing. */
static const char *const sections[] = {
	"LOCAL_CONFIG", "LOCAL_RULE_0", "LOCAL_RULE_1", "LOCAL_RULE_2",
	"LOCAL_RULE_3", "LOCAL_RULESETS", "LOCAL_NET_CONFIG",
	"MAILER_DEFINITIONS",
};

/* Move over n bytes, counting lines. */
static void
reader_skip(struct sendmail_reader *reader, size_t n)
{
	for (size_t i = 0; i < n && i < reader->rest.n; i++)
		reader->line += reader->rest.p[i] == '\n';
	reader->rest = slice_from(reader->rest, n);
}

/* With its line feed. */
static void
reader_skip_line(struct sendmail_reader *reader)
{
	reader_skip(reader, slice_find(reader->rest, '\n') + 1);
}

static bool
name_is_part(char c)
{
	return ascii_is_alnum(c) || c == '_';
}

static struct slice
reader_name(struct slice rest)
{
	size_t n = 0;

	while (n < rest.n && name_is_part(rest.p[n]))
		n++;
	return slice_first(rest, n > 0 && ascii_is_digit(rest.p[0]) ? 0 : n);
}

/* The quoted text that rest begins with, quotes and all; 0: it is open. */
static size_t
quoted_bytes(struct slice rest)
{
	size_t depth = 0;

	for (size_t i = 0; i < rest.n && i < SENDMAIL_CALL_BYTES_MAX; i++) {
		if (rest.p[i] == '`')
			depth++;
		else if (rest.p[i] == '\'' && --depth == 0)
			return i + 1;
	}
	return 0;
}

/* ---- arguments ---------------------------------------------------------- */

static const char *
argument_add(struct arena *arena, struct sendmail_call *call,
    struct str *text)
{
	if (call->count == SENDMAIL_ARGUMENTS_MAX)
		return "more than 100 arguments";
	call->arguments[call->count] = slice_copy(arena, str_slice(text));
	if (memchr(text->buf, '\0', text->len) != NULL)
		return "a NUL byte";
	call->count++;
	str_reset(text);
	return NULL;
}

/* One byte or quoted text of an argument.  returns bytes, 0: open quote */
static size_t
argument_piece(struct sendmail_reader *reader, struct str *text, int *depth)
{
	struct slice rest = reader->rest;
	size_t n = 1;

	if (rest.p[0] == '`') {
		n = quoted_bytes(rest);
		if (n > 0)
			str_add(text, rest.p + 1, n - 2);
		return n;
	}
	*depth += (rest.p[0] == '(') - (rest.p[0] == ')');
	/* blanks in front of an argument are no part of it */
	if (text->len > 0 || !ascii_is_space(rest.p[0]))
		str_addc(text, rest.p[0]);
	return n;
}

/* From after "(" to after ")".  returns NULL, or what is wrong */
static const char *
arguments_cut(struct arena *arena, struct sendmail_reader *reader,
    struct sendmail_call *call)
{
	struct str text = STR_INIT;
	const char *wrong = "a ( is not closed";
	size_t end = reader->rest.n > SENDMAIL_CALL_BYTES_MAX ?
	    reader->rest.n - SENDMAIL_CALL_BYTES_MAX : 0;
	int depth = 0;

	while (reader->rest.n > end) {
		char c = reader->rest.p[0];
		struct slice name = reader_name(reader->rest);
		size_t n;

		if (slice_is(name, "dnl")) {
			reader_skip_line(reader);
			continue;
		}
		if (depth == 0 && (c == ',' || c == ')')) {
			reader_skip(reader, 1);
			wrong = argument_add(arena, call, &text);
			if (c == ')' || wrong != NULL)
				break;
			wrong = "a ( is not closed";
			continue;
		}
		if (name.n > 1) {
			str_add_slice(&text, name);
			reader_skip(reader, name.n);
			continue;
		}
		n = argument_piece(reader, &text, &depth);
		if (n == 0) {
			wrong = "a ` is not closed";
			break;
		}
		reader_skip(reader, n);
	}
	str_release(&text);
	return wrong;
}

/* NAME(ARGUMENTS): what is not closed ends with its line. */
static void
call_cut(struct arena *arena, struct sendmail_reader *reader,
    struct sendmail_call *out)
{
	struct slice begin = reader->rest, rows[SENDMAIL_ARGUMENTS_MAX];
	unsigned line = reader->line;

	out->name = slice_copy(arena, reader_name(begin));
	out->arguments = rows;
	reader_skip(reader, out->name.n + 1);
	out->wrong = arguments_cut(arena, reader, out);
	out->arguments = arena_alloc(arena, (out->count + 1) * sizeof(*rows));
	if (out->count > 0)
		memcpy(out->arguments, rows, out->count * sizeof(*rows));
	if (out->wrong == NULL)
		return;
	reader->rest = begin;
	reader->line = line;
	reader_skip_line(reader);
}

/* ---- between calls ------------------------------------------------------ */

static bool
name_is_section(struct slice name)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (slice_is(name, sections[i]))
			return true;
	return false;
}

/* The rest of a line, up to dnl. */
static void
text_cut(struct arena *arena, struct sendmail_reader *reader,
    struct sendmail_call *out)
{
	struct slice line = slice_first(reader->rest, slice_find(
	    reader->rest, '\n'));
	size_t n = 0;

	while (n < line.n && !(slice_starts(slice_from(line, n), "dnl") &&
	    !name_is_part(n > 0 ? line.p[n - 1] : ' ')))
		n++;
	out->is_text = true;
	out->name = reader->section.n > 0 ? reader->section : SLICE("text");
	out->arguments = arena_alloc(arena, sizeof(*out->arguments));
	out->arguments[0] = slice_trim(slice_copy(arena, slice_first(line,
	    n)));
	out->count = 1;
	if (n > 0 && memchr(line.p, '\0', n) != NULL)
		out->wrong = "a NUL byte";
	reader_skip_line(reader);
}

static void
call_divert(struct sendmail_reader *reader, const struct sendmail_call *call)
{
	if (!slice_is(call->name, "divert"))
		return;
	reader->is_diverted = call->count > 0 &&
	    slice_starts(call->arguments[0], "-");
	reader->section = SLICE("");
}

/* Take what begins here if it is a blank, comment or section.  returns whether
 * it was */
static bool
reader_pass(struct sendmail_reader *reader)
{
	struct slice name = reader_name(reader->rest);

	if (reader->rest.p[0] == '#' || slice_is(name, "dnl"))
		reader_skip_line(reader);
	else if (ascii_is_space(reader->rest.p[0]))
		reader_skip(reader, 1);
	else if (name_is_section(name)) {
		reader->section = slice_is(name, "MAILER_DEFINITIONS") ?
		    SLICE("") : name;
		reader_skip(reader, name.n);
	} else
		return false;
	return true;
}

bool
sendmail_next(struct arena *arena, struct sendmail_reader *reader,
    struct sendmail_call *out)
{
	while (reader->rest.n > 0) {
		struct slice name = reader_name(reader->rest);

		if (reader_pass(reader))
			continue;
		*out = (struct sendmail_call){ .line = reader->line + 1 };
		if (name.n > 0 && name.n < reader->rest.n &&
		    reader->rest.p[name.n] == '(') {
			call_cut(arena, reader, out);
			call_divert(reader, out);
			return true;
		}
		text_cut(arena, reader, out);
		if (!reader->is_diverted)
			return true;
	}
	return false;
}
