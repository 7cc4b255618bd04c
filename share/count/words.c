/* words.c - what share is asked, what it asks Redis, what that answers
 *
 * In     lines of our own daemons; strings of Redis
 * Out    questions, keys, numbers
 * Holds  nothing
 * Trusts nothing: numbers are bounded, keys escaped
 * Spec   words.h; doc/protocol/share.md
 *
 *	question = token " take " COUNT SP SPAN-MS SP key /
 *		   token " hold " COUNT SP key /
 *		   token (" keep " / " drop ") NAME SP COUNT SP key /
 *		   token " greet " AFTER SP WITHIN SP KEEP SP
 *		   ("wait" / "pass") SP NET SP key /
 *		   token " warm " ZONE SP DAY SP USED SP BACK SP NEED SP WANT
 *		   SP key /
 *		   token " status"
 *	taken    = GRANTED SP WAIT-US
 *	seen     = *( NAME SP SECONDS SP )
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/ascii.h"
#include "base/siphash.h"
#include "share/count/words.h"

#include "base/banned.h"

static bool
words_number(struct slice *rest, uint64_t min, uint64_t max, uint64_t *out)
{
	struct slice word;

	return slice_word(rest, &word) && slice_number(word, min, max, out);
}

static bool
words_name(struct slice *rest, struct slice *out)
{
	if (!slice_word(rest, out) || out->n > WORDS_NAME_BYTES_MAX)
		return false;
	for (size_t i = 0; i < out->n; i++)
		if (ascii_hex_small(out->p[i]) < 0)
			return false;
	return true;
}

/* "AFTER WITHIN KEEP wait|pass" */
static bool
words_greeting(struct slice *rest, struct words_question *out)
{
	struct slice word;

	if (!words_number(rest, 1, UINT32_MAX, &out->after_s) ||
	    !words_number(rest, 1, UINT32_MAX, &out->within_s) ||
	    !words_number(rest, 1, UINT32_MAX, &out->keep_s) ||
	    !slice_word(rest, &word))
		return false;
	out->has_passed = slice_is(word, "pass");
	return out->has_passed || slice_is(word, "wait");
}

/* "ZONE DAY USED BACK NEED WANT" */
static bool
words_warming(struct slice *rest, struct words_warm *out)
{
	if (!slice_word(rest, &out->zone) ||
	    out->zone.n > WORDS_ZONE_BYTES_MAX)
		return false;
	for (size_t i = 0; i < out->zone.n; i++)
		if (!ascii_is_lower(out->zone.p[i]) &&
		    !ascii_is_digit(out->zone.p[i]) &&
		    !ascii_is_among(out->zone.p[i], "-_."))
			return false;
	return words_number(rest, 0, WORDS_DAY_MAX, &out->day) &&
	    words_number(rest, 0, UINT32_MAX, &out->used) &&
	    words_number(rest, 0, UINT32_MAX, &out->back) &&
	    words_number(rest, 0, UINT32_MAX, &out->need) &&
	    words_number(rest, out->need, UINT32_MAX, &out->want);
}

/* What stands between a verb and its key.  false: it is not that. */
static bool
words_numbers(struct slice *rest, struct words_question *out)
{
	uint64_t span_ms = 0;

	switch (out->verb) {
	case WORDS_STATUS:
		return true;
	case WORDS_TAKE:
		if (!words_number(rest, 1, UINT32_MAX, &out->count) ||
		    !words_number(rest, 1, UINT32_MAX, &span_ms))
			return false;
		out->span_ms = (int64_t)span_ms;
		return true;
	case WORDS_KEEP:
	case WORDS_DROP:
		if (!words_name(rest, &out->name))
			return false;
		break;
	case WORDS_GREET:
		return words_greeting(rest, out);
	case WORDS_WARM:
		return words_warming(rest, &out->warm);
	case WORDS_HOLD:
		break;
	}
	return words_number(rest, 1, UINT32_MAX, &out->count);
}

int
words_verb_read(struct slice *line, struct slice *out_token,
    const char *const *verbs, size_t count)
{
	struct slice verb;

	if (!slice_word(line, out_token) ||
	    out_token->n >= WORDS_TOKEN_BYTES || !slice_word(line, &verb))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (slice_is(verb, verbs[i]))
			return (int)i;
	return -1;
}

