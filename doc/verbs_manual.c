/* verbs_manual.c - the list of verbs for zmailer(8), and links to the pages
 *
 * In     tools/zmailer/verbs.h, groups.h, pages.h, tools/verb/options.h; the
 *        name of a page to be made, --options, or nothing
 * Out    roff on standard output
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tools/verb/usage.h"

#include "base/banned.h"

static const struct { const char *name, *usage, *text; } rows[] = {
#define VERB(name, usage, text) { #name, usage, text },
#include "tools/zmailer/verbs.h"
#undef VERB
};

static void
put(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '-' || *text == '\\')
			putchar('\\');
		if (*text == '\'')
			fputs("\\(aq", stdout);
		else
			putchar(*text);
	}
}

/* .../zmailer-hold.8: the page that has hold. */
static int
put_link(const char *path)
{
	static const struct { const char *name, *verbs; } pages[] = {
#define PAGE(name, verbs) { name, verbs },
#include "tools/zmailer/pages.h"
#undef PAGE
	};
	const char *slash = strrchr(path, '/');
	struct slice verb = slice_of(slash != NULL ? slash + 1 : path);

	if (!slice_starts(verb, "zmailer-") || !slice_ends(verb, ".8"))
		return 1;
	verb = slice_from(verb, strlen("zmailer-"));
	verb.n -= strlen(".8");
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		struct slice rest = slice_of(pages[i].verbs), word;

		while (slice_word(&rest, &word))
			if (slice_equal(word, verb)) {
				printf(".so man8/%s.8\n", pages[i].name);
				return 0;
			}
	}
	fprintf(stderr, "%s: no page of tools/zmailer/pages.h has this verb\n",
	    path);
	return 1;
}

/* The forms of a verb, and what it is for. */
static void
put_verb(const char *name, const char *usage, const char *text)
{
	struct usage_form form;
	bool is_first = true;

	while (usage_form_next(&usage, &form) || is_first) {
		struct str words = STR_INIT;

		str_add_slice(&words, form.rest);
		printf("%s\n\\fB%s\\fP %s", is_first ? ".TP" : ".TQ", name,
		    form.is_common ? "... " : "");
		put(words.buf);
		putchar('\n');
		str_release(&words);
		is_first = false;
	}
	put(text);
	printf(".\n");
}

static void
put_groups(void)
{
	static const struct { const char *title, *verbs; } groups[] = {
#define GROUP(title, verbs) { title, verbs },
#include "tools/zmailer/groups.h"
#undef GROUP
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct slice rest = slice_of(groups[i].verbs), word;

		printf(".SS %s\n", groups[i].title);
		while (slice_word(&rest, &word))
			for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]);
			    k++)
				if (slice_is(word, rows[k].name))
					put_verb(rows[k].name, rows[k].usage,
					    rows[k].text);
	}
}

static void
put_options(void)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_row *row = &option_rows[i];

		printf(".TP\n\\fB");
		put(row->name);
		printf("\\fP ");
		put(row->value != NULL ? row->value : "");
		putchar('\n');
		put(row->text);
		putchar('\n');
	}
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--options") == 0) {
		put_options();
		return 0;
	}
	if (argc > 1)
		return put_link(argv[1]);
	put_groups();
	return 0;
}
