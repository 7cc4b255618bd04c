/* test_review.c - the review screen: what is drawn, what keys ask for
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tools/zmailer/review/review.h"
#include "tools/screen/terminal.h"

static struct selection_item items[4];
static struct selection_choice choice;
static struct review review;

static void
setup(void)
{
	static const struct { enum spool_area area; const char *id, *why,
	    *from; bool is_copy; } rows[4] = {
		{ AREA_POSTMAN, "361gaaaaaaaaaaa", "twice", "x@a.test",
		    false },
		{ AREA_FREEZER, "361gccccccccccc", "policy-3", "n@shop.test",
		    false },
		{ AREA_FREEZER, "361gbbbbbbbbbbb", "policy-3", "m@shop.test",
		    false },
		{ AREA_POSTMAN, "361gddddddddddd", "_date",
		    "\033[2J@b.test", true },
	};

	for (size_t i = 0; i < 4; i++)
		items[i] = (struct selection_item){ .area = rows[i].area,
		    .id = rows[i].id, .why = rows[i].why, .name = "none",
		    .state = "frozen", .sender = slice_of(rows[i].from),
		    .first_rcpt = SLICE("bob@here.test"), .rcpt_total = 1,
		    .rcpt_count = 1, .time_s = 1000,
		    .is_copy = rows[i].is_copy };
	choice = (struct selection_choice){ .items = items, .count = 4,
	    .now_s = 1000 + 7200 };
	review_init(&review, &choice);
}

static void
teardown(void)
{
	review_release(&review);
}

TestSuite(review, .init = setup, .fini = teardown);

static void
draw(struct str *out)
{
	struct canvas canvas;

	canvas_init(&canvas, 24, 80);
	str_reset(out);
	review_draw(&review, &canvas);
	canvas_print(&canvas, out);
	canvas_release(&canvas);
}

Test(review, similar_ones_stand_together_and_say_what_they_are)
{
	struct str out = STR_INIT;
	const char *b, *c;

	draw(&out);
	b = strstr(out.buf, "361gbbb");
	c = strstr(out.buf, "361gccc");
	cr_assert_not_null(b);
	cr_assert_not_null(c);
	cr_expect_lt(b, c);
	cr_expect_not_null(strstr(out.buf, "m@shop.test -> bob@here.test  "
	    "policy-3"));
	cr_expect_not_null(strstr(out.buf, "ONLY COPY"));
	cr_expect_not_null(strstr(out.buf, "4 messages need a person"));
	cr_expect_null(strchr(out.buf, '\033'));
	cr_expect_not_null(strstr(out.buf, "\\x1B[2J"));
	str_release(&out);
}

Test(review, release_asks_first)
{
	cr_expect_eq(review_key(&review, 'R', 24), REVIEW_NO_ACT);
	cr_expect_not_null(strstr(review.said, "Release 1 message?"));
	cr_expect_eq(review_key(&review, 'n', 24), REVIEW_NO_ACT);
	cr_expect_str_eq(review.said, "nothing was done");
	review_key(&review, 'R', 24);
	cr_expect_eq(review_key(&review, 'y', 24), REVIEW_RELEASE);
}

Test(review, an_only_copy_wants_its_id)
{
	const char *id;

	for (int i = 0; i < 10; i++)
		review_key(&review, TERMINAL_DOWN, 24);
	while (strcmp(review.rows[review.cursor].item->why, "twice") != 0)
		review_key(&review, TERMINAL_UP, 24);
	id = review.rows[review.cursor].item->id;
	review_key(&review, 'D', 24);
	cr_expect_not_null(strstr(review.said, "ONLY COPY"));
	cr_expect_eq(review_key(&review, 'y', 24), REVIEW_NO_ACT);
	cr_expect_eq(review_key(&review, TERMINAL_ENTER, 24), REVIEW_NO_ACT);
	cr_expect_str_eq(review.said, "nothing was done");
	review_key(&review, 'D', 24);
	for (const char *p = id; *p != '\0'; p++)
		review_key(&review, *p, 24);
	cr_expect_eq(review_key(&review, TERMINAL_ENTER, 24), REVIEW_DELETE);
}

Test(review, marks_gather_and_the_end_is_near)
{
	review_key(&review, ' ', 24);
	review_key(&review, ' ', 24);
	review_key(&review, 'R', 24);
	cr_expect_not_null(strstr(review.said, "Release 2 messages?"));
	review_key(&review, 'y', 24);
	cr_expect_eq(review_key(&review, 'q', 24), REVIEW_QUIT);
	cr_expect_eq(review_key(&review, 'g', 24), REVIEW_RELOAD);
}

Test(review, small_and_empty_screens)
{
	static const unsigned sizes[][2] = { { 1, 1 }, { 2, 5 }, { 5, 20 },
	    { 24, 80 }, { 500, 500 }, { 9999, 9999 } };
	struct selection_choice none = { .count = 0 };
	struct review empty;

	review_init(&empty, &none);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct canvas canvas;

		canvas_init(&canvas, sizes[i][0], sizes[i][1]);
		review_draw(&review, &canvas);
		review_draw(&empty, &canvas);
		canvas_release(&canvas);
	}
	cr_expect_eq(review_key(&empty, 'R', 24), REVIEW_NO_ACT);
	cr_expect_str_eq(empty.said, "nothing is chosen");
	review_key(&empty, ' ', 24);
	review_key(&empty, TERMINAL_DOWN, 24);
	review_release(&empty);
}

static enum review_act
type(const char *keys)
{
	enum review_act act = REVIEW_NO_ACT;

	for (; *keys != '\0'; keys++)
		act = review_key(&review, *keys == '\n' ? TERMINAL_ENTER :
		    *keys, 24);
	return act;
}

Test(review, acts_with_words)
{
	static const struct { const char *keys; enum review_act act;
		const char *typed; } rows[] = {
		{ "xnot for us\n", REVIEW_BOUNCE, "not for us" },
		{ "X\n", REVIEW_BOUNCE, "" },
		{ "fbob@here.test\n", REVIEW_FORWARD, "bob@here.test" },
		{ "F\n", REVIEW_NO_ACT, NULL },
		{ "nask Bob\n", REVIEW_NOTE, "ask Bob" },
		{ "n\n", REVIEW_NO_ACT, NULL },
		{ "ay", REVIEW_ALLOW, NULL },
		{ "an", REVIEW_NO_ACT, NULL },
		{ "x\033", REVIEW_NO_ACT, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(type(rows[i].keys), rows[i].act, "row %zu", i);
		cr_expect_eq(review.asked, REVIEW_NO_ACT, "row %zu", i);
		if (rows[i].typed != NULL)
			cr_expect_str_eq(review.typed.buf, rows[i].typed);
		if (rows[i].act == REVIEW_NO_ACT)
			cr_expect_str_eq(review.said, "nothing was done");
	}
	cr_expect_eq(type("x" "long long long long long long long long long "
	    "long long long long long long long long long long long long long "
	    "long long long long long long long long long long long long long "
	    "long long long long long long long long long long\n"),
	    REVIEW_BOUNCE);
	cr_expect_leq(review.typed.len, 200);
}

Test(review, a_filter_shows_some_and_marks_nothing_hidden)
{
	struct str out = STR_INIT;

	review_key(&review, ' ', 24);
	review_key(&review, ' ', 24);
	review_key(&review, ' ', 24);
	type("/SHOP.test\n");
	cr_expect_eq(review.count, 2);
	draw(&out);
	cr_expect_not_null(strstr(out.buf, "/SHOP.test: 2 shown"));
	cr_expect_not_null(strstr(out.buf, "4 messages need a person"));
	cr_expect_null(strstr(out.buf, "twice"));
	type("r");
	cr_expect_not_null(strstr(review.said, "Release 2 messages?"));
	type("n/no such\n");
	cr_expect_eq(review.count, 0);
	draw(&out);
	cr_expect_not_null(strstr(out.buf, "No row has that"));
	type("r");
	cr_expect_str_eq(review.said, "nothing is chosen");
	type("/\n");
	cr_expect_eq(review.count, 4);
	type("d");
	cr_expect_not_null(strstr(review.said, "Delete 1 message?"),
	    "%s", review.said);
	type("n");
	str_release(&out);
}
