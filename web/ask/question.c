/* question.c - what the desk wants to know, and what came of it
 *
 * In     a verb's words or an operation; what came back
 * Out    an answer: lines, a kind, the words of a refusal
 * Trusts nothing in an answer: members are read by json_get
 * Spec   question.h; doc/protocol/control.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sysexits.h>

#include "web/ask/question.h"
#include "base/json.h"

#include "base/banned.h"

static void
question_init(struct question *out, const char *name)
{
	*out = (struct question){ .name = name, .request = STR_INIT,
	    .answer = { .kind = ANSWER_TROUBLE, .text = STR_INIT,
	    .trouble = STR_INIT } };
}

void
question_verb(struct question *out, const char *name,
    const char *const *words)
{
	size_t count = 0;

	question_init(out, name);
	while (words[count] != NULL && count < QUESTION_WORDS_MAX - 1) {
		out->words[count] = words[count];
		count++;
	}
}

void
question_socket(struct question *out, const char *name, const char *op)
{
	question_init(out, name);
	out->is_socket = true;
	json_open_answer(&out->request);
	json_text(&out->request, "op", slice_of(op));
}

void
question_door(struct question *out, const char *const *words)
{
	question_verb(out, "door", words);
	out->is_door = true;
}

void
question_release(struct question *question)
{
	str_release(&question->request);
	str_release(&question->answer.text);
	str_release(&question->answer.trouble);
}

bool
answer_line(struct slice *rest, struct slice *out_line)
{
	while (slice_cut(rest, '\n', out_line))
		if (out_line->n > 1 && out_line->p[0] == '{' &&
		    out_line->p[out_line->n - 1] == '}')
			return true;
	return false;
}

enum question_answer_kind
answer_of_exit(int status)
{
	switch (status) {
	case EX_OK:
		return ANSWER_GOOD;
	case 1:
		return ANSWER_NONE;
	case EX_USAGE:
		return ANSWER_WRONG;
	case EX_NOPERM:
		return ANSWER_DENIED;
	case EX_UNAVAILABLE:
		return ANSWER_DOWN;
	default:
		return ANSWER_TROUBLE;
	}
}

static enum question_answer_kind
answer_of_code(struct slice line)
{
	static const struct {
		const char	*code;
		enum question_answer_kind kind;
	} rows[] = {
		{ "bad-request", ANSWER_WRONG },
		{ "nothing-selected", ANSWER_WRONG },
		{ "denied", ANSWER_DENIED },
		{ "no-such", ANSWER_NONE },
		{ "stopping", ANSWER_DOWN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (json_is(line, "code", rows[i].code))
			return rows[i].kind;
	return ANSWER_TROUBLE;
}

bool
answer_take_socket(struct question_answer *answer, struct slice sent)
{
	struct slice rest = sent, line;

	if (!slice_ends(sent, "\n\n"))
		return false;
	while (answer_line(&rest, &line)) {
		if (json_get(line, "error", &answer->trouble)) {
			answer->kind = answer_of_code(line);
		} else if (json_is(line, "done", "true")) {
			answer->kind = ANSWER_GOOD;
		} else {
			str_add_slice(&answer->text, line);
			str_addc(&answer->text, '\n');
		}
	}
	return true;
}
