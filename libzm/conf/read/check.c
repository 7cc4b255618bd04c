/* check.c - a statement against its row
 *
 * In     nodes of the tree
 * Out    statements whose every word has its value; each is applied at
 *        once, in file order
 * Holds  which settings were given (in the book), to find the second one
 * Trusts the rows
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "conf/read/read.h"
#include "grammar/units.h"

#include "base/banned.h"

static const char *
usage_hint(struct conf_loader *loader, const struct conf_row *row)
{
	return arena_printf(loader->conf->arena, "write: %s", row->usage);
}

static bool
complain_missing(struct conf_cursor *cursor, const struct conf_token *name,
    const char *noun)
{
	conf_complain(cursor->loader, CONF_ERROR, name,
	    usage_hint(cursor->loader, cursor->row),
	    "'%s' needs %s", cursor->row->name, noun);
	return false;
}

static const char *
setting_hint(struct conf_cursor *cursor, struct slice key)
{
	struct guess guess = { .word = key };
	const char *hint;

	for (size_t i = 0; i < conf_setting_count; i++)
		if (strcmp(conf_settings[i].statement, cursor->row->name) == 0)
			guess_offer(&guess, conf_settings[i].key);
	hint = guess_hint(&guess, cursor->loader->conf->arena);
	return hint ? hint : arena_printf(cursor->loader->conf->arena,
	    "zmailer help %s lists them", cursor->row->name);
}

/* `statement VALUE` or `statement KEY VALUE`: which setting it is. */
static bool
take_setting(struct conf_cursor *cursor, struct conf_statement *statement)
{
	const struct conf_token *name = statement->node->tokens;
	const struct conf_setting *setting = conf_setting_find(
	    cursor->row->name, SLICE(""));

	if (setting == NULL) {
		if (cursor->next == cursor->end)
			return complain_missing(cursor, name, "a name and a "
			    "value");
		setting = conf_setting_find(cursor->row->name,
		    cursor->next->text);
		if (setting == NULL) {
			conf_complain(cursor->loader, CONF_ERROR,
			    cursor->next,
			    setting_hint(cursor, cursor->next->text),
			    "there is no %s '" SLICE_FMT "'",
			    cursor->row->name,
			    SLICE_ARG(slice_first(cursor->next->text, 100)));
			return false;
		}
		cursor->next++;
		cursor->subject = setting->key;
	}
	statement->setting = setting;
	if (cursor->next == cursor->end)
		return complain_missing(cursor, name,
		    conf_type_noun(slice_of(setting->type)));
	statement->args = arena_alloc(cursor->loader->conf->arena,
	    sizeof(*statement->args));
	statement->arg_count = 1;
	return conf_value_take(cursor, slice_of(setting->type),
	    statement->args);
}

static bool
take_arg(struct conf_cursor *cursor, struct conf_statement *statement,
    struct slice type)
{
	statement->args = arena_grow(cursor->loader->conf->arena,
	    statement->args, statement->arg_count, sizeof(*statement->args));
	return conf_value_take(cursor, type,
	    &statement->args[statement->arg_count++]);
}

static bool
take_args(struct conf_cursor *cursor, struct conf_statement *statement)
{
	struct slice rest = slice_of(cursor->row->args), type;

	while (slice_word(&rest, &type)) {
		bool is_optional = slice_ends(type, "?");
		bool is_list = slice_find(type, '+') < type.n;

		if (slice_is(type, "setting"))
			return take_setting(cursor, statement);
		if (is_optional)
			type.n--;
		if (cursor->next == cursor->end)
			return is_optional || complain_missing(cursor,
			    statement->node->tokens, conf_type_noun(type));
		if (!take_arg(cursor, statement, type))
			return false;
		while (is_list && cursor->next < cursor->end &&
		    (cursor->next->kind == TOKEN_TABLE ||
		    conf_keyword_find(cursor->row, cursor->next->text) < 0))
			if (!take_arg(cursor, statement, type))
				return false;
	}
	return true;
}

/* The words from here to the end, as they are written. */
static struct slice
raw_words(const struct conf_token *first, const struct conf_token *end)
{
	const struct conf_token *last = end - 1;

	return first >= end ? SLICE("") : (struct slice){ first->raw.p,
	    (size_t)(last->raw.p + last->raw.n - first->raw.p) };
}

/* Without the quotes of a shell or of a text. */
static struct slice
bare_of_quotes(struct slice text)
{
	while (text.n > 0 && ascii_is_among(text.p[0], "'\""))
		text = slice_from(text, 1);
	while (text.n > 0 && ascii_is_among(text.p[text.n - 1], "'\""))
		text.n--;
	return text;
}

