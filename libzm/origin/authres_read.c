/* authres_read.c - what somebody else's field of results says
 *
 * In     the value of (ARC-)Authentication-Results
 * Out    methods, results, properties
 * Trusts nobody: what cannot be read is no result
 * Spec   RFC 8601 section 2.2
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "origin/authres_read.h"

#include "base/banned.h"

bool
authres_skip(struct slice *rest)
{
	int depth = 0;
	size_t i;

	for (i = 0; i < rest->n; i++) {
		char c = rest->p[i];

		if (depth > 0 && c == '\\')
			i++;
		else if (c == '(')
			depth++;
		else if (c == ')' && depth > 0)
			depth--;
		else if (depth == 0 && !ascii_is_space(c))
			break;
		if (depth > AUTHRES_DEPTH_MAX)
			return false;
	}
	*rest = slice_from(*rest, i);
	return depth == 0;
}

/* Where the next ";" stands that is in no quotes and in no comment, or the
 * end. */
static size_t
authres_find_end(struct slice text)
{
	bool is_quoted = false;
	int depth = 0;
	size_t i;

	for (i = 0; i < text.n; i++) {
		char c = text.p[i];

		if ((is_quoted || depth > 0) && c == '\\')
			i++;
		else if (depth == 0 && c == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && c == '(')
			depth++;
		else if (!is_quoted && c == ')' && depth > 0)
			depth--;
		else if (!is_quoted && depth == 0 && c == ';')
			break;
	}
	return i < text.n ? i : text.n;
}

/* As far as a value goes: to the first blank or comment outside of quotes. */
static size_t
authres_value_end(struct slice text)
{
	bool is_quoted = false;
	size_t i;

	for (i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (is_quoted && c == '\\')
			i++;
		else if (c == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && (ascii_is_space(c) || c == '('))
			break;
	}
	return i < text.n ? i : text.n;
}

/* "name = value" from the front, with comments anywhere between. */
static bool
authres_pair(struct slice *rest, struct slice *name, struct slice *value)
{
	size_t n = 0;

	if (!authres_skip(rest))
		return false;
	while (n < rest->n && !ascii_is_space(rest->p[n]) &&
	    rest->p[n] != '=' && rest->p[n] != '(')
		n++;
	*name = slice_first(*rest, n);
	*rest = slice_from(*rest, n);
	if (n == 0 || !authres_skip(rest) || !slice_starts(*rest, "="))
		return false;
	*rest = slice_from(*rest, 1);
	if (!authres_skip(rest))
		return false;
	n = authres_value_end(*rest);
	*value = slice_first(*rest, n);
	*rest = slice_from(*rest, n);
	return n > 0;
}

bool
authres_next(struct slice *rest, struct authres_result *out)
{
	struct slice method;

	while (rest->n > 0) {
		*rest = slice_from(*rest, authres_find_end(*rest));
		if (rest->n == 0)
			break;
		*rest = slice_from(*rest, 1);
		out->rest = slice_first(*rest, authres_find_end(*rest));
		if (!authres_pair(&out->rest, &out->method, &out->result))
			continue;
		/* "dkim/1": of this version of the method */
		method = slice_first(out->method, slice_find(out->method,
		    '/'));
		out->method = method;
		return true;
	}
	return false;
}

bool
authres_property(const struct authres_result *result, const char *name,
    struct arena *arena, struct slice *out)
{
	struct slice rest = result->rest, key, value;
	char *to;
	size_t n = 0;

	do {
		if (!authres_pair(&rest, &key, &value))
			return false;
	} while (!slice_is_nocase(key, name));
	to = arena_alloc(arena, value.n + 1);
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] == '"')
			continue;
		if (value.p[i] == '\\' && i + 1 < value.n)
			i++;
		to[n++] = value.p[i];
	}
	*out = (struct slice){ to, n };
	return true;
}
