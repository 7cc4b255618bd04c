/* test_definition.c - what a table in a database is
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/table/definition.h"

static char path[] = "/tmp/zm-definition-XXXXXX";

static void
setup(void)
{
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	close(fd);
}

static void
teardown(void)
{
	unlink(path);
}

TestSuite(tables_definition, .init = setup, .fini = teardown);

static void
put(const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

Test(tables_definition, of_a_postgresql)
{
	struct definition definition;
	struct err err;

	put("# where\nhosts db1 db2:5433\ndatabase mail\nuser zm\n"
	    "password pw\nquery SELECT a FROM b\n  WHERE c = $2 AND d = $3\n");
	cr_assert_eq(definition_read("pgsql", path, &definition, &err),
	    DEFINITION_GOOD, "%s", err.text);
	cr_expect_str_eq(definition.values[DEFINITION_HOSTS],
	    "db1 db2:5433");
	cr_expect_str_eq(definition.values[DEFINITION_QUERY],
	    "SELECT a FROM b   WHERE c = $2 AND d = $3");
	cr_expect_null(definition.values[DEFINITION_TLS]);
	cr_expect_eq(definition.parameters, 3);
	definition_release(&definition);
	cr_expect_null(definition.values[DEFINITION_PASSWORD]);
}

Test(tables_definition, says_which_line_is_wrong)
{
	static const struct {
		const char	*type, *text, *words;
	} rows[] = {
		{ "pgsql", "query SELECT $1\n", "it says no database" },
		{ "pgsql", "database x\n", "it says no query" },
		{ "sqlite", "database x\nquery SELECT $1\n",
		    ":1: database: write the path" },
		{ "ldap", "hosts a\nbase b\nattribute c\n", "says no filter" },
		{ "ldap", "filter mail=$1\n", ":1: filter: write (ATTR" },
		{ "ldap", "filter (mail=$1)(a=b)\n", "filter: write (ATTR" },
		{ "ldap", "filter (&(mail=$1)\n", "filter: write (ATTR" },
		{ "ldap", "filter (mail=a)\n", "filter: there is $1" },
		{ "ldap", "scope all\n", "scope: write sub, one or base" },
		{ "ldap", "tls yes\n", "tls: write verify (StartTLS)" },
		{ "ldap", "query x\n", "no such word: there are hosts" },
		{ "redis", "server unix:/x\n", "it says no query" },
		{ "tcp", "keys all\n", ":1: keys: write address" },
		{ "redis", "query DEL $1\n", "query: write GET" },
		{ "redis", "query GET a$1 b\n", "query: write GET" },
		{ "redis", "query HGET $1\n", "query: write GET" },
		{ "redis", "query GET a\n", "query: write GET" },
		{ "redis", "database mail\n", "database: write its number" },
		{ "tcp", "map x\n", "no such word: there are server" },
		{ "tcp", "server 127.0.0.1:1\n", "server: write unix:" },
		{ "pgsql", "password-file pw\n", "write the path of a file" },
		{ "pgsql", "database x\nquery SELECT $1\n"
		    "password-file /nowhere\n", "/nowhere: No such file" },
		{ "sqlite", "hosts a\n", ":1: hosts: no such word" },
		{ "sqlite", "database /x\nquery SELECT 1\n", "no $1 in it" },
		{ "sqlite", "database /x\nquery SELECT a WHERE b = '%s'\n",
		    ":2: query: write $1 for %s" },
		{ "sqlite", "database /x\nquery SELECT '$1'\n",
		    "no $1 in it" },
		{ "sqlite", "database /x\nquery SELECT $4\n",
		    "there is $1 for the key" },
		{ "sqlite", "database /x\nquery SELECT $12\n",
		    "there is $1 for the key" },
		{ "sqlite", "database /x\nquery SELECT $1 'x\n",
		    "quotes end" },
		{ "sqlite", "database /x\ndatabase /y\nquery SELECT $1\n",
		    ":2: database: stands here twice" },
		{ "pgsql", "database x\nquery SELECT $1\ntls maybe\n",
		    ":3: tls: write verify, or no" },
		{ "socketmap", "server /run/x\nmap y\n",
		    ":1: server: write unix:/PATH" },
		{ "socketmap", "server unix:/run/x\n", "it says no map" },
		{ "pgsql", "database x\nquery SELECT $1\n"
		    "add INSERT INTO x VALUES ('a')\n",
		    ":3: add: write $1 for the name" },
		{ "pgsql", "database x\nquery SELECT $1\nremove DELETE $4\n",
		    ":3: remove: write $1 for the name" },
		{ "pgsql", "database x\nquery SELECT $1\n"
		    "change UPDATE $1 $5\n", ":3: change: write" },
		{ "pgsql", "database x\nquery SELECT $1 $4\n",
		    "there is $1 for the key" },
		{ "redis", "server unix:/x\nquery GET $1\nadd $1\n",
		    "add: no such word" },
	};
	struct definition definition;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put(rows[i].text);
		cr_expect_eq(definition_read(rows[i].type, path, &definition,
		    &err), DEFINITION_BAD, "%s", rows[i].text);
		cr_expect_not_null(strstr(err.text, rows[i].words), "%s: %s",
		    rows[i].text, err.text);
		definition_release(&definition);
	}
}

Test(tables_definition, with_a_password_is_nobody_elses)
{
	struct definition definition;
	struct err err;

	put("database x\npassword y\nquery SELECT $1\n");
	cr_assert_eq(chmod(path, 0644), 0);
	cr_expect_eq(definition_read("pgsql", path, &definition, &err),
	    DEFINITION_BAD);
	cr_expect_not_null(strstr(err.text, "chmod 600"));
	definition_release(&definition);
	cr_assert_eq(chmod(path, 0640), 0);
	cr_expect_eq(definition_read("pgsql", path, &definition, &err),
	    DEFINITION_GOOD);
	definition_release(&definition);
}

Test(tables_definition, keys_have_three_forms)
{
	struct slice forms[DEFINITION_PARAMETERS];

	definition_parameters(SLICE("a@b@c.test"), forms);
	cr_expect(slice_is(forms[0], "a@b@c.test"));
	cr_expect(slice_is(forms[1], "a@b"));
	cr_expect(slice_is(forms[2], "c.test"));
	definition_parameters(SLICE("alone"), forms);
	cr_expect(slice_is(forms[1], "alone"));
	cr_expect(slice_is(forms[2], ""));
	cr_expect(definition_key_is_text(SLICE("gr\xc3\xbc\xc3\x9f@x")));
	cr_expect_not(definition_key_is_text(SLICE("gr\xfc@x")));
	cr_expect_not(definition_key_is_text(SLICE("a\0b")));
	cr_expect_not(definition_key_is_text(SLICE("a\rb")));
	cr_expect_not(definition_key_is_text(SLICE("a\x7f")));
}

/* keys address, and the kinds of aliases of presets. */
Test(tables_definition, what_it_may_have)
{
	static const struct {
		const char *text, *key;
		bool may;
	} rows[] = {
		{ "database x\nquery SELECT $1\n", "bob", true },
		{ "database x\nquery SELECT $1\n", "b\nb", false },
		{ "database x\nquery SELECT $1\nkeys address\n", "bob", false },
		{ "database x\nquery SELECT $1\nkeys address\n", "b@c", true },
		{ "database x\nquery SELECT $1\nkeys address\n", "@c", true },
		{ "database x\npreset zmailer aliases\n", "bob", false },
		{ "database x\npreset vmail alias-domains\n", "bob", false },
		{ "database x\npreset vmail aliases\n", "@c.test", true },
		{ "database x\npreset zmailer mailboxes\n", "bob", true },
		{ "database x\npreset zmailer domains\n", "c.test", true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct definition definition;
		struct err err;

		put(rows[i].text);
		cr_assert_eq(definition_read("pgsql", path, &definition,
		    &err), DEFINITION_GOOD, "%s", err.text);
		cr_expect_eq(definition_may_have(&definition,
		    slice_of(rows[i].key)), rows[i].may, "row %zu", i);
		definition_release(&definition);
	}
}