/* A word more than the statement takes: it belongs to the one before. */
static const char *
stray_hint(const struct conf_cursor *cursor)
{
	const struct conf_token *word = cursor->next, *before = word - 1;
	struct arena *arena = cursor->loader->conf->arena;
	struct slice second = before > cursor->first ? before[-1].text :
	    SLICE("");		/* the word before the one before */
	struct slice line = slice_trim((struct slice){ before->raw.p,
	    (size_t)(word->raw.p + word->raw.n - before->raw.p) });
	int64_t span_ms;
	uint64_t number;

	if (word->kind == TOKEN_WORD && (slice_is(second, "error") ||
	    slice_is(second, "defer") ||
	    slice_starts(before->text, "'")))
		return arena_printf(arena, "write \"" SLICE_FMT "\", in quotes",
		    SLICE_ARG(bare_of_quotes(raw_words(before, cursor->end))));
	if (slice_is(word->text, "login"))
		return "write login NAME, and NAME PASSWORD into the table of "
		    "auth-to";
	if (slice_starts(before->text, "'") || slice_starts(word->text, "'"))
		return "a text stands in \"...\"";
	if (units_span_ms(word->text, &span_ms, NULL) == 0 &&
	    units_span_ms(before->text, &span_ms, NULL) == 0)
		return arena_printf(arena, "write " SLICE_FMT SLICE_FMT
		    ", in one word", SLICE_ARG(before->text),
		    SLICE_ARG(word->text));
	if (slice_number(word->text, 1, 65535, &number)) {
		if (strcmp(cursor->row->name, "listen") == 0)
			return arena_printf(arena, "write a statement for "
			    "each: listen %u", (unsigned)number);
		if (strncmp(cursor->row->name, "route", 5) == 0)
			return arena_printf(arena, "write " SLICE_FMT ":%u",
			    SLICE_ARG(before->text), (unsigned)number);
	}
	if (strcmp(cursor->row->name, "route") == 0 &&
	    slice_is(second, "route") &&
	    slice_find(word->text, '.') < word->text.n)
		return arena_printf(arena, "write via " SLICE_FMT,
		    SLICE_ARG(word->text));
	return line.n > 0 && slice_starts(word->text, "#") ?
	    "a comment begins after a blank" : NULL;
}

static bool
complain_unknown_word(struct conf_cursor *cursor)
{
	struct conf_loader *loader = cursor->loader;
	struct guess guess = { .word = cursor->next->text };
	struct slice rest = slice_of(cursor->row->keywords), name, type;
	const char *hint;
	bool is_needed;

	while (conf_spec_next(&rest, &name, &type, &is_needed))
		guess_offer(&guess, slice_dup(loader->conf->arena, name));
	hint = stray_hint(cursor);
	if (hint == NULL)
		hint = conf_foreign_hint(loader->conf->arena,
		    cursor->next->text, SLICE(""));
	if (hint == NULL)
		hint = guess_hint(&guess, loader->conf->arena);
	conf_complain(loader, CONF_ERROR, cursor->next,
	    hint ? hint : usage_hint(loader, cursor->row),
	    "'%s' knows no '" SLICE_FMT "'", cursor->row->name,
	    SLICE_ARG(slice_first(cursor->next->raw, 100)));
	return false;
}

/* One "word value" pair or flag. */
static bool
take_keyword(struct conf_cursor *cursor, struct conf_statement *statement)
{
	const struct conf_token *word = cursor->next;
	int index = conf_keyword_find(cursor->row, word->text);
	struct slice rest = slice_of(cursor->row->keywords), name, type;
	bool is_needed;

	if (index < 0 || word->kind != TOKEN_WORD)
		return complain_unknown_word(cursor);
	for (int i = 0; i <= index; i++)
		conf_spec_next(&rest, &name, &type, &is_needed);
	if (statement->keywords[index].token != NULL) {
		conf_complain(cursor->loader, CONF_ERROR, word,
		    "keep one of them", "'" SLICE_FMT "' stands here twice",
		    SLICE_ARG(name));
		return false;
	}
	statement->keywords[index].token = word;
	cursor->next++;
	if (type.p == NULL)
		return true;
	if (slice_starts(type, "?")) {
		if (cursor->next == cursor->end)
			return true;
		type = slice_from(type, 1);
	}
	cursor->subject = slice_dup(cursor->loader->conf->arena, name);
	if (cursor->next == cursor->end) {
		conf_complain(cursor->loader, CONF_ERROR, word,
		    usage_hint(cursor->loader, cursor->row),
		    "'%s' needs %s after it", cursor->subject,
		    conf_type_noun(type));
		return false;
	}
	return conf_value_take(cursor, type, &statement->keywords[index]);
}

