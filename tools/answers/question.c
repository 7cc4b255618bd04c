/* question.c - what may be asked, and by whom
 *
 * In     a line of words
 * Out    the words; whether that person may
 * Trusts nothing in the line
 * Spec   answers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/answers/answers.h"

#include "base/banned.h"

/* These read and do nothing else, whatever their options are. */
static const struct { const char *verb; enum right right; } question_rows[] = {
	{ "trace", RIGHT_OWN },		/* of one's own mail */
	{ "events", RIGHT_READ },
	{ "report", RIGHT_READ },
	{ "metrics", RIGHT_READ },
	{ "list", RIGHT_READ },
	{ "count", RIGHT_READ },
	{ "why", RIGHT_READ },
	{ "status", RIGHT_READ },
	{ "queue", RIGHT_READ },
	{ "connections", RIGHT_READ },
	{ "orders", RIGHT_READ },
	{ "zones", RIGHT_READ },
	{ "config", RIGHT_READ },
};
enum { QUESTION_ROWS = sizeof(question_rows) / sizeof(question_rows[0]) };

/* Who would listen himself. */
static bool
question_listens(const struct answers_question *question)
{
	for (int i = 1; i < question->count; i++)
		if (strncmp(question->words[i], "--listen", 8) == 0)
			return true;
	return false;
}

/* Of config one form is answered: which files there are, and their sums. */
static bool
question_is_other_form(const struct answers_question *question)
{
	return strcmp(question->words[0], "config") == 0 &&
	    (question->count < 2 ||
	    strcmp(question->words[1], "files") != 0);
}

bool
answers_follow(const struct answers_question *question)
{
	for (int i = 1; i < question->count; i++)
		if (strcmp(question->words[i], "-f") == 0)
			return true;
	return false;
}

int
answers_question_read(char *bytes, size_t n, struct answers_question *out)
{
	size_t at = 0;

	out->count = 0;
	if (n == 0 || bytes[n - 1] != '\0')
		return -1;
	while (at < n) {
		if (out->count == ANSWERS_WORDS_MAX)
			return -1;
		out->words[out->count++] = bytes + at;
		at += strlen(bytes + at) + 1;
	}
	out->words[out->count] = NULL;
	return 0;
}

bool
answers_may(enum right right, const struct answers_question *question,
    struct str *out_text)
{
	size_t i = 0;

	str_reset(out_text);
	while (i < QUESTION_ROWS &&
	    strcmp(question->words[0], question_rows[i].verb) != 0)
		i++;
	if (i == QUESTION_ROWS || question_listens(question) ||
	    question_is_other_form(question)) {
		str_adds(out_text, "this is answered only to who may "
		    "read the files themselves");
		return false;
	}
	if (right >= question_rows[i].right)
		return true;
	str_addf(out_text, "you may not: %s", verb_readers);
	return false;
}
