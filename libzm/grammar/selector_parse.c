/* selector_parse.c - which messages are meant: the reader
 *
 * In     what a person wrote, bounded
 * Out    a tree in an arena; or what is wrong and where
 * Trusts nothing: depth and number of tests are bounded
 * Spec   selector.h
 *
 *	either  = both *( "or" both )
 *	both    = one *( [ "and" ] one )
 *	one     = "not" one / "(" either ")" / "all" / ID / KEY OP VALUE
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/guess.h"
#include "grammar/selector_internal.h"
#include "grammar/units.h"

#include "base/banned.h"

struct parser {
	struct arena	*arena;
	struct slice	 text;
	size_t		 at;		/* next byte */
	size_t		 column;	/* where the last word began */
	unsigned	 depth, tests;
	struct err	*err;
};

static struct selector *parse_either(struct parser *parser);

static struct selector *
node_new(struct parser *parser, int kind, struct selector *left,
    struct selector *right)
{
	struct selector *node = arena_alloc(parser->arena, sizeof(*node));

	memset(node, 0, sizeof(*node));
	node->kind = kind;
	node->left = left;
	node->right = right;
	return node;
}

static struct slice
rest_of(const struct parser *parser)
{
	return slice_from(parser->text, parser->at);
}

static void
selector_skip_blanks(struct parser *parser)
{
	while (parser->at < parser->text.n &&
	    ascii_is_space(parser->text.p[parser->at]))
		parser->at++;
	parser->column = parser->at;
}

/* Bytes up to a blank, bracket or operator. */
static size_t
selector_word_bytes(struct slice text)
{
	size_t n = 0;

	while (n < text.n && !ascii_is_space(text.p[n]) &&
	    !ascii_is_among(text.p[n], "():=<>!\""))
		n++;
	return n;
}

/* Take the word when it comes next. */
static bool
selector_take_word(struct parser *parser, const char *word)
{
	struct slice rest;

	selector_skip_blanks(parser);
	rest = rest_of(parser);
	if (!slice_is_nocase(slice_first(rest, selector_word_bytes(rest)),
	    word))
		return false;
	rest = slice_from(rest, strlen(word));
	if (rest.n > 0 && ascii_is_among(rest.p[0], ":=<>!"))
		return false;	/* a key of that name */
	parser->at += strlen(word);
	return true;
}

static bool
take_char(struct parser *parser, char c)
{
	selector_skip_blanks(parser);
	if (parser->at == parser->text.n || parser->text.p[parser->at] != c)
		return false;
	parser->at++;
	return true;
}

/* ---- a test -------------------------------------------------------- */

static bool
take_op(struct parser *parser, enum selector_op *out)
{
	struct slice rest = rest_of(parser);

	if (slice_starts(rest, ":")) {
		parser->at++;
		*out = OP_IS;
		return true;
	}
	for (int i = SELECTOR_OP_COUNT - 1; i >= 0; i--) {	/* >= first */
		if (!slice_starts(rest, selector_ops[i]))
			continue;
		if (strlen(selector_ops[i]) == 1 && rest.n > 1 &&
		    rest.p[1] == '=' && rest.p[0] != '=')
			continue;
		parser->at += strlen(selector_ops[i]);
		*out = (enum selector_op)i;
		return true;
	}
	return false;
}

/* A value: in quotes, or up to a blank or a closing bracket. */
static bool
selector_take_value(struct parser *parser, struct slice *out)
{
	struct slice rest;
	size_t n = 0;

	parser->column = parser->at;
	rest = rest_of(parser);
	if (slice_starts(rest, "\"")) {
		rest = slice_from(rest, 1);
		n = slice_find(rest, '"');
		if (n == rest.n) {
			err_set(parser->err, "the quote has no end");
			return false;
		}
		parser->at += n + 2;
	} else {
		while (n < rest.n && !ascii_is_space(rest.p[n]) && rest.p[n] !=
		    ')')
			n++;
		if (n == 0) {
			err_set(parser->err, "a value is missing");
			return false;
		}
		parser->at += n;
	}
	*out = slice_first(rest, n);
	return true;
}

static int
selector_read_number(struct slice value, int type, int64_t *out,
    struct err *err)
{
	bool is_negative = slice_starts(value, "-");
	uint64_t number;

	if (type == SELECTOR_SPAN) {
		if (units_span_ms(value, out, err) != 0)
			return -1;
		*out /= 1000;
		return 1;
	}
	if (type == SELECTOR_BYTES) {
		if (units_bytes(value, &number, err) != 0)
			return -1;
		*out = number > INT64_MAX ? INT64_MAX : (int64_t)number;
		return 1;
	}
	if (!slice_number(slice_from(value, is_negative), 0, INT64_MAX,
		&number))
		return err_set(err, "'" SLICE_FMT "' is not a number",
		    SLICE_ARG(slice_first(value, 40)));
	*out = is_negative ? -(int64_t)number : (int64_t)number;
	return 1;
}

static bool
take_operand(struct parser *parser, struct selector *test)
{
	const struct selector_key *key = &selector_keys[test->key];
	struct slice value;
	bool is_text = key->type == SELECTOR_TEXT ||
	    key->type == SELECTOR_ADDRESS;

	if (is_text && test->op != OP_IS && test->op != OP_IS_NOT) {
		err_set(parser->err, "%s is text: use : or != here",
		    key->name);
		return false;
	}
	if (!selector_take_value(parser, &value))
		return false;
	test->pattern = value;
	return is_text || selector_read_number(value, (int)key->type,
	    &test->number, parser->err) == 1;
}

