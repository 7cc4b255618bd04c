/* test_question.c - what came back from the scheduler, from a verb
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "web/ask/question.h"

static const struct {
	const char	*sent;
	bool		 is_whole;
	enum question_answer_kind kind;
	const char	*text, *trouble;
} rows[] = {
	{ "", false, 0, "", "" },
	{ "{\"key\":\"a\"}\n{\"done\":true}\n", false, 0, "", "" },
	{ "{\"key\":\"a\"}\n{\"done\":true}\n\n", true, ANSWER_GOOD,
	    "{\"key\":\"a\"}\n", "" },
	{ "{\"done\":true,\"messages\":0}\n\n", true, ANSWER_GOOD, "", "" },
	{ "{\"error\":\"no\",\"code\":\"denied\"}\n\n", true,
	    ANSWER_DENIED, "", "no" },
	{ "{\"error\":\"none\",\"code\":\"no-such\"}\n\n", true,
	    ANSWER_NONE, "", "none" },
	{ "{\"error\":\"q\",\"code\":\"bad-request\"}\n\n", true,
	    ANSWER_WRONG, "", "q" },
	{ "{\"error\":\"b\",\"code\":\"busy\"}\n\n", true, ANSWER_TROUBLE, "",
	    "b" },
	{ "no object\n\n", true, ANSWER_TROUBLE, "", "" },
};

Test(question, answers_of_the_socket)
{
	static const char *const words[] = { "list", NULL };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct question question;

		question_verb(&question, "list", words);
		cr_expect_eq(answer_take_socket(&question.answer,
		    slice_of(rows[i].sent)), rows[i].is_whole, "%s",
		    rows[i].sent);
		if (rows[i].is_whole)
			cr_expect_eq(question.answer.kind, rows[i].kind,
			    "%s", rows[i].sent);
		cr_expect_str_eq(question.answer.text.buf, rows[i].text);
		cr_expect_str_eq(question.answer.trouble.buf,
		    rows[i].trouble);
		question_release(&question);
	}
}

Test(question, only_whole_objects_are_lines)
{
	struct slice rest = SLICE("{\"a\":1}\nwarning\n{\"b\":2}\n{\"c\":");
	struct slice line;

	cr_assert(answer_line(&rest, &line));
	cr_expect(slice_is(line, "{\"a\":1}"));
	cr_assert(answer_line(&rest, &line));
	cr_expect(slice_is(line, "{\"b\":2}"));
	cr_expect(!answer_line(&rest, &line));
}
