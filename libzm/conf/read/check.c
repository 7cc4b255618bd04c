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

#include "conf/read/read.h"

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
	statement->args = conf_push(cursor->loader->conf->arena,
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
		conf_complain(cursor->loader, CONF_ERROR, word, NULL,
		    "'" SLICE_FMT "' stands here twice", SLICE_ARG(name));
		return false;
	}
	statement->keywords[index].token = word;
	cursor->next++;
	if (type.p == NULL)
		return true;
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

/* "host=mx": somebody thinks of another system. */
static const char *
assign_hint(struct conf_loader *loader, enum conf_group group,
    struct slice word)
{
	struct slice rest = word, name;

	slice_cut(&rest, '=', &name);
	if (rest.p == NULL || conf_row_find(group, name) == NULL)
		return NULL;
	return arena_printf(loader->conf->arena, "write '" SLICE_FMT
	    "' and a blank, without '='", SLICE_ARG(name));
}

static void
complain_unknown(struct conf_loader *loader, const struct conf_token *token,
    enum conf_group group)
{
	struct guess guess = { .word = token->text };
	const char *hint = assign_hint(loader, group, token->text);
	const char *other = NULL;

	for (size_t i = 0; i < conf_row_count; i++) {
		if (conf_rows[i].group == group)
			guess_offer(&guess, conf_rows[i].name);
		else if (slice_is(token->text, conf_rows[i].name))
			other = group == GROUP_TOP ?
			    "this belongs into the { } of a statement" :
			    "this is a statement of its own, not part of "
			    "the { }";
	}
	if (hint == NULL)
		hint = guess_hint(&guess, loader->conf->arena);
	if (hint == NULL)
		hint = other;
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
		complain_unknown(loader, name, group);
		return;
	}
	if (node->has_block && row->block == GROUP_NONE) {
		conf_complain(loader, CONF_ERROR, name,
		    usage_hint(loader, row), "'%s' takes no block", row->name);
		return;
	}
	statement.row = cursor.row = row;
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
	conf->tables = conf_push(conf->arena, conf->tables, conf->table_count,
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
