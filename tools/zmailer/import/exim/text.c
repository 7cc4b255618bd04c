/* text.c - values of exim4.conf, taken apart
 *
 * In     a value, not trusted
 * Out    elements of lists, parts of expansions
 * Holds  nothing
 * Spec   the Exim specification, chapters 6.20 (lists) and 11 (expansions)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "tools/zmailer/import/exim/text.h"

#include "base/banned.h"

enum { TEXT_BYTES_MAX = 16 << 10, TEXT_FOLDS_MAX = 100 };

struct slice
exim4_unquote(struct arena *arena, struct slice value)
{
	struct str out = STR_INIT;
	struct slice copy;

	if (!slice_starts(value, "\""))
		return value;
	for (size_t i = 1; i < value.n && value.p[i] != '"'; i++) {
		char c = value.p[i];

		if (c == '\\' && i + 1 < value.n) {
			c = value.p[++i];
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		str_addc(&out, c);
	}
	copy = slice_copy(arena, str_slice(&out));
	str_release(&out);
	return copy;
}

/* ---- lists -------------------------------------------------------------- */

void
exim4_list_begin(struct slice value, struct exim4_list *out)
{
	value = slice_trim(value);
	*out = (struct exim4_list){ .rest = value, .separator = ':' };
	if (value.n > 1 && value.p[0] == '<' && !ascii_is_alnum(value.p[1]) &&
	    !ascii_is_space(value.p[1])) {
		out->separator = value.p[1];
		out->rest = slice_trim(slice_from(value, 2));
	}
	out->is_over = out->rest.n == 0;
}

bool
exim4_list_next(struct arena *arena, struct exim4_list *list,
    struct slice *out)
{
	struct slice rest = list->rest;
	struct str text = STR_INIT;
	int depth = 0;
	size_t i = 0;

	if (list->is_over)
		return false;
	for (; i < rest.n; i++) {
		char c = rest.p[i];

		depth += (c == '{') - (c == '}');
		if (c == list->separator && depth <= 0) {
			if (i + 1 == rest.n || rest.p[i + 1] != c)
				break;
			i++;
		}
		str_addc(&text, c);
	}
	/* one at the end ends the last element */
	list->rest = slice_trim(slice_from(rest, i + 1));
	list->is_over = list->rest.n == 0;
	*out = slice_trim(slice_copy(arena, str_slice(&text)));
	str_release(&text);
	return true;
}

/* ---- expansions --------------------------------------------------------- */

bool
exim4_brace_cut(struct slice *rest, struct slice *out)
{
	struct slice text = slice_trim(*rest);
	size_t depth = 0;

	if (!slice_starts(text, "{"))
		return false;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\\')
			i++;
		else if (text.p[i] == '{')
			depth++;
		else if (text.p[i] == '}' && --depth == 0) {
			*out = slice_trim((struct slice){ text.p + 1, i - 1 });
			*rest = slice_trim(slice_from(text, i + 1));
			return true;
		}
	}
	return false;
}

/* Operators that change nothing that matters to a look-up. */
static const char *const operators[] = { "lc:", "quote_local_part:",
	"quote_mysql:", "quote_pgsql:", "quote_sqlite:", "quote:" };

static bool
plain_is_name(struct slice name)
{
	if (name.n == 0 || ascii_is_digit(name.p[0]))
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_alnum(name.p[i]) && name.p[i] != '_')
			return false;
	return true;
}

/* A variable by its one name. */
static void
plain_name_add(struct slice name, struct str *out)
{
	if (slice_is(name, "local_part_data"))
		name = SLICE("local_part");
	else if (slice_is(name, "domain_data"))
		name = SLICE("domain");
	else if (slice_is(name, "home"))
		name = SLICE("home");
	str_addf(out, "$" SLICE_FMT, SLICE_ARG(name));
}

static void plain_add(struct slice text, int depth, struct str *out);

/* ${name} and ${operator:text}; what else there is stays as it is. */
static void
plain_brace_add(struct slice whole, struct slice inner, int depth,
    struct str *out)
{
	if (plain_is_name(inner)) {
		plain_name_add(inner, out);
		return;
	}
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (slice_starts(inner, operators[i])) {
			plain_add(slice_from(inner, strlen(operators[i])),
			    depth + 1, out);
			return;
		}
	str_add_slice(out, whole);
}

/* $name at the front.  returns its bytes; 0: there is none */
static size_t
plain_variable(struct slice text, struct str *out)
{
	size_t n = 1;

	while (n < text.n && (ascii_is_alnum(text.p[n]) || text.p[n] == '_'))
		n++;
	if (!plain_is_name(slice_first(slice_from(text, 1), n - 1)))
		return 0;
	plain_name_add(slice_first(slice_from(text, 1), n - 1), out);
	return n;
}

static void
plain_add(struct slice text, int depth, struct str *out)
{
	struct slice inner;
	size_t n;

	while (text.n > 0 && depth < 10) {
		if (slice_starts(text, "${")) {
			struct slice rest = slice_from(text, 1);

			if (exim4_brace_cut(&rest, &inner)) {
				n = (size_t)(inner.p + inner.n - text.p);
				while (text.p[n] != '}')
					n++;
				plain_brace_add(slice_first(text, n + 1),
				    inner, depth, out);
				text = slice_from(text, n + 1);
				continue;
			}
		}
		n = slice_starts(text, "\\N") ? 2 : slice_starts(text, "$") ?
		    plain_variable(text, out) : 0;
		if (n == 0) {
			str_addc(out, text.p[0]);
			n = 1;
		}
		text = slice_from(text, n);
	}
}

