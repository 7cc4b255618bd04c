/* header_address.c - the addresses of an address-list
 *
 * In     the value of From, To, Cc, Bcc, Sender, Reply-To ...
 * Out    a struct path for each address, checked by path_parse
 * Holds  a cursor; comments are counted, not recursed into
 * Trusts nothing; each byte is passed at most three times
 * Spec   RFC 5322 section 3.4 and 4.4; RFC 6532 section 3.2
 *
 *   address-list = [ address ] *( ( "," / ";" ) [ address ] )
 *   address      = mailbox / group
 *   group        = *word ":" [ address-list ] ";"
 *   mailbox      = addr-spec / *word "<" [ route ":" ] addr-spec ">"
 *   addr-spec    = word *( "." word ) [ "@" domain ]
 *   domain       = atom *( "." atom ) / "[" *dtext "]"
 *   word         = atom / quoted-string     ; in phrases also "."
 *
 * with comments and folds between any two tokens.  The names of groups and
 * the ends of groups are passed over: who is in the list is what counts.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/header.h"

#include "base/banned.h"

/* What the words so far could still be. */
struct spec {
	const char	*start, *end;	/* of the addr-spec in the value */
	bool		 has_gap;	/* comments or blanks inside it */
	bool		 has_quotes;
	bool		 is_phrase;	/* two words without a dot: no local */
	bool		 wants_word;	/* at the start, or after a dot */
	unsigned	 words;
};

struct walk {
	const char	*at, *end;
	struct err	*err;
};

static bool
is_special(char c)
{
	return c == '\0' || ascii_is_among(c, "()<>[]:;@\\,.\"");
}

static bool
is_atom_byte(char c)
{
	return (unsigned char)c > 32 && c != 127 && !is_special(c);
}

/* After the quoted string, comment or domain literal that begins here, or
 * NULL when it never ends. */
static const char *
bracket_end(const char *at, const char *end, char open, char close)
{
	unsigned depth = 0;

	for (; at < end; at++) {
		if (*at == '\\') {
			if (++at == end)
				return NULL;
		} else if (*at == close && depth > 0) {
			/* also for quotes, where open equals close */
			if (--depth == 0)
				return at + 1;
		} else if (*at == open) {
			depth++;
		}
	}
	return NULL;
}

/* Pass blanks and comments.  False when a comment has no end. */
static bool
skip_cfws(struct walk *walk)
{
	while (walk->at < walk->end) {
		const char *next;

		if (ascii_is_space(*walk->at)) {
			walk->at++;
			continue;
		}
		if (*walk->at != '(')
			break;
		next = bracket_end(walk->at, walk->end, '(', ')');
		if (next == NULL) {
			walk->at = walk->end;
			err_set(walk->err, "a comment has no )");
			return false;
		}
		walk->at = next;
	}
	return true;
}

/* Pass one atom, quoted string or domain literal.  NULL when there is none
 * or it has no end (then the walk is at its end). */
static const char *
skip_word(struct walk *walk, char open, char close)
{
	const char *start = walk->at;

	if (*walk->at == open) {
		walk->at = bracket_end(start, walk->end, open, close);
		if (walk->at == NULL) {
			walk->at = walk->end;
			err_set(walk->err, "%c has no %c", open, close);
			return NULL;
		}
		return start;
	}
	while (walk->at < walk->end && is_atom_byte(*walk->at))
		walk->at++;
	if (walk->at > start)
		return start;
	if ((unsigned char)*start <= ' ' || *start == 127)
		err_set(walk->err, "control character in an address");
	else
		err_set(walk->err, "unexpected '%c' in an address", *start);
	return NULL;
}

/* Note that a token ended: what follows it may leave a gap. */
static void
spec_take(struct spec *spec, const char *start, const char *end)
{
	if (spec->start == NULL)
		spec->start = start;
	else if (start != spec->end)
		spec->has_gap = true;
	spec->end = end;
}

