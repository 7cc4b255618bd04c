/* verb_completion.c - zmailer completion: a script for the shell
 *
 * In     the rows of verbs.h, selector_keys
 * Out    a bash script
 * Spec   zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "grammar/selector.h"
#include "tools/verb.h"

#include "base/banned.h"

/* Verbs whose usage ends in SELECTOR complete keys; those with ID, ids. */
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

static void
print_keys(void)
{
	print_keys_as("");
}

static void
print_bash(void)
{
	printf("# bash completion of zmailer(8); made by "
	    "`zmailer completion bash`\n"
	    "_zmailer() {\n"
	    "\tlocal word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]}\n"
	    "\tlocal verbs=\"");
	print_verbs(NULL);
	printf("\" keys=\"");
	print_keys();
	printf(" all and or not\" choose=\"");
	print_verbs("SELECTOR");
	printf("\" ids=\"");
	print_verbs("ID");
	printf("\"\n"
	    "\tCOMPREPLY=()\n"
	    "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	    "\t\tCOMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n"
	    "\telif [ \"$verb\" = help ]; then\n"
	    "\t\tCOMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n"
	    "\telif [[ \" $ids $choose \" == *\" $verb \"* ]]; then\n"
	    "\t\tlocal found\n"
	    "\t\tfound=$(zmailer list --json 2>/dev/null |\n"
	    "\t\t    sed -n 's/.*\"id\":\"\\([0-9a-z]*\\)\".*/\\1/p' | "
	    "sort -u)\n"
	    "\t\t[[ \" $choose \" == *\" $verb \"* ]] && "
	    "found=\"$found $keys\"\n"
	    "\t\tCOMPREPLY=($(compgen -W \"$found\" -- \"$word\"))\n"
	    "\t\t[[ ${COMPREPLY[0]} == *[:\\>] ]] && compopt -o nospace\n"
	    "\tfi\n"
	    "}\n"
	    "COMP_WORDBREAKS=${COMP_WORDBREAKS//[:>]/}\n"
	    "complete -F _zmailer zmailer\n");
}

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
	    "typeset -gA _zmailer_verbs\n_zmailer_verbs=(\n");
	for (size_t i = 0; i < verb_rows_count; i++) {
		printf("\t%s ", verb_rows[i].name);
		print_quoted(verb_rows[i].text);
		putchar('\n');
	}
	printf(")\n_zmailer() {\n\tlocal -a verbs choose ids words\n"
	    "\tlocal verb\n\tchoose=(");
	print_verbs("SELECTOR");
	printf(")\n\tids=(");
	print_verbs("ID");
	printf(")\n\tif (( CURRENT == 2 )); then\n"
	    "\t\tfor verb in ${(k)_zmailer_verbs}; do "
	    "verbs+=(\"$verb:$_zmailer_verbs[$verb]\"); done\n"
	    "\t\t_describe verb verbs\n"
	    "\telif [[ $words[2] == help ]]; then\n"
	    "\t\tcompadd -- ${(k)_zmailer_verbs}\n"
	    "\telif (( ${choose[(Ie)$words[2]]} + "
	    "${ids[(Ie)$words[2]]} )); then\n"
	    "\t\tcompadd -S '' --");
	print_keys_as("'");
	printf("\n\t\tcompadd -- all and or not "
	    "$(zmailer list --json 2>/dev/null |\n"
	    "\t\t    sed -n 's/.*\"id\":\"\\([0-9a-z]*\\)\".*/\\1/p' | "
	    "sort -u)\n\tfi\n}\ncompdef _zmailer zmailer\n");
}

static void
print_fish(void)
{
	printf("# made by `zmailer completion fish`\n"
	    "complete -c zmailer -f\n");
	for (size_t i = 0; i < verb_rows_count; i++) {
		printf("complete -c zmailer -n __fish_use_subcommand -a %s "
		    "-d ", verb_rows[i].name);
		print_quoted(verb_rows[i].text);
		putchar('\n');
	}
	printf("complete -c zmailer -n '__fish_seen_subcommand_from");
	print_verbs("SELECTOR");
	print_verbs("ID");
	printf("' -a '");
	print_keys();
	printf(" all (zmailer list --json 2>/dev/null | "
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
