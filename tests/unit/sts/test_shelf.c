/* test_shelf.c - policies on the disk, whole and torn; what look-ups say
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

#include "sts/fetch/fetch.h"
#include "sts/known/shelf.h"

#define GOOD "zmailer-sts 1\na.test 1000 enforce 86400 id1 mx.a.test\nend\n"

/* Row O9 of doc/INTERNALS: a file cut at any byte is none. */
Test(shelf, a_file_that_is_not_whole_is_none)
{
	struct sts_policy policy;
	int64_t fetched_s;
	struct err err;

	for (size_t n = 0; n < sizeof(GOOD) - 1; n++)
		cr_expect_eq(sts_shelf_parse((struct slice){ GOOD, n },
		    "a.test", &fetched_s, &policy, &err), -1, "%zu bytes", n);
	cr_expect_eq(sts_shelf_parse(SLICE(GOOD), "a.test", &fetched_s, &policy,
	    &err), 0);
	cr_expect_eq(fetched_s, 1000);
	cr_expect_eq(policy.mode, STS_ENFORCE);
	cr_expect_str_eq(policy.id, "id1");
	cr_expect_eq(sts_shelf_parse(SLICE(GOOD), "b.test", &fetched_s, &policy,
	    &err), -1);
	cr_expect_eq(sts_shelf_parse(SLICE(GOOD "x"), "a.test", &fetched_s,
	    &policy, &err), -1);
	cr_expect_eq(sts_shelf_parse(SLICE("zmailer-sts 2\na.test 1 none 1 -\n"
	    "end\n"), "a.test", &fetched_s, &policy, &err), -1);
}

struct kept {
	unsigned	count;
	char		names[4][STS_DOMAIN_BYTES];
};

static void
note_kept(void *context, const char *domain, int64_t fetched_s,
    const struct sts_policy *policy)
{
	struct kept *kept = context;

	cr_expect_eq(fetched_s, 77);
	cr_expect_eq(policy->mode, STS_TESTING);
	snprintf(kept->names[kept->count++ % 4], STS_DOMAIN_BYTES, "%s",
	    domain);
}

