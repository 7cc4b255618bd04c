/* edit.c - change the text of a configuration, and keep the rest of it
 *
 * In     a text; a statement of it
 * Out    the text with that statement added or gone
 * Holds  nothing
 * Trusts no text to parse: places are never outside of it
 * Spec   zmailer.conf(5), GRAMMAR
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/edit.h"
#include "conf/read/read.h"

#include "base/banned.h"

/* ---- reading ----------------------------------------------------------- */

struct walk {
	struct conf_lexer	 lexer;
	struct conf_token	 token;
	struct arena		*arena;
	const char		*base;
};

static size_t
edit_place(const struct walk *walk, const char *p)
{
	return (size_t)(p - walk->base);
}

static void
word_add(struct walk *walk, struct conf_piece *piece)
{
	const struct conf_token *token = &walk->token;

	piece->words = arena_grow(walk->arena, piece->words,
	    piece->word_count, sizeof(*piece->words));
	piece->words[piece->word_count++] = (struct conf_word){
		.begin = edit_place(walk, token->raw.p),
		.end = edit_place(walk, token->raw.p) + token->raw.n,
		.text = token->text, .is_table = token->kind == TOKEN_TABLE };
}

/* From the first word up to the end of the statement. */
static struct conf_piece
piece_take(struct walk *walk)
{
	struct conf_piece piece = { .begin = edit_place(walk,
					walk->token.raw.p) };
	unsigned depth = 0;

	for (;;) {
		enum conf_token_kind kind = walk->token.kind;

		if (kind == TOKEN_EOF || (depth == 0 && (kind == TOKEN_END ||
		    kind == TOKEN_CLOSE)))
			return piece;
		if (kind == TOKEN_OPEN) {
			depth++;
			piece.has_block = true;
		} else if (kind == TOKEN_CLOSE) {
			depth--;
		} else if (kind != TOKEN_END && depth == 0 &&
		    !piece.has_block) {
			word_add(walk, &piece);
		}
		piece.end = edit_place(walk, walk->token.raw.p) +
		    walk->token.raw.n;
		walk->token = conf_lex(&walk->lexer);
	}
}

size_t
conf_pieces(struct arena *arena, struct slice text, struct conf_piece **out)
{
	struct conf conf = { .arena = arena };
	struct conf_report report = { .complaints = NULL };
	struct conf_book book = { .sources = NULL };
	struct conf_loader loader = { .conf = &conf, .report = &report,
	    .report_arena = arena, .book = &book };
	struct conf_source source = { .name = "", .text = text };
	struct walk walk = { .arena = arena, .base = text.p,
	    .lexer = { .loader = &loader, .source = &source, .line = 1,
	    .column = 1, .is_start = true } };
	size_t count = 0;

	*out = NULL;
	walk.token = conf_lex(&walk.lexer);
	while (walk.token.kind != TOKEN_EOF) {
		struct conf_piece piece;

		if (walk.token.kind == TOKEN_END ||
		    walk.token.kind == TOKEN_CLOSE) {
			walk.token = conf_lex(&walk.lexer);
			continue;
		}
		piece = piece_take(&walk);
		if (piece.word_count == 0)
			continue;
		*out = arena_grow(arena, *out, count, sizeof(**out));
		(*out)[count++] = piece;
	}
	return count;
}

bool
conf_piece_is(const struct conf_piece *piece, size_t index, const char *word)
{
	return index < piece->word_count && !piece->words[index].is_table &&
	    slice_is_nocase(piece->words[index].text, word);
}

/* ---- writing ------------------------------------------------------------ */

static void
edit_replace(struct str *text, size_t begin, size_t end, const char *with)
{
	struct str fresh = STR_INIT;

	str_add(&fresh, text->buf, begin);
	str_adds(&fresh, with);
	str_add(&fresh, text->buf + end, text->len - end);
	str_release(text);
	*text = fresh;
}

static size_t
line_begin(const struct str *text, size_t at)
{
	while (at > 0 && text->buf[at - 1] != '\n')
		at--;
	return at;
}

