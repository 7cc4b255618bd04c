/* test_news.c - what nodes tell each other
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "share/count/news.h"

#define SUM "0123456789abcdef0123456789abcdef"

Test(share_news, questions_are_read)
{
	struct news_question q;

	cr_assert(news_question_read(SLICE("7 failed " SUM), &q));
	cr_expect_eq(q.verb, NEWS_FAILED);
	cr_expect(slice_is(q.sum, SUM));
	cr_assert(news_question_read(SLICE("7 cleared " SUM), &q));
	cr_expect_eq(q.verb, NEWS_CLEARED);
	cr_assert(news_question_read(SLICE("n news - -"), &q));
	cr_expect_eq(q.verb, NEWS_HEAR);
	cr_assert(news_question_read(SLICE("n news 17-3 99"), &q));
	cr_expect(slice_is(q.after, "17-3") && slice_is(q.counter, "99"));
	cr_assert(news_question_read(SLICE("b blocks"), &q));
	cr_assert(news_question_read(
	    SLICE("b block 0 senders @a.test by=x a b"), &q));
	cr_expect(slice_is(q.block.kind, "senders"));
	cr_expect(slice_is(q.block.key, "@a.test"));
	cr_expect(slice_is(q.block.about, "by=x a b"));
	cr_expect_eq(q.block.until_s, 0);
	cr_assert(news_question_read(SLICE("b unblock clients ::1"), &q));
	cr_expect_eq(q.verb, NEWS_UNBLOCK);
}

Test(share_news, what_is_no_question_is_none)
{
	static const char *const rows[] = { "", "7", "7 failed",
		"7 failed " SUM "0", "7 failed " SUM " x", "7 failed 0123",
		"7 failed 0123456789ABCDEF0123456789ABCDEF", "7 news",
		"7 news 1 2", "7 news -1 -", "7 news 1-2 x", "7 news 1-2-3 4",
		"7 news 1-2 3 4", "7 blocks x", "7 block 0 others a b",
		"7 block x users a b", "7 block -1 users a b",
		"7 block 0 users", "7 block 0 users a\x01 b",
		"7 block 0 users a b\x7f", "7 unblock users",
		"7 unblock users a b", "7 take 1 2 3" };
	struct news_question q;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(!news_question_read(slice_of(rows[i]), &q), "%s",
		    rows[i]);
}

Test(share_news, what_redis_tells_is_read_as_far_as_it_goes)
{
	struct slice text = SLICE("12 34-5 mx1 failed " SUM " 7 mx2 cleared "
	    SUM " 0 mx3 maybe " SUM " 0");
	struct slice counter, after;
	struct news_item item;

	cr_assert(news_head_read(&text, &counter, &after));
	cr_expect(slice_is(counter, "12") && slice_is(after, "34-5"));
	cr_assert(news_item_next(&text, &item));
	cr_expect(slice_is(item.node, "mx1") && item.is_failed);
	cr_expect_eq(item.age_ms, 7);
	cr_assert(news_item_next(&text, &item));
	cr_expect(slice_is(item.node, "mx2") && !item.is_failed);
	cr_expect(!news_item_next(&text, &item));
	text = SLICE("- -");
	cr_expect(!news_head_read(&text, &counter, &after));
	text = SLICE("x 1-1");
	cr_expect(!news_head_read(&text, &counter, &after));
}

Test(share_news, blocks_that_are_none_are_passed_over)
{
	struct slice text = SLICE("users a 0 by=x\nothers a 0 x\nusers b never"
	    "\n\nclients 192.0.2.1 17 by=y z");
	struct str field = STR_INIT;
	struct news_block block;

	cr_assert(news_block_next(&text, &block));
	cr_expect(slice_is(block.key, "a"));
	news_add_field(&field, &block);
	cr_expect_str_eq(field.buf, "users a");
	cr_assert(news_block_next(&text, &block));
	cr_expect(slice_is(block.key, "192.0.2.1"));
	cr_expect_eq(block.until_s, 17);
	cr_expect(slice_is(block.about, "by=y z"));
	cr_expect(!news_block_next(&text, &block));
	str_release(&field);
}
