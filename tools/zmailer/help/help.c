/* help.c - zmailer help [VERB | STATEMENT [WORD]]
 *
 * Spec   zmailer(8); the words come from verbs.h and the rows of
 *        conf/statements/
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <sysexits.h>

#include "base/guess.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

/* Pages that tell of several verbs; every other verb has its own. */
static const struct page {
	const char	*name, *verbs;
} pages[] = {
#define PAGE(name, verbs) { name, verbs },
#include "tools/zmailer/help/pages.h"
#undef PAGE
};

static void
print_page(const char *verb)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		struct slice rest = slice_of(pages[i].verbs), word;

		while (slice_word(&rest, &word))
			if (slice_is(word, verb)) {
				printf("    %s(8)\n", pages[i].name);
				return;
			}
	}
	printf("    zmailer-%s(8)\n", verb);
}

static void
help_verb(const struct verb_row *row, const char *usage)
{
	struct str text = STR_INIT, verb = STR_INIT;

	str_addf(&verb, "zmailer %s", row->name);
	usage_add(&text, "", verb.buf, usage);
	str_addf(&text, "    %s\n", row->text);
	usage_add_options(&text, usage);
	fputs(text.buf, stdout);
	print_page(row->name);
	str_release(&text);
	str_release(&verb);
}

/* ---- a word of a verb, or of a block ------------------------------------- */

/* Append the forms that the guessed word chooses, and what each form takes, as
 * a usage; what chooses the others is offered.  returns whether there is such a
 * form */
static bool
usage_add_chosen(struct str *out, const char *usage, struct arena *arena,
    struct guess *guess)
{
	struct usage_form form;
	bool is_found = false;

	while (usage_form_next(&usage, &form)) {
		struct usage_form words = form;
		struct usage_word first;

		if (form.is_common && is_found)
			str_addf(out, "; " SLICE_FMT, SLICE_ARG(form.rest));
		if (form.is_common || !usage_word_next(&words, &first) ||
		    !first.is_literal)
			continue;
		guess_offer(guess, slice_dup(arena, first.text));
		if (!slice_equal(first.text, guess->word))
			continue;
		str_addf(out, "%s" SLICE_FMT, is_found ? " | " : "",
		    SLICE_ARG(form.rest));
		is_found = true;
	}
	return is_found;
}

/* What a word means after a verb, or in the block of a statement. */
static int
help_word(const struct arguments *arguments, const struct verb_row *row)
{
	const char *first = arguments_word(arguments, 0);
	const char *word = arguments_word(arguments, 1);
	struct str usage = STR_INIT, text = STR_INIT;
	struct guess guess = { .word = slice_of(word) };
	struct arena *arena = arena_new();
	bool is_form = row != NULL &&
	    usage_add_chosen(&usage, row->usage, arena, &guess);
	int status = EX_OK;

	if (is_form)
		help_verb(row, usage.buf);
	conf_help_in(&text, first, word, &guess);
	fputs(text.buf, stdout);
	if (!is_form && text.len == 0)
		status = arguments_refuse(arguments, "'%s' has no '%s'%s%s%s",
		    first, word, guess.best != NULL ? ", did you mean '" : "",
		    guess.best != NULL ? guess.best : "",
		    guess.best != NULL ? "'?" : "");
	str_release(&usage);
	str_release(&text);
	arena_free(&arena);
	return status;
}

/* ---- groups ------------------------------------------------------------ */

static const struct verb_group {
	const char	*title, *verbs;
} verb_groups[] = {
#define GROUP(title, verbs) { title, verbs },
#include "tools/zmailer/help/groups.h"
#undef GROUP
};
enum { VERB_GROUPS = sizeof(verb_groups) / sizeof(verb_groups[0]) };
enum { PAGE_COLUMNS = 79, PAGE_TITLE = 14 };

static void
verb_group_add_texts(struct str *out, const struct verb_group *group,
    int width)
{
	struct slice rest = slice_of(group->verbs), word;

	str_addf(out, "%s:\n", group->title);
	while (slice_word(&rest, &word))
		for (size_t i = 0; i < verb_rows_count; i++)
			if (slice_is(word, verb_rows[i].name))
				str_addf(out, "  %-*s %s\n", width,
				    verb_rows[i].name, verb_rows[i].text);
}

static void
verb_group_add_names(struct str *out, const struct verb_group *group)
{
	struct slice rest = slice_of(group->verbs), word;
	size_t column = PAGE_TITLE;

	str_addf(out, "%-*s", PAGE_TITLE, group->title);
	while (slice_word(&rest, &word)) {
		if (column + 1 + word.n > PAGE_COLUMNS) {
			str_addf(out, "\n%*s", PAGE_TITLE, "");
			column = PAGE_TITLE;
		}
		str_addf(out, " " SLICE_FMT, SLICE_ARG(word));
		column += 1 + word.n;
	}
	str_addf(out, "\n");
}

void
help_add_page(struct str *out)
{
	str_addf(out, "usage: zmailer [-C FILE] VERB [ARGUMENTS]\n");
	verb_group_add_texts(out, &verb_groups[0], 8);
	for (size_t i = 1; i < VERB_GROUPS; i++)
		verb_group_add_names(out, &verb_groups[i]);
	str_addf(out, "zmailer help says what each does, zmailer help VERB all "
	    "of one.\n");
}

static void
help_verbs(void)
{
	struct str out = STR_INIT;

	for (size_t i = 0; i < VERB_GROUPS; i++)
		verb_group_add_texts(&out, &verb_groups[i], 12);
	fputs(out.buf, stdout);
	str_release(&out);
}

static struct guess
help_like(const char *word)
{
	struct guess guess = { .word = slice_of(word) };

	for (size_t i = 0; i < verb_rows_count; i++)
		guess_offer(&guess, verb_rows[i].name);
	conf_help_offer(&guess);
	return guess;
}

int
verb_help(struct arguments *arguments)
{
	const char *word = arguments_word(arguments, 0);
	const struct verb_row *row = word == NULL ? NULL :
	    verb_row_find(word);
	struct str text = STR_INIT;
	struct guess guess;

	conf_help(&text, word);
	if (arguments_word(arguments, 1) != NULL &&
	    (row != NULL || text.len > 0)) {
		str_release(&text);
		return help_word(arguments, row);
	}
	if (word == NULL) {
		help_verbs();
		printf("\nStatements of zmailer.conf:\n");
	} else if (row != NULL) {
		help_verb(row, row->usage);
	}
	if (word != NULL && row == NULL && text.len == 0) {
		guess = help_like(word);
		return arguments_refuse(arguments, "'%s' is neither a verb "
		    "nor a statement%s%s%s", word,
		    guess.best != NULL ? ", did you mean '" : "",
		    guess.best != NULL ? guess.best : "",
		    guess.best != NULL ? "'?" : "");
	}
	fputs(text.buf, stdout);
	str_release(&text);
	return EX_OK;
}
