/* news.c - what nodes tell each other: failed logins, and who is blocked
 *
 * In     lines of our own daemons and tools; strings of Redis
 * Out    questions, keys, what was told
 * Holds  nothing
 * Trusts nothing: words are bounded, none has a control in it
 * Spec   news.h; doc/protocol/share.md
 *
 *	question = token (" failed " / " cleared ") SUM /
 *		   token " news " (MS "-" SEQUENCE / "-") SP (COUNTER / "-") /
 *		   token " blocks" /
 *		   token " block " UNTIL SP kind SP KEY SP about /
 *		   token " unblock " kind SP KEY
 *	news     = (COUNTER / "-") SP MS "-" SEQUENCE
 *		   *( SP NODE SP ("failed" / "cleared") SP SUM SP AGE-MS )
 *	blocks   = (COUNTER / "-") SP ("more" / "end") LF
 *		   *( kind SP KEY SP UNTIL SP about LF )
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "share/count/news.h"
#include "share/count/words.h"

#include "base/banned.h"

enum { NODE_BYTES_MAX = 64 };

static bool
news_word_is_plain(struct slice word, size_t most)
{
	for (size_t i = 0; i < word.n; i++)
		if ((unsigned char)word.p[i] <= 32 ||
		    (unsigned char)word.p[i] > 126)
			return false;
	return word.n > 0 && word.n <= most;
}

static bool
news_sum(struct slice *rest, struct slice *out)
{
	if (!slice_word(rest, out) || out->n != NEWS_SUM_BYTES)
		return false;
	for (size_t i = 0; i < out->n; i++)
		if (ascii_hex_small(out->p[i]) < 0)
			return false;
	return true;
}

/* "MS-SEQUENCE", or "-" */
static bool
news_after(struct slice *rest, struct slice *out)
{
	struct slice sequence, first;
	uint64_t number;

	if (!slice_word(rest, out) || out->n >= NEWS_AFTER_BYTES)
		return false;
	if (slice_is(*out, "-"))
		return true;
	sequence = *out;
	slice_cut(&sequence, '-', &first);
	return slice_number(first, 0, INT64_MAX, &number) &&
	    slice_number(sequence, 0, UINT64_MAX, &number);
}

static bool
news_counter(struct slice *rest, struct slice *out)
{
	uint64_t number;

	return slice_word(rest, out) && out->n < NEWS_COUNTER_BYTES &&
	    (slice_is(*out, "-") || slice_number(*out, 0, INT64_MAX, &number));
}

static bool
news_block_name(struct slice *rest, struct news_block *out)
{
	return slice_word(rest, &out->kind) && slice_word(rest, &out->key) &&
	    (slice_is(out->kind, "clients") || slice_is(out->kind,
	    "senders") || slice_is(out->kind, "users")) &&
	    news_word_is_plain(out->key, NEWS_KEY_BYTES_MAX);
}

static bool
news_about(struct slice rest, struct slice *out)
{
	*out = slice_trim(rest);
	for (size_t i = 0; i < out->n; i++)
		if ((unsigned char)out->p[i] < 32 ||
		    (unsigned char)out->p[i] > 126)
			return false;
	return out->n <= NEWS_ABOUT_BYTES_MAX;
}

static bool
news_until(struct slice *rest, struct news_block *out)
{
	struct slice word;

	return slice_word(rest, &word) &&
	    slice_number(word, 0, UINT32_MAX, &out->until_s);
}

static bool
news_words(struct slice *rest, struct news_question *out)
{
	switch (out->verb) {
	case NEWS_FAILED:
	case NEWS_CLEARED:
		return news_sum(rest, &out->sum);
	case NEWS_HEAR:
		return news_after(rest, &out->after) &&
		    news_counter(rest, &out->counter);
	case NEWS_BLOCKS:
		return true;
	case NEWS_BLOCK:
		if (!news_until(rest, &out->block) ||
		    !news_block_name(rest, &out->block) ||
		    !news_about(*rest, &out->block.about))
			return false;
		rest->n = 0;
		return true;
	case NEWS_UNBLOCK:
		return news_block_name(rest, &out->block);
	}
	return false;
}

bool
news_question_read(struct slice line, struct news_question *out)
{
	static const char *const verbs[] = {
		[NEWS_FAILED] = "failed", [NEWS_CLEARED] = "cleared",
		[NEWS_HEAR] = "news", [NEWS_BLOCKS] = "blocks",
		[NEWS_BLOCK] = "block", [NEWS_UNBLOCK] = "unblock"
	};
	int verb;

	*out = (struct news_question){ .verb = NEWS_FAILED };
	verb = words_verb_read(&line, &out->token, verbs, sizeof(verbs) /
	    sizeof(verbs[0]));
	if (verb < 0)
		return false;
	out->verb = (enum news_verb)verb;
	return news_words(&line, out) && slice_trim(line).n == 0;
}

/* ---- keys ---------------------------------------------------------------- */

void
news_add_failures_key(struct str *out, const char *cluster)
{
	str_addf(out, "zm:%s:failures", cluster);
}

void
news_add_blocks_key(struct str *out, const char *cluster)
{
	str_addf(out, "zm:%s:blocks", cluster);
}

void
news_add_count_key(struct str *out, const char *cluster)
{
	str_addf(out, "zm:%s:blocks-count", cluster);
}

void
news_add_field(struct str *out, const struct news_block *block)
{
	str_addf(out, SLICE_FMT " " SLICE_FMT, SLICE_ARG(block->kind),
	    SLICE_ARG(block->key));
}

/* ---- answers ------------------------------------------------------------- */

bool
news_head_read(struct slice *text, struct slice *out_counter,
    struct slice *out_after)
{
	return news_counter(text, out_counter) &&
	    news_after(text, out_after) && !slice_is(*out_after, "-");
}

bool
news_item_next(struct slice *text, struct news_item *out)
{
	struct slice word;

	if (!slice_word(text, &out->node) ||
	    !news_word_is_plain(out->node, NODE_BYTES_MAX) ||
	    !slice_word(text, &word))
		return false;
	out->is_failed = slice_is(word, "failed");
	return (out->is_failed || slice_is(word, "cleared")) &&
	    news_sum(text, &out->sum) && slice_word(text, &word) &&
	    slice_number(word, 0, INT64_MAX, &out->age_ms);
}

bool
news_block_next(struct slice *text, struct news_block *out)
{
	struct slice line;

	while (text->n > 0) {
		slice_cut(text, '\n', &line);
		if (news_block_name(&line, out) && news_until(&line, out) &&
		    news_about(line, &out->about))
			return true;
	}
	return false;
}
