/* test_arguments.c - command lines of verbs, good and bad, by their usages
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "tools/verb/verb.h"

static const char *const queue_usage = "[-f] [-n COUNT] [--json] "
    "[--limit N] [--for SPAN] [--from deferred|freezer|postman] [SELECTOR]";
static const char *const pair_usage = "list | check | install FILE KEY "
    "[--for NAME] | remove sender|dest WHOM | add NAME TARGET...; [--yes] "
    "[--reason WORDS]";
static const char *const note_usage = "--reason WORDS [--yes] ID|FILE";
static const char *const route_usage = "[--diff OLD NEW] [-v] [ADDRESS...]";

enum { WORDS_MAX = 8, LINE_BYTES = 200 };

/* The words of line, read by usage. */
static int
read_line(const char *usage, const char *line, struct arguments *out,
    struct err *err)
{
	static char text[LINE_BYTES];
	static char *argv[WORDS_MAX + 2];
	struct verb_row row = { "verb", usage, "", NULL };
	int argc = 1;

	strlcpy(text, line, sizeof(text));
	argv[0] = text;
	for (char *at = strtok(text, " "); at != NULL;
	    at = strtok(NULL, " "))
		argv[argc++] = at;
	argv[argc] = NULL;
	return arguments_parse(out, &row, argc, argv, err);
}

Test(arguments, a_bad_line_says_what_is_wrong)
{
	const struct { const char *usage, *line, *err; } rows[] = {
		{ queue_usage, "--jsno", "no option --jsno, did you mean "
		    "'--json'?" },
		{ queue_usage, "--nothing-like-it", "no option "
		    "--nothing-like-it" },
		{ queue_usage, "-x", "no option -x" },
		{ queue_usage, "-fx", "no option -x" },
		{ queue_usage, "-5", "no option -5" },
		{ queue_usage, "--limit", "--limit wants a value: --limit N" },
		{ queue_usage, "-n", "-n wants a value: -n COUNT" },
		{ queue_usage, "-fn", "-n wants a value" },
		{ queue_usage, "--json=1", "--json takes no value" },
		{ queue_usage, "--limit -5", "--limit -5: a number from 1" },
		{ queue_usage, "--limit=0", "--limit 0: a number from 1" },
		{ queue_usage, "--limit 1x", "a number from 1 to 1000000" },
		{ queue_usage, "--limit=", "a number from 1" },
		{ queue_usage, "--for 3x", "3d: 'x' is not a unit" },
		{ queue_usage, "--for 250ms", "--for 250ms: a span" },
		{ queue_usage, "--for 0", "--for 0: a span is wanted, like" },
		{ queue_usage, "--from here", "--from 'here': deferred, "
		    "freezer or postman is wanted" },
		{ route_usage, "x\x1b[2Jy@a.test", "'x\\x1B[2Jy@a.test' has a "
		    "character that a terminal obeys" },
		{ route_usage, "-\xc2\x9b", "a terminal obeys" },
		{ note_usage, "--reason=\xe2\x80\xae ID", "a terminal obeys" },
		{ note_usage, "--reason \x7f ID", "a terminal obeys" },
		{ route_usage, "a -- \r", "a terminal obeys" },
		{ pair_usage, "", "say list, check, install, remove "
		    "or add" },
		{ pair_usage, "lits", "no 'lits', say list, check" },
		{ pair_usage, "list more", "'more' is too much" },
		{ pair_usage, "install a", "KEY is missing" },
		{ pair_usage, "install a b c", "'c' is too much" },
		{ pair_usage, "list --for mx.test", "--for does not go with "
		    "list" },
		{ pair_usage, "remove host a", "'host': sender or dest is "
		    "wanted" },
		{ pair_usage, "add name", "TARGET is missing" },
		{ note_usage, "--reason why", "which message?" },
		{ note_usage, "4711", "--reason WORDS is missing" },
		{ "--yes SELECTOR", "--yes", "'all' means every one" },
		{ route_usage, "--diff one", "--diff wants two values: "
		    "--diff OLD NEW" },
		{ "list | HOST", "", "say list, or HOST" },
		{ "", "word", "'word' is too much" },
		{ "", "--json", "no option --json" },
	};
	struct arguments arguments;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { "" };

		cr_expect_eq(read_line(rows[i].usage, rows[i].line,
		    &arguments, &err), -1, "%s: was taken", rows[i].line);
		cr_expect_not_null(strstr(err.text, rows[i].err),
		    "%s: %s", rows[i].line, err.text);
	}
}

