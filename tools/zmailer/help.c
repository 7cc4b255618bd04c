/* help.c - zmailer help [VERB | STATEMENT]
 *
 * Spec   zmailer(8); the words come from verbs.h and the rows of
 *        conf/statements/
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/guess.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

/* Pages that tell of several verbs; every other verb has its own. */
static const struct page {
	const char	*name, *verbs;
} pages[] = {
#define PAGE(name, verbs) { name, verbs },
#include "tools/zmailer/pages.h"
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
help_verb(const struct verb_row *row)
{
	struct str text = STR_INIT, verb = STR_INIT;

	str_addf(&verb, "zmailer %s", row->name);
	usage_add(&text, "", verb.buf, row->usage);
	str_addf(&text, "    %s\n", row->text);
	usage_add_options(&text, row->usage);
	fputs(text.buf, stdout);
	print_page(row->name);
	str_release(&text);
	str_release(&verb);
}

static void
help_verbs(void)
{
	for (size_t i = 0; i < verb_rows_count; i++)
		printf("  %-12s %s\n", verb_rows[i].name, verb_rows[i].text);
}

static struct guess
like(const char *word)
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

	if (word == NULL) {
		printf("Verbs:\n");
		help_verbs();
		printf("\nStatements of zmailer.conf:\n");
	} else if (row != NULL) {
		help_verb(row);
	}
	conf_help(&text, word);
	if (word != NULL && row == NULL && text.len == 0) {
		guess = like(word);
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
