/* fuzz_share_words.c - any bytes as a question to share, as answers of Redis:
 * words.c, copying.c, members.c
 *
 * SPDX-License-Identifier: ISC
 */
#include <netinet/in.h>
#include <string.h>

#include "base/ascii.h"
#include "share/copies/copying.h"
#include "share/count/news.h"
#include "share/count/words.h"
#include "share/ledger/members.h"
#include "share/redis/said.h"
#include "share/redis/sentinels.h"
#include "tests/fuzz/fuzz.h"

static void
as_question(struct slice bytes)
{
	struct words_question question;
	struct str key = STR_INIT;

	if (!words_question_read(slice_first(bytes, slice_find(bytes, '\n')),
	    &question))
		return;
	MUST(question.token.n > 0 && question.token.n < WORDS_TOKEN_BYTES);
	if (question.verb == WORDS_STATUS)
		return;
	if (question.verb == WORDS_GREET) {
		MUST(question.after_s > 0 && question.keep_s > 0);
		words_add_greet_key(&key, "mx", question.key);
		MUST(key.len == sizeof("zm:mx:g:{}") - 1 + 32);
		str_release(&key);
		return;
	}
	if (question.verb == WORDS_WARM) {
		MUST(question.warm.need <= question.warm.want);
		words_add_first_key(&key, "mx", question.warm.zone);
		MUST(key.len < 100 && slice_find(str_slice(&key), '%') ==
		    key.len);
		str_reset(&key);
		words_add_warm_key(&key, "mx", question.key);
		MUST(key.len < 400);
		str_release(&key);
		return;
	}
	MUST(question.count > 0);
	MUST(question.span_ms > 0 || question.verb != WORDS_TAKE);
	MUST(question.name.n <= WORDS_NAME_BYTES_MAX);
	MUST(question.key.n > 0 && question.key.n <= WORDS_KEY_BYTES_MAX);
	if (question.verb == WORDS_TAKE)
		words_add_rate_key(&key, "mx", question.key, question.count,
		    question.span_ms);
	else
		words_add_slots_key(&key, "mx", question.key, question.count);
	MUST(key.len < 400);
	for (size_t i = 0; i < key.len; i++)
		MUST(key.buf[i] > ' ' && key.buf[i] < 127);
	/* one brace opens, one closes */
	MUST(slice_find(slice_from(str_slice(&key), 9), '{') == key.len - 9);
	str_release(&key);
}

/* No word of it can be anything but a name in SQL's array, or in a path. */
static void
as_copying(struct slice bytes)
{
	struct copying question;
	struct str array = STR_INIT;

	if (!copying_read(slice_first(bytes, slice_find(bytes, '\n')),
	    &question))
		return;
	MUST(question.token.n > 0 && question.token.n < COPYING_TOKEN_BYTES);
	MUST(question.id.n <= COPYING_ID_BYTES_MAX);
	MUST(question.node.n <= CLUSTER_NAME_BYTES_MAX);
	MUST(question.area.n == 0 || question.verb == COPYING_COPY);
	MUST(question.id_count <= COPYING_IDS_MAX);
	copying_add_array(&array, question.ids);
	MUST(array.len <= COPYING_IDS_MAX * (COPYING_ID_BYTES_MAX + 1) + 1 ||
	    array.len == 2);
	for (size_t i = 0; i < array.len; i++)
		MUST(ascii_is_among(array.buf[i], "{,}") ||
		    ascii_is_lower(array.buf[i]) ||
		    ascii_is_digit(array.buf[i]));
	str_release(&array);
}

/* No word of it is more than a word in a line, or a field of a hash. */
static void
as_news(struct slice bytes)
{
	struct slice counter, after, text = bytes;
	struct news_question question;
	struct news_block block;
	struct news_item item;

	if (news_question_read(slice_first(bytes, slice_find(bytes, '\n')),
	    &question)) {
		MUST(question.token.n < WORDS_TOKEN_BYTES);
		MUST(question.after.n < NEWS_AFTER_BYTES);
		MUST(question.counter.n < NEWS_COUNTER_BYTES);
		MUST(question.sum.n == 0 || question.sum.n == NEWS_SUM_BYTES);
		MUST(question.block.key.n <= NEWS_KEY_BYTES_MAX);
	}
	if (news_head_read(&text, &counter, &after))
		while (news_item_next(&text, &item))
			MUST(item.sum.n == NEWS_SUM_BYTES && item.node.n > 0);
	while (news_block_next(&bytes, &block)) {
		MUST(block.key.n > 0 && block.key.n <= NEWS_KEY_BYTES_MAX);
		MUST(block.about.n <= NEWS_ABOUT_BYTES_MAX);
		MUST(slice_find(block.about, '\n') == block.about.n);
		MUST(slice_find(block.key, ' ') == block.key.n);
	}
}

static void
as_sentinel(struct slice bytes)
{
	struct store_place place;
	struct err err;

	(void)said_is_master(bytes);
	if (sentinels_read(bytes, &place, &err) == 0)
		MUST(strlen(place.host) < INET6_ADDRSTRLEN &&
		    place.length <= sizeof(place.address));
}

static void
as_answers(struct slice bytes)
{
	static const char *names[] = { "mx1", "mx2" };
	static const struct conf_cluster cluster = { .name = "mx",
	    .nodes = names, .node_count = 2, .self = "mx1" };
	struct members *members = members_new(&cluster);
	struct str out = STR_INIT;
	struct words_warmed warmed;
	uint64_t granted;
	int64_t wait_us;

	if (words_taken_read(bytes, &granted, &wait_us))
		MUST(granted <= UINT32_MAX && wait_us >= 0);
	if (words_warmed_read(bytes, &warmed))
		MUST(warmed.left_s >= 1 && warmed.left_s <= 86400);
	if (words_greeted_read(bytes, &wait_us))
		MUST(wait_us >= 0 && wait_us <= UINT32_MAX);
	members_take(members, bytes, 0);
	MUST(members_count(members) >= 1);
	members_add_status(members, SLICE("t"), 1000, &out);
	for (size_t i = 0; i < out.len; i++)
		MUST(out.buf[i] == '\n' || (out.buf[i] >= ' ' &&
		    out.buf[i] < 127));
	str_release(&out);
	members_free(&members);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice bytes = { (const char *)data, size };

	as_question(bytes);
	as_copying(bytes);
	as_answers(bytes);
	as_sentinel(bytes);
	as_news(bytes);
	return 0;
}