static bool
take_keywords(struct conf_cursor *cursor, struct conf_statement *statement)
{
	struct slice rest = slice_of(cursor->row->keywords), name, type;
	bool is_good = true, is_needed;

	while (cursor->next < cursor->end) {
		if (!take_keyword(cursor, statement)) {
			is_good = false;
			break;
		}
	}
	for (int i = 0; is_good &&
	    conf_spec_next(&rest, &name, &type, &is_needed); i++) {
		if (!is_needed || statement->keywords[i].token != NULL)
			continue;
		conf_complain(cursor->loader, CONF_ERROR,
		    statement->node->tokens,
		    usage_hint(cursor->loader, cursor->row),
		    "'%s' needs '" SLICE_FMT "'", cursor->row->name,
		    SLICE_ARG(name));
		is_good = false;
	}
	return is_good;
}

/* "host=mx", "host: mx": somebody thinks of another system. */
static const char *
assign_hint(struct conf_loader *loader, enum conf_group group,
    struct slice word)
{
	size_t n = 0;

	while (n < word.n && word.p[n] != '=' && word.p[n] != ':')
		n++;
	if (n == word.n || conf_row_find(group, slice_first(word, n)) == NULL)
		return NULL;
	return arena_printf(loader->conf->arena, "write '" SLICE_FMT
	    "' and a blank, without '%c'", SLICE_ARG(slice_first(word, n)),
	    word.p[n]);
}

/* Does the line of the token begin like a comment of another language? */
static bool
is_foreign_comment(const struct conf_token *token)
{
	const char *p = token->raw.p, *text = token->source->text.p;

	while (p > text && p[-1] != '\n')
		p--;
	while (*p == ' ' || *p == '\t')
		p++;
	return *p == ';' || slice_starts(token->raw, "//") ||
	    slice_starts(token->raw, "/*") || slice_starts(token->raw, "--") ||
	    slice_starts(token->raw, "*/") || slice_is(token->raw, "dnl");
}

/* Into which block an item belongs. */
static const char *
outside_hint(struct conf_loader *loader, enum conf_group group)
{
	for (size_t i = 0; i < conf_row_count; i++)
		if (conf_rows[i].group == GROUP_TOP &&
		    conf_rows[i].block == group)
			return arena_printf(loader->conf->arena,
			    "this belongs into the { } of '%s': %s",
			    conf_rows[i].name, conf_rows[i].usage);
	return "this belongs into the { } of a statement";
}

/* What may stand in a block. */
static const char *
inside_hint(struct conf_loader *loader, enum conf_group group)
{
	struct str text = STR_INIT;
	const char *hint;

	str_adds(&text, "one of:");
	for (size_t i = 0; i < conf_row_count; i++)
		if (conf_rows[i].group == group)
			str_addf(&text, " %s", conf_rows[i].name);
	hint = slice_dup(loader->conf->arena, str_slice(&text));
	str_release(&text);
	return hint;
}

static void
complain_unknown(struct conf_loader *loader, const struct conf_node *node,
    enum conf_group group)
{
	const struct conf_token *token = node->tokens;
	struct guess guess = { .word = token->text };
	const char *hint = assign_hint(loader, group, token->text);
	const char *other = NULL;

	if (hint == NULL && is_foreign_comment(token))
		hint = "a comment begins with #";
	if (hint == NULL)
		hint = conf_foreign_hint(loader->conf->arena, token->text,
		    raw_words(token + 1, token + node->count));

	for (size_t i = 0; i < conf_row_count; i++) {
		if (conf_rows[i].group == group)
			guess_offer(&guess, conf_rows[i].name);
		else if (other == NULL &&
		    slice_is(token->text, conf_rows[i].name))
			other = group == GROUP_TOP ?
			    outside_hint(loader, conf_rows[i].group) :
			    "this is a statement of its own, not part of "
			    "the { }: write it after the }";
	}
	if (hint == NULL && (other == NULL || guess.distance == 1))
		hint = guess_hint(&guess, loader->conf->arena);
	if (hint == NULL)
		hint = other;
	if (hint == NULL)
		hint = group == GROUP_TOP ? "zmailer.conf(5) has all "
		    "statements" : inside_hint(loader, group);
	conf_complain(loader, CONF_ERROR, token, hint, "unknown %s '" SLICE_FMT
	    "'", group == GROUP_TOP ? "statement" : "item",
	    SLICE_ARG(slice_first(token->raw, 100)));
}

