/* test_answers.c - what may be asked of who reads the journal, and by whom
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tools/answers/answers.h"

TestSuite(answers);

#define LINE(text) text, sizeof(text) - 1

Test(answers, a_question_is_words_that_each_end)
{
	static const struct {
		const char *line;
		size_t n;
		int count;		/* -1: none */
	} rows[] = {
		{ LINE("trace\0a@b.example\0"), 2 },
		{ LINE("metrics\0"), 1 },
		{ LINE("trace\0\0"), 2 },	/* an empty word is one */
		{ LINE("trace"), -1 },
		{ LINE("trace\0a"), -1 },
		{ LINE(""), -1 },
	};
	struct answers_question question;
	char bytes[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int result;

		memcpy(bytes, rows[i].line, rows[i].n + 1);
		result = answers_question_read(bytes, rows[i].n, &question);
		cr_assert_eq(result < 0, rows[i].count < 0, "row %zu", i);
		if (result < 0)
			continue;
		cr_expect_eq(question.count, rows[i].count, "row %zu", i);
		cr_expect_null(question.words[question.count]);
	}
}

Test(answers, words_without_end_are_no_question)
{
	char bytes[ANSWERS_WORDS_MAX * 2 + 2];
	struct answers_question question;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i % 2 == 0 ? 'x' : '\0';
	cr_expect_eq(answers_question_read(bytes, sizeof(bytes), &question),
	    -1);
	cr_expect_eq(answers_question_read(bytes, sizeof(bytes) - 2,
	    &question), 0);
	cr_expect_eq(question.count, ANSWERS_WORDS_MAX);
}

Test(answers, who_may_not_is_told_who_may)
{
	static const struct {
		enum right right;
		const char *verb, *word, *told;	/* NULL: may */
	} rows[] = {
		{ RIGHT_OWN, "trace", "a@b.example", NULL },
		{ RIGHT_READ, "trace", "a@b.example", NULL },
		{ RIGHT_OWN, "metrics", NULL, "control operators" },
		{ RIGHT_OWN, "report", NULL, "usermod -aG" },
		{ RIGHT_ETRN, "events", NULL, "you may not" },
		{ RIGHT_READ, "metrics", NULL, NULL },
		{ RIGHT_READ, "report", "--json", NULL },
		{ RIGHT_WRITE, "events", "-n", NULL },
		{ RIGHT_READ, "events", "-f", NULL },
		{ RIGHT_OWN, "events", "-f", "control operators" },
		/* nothing that writes or listens */
		{ RIGHT_WRITE, "delete", "all", "read the files" },
		{ RIGHT_WRITE, "stop", NULL, "read the files" },
		{ RIGHT_WRITE, "", NULL, "read the files" },
		{ RIGHT_WRITE, "metrics", "--listen", "read the files" },
		{ RIGHT_WRITE, "metrics", "--listen=25", "read the files" },
	};
	struct str text = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answers_question question = { .count = 2, .words = {
		    (char *)(uintptr_t)rows[i].verb,
		    (char *)(uintptr_t)rows[i].word } };

		question.count = rows[i].word != NULL ? 2 : 1;
		cr_expect_eq(answers_may(rows[i].right, &question, &text),
		    rows[i].told == NULL, "row %zu", i);
		if (rows[i].told != NULL)
			cr_expect_not_null(strstr(text.buf, rows[i].told),
			    "row %zu: %s", i, text.buf);
	}
	str_release(&text);
}
