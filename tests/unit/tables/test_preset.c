/* test_preset.c - ready questions in a definition
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mail/table/definition.h"
#include "mail/table/preset.h"

static char path[] = "/tmp/zm-preset-XXXXXX";

static enum definition_result
read_it(const char *type, const char *text, struct definition *out,
    struct err *err)
{
	int fd = mkstemp(path);
	enum definition_result result;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	result = definition_read(type, path, out, err);
	unlink(path);
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	return result;
}

Test(tables_preset, each_is_a_good_query_of_each_engine)
{
	static const char *const types[] = { "pgsql", "mysql", "sqlite" };
	static const char *const names[] = { "postfixadmin domains",
		"postfixadmin relay-domains", "postfixadmin mailboxes",
		"postfixadmin aliases", "postfixadmin alias-domains",
		"postfixadmin owners", "postfixadmin passwords",
		"mailcow domains", "mailcow relay-domains",
		"mailcow mailboxes", "mailcow aliases",
		"mailcow alias-domains", "mailcow spam-aliases",
		"mailcow owners", "mailcow canonical", "mailcow passwords",
		"ispmail domains", "ispmail mailboxes", "ispmail aliases",
		"ispmail passwords", "vmail domains", "vmail relay-domains",
		"vmail mailboxes", "vmail aliases", "vmail alias-domains",
		"vmail passwords", "zmailer domains", "zmailer mailboxes",
		"zmailer aliases", "zmailer passwords" };
	struct definition definition;
	char text[200];
	struct err err;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t k = 0; k < 3; k++) {
			snprintf(text, sizeof(text),
			    "database /x\npreset   %s\n", names[i]);
			cr_assert_eq(read_it(types[k], text, &definition,
			    &err), DEFINITION_GOOD, "%s %s", names[i],
			    err.text);
			cr_expect_geq(definition.parameters, 1, "%s",
			    names[i]);
			cr_expect(strncmp(definition.values[DEFINITION_QUERY],
			    "SELECT ", 7) == 0);
			definition_release(&definition);
		}
}

Test(tables_preset, writes_rows_of_our_own_schema_alone)
{
	static const struct {
		const char	*text;
		bool		 writes;
	} rows[] = {
		{ "database /x\npreset zmailer passwords\n", true },
		{ "database /x\npreset zmailer mailboxes\n", false },
		{ "database /x\npreset postfixadmin passwords\n", false },
		{ "database /x\nquery SELECT $1\nadd INSERT $1 $4\n"
		    "change UPDATE $4 $1\nremove DELETE $1\n", true },
	};
	struct definition definition;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert_eq(read_it("pgsql", rows[i].text, &definition, &err),
		    DEFINITION_GOOD, "%s", err.text);
		for (enum definition_word word = DEFINITION_ADD;
		    word <= DEFINITION_REMOVE; word++)
			cr_expect_eq(definition.values[word] != NULL,
			    rows[i].writes, "%s", rows[i].text);
		cr_expect_not(definition.may_write);
		definition_release(&definition);
	}
}

Test(tables_preset, says_what_there_is)
{
	static const struct {
		const char	*text, *words;
	} rows[] = {
		{ "database /x\npreset vmail\n", "write one of domains" },
		{ "database /x\npreset vmail users\n", "mailboxes" },
		{ "database /x\npreset dovecot domains\n",
		    "zmailer, postfixadmin, mailcow, ispmail or vmail" },
		{ "database /x\npreset vmail domains\nquery SELECT $1\n",
		    "keep one of them" },
		{ "database /x\nquery SELECT $1\nlist SELECT $1\n",
		    "all names" },
	};
	struct definition definition;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { "" };

		cr_expect_eq(read_it("sqlite", rows[i].text, &definition,
		    &err), DEFINITION_BAD, "%s", rows[i].text);
		cr_expect_not_null(strstr(err.text, rows[i].words), "%s",
		    err.text);
		definition_release(&definition);
	}
}

Test(tables_preset, mysql_puts_texts_together_in_its_own_way)
{
	struct definition definition;
	struct err err;

	cr_assert_eq(read_it("mysql", "database x\n"
	    "preset postfixadmin alias-domains\n", &definition, &err),
	    DEFINITION_GOOD);
	cr_expect_not_null(strstr(definition.values[DEFINITION_QUERY],
	    "CONCAT("));
	cr_expect_not_null(definition.values[DEFINITION_LIST]);
	definition_release(&definition);
}
