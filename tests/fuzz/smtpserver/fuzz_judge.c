/* fuzz_judge.c - what a session that was taken over asks, what a helper that
 * was taken over answers, and headers of strangers
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "grammar/message/header.h"
#include "origin/authres/authres.h"
#include "smtpserver/origin/judge_mark.h"
#include "tests/fuzz/fuzz.h"

#include "base/banned.h"

static void
check_question(struct slice in)
{
	struct arena *arena = arena_new();
	struct judge_question question;
	struct err err = { "" };

	if (judge_question_parse(arena, in, &question, &err) == 0) {
		MUST(question.is_spf_alone || (question.host.n > 0 &&
		    question.file.n > 0 && question.file.p[0] != '/'));
		MUST(question.client.bits == 128);
	} else {
		MUST(err.text[0] != '\0');
	}
	arena_free(&arena);
}

static void
check_answer(struct slice in)
{
	struct judge_answer answer, again;
	struct str line = STR_INIT;

	if (judge_answer_parse(in, &answer) == 0) {
		MUST(strstr(answer.file, "..") == NULL);
		judge_answer_add(&line, &answer);
		MUST(judge_answer_parse(str_slice(&line), &again) == 0);
		MUST(memcmp(&answer, &again, sizeof(answer)) == 0);
	}
	str_release(&line);
}

static void
check_spf(struct slice in)
{
	struct str line = STR_INIT;
	enum origin spf, again;
	struct slice at, at_again;

	if (judge_spf_parse(in, &spf, &at) == 0) {
		judge_spf_add(&line, spf, at);
		MUST(slice_equal(str_slice(&line), in) ||
		    slice_find(in, ' ') == in.n);
		MUST(judge_spf_parse(str_slice(&line), &again,
		    &at_again) == 0 && again == spf &&
		    slice_equal(at, at_again));
	}
	str_release(&line);
}

/* One of ours is left, and it is the first. */
static void
check_header(struct slice in)
{
	static const char field[] = "Authentication-Results: mx.test; none";
	struct str out = STR_INIT;
	struct slice body, header;
	struct header_field one;
	bool is_broken, is_first = true;

	body = judge_mark_header(in, slice_of(field), "mx.test", &out);
	MUST(body.n <= in.n && slice_starts(str_slice(&out), field));
	header = str_slice(&out);
	while (header_next(&header, &one, &is_broken)) {
		if (header_is(&one, "Authentication-Results") &&
		    authres_is_ours(one.value, "mx.test"))
			MUST(is_first);
		if (is_first)
			MUST(one.whole.n == sizeof(field));
		is_first = false;
	}
	str_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);

	check_question(in);
	check_answer(in);
	check_spf(in);
	check_header(in);
	return 0;
}
