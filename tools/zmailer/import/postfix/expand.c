/* expand.c - $name in a value of Postfix
 *
 * In     a value, not trusted; a function that knows the values of names
 * Out    the value, expanded
 * Holds  nothing; depth and length are bounded
 * Spec   postconf(5): "${name?value}", "${name:value}", "${name?{a}:{b}}"
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "tools/zmailer/import/read.h"

#include "base/banned.h"

enum { EXPAND_DEPTH_MAX = 30, EXPAND_BYTES_MAX = 1 << 20,
	EXPAND_VALUE_BYTES_MAX = 1 << 16, EXPAND_STEPS_MAX = 2000 };

struct expand {
	import_lookup_fn	*lookup;
	void			*context;
	struct str		 text;
	struct err		*err;
	int			 depth, steps;
};

static int expand_text(struct expand *expand, struct slice text);

static bool
expand_is_name(char c)
{
	return ascii_is_alpha(c) || ascii_is_digit(c) || c == '_';
}

static int
expand_name(struct expand *expand, struct slice name)
{
	struct slice value;

	return expand->lookup(expand->context, name, &value) ?
	    expand_text(expand, value) : 0;
}

/* Take "{a}" from the front, or all of it, without brackets. */
static struct slice
expand_branch(struct slice *rest)
{
	struct slice branch = *rest;
	int depth = 0;

	if (!slice_starts(*rest, "{")) {
		*rest = slice_from(*rest, rest->n);
		return branch;
	}
	for (size_t i = 0; i < rest->n; i++) {
		depth += (rest->p[i] == '{') - (rest->p[i] == '}');
		if (depth == 0) {
			branch = (struct slice){ rest->p + 1, i - 1 };
			*rest = slice_from(*rest, i + 1);
			return branch;
		}
	}
	*rest = slice_from(*rest, rest->n);
	return branch;
}

/* The text in the brackets. */
static int
expand_condition(struct expand *expand, struct slice inner)
{
	size_t at = 0;
	struct slice name, value, rest, branch;
	bool is_set;

	while (at < inner.n && expand_is_name(inner.p[at]))
		at++;
	name = slice_first(inner, at);
	rest = slice_from(inner, at);
	if (name.n == 0)
		return err_set(expand->err, "${" SLICE_FMT "} is not "
		    "understood", SLICE_ARG(slice_first(inner, 80)));
	if (rest.n == 0)
		return expand_name(expand, name);
	is_set = expand->lookup(expand->context, name, &value) &&
	    slice_trim(value).n > 0;
	if (rest.p[0] == '?') {
		rest = slice_from(rest, 1);
		branch = expand_branch(&rest);
		if (is_set)
			return expand_text(expand, branch);
	}
	if (!slice_starts(rest, ":"))
		return 0;
	rest = slice_from(rest, 1);
	branch = expand_branch(&rest);
	return is_set ? 0 : expand_text(expand, branch);
}

/* Bytes up to the bracket that closes the one at the front; 0: none does. */
static size_t
expand_bracket(struct slice text)
{
	char open = text.p[0], shut = open == '{' ? '}' : ')';
	int depth = 0;

	for (size_t i = 0; i < text.n; i++) {
		depth += (text.p[i] == open) - (text.p[i] == shut);
		if (depth == 0)
			return i;
	}
	return 0;
}

/* After a dollar sign.  *rest moves on. */
static int
expand_dollar(struct expand *expand, struct slice *rest)
{
	struct slice name = { rest->p, 0 };
	size_t shut;

	if (++expand->steps > EXPAND_STEPS_MAX)
		return err_set(expand->err, "too many names in it");
	if (slice_starts(*rest, "$")) {
		str_addc(&expand->text, '$');
		*rest = slice_from(*rest, 1);
		return 0;
	}
	if (slice_starts(*rest, "{") || slice_starts(*rest, "(")) {
		shut = expand_bracket(*rest);
		if (shut == 0)
			return err_set(expand->err, "a bracket after $ is "
			    "not closed");
		name = (struct slice){ rest->p + 1, shut - 1 };
		*rest = slice_from(*rest, shut + 1);
		return expand_condition(expand, name);
	}
	while (name.n < rest->n && expand_is_name(rest->p[name.n]))
		name.n++;
	*rest = slice_from(*rest, name.n);
	if (name.n == 0)
		str_addc(&expand->text, '$');
	return name.n == 0 ? 0 : expand_name(expand, name);
}

static int
expand_pieces(struct expand *expand, struct slice text)
{
	while (text.n > 0) {
		size_t at = slice_find(text, '$');

		str_add_slice(&expand->text, slice_first(text, at));
		if (expand->text.len > EXPAND_BYTES_MAX)
			return err_set(expand->err, "it becomes longer than "
			    "%d bytes", EXPAND_BYTES_MAX);
		if (at == text.n)
			return 0;
		text = slice_from(text, at + 1);
		if (expand_dollar(expand, &text) != 0)
			return -1;
	}
	return 0;
}

static int
expand_text(struct expand *expand, struct slice text)
{
	int result;

	if (text.n > EXPAND_VALUE_BYTES_MAX)
		return err_set(expand->err, "it is longer than %d bytes",
		    EXPAND_VALUE_BYTES_MAX);
	if (expand->depth == EXPAND_DEPTH_MAX)
		return err_set(expand->err, "a name in it leads to itself");
	expand->depth++;
	result = expand_pieces(expand, text);
	expand->depth--;
	return result;
}

int
import_expand(struct arena *arena, struct slice value,
    import_lookup_fn *lookup, void *context, struct slice *out,
    struct err *err)
{
	struct expand expand = { .lookup = lookup, .context = context,
	    .text = STR_INIT, .err = err };
	int result = expand_text(&expand, value);

	*out = slice_trim(slice_copy(arena, str_slice(&expand.text)));
	str_release(&expand.text);
	return result;
}
