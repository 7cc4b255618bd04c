/* lex.c - tokens of zmailer.conf
 *
 * In     the bytes of a source, not trusted
 * Out    words, "strings", <tables>, { }, NAME=value, ends of statements
 * Holds  a place in the source: line and column, both from 1; a column is a
 *        character (UTF-8 sequences count once)
 * Spec   zmailer.conf(5), GRAMMAR
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/odd.h"
#include "conf/read/read.h"

#include "base/banned.h"

static int
lex_peek(const struct conf_lexer *lexer, size_t ahead)
{
	size_t at = lexer->at + ahead;

	if (at >= lexer->source->text.n)
		return -1;
	return (unsigned char)lexer->source->text.p[at];
}

static void
lex_step(struct conf_lexer *lexer)
{
	int c = lex_peek(lexer, 0);

	lexer->at++;
	if (c == '\n') {
		lexer->line++;
		lexer->column = 1;
	} else if ((c & 0xc0) != 0x80) {
		lexer->column++;
	}
}

static bool
lex_is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool
assign_is_name_byte(int c)
{
	return c >= 0 && (ascii_is_alnum((char)c) || c == '-' || c == '_' ||
	    c == '.');
}

static void
lex_skip_blanks(struct conf_lexer *lexer)
{
	while (lex_is_blank(lex_peek(lexer, 0)))
		lex_step(lexer);
	if (lex_peek(lexer, 0) != '#')
		return;
	while (lex_peek(lexer, 0) != '\n' && lex_peek(lexer, 0) != -1)
		lex_step(lexer);
}

static size_t
placeholder_bytes(const struct conf_lexer *lexer)
{
	return conf_placeholder_bytes(slice_from(lexer->source->text,
	    lexer->at));
}

static struct conf_token
token_begin(const struct conf_lexer *lexer)
{
	return (struct conf_token){
		.line = lexer->line, .column = lexer->column,
		.source = lexer->source,
		.raw = slice_from(lexer->source->text, lexer->at),
	};
}

/* The token reaches up to here. */
static void
token_finish(const struct conf_lexer *lexer, struct conf_token *token,
    enum conf_token_kind kind)
{
	size_t from = (size_t)(token->raw.p - lexer->source->text.p);

	token->kind = kind;
	token->raw.n = lexer->at - from;
	token->width = lexer->line == token->line ?
	    lexer->column - token->column : 1;
	if (token->width == 0)
		token->width = 1;
}

/* A blank, a quote or a dash of text where one of the keyboard was meant:
 * complained about where it stands, once a statement. */
static bool
lex_odd(struct conf_lexer *lexer)
{
	struct conf_token token = token_begin(lexer);
	struct odd odd;

	if (!odd_at(token.raw, &odd))
		return false;
	for (size_t i = 0; i < odd.bytes; i++)
		lex_step(lexer);
	token_finish(lexer, &token, TOKEN_BAD);
	if (!lexer->is_odd)
		conf_complain(lexer->loader, CONF_ERROR, &token, odd.mend,
		    "%s (U+%04X) has no place here", odd.name, odd.code);
	lexer->is_odd = true;
	return true;
}

static void
lex_word(struct conf_lexer *lexer, struct conf_token *token)
{
	bool is_odd = false;

	for (;;) {
		int c = lex_peek(lexer, 0);
		size_t skip = placeholder_bytes(lexer);

		if (skip == 0 && (c < 33 || c == ';' || c == '{' ||
		    c == '}' || c == 127))
			break;
		if (c > 127 && lex_odd(lexer)) {
			is_odd = true;
			continue;
		}
		for (lex_step(lexer); skip > 1; skip--)
			lex_step(lexer);
	}
	token_finish(lexer, token, is_odd ? TOKEN_BAD : TOKEN_WORD);
	token->text = token->raw;
}

/* A backslash and a line end: the lines belong to one statement, for who
 * wrote them. */
static bool
lex_joined(struct conf_lexer *lexer, struct conf_token *token)
{
	size_t n = 1;

	while (lex_is_blank(lex_peek(lexer, n)))
		n++;
	if (lex_peek(lexer, 0) != '\\' || lex_peek(lexer, n) != '\n')
		return false;
	lex_step(lexer);
	token_finish(lexer, token, TOKEN_BAD);
	token->text = token->raw;
	conf_complain(lexer->loader, CONF_ERROR, token,
	    "write the whole statement on one line, without the backslash",
	    "a backslash does not join lines");
	for (; n > 0; n--)
		lex_step(lexer);
	return true;
}

/* After the opening quote; \" and \\ are the escapes. */
static void
lex_string(struct conf_lexer *lexer, struct conf_token *token)
{
	struct str text = STR_INIT;
	struct odd odd;
	bool is_bad = false;
	int c;

	lex_step(lexer);
	while ((c = lex_peek(lexer, 0)) != '"' && c != '\n' && c != -1) {
		if (c == '\\') {
			lex_step(lexer);
			c = lex_peek(lexer, 0);
			if (c != '"' && c != '\\') {
				is_bad = true;
				continue;
			}
		}
		if ((c < 32 && c != '\t') || c == 127)
			is_bad = true;
		str_addc(&text, (char)c);
		lex_step(lexer);
	}
	if (c == '"')
		lex_step(lexer);
	token_finish(lexer, token, c == '"' && !is_bad ? TOKEN_STRING :
	    TOKEN_BAD);
	token->text = slice_copy(lexer->loader->conf->arena, str_slice(&text));
	str_release(&text);
	if (c != '"')
		conf_complain(lexer->loader, CONF_ERROR, token,
		    odd_find(token->raw, &odd) && odd.kind == ODD_QUOTE ?
		    "put a plain \" in the place of the quotation mark at its "
		    "end" : "put a \" where the text ends, on the same line",
		    "this string has no end");
	else if (is_bad)
		conf_complain(lexer->loader, CONF_ERROR, token,
		    "write \\\\ for a backslash and \\\" for a quote",
		    "this string has an unknown escape or control character "
		    "in it");
}

