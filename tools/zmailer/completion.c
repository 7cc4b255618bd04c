/* completion.c - zmailer completion: a script for the shell
 *
 * In     the rows of verbs.h, selector_keys, selector_words
 * Out    a script for bash, zsh or fish
 * Spec   zmailer(8); usage.h says what a usage means
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/str.h"
#include "mail/words/selector_words.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

/* ---- words of a usage ----------------------------------------------- */

enum wanted {
	WANT_WORDS,		/* what is typed as it stands */
	WANT_FILE_OPTIONS,	/* options whose value is a file */
	WANT_VALUE_OPTIONS	/* other options that have one */
};

static bool
is_file(struct slice text)
{
	struct slice one;

	while (slice_cut(&text, '|', &one))
		if (slice_is(one, "FILE") || slice_is(one, "DIR") ||
		    slice_is(one, "KEY"))
			return true;
	return false;
}

/* Lower case: typed as it is written. */
static bool
is_typed(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '-' && (text.p[i] < 'a' || text.p[i] > 'z'))
			return false;
	return text.n > 1;
}

static bool
has_typed(struct slice alternatives)
{
	struct slice one;

	while (slice_cut(&alternatives, '|', &one))
		if (is_typed(one))
			return true;
	return false;
}

/* Each word once, with a blank before all but the first. */
static void
add_once(struct str *out, struct slice word)
{
	struct slice rest = str_slice(out), had;

	while (slice_word(&rest, &had))
		if (slice_equal(had, word))
			return;
	str_addf(out, "%s" SLICE_FMT, out->len > 0 ? " " : "",
	    SLICE_ARG(word));
}

static void
add_typed(struct str *out, struct slice alternatives)
{
	struct slice one;

	while (slice_cut(&alternatives, '|', &one))
		if (is_typed(one))
			add_once(out, one);
}

static void
add_wanted(struct str *out, const struct usage_word *word, enum wanted wanted)
{
	struct slice value = slice_of(word->option == NULL ? NULL :
	    word->option->value);

	if (wanted == WANT_WORDS) {
		if (word->option != NULL)
			add_once(out, word->text);
		add_typed(out, word->option != NULL ? value : word->text);
	} else if (value.n > 0 && !has_typed(value) &&
	    is_file(value) == (wanted == WANT_FILE_OPTIONS)) {
		add_once(out, word->text);
	}
}

static void
print_wanted(const struct verb_row *row, enum wanted wanted)
{
	const char *usage = row->usage;
	struct usage_form form;
	struct usage_word word;
	struct str out = STR_INIT;

	while (usage_form_next(&usage, &form))
		while (usage_word_next(&form, &word))
			add_wanted(&out, &word, wanted);
	fputs(out.buf, stdout);
	str_release(&out);
}

/* Does the usage have an operand of this name?  "FILE" means all files. */
static bool
has_operand(const struct verb_row *row, const char *name)
{
	const char *usage = row->usage;
	struct usage_form form;
	struct usage_word word;

	while (usage_form_next(&usage, &form))
		while (usage_word_next(&form, &word))
			if (word.option == NULL && (strcmp(name, "FILE") == 0 ?
			    is_file(word.text) :
			    usage_is_one_of(word.text, name)))
				return true;
	return false;
}

/* ---- lists ---------------------------------------------------------- */

/* Verbs whose usage has SELECTOR complete keys; those with ID, ids. */
static void
print_verbs(const char *with)
{
	for (size_t i = 0; i < verb_rows_count; i++)
		if (with == NULL || has_operand(&verb_rows[i], with))
			printf(" %s", verb_rows[i].name);
}

/* Each between two of `quote`: ">" means something to a shell. */
static void
print_keys_as(const char *quote)
{
	for (size_t i = 0; selector_keys[i].name != NULL; i++)
		printf(" %s%s%c%s", quote, selector_keys[i].name,
		    selector_key_sign((enum selector_key_row)i), quote);
}

/* "state:held", where a key has words of its own: offered when the key has been
 * typed. */
static void
print_values(void)
{
	struct selector_word words[SELECTOR_WORDS_MAX];

	for (int i = 0; i < SELECTOR_KEY_COUNT; i++) {
		size_t count = selector_words((enum selector_key_row)i, words);

		for (size_t k = 0; k < count; k++)
			printf(" %s:%s", selector_keys[i].name, words[k].name);
	}
}