struct slice
exim4_plain(struct arena *arena, struct slice value)
{
	struct str out = STR_INIT;
	struct slice copy;

	plain_add(value, 0, &out);
	copy = slice_copy(arena, str_slice(&out));
	str_release(&out);
	return copy;
}

/* ---- look-ups ----------------------------------------------------------- */

/* "partial-lsearch*@", "partial2(x)lsearch*": the type without them. */
static void
lookup_type_cut(struct slice type, struct exim4_lookup *out)
{
	if (slice_starts(type, "partial")) {
		size_t at = slice_find(type, '-');

		out->is_partial = true;
		if (slice_find(type, ')') < type.n)
			at = slice_find(type, ')');
		type = slice_from(type, at + 1);
	}
	type = slice_first(type, slice_find(type, ','));
	out->is_star_at = slice_ends(type, "*@");
	out->is_star = out->is_star_at || slice_ends(type, "*");
	type.n -= out->is_star_at ? 2 : out->is_star ? 1 : 0;
	out->type = type;
	out->is_query = slice_is(type, "mysql") || slice_is(type, "pgsql") ||
	    slice_is(type, "sqlite") || slice_is(type, "redis") ||
	    slice_starts(type, "ldap") || slice_is(type, "dnsdb");
}

bool
exim4_lookup_cut(struct arena *arena, struct slice value,
    struct exim4_lookup *out)
{
	struct slice rest = slice_trim(value), inner, type;
	size_t n = 0;

	*out = (struct exim4_lookup){ .found = SLICE("$value"),
		.missing = SLICE("") };
	if (!slice_starts(rest, "${lookup"))
		return false;
	rest = slice_from(rest, 1);
	if (!exim4_brace_cut(&rest, &inner) || rest.n > 0)
		return false;
	rest = slice_trim(slice_from(inner, strlen("lookup")));
	if (slice_starts(rest, "{") && !exim4_brace_cut(&rest, &out->key))
		return false;
	while (n < rest.n && rest.p[n] != '{' && !ascii_is_space(rest.p[n]))
		n++;
	type = slice_first(rest, n);
	rest = slice_trim(slice_from(rest, n));
	lookup_type_cut(type, out);
	out->key = exim4_plain(arena, out->key);
	if (!exim4_brace_cut(&rest, &out->place))
		return false;
	if (exim4_brace_cut(&rest, &inner)) {
		out->found = exim4_plain(arena, inner);
		if (exim4_brace_cut(&rest, &inner))
			out->missing = inner;
	}
	return rest.n == 0 || slice_is(rest, "fail");
}

bool
exim4_lookup_item(struct slice item, struct exim4_lookup *out)
{
	size_t at = slice_find(item, ';');
	struct slice type = slice_first(item, at);

	*out = (struct exim4_lookup){ .found = SLICE("$value"),
		.missing = SLICE(""), .key = SLICE("") };
	if (at == item.n || type.n == 0 || slice_find(type, '.') < type.n)
		return false;
	out->place = slice_trim(slice_from(item, at + 1));
	lookup_type_cut(type, out);
	return true;
}

/* ---- what is known when it is read -------------------------------------- */

/* "exists{FILE}{A}{B}" after ${if.  returns false: it is not that */
static bool
fold_exists(struct slice inner, exim4_exists_fn *exists, void *context,
    struct str *out)
{
	struct slice rest = slice_trim(slice_from(inner, strlen("if")));
	struct slice path, yes, no = SLICE("");

	if (!slice_starts(rest, "exists"))
		return false;
	rest = slice_from(rest, strlen("exists"));
	if (!exim4_brace_cut(&rest, &path) || slice_find(path, '$') < path.n ||
	    !exim4_brace_cut(&rest, &yes))
		return false;
	(void)exim4_brace_cut(&rest, &no);
	str_add_slice(out, exists(context, path) ? yes : no);
	return true;
}

/* The first of them, filled in.  returns whether there was one */
static bool
fold_first(struct slice text, exim4_exists_fn *exists, void *context,
    struct str *out)
{
	struct slice rest, inner;

	for (size_t i = 0; i + 5 < text.n; i++) {
		if (!slice_starts(slice_from(text, i), "${if"))
			continue;
		rest = slice_from(text, i + 1);
		str_reset(out);
		str_add_slice(out, slice_first(text, i));
		if (!exim4_brace_cut(&rest, &inner) || !fold_exists(inner,
		    exists, context, out))
			continue;
		/* blanks at the end of what was in them are no part of it */
		rest = slice_from(text, (size_t)(inner.p + inner.n - text.p));
		str_add_slice(out, slice_from(rest, slice_find(rest, '}') +
		    1));
		return true;
	}
	return false;
}

struct slice
exim4_fold(struct arena *arena, struct slice value, exim4_exists_fn *exists,
    void *context)
{
	struct str out = STR_INIT;

	for (int i = 0; i < TEXT_FOLDS_MAX && value.n <= TEXT_BYTES_MAX &&
	    fold_first(value, exists, context, &out); i++)
		value = slice_trim(slice_copy(arena, str_slice(&out)));
	str_release(&out);
	return value;
}
