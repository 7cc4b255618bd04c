/* verbs_manual.c - the list of verbs for zmailer(8), and links to the pages
 *
 * In     tools/zmailer/verbs/verbs.h, tools/zmailer/help/groups.h and pages.h,
 *        tools/verb/options.h; the name of a link to be made; --options;
 *        --page NAME and its text; or nothing
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
#include "tools/zmailer/verbs/verbs.h"
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
#include "tools/zmailer/help/pages.h"
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
	fprintf(stderr, "%s: no page of tools/zmailer/help/pages.h has "
	    "this verb\n", path);
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
#include "tools/zmailer/help/groups.h"
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

/* ---- a page of its own -------------------------------------------------- */

/* One word of a form, as mdoc(7) has it. */
static void
put_word(const struct usage_word *word)
{
	struct str text = STR_INIT;

	str_adds(&text, word->is_optional ? ".Op " : ".");
	if (word->option != NULL) {
		str_addf(&text, "Fl %s", word->option->name + 1);
		if (word->option->value != NULL)
			str_addf(&text, " Ar %s", word->option->value);
	} else {
		str_addf(&text, "%s " SLICE_FMT, word->is_literal ? "Cm" :
		    "Ar", SLICE_ARG(word->text));
	}
	if (word->is_repeated)
		str_adds(&text, " ...");
	puts(text.buf);
	str_release(&text);
}

static void
put_words(struct usage_form form)
{
	struct usage_word word;

	while (usage_word_next(&form, &word))
		put_word(&word);
}

/* Each form on a line that begins with the verb, its options after it. */
static void
put_forms(const char *verb, const char *usage)
{
	struct usage_form form, common = { .depth = 0 };
	const char *rest = usage;
	bool is_first = true;

	while (usage_form_next(&rest, &form))
		if (form.is_common)
			common = form;
	rest = usage;
	while ((usage_form_next(&rest, &form) && !form.is_common) || is_first) {
		printf(".Nm zmailer\n.Cm %s\n", verb);
		if (*usage != '\0')
			put_words(form);
		if (common.is_common)
			put_words(common);
		is_first = false;
	}
}

/* The options that some form of its verbs has, each once. */
static void
put_page_options(const char *const usages[], size_t count)
{
	bool is_any = false;

	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_row *row = &option_rows[i];
		size_t k = 0;

		while (k < count && usage_option(usages[k],
		    slice_of(row->name)) != row)
			k++;
		if (k == count)
			continue;
		if (!is_any)
			puts(".Sh OPTIONS\n.Bl -tag -width indent");
		is_any = true;
		printf(".It Fl %s", row->name + 1);
		if (row->value != NULL)
			printf(" Ar %s", row->value);
		printf("\n%s.\n", row->text);
	}
	if (is_any)
		puts(".El");
}

static bool
page_has(const char *page, const char *verb)
{
	static const struct { const char *name, *verbs; } pages[] = {
#define PAGE(name, verbs) { name, verbs },
#include "tools/zmailer/help/pages.h"
#undef PAGE
	};
	struct slice own = slice_of(page);

	if (slice_starts(own, "zmailer-") && slice_is(slice_from(own,
	    strlen("zmailer-")), verb))
		return true;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		struct slice rest = slice_of(pages[i].verbs), word;

		while (strcmp(pages[i].name, page) == 0 &&
		    slice_word(&rest, &word))
			if (slice_is(word, verb))
				return true;
	}
	return false;
}

/* Standard input with @SYNOPSIS@ and @OPTIONS@ of its verbs. */
static int
put_page(const char *page)
{
	const char *usages[sizeof(rows) / sizeof(rows[0])];
	size_t verbs[sizeof(rows) / sizeof(rows[0])], count = 0;
	char line[4096];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (page_has(page, rows[i].name)) {
			usages[count] = rows[i].usage;
			verbs[count++] = i;
		}
	if (count == 0) {
		fprintf(stderr, "%s: no page of a verb\n", page);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (strcmp(line, "@SYNOPSIS@\n") == 0)
			for (size_t i = 0; i < count; i++)
				put_forms(rows[verbs[i]].name, usages[i]);
		else if (strcmp(line, "@OPTIONS@\n") == 0)
			put_page_options(usages, count);
		else
			fputs(line, stdout);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "--page") == 0)
		return put_page(argv[2]);
	if (argc > 1 && strcmp(argv[1], "--options") == 0) {
		put_options();
		return 0;
	}
	if (argc > 1)
		return put_link(argv[1]);
	put_groups();
	return 0;
}
