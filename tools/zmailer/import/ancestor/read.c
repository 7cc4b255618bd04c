/* read.c - zmailer.conf, smtpserver.conf and scheduler.conf of ZMailer 2.99
 *
 * In     the bytes of a file, not trusted
 * Out    lines with their numbers
 * Holds  nothing
 * Spec   the manual of ZMailer 2.99.57: zmailer.conf, smtpserver.conf(5),
 *        scheduler.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "tools/zmailer/import/ancestor/read.h"

#include "base/banned.h"

bool
ancestor_line_next(struct ancestor_lines *lines, struct ancestor_line *out)
{
	struct slice line, rest, word = SLICE("");

	while (slice_cut(&lines->rest, '\n', &line)) {
		lines->line++;
		rest = slice_trim(line);
		if (rest.n == 0 || rest.p[0] == '#')
			continue;
		*out = (struct ancestor_line){ .line = lines->line,
			.is_below = ascii_is_space(line.p[0]) };
		if (memchr(rest.p, '\0', rest.n) != NULL)
			out->wrong = "a NUL byte";
		(void)slice_word(&rest, &word);
		out->name = word;
		out->value = slice_trim(rest);
		return true;
	}
	return false;
}

/* 'a' and "a" without their quotes, up to a comment. */
static struct slice
value_unquoted(struct slice text, const char **out_wrong)
{
	char quote = text.n > 0 ? text.p[0] : '\0';
	size_t end;

	if (quote != '\'' && quote != '"') {
		for (size_t i = 1; i < text.n; i++)
			if (text.p[i] == '#' && ascii_is_space(text.p[i - 1]))
				return slice_trim(slice_first(text, i));
		return text;
	}
	text = slice_from(text, 1);
	end = slice_find(text, quote);
	if (end == text.n)
		*out_wrong = "a quote is not closed";
	return slice_first(text, end);
}

static bool
name_is_good(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_alnum(name.p[i]) && name.p[i] != '_')
			return false;
	return name.n > 0 && !ascii_is_digit(name.p[0]);
}

bool
ancestor_assignment_next(struct arena *arena, struct ancestor_lines *lines,
    struct ancestor_line *out)
{
	struct slice whole;
	bool is_export;
	size_t at;

	if (!ancestor_line_next(lines, out))
		return false;
	is_export = slice_is(out->name, "export");
	whole = is_export ? out->value : slice_of(arena_printf(arena,
	    SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(out->name), out->value.n > 0 ?
	    " " : "", SLICE_ARG(out->value)));
	at = slice_find(whole, '=');
	/* "export A B" says nothing of values */
	if (out->wrong != NULL || (is_export && at == whole.n))
		return true;
	out->name = slice_first(whole, at);
	if (at == whole.n || !name_is_good(out->name)) {
		out->name = whole;
		out->value = SLICE("");
		out->wrong = "no NAME=VALUE";
		return true;
	}
	out->value = value_unquoted(slice_from(whole, at + 1), &out->wrong);
	return true;
}

bool
ancestor_setting_next(struct slice *rest, struct slice *out_name,
    struct slice *out_value)
{
	size_t n = 0;

	*rest = slice_trim(*rest);
	while (n < rest->n && !ascii_is_space(rest->p[n]) &&
	    rest->p[n] != '=')
		n++;
	*out_name = slice_first(*rest, n);
	*out_value = SLICE("");
	if (rest->n == 0 || rest->p[0] == '#')
		return false;
	*rest = slice_from(*rest, n);
	if (!slice_starts(*rest, "="))
		return n > 0;
	*rest = slice_from(*rest, 1);
	if (slice_starts(*rest, "\"")) {
		*rest = slice_from(*rest, 1);
		n = slice_find(*rest, '"');
	} else
		for (n = 0; n < rest->n && !ascii_is_space(rest->p[n]);)
			n++;
	*out_value = slice_first(*rest, n);
	*rest = slice_from(*rest, n + (size_t)(n < rest->n));
	return true;
}
