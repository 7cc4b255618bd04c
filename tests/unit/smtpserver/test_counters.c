/* test_counters.c - rates, numbers at once, and who was seen before
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buckets.h"
#include "smtpserver/policy/greylist.h"

#include "base/banned.h"

enum { MINUTE_MS = 60000 };

Test(buckets, a_rate)
{
	struct buckets *buckets = buckets_new();
	int64_t now = 1000000;

	for (int i = 0; i < 6; i++)
		cr_expect_eq(buckets_take(buckets, SLICE("a"), 6, MINUTE_MS,
		    now), 0, "%d at once", i);
	cr_expect_eq(buckets_take(buckets, SLICE("a"), 6, MINUTE_MS, now),
	    10001);
	cr_expect_eq(buckets_take(buckets, SLICE("b"), 6, MINUTE_MS, now), 0,
	    "another key");
	now += 10000;			/* a sixth of a minute: one more */
	cr_expect_eq(buckets_take(buckets, SLICE("a"), 6, MINUTE_MS, now), 0);
	cr_expect_neq(buckets_take(buckets, SLICE("a"), 6, MINUTE_MS, now),
	    0);
	now += 3600000;			/* an hour: no more than six */
	for (int i = 0; i < 6; i++)
		cr_expect_eq(buckets_take(buckets, SLICE("a"), 6, MINUTE_MS,
		    now), 0);
	cr_expect_neq(buckets_take(buckets, SLICE("a"), 6, MINUTE_MS, now),
	    0);
	/* another rate under the same key: it begins anew */
	cr_expect_eq(buckets_take(buckets, SLICE("a"), 7, MINUTE_MS, now), 0);
	cr_expect_eq(buckets_take(buckets, SLICE("a"), 7, MINUTE_MS,
	    now - 5000), 0, "a clock that goes back");
	buckets_free(&buckets);
}

Test(buckets, places)
{
	struct buckets *buckets = buckets_new();
	uint64_t a, b, c;

	a = buckets_hold(buckets, SLICE("k"), 2, 1000);
	b = buckets_hold(buckets, SLICE("k"), 2, 1000);
	cr_expect(a != 0 && b != 0 && a != b);
	cr_expect_eq(buckets_hold(buckets, SLICE("k"), 2, 1000), 0);
	c = buckets_hold(buckets, SLICE("other"), 2, 1000);
	cr_expect_neq(c, 0);
	buckets_release(buckets, a);
	buckets_release(buckets, a);	/* once more: nothing */
	buckets_release(buckets, 0);
	buckets_release(buckets, UINT64_MAX);
	a = buckets_hold(buckets, SLICE("k"), 2, 1000);
	cr_expect_neq(a, 0);
	cr_expect_eq(buckets_hold(buckets, SLICE("k"), 2, 1000), 0);
	/* whose holder died */
	cr_expect_eq(buckets_hold(buckets, SLICE("k"), 2,
	    1000 + HOLD_FOR_MS - 1), 0);
	cr_expect_neq(buckets_hold(buckets, SLICE("k"), 2,
	    1000 + HOLD_FOR_MS), 0);
	buckets_free(&buckets);
}

/* Hostile keys: never more than the bound; what is in use stays. */
Test(buckets, bounds)
{
	struct buckets *buckets = buckets_new();
	char key[32];

	cr_assert_neq(buckets_hold(buckets, SLICE("held"), 1, 0), 0);
	for (int i = 0; i < BUCKETS_MAX + 50000; i++) {
		snprintf(key, sizeof(key), "%d", i);
		(void)buckets_take(buckets, slice_of(key), 5, MINUTE_MS, i);
		cr_assert_leq(buckets_count(buckets), BUCKETS_MAX);
	}
	cr_expect_eq(buckets_hold(buckets, SLICE("held"), 1, 0), 0);
	/* an hour later nobody misses them: they go as new keys come */
	for (int i = 0; i < 40000; i++) {
		snprintf(key, sizeof(key), "n%d", i % 10);
		(void)buckets_take(buckets, slice_of(key), 5, MINUTE_MS,
		    10 * 3600000 + (int64_t)i * MINUTE_MS);
		snprintf(key, sizeof(key), "m%d", i);
		(void)buckets_take(buckets, slice_of(key), 5, MINUTE_MS,
		    10 * 3600000 + (int64_t)i * MINUTE_MS);
	}
	cr_expect_lt(buckets_count(buckets), 100000);
	for (int i = 0; i < HOLDS_MAX + 10; i++)
		cr_assert_neq(buckets_hold(buckets, SLICE("many"),
		    UINT32_MAX, 0), 0);
	buckets_free(&buckets);
}

/* ---- greylist --------------------------------------------------------- */

static const struct greylist_terms terms = { 300, 7200, 86400 };

Test(greylist, triplets)
{
	struct err err;
	struct greylist *g = greylist_open(NULL, 1000, &err);
	struct slice net = SLICE("192.0.2.0");

	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 1000), 300);
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 1100), 200);
	cr_expect_eq(greylist_ask(g, net, SLICE("a c"), &terms, 1100), 300);
	cr_expect_eq(greylist_ask(g, SLICE("192.0.3.0"), SLICE("a b"),
	    &terms, 1300), 300);
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 1300), 0);
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 80000), 0);
	/* too late for the second try: it is the first again */
	cr_expect_eq(greylist_ask(g, net, SLICE("a c"), &terms, 1100 + 7200),
	    300);
	/* kept from the last mail on, not longer */
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms,
	    80000 + 86400), 300);
	greylist_close(&g);
}

/* The clock was set back by a day: who waits begins anew, who has passed goes
 * on. */
