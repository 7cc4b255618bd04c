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

static void
print_keys(void)
{
	for (size_t i = 0; selector_keys[i].name != NULL; i++)
		printf(" %s%s", selector_keys[i].name,
		    selector_keys[i].type == SELECTOR_TEXT ||
		    selector_keys[i].type == SELECTOR_ADDRESS ? ":" : ">");
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

int
verb_completion(int argc, char **argv, const char *conf_path)
{
	if (argc != 2 || strcmp(argv[1], "bash") != 0)
		return verb_usage(argv[0], "which shell? bash is known");
	print_bash();
	return EX_OK;
}