/* ---- bash ----------------------------------------------------------- */

static void
print_bash_rows(void)
{
	for (size_t i = 0; i < verb_rows_count; i++) {
		const struct verb_row *row = &verb_rows[i];

		printf("\t%s) words=\"", row->name);
		print_wanted(row, WANT_WORDS);
		printf("\" takes=\"");
		print_wanted(row, WANT_VALUE_OPTIONS);
		printf("\" reads=\"");
		print_wanted(row, WANT_FILE_OPTIONS);
		printf("\" files=%s ;;\n", has_operand(row, "FILE") ? "yes" :
		    "");
	}
}

static const char bash_head[] =
    "# bash completion of zmailer(8); made by `zmailer completion bash`\n"
    "_zmailer() {\n"
    "\tlocal word=${COMP_WORDS[COMP_CWORD]}\n"
    "\tlocal before=${COMP_WORDS[COMP_CWORD-1]}\n"
    "\tlocal at=1 words takes reads files verb found\n"
    "\tCOMPREPLY=()\n"
    "\twhile [[ $at -lt $COMP_CWORD && ${COMP_WORDS[at]} == -* ]]; do\n"
    "\t\t[[ ${COMP_WORDS[at]} == -C ]] && at=$((at + 1))\n"
    "\t\tat=$((at + 1))\n"
    "\tdone\n"
    "\tverb=${COMP_WORDS[at]}\n";

static const char bash_tail[] =
    "\tesac\n"
    "\tif [[ $COMP_CWORD -lt $at || \" $reads \" == *\" $before \"* ]]; then\n"
    "\t\tcompopt -o filenames 2>/dev/null\n"
    "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n"
    "\t\treturn\n"
    "\telif [[ $COMP_CWORD -eq $at ]]; then\n"
    "\t\twords=\"$verbs\"\n"
    "\t\t[[ $word == -* ]] && words=\"-C --help --version\"\n"
    "\telif [[ \" $takes \" == *\" $before \"* ]]; then\n"
    "\t\treturn\n"
    "\telif [[ $verb == help ]]; then\n"
    "\t\twords=\"$verbs $(zmailer help 2>/dev/null |\n"
    "\t\t    sed -n 's/^  \\([a-z-]*\\) .*/\\1/p')\"\n"
    "\telif [[ $word != -* && \" $ids $choose \" == *\" $verb \"* ]]; then\n"
    "\t\t[[ \" $choose \" == *\" $verb \"* ]] && words=\"$words $keys\"\n"
    "\t\t[[ \" $choose \" == *\" $verb \"* && $word == *:* ]] &&\n"
    "\t\t    words=\"$words $values\"\n"
    "\t\tfound=$(zmailer \"${COMP_WORDS[@]:1:at-1}\" list --json "
    "2>/dev/null |\n"
    "\t\t    sed -n 's/.*\"id\":\"\\([0-9a-z]*\\)\".*/\\1/p' | sort -u)\n"
    "\tfi\n"
    "\tCOMPREPLY=($(compgen -W \"$words $found\" -- \"$word\"))\n"
    "\tif [[ -n $files && $word != -* ]]; then\n"
    "\t\tcompopt -o filenames 2>/dev/null\n"
    "\t\tCOMPREPLY+=($(compgen -f -- \"$word\"))\n"
    "\tfi\n"
    "\t[[ ${COMPREPLY[0]} == *[:\\>] ]] && compopt -o nospace 2>/dev/null\n"
    "\treturn 0\n"
    "}\n"
    "COMP_WORDBREAKS=${COMP_WORDBREAKS//[:>]/}\n"
    "complete -F _zmailer zmailer\n";

static void
print_bash(void)
{
	fputs(bash_head, stdout);
	printf("\tlocal verbs=\"");
	print_verbs(NULL);
	printf("\" keys=\"");
	print_keys_as("");
	printf(" all and or not\" values=\"");
	print_values();
	printf("\"\n\tlocal choose=\"");
	print_verbs("SELECTOR");
	printf("\" ids=\"");
	print_verbs("ID");
	printf("\"\n\tcase $verb in\n");
	print_bash_rows();
	fputs(bash_tail, stdout);
}

/* ---- zsh ------------------------------------------------------------ */

/* In single quotes of a shell. */
static void
print_quoted(const char *text)
{
	putchar('\'');
	for (; *text != '\0'; text++)
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	putchar('\'');
}

