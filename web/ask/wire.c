/* wire.c - what the two processes of the desk say to each other
 *
 * In     words; lines of the other process
 * Out    lines; words
 * Trusts nothing: each of the two may have been taken over
 * Spec   wire.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "grammar/base64.h"
#include "web/ask/wire.h"

#include "base/banned.h"

void
wire_add_call(struct str *out, unsigned serial, const char *const *words)
{
	str_addf(out, "%u", serial);
	for (; *words != NULL; words++) {
		str_adds(out, " .");
		base64_add(out, slice_of(*words));
	}
	str_addc(out, '\n');
}

/* NULL: it is no word of ours. */
static const char *
wire_word(struct slice coded, struct arena *arena)
{
	struct str plain = STR_INIT;
	const char *word = NULL;

	if (slice_starts(coded, ".") &&
	    base64_decode(slice_from(coded, 1), &plain, NULL) == 0 &&
	    strlen(plain.buf) == plain.len)
		word = slice_dup(arena, str_slice(&plain));
	explicit_bzero(plain.buf, plain.len);
	str_release(&plain);
	return word;
}

int
wire_read_call(struct slice line, struct arena *arena, unsigned *out_serial,
    const char *out_words[WIRE_WORDS_MAX])
{
	struct slice word;
	uint64_t serial;
	size_t count = 0;

	if (!slice_word(&line, &word) ||
	    !slice_number(word, 1, UINT32_MAX, &serial))
		return -1;
	while (slice_word(&line, &word)) {
		if (count == WIRE_WORDS_MAX - 1 ||
		    (out_words[count] = wire_word(word, arena)) == NULL)
			return -1;
		count++;
	}
	out_words[count] = NULL;
	*out_serial = (unsigned)serial;
	return count > 0 ? 0 : -1;
}

void
wire_add_answer(struct str *out, unsigned serial,
    const struct question_answer *answer)
{
	str_addf(out, "%u %d %d %zu %zu\n", serial, (int)answer->kind,
	    answer->is_cut ? 1 : 0, answer->text.len, answer->trouble.len);
}

int
wire_read_answer(struct slice line, struct wire_answer *out)
{
	static const uint64_t most[] = { UINT32_MAX, ANSWER_KINDS - 1, 1,
	    ANSWER_BYTES_MAX, ANSWER_BYTES_MAX };
	uint64_t numbers[5];
	struct slice word;

	for (size_t i = 0; i < 5; i++)
		if (!slice_word(&line, &word) ||
		    !slice_number(word, 0, most[i], &numbers[i]))
			return -1;
	*out = (struct wire_answer){ .serial = (unsigned)numbers[0],
	    .kind = (enum question_answer_kind)numbers[1],
	    .is_cut = numbers[2] != 0, .text_bytes = (size_t)numbers[3],
	    .trouble_bytes = (size_t)numbers[4] };
	return slice_word(&line, &word) ? -1 : 0;
}
