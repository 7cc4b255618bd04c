/* test_command.c - one SMTP command line taken apart
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/smtp/command.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(command, verb_and_arguments)
{
	static const struct {
		struct slice	 in;
		int		 rc;
		const char	*verb, *args;
	} rows[] = {
		{ SLICE("QUIT"), 0, "QUIT", "" },
		{ SLICE("eHlO a.b"), 0, "eHlO", "a.b" },
		{ SLICE("EHLO a.b   "), 0, "EHLO", "a.b" },
		{ SLICE("EHLO "), 0, "EHLO", "" },
		{ SLICE("MAIL FROM:<a@b> SIZE=1"), 0, "MAIL",
		    "FROM:<a@b> SIZE=1" },
		{ SLICE("MAIL  FROM:<a@b>"), 0, "MAIL", " FROM:<a@b>" },
		{ SLICE("VRFY \xc3\xa9"), 0, "VRFY", "\xc3\xa9" },
		{ SLICE(""), -1, "", "" },
		{ SLICE(" QUIT"), -1, "", "" },
		{ SLICE("EHLO\ta"), -1, "", "" },
		{ SLICE("EHLO a\0"), -1, "", "" },
		{ SLICE("EHLO a\x7f"), -1, "", "" },
		{ SLICE("EHLO a\r"), -1, "", "" },
		{ SLICE("EHLO a\nQUIT"), -1, "", "" },
		{ SLICE("\x16\x03\x01"), -1, "", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { "" };
		struct command command;

		cr_expect_eq(command_parse(rows[i].in, &command, &err),
		    rows[i].rc, "%s", rows[i].in.p);
		cr_expect(slice_is(command.verb, rows[i].verb));
		cr_expect(slice_is(command.args, rows[i].args));
		cr_expect_eq(err.text[0] != '\0', rows[i].rc < 0);
	}
}

Test(command, keyword_in_front_of_a_path)
{
	static const struct {
		const char	*in, *keyword;
		bool		 want;
		const char	*rest;
	} rows[] = {
		{ "FROM:<a@b>", "FROM", true, "<a@b>" },
		{ "from:<a@b>", "FROM:", true, "<a@b>" },
		{ "To:  <a@b>", "TO", true, "<a@b>" },
		{ "TO:", "TO", true, "" },
		{ "TO", "TO", false, "TO" },
		{ "FROM <a@b>", "FROM", false, "FROM <a@b>" },
		{ "FROM :<a@b>", "FROM", false, "FROM :<a@b>" },
		{ " FROM:<a@b>", "FROM", false, " FROM:<a@b>" },
		{ "TO:<a@b>", "FROM", false, "TO:<a@b>" },
		{ "", "FROM", false, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slice args = slice_of(rows[i].in);

		cr_expect_eq(command_keyword(&args, rows[i].keyword),
		    rows[i].want, "%s", rows[i].in);
		cr_expect(slice_is(args, rows[i].rest), "%s", rows[i].in);
	}
}

Test(command, parameters_in_order)
{
	struct slice rest = SLICE(" SIZE=100  BODY=8BITMIME SMTPUTF8 X-a=+3D");
	static const struct { const char *keyword, *value; } want[] = {
		{ "SIZE", "100" }, { "BODY", "8BITMIME" },
		{ "SMTPUTF8", NULL }, { "X-a", "+3D" },
	};
	struct slice keyword, value;

	for (size_t i = 0; i < COUNT(want); i++) {
		cr_assert_eq(command_param(&rest, &keyword, &value, NULL),
		    COMMAND_PARAM);
		cr_expect(slice_is(keyword, want[i].keyword));
		cr_expect_eq(value.p == NULL, want[i].value == NULL);
		cr_expect(slice_is(value, want[i].value));
	}
	cr_expect_eq(command_param(&rest, &keyword, &value, NULL),
	    COMMAND_PARAM_END);
	cr_expect_eq(command_param(&rest, &keyword, &value, NULL),
	    COMMAND_PARAM_END);
}

Test(command, parameters_refused)
{
	static const struct { const char *in; int want; } rows[] = {
		{ "", 0 }, { "   ", 0 }, { " A", 1 }, { " 8A-b=c", 1 },
		{ " A=\xc3\xa9", 1 },
		{ "junk", -1 }, { ">", -1 }, { " =1", -1 }, { " A=", -1 },
		{ " A=1=2", -1 }, { " -A=1", -1 }, { " A_B=1", -1 },
		{ " A:1", -1 }, { " A=\xff", -1 }, { " A\xc3\xa9=1", -1 },
		{ " A=\t", -1 }, { " <", -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slice rest = slice_of(rows[i].in), keyword, value;
		struct err err = { "" };

		cr_expect_eq(command_param(&rest, &keyword, &value, &err),
		    rows[i].want, "%s", rows[i].in);
		cr_expect_eq(err.text[0] != '\0', rows[i].want < 0);
	}
}
