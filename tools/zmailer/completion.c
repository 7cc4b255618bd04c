/* completion.c - zmailer completion: a script for the shell
 *
 * In     the rows of verbs.h, selector_keys
 * Out    a script for bash, zsh or fish
 * Spec   zmailer(8); what a usage means stands at usage_next
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/str.h"
#include "grammar/selector.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

/* ---- words of a usage ----------------------------------------------- */

enum kind {
	KIND_OPTION,	/* --json, -f */
	KIND_WORD,	/* typed as it stands: list, add, bash */
	KIND_VALUE	/* stands for something: ADDRESS, <T>, - */
};

struct token {
	struct slice	text;
	enum kind	kind;
	bool		has_value;	/* an option with a VALUE behind it */
	bool		is_after;	/* that VALUE */
};

static enum kind
completion_kind_of(struct slice text)
{
	bool is_option = text.n > 1 && text.p[0] == '-';

	for (size_t i = is_option ? 1 : 0; i < text.n; i++)
		if ((text.p[i] < 'a' || text.p[i] > 'z') &&
		    !(is_option && text.p[i] == '-'))
			return KIND_VALUE;
	return is_option ? KIND_OPTION : KIND_WORD;
}

static size_t
token_end(const char *at)
{
	return strcspn(at, " []|");
}

/* A usage is words in brackets and bars; dots behind a word say that it may
 * come again.  false: that was all. */
static bool
usage_next(const char **at, struct token *token)
{
	bool is_after = token->has_value;
	size_t n;

	*at += strspn(*at, " []|.");
	n = token_end(*at);
	*token = (struct token){ .text = { *at, n }, .is_after = is_after };
	*at += n;
	while (token->text.n > 0 &&
	    token->text.p[token->text.n - 1] == '.')
		token->text.n--;
	token->kind = completion_kind_of(token->text);
	if (token->kind == KIND_OPTION && (*at)[0] == ' ' &&
	    strchr("[|", (*at)[1]) == NULL)
		token->has_value = completion_kind_of((struct slice){ *at + 1,
		    token_end(*at + 1) }) == KIND_VALUE;
	return n > 0;
}

static bool
is_file(struct slice text)
{
	return slice_is(text, "FILE") || slice_is(text, "DIR") ||
	    slice_is(text, "KEY");
}

static bool
completion_is_first(const char *usage, const struct token *token)
{
	struct token other = { .has_value = false };

	while (usage_next(&usage, &other) && other.text.p < token->text.p)
		if (slice_equal(other.text, token->text))
			return false;
	return true;
}

/* What is typed as it stands, each word once. */
static void
print_words(const struct verb_row *row)
{
	struct token token = { .has_value = false };
	const char *at = row->usage, *before = "";

	while (usage_next(&at, &token))
		if (token.kind != KIND_VALUE && completion_is_first(row->usage,
		    &token)) {
			printf("%s" SLICE_FMT, before, SLICE_ARG(token.text));
			before = " ";
		}
}

/* Options that have a value: a file, or any. */
static void
print_valued(const struct verb_row *row, bool files)
{
	struct token token = { .has_value = false }, last = token;
	const char *at = row->usage, *before = "";

	while (usage_next(&at, &token)) {
		if (token.is_after && is_file(token.text) == files) {
			printf("%s" SLICE_FMT, before, SLICE_ARG(last.text));
			before = " ";
		}
		last = token;
	}
}

/* The verb takes names of files. */
static bool
completion_has_files(const struct verb_row *row)
{
	struct token token = { .has_value = false };
	const char *at = row->usage;

	while (usage_next(&at, &token))
		if (!token.is_after && is_file(token.text))
			return true;
	return false;
}

/* ---- lists ---------------------------------------------------------- */

/* Verbs whose usage has SELECTOR complete keys; those with ID, ids. */
static void
print_verbs(const char *with)
{
	for (size_t i = 0; i < verb_rows_count; i++)
		if (with == NULL || strstr(verb_rows[i].usage, with) != NULL)
			printf(" %s", verb_rows[i].name);
}

/* Each between two of `quote`: ">" means something to a shell. */
static void
print_keys_as(const char *quote)
{
	for (size_t i = 0; selector_keys[i].name != NULL; i++)
		printf(" %s%s%s%s", quote, selector_keys[i].name,
		    selector_keys[i].type == SELECTOR_TEXT ||
		    selector_keys[i].type == SELECTOR_ADDRESS ? ":" : ">",
		    quote);
}

/* ---- bash ----------------------------------------------------------- */

static void
print_bash_rows(void)
{
	for (size_t i = 0; i < verb_rows_count; i++) {
		const struct verb_row *row = &verb_rows[i];

		printf("\t%s) words=\"", row->name);
		print_words(row);
		printf("\" takes=\"");
		print_valued(row, false);
		printf("\" reads=\"");
		print_valued(row, true);
		printf("\" files=%s ;;\n", completion_has_files(row) ? "yes" :
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
	printf(" all and or not\"\n\tlocal choose=\"");
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
		print_words(&verb_rows[i]);
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
	printf("\n\t\tcompadd -- all and or not\n\tfi\n"
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
	print_words(row);
	printf("'\n");
	if (completion_has_files(row))
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
verb_completion(int argc, char **argv, const char *conf_path)
{
	static const struct { const char *shell; void (*print)(void); }
	shells[] = {
		{ "bash", print_bash }, { "zsh", print_zsh },
		{ "fish", print_fish },
	};

	for (size_t i = 0; argc == 2 && i < 3; i++)
		if (strcmp(argv[1], shells[i].shell) == 0) {
			shells[i].print();
			return EX_OK;
		}
	return verb_usage(argv[0], "which shell? bash, zsh and fish are "
	    "known");
}