static void
print_zsh(void)
{
	printf("#compdef zmailer\n# made by `zmailer completion zsh`\n"
	    "typeset -gA _zmailer_verbs _zmailer_words\n_zmailer_verbs=(\n");
	for (size_t i = 0; i < verb_rows_count; i++) {
		printf("\t%s ", verb_rows[i].name);
		print_quoted(verb_rows[i].text);
		putchar('\n');
	}
	printf(")\n_zmailer_words=(\n");
	for (size_t i = 0; i < verb_rows_count; i++) {
		printf("\t%s '", verb_rows[i].name);
		print_wanted(&verb_rows[i], WANT_WORDS);
		printf("'\n");
	}
	printf(")\n_zmailer() {\n\tlocal -a verbs choose ids\n"
	    "\tlocal verb\n\tchoose=(");
	print_verbs("SELECTOR");
	printf(")\n\tids=(");
	print_verbs("ID");
	printf(")\n\tif (( CURRENT == 2 )); then\n"
	    "\t\tfor verb in ${(k)_zmailer_verbs}; do "
	    "verbs+=(\"$verb:$_zmailer_verbs[$verb]\"); done\n"
	    "\t\t_describe verb verbs\n\t\treturn\n"
	    "\telif [[ $words[2] == help ]]; then\n"
	    "\t\tcompadd -- ${(k)_zmailer_verbs}\n\t\treturn\n\tfi\n"
	    "\tcompadd -- ${=_zmailer_words[$words[2]]}\n"
	    "\tif (( ${choose[(Ie)$words[2]]} )); then\n"
	    "\t\tcompadd -S '' --");
	print_keys_as("'");
	printf("\n\t\tcompadd -- all and or not\n"
	    "\t\t[[ $PREFIX == *:* ]] && compadd --");
	print_values();
	printf("\n\tfi\n"
	    "\tif (( ${choose[(Ie)$words[2]]} + "
	    "${ids[(Ie)$words[2]]} )); then\n"
	    "\t\tcompadd -- $(zmailer list --json 2>/dev/null |\n"
	    "\t\t    sed -n 's/.*\"id\":\"\\([0-9a-z]*\\)\".*/\\1/p' | "
	    "sort -u)\n\tfi\n\t_files\n}\ncompdef _zmailer zmailer\n");
}

/* ---- fish ----------------------------------------------------------- */

static void
print_fish_row(const struct verb_row *row)
{
	printf("complete -c zmailer -n __fish_use_subcommand -a %s -d ",
	    row->name);
	print_quoted(row->text);
	printf("\ncomplete -c zmailer -n '__fish_seen_subcommand_from %s' "
	    "-a '", row->name);
	print_wanted(row, WANT_WORDS);
	printf("'\n");
	if (has_operand(row, "FILE"))
		printf("complete -c zmailer -F -n "
		    "'__fish_seen_subcommand_from %s'\n", row->name);
}

static void
print_fish(void)
{
	printf("# made by `zmailer completion fish`\n"
	    "complete -c zmailer -f\n");
	for (size_t i = 0; i < verb_rows_count; i++)
		print_fish_row(&verb_rows[i]);
	printf("complete -c zmailer -n '__fish_seen_subcommand_from");
	print_verbs("SELECTOR");
	printf("' -a '");
	print_keys_as("\"");
	printf(" all and or not'\n"
	    "complete -c zmailer -n 'string match -q \"*:*\" -- "
	    "(commandline -ct); and __fish_seen_subcommand_from");
	print_verbs("SELECTOR");
	printf("' -a '");
	print_values();
	printf("'\n"
	    "complete -c zmailer -n '__fish_seen_subcommand_from");
	print_verbs("SELECTOR");
	print_verbs("ID");
	printf("' -a '(zmailer list --json 2>/dev/null | "
	    "string match -r -g \\'\"id\":\"([0-9a-z]+)\\')'\n"
	    "complete -c zmailer -n '__fish_seen_subcommand_from help' "
	    "-a '");
	print_verbs(NULL);
	printf("'\n");
}

int
verb_completion(struct arguments *arguments)
{
	static const struct {
		const char *shell;
		void (*print)(void);
	} shells[] = {
		{ "bash", print_bash }, { "zsh", print_zsh },
		{ "fish", print_fish },
	};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (arguments_is(arguments, shells[i].shell))
			shells[i].print();
	return EX_OK;
}
