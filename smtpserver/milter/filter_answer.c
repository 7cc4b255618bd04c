/* filter_answer.c - what the helper's answer says
 *
 * In     one line
 * Out    a verdict
 * Holds  nothing
 * Spec   filter.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "smtpserver/milter/filter.h"

#include "base/banned.h"

static bool
filter_answer_copy(char *out, size_t size, struct slice text)
{
	if (text.n >= size)
		return false;
	if (text.n > 0)
		memcpy(out, text.p, text.n);
	out[text.n] = '\0';
	return true;
}

static bool
filter_answer_hex(struct slice text, uint32_t *out)
{
	uint32_t number = 0;

	if (text.n != 8)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		int digit = ascii_hex_small(text.p[i]);

		if (digit < 0)
			return false;
		number = number << 4 | (uint32_t)digit;
	}
	*out = number;
	return true;
}

static bool
filter_answer_word(struct slice word, struct filter_verdict *out)
{
	struct slice value = slice_from(word, slice_find(word, '=') + 1);

	if (slice_starts(word, "file="))
		return filter_answer_copy(out->file, sizeof(out->file), value);
	if (slice_starts(word, "freeze="))
		return filter_answer_copy(out->freeze, sizeof(out->freeze),
		    value);
	if (slice_starts(word, "bytes="))
		return slice_number(value, 1, INT64_MAX, &out->bytes);
	if (slice_starts(word, "crc="))
		return filter_answer_hex(value, &out->crc);
	return false;
}

/* The words said= at the front of the rest, in place. */
static struct slice
filter_answer_said(struct slice *rest)
{
	struct slice all = slice_trim(*rest), after = all, word;

	while (slice_starts(after, "said=") && slice_word(&after, &word))
		after = slice_trim(after);
	*rest = after;
	return slice_first(all, all.n - after.n);
}

static int
filter_answer_refusal(struct slice rest, struct filter_verdict *out)
{
	struct slice word;
	uint64_t code;

	out->word = FILTER_REFUSE;
	if (!slice_word(&rest, &word) ||
	    !slice_number(word, 400, 599, &code) ||
	    !slice_word(&rest, &word) ||
	    !filter_answer_copy(out->status, sizeof(out->status), word))
		return -1;
	out->code = (unsigned)code;
	rest = slice_first(slice_trim(rest), sizeof(out->text) - 1);
	return filter_answer_copy(out->text, sizeof(out->text), rest) ? 0 : -1;
}

/* All the rest; a long one is cut. */
static void
filter_answer_because(struct slice *rest, struct filter_verdict *out)
{
	(void)filter_answer_copy(out->because, sizeof(out->because),
	    slice_first(slice_trim(*rest), sizeof(out->because) - 1));
	rest->n = 0;
}

int
filter_answer_parse(struct slice answer, struct filter_verdict *out)
{
	struct slice word;

	memset(out, 0, sizeof(*out));
	if (!slice_word(&answer, &word))
		return -1;
	out->said = filter_answer_said(&answer);
	if (slice_is(word, "refuse"))
		return filter_answer_refusal(answer, out);
	if (slice_is(word, "discard")) {
		out->word = FILTER_DISCARD;
		return 0;
	}
	out->word = FILTER_PASS;
	if (!slice_is(word, "pass"))
		return -1;
	while (slice_word(&answer, &word))
		if (slice_is(word, "because"))
			filter_answer_because(&answer, out);
		else if (!filter_answer_word(word, out))
			return -1;
	return out->file[0] == '\0' || out->bytes > 0 ? 0 : -1;
}

int
filter_answer_key(struct slice *answer, char out_key[FILTER_KEY_BYTES],
    unsigned *out_wants)
{
	struct slice word;

	if (!slice_word(answer, &word) ||
	    !filter_answer_copy(out_key, FILTER_KEY_BYTES, word) ||
	    !slice_word(answer, &word) || word.n == 0 || word.n > 8)
		return -1;
	*out_wants = 0;
	for (size_t i = 0; i < word.n; i++) {
		int digit = ascii_hex_small(word.p[i]);

		if (digit < 0)
			return -1;
		*out_wants = *out_wants << 4 | (unsigned)digit;
	}
	return 0;
}
