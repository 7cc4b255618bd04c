/* test_change.c - differences, and the versions that are kept
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/change/change.h"

static const struct row {
	const char	*before, *after, *want;
} rows[] = {
	{ "a\nb\n", "a\nb\n", "" },
	{ "a\nb\nc\n", "a\nc\n", "--- f\n@@ line 1 @@\n a\n-b\n c\n" },
	{ "", "x\n", "--- f\n@@ line 1 @@\n+x\n" },
	{ "x\n", "", "--- f\n@@ line 1 @@\n-x\n" },
	{ "a\nb\n", "a\nB\n", "--- f\n@@ line 1 @@\n a\n-b\n+B\n" },
	{ "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
	    "--- f\n@@ line 1 @@\n-1\n+x\n 2\n 3\n 4\n@@ line 6 @@\n 6\n 7\n"
	    " 8\n-9\n+y\n" },
	{ "a\n", "\033[2Jb\n", "--- f\n@@ line 1 @@\n-a\n+\\x1B[2Jb\n" },
	{ "a\n", "\tb\n", "--- f\n@@ line 1 @@\n-a\n+\tb\n" },
};

Test(change, a_difference_has_three_lines_around_it)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = STR_INIT;

		diff_add(&out, "f", slice_of(rows[i].before),
		    slice_of(rows[i].after));
		cr_expect_str_eq(out.buf, rows[i].want, "row %zu:\n%s", i,
		    out.buf);
		str_release(&out);
	}
}

/* ---- versions ----------------------------------------------------------- */

static char dir[64], path[96];

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/zmailer-unit-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/zmailer.conf", dir);
}

static void
teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_assert_eq(system(command), 0);
}

TestSuite(versions, .init = setup, .fini = teardown);

static int
keep(const char *text)
{
	struct version about = { .by = "me", .verb = "test", .reason = "why",
		.was = 7 };
	struct arena *arena = arena_new();
	FILE *file = fopen(path, "w");
	struct conf_report report;
	struct conf *conf;
	struct err err;
	int result;

	cr_assert_not_null(file);
	fprintf(file, "spool %s\n# %s\n", dir, text);
	fclose(file);
	conf = conf_load(path, arena, &report);
	cr_assert_not_null(conf);
	result = versions_keep(conf, &about, &err);
	conf_free(&conf);
	arena_free(&arena);
	return result;
}

Test(versions, what_is_the_same_is_kept_once)
{
	struct arena *arena = arena_new();
	struct version version;
	unsigned numbers[VERSIONS_MAX + 2];
	struct err err;

	cr_expect_eq(keep("one"), VERSION_KEPT);
	cr_expect_eq(keep("one"), VERSION_KNOWN);
	cr_expect_eq(keep("two"), VERSION_KEPT);
	cr_assert_eq(versions_list(dir, numbers), 2);
	cr_assert_eq(version_read(dir, numbers[0], arena, &version, &err),
	    VERSION_READ);
	cr_expect_str_eq(version.by, "me");
	cr_expect_str_eq(version.reason, "why");
	cr_expect_eq(version.was, 7);
	cr_assert_eq(version.file_count, 1);
	cr_expect(slice_ends(version.files[0].text, "# one\n"));
	cr_expect_eq(version_read(dir, 99, arena, &version, &err),
	    VERSION_NONE);
	arena_free(&arena);
}

Test(versions, twenty_are_kept)
{
	unsigned numbers[VERSIONS_MAX + 2];
	char text[16];

	for (int i = 0; i < VERSIONS_MAX + 5; i++) {
		snprintf(text, sizeof(text), "%d", i);
		cr_assert_eq(keep(text), 1);
	}
	cr_assert_eq(versions_list(dir, numbers), VERSIONS_MAX);
	cr_expect_eq(numbers[0], 6);
	cr_expect_eq(numbers[VERSIONS_MAX - 1], VERSIONS_MAX + 5);
}

/* Every prefix of a version is damaged, and is said to be. */
Test(versions, a_torn_version_is_not_offered)
{
	struct arena *arena = arena_new();
	struct version version;
	char file[128], text[1024];
	struct err err;
	ssize_t n;
	int fd;

	cr_assert_eq(keep("one"), VERSION_KEPT);
	snprintf(file, sizeof(file), "%s/desk/history/00000001", dir);
	fd = open(file, O_RDONLY);
	n = read(fd, text, sizeof(text));
	close(fd);
	cr_assert_gt(n, 10);
	for (ssize_t cut = n - 1; cut >= 0; cut--) {
		cr_assert_eq(truncate(file, cut), 0);
		cr_expect_eq(version_read(dir, 1, arena, &version, &err),
		    cut == n - 1 ? VERSION_READ : VERSION_BAD,
		    "%zd of %zd bytes", cut, n);
	}
	arena_free(&arena);
}

Test(versions, a_replaced_file_keeps_its_mode)
{
	struct change_file file = { .path = path, .target = path,
		.mode = 0644, .before = STR_INIT, .after = STR_INIT };
	struct stat st;
	struct err err;

	cr_assert_eq(keep("one"), VERSION_KEPT);
	cr_assert_eq(chmod(path, 0640), 0);
	str_adds(&file.after, "host new.test\n");
	cr_assert_eq(change_file_write(&file, &err), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0640);
	cr_expect_eq(st.st_size, 14);
	file.target = "/nowhere/at/all";
	cr_expect_eq(change_file_write(&file, &err), -1);
	cr_expect(strstr(err.text, "/nowhere/at/all") != NULL);
	str_release(&file.after);
}
