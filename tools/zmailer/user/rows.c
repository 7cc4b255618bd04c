/* rows.c - users in a text file
 *
 * In     the text of a table: "NAME VALUE" or "NAME: VALUE"
 * Out    the same text with a line more, less, or another
 * Trusts the file's owner with the rest of it: it stays as it is
 * Spec   user.h; zmailer-table(8), "file:"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/user/user.h"

#include "base/banned.h"

static size_t
user_line_end(struct slice text, size_t at)
{
	at += slice_find(slice_from(text, at), '\n');
	return at < text.n ? at + 1 : at;
}

static bool
line_is_continued(struct slice text, size_t at)
{
	return at < text.n && (text.p[at] == ' ' || text.p[at] == '\t');
}

bool
user_line_next(struct slice text, size_t *at, unsigned *line,
    struct user_line *out)
{
	while (*at < text.n) {
		size_t begin = *at, end = user_line_end(text, begin);
		struct slice rest = slice_trim(slice_first(slice_from(text,
		    begin), end - begin));

		out->line = ++*line;
		for (; line_is_continued(text, end) && rest.n > 0 &&
		    text.p[begin] != '#'; ++*line)
			end = user_line_end(text, end);
		*at = end;
		if (rest.n == 0 || text.p[begin] == '#' ||
		    !slice_word(&rest, &out->key))
			continue;
		if (slice_ends(out->key, ":"))
			out->key = slice_first(out->key, out->key.n - 1);
		out->begin = begin;
		out->end = end;
		out->value = slice_trim(rest);
		return true;
	}
	return false;
}

bool
user_line_find(struct slice text, const char *name, struct user_line *out)
{
	size_t at = 0;
	unsigned line = 0;

	while (user_line_next(text, &at, &line, out))
		if (slice_is_nocase(out->key, name))
			return true;
	return false;
}

/* What is no longer part of a text of passwords is overwritten. */
static void
user_text_replace(struct str *text, size_t begin, size_t end,
    struct slice with)
{
	struct str fresh = STR_INIT;

	(void)str_room(&fresh, text->len + with.n + 1);
	str_add(&fresh, text->buf, begin);
	str_add_slice(&fresh, with);
	str_add(&fresh, text->buf + end, text->len - end);
	explicit_bzero(text->buf, text->len);
	str_release(text);
	*text = fresh;
}

void
user_line_put(struct str *text, const char *name, struct slice value)
{
	struct user_line there = { .begin = text->len, .end = text->len };
	struct str line = STR_INIT;

	if (!user_line_find(str_slice(text), name, &there)) {
		there.begin = there.end = text->len;
		if (text->len > 0 && text->buf[text->len - 1] != '\n')
			str_addc(&line, '\n');
	}
	str_addf(&line, "%s " SLICE_FMT "\n", name, SLICE_ARG(value));
	user_text_replace(text, there.begin, there.end, str_slice(&line));
	explicit_bzero(line.buf, line.len);
	str_release(&line);
}

bool
user_line_take(struct str *text, const char *name)
{
	struct user_line there;

	if (!user_line_find(str_slice(text), name, &there))
		return false;
	user_text_replace(text, there.begin, there.end, SLICE(""));
	return true;
}
