/* parse.c - statements and their blocks
 *
 * In     tokens
 * Out    a tree of nodes; one that is broken is marked and was complained
 *        about, and reading goes on after it
 * Holds  nothing across calls
 * Spec   zmailer.conf(5), GRAMMAR
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "conf/read/read.h"

#include "base/banned.h"

struct parser {
	struct conf_loader	*loader;
	struct conf_lexer	 lexer;
	struct conf_token	 token;		/* the one in hand */
};

static void
parse_advance(struct parser *parser)
{
	parser->token = conf_lex(&parser->lexer);
}

static bool
ends_list(const struct parser *parser)
{
	return parser->token.kind == TOKEN_EOF ||
	    parser->token.kind == TOKEN_CLOSE;
}

/* After the closing brace that belongs to the open one just read. */
static void
skip_block(struct parser *parser)
{
	unsigned depth = 1;

	while (depth > 0 && parser->token.kind != TOKEN_EOF) {
		if (parser->token.kind == TOKEN_OPEN)
			depth++;
		if (parser->token.kind == TOKEN_CLOSE)
			depth--;
		parse_advance(parser);
	}
}

static void
skip_statement(struct parser *parser)
{
	while (parser->token.kind != TOKEN_END && !ends_list(parser)) {
		bool is_open = parser->token.kind == TOKEN_OPEN;

		parse_advance(parser);
		if (is_open)
			skip_block(parser);
	}
}

static struct conf_node *parse_list(struct parser *parser, unsigned depth);

/* A statement that cannot stand inside is most likely where it ended. */
static const char *
block_end_hint(struct conf_loader *loader, const struct conf_node *node)
{
	const struct conf_row *row = node->count == 0 ? NULL :
	    conf_row_find(GROUP_TOP, node->tokens[0].text);

	for (const struct conf_node *child = node->children;
	    row != NULL && child != NULL; child = child->next)
		if (child->count > 0 && row->block != GROUP_LINES &&
		    conf_row_find(row->block, child->tokens[0].text) == NULL &&
		    conf_row_find(GROUP_TOP, child->tokens[0].text) != NULL)
			return arena_printf(loader->conf->arena,
			    "put a } before line %u", child->tokens[0].line);
	return "put a } where it ends";
}

/* At "{"; leaves after "}". */
static void
parse_block(struct parser *parser, struct conf_node *node, unsigned depth)
{
	struct conf_token open = parser->token;

	parse_advance(parser);
	node->has_block = true;
	if (depth >= CONF_NESTING_MAX) {
		node->is_bad = parser->loader->is_partial = true;
		conf_complain(parser->loader, CONF_ERROR, &open, NULL,
		    "blocks are nested more than %d deep", CONF_NESTING_MAX);
		skip_block(parser);
		return;
	}
	node->children = parse_list(parser, depth + 1);
	if (parser->token.kind == TOKEN_CLOSE) {
		parse_advance(parser);
		return;
	}
	node->is_bad = parser->loader->is_partial = true;
	conf_complain(parser->loader, CONF_ERROR, &open,
	    block_end_hint(parser->loader, node), "this block has no end");
}

/* "/home/{users}/Maildir": no block begins in the middle of a path. */
static bool
block_is_in_path(const struct parser *parser, const struct conf_node *node)
{
	const struct conf_token *last = &node->tokens[node->count - 1];
	struct slice rest;
	size_t n = 1;

	if (!slice_starts(last->raw, "/") ||
	    last->raw.p + last->raw.n != parser->token.raw.p)
		return false;
	rest = slice_from(parser->lexer.source->text,
	    (size_t)(parser->token.raw.p - parser->lexer.source->text.p));
	while (n < rest.n && (ascii_is_alpha(rest.p[n]) ||
	    ascii_is_digit(rest.p[n])))
		n++;
	return n > 1 && n < rest.n && rest.p[n] == '}';
}

static void
complain_placeholder(struct parser *parser, struct conf_node *node)
{
	conf_complain(parser->loader, CONF_ERROR, &parser->token,
	    "write {user}, {home}, {domain} or {detail}",
	    "nothing is called so that could stand in a path");
	node->is_bad = true;
	skip_statement(parser);
}

/* Words and at the most one block, up to the end of the statement. */
static struct conf_node *
parse_statement(struct parser *parser, unsigned depth)
{
	struct arena *arena = parser->loader->conf->arena;
	struct conf_node *node = arena_alloc(arena, sizeof(*node));

	while (parser->token.kind != TOKEN_END &&
	    parser->token.kind != TOKEN_OPEN && !ends_list(parser)) {
		node->is_bad |= parser->token.kind == TOKEN_BAD;
		node->tokens = arena_grow(arena, node->tokens, node->count,
		    sizeof(*node->tokens));
		node->tokens[node->count++] = parser->token;
		parse_advance(parser);
	}
	if (parser->token.kind == TOKEN_OPEN && node->count == 0) {
		conf_complain(parser->loader, CONF_ERROR, &parser->token,
		    "write the { on the line of its statement, at its end",
		    "this block belongs to no statement");
		node->is_bad = true;
		skip_statement(parser);
		return node;
	}
	if (parser->token.kind == TOKEN_OPEN &&
	    block_is_in_path(parser, node)) {
		complain_placeholder(parser, node);
		return node;
	}
	if (parser->token.kind == TOKEN_OPEN)
		parse_block(parser, node, depth);
	if (parser->token.kind != TOKEN_END && !ends_list(parser)) {
		if (!node->is_bad)
			conf_complain(parser->loader, CONF_ERROR,
			    &parser->token,
			    "begin the next statement on a line of its own",
			    "a statement ends after its block");
		node->is_bad = true;
		skip_statement(parser);
	}
	return node;
}

static struct conf_node *
parse_list(struct parser *parser, unsigned depth)
{
	struct conf_node *first = NULL, **end = &first;

	while (!ends_list(parser)) {
		if (parser->token.kind == TOKEN_END) {
			parse_advance(parser);
			continue;
		}
		*end = parse_statement(parser, depth);
		end = &(*end)->next;
	}
	return first;
}

struct conf_node *
conf_parse_tree(struct conf_loader *loader, const struct conf_source *source)
{
	struct parser parser = {
		.loader = loader,
		.lexer = { .loader = loader, .source = source, .line = 1,
		    .column = 1, .is_start = true },
	};
	struct conf_node *first = NULL, **end = &first;

	parse_advance(&parser);
	for (;;) {
		*end = parse_list(&parser, 0);
		while (*end != NULL)
			end = &(*end)->next;
		if (parser.token.kind == TOKEN_EOF)
			return first;
		conf_complain(loader, CONF_ERROR, &parser.token,
		    "delete it, or write the { of its block at the end of "
		    "the statement", "this } closes nothing");
		parse_advance(&parser);
	}
}