/* Words and dots: a phrase, or a local part. */
static int
walk_words(struct walk *walk, struct spec *spec)
{
	*spec = (struct spec){ .wants_word = true };
	for (;;) {
		const char *start;
		bool is_quoted;

		if (!skip_cfws(walk))
			return -1;
		if (walk->at == walk->end || memchr("<@:,;>", *walk->at, 6))
			return 1;
		if (*walk->at == '.') {
			if (spec->wants_word)
				spec->is_phrase = true;
			spec->wants_word = true;
			spec_take(spec, walk->at, walk->at + 1);
			walk->at++;
			continue;
		}
		is_quoted = *walk->at == '"';
		start = skip_word(walk, '"', '"');
		if (start == NULL)
			return -1;
		if (!spec->wants_word)
			spec->is_phrase = true;
		spec->wants_word = false;
		spec->has_quotes |= is_quoted;
		spec->words++;
		spec_take(spec, start, walk->at);
	}
}

/* "@" domain, the cursor on the at sign. */
static int
walk_domain(struct walk *walk, struct spec *spec)
{
	bool wants_label = true;

	spec_take(spec, walk->at, walk->at + 1);
	walk->at++;
	for (;;) {
		const char *start;

		if (!skip_cfws(walk))
			return -1;
		if (walk->at == walk->end)
			break;
		if (wants_label) {
			start = skip_word(walk, '[', ']');
			if (start == NULL)
				return -1;
		} else if (*walk->at == '.') {
			start = walk->at++;
		} else {
			break;
		}
		spec_take(spec, start, walk->at);
		wants_label = !wants_label;
	}
	if (wants_label)
		return err_set(walk->err, "an address ends after @ or dot");
	return 1;
}

/* Append the bytes a quoted string stands for; at is on its first quote. */
static const char *
add_unquoted(struct str *out, const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++) {
		if (*at == '\r' || *at == '\n')
			continue;
		if (*at == '\\' && at + 1 < end)
			at++;
		str_addc(out, *at);
	}
	return at + 1;
}

/* The text of an addr-spec without comments, blanks and folds, as RFC 5321
 * writes it: an obsolete "a".b becomes one quoted string. */
static struct slice
spec_text(struct arena *arena, const struct spec *spec)
{
	struct walk walk = { spec->start, spec->end, NULL };
	struct str local = STR_INIT, domain = STR_INIT;
	struct slice text;
	bool in_domain = false;

	while (skip_cfws(&walk) && walk.at < walk.end) {
		in_domain = in_domain || *walk.at == '@';
		if (!in_domain && *walk.at == '"')
			walk.at = add_unquoted(&local, walk.at, walk.end);
		else
			str_addc(in_domain ? &domain : &local, *walk.at++);
	}
	if (spec->has_quotes) {
		struct str quoted = STR_INIT;

		str_addc(&quoted, '"');
		for (size_t i = 0; i < local.len; i++) {
			if (local.buf[i] == '"' || local.buf[i] == '\\')
				str_addc(&quoted, '\\');
			str_addc(&quoted, local.buf[i]);
		}
		str_addc(&quoted, '"');
		str_release(&local);
		local = quoted;
	}
	str_add_slice(&local, str_slice(&domain));
	text = slice_copy(arena, str_slice(&local));
	str_release(&local);
	str_release(&domain);
	return text;
}

/* Whether a quoted string has what it has in headers alone: a fold, a
 * backslash before a byte beyond ASCII (RFC 6532 section 3.1, and RFC 6531
 * section 3.3 does not). */
static bool
is_headers_alone(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\n' || (text.p[i] == '\\' && i + 1 < text.n &&
		    (unsigned char)text.p[++i] > 127))
			return true;
	return false;
}

/* The stages that follow see what path_parse accepts and nothing else. */
static int
spec_finish(struct arena *arena, const struct walk *walk,
    const struct spec *spec, struct path *out)
{
	struct slice text, rest;

	if (spec->is_phrase)
		return err_set(walk->err, "words without an address");
	if (spec->words == 0)
		return err_set(walk->err, "an address without local part");
	if (spec->wants_word)
		return err_set(walk->err, "dot at the end of the local part");
	text = (struct slice){ spec->start,
	    (size_t)(spec->end - spec->start) };
	if (spec->has_gap || (spec->has_quotes && (spec->words > 1 ||
	    is_headers_alone(text))))
		text = spec_text(arena, spec);
	if (path_parse(text, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, out,
	    &rest, walk->err) < 0)
		return -1;
	if (rest.n > 0)
		return err_set(walk->err, "unexpected bytes after an address");
	return 1;
}

