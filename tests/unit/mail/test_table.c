/* test_table.c - lookup tables
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mail/table/table.h"

static struct net
net_of(const char *text)
{
	struct net net;
	struct err err;

	cr_assert_eq(net_parse(slice_of(text), &net, &err), 0, "%s", text);
	return net;
}

Test(table, entries)
{
	static const struct { const char *text, *key, *want; unsigned line; }
	    rows[] = {
		{ "a b\n", "a", "b", 1 },
		{ "a: b\n", "A", "b", 1 },
		{ "Alice:bob, carol\n", "alice", "bob, carol", 1 },
		{ "a\n", "a", "", 1 },
		{ "a:\n", "a", "", 1 },
		{ "a   b  c  \r\n", "a", "b  c", 1 },
		{ "# x\n\na b\n", "a", "b", 3 },
		{ "#a b\n", "a", NULL, 0 },
		{ "a b,\n  c\nd e\n", "a", "b,   c", 1 },
		{ "a b,\n# no\n\tc", "a", "b,       c", 1 },
		{ "a\n b\n", "a", "b", 1 },
		{ "a b\n   \n # note\nc d\n", "c", "d", 4 },
		{ "\"john doe\": j\n", "john doe", "j", 1 },
		{ "u@[IPv6:::1]: x\n", "u@[ipv6:::1]", "x", 1 },
		{ "2001:db8::/32\n", "2001:db8::/32", "", 1 },
		{ "2001:db8::1: x\n", "2001:db8::1", "x", 1 },
		{ "192.0.2.1: x\n", "192.0.2.1", "x", 1 },
		{ ".x.org smtp!h\n", ".x.org", "smtp!h", 1 },
		{ "a first\na second\n", "a", "first", 1 },
		{ "a |\"/bin/prog x\"\n", "a", "|\"/bin/prog x\"", 1 },
		{ "a :include:/x\n", "a", ":include:/x", 1 },
		{ "abc x\n", "ab", NULL, 0 }, { "abc x\n", "abcd", NULL, 0 },
		{ "", "a", NULL, 0 }, { "a b\n", "", NULL, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str spec = STR_INIT;
		struct table *table;
		struct slice value = { NULL, 0 };
		unsigned line = 0;
		struct err err;
		enum table_result result;

		str_addf(&spec, "inline:%s", rows[i].text);
		table = table_new("t", spec.buf);
		result = table_lookup(table, slice_of(rows[i].key), &value,
		    &line, &err);
		cr_expect_eq(result, rows[i].want ? TABLE_FOUND : TABLE_NONE,
		    "row %zu", i);
		if (rows[i].want != NULL && result == TABLE_FOUND)
			cr_expect(slice_is(value, rows[i].want),
			    "row %zu: '" SLICE_FMT "'", i, SLICE_ARG(value));
		cr_expect_eq(line, rows[i].line, "row %zu: %u", i, line);
		table_free(&table);
		str_release(&spec);
	}
}

Test(table, what_is_wrong_is_said_with_its_line)
{
	static const struct { const char *text; size_t n; const char *want; }
	    rows[] = {
#define ROW(text, want) { text, sizeof(text) - 1, want }
		ROW("  a b\n", ":1: this line begins with a blank"),
		ROW("a b\nc\0d e\n", ":2: a NUL byte"),
		ROW("a b\n\"\": c\n", ":2: the key is missing"),
		ROW("a b\nA c\n", ":2: this key stands in line 1 already"),
	};
	char path[] = "/tmp/zm-table-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char spec[64];
		struct table *table;
		struct err err = { "" };

		cr_assert_eq(ftruncate(fd, 0), 0);
		cr_assert_eq(pwrite(fd, rows[i].text, rows[i].n, 0),
		    (ssize_t)rows[i].n);
		snprintf(spec, sizeof(spec), "file:%s", path);
		table = table_new("t", spec);
		cr_expect_lt(table_check(table, &err), 1);
		cr_expect(strstr(err.text, rows[i].want) != NULL,
		    "row %zu: %s", i, err.text);
		cr_expect_eq(strncmp(err.text, path, strlen(path)), 0);
		table_free(&table);
	}
	unlink(path);
	close(fd);
}

Test(table, networks)
{
	struct table *table = table_new("t", "inline:192.0.2.0/24\n"
	    "192.0.2.128/25\n2001:db8::/32\n10.1.2.3\n::1\n");
	static const struct { const char *address; unsigned line; } rows[] = {
		{ "192.0.2.1", 1 }, { "192.0.2.200", 2 }, { "192.0.3.1", 0 },
		{ "10.1.2.3", 4 }, { "10.1.2.4", 0 }, { "2001:db8::5", 3 },
		{ "2001:db9::5", 0 }, { "::1", 5 }, { "::2", 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct net net = net_of(rows[i].address);
		unsigned line = 99;
		struct err err;

		cr_expect_eq(table_has_address(table, &net, &line, &err),
		    rows[i].line > 0 ? TABLE_FOUND : TABLE_NONE, "%s",
		    rows[i].address);
		cr_expect_eq(line, rows[i].line, "%s: %u", rows[i].address,
		    line);
	}
	table_free(&table);
}

Test(table, a_bad_network_is_trouble_not_silence)
{
	struct table *table = table_new("t", "inline:10.0.0.0/8\nmx.example\n");
	struct net net = net_of("10.1.1.1");
	struct err err;

	cr_expect_eq(table_has_address(table, &net, NULL, &err),
	    TABLE_TROUBLE);
	cr_expect(strstr(err.text, "t:2: 'mx.example' is not a network") !=
	    NULL, "%s", err.text);
	table_free(&table);
}

/* ---- files, with a clock that the test moves ------------------------- */

