/* verbs_manual.c - the list of verbs for zmailer(8), from their rows
 *
 * In     tools/verbs.h
 * Out    roff on standard output
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/banned.h"

static const struct { const char *name, *usage, *text; } rows[] = {
#define VERB(name, usage, text) { #name, usage, text },
#include "tools/verbs.h"
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

int
main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		printf(".TP\n\\fB%s\\fP ", rows[i].name);
		put(rows[i].usage);
		putchar('\n');
		put(rows[i].text);
		printf(".\n");
	}
	return 0;
}
