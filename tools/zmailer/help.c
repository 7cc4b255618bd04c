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

static bool
help_verb(const char *name)
{
	for (size_t i = 0; i < verb_rows_count; i++) {
		const struct verb_row *row = &verb_rows[i];

		if (name != NULL && strcmp(row->name, name) != 0)
			continue;
		if (name == NULL) {
			printf("  %-12s %s\n", row->name, row->text);
			continue;
		}
		printf("zmailer %s %s\n    %s\n", row->name, row->usage,
		    row->text);
		print_page(row->name);
		return true;
	}
	return name == NULL;
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
verb_help(int argc, char **argv, const char *conf_path)
{
	struct str text = STR_INIT;
	struct guess guess;
	bool is_verb;

	if (argc > 2)
		return verb_usage(argv[0], "one word at a time");
	if (argc == 1) {
		printf("Verbs:\n");
		help_verb(NULL);
		printf("\nStatements of zmailer.conf:\n");
		conf_help(&text, NULL);
	} else {
		is_verb = help_verb(argv[1]);
		conf_help(&text, argv[1]);
		if (!is_verb && text.len == 0) {
			guess = like(argv[1]);
			return verb_usage(argv[0], "'%s' is neither a verb "
			    "nor a statement%s%s%s", argv[1],
			    guess.best != NULL ? ", did you mean '" : "",
			    guess.best != NULL ? guess.best : "",
			    guess.best != NULL ? "'?" : "");
		}
	}
	fputs(text.buf, stdout);
	str_release(&text);
	return EX_OK;
}