/* After the LF; the text's end when there is none. */
static size_t
text_line_end(const struct str *text, size_t at)
{
	while (at < text->len && text->buf[at] != '\n')
		at++;
	return at < text->len ? at + 1 : at;
}

static size_t
first_of_line(const struct str *text, size_t at)
{
	at = line_begin(text, at);
	while (at < text->len && (text->buf[at] == ' ' ||
	    text->buf[at] == '\t'))
		at++;
	return at;
}

void
conf_put_before(struct str *text, const struct conf_piece *piece,
    const char *lines)
{
	size_t at = line_begin(text, piece->begin);

	while (at > 0 && text->buf[first_of_line(text, at - 1)] == '#')
		at = line_begin(text, at - 1);
	edit_replace(text, at, at, lines);
}

void
conf_put_after(struct str *text, const struct conf_piece *piece,
    const char *lines)
{
	size_t at = text_line_end(text, piece->end);

	if (at == text->len)
		conf_put_last(text, lines);
	else
		edit_replace(text, at, at, lines);
}

void
conf_put_last(struct str *text, const char *lines)
{
	if (text->len > 0 && text->buf[text->len - 1] != '\n')
		str_addc(text, '\n');
	str_adds(text, lines);
}

static bool
piece_is_any(const struct conf_piece *piece, const char *const *words)
{
	while (*words != NULL && !conf_piece_is(piece, 0, *words))
		words++;
	return *words != NULL;
}

void
conf_put_before_first(struct arena *arena, struct str *text,
    const char *const *words, const char *lines)
{
	struct conf_piece *pieces;
	size_t count = conf_pieces(arena, str_slice(text), &pieces), i = 0;

	while (i < count && !piece_is_any(&pieces[i], words))
		i++;
	if (i < count)
		conf_put_before(text, &pieces[i], lines);
	else
		conf_put_last(text, lines);
}

void
conf_put_after_last(struct arena *arena, struct str *text,
    const char *const *words, const char *lines)
{
	struct conf_piece *pieces;
	size_t count = conf_pieces(arena, str_slice(text), &pieces);

	while (count > 0 && !piece_is_any(&pieces[count - 1], words))
		count--;
	if (count > 0)
		conf_put_after(text, &pieces[count - 1], lines);
	else
		conf_put_last(text, lines);
}

void
conf_take_piece(struct str *text, const struct conf_piece *piece)
{
	size_t begin = first_of_line(text, piece->begin), end = piece->end;

	while (end < text->len && (text->buf[end] == ' ' ||
	    text->buf[end] == '\t' || text->buf[end] == '\r'))
		end++;
	if (begin == piece->begin && (end == text->len ||
	    text->buf[end] == '\n')) {
		edit_replace(text, line_begin(text, begin),
		    text_line_end(text, end), "");
		return;
	}
	if (end < text->len && text->buf[end] == ';')
		end++;
	edit_replace(text, piece->begin, end, "");
}

void
conf_take_word(struct str *text, const struct conf_word *word)
{
	size_t begin = word->begin;

	while (begin > 0 && (text->buf[begin - 1] == ' ' ||
	    text->buf[begin - 1] == '\t'))
		begin--;
	edit_replace(text, begin, word->end, "");
}

/* ---- files ------------------------------------------------------------- */

size_t
conf_sources(const struct conf *conf, const char **out, size_t max)
{
	struct conf_draft texts[CONF_FILES_MAX + 1];
	size_t count = conf_texts(conf, texts, CONF_FILES_MAX + 1);

	for (size_t i = 0; i < count && i < max; i++)
		out[i] = texts[i].path;
	return count;
}

bool
conf_is_empty(const struct conf *conf)
{
	struct conf_draft texts[CONF_FILES_MAX + 1];
	size_t count = conf_texts(conf, texts, CONF_FILES_MAX + 1);
	struct slice rest, line;

	for (size_t i = 0; i < count && i < CONF_FILES_MAX + 1; i++) {
		rest = texts[i].text;
		while (slice_cut(&rest, '\n', &line)) {
			line = slice_trim(line);
			if (line.n > 0 && line.p[0] != '#')
				return false;
		}
	}
	return true;
}
