/* alias.c - the right side of an alias, item by item
 *
 * In     the value of an alias, or the bytes of an :include: file
 * Out    addresses, mailboxes, programs, files, includes
 * Holds  nothing
 * Trusts nothing: aliases are written by people, lists by programs
 * Spec   zmailer-aliases(5); RFC 5322 section 3.4 for addresses
 *
 *   items   = [ item ] *( ( "," / LF ) [ item ] )
 *   item    = ":include:" path / program / path / "\" local / mailbox
 *   program = "|" 1*octet / DQUOTE "|" 1*qchar DQUOTE
 *   path    = "/" *octet / DQUOTE "/" *qchar DQUOTE
 *   mailbox = addr-spec / local / *word "<" addr-spec ">"   ; RFC 5322
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/message/alias.h"

#include <string.h>

#include "grammar/message/header.h"

#include "base/banned.h"

/* Length of the item at the front: up to a comma outside quotes, angle
 * brackets and comments, or to the end of the line. */
static size_t
item_length(struct slice in)
{
	bool in_quotes = false, in_angles = false;
	unsigned parens = 0;

	for (size_t i = 0; i < in.n; i++) {
		char c = in.p[i];

		if (c == '\n')
			return i;
		if (c == '\\' && i + 1 < in.n && in.p[i + 1] != '\n')
			i++;
		else if (c == '"' && parens == 0)
			in_quotes = !in_quotes;
		else if (in_quotes)
			continue;
		else if (c == '(')
			parens++;
		else if (c == ')' && parens > 0)
			parens--;
		else if (parens == 0 && (c == '<' || c == '>'))
			in_angles = c == '<';
		else if (c == ',' && parens == 0 && !in_angles)
			return i;
	}
	return in.n;
}

/* When all of text is one quoted string: its inside, unquoted. */
static bool
alias_unquote(struct arena *arena, struct slice text, struct slice *out)
{
	char *copy;
	size_t n = 0;

	if (text.n < 2 || text.p[0] != '"')
		return false;
	copy = arena_alloc(arena, text.n);
	for (size_t i = 1; i < text.n; i++) {
		if (text.p[i] == '"') {
			*out = (struct slice){ copy, n };
			return i + 1 == text.n;
		}
		if (text.p[i] == '\\' && i + 1 < text.n)
			i++;
		copy[n++] = text.p[i];
	}
	return false;
}

static bool
has_controls(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 127)
			return true;
	return false;
}

/* What begins with | / or :include: .  returns 1 it is one, 0 not, -1. */
static int
parse_special(struct arena *arena, struct slice text, struct alias_item *out,
    struct err *err)
{
	struct slice inner;

	if (slice_starts(text, "|")) {
		out->kind = ALIAS_PROGRAM;
		out->text = slice_trim(slice_from(text, 1));
		if (alias_unquote(arena, out->text, &inner))
			out->text = slice_trim(inner);
	} else if (slice_starts(text, "/")) {
		out->kind = ALIAS_FILE;
		out->text = text;
	} else if (text.n >= 9 &&
	    slice_is_nocase(slice_first(text, 9), ":include:")) {
		out->kind = ALIAS_INCLUDE;
		out->text = slice_trim(slice_from(text, 9));
		if (alias_unquote(arena, out->text, &inner))
			out->text = slice_trim(inner);
		if (!slice_starts(out->text, "/"))
			return err_set(err,
			    "':include:' needs an absolute path");
	} else
		return 0;
	if (out->text.n == 0 || has_controls(out->text))
		return err_set(err, "empty or unprintable command or path");
	return 1;
}

/* A local part alone that would be a program, a file or a list by itself is
 * no address. */
static bool
is_somebody(struct arena *arena, const struct path *path)
{
	struct alias_item item;
	struct slice inner;
	struct err err;

	if (path->local.n == 0 || path->domain.n > 0)
		return path->local.n > 0;
	if (!alias_unquote(arena, path->local, &inner))
		inner = path->local;
	return parse_special(arena, inner, &item, &err) == 0;
}