/* The row of a statement; names of two words ("limit rate") go first. */
static const struct conf_row *
node_row(const struct conf_node *node, enum conf_group group,
    size_t *out_words)
{
	const struct conf_token *name = node->tokens;
	const struct conf_row *row = NULL;
	char both[64];

	if (name->kind != TOKEN_WORD)
		return NULL;
	*out_words = 2;
	if (node->count > 1 && name[1].kind == TOKEN_WORD &&
	    snprintf(both, sizeof(both), SLICE_FMT " " SLICE_FMT,
	    SLICE_ARG(slice_first(name->text, 30)),
	    SLICE_ARG(slice_first(name[1].text, 30))) > 0)
		row = conf_row_find(group, slice_of(both));
	if (row != NULL)
		return row;
	*out_words = 1;
	return conf_row_find(group, name->text);
}

/* "size = 10M", as in most other files. */
static bool
complain_assign(struct conf_loader *loader, const struct conf_node *node,
    size_t words)
{
	const struct conf_token *sign = node->tokens + words;
	const struct conf_token *end = node->tokens + node->count;

	if (sign >= end || sign->kind != TOKEN_WORD ||
	    (!slice_is(sign->text, "=") && !slice_is(sign->text, ":") &&
	    !slice_is(sign->text, ":=")))
		return false;
	conf_complain(loader, CONF_ERROR, sign,
	    arena_printf(loader->conf->arena, "write: " SLICE_FMT " " SLICE_FMT,
	    SLICE_ARG(raw_words(node->tokens, sign)),
	    SLICE_ARG(raw_words(sign + 1, end))),
	    "'" SLICE_FMT "' has no place here", SLICE_ARG(sign->text));
	return true;
}

static void
check_node(struct conf_loader *loader, const struct conf_node *node,
    enum conf_group group, void *target)
{
	const struct conf_token *name = node->tokens;
	const struct conf_row *row;
	size_t words;
	struct conf_statement statement = { .node = node };
	struct conf_cursor cursor = { .loader = loader };

	if (name->kind == TOKEN_ASSIGN) {
		if (group == GROUP_TOP && node->count == 1 && !node->has_block)
			conf_zenv(loader, name);
		else
			conf_complain(loader, CONF_ERROR,
			    node->count > 1 ? name + 1 : name,
			    "a value with blanks in it wants quotes",
			    "NAME=value stands alone on its line");
		return;
	}
	row = node_row(node, group, &words);
	if (row == NULL) {
		complain_unknown(loader, node, group);
		return;
	}
	if (node->has_block && row->block == GROUP_NONE) {
		conf_complain(loader, CONF_ERROR, name,
		    usage_hint(loader, row), "'%s' takes no block", row->name);
		return;
	}
	if (complain_assign(loader, node, words))
		return;
	statement.row = cursor.row = row;
	cursor.first = node->tokens;
	cursor.next = node->tokens + words;
	cursor.end = node->tokens + node->count;
	if (take_args(&cursor, &statement) &&
	    take_keywords(&cursor, &statement))
		row->apply(loader, &statement, target);
}

/* A table that could not be made is there all the same for those who refer
 * to it: one mistake, one complaint. */
static void
keep_table_name(struct conf_loader *loader, const struct conf_node *node)
{
	struct conf *conf = loader->conf;
	const char *name;

	if (node->count < 2 || !slice_is(node->tokens[0].text, "table"))
		return;
	name = slice_dup(conf->arena, node->tokens[1].text);
	if (conf_table_find(conf, name) != NULL)
		return;
	conf->tables = arena_grow(conf->arena, conf->tables, conf->table_count,
	    sizeof(*conf->tables));
	conf->tables[conf->table_count++] = (struct conf_table){
		.name = name, .spec = "inline:",
		.at = conf_at(&node->tokens[0]),
	};
}

void
conf_check_list(struct conf_loader *loader, const struct conf_node *list,
    enum conf_group group, void *target)
{
	for (; list != NULL; list = list->next) {
		if (!list->is_bad && list->count > 0)
			check_node(loader, list, group, target);
		if (group == GROUP_TOP)
			keep_table_name(loader, list);
	}
}
