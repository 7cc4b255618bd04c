/* test_table_types.c - each back end answers as its page says
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/table/build.h"
#include "mail/table/table.h"

static char dir[] = "/tmp/zm-types-XXXXXX";

static void
setup(void)
{
	memcpy(dir, "/tmp/zm-types-XXXXXX", sizeof(dir));
	cr_assert_not_null(mkdtemp(dir));
}

static void
teardown(void)
{
	char command[64];

	table_share(NULL, 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	cr_assert_eq(system(command), 0);
}

static const char *
at(const char *format, const char *name)
{
	static char text[4][256];
	static unsigned turn;
	char *out = text[turn++ % 4], path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(out, sizeof(text[0]), format, path);
	return out;
}

/* Written, and old enough to be believed. */
static void
put(const char *name, const char *text)
{
	struct timespec times[2] = { { .tv_sec = 1700000000 },
		{ .tv_sec = 1700000000 } };
	int fd = open(at("%s", name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	futimens(fd, times);
	close(fd);
}

/* "value" or "value @line", "none", or "trouble: why". */
static const char *
ask(struct table *table, const char *key)
{
	static char out[1024];
	struct slice value = { NULL, 0 };
	unsigned line = 0;
	struct err err = { "" };

	switch (table_lookup(table, slice_of(key), &value, &line, &err)) {
	case TABLE_FOUND:
		snprintf(out, sizeof(out), line ? SLICE_FMT " @%u" :
		    SLICE_FMT, SLICE_ARG(value), line);
		break;
	case TABLE_NONE:
		snprintf(out, sizeof(out), "none");
		break;
	default:
		snprintf(out, sizeof(out), "trouble: %s", err.text);
	}
	return out;
}

struct row {
	const char *key, *want;
};

static void
check_rows(const char *spec, const struct row *rows, size_t count)
{
	struct table *table = table_new("t", spec);

	for (size_t i = 0; i < count; i++) {
		const char *got = ask(table, rows[i].key);

		cr_expect_str_eq(got, rows[i].want, "%s %s: got %s, want %s",
		    spec, rows[i].key, got, rows[i].want);
	}
	table_free(&table);
}
#define CHECK(spec, rows) check_rows(spec, rows, sizeof(rows) / sizeof(*rows))

static const char *
wrong(const char *spec)
{
	static struct err err;
	struct table *table = table_new("t", spec);

	err.text[0] = '\0';
	cr_expect_eq(table_check(table, &err), TABLE_CHECK_BAD, "%s", spec);
	table_free(&table);
	return err.text;
}

/* ---- pcre ------------------------------------------------------------ */

static void
needs(const char *type)
{
	char spec[32];

	snprintf(spec, sizeof(spec), "%s:/x", type);
	if (table_spec_check(spec, NULL) != 0)
		cr_skip_test("built without %s", type);
}

Test(table_types, pcre, .init = setup, .fini = teardown)
{
	static const struct row rows[] = {
		{ "Bob@old.test", "Bob@new.test @2" },
		{ "ann+x@LISTS.test", "list-ann-x: $5 @3" },
		{ "case@x", "none" }, { "CASE@x", "big @4" },
		{ "in@sub.a.test", "inner in @8" },
		{ "skip@sub.a.test", "none" },
		{ "z@b.test", "none" }, { "z@c.test", "not b @11" },
		{ "q/r@s", "slash q @12" },
		{ "long@l", "one   two @13" },
		{ "", "none" },
	};

	needs("pcre");
	put("p", "# comment\n"
	    "/^(.*)@old\\.test$/ ${1}@new.test\n"
	    "/^(\\w+)\\+(\\w+)@lists\\.test$/ list-$1-$(2): $$5\n"
	    "/^CASE@/i big\n"
	    "\n"
	    "if /a\\.test$/\n"
	    "if !/^skip/\n"
	    "/^(.*)@/ inner $1\n"
	    "endif\n"
	    "endif\n"
	    "!/@(b\\.test|sub.*|.*x|s|l)$/ not b\n"
	    "|^(.*)/r@|  slash $1\n"
	    "/^long@/ one\n"
	    "  two\n");
	CHECK(at("pcre:%s", "p"), rows);
}

Test(table_types, pcre_says_what_is_wrong, .init = setup, .fini = teardown)
{
	static const struct { const char *text, *want; } rows[] = {
		{ "/a/ b\n/(/ c\n", "p:2: column 2 of the pattern: " },
		{ "/a b\n", "p:1: the pattern has no '/' after it" },
		{ "abc d\n", "p:1: a pattern is written /PATTERN/" },
		{ "/a/q b\n", "p:1: unknown flag 'q'" },
		{ "/(a)/ $2\n", "p:1: the value has $2, the pattern no such" },
		{ "!/(a)/ $1\n", "p:1: the value has $1, the pattern no such" },
		{ "/a/ $x\n", "p:1: '$' without a number" },
		{ "/a/ b\nif /x/\n", "p:2: this if has no endif" },
		{ "endif\n", "p:1: endif without an if" },
		{ "if /a/ b\nendif\n", "p:1: nothing may follow" },
	};

	needs("pcre");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got;

		put("p", rows[i].text);
		got = wrong(at("pcre:%s", "p"));
		cr_expect(strstr(got, rows[i].want) != NULL, "row %zu: %s", i,
		    got);
	}
}

/* A pattern that would try for ages is trouble, soon. */
Test(table_types, pcre_has_limits, .init = setup, .fini = teardown,
    .timeout = 20)
{
	struct table *table;
	const char *got;

	needs("pcre");
	put("p", "/^(a+)+$/ x\n");
	table = table_new("t", at("pcre:%s", "p"));
	got = ask(table, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
	cr_expect(strstr(got, "p:1: match limit exceeded") != NULL, "%s", got);
	cr_expect_str_eq(ask(table, "aaa"), "x @1");
	/* a million steps: fewer than the library would take, more than we */
	got = ask(table, "aaaaaaaaaaaaaaaaaaaab");
	cr_expect(strstr(got, "p:1: match limit exceeded") != NULL, "%s", got);
	cr_expect_str_eq(ask(table, "aaaaaaaaaaab"), "none");
	cr_expect(!table_takes_parts(table));
	table_free(&table);
}

/* ---- cidr ------------------------------------------------------------ */

Test(table_types, cidr, .init = setup, .fini = teardown)
{
	static const struct row rows[] = {
		{ "10.1.2.3", "all of ten @1" },
		{ "10.2.9.9", "narrow @2" },
		{ "10.2.9.9 ", "none" },
		{ "192.0.2.1", "first @3" },
		{ "2001:DB8::7", "six @5" }, { "[2001:db8::7]", "six @5" },
		{ "198.51.100.1", "none" }, { "mx.example", "none" },
	};

	put("c", "10.0.0.0/8 all of ten\n10.2.0.0/16 narrow\n"
	    "192.0.2.0/24 first\n192.0.2.0/24 second\n2001:db8::/32 six\n");
	CHECK(at("cidr:%s", "c"), rows);
	put("c", "10.0.0.0/8 x\nmx.example y\n");
	cr_expect(strstr(wrong(at("cidr:%s", "c")),
	    "c:2: 'mx.example' is not a network") != NULL);
}

Test(table_types, networks_have_values, .init = setup, .fini = teardown)
{
	struct table *table = table_new("t", "inline:10.0.0.0/8 wide\n"
	    "10.2.0.0/16 narrow\n");
	struct slice value;
	struct net net;
	unsigned line;
	struct err err;

	cr_assert_eq(net_parse(SLICE("10.2.0.1"), &net, &err), 0);
	cr_expect_eq(table_find_address(table, &net, &value, &line, &err),
	    TABLE_FOUND);
	cr_expect(slice_is(value, "narrow") && line == 2);
	table_free(&table);
	table = table_new("t", "passwd:");
	cr_expect_eq(table_find_address(table, &net, &value, &line, &err),
	    TABLE_TROUBLE);
	cr_expect_str_eq(err.text, "table t: a table of type passwd has no "
	    "networks: use file: or cidr:");
	table_free(&table);
}

/* ---- databases ------------------------------------------------------- */

static void
check_database(const char *type)
{
	static const struct row rows[] = {
		{ "ALICE", "bob,  carl" }, { "carl", "\"|/bin/x y\"" },
		{ "user@d.test", "here" }, { "empty", "" }, { "none", "none" },
		{ "", "none" },
	};
	char target[32], spec[300];
	size_t entries;
	struct err err;
	struct stat st;

	needs(type);
	put("people", "alice: bob,\n carl\nAlice: twice\n"
	    "carl: \"|/bin/x y\"\nuser@d.test here\nempty:\n");
	chmod(at("%s", "people"), 0640);
	snprintf(target, sizeof(target), "people.%s", type);
	snprintf(spec, sizeof(spec), "%s:%s", type, at("%s", target));
	cr_assert_eq(table_build(spec, NULL, &entries, &err), TABLE_BUILD_DONE,
	    "%s",
	    err.text);
	cr_expect_eq(entries, 4);
	cr_expect_eq(stat(at("%s", target), &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0640);
	CHECK(spec, rows);
	put("people", "alice new\n broken\n\"\": x\n");
	cr_expect_eq(table_build(spec, NULL, &entries, &err),
	    TABLE_BUILD_TROUBLE);
	cr_expect(strstr(err.text, "people:3: the key is missing") != NULL,
	    "%s", err.text);
	CHECK(spec, rows);	/* as it was */
}

Test(table_types, cdb, .init = setup, .fini = teardown)
{
	check_database("cdb");
}

Test(table_types, lmdb, .init = setup, .fini = teardown)
{
	check_database("lmdb");
}

Test(table_types, a_database_is_taken_over_whole, .init = setup,
    .fini = teardown)
{
	struct table *table;
	size_t entries;
	struct err err;
	char spec[300];

	needs("cdb");
	put("a", "k one\n");
	put("b", "k two\n");
	snprintf(spec, sizeof(spec), "%s", at("cdb:%s", "x.cdb"));
	cr_assert_eq(table_build(spec, at("%s", "a"), &entries, &err),
	    TABLE_BUILD_DONE);
	table = table_new("t", spec);
	cr_expect_str_eq(ask(table, "k"), "one");
	cr_expect_eq(table_generation(table), 1);
	cr_assert_eq(table_build(spec, at("%s", "b"), &entries, &err),
	    TABLE_BUILD_DONE);
	cr_expect_eq(table_check(table, &err),
	    TABLE_CHECK_GOOD);	/* looks now */
	cr_expect_str_eq(ask(table, "k"), "two");
	cr_expect_eq(table_generation(table), 2);
	table_free(&table);
}

Test(table_types, damaged_databases_are_trouble, .init = setup,
    .fini = teardown)
{
	needs("cdb");
	needs("lmdb");
	put("bad", "this is no database\n");
	cr_expect(strstr(wrong(at("cdb:%s", "bad")),
	    "it is no constant database") != NULL);
	cr_expect(strstr(wrong(at("lmdb:%s", "bad")), "table t: /tmp/") !=
	    NULL);
	cr_expect(strstr(wrong(at("cdb:%s", "none")), "No such file") !=
	    NULL);
}

/* ---- passwd ---------------------------------------------------------- */

Test(table_types, passwd)
{
	static const struct row rows[] = {
		{ "root", "0" }, { "Root", "0" }, { "no-such-user-x", "none" },
		{ "a/b", "none" },
	};

	CHECK("passwd:", rows);
}

/* Accounts that cannot be read are trouble, not "none"; later they can. */
Test(table_types, passwd_without_descriptors)
{
	struct table *table = table_new("t", "passwd:");
	struct rlimit old, none;
	struct err err = { "" };

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	cr_expect_eq(table_lookup(table, SLICE("root"), NULL, NULL, &err),
	    TABLE_TROUBLE);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	cr_expect_neq(strstr(err.text, "table t: "), NULL, "%s", err.text);
	cr_expect_eq(table_lookup(table, SLICE("root"), NULL, NULL, &err),
	    TABLE_FOUND, "%s", err.text);
	table_free(&table);
}

/* ---- specs ----------------------------------------------------------- */

Test(table_types, specs)
{
	static const struct { const char *spec, *want; } rows[] = {
		{ "file:/x", NULL }, { "cidr:/x", NULL }, { "passwd:", NULL },
		{ "/etc/aliases", "write file:/etc/aliases" },
		{ "inline:x", "write file:/PATH" },
		{ "nis:/x", "file:/PATH" },
		{ "hash:/x", "write file:/x" },
		{ "regexp:/x", "write pcre:/x" }, { "x", "write file:" },
		{ "file:x", "must begin with /" },
		{ "passwd:x", "nothing may follow 'passwd:'" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { "" };

		cr_expect_eq(table_spec_check(rows[i].spec, &err),
		    rows[i].want ? -1 : 0, "%s", rows[i].spec);
		if (rows[i].want != NULL)
			cr_expect(strstr(err.text, rows[i].want) != NULL,
			    "%s: %s", rows[i].spec, err.text);
	}
}

/* ---- large plain files ----------------------------------------------- */

static unsigned
files_in(const char *name)
{
	char command[200];
	FILE *pipe;
	unsigned count = 0;

	snprintf(command, sizeof(command), "ls %s 2>/dev/null | wc -l",
	    at("%s", name));
	pipe = popen(command, "r");
	cr_assert_not_null(pipe);
	cr_assert_eq(fscanf(pipe, "%u", &count), 1);
	pclose(pipe);
	return count;
}

Test(table_types, large_files_are_shared, .init = setup, .fini = teardown)
{
	static const struct row rows[] = {
		{ "b", "two @2" }, { "A", "one @1" }, { "identity", "none" },
		{ "c", "none" },
	};
	unsigned seen = 0;
	struct table *table;
	struct err err;

	needs("cdb");
	table_share(dir, 4);
	put("big", "a one\nb two\na three\n");
	CHECK(at("file:%s", "big"), rows);
	cr_expect_eq(files_in("tables"), 1);
	CHECK(at("file:%s", "big"), rows);	/* from the side file */
	put("big", "a one\nb two two\n");	/* same date, another size */
	table = table_new("t", at("file:%s", "big"));
	cr_expect_str_eq(ask(table, "b"), "two two @2");
	cr_expect_eq(files_in("tables"), 1);
	table_free(&table);
	put("big", "a\n \"\" x\n\"\" y\n");
	cr_expect(strstr(wrong(at("file:%s", "big")), "big:3: the key") !=
	    NULL);
	put("nets", "10.0.0.0/8 x\n");
	table = table_new("t", at("file:%s", "nets"));
	cr_expect_eq(table_has_address(table, &(struct net){ .bits = 128 },
	    &seen, &err), TABLE_TROUBLE);
	cr_expect(strstr(err.text, "use cidr:") != NULL, "%s", err.text);
	table_free(&table);
}

/* A directory that others may write, or a file changed just now: memory. */
Test(table_types, what_cannot_be_trusted_is_not_shared, .init = setup,
    .fini = teardown)
{
	static const struct row rows[] = { { "a", "one @1" } };

	needs("cdb");
	table_share(dir, 1);
	put("big", "a one\n");
	utimensat(AT_FDCWD, at("%s", "big"), NULL, 0);
	CHECK(at("file:%s", "big"), rows);
	cr_expect_eq(files_in("tables"), 0);
	put("big", "a one\n");
	cr_assert_eq(mkdir(at("%s", "tables"), 0777), 0);
	cr_assert_eq(chmod(at("%s", "tables"), 0777), 0);
	CHECK(at("file:%s", "big"), rows);
	CHECK(at("file:%s", "big"), rows);
}
