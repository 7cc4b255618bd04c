/* test_policyd.c - the Postfix policy protocol, by rows
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "smtpserver/policy/policyd.h"

#include "base/banned.h"

Test(policyd, actions)
{
	static const struct {
		const char		*in;
		int			 want;
		enum policyd_action	 action;
		int			 code;
		const char		*text;
	} rows[] = {
		{ "DUNNO", 0, POLICYD_DUNNO, 0, "" },
		{ "dunno", 0, POLICYD_DUNNO, 0, "" },
		{ "OK", 0, POLICYD_ACCEPT, 0, "" },
		{ "permit", 0, POLICYD_ACCEPT, 0, "" },
		{ "1", 0, POLICYD_ACCEPT, 0, "" },
		{ "250 fine", 0, POLICYD_ACCEPT, 0, "fine" },
		{ "REJECT", 0, POLICYD_REJECT, 0, "" },
		{ "REJECT not  here", 0, POLICYD_REJECT, 0, "not  here" },
		{ "REJECT 5.7.1 not here", 0, POLICYD_REJECT, 0, "not here" },
		{ "REJECT 5.7.1", 0, POLICYD_REJECT, 0, "" },
		{ "REJECT 1.2.3.4 is bad", 0, POLICYD_REJECT, 0,
		    "1.2.3.4 is bad" },
		{ "554 5.7.1 no", 0, POLICYD_REJECT, 554, "no" },
		{ "450 later", 0, POLICYD_DEFER, 450, "later" },
		{ "DEFER 4.2.0 Greylisted, see x", 0, POLICYD_DEFER, 0,
		    "Greylisted, see x" },
		{ "DEFER_IF_PERMIT later", 0, POLICYD_DEFER_IF_PERMIT, 0,
		    "later" },
		{ "DEFER_IF_REJECT x", 0, POLICYD_DUNNO, 0, "x" },
		{ "HOLD", 0, POLICYD_FREEZE, 0, "" },
		{ "DISCARD", 0, POLICYD_FREEZE, 0, "" },
		{ "PREPEND X-Spf: pass", 0, POLICYD_PREPEND, 0,
		    "X-Spf: pass" },
		{ "PREPEND nothing", -1, POLICYD_PREPEND, 0, NULL },
		{ "PREPEND : x", -1, POLICYD_PREPEND, 0, NULL },
		{ "PREPEND A b: x", -1, POLICYD_PREPEND, 0, NULL },
		{ "PREPEND", -1, POLICYD_PREPEND, 0, NULL },
		{ "WARN odd", 0, POLICYD_WARN, 0, "odd" },
		{ "INFO odd", 0, POLICYD_WARN, 0, "odd" },
		{ "REDIRECT x@y.test", -1, POLICYD_DUNNO, 0, NULL },
		{ "FILTER smtp:x", -1, POLICYD_DUNNO, 0, NULL },
		{ "", -1, POLICYD_DUNNO, 0, NULL },
		{ "REJECT a\rb", -1, POLICYD_REJECT, 0, NULL },
		{ "PREPEND X: a\tb", -1, POLICYD_PREPEND, 0, NULL },
		{ "REJECT \x7f", -1, POLICYD_REJECT, 0, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policyd_answer answer;
		struct err err = { "" };
		int got = policyd_action_parse(slice_of(rows[i].in), &answer,
		    &err);

		cr_expect_eq(got, rows[i].want, "%s: %d", rows[i].in, got);
		cr_expect(got == 0 || err.text[0] != '\0');
		if (got < 0)
			continue;
		cr_expect_eq(answer.action, rows[i].action, "%s",
		    rows[i].in);
		cr_expect_eq(answer.code, rows[i].code, "%s", rows[i].in);
		cr_expect(slice_is(answer.text, rows[i].text), "%s: "
		    SLICE_FMT, rows[i].in, SLICE_ARG(answer.text));
	}
}

/* Whole, and each beginning of it: not whole yet. */
static void
check_answer(const char *text, int want, const char *action)
{
	struct slice got, whole = slice_of(text);
	struct err err = { "" };
	size_t end = want > 0 ? (size_t)want : whole.n;

	cr_expect_eq(policyd_answer_find(whole, &got, &err), want, "%s",
	    text);
	if (want > 0)
		cr_expect(slice_is(got, action), "%s: " SLICE_FMT, text,
		    SLICE_ARG(got));
	for (size_t n = 0; n < end; n++)
		if (want >= 0)
			cr_expect_eq(policyd_answer_find(slice_first(whole,
			    n), &got, &err), 0, "%s, %zu", text, n);
}

Test(policyd, answers)
{
	struct str huge = STR_INIT;
	struct slice got;
	struct err err = { "" };

	check_answer("action=DUNNO\n\n", 14, "DUNNO");
	check_answer("action=REJECT no way\r\n\r\n", 24, "REJECT no way");
	check_answer("x=1\naction=OK\ny=2\n\n", 19, "OK");
	check_answer("action=OK\naction=REJECT\n\n", 25, "OK");
	check_answer("action=\n\n", 9, "");
	check_answer("action=OK\n\nmore", 11, "OK");
	check_answer("action=OK\n", 0, NULL);
	check_answer("", 0, NULL);
	check_answer("\n", -1, NULL);
	check_answer("result=OK\n\n", -1, NULL);
	for (int i = 0; i <= POLICYD_ANSWER_BYTES_MAX; i++)
		str_addc(&huge, 'x');
	cr_expect_eq(policyd_answer_find(str_slice(&huge), &got, &err), -1);
	str_release(&huge);
}

Test(policyd, requests)
{
	struct str question = STR_INIT, request = STR_INIT;

	policyd_add(&question, "request", SLICE("smtpd_access_policy"));
	policyd_add(&question, "sender", SLICE(""));
	policyd_add(&question, "helo_name", SLICE("a\nb\tc\r=d"));
	policyd_request(&request, str_slice(&question));
	cr_expect_str_eq(request.buf, "request=smtpd_access_policy\n"
	    "sender=\nhelo_name=a?b?c?=d\n\n");
	str_release(&question);
	str_release(&request);
}
