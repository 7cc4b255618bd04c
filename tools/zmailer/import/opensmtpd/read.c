/* read.c - the words of smtpd.conf
 *
 * In     the bytes of a file, not trusted
 * Out    statements with the number of the line each begins on
 * Holds  nothing
 * Spec   smtpd.conf(5) of OpenSMTPD
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "tools/zmailer/import/opensmtpd/read.h"

#include "base/banned.h"

static const char signs[] = "{}(),=!";

/* Blanks, comments, lines that go on, and line ends inside of braces.
 * returns false where the statement ends */
static bool
opensmtpd_skip(struct opensmtpd_reader *reader, int depth)
{
	while (reader->rest.n > 0) {
		char c = reader->rest.p[0];
		size_t n = 1;

		if (c == '#')
			n = slice_find(reader->rest, '\n');
		else if (c == '\\' && reader->rest.n > 1 &&
		    reader->rest.p[1] == '\n')
			n = 2;
		else if (c == '\n' && depth <= 0)
			return false;
		else if (!ascii_is_space(c))
			return true;
		if (c == '\n' || n == 2)
			reader->line++;
		reader->rest = slice_from(reader->rest, n);
	}
	return false;
}

/* "..." or '...', in which \ keeps the next byte. */
static const char *
opensmtpd_string(struct arena *arena, struct opensmtpd_reader *reader,
    struct slice *out)
{
	char quote = reader->rest.p[0];
	struct str text = STR_INIT;
	size_t at = 1;

	for (; at < reader->rest.n && reader->rest.p[at] != quote; at++) {
		if (reader->rest.p[at] == '\\' && at + 1 < reader->rest.n &&
		    (reader->rest.p[at + 1] == quote ||
		    reader->rest.p[at + 1] == '\n'))
			at++;
		if (reader->rest.p[at] == '\n')
			reader->line++;
		else
			str_addc(&text, reader->rest.p[at]);
	}
	*out = slice_copy(arena, str_slice(&text));
	str_release(&text);
	reader->rest = slice_from(reader->rest, at + 1);
	return out->n > 0 && memchr(out->p, '\0', out->n) != NULL ?
	    "a NUL byte" : NULL;
}

static bool
opensmtpd_is_word(char c)
{
	return !ascii_is_space(c) && c != '"' && c != '\'' && c != '#' &&
	    c != '<' && c != '>' && strchr(signs, c) == NULL;
}

/* One word; rest moves after it.  returns NULL, or what is wrong */
static const char *
opensmtpd_word_cut(struct arena *arena, struct opensmtpd_reader *reader,
    struct opensmtpd_word *out)
{
	struct slice rest = reader->rest;
	size_t n = 0;

	if (rest.p[0] == '"' || rest.p[0] == '\'') {
		out->kind = OPENSMTPD_STRING;
		if (memchr(rest.p + 1, rest.p[0], rest.n - 1) == NULL) {
			out->text = slice_first(rest, slice_find(rest,
			    '\n'));
			reader->rest = slice_from(rest, out->text.n);
			return "a quote is not closed";
		}
		return opensmtpd_string(arena, reader, &out->text);
	}
	if (rest.p[0] == '<') {
		n = slice_find(rest, '>');
		out->kind = OPENSMTPD_TABLE;
		out->text = slice_trim((struct slice){ rest.p + 1,
		    n > 0 && n < rest.n ? n - 1 : 0 });
		if (n == rest.n || memchr(rest.p, '\n', n) != NULL) {
			reader->rest = slice_from(rest, 1);
			return "a < without its >";
		}
		reader->rest = slice_from(rest, n + 1);
		return NULL;
	}
	while (n < rest.n && rest.p[n] != '\0' && opensmtpd_is_word(rest.p[n]))
		n++;
	out->kind = n > 0 ? OPENSMTPD_WORD : OPENSMTPD_SIGN;
	n = n > 0 ? n : 1;
	out->text = slice_first(rest, n);
	reader->rest = slice_from(rest, n);
	return rest.p[0] == '\0' ? "a NUL byte" : rest.p[0] == '>' ?
	    "a > without its <" : NULL;
}

static const struct opensmtpd_macro *
opensmtpd_macro_find(const struct opensmtpd_reader *reader, struct slice word)
{
	for (size_t i = reader->macro_count; i-- > 0;)
		if (slice_equal(reader->macros[i].name, slice_from(word, 1)))
			return &reader->macros[i];
	return NULL;
}

static void
opensmtpd_word_add(struct arena *arena, struct opensmtpd_statement *out,
    const struct opensmtpd_word *word)
{
	if (out->count >= OPENSMTPD_WORDS_MAX) {
		out->wrong = "it has too many words";
		return;
	}
	out->words = arena_grow(arena, out->words, out->count,
	    sizeof(*out->words));
	out->words[out->count++] = *word;
}

/* A word, or the value of the macro that it names. */
static void
opensmtpd_word_fill(struct arena *arena, struct opensmtpd_reader *reader,
    struct opensmtpd_statement *out, const struct opensmtpd_word *word)
{
	const struct opensmtpd_macro *macro;

	if (word->kind != OPENSMTPD_WORD || !slice_starts(word->text, "$")) {
		opensmtpd_word_add(arena, out, word);
		return;
	}
	macro = opensmtpd_macro_find(reader, word->text);
	if (macro == NULL)
		out->wrong = "a macro that is not known: write its value";
	for (size_t i = 0; macro != NULL && i < macro->count; i++)
		opensmtpd_word_add(arena, out, &macro->words[i]);
	if (macro == NULL)
		opensmtpd_word_add(arena, out, word);
}

/* NAME = VALUE is for later. */
static void
opensmtpd_macro_keep(struct opensmtpd_reader *reader,
    struct opensmtpd_statement *statement)
{
	if (statement->wrong != NULL || statement->count < 3 ||
	    !slice_is(statement->words[1].text, "=") ||
	    statement->words[1].kind != OPENSMTPD_SIGN)
		return;
	if (reader->macro_count == OPENSMTPD_MACROS_MAX ||
	    statement->count > OPENSMTPD_MACRO_WORDS_MAX) {
		statement->wrong = "more than 500 macros, or one of more than "
		    "200 words";
		return;
	}
	reader->macros[reader->macro_count++] = (struct opensmtpd_macro){
		.name = statement->words[0].text,
		.words = statement->words + 2, .count = statement->count - 2
	};
}

bool
opensmtpd_next(struct arena *arena, struct opensmtpd_reader *reader,
    struct opensmtpd_statement *out)
{
	struct opensmtpd_word word;
	const char *wrong;
	int depth = 0;

	/* the line ends before it */
	(void)opensmtpd_skip(reader, 1);
	*out = (struct opensmtpd_statement){ .line = reader->line + 1 };
	if (reader->rest.n == 0)
		return false;
	while (opensmtpd_skip(reader, depth)) {
		wrong = opensmtpd_word_cut(arena, reader, &word);
		if (wrong != NULL)
			out->wrong = wrong;
		if (word.kind == OPENSMTPD_SIGN)
			depth += slice_is(word.text, "{") - slice_is(word.text,
			    "}");
		opensmtpd_word_fill(arena, reader, out, &word);
		if (depth < 0)
			out->wrong = "a } without its {";
	}
	if (depth > 0)
		out->wrong = "a { is not closed";
	opensmtpd_macro_keep(reader, out);
	return true;
}
