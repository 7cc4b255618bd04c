/* sendmail_manual.c - the flags of sendmail(1), from their rows
 *
 * In     tools/sendmail/flags.h; the page on standard input
 * Out    the page, its @FLAGS@, @MODES@ and @OPTIONS@ filled
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static const struct row { const char *mark, *shown, *text; } rows[] = {
#define FLAG(letter, takes, act, shown, text) { "@FLAGS@", shown, text },
#include "tools/sendmail/flags.h"
#define MODE(letter, act, shown, text) { "@MODES@", shown, text },
#include "tools/sendmail/flags.h"
#define OPTION(word, act, shown, text) { "@OPTIONS@", shown, text },
#include "tools/sendmail/flags.h"
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

/* False: the line is no mark. */
static int
put_rows(const char *mark)
{
	int count = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].mark, mark) == 0) {
			fputs(".It Li \\-", stdout);
			put(rows[i].shown);
			putchar('\n');
			put(rows[i].text);
			putchar('\n');
			count++;
		}
	return count > 0;
}

int
main(void)
{
	char line[1024], mark[1024];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		snprintf(mark, sizeof(mark), "%.*s",
		    (int)strcspn(line, "\n"), line);
		if (!put_rows(mark))
			fputs(line, stdout);
	}
	return 0;
}