static char path[] = "/tmp/zm-table-XXXXXX";
static int64_t *offset;		/* seconds added to the clock */

static void
setup(void)
{
	char clock[] = "/tmp/zm-clock-XXXXXX";
	int fd = mkstemp(clock);
	int64_t zero = 0;

	cr_assert(fd >= 0 && write(fd, &zero, 8) == 8);
	offset = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(offset, MAP_FAILED);
	close(fd);
	setenv("ZMAILER_TEST_CLOCK", clock, 1);
	memcpy(path, "/tmp/zm-table-XXXXXX", sizeof(path));
	close(mkstemp(path));
}

static void
teardown(void)
{
	unlink(path);
	unlink(getenv("ZMAILER_TEST_CLOCK"));
}

static void
put(const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

/* A new file moved over the old one, as careful editors do. */
static void
replace(const char *text)
{
	char other[64];
	FILE *file;

	snprintf(other, sizeof(other), "%s.new", path);
	file = fopen(other, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
	cr_assert_eq(rename(other, path), 0);
}

static struct table *
open_table(void)
{
	char spec[64];

	snprintf(spec, sizeof(spec), "file:%s", path);
	return table_new("t", spec);
}

static enum table_result
look(struct table *table, const char *key, const char *want)
{
	struct slice value = { NULL, 0 };
	struct err err = { "" };
	enum table_result result = table_lookup(table, slice_of(key), &value,
	    NULL, &err);

	if (want != NULL) {
		cr_expect_eq(result, TABLE_FOUND, "%s: %s", key, err.text);
		cr_expect(slice_is(value, want), "%s: " SLICE_FMT, key,
		    SLICE_ARG(value));
	}
	if (result == TABLE_TROUBLE)
		cr_expect(strstr(err.text, path) != NULL, "%s", err.text);
	return result;
}

Test(table_file, follows_its_file_once_a_second, .init = setup,
    .fini = teardown)
{
	struct table *table;
	unsigned generation;

	put("a one\n");
	table = open_table();
	look(table, "a", "one");
	generation = table_generation(table);
	replace("a two\n");
	look(table, "a", "one");		/* not yet a second */
	cr_expect_eq(table_generation(table), generation);
	*offset += 1;
	look(table, "a", "two");
	cr_expect_eq(table_generation(table), generation + 1);
	put("a six\n");				/* same size, same inode */
	*offset += 1;
	look(table, "a", "six");
	*offset += 100;
	look(table, "a", "six");
	cr_expect_eq(table_generation(table), generation + 2);
	table_free(&table);
}

Test(table_file, trouble_and_back, .init = setup, .fini = teardown)
{
	struct table *table;

	unlink(path);
	table = open_table();
	cr_expect_eq(look(table, "a", NULL), TABLE_TROUBLE);
	cr_expect_str_eq(table_path(table), path);
	put("a b\n");
	cr_expect_eq(look(table, "a", NULL), TABLE_TROUBLE);
	*offset += 1;
	look(table, "a", "b");
	replace(" broken\n");
	*offset += 1;
	cr_expect_eq(look(table, "a", NULL), TABLE_TROUBLE);
	replace("a c\n");
	*offset += 1;
	look(table, "a", "c");
	table_free(&table);
}

Test(table_file, one_that_may_be_absent_is_empty_until_it_was_there,
    .init = setup, .fini = teardown)
{
	char spec[64];
	struct table *table;
	struct err err;

	unlink(path);
	snprintf(spec, sizeof(spec), "?file:%s", path);
	table = table_new("t", spec);
	cr_expect_eq(look(table, "a", NULL), TABLE_NONE);
	cr_expect_eq(table_check(table, &err), TABLE_CHECK_GOOD);
	cr_expect_str_eq(table_path(table), path);
	cr_expect_str_eq(table_kind(table), "file");
	*offset += 1;
	cr_expect_eq(look(table, "a", NULL), TABLE_NONE);
	put("a b\n");
	*offset += 1;
	look(table, "a", "b");
	unlink(path);
	*offset += 1;
	cr_expect_eq(look(table, "a", NULL), TABLE_TROUBLE);
	put("a c\n");
	*offset += 1;
	look(table, "a", "c");
	table_free(&table);
	cr_expect_eq(table_spec_check(spec, &err), -1);
}

Test(table_file, no_regular_file_is_trouble)
{
	struct table *table = table_new("t", "file:/dev/zero");
	struct err err;

	cr_expect_eq(table_lookup(table, SLICE("a"), NULL, NULL, &err),
	    TABLE_TROUBLE);
	cr_expect_str_eq(err.text, "table t: /dev/zero: it is no regular "
	    "file");
	table_free(&table);
	table = table_new("t", "ldap:x");
	cr_expect_eq(table_lookup(table, SLICE("a"), NULL, NULL, &err),
	    TABLE_TROUBLE);
	table_free(&table);
}

static bool
count(void *context, struct slice key, struct slice value, unsigned line)
{
	unsigned *seen = context;

	cr_expect_eq(line, *seen + 1);
	return ++*seen < 3;
}

Test(table, each_goes_in_file_order_until_told_to_stop)
{
	struct table *table = table_new("t", "inline:d 1\nc 2\nb 3\na 4\n");
	unsigned seen = 0;
	struct err err;

	cr_expect_eq(table_each(table, count, &seen, &err), TABLE_FOUND);
	cr_expect_eq(seen, 3);
	table_free(&table);
}

Test(table_file, a_hundred_thousand_lines, .init = setup, .fini = teardown)
{
	FILE *file = fopen(path, "w");
	struct table *table;
	char key[32], want[32];

	for (int i = 0; i < 100000; i++)
		fprintf(file, "user%d: box%d\n", i, i);
	fclose(file);
	table = open_table();
	for (int i = 0; i < 100000; i += 7) {
		snprintf(key, sizeof(key), "User%d", i);
		snprintf(want, sizeof(want), "box%d", i);
		look(table, key, want);
	}
	cr_expect_eq(look(table, "user100000", NULL), TABLE_NONE);
	table_free(&table);
}