bool
words_question_read(struct slice line, struct words_question *out)
{
	static const char *const verbs[] = {
		[WORDS_TAKE] = "take", [WORDS_HOLD] = "hold",
		[WORDS_KEEP] = "keep", [WORDS_DROP] = "drop",
		[WORDS_GREET] = "greet", [WORDS_WARM] = "warm",
		[WORDS_STATUS] = "status"
	};
	int verb;

	*out = (struct words_question){ .count = 0 };
	verb = words_verb_read(&line, &out->token, verbs, sizeof(verbs) /
	    sizeof(verbs[0]));
	if (verb < 0)
		return false;
	out->verb = (enum words_verb)verb;
	if (!words_numbers(&line, out))
		return false;
	if (out->verb == WORDS_STATUS)
		return slice_trim(line).n == 0;
	out->key = slice_from(line, line.n > 0);	/* the blank */
	return out->key.n > 0 && out->key.n <= WORDS_KEY_BYTES_MAX;
}

/* ---- keys ------------------------------------------------------------- */

static void
words_add_escaped(struct str *out, struct slice key)
{
	for (size_t i = 0; i < key.n; i++)
		if (ascii_is_alnum(key.p[i]) ||
		    ascii_is_among(key.p[i], "-_.@:="))
			str_addc(out, key.p[i]);
		else
			str_addf(out, "%%%02X", (unsigned char)key.p[i]);
}

/* "zm:NAME:LETTER:{KEY}" */
static void
words_add_key(struct str *out, const char *cluster, char letter,
    struct slice key)
{
	static const struct siphash_key same = { 0, 0 };
	size_t start;
	struct siphash sum;

	str_addf(out, "zm:%s:%c:{", cluster, letter);
	start = out->len;
	words_add_escaped(out, key);
	if (out->len - start > WORDS_ESCAPED_MAX) {
		sum = siphash(&same, key);
		str_truncate(out, start + WORDS_ESCAPED_MAX);
		/* ~ is never in what was escaped */
		str_addf(out, "~%016" PRIx64 "%016" PRIx64, sum.high,
		    sum.low);
	}
	str_addc(out, '}');
}

void
words_add_rate_key(struct str *out, const char *cluster, struct slice key,
    uint64_t count, int64_t span_ms)
{
	words_add_key(out, cluster, 'r', key);
	str_addf(out, ":%" PRIu64 "/%" PRId64, count, span_ms);
}

void
words_add_slots_key(struct str *out, const char *cluster, struct slice key,
    uint64_t count)
{
	words_add_key(out, cluster, 'p', key);
	str_addf(out, ":%" PRIu64, count);
}

void
words_add_greet_key(struct str *out, const char *cluster, struct slice text)
{
	static const struct siphash_key same = { 0, 0 };
	struct siphash sum = siphash(&same, text);

	str_addf(out, "zm:%s:g:{%016" PRIx64 "%016" PRIx64 "}", cluster,
	    sum.high, sum.low);
}

void
words_add_nodes_key(struct str *out, const char *cluster)
{
	str_addf(out, "zm:%s:nodes", cluster);
}

void
words_add_warm_key(struct str *out, const char *cluster, struct slice key)
{
	words_add_key(out, cluster, 'w', key);
	str_addc(out, ':');
}

void
words_add_first_key(struct str *out, const char *cluster, struct slice zone)
{
	words_add_key(out, cluster, 'w', zone);
}

/* ---- answers ---------------------------------------------------------- */

bool
words_warmed_read(struct slice text, struct words_warmed *out)
{
	return words_number(&text, 0, WORDS_DAY_MAX, &out->day) &&
	    words_number(&text, 1, 86400, &out->left_s) &&
	    words_number(&text, 0, WORDS_DAY_MAX, &out->first) &&
	    words_number(&text, 0, INT64_MAX, &out->sent) &&
	    words_number(&text, 0, UINT32_MAX, &out->given) &&
	    slice_trim(text).n == 0;
}

bool
words_taken_read(struct slice text, uint64_t *out_granted,
    int64_t *out_wait_us)
{
	uint64_t wait_us;

	if (!words_number(&text, 0, UINT32_MAX, out_granted) ||
	    !words_number(&text, 0, INT64_MAX / 2, &wait_us) ||
	    slice_trim(text).n > 0)
		return false;
	*out_wait_us = (int64_t)wait_us;
	return true;
}

bool
words_greeted_read(struct slice text, int64_t *out_wait_s)
{
	uint64_t wait_s;

	if (!words_number(&text, 0, UINT32_MAX, &wait_s) ||
	    slice_trim(text).n > 0)
		return false;
	*out_wait_s = (int64_t)wait_s;
	return true;
}

bool
words_node_next(struct slice *rest, struct slice *out_name,
    uint64_t *out_seconds)
{
	return slice_word(rest, out_name) &&
	    words_number(rest, 0, UINT32_MAX, out_seconds);
}