Test(arguments, an_empty_word_is_no_selector)
{
	const struct verb_row row = { "verb", "[--yes] SELECTOR", "", NULL };
	char verb[] = "verb", empty[] = "";
	char *argv[] = { verb, empty, NULL };
	struct arguments arguments;
	struct err err = { "" };

	cr_expect_eq(arguments_parse(&arguments, &row, 2, argv, &err), -1);
	cr_expect_not_null(strstr(err.text, "which messages?"));
}

/* "form words... option=value": what was read of it. */
Test(arguments, a_good_line_is_read)
{
	const struct {
		const char *usage, *line, *form, *words;
		enum option_id id;
		const char *text;
		int64_t number;
	} rows[] = {
		{ queue_usage, "", "", "", OPT_JSON, NULL, 0 },
		{ queue_usage, "a --json b", "", "a b", OPT_JSON, "--json",
		    0 },
		{ queue_usage, "--limit=7 all", "", "all", OPT_LIMIT, "7",
		    7 },
		{ queue_usage, "all --limit 7", "", "all", OPT_LIMIT, "7",
		    7 },
		{ queue_usage, "--limit 7 --limit 8", "", "", OPT_LIMIT, "8",
		    8 },
		{ queue_usage, "-fn5 x", "", "x", OPT_COUNT, "5", 5 },
		{ queue_usage, "-n 5 -f", "", "", OPT_FOLLOW, "-f", 0 },
		{ queue_usage, "-- --json -f", "", "--json -f", OPT_JSON,
		    NULL, 0 },
		{ queue_usage, "-", "", "-", OPT_JSON, NULL, 0 },
		{ queue_usage, "--for 90s", "", "", OPT_FOR, "90s", 90000 },
		{ queue_usage, "--from freezer", "", "", OPT_FROM_AREA,
		    "freezer", 0 },
		{ pair_usage, "list", "list", "", OPT_YES, NULL, 0 },
		{ pair_usage, "--yes install a b --for mx.test", "install",
		    "a b", OPT_FOR_HOST, "mx.test", 0 },
		{ pair_usage, "check --reason=x=y", "check", "", OPT_REASON,
		    "x=y", 0 },
		{ pair_usage, "remove dest h", "remove", "dest h", OPT_YES,
		    NULL, 0 },
		{ pair_usage, "add n a b c", "add", "n a b c", OPT_YES, NULL,
		    0 },
		{ note_usage, "--reason - 4711", "", "4711", OPT_REASON, "-",
		    0 },
		{ route_usage, "--diff a b c@d", "", "c@d", OPT_DIFF, "a",
		    0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arguments arguments;
		struct str words = STR_INIT;
		struct err err = { "" };
		const char *text;

		cr_expect_eq(read_line(rows[i].usage, rows[i].line,
		    &arguments, &err), 0, "%s: %s", rows[i].line, err.text);
		arguments_join(&arguments, &words);
		text = arguments_text(&arguments, rows[i].id);
		cr_expect_str_eq(arguments.form, rows[i].form);
		cr_expect_str_eq(words.buf, rows[i].words);
		cr_expect((text == NULL) == (rows[i].text == NULL) &&
		    (text == NULL || strcmp(text, rows[i].text) == 0),
		    "%s: %s", rows[i].line, text == NULL ? "none" : text);
		cr_expect_eq(arguments_number(&arguments, rows[i].id, 0),
		    rows[i].number, "%s", rows[i].line);
		cr_expect_null(arguments_word(&arguments, arguments.count));
		str_release(&words);
	}
}

Test(arguments, of_two_values_the_second_is_kept)
{
	struct arguments arguments;
	struct err err;

	cr_assert_eq(read_line(route_usage, "a@b --diff old new", &arguments,
	    &err), 0);
	cr_expect_str_eq(arguments.options[OPT_DIFF].second, "new");
	cr_expect_str_eq(arguments.words[0], "a@b");
	cr_expect_eq(arguments.count, 1);
}

/* Every option of every verb has a row in options.h, once a verb; and every
 * row has a verb. */
Test(arguments, the_usages_and_the_options_fit)
{
	static const struct { const char *verb, *usage; } rows[] = {
#define VERB(name, usage, text) { #name, usage },
#include "tools/zmailer/verbs/verbs.h"
#undef VERB
	};
	bool is_used[OPTIONS] = { false };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *usage = rows[i].usage;
		struct usage_form form;
		struct usage_word word;

		while (usage_form_next(&usage, &form))
			while (usage_word_next(&form, &word)) {
				if (word.option == NULL)
					continue;
				cr_assert(word.option->name[0] != '\0',
				    "%s: no row for " SLICE_FMT, rows[i].verb,
				    SLICE_ARG(word.text));
				cr_expect_eq(word.option, usage_option(
				    rows[i].usage, word.text),
				    "%s: two rows of " SLICE_FMT,
				    rows[i].verb, SLICE_ARG(word.text));
				is_used[word.option - option_rows] = true;
			}
	}
	for (size_t i = 0; i < OPTIONS; i++)
		cr_expect(is_used[i], "no verb takes %s",
		    option_rows[i].name);
}

