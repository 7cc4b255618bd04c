/* test_state.c - the states of mail, where people read of them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mail/state.h"

static void
page_read(const char *name, struct str *out)
{
	const char *source = getenv("ZMAILER_SRC");
	char path[1000], bytes[4096];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", source ? source : ".", name);
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		str_add(out, bytes, n);
	fclose(file);
}

Test(state, glossary_and_manual_have_each)
{
	struct str glossary = STR_INIT, manual = STR_INIT;
	char row[300];

	page_read("doc/GLOSSARY.md", &glossary);
	page_read("doc/man/zmailer-selector.7", &manual);
	for (int i = 0; i < MAIL_STATE_COUNT; i++) {
		snprintf(row, sizeof(row), "| %s | %s |\n",
		    mail_states[i].name, mail_states[i].text);
		cr_expect_not_null(strstr(glossary.buf, row), "%s", row);
		snprintf(row, sizeof(row), " %s", mail_states[i].name);
		cr_expect_not_null(strstr(manual.buf, row), "%s", row);
	}
	str_release(&glossary);
	str_release(&manual);
}