/* Row of selector_keys; that of its end when there is none. */
static size_t
find_key(struct slice name)
{
	size_t key = 0;

	while (selector_keys[key].name != NULL &&
	    !slice_is_nocase(name, selector_keys[key].name))
		key++;
	return key;
}

static struct selector *
parse_test(struct parser *parser, struct slice name)
{
	struct selector *test = node_new(parser, NODE_TEST, NULL, NULL);

	test->key = find_key(name);
	if (selector_keys[test->key].name == NULL) {
		struct guess guess = { .word = name };

		for (size_t i = 0; selector_keys[i].name != NULL; i++)
			guess_offer(&guess, selector_keys[i].name);
		err_set(parser->err, "'" SLICE_FMT "' is no key%s%s%s: id, "
		    "from, to, dest, state, area, class, zone, user, source, "
		    "msgid, why, age, size, tries, priority are",
		    SLICE_ARG(slice_first(name, 40)),
		    guess.best != NULL ? ", did you mean '" : "",
		    guess.best != NULL ? guess.best : "",
		    guess.best != NULL ? "'?" : "");
		return NULL;
	}
	parser->column = parser->at;
	if (!take_op(parser, &test->op)) {
		err_set(parser->err, "one of : = != < <= > >= is missing");
		return NULL;
	}
	return take_operand(parser, test) ? test : NULL;
}

/* Letters and digits, and no word of the language. */
static bool
is_id(struct slice word)
{
	if (selector_keys[find_key(word)].name != NULL ||
	    slice_is_nocase(word, "and") || slice_is_nocase(word, "or"))
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (strchr("0123456789abcdefghijklmnopqrstuvwxyz"
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZ", word.p[i]) == NULL)
			return false;
	return word.n > 0;
}

static struct selector *
parse_word(struct parser *parser)
{
	struct slice rest = rest_of(parser), word;
	struct selector *node;

	if (++parser->tests > SELECTOR_TESTS_MAX) {
		err_set(parser->err, "more than %d tests",
		    SELECTOR_TESTS_MAX);
		return NULL;
	}
	word = slice_first(rest, selector_word_bytes(rest));
	parser->at += word.n;
	if (word.n < rest.n && ascii_is_among(rest.p[word.n], ":=<>!"))
		return parse_test(parser, word);
	if (!is_id(word)) {
		err_set(parser->err, rest.n == 0 ? "something is missing "
		    "here" : memchr(word.p, '@', word.n) != NULL ?
		    "an address alone says too little: to: or from: in front "
		    "of it" : "a test like from:bob@example.org, an id, or "
		    "all is wanted here");
		return NULL;
	}
	node = node_new(parser, NODE_ID, NULL, NULL);
	node->pattern = word;
	return node;
}

/* ---- tests together ------------------------------------------------- */

static struct selector *
selector_parse_one(struct parser *parser)
{
	struct selector *node = NULL;
	size_t open;

	if (++parser->depth > SELECTOR_DEPTH_MAX) {
		err_set(parser->err, "nested more than %d deep",
		    SELECTOR_DEPTH_MAX);
		return NULL;
	}
	if (selector_take_word(parser, "not")) {
		node = selector_parse_one(parser);
		if (node != NULL)
			node = node_new(parser, NODE_NOT, node, NULL);
	} else if (take_char(parser, '(')) {
		open = parser->column;
		node = parse_either(parser);
		if (node != NULL && !take_char(parser, ')')) {
			parser->column = open;
			err_set(parser->err, "the bracket has no end");
			node = NULL;
		}
	} else if (selector_take_word(parser, "all")) {
		node = node_new(parser, NODE_ALL, NULL, NULL);
	} else {
		node = parse_word(parser);
	}
	parser->depth--;
	return node;
}

/* Does another test follow, with or without `and`? */
static bool
selector_goes_on(struct parser *parser)
{
	size_t at;
	bool is_or;

	if (selector_take_word(parser, "and"))
		return true;
	selector_skip_blanks(parser);
	at = parser->at;
	is_or = selector_take_word(parser, "or");
	parser->at = at;
	return !is_or && at < parser->text.n && parser->text.p[at] != ')';
}

static struct selector *
parse_both(struct parser *parser)
{
	struct selector *left = selector_parse_one(parser), *right;

	while (left != NULL && selector_goes_on(parser)) {
		right = selector_parse_one(parser);
		left = right == NULL ? NULL :
		    node_new(parser, NODE_AND, left, right);
	}
	return left;
}

static struct selector *
parse_either(struct parser *parser)
{
	struct selector *left = parse_both(parser), *right;

	while (left != NULL && selector_take_word(parser, "or")) {
		right = parse_both(parser);
		left = right == NULL ? NULL :
		    node_new(parser, NODE_OR, left, right);
	}
	return left;
}

int
selector_parse(struct arena *arena, struct slice text,
    struct selector **out, size_t *out_column, struct err *err)
{
	struct parser parser = { .arena = arena, .err = err };

	*out_column = 0;
	*out = NULL;
	if (text.n > SELECTOR_BYTES_MAX)
		return err_set(err, "selector of %zu bytes, the limit is %d",
		    text.n, SELECTOR_BYTES_MAX);
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\0') {
			*out_column = i;
			return err_set(err, "a NUL byte");
		}
	parser.text = slice_copy(arena, text);
	selector_skip_blanks(&parser);
	*out_column = parser.at;
	if (parser.at == parser.text.n)
		return err_set(err, "the selector is empty: say 'all' when "
		    "everything is meant");
	*out = parse_either(&parser);
	if (*out != NULL) {
		selector_skip_blanks(&parser);
		if (parser.at < parser.text.n) {
			err_set(err, "a bracket too many");
			*out = NULL;
		}
	}
	*out_column = parser.column;
	return *out != NULL ? 0 : -1;
}