/* "<name>"; "<>" is a word (the null sender). */
static void
lex_table(struct conf_lexer *lexer, struct conf_token *token)
{
	size_t n = 1;

	while (assign_is_name_byte(lex_peek(lexer, n)))
		n++;
	if (lex_peek(lexer, n) == '>') {
		for (size_t i = 0; i <= n; i++)
			lex_step(lexer);
		token_finish(lexer, token, n == 1 ? TOKEN_WORD : TOKEN_TABLE);
		token->text = n == 1 ? token->raw : (struct slice){
		    token->raw.p + 1, n - 1 };
		return;
	}
	lex_word(lexer, token);
	token->kind = TOKEN_BAD;
	conf_complain(lexer->loader, CONF_ERROR, token,
	    "a table is written <name>; letters, digits, - _ . make a name",
	    "'" SLICE_FMT "' is not the name of a table",
	    SLICE_ARG(token->raw));
}

/* NAME= at the start of a statement?  Bytes of NAME, else 0. */
static size_t
assign_bytes(const struct conf_lexer *lexer)
{
	size_t n = 0;
	int c = lex_peek(lexer, 0);

	while (c == '_' || (c >= 0 && (ascii_is_upper((char)c) ||
	    (n > 0 && ascii_is_digit((char)c)))))
		c = lex_peek(lexer, ++n);
	return c == '=' ? n : 0;
}

/* What a shell would take as the value: quotes hold blanks together. */
static void
lex_assign(struct conf_lexer *lexer, struct conf_token *token, size_t n)
{
	int c, quote = 0;
	bool is_bad = false;

	token->name = slice_first(token->raw, n);
	for (size_t i = 0; i <= n; i++)
		lex_step(lexer);
	token->text.p = lexer->source->text.p + lexer->at;
	while ((c = lex_peek(lexer, 0)) != -1 && c != '\n') {
		if (quote == 0 && (lex_is_blank(c) || c == ';'))
			break;
		if (quote != 0 && c == quote)
			quote = 0;
		else if (quote == 0 && (c == '"' || c == '\''))
			quote = c;
		is_bad |= (c < 32 && c != '\t') || c == 127;
		lex_step(lexer);
	}
	token->text.n = (size_t)(lexer->source->text.p + lexer->at -
	    token->text.p);
	token_finish(lexer, token, quote == 0 && !is_bad ? TOKEN_ASSIGN :
	    TOKEN_BAD);
	if (is_bad)
		conf_complain(lexer->loader, CONF_ERROR, token,
		    "this is a file of text lines", "the value of " SLICE_FMT
		    " has control characters in it", SLICE_ARG(token->name));
	else if (quote != 0)
		conf_complain(lexer->loader, CONF_ERROR, token,
		    "the closing quote belongs on the same line",
		    "the value of " SLICE_FMT " has no end",
		    SLICE_ARG(token->name));
}

static void
lex_control(struct conf_lexer *lexer, struct conf_token *token, int c)
{
	lex_step(lexer);
	token_finish(lexer, token, TOKEN_BAD);
	conf_complain(lexer->loader, CONF_ERROR, token,
	    "delete it: this is a file of text lines",
	    "byte \\x%02X has no place here", (unsigned)c);
}

struct conf_token
conf_lex(struct conf_lexer *lexer)
{
	struct conf_token token;
	bool was_start = lexer->is_start;
	size_t n;
	int c;

	if (lexer->at == 0 && slice_starts(lexer->source->text, ODD_MARK))
		lexer->at = strlen(ODD_MARK);
	lex_skip_blanks(lexer);
	token = token_begin(lexer);
	c = lex_peek(lexer, 0);
	lexer->is_start = false;
	if (c == -1) {
		token_finish(lexer, &token, TOKEN_EOF);
	} else if (c == '\n' || c == ';') {
		lex_step(lexer);
		token_finish(lexer, &token, TOKEN_END);
		lexer->is_start = true;
		lexer->is_odd = false;
	} else if (c == '}' || (c == '{' && placeholder_bytes(lexer) == 0)) {
		lex_step(lexer);
		token_finish(lexer, &token, c == '{' ? TOKEN_OPEN :
		    TOKEN_CLOSE);
		lexer->is_start = c == '{';
	} else if (was_start && (n = assign_bytes(lexer)) > 0) {
		lex_assign(lexer, &token, n);
	} else if (c == '"') {
		lex_string(lexer, &token);
	} else if (c == '<') {
		lex_table(lexer, &token);
	} else if (c < 32 || c == 127) {
		lex_control(lexer, &token, c);
	} else if (!lex_joined(lexer, &token)) {
		lex_word(lexer, &token);
	}
	return token;
}
