/* test_words.c - questions, keys of Redis, its answers
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "share/count/words.h"

Test(share_words, a_question_is_read)
{
	struct words_question q;

	cr_assert(words_question_read(
	    SLICE("7 take 10 3600000 0badcafe a b@c"), &q));
	cr_expect(slice_is(q.token, "7"));
	cr_expect_eq(q.verb, WORDS_TAKE);
	cr_expect_eq(q.count, 10);
	cr_expect_eq(q.span_ms, 3600000);
	cr_expect(slice_is(q.key, "0badcafe a b@c"));
	cr_assert(words_question_read(SLICE("x status"), &q));
	cr_expect_eq(q.verb, WORDS_STATUS);
}

Test(share_words, a_question_about_a_place_is_read)
{
	struct words_question q;

	cr_assert(words_question_read(SLICE("7 hold 5 0badcafe bob"), &q));
	cr_expect_eq(q.verb, WORDS_HOLD);
	cr_expect_eq(q.count, 5);
	cr_expect(slice_is(q.key, "0badcafe bob"));
	cr_assert(words_question_read(SLICE("7 keep 12ab 5 0badcafe b"), &q));
	cr_expect_eq(q.verb, WORDS_KEEP);
	cr_expect(slice_is(q.name, "12ab"));
	cr_assert(words_question_read(SLICE("7 drop 12ab 5 0badcafe b"), &q));
	cr_expect_eq(q.verb, WORDS_DROP);
	cr_expect_eq(q.count, 5);
	cr_expect(slice_is(q.key, "0badcafe b"));
}

Test(share_words, who_was_seen_is_asked)
{
	struct words_question q;
	struct str key = STR_INIT;
	int64_t wait_s;

	cr_assert(words_question_read(
	    SLICE("7 greet 300 3600 7200 wait 192.0.2 a@b c@d"), &q));
	cr_expect_eq(q.verb, WORDS_GREET);
	cr_expect_eq(q.after_s, 300);
	cr_expect_eq(q.within_s, 3600);
	cr_expect_eq(q.keep_s, 7200);
	cr_expect(!q.has_passed);
	cr_expect(slice_is(q.key, "192.0.2 a@b c@d"));
	cr_assert(words_question_read(SLICE("7 greet 1 2 3 pass n"), &q));
	cr_expect(q.has_passed);
	words_add_greet_key(&key, "mx", SLICE("192.0.2 a@b c@d"));
	cr_expect_eq(key.len, strlen("zm:mx:g:{}") + 32, "%s", key.buf);
	str_release(&key);
	cr_assert(words_greeted_read(SLICE("299"), &wait_s));
	cr_expect_eq(wait_s, 299);
	cr_expect(!words_greeted_read(SLICE("-1"), &wait_s));
	cr_expect(!words_greeted_read(SLICE("1 2"), &wait_s));
	cr_expect(!words_greeted_read(SLICE(""), &wait_s));
}

Test(share_words, what_is_no_question_is_refused)
{
	static const char *const rows[] = { "", " ", "7", "7 take",
		"7 take 10", "7 take 10 1000", "7 take 10 1000 ",
		"7 take 0 1000 k", "7 take 10 0 k", "7 take -1 1000 k",
		"7 take 4294967296 1000 k", "7 take 1 4294967296 k",
		"7 take 1x 1000 k", "7 give 10 1000 k", "7 status now",
		"01234567890123456789012345678901 status", "7 hold",
		"7 hold 5", "7 hold 0 k", "7 hold k", "7 keep 5 k",
		"7 keep xyz 5 k", "7 drop 12AB 5 k", "7 drop 12ab 0 k",
		"7 drop 12ab 5",
		"7 keep 012345678901234567890123456789012 5 k",
		"7 greet 0 1 1 wait n", "7 greet 1 1 wait n",
		"7 greet 1 2 3 maybe n", "7 greet 1 2 3 pass",
		"7 warm", "7 warm news 1 2 3 4 5", "7 warm news 1 2 3 4 5 ",
		"7 warm News 1 2 3 4 5 a", "7 warm a/b 1 2 3 4 5 a",
		"7 warm news 1 2 3 5 4 a", "7 warm news -1 2 3 4 5 a",
		"7 warm news 3000001 2 3 4 5 a",
		"7 warm news 1 2 3 4 4294967296 a",
		("7 warm a23456789012345678901234567890123456789012345678901"
		"234567890123456 1 2 3 4 5 a") };
	struct words_question q;
	struct str long_key = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(!words_question_read(slice_of(rows[i]), &q), "%s",
		    rows[i]);
	str_adds(&long_key, "7 take 1 1000 ");
	for (int i = 0; i < WORDS_KEY_BYTES_MAX; i++)
		str_addc(&long_key, 'k');
	cr_expect(words_question_read(str_slice(&long_key), &q));
	str_addc(&long_key, 'k');
	cr_expect(!words_question_read(str_slice(&long_key), &q));
	str_release(&long_key);
}

static void
expect_key(struct slice key, const char *want)
{
	struct str out = STR_INIT;

	words_add_rate_key(&out, "mx", key, 10, 1000);
	cr_expect_str_eq(out.buf, want);
	str_release(&out);
}

Test(share_words, no_byte_makes_another_key)
{
	struct str places = STR_INIT;

	expect_key(SLICE("r a@b.example"), "zm:mx:r:{r%20a@b.example}:10/1000");
	expect_key(SLICE("a}:10/1000"), "zm:mx:r:{a%7D:10%2F1000}:10/1000");
	expect_key(SLICE("a%7D"), "zm:mx:r:{a%257D}:10/1000");
	words_add_slots_key(&places, "mx", SLICE("r a}b"), 10);
	cr_expect_str_eq(places.buf, "zm:mx:p:{r%20a%7Db}:10");
	str_release(&places);
	expect_key(SLICE("*?[a]~\r\n\0\xff"),
	    "zm:mx:r:{%2A%3F%5Ba%5D%7E%0D%0A%00%FF}:10/1000");
}

Test(share_words, a_long_key_is_cut_and_still_its_own)
{
	struct str one = STR_INIT, other = STR_INIT, key = STR_INIT;

	for (int i = 0; i < 1000; i++)
		str_addc(&key, 'k');
	words_add_rate_key(&one, "mx", str_slice(&key), 10, 1000);
	key.buf[999] = 'l';
	words_add_rate_key(&other, "mx", str_slice(&key), 10, 1000);
	cr_expect_eq(one.len, other.len);
	cr_expect_lt(one.len, 300);
	cr_expect_str_neq(one.buf, other.buf);
	str_release(&one);
	str_release(&other);
	str_release(&key);
}

Test(share_words, what_redis_grants_is_read)
{
	static const char *const bad[] = { "", "1", "x 0", "1 x", "-1 0",
		"1 0 0", "1 -1", "4294967296 0" };
	uint64_t granted;
	int64_t wait_us;

	cr_assert(words_taken_read(SLICE("3 0"), &granted, &wait_us));
	cr_expect_eq(granted, 3);
	cr_expect_eq(wait_us, 0);
	cr_assert(words_taken_read(SLICE("0 359999999"), &granted, &wait_us));
	cr_expect_eq(wait_us, 359999999);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(!words_taken_read(slice_of(bad[i]), &granted,
		    &wait_us), "%s", bad[i]);
}

Test(share_words, a_warm_up_is_asked_for)
{
	struct words_question q;
	struct words_warmed got;
	struct str key = STR_INIT;
	static const char *const rows[] = {
		"", "20001 0 20000 0 0", "20001 86401 20000 0 0",
		"20001 5 20000 0", "20001 5 20000 0 0 0", "20001 5 x 0 0",
		"3000001 5 20000 0 0", "20001 5 20000 0 4294967296",
	};

	cr_assert(words_question_read(
	    SLICE("7 warm news 20001 7 2 1 9 a.example"), &q));
	cr_expect_eq(q.verb, WORDS_WARM);
	cr_expect(slice_is(q.warm.zone, "news"));
	cr_expect(q.warm.day == 20001 && q.warm.used == 7 &&
	    q.warm.back == 2 && q.warm.need == 1 && q.warm.want == 9);
	cr_expect(slice_is(q.key, "a.example"));
	words_add_warm_key(&key, "mx", SLICE("news a.example"));
	cr_expect_str_eq(key.buf, "zm:mx:w:{news%20a.example}:");
	str_reset(&key);
	words_add_first_key(&key, "mx", SLICE("news"));
	cr_expect_str_eq(key.buf, "zm:mx:w:{news}");
	str_release(&key);
	cr_assert(words_warmed_read(SLICE("20001 85800 20000 40 3"), &got));
	cr_expect(got.day == 20001 && got.left_s == 85800 &&
	    got.first == 20000 && got.sent == 40 && got.given == 3);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(!words_warmed_read(slice_of(rows[i]), &got), "%s",
		    rows[i]);
}