Test(arguments, a_usage_is_shown_a_form_a_line)
{
	struct str out = STR_INIT;

	usage_add(&out, "usage: ", "zmailer x", "list | HOST[:PORT] [--json]; "
	    "[--yes]");
	usage_add(&out, "usage: ", "zmailer y", "");
	cr_expect_str_eq(out.buf,
	    "usage: zmailer x list\n"
	    "       zmailer x HOST[:PORT] [--json]\n"
	    "       zmailer x ... [--yes]\n"
	    "usage: zmailer y\n");
	str_reset(&out);
	usage_add_options(&out, "a [--json] | b [--json] [--for SPAN]");
	cr_expect_str_eq(out.buf,
	    "  --json              JSON, one object on each line\n"
	    "  --for SPAN          for how long: 90s 2h 3d\n");
	str_release(&out);
}

/* What is no number of an option's, whatever the option. */
static const char *const no_numbers[] = { "", " ", "-0", "+0", "-1", "+1",
	"0x10", "1e9", "1.5", "1 ", " 1", "1k", "one",
	"18446744073709551616", "99999999999999999999" };

Test(arguments, an_option_with_a_number_takes_nothing_else)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_row *row = &option_rows[i];
		char usage[80], over[24];

		if (row->kind != OPTION_NUMBER || row->name[1] != '-')
			continue;
		snprintf(usage, sizeof(usage), "[%s %s]", row->name,
		    row->value);
		snprintf(over, sizeof(over), "%llu",
		    (unsigned long long)row->high + 1);
		for (size_t k = 0; k <= sizeof(no_numbers) /
		    sizeof(no_numbers[0]); k++) {
			const char *text = k == 0 ? over : no_numbers[k - 1];
			const struct verb_row verb = { "x", usage, "", NULL };
			struct arguments arguments;
			char name[40], value[40];
			char *argv[] = { name, name, value, NULL };
			struct err err;

			strlcpy(name, row->name, sizeof(name));
			strlcpy(value, text, sizeof(value));
			cr_expect_eq(arguments_parse(&arguments, &verb, 3,
			    argv, &err), -1, "%s '%s'", row->name, text);
		}
	}
}

Test(arguments, what_follows_two_dashes_is_no_option)
{
	const struct verb_row verb = { "x", "[--mx] ADDRESS", "", NULL };
	char *argv[] = { (char *)(uintptr_t) "x", (char *)(uintptr_t) "--",
	    (char *)(uintptr_t) "--mx", NULL };
	struct arguments arguments;
	struct err err;

	cr_expect_eq(arguments_parse(&arguments, &verb, 3, argv, &err), 0);
	cr_expect_str_eq(arguments_word(&arguments, 0), "--mx");
}

/* Every verb stands in one group, and what `zmailer` alone says of those of
 * the first week fits 80 columns. */
Test(arguments, every_verb_stands_in_one_group)
{
	static const struct { const char *name, *text; } verbs[] = {
#define VERB(name, usage, text) { #name, text },
#include "tools/zmailer/verbs/verbs.h"
#undef VERB
	};
	static const char *const groups[] = {
#define GROUP(title, verbs) verbs,
#include "tools/zmailer/help/groups.h"
#undef GROUP
	};
	const size_t count = sizeof(verbs) / sizeof(verbs[0]);
	size_t words = 0, first = 0;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct slice rest = slice_of(groups[i]), word;

		for (; slice_word(&rest, &word); words++)
			first += i == 0;
	}
	cr_expect_eq(first, 12);
	cr_expect_eq(words, count);
	for (size_t v = 0; v < count; v++) {
		size_t times = 0;

		for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]);
		    i++) {
			struct slice rest = slice_of(groups[i]), word;

			while (slice_word(&rest, &word)) {
				if (!slice_is(word, verbs[v].name))
					continue;
				times++;
				if (i == 0)
					cr_expect_leq(strlen(verbs[v].text),
					    68, "%s", verbs[v].name);
			}
		}
		cr_expect_eq(times, 1, "%s", verbs[v].name);
	}
}