Test(greylist, nobody_waits_for_a_day_that_was_none)
{
	struct err err;
	struct greylist *g = greylist_open(NULL, 100000, &err);
	struct slice net = SLICE("192.0.2.0");

	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 100000), 300);
	cr_expect_eq(greylist_ask(g, net, SLICE("a c"), &terms, 100000), 300);
	cr_expect_eq(greylist_ask(g, net, SLICE("a c"), &terms, 100300), 0);
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 13600), 300);
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 13700), 200);
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 13900), 0);
	cr_expect_eq(greylist_ask(g, net, SLICE("a c"), &terms, 13900), 0);
	greylist_close(&g);
}

Test(greylist, a_network_becomes_known)
{
	struct err err;
	struct greylist *g = greylist_open(NULL, 0, &err);
	struct slice net = SLICE("192.0.2.0");
	char pair[16];

	for (int i = 0; i < GREYLIST_TRUSTED_FROM; i++) {
		snprintf(pair, sizeof(pair), "a %d", i);
		cr_expect_eq(greylist_ask(g, net, slice_of(pair), &terms,
		    1000), 300);
		cr_expect_eq(greylist_ask(g, net, slice_of(pair), &terms,
		    1300), 0);
	}
	cr_expect_eq(greylist_ask(g, net, SLICE("new new"), &terms, 1300), 0);
	cr_expect_eq(greylist_ask(g, SLICE("192.0.3.0"), SLICE("new new"),
	    &terms, 1300), 300);
	greylist_close(&g);
}

static void
temporary(char *path, size_t size)
{
	const char *base = getenv("TMPDIR");
	int fd;

	snprintf(path, size, "%s/greylist.XXXXXX",
	    base != NULL && *base != '\0' ? base : "/tmp");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	close(fd);
}

Test(greylist, is_kept_in_a_file)
{
	struct slice net = SLICE("192.0.2.0");
	struct greylist *g;
	char path[256];
	struct err err;
	FILE *file;

	temporary(path, sizeof(path));
	g = greylist_open(path, 1000, &err);
	cr_assert_str_empty(err.text);
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 1000), 300);
	cr_expect_eq(greylist_ask(g, net, SLICE("a c"), &terms, 1000), 300);
	cr_expect_eq(greylist_ask(g, net, SLICE("a c"), &terms, 1300), 0);
	greylist_close(&g);
	file = fopen(path, "a");	/* a torn line, and nonsense */
	fputs("nonsense 1 2 3 4\n0123456789abcdef0123456789abcdef 1 2", file);
	fclose(file);

	g = greylist_open(path, 1400, &err);
	cr_assert_str_empty(err.text);
	cr_expect_eq(greylist_count(g), 3);	/* two pairs, the network */
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 1400), 0);
	cr_expect_eq(greylist_ask(g, net, SLICE("a c"), &terms, 1400), 0);
	cr_expect_eq(greylist_ask(g, net, SLICE("a d"), &terms, 1400), 300);
	greylist_close(&g);

	g = greylist_open(path, 1400 + 86400 * 2, &err);
	cr_expect_eq(greylist_count(g), 0, "all of it is of the past");
	greylist_close(&g);
	cr_expect_eq(unlink(path), 0);
}

/* Written anew when most lines are of the past; bounded. */
Test(greylist, file_does_not_grow_for_ever)
{
	static const struct greylist_terms brief = { 1, 60, 3600 };
	char path[256], pair[32];
	struct greylist *g;
	struct err err;

	temporary(path, sizeof(path));
	g = greylist_open(path, 1000, &err);
	for (int i = 0; i < 100000; i++) {
		snprintf(pair, sizeof(pair), "a %d", i);
		(void)greylist_ask(g, SLICE("n"), slice_of(pair), &brief,
		    1000 + i);
		cr_assert_eq(greylist_flush(g, &err), 0, "%s", err.text);
	}
	cr_expect_lt(greylist_lines(g), 50000);
	cr_expect_lt(greylist_count(g), 10000);
	greylist_close(&g);
	g = greylist_open(path, 1000 + 100000, &err);
	cr_expect_gt(greylist_count(g), 10);
	greylist_close(&g);
	cr_expect_eq(unlink(path), 0);
}

/* A file that cannot be used: said, and it works without. */
Test(greylist, without_a_file)
{
	struct err err;
	struct greylist *g = greylist_open("/nowhere/at/all", 0, &err);

	cr_expect(strstr(err.text, "/nowhere/at/all") != NULL);
	cr_expect_eq(greylist_ask(g, SLICE("n"), SLICE("a b"), &terms, 0),
	    300);
	cr_expect_eq(greylist_flush(g, &err), 0);
	cr_expect_eq(greylist_ask(g, SLICE("n"), SLICE("a b"), &terms, 400),
	    0);
	greylist_close(&g);
}

Test(greylist, what_passed_elsewhere_passes)
{
	struct err err;
	struct greylist *g = greylist_open(NULL, 1000, &err);
	struct slice net = SLICE("192.0.2.0");
	char pair[16];

	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 1000), 300);
	greylist_learn(g, net, SLICE("a b"), &terms, 1001);
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 1002), 0);
	/* five of them, each once: the network */
	for (int i = 1; i < GREYLIST_TRUSTED_FROM; i++) {
		cr_expect_neq(greylist_ask(g, net, SLICE("new new"), &terms,
		    1010), 0, "%d", i);
		snprintf(pair, sizeof(pair), "a %d", i);
		greylist_learn(g, net, slice_of(pair), &terms, 1010);
		greylist_learn(g, net, slice_of(pair), &terms, 1010);
	}
	cr_expect_eq(greylist_ask(g, net, SLICE("new new"), &terms, 1011), 0);
	cr_expect_eq(greylist_ask(g, net, SLICE("a b"), &terms, 1000 + 86400),
	    0, "kept");
	greylist_close(&g);
}