/* "@a,@b:" between "<" and the addr-spec.  A domain literal or a comment may
 * have a colon, too. */
static int
skip_route(struct walk *walk)
{
	while (skip_cfws(walk) && walk->at < walk->end && *walk->at != ':' &&
	    *walk->at != '>') {
		if (*walk->at != '[')
			walk->at++;
		else if (skip_word(walk, '[', ']') == NULL)
			return -1;
	}
	if (walk->at == walk->end || *walk->at != ':')
		return err_set(walk->err, "a source route has no ':'");
	walk->at++;
	return skip_cfws(walk) ? 1 : -1;
}

/* After "<". */
static int
walk_angle(struct walk *walk, struct spec *spec)
{
	if (!skip_cfws(walk))
		return -1;
	if (walk->at < walk->end && *walk->at == '@' && skip_route(walk) < 0)
		return -1;
	if (walk_words(walk, spec) < 0)
		return -1;
	if (walk->at < walk->end && *walk->at == '@' &&
	    walk_domain(walk, spec) < 0)
		return -1;
	if (!skip_cfws(walk))
		return -1;
	if (walk->at == walk->end || *walk->at != '>')
		return err_set(walk->err, "an address has no >");
	walk->at++;
	if (spec->words == 0)
		return err_set(walk->err, "<> is not an address here");
	return 1;
}

/* One element of the list.  0 for the name of a group. */
static int
walk_element(struct arena *arena, struct walk *walk, struct path *out,
    struct slice *out_at)
{
	struct spec spec;

	if (walk_words(walk, &spec) < 0)
		return -1;
	if (walk->at < walk->end && *walk->at == ':') {
		walk->at++;
		return 0;
	}
	if (walk->at < walk->end && *walk->at == '<') {
		walk->at++;
		if (walk_angle(walk, &spec) < 0)
			return -1;
	} else if (walk->at < walk->end && *walk->at == '@') {
		if (walk_domain(walk, &spec) < 0)
			return -1;
	}
	if (!skip_cfws(walk))
		return -1;
	if (walk->at < walk->end && *walk->at != ',' && *walk->at != ';')
		return err_set(walk->err, "unexpected bytes after an address");
	*out_at = (struct slice){ spec.start, (size_t)(spec.end -
	    spec.start) };
	return spec_finish(arena, walk, &spec, out);
}

/* After the next comma that no quotes or comment hide. */
static const char *
skip_element(const char *at, const char *end)
{
	while (at != NULL && at < end && *at != ',') {
		if (*at == '"')
			at = bracket_end(at, end, '"', '"');
		else if (*at == '(')
			at = bracket_end(at, end, '(', ')');
		else
			at += *at == '\\' && at + 1 < end ? 2 : 1;
	}
	return at == NULL || at == end ? end : at + 1;
}

int
header_address_at(struct arena *arena, struct slice *rest, struct path *out,
    struct slice *out_at, struct err *err)
{
	struct walk walk = { rest->p, rest->p + rest->n, err };
	const char *start = walk.at;
	int rc = 0;

	while (rc == 0) {
		bool has_cfws = skip_cfws(&walk);

		start = walk.at;
		if (!has_cfws)
			rc = -1;
		else if (walk.at == walk.end)
			break;
		else if (*walk.at == ',' || *walk.at == ';')
			walk.at++;
		else
			rc = walk_element(arena, &walk, out, out_at);
	}
	if (rc < 0)
		walk.at = skip_element(start, walk.end);
	*rest = (struct slice){ walk.at, (size_t)(walk.end - walk.at) };
	return rc;
}

enum header_answer
header_address(struct arena *arena, struct slice *rest, struct path *out,
    struct err *err)
{
	struct slice at;

	return header_address_at(arena, rest, out, &at, err);
}