static void
leave(int shelf, const char *name, const char *text)
{
	int fd = openat(shelf, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

Test(shelf, what_was_put_is_there_and_the_rest_is_removed)
{
	char dir[] = "/tmp/unit-sts-XXXXXX", path[64], command[96];
	struct sts_policy policy = { .mode = STS_TESTING, .max_age_s = 9 };
	struct kept kept = { .count = 0 };
	struct err err;
	int shelf;

	cr_assert_not_null(mkdtemp(dir));
	cr_expect_eq(shelf_open(dir, &err), -1);
	snprintf(path, sizeof(path), "%s/sts", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	shelf = shelf_open(dir, &err);
	cr_assert(shelf >= 0, "%s", err.text);
	cr_assert(sts_policy_add_mx(&policy, SLICE("*.a.test")));
	cr_expect_eq(shelf_put(shelf, "a.test", 77, &policy, &err), 0);
	cr_expect_eq(shelf_put(shelf, "a.test", 77, &policy, &err), 0);
	cr_expect_eq(shelf_put(shelf, "b.test", 77, &policy, &err), 0);
	shelf_remove(shelf, "b.test");
	shelf_remove(shelf, "b.test");
	leave(shelf, ".new.17", GOOD);
	leave(shelf, "torn.test", "zmailer-sts 1\ntorn.test 77 test");
	leave(shelf, "UPPER.test", "x");
	leave(shelf, "c.test", GOOD);
	shelf_read(shelf, 10, note_kept, &kept);
	cr_expect_eq(kept.count, 1);
	cr_expect_str_eq(kept.names[0], "a.test");
	cr_expect_eq(faccessat(shelf, ".new.17", F_OK, 0), -1);
	cr_expect_eq(faccessat(shelf, "torn.test", F_OK, 0), -1);
	cr_expect_eq(faccessat(shelf, "UPPER.test", F_OK, 0), -1);
	cr_expect_eq(faccessat(shelf, "c.test", F_OK, 0), -1);
	cr_expect_eq(faccessat(shelf, "a.test", F_OK, 0), 0);
	close(shelf);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_expect_eq(system(command), 0);
}

/* One that cannot be read now may hold: it is not forgotten. */
Test(shelf, what_cannot_be_read_stays)
{
	char dir[] = "/tmp/unit-sts-XXXXXX", path[64], command[96];
	struct sts_policy policy = { .mode = STS_TESTING, .max_age_s = 9 };
	struct kept kept = { .count = 0 };
	struct rlimit limit, less;
	struct err err;
	int shelf, next;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sts", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	shelf = shelf_open(dir, &err);
	cr_assert(shelf >= 0, "%s", err.text);
	cr_assert(sts_policy_add_mx(&policy, SLICE("*.a.test")));
	cr_assert_eq(shelf_put(shelf, "a.test", 77, &policy, &err), 0);
	next = dup(shelf);
	close(next);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	less = limit;
	less.rlim_cur = (rlim_t)next + 1;	/* the directory, and no file */
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &less), 0);
	shelf_read(shelf, 10, note_kept, &kept);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(kept.count, 0);
	shelf_read(shelf, 10, note_kept, &kept);
	cr_expect_eq(kept.count, 1);
	close(shelf);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_expect_eq(system(command), 0);
}

/* Who gets no answer of the process reads what it kept. */
Test(shelf, what_is_kept_counts_for_who_gets_no_answer)
{
	static const struct {
		const char	*domain;
		int64_t		 now_s;
		enum sts_answer	 answer;
	} rows[] = {
		{ "a.test", 1001, STS_ANSWER_POLICY },
		{ "A.Test.", 1001, STS_ANSWER_POLICY },
		{ "a.test", 1000 + 86399, STS_ANSWER_POLICY },
		{ "a.test", 1000 + 86400, STS_ANSWER_NONE },
		{ "none.test", 1001, STS_ANSWER_NONE },
		{ "../a.test", 1001, STS_ANSWER_NONE },
		/* it is not known that there is none */
		{ "torn.test", 1001, STS_ANSWER_NOBODY },
		{ "link.test", 1001, STS_ANSWER_NOBODY },
		{ "other.test", 1001, STS_ANSWER_NOBODY },
	};
	char dir[] = "/tmp/unit-sts-XXXXXX", path[64], command[96];
	struct sts_policy policy;
	struct err err;
	int shelf;

	cr_assert_not_null(mkdtemp(dir));
	cr_expect_eq(sts_shelf_ask(dir, "a.test", 1001, &policy, &err),
	    STS_ANSWER_NONE);
	snprintf(path, sizeof(path), "%s/sts", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	shelf = shelf_open(dir, &err);
	cr_assert(shelf >= 0, "%s", err.text);
	leave(shelf, "a.test", GOOD);
	leave(shelf, "torn.test", "zmailer-sts 1\ntorn.test 77 test");
	leave(shelf, "other.test", GOOD);
	cr_assert_eq(symlinkat("a.test", shelf, "link.test"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(sts_shelf_ask(dir, rows[i].domain, rows[i].now_s,
		    &policy, &err), rows[i].answer, "%zu", i);
	(void)sts_shelf_ask(dir, "a.test", 1001, &policy, &err);
	cr_expect_eq(policy.max_age_s, 86399);
	cr_expect_eq(policy.mode, STS_ENFORCE);
	close(shelf);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_expect_eq(system(command), 0);
}

Test(look, each_line_is_one_of_four_or_trouble)
{
	static const struct {
		const char		*line;
		enum fetch_found	 found;
		const char		*type, *words;
	} rows[] = {
		{ "none", FETCH_NONE, NULL, NULL },
		{ "same", FETCH_SAME, NULL, NULL },
		{ "policy enforce 1 - a.b", FETCH_POLICY, NULL, NULL },
		{ "trouble sts-webpki-invalid it is old", FETCH_TROUBLE,
		    "sts-webpki-invalid", "it is old" },
		{ "", FETCH_TROUBLE, "sts-policy-fetch-error",
		    "the process that looks it up ended" },
		{ "policy enforce 1 -", FETCH_TROUBLE,
		    "sts-policy-fetch-error",
		    "the process that looks it up ended" },
		{ "nonesuch", FETCH_TROUBLE, "sts-policy-fetch-error",
		    "the process that looks it up ended" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sts_policy policy;
		struct slice type, words;

		cr_expect_eq(fetch_line_read(slice_of(rows[i].line), &policy,
		    &type, &words), rows[i].found, "row %zu", i);
		if (rows[i].type == NULL)
			continue;
		cr_expect(slice_is(type, rows[i].type), "row %zu", i);
		cr_expect(slice_is(words, rows[i].words), "row %zu", i);
	}
}