static int
parse_address(struct arena *arena, struct slice text, struct alias_item *out,
    struct err *err)
{
	struct slice rest = text;

	out->kind = ALIAS_ADDRESS;
	if (text.p[0] == '\\') {
		out->kind = ALIAS_MAILBOX;
		rest = text = slice_from(text, 1);
	}
	if (path_parse(text, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8,
	    &out->path, &rest, err) == 0 && slice_trim(rest).n == 0 &&
	    is_somebody(arena, &out->path) && (out->kind == ALIAS_ADDRESS ||
	    out->path.local.p[0] != '"'))
		return 1;
	rest = text;
	if (out->kind == ALIAS_ADDRESS &&
	    header_address(arena, &rest, &out->path, err) == HEADER_ADDRESS &&
	    is_somebody(arena, &out->path))
		return 1;
	return err_set(err, "'" SLICE_FMT "' is not an address",
	    SLICE_ARG(slice_first(text, 200)));
}

static int
parse_item(struct arena *arena, struct slice text, struct alias_item *out,
    struct err *err)
{
	struct slice inner;
	int special = 0;

	*out = (struct alias_item){ .kind = ALIAS_ADDRESS };
	if (text.p[0] != '"')
		special = parse_special(arena, text, out, err);
	else if (alias_unquote(arena, text, &inner))
		special = parse_special(arena, inner, out, err);
	if (special != 0)
		return special;
	return parse_address(arena, text, out, err);
}

enum alias_answer
alias_next(struct arena *arena, struct slice *rest, enum alias_flags flags,
    struct alias_item *out, struct err *err)
{
	while (rest->n > 0) {
		struct slice text = slice_first(*rest, item_length(*rest));

		if ((flags & ALIAS_COMMENTS) && rest->p[0] == '#') {
			*rest = slice_from(*rest, slice_find(*rest, '\n') + 1);
			continue;
		}
		*rest = slice_from(*rest, text.n + 1);
		text = slice_trim(text);
		if (text.n > 0)
			return parse_item(arena, text, out, err);
	}
	return ALIAS_END;
}

/* In quotes: it may hold blanks, commas and quotes itself. */
static void
alias_add_quoted(struct str *out, const char *prefix, struct slice text)
{
	str_addc(out, '"');
	str_adds(out, prefix);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"' || text.p[i] == '\\')
			str_addc(out, '\\');
		str_addc(out, text.p[i]);
	}
	str_addc(out, '"');
}

/* What begins with a quote would lose it to parse_special: two pairs. */
static void
alias_add_special(struct str *out, const char *prefix, struct slice text)
{
	struct str inner = STR_INIT;

	if (slice_starts(text, "\"")) {
		alias_add_quoted(&inner, "", text);
		text = str_slice(&inner);
	}
	alias_add_quoted(out, prefix, text);
	str_release(&inner);
}

/* In angle brackets when it could be taken for something else. */
static void
alias_add_address(struct str *out, const struct path *path)
{
	bool is_odd = path->local.n > 0 && memchr("/|:#\\", path->local.p[0],
	    5) != NULL;

	if (is_odd)
		str_addc(out, '<');
	path_add(out, path);
	if (is_odd)
		str_addc(out, '>');
}

void
alias_add(struct str *out, const struct alias_item *item)
{
	switch (item->kind) {
	case ALIAS_MAILBOX:
		str_addc(out, '\\');
		path_add(out, &item->path);
		return;
	case ALIAS_ADDRESS:
		alias_add_address(out, &item->path);
		return;
	case ALIAS_PROGRAM:
		alias_add_special(out, "|", item->text);
		return;
	case ALIAS_FILE:
		alias_add_quoted(out, "", item->text);
		return;
	case ALIAS_INCLUDE:
		alias_add_special(out, ":include:", item->text);
		return;
	}
}
