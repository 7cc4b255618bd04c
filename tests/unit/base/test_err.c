/* test_err.c - what goes wrong, for three audiences
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/err.h"

Test(err, set_says_minus_one_and_keeps_the_words)
{
	struct err err;

	cr_expect_eq(err_set(&err, "%s %d", "a", 1), -1);
	cr_expect_str_eq(err.text, "a 1");
	cr_expect_eq(err_set(NULL, "x"), -1);
}

Test(err, sys_adds_the_words_for_errno)
{
	struct err err;

	errno = ENOENT;
	cr_expect_eq(err_sys(&err, "open %s", "f"), -1);
	cr_expect(strncmp(err.text, "open f: ", 8) == 0);
	cr_expect_str_eq(err.text + 8, strerror(ENOENT));
	cr_expect_eq(err_sys(NULL, "x"), -1);
}

Test(err, prefix_stands_in_front)
{
	struct err err;

	err_set(&err, "no such user");
	cr_expect_eq(err_prefix(&err, "line %d", 7), -1);
	cr_expect_str_eq(err.text, "line 7: no such user");
	cr_expect_eq(err_prefix(NULL, "x"), -1);
}

/* What a peer or a user wrote must not move the reader's cursor. */
Test(err, control_bytes_of_others_are_none_of_ours)
{
	struct err err;

	err_set(&err, "'%s' is no name", "a\033[2J\r\n\177b");
	cr_expect_str_eq(err.text, "'a?[2J???b' is no name");
	strcpy(err.text, "\033x");
	err_prefix(&err, "\a");
	cr_expect_str_eq(err.text, "?: ?x");
}

Test(err, long_words_are_cut_not_overrun)
{
	struct { struct err err; char guard[8]; } it = { .guard = "guard" };
	char words[2000];

	memset(words, 'w', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	err_set(&it.err, "%s", words);
	cr_expect_eq(strlen(it.err.text), ERR_TEXT_BYTES - 1);
	err_prefix(&it.err, "%s", words);
	cr_expect_eq(strlen(it.err.text), ERR_TEXT_BYTES - 1);
	errno = EIO;
	err_sys(&it.err, "%s", words);
	cr_expect_eq(strlen(it.err.text), ERR_TEXT_BYTES - 1);
	cr_expect_str_eq(it.guard, "guard");
}

Test(err, fatal_exits_111, .exit_code = EXIT_FATAL)
{
	fatal("the words");
}

Test(err, panic_aborts, .signal = SIGABRT)
{
	panic("the words");
}
