/* usage.c - the grammar of a verb's usage
 *
 * In     a usage of verbs.h, the rows of options.h
 * Out    its forms, their words; what is shown of them
 * Spec   usage.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "tools/verb/usage.h"

#include "base/banned.h"

const struct option_row option_rows[OPTIONS] = {
#define OPTION(id, name, value, kind, low, high, text) \
	[OPT_##id] = { name, value, OPTION_##kind, low, high, text },
#include "tools/verb/options.h"
#undef OPTION
};
static const struct option_row option_unknown = { "", NULL, OPTION_FLAG, 0, 0,
    "" };

bool
usage_form_next(const char **usage, struct usage_form *out)
{
	const char *at = *usage + strspn(*usage, " "), *end = at;
	int depth = 0;

	*out = (struct usage_form){ .depth = 0 };
	if (*at == ';') {
		out->is_common = true;
		end = at += 1 + strspn(at + 1, " ");
	}
	for (; *end != '\0'; end++) {
		depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
		if (depth == 0 && (*end == ';' ||
		    strncmp(end, " | ", 3) == 0))
			break;
	}
	out->rest = (struct slice){ at, (size_t)(end - at) };
	*usage = *end == ' ' ? end + 3 : end;
	return *at != '\0';
}

/* A word ends at a blank or a bracket, but for "HOST[:PORT]". */
static size_t
usage_word_length(struct slice at)
{
	size_t n = 0;
	int depth = 0;

	for (; n < at.n && at.p[n] != ' '; n++) {
		if (at.p[n] == ']' && depth-- == 0)
			break;
		if (at.p[n] == '[')
			depth++;
	}
	return n;
}

static bool
usage_is_literal(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((text.p[i] < 'a' || text.p[i] > 'z') &&
		    !ascii_is_among(text.p[i], "-|"))
			return false;
	return text.n > 1;
}

/* Does the value of an option stand here, and end here? */
static bool
usage_has_value(struct slice rest, const char *value)
{
	size_t n = strlen(value);

	return rest.n > n && rest.p[0] == ' ' &&
	    slice_starts(slice_from(rest, 1), value) &&
	    (rest.n == n + 1 || ascii_is_among(rest.p[n + 1], " ]"));
}

/* The row of a name, with the value if that stands next; *rest moves after
 * the value. */
static const struct option_row *
usage_option_row(struct slice name, struct slice *rest)
{
	const struct option_row *flag = &option_unknown;

	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_row *row = &option_rows[i];

		if (!slice_is(name, row->name))
			continue;
		if (row->value == NULL) {
			flag = row;
		} else if (usage_has_value(*rest, row->value)) {
			*rest = slice_from(*rest, 1 + strlen(row->value));
			return row;
		}
	}
	return flag;
}

bool
usage_word_next(struct usage_form *form, struct usage_word *out)
{
	struct slice *rest = &form->rest;
	size_t n;

	*out = (struct usage_word){ .option = NULL };
	for (; rest->n > 0 && ascii_is_among(rest->p[0], " []|.");
	    *rest = slice_from(*rest, 1))
		form->depth += rest->p[0] == '[' ? 1 :
		    rest->p[0] == ']' ? -1 : 0;
	if (rest->n == 0)
		return false;
	n = usage_word_length(*rest);
	out->text = slice_first(*rest, n);
	*rest = slice_from(*rest, n);
	out->is_optional = form->depth > 0;
	if (out->text.p[0] == '-' && n > 1) {
		out->option = usage_option_row(out->text, rest);
		return true;
	}
	out->is_repeated = slice_ends(out->text, "...");
	if (out->is_repeated)
		out->text.n -= strlen("...");
	out->is_literal = usage_is_literal(out->text);
	out->is_repeated |= slice_is(out->text, "SELECTOR") ||
	    slice_ends(out->text, "|SELECTOR");
	return true;
}

bool
usage_is_one_of(struct slice alternatives, const char *word)
{
	struct slice one;

	while (slice_cut(&alternatives, '|', &one))
		if (slice_is(one, word))
			return true;
	return false;
}

const struct option_row *
usage_option(const char *usage, struct slice name)
{
	struct usage_form form;
	struct usage_word word;

	while (usage_form_next(&usage, &form))
		while (usage_word_next(&form, &word))
			if (word.option != NULL &&
			    slice_equal(word.text, name))
				return word.option->name[0] != '\0' ?
				    word.option : NULL;
	return NULL;
}

void
usage_add(struct str *out, const char *first, const char *verb,
    const char *usage)
{
	struct usage_form form;
	bool is_first = true;

	while (usage_form_next(&usage, &form) || is_first) {
		str_addf(out, "%*s%s%s%s" SLICE_FMT "\n",
		    is_first ? 0 : (int)strlen(first), "",
		    is_first ? first : "", verb,
		    form.is_common ? " ... " : form.rest.n > 0 ? " " : "",
		    SLICE_ARG(form.rest));
		is_first = false;
	}
}

static void
usage_add_option(struct str *out, const struct option_row *option)
{
	size_t before = out->len;

	str_addf(out, "  %s%s%s", option->name,
	    option->value != NULL ? " " : "",
	    option->value != NULL ? option->value : "");
	str_addf(out, "%*s  %s\n", (int)(out->len - before) < 20 ?
	    20 - (int)(out->len - before) : 0, "", option->text);
}

void
usage_add_options(struct str *out, const char *usage)
{
	bool is_said[OPTIONS] = { false };
	struct usage_form form;
	struct usage_word word;

	while (usage_form_next(&usage, &form))
		while (usage_word_next(&form, &word)) {
			size_t i;

			if (word.option == NULL ||
			    word.option == &option_unknown)
				continue;
			i = (size_t)(word.option - option_rows);
			if (!is_said[i])
				usage_add_option(out, word.option);
			is_said[i] = true;
		}
}
