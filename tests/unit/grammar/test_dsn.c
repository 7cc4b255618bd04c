/* test_dsn.c - what a sender asked to be told
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/smtp/dsn.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NEVER DSN_NOTIFY_NEVER
#define SUCCESS DSN_NOTIFY_SUCCESS
#define FAILURE DSN_NOTIFY_FAILURE
#define DELAY DSN_NOTIFY_DELAY

Test(dsn, notify)
{
	static const struct {
		const char	*in;
		int		 rc;
		unsigned	 want;
		const char	*text;
	} rows[] = {
		{ "NEVER", 0, NEVER, "NEVER" }, { "never", 0, NEVER, "NEVER" },
		{ "SUCCESS", 0, SUCCESS, "SUCCESS" },
		{ "delay,Failure,success", 0, SUCCESS | FAILURE | DELAY,
		    "SUCCESS,FAILURE,DELAY" },
		{ "SUCCESS,SUCCESS", 0, SUCCESS, "SUCCESS" },
		{ "NEVER,SUCCESS", -1, 0, "" }, { "", -1, 0, "" },
		{ "SUCCESS,", -1, 0, "" }, { ",", -1, 0, "" },
		{ "SOMETIMES", -1, 0, "" }, { "SUCCESS, DELAY", -1, 0, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str text = STR_INIT;
		unsigned notify = 0;

		cr_expect_eq(dsn_notify_parse(slice_of(rows[i].in), &notify,
		    NULL), rows[i].rc, "%s", rows[i].in);
		cr_expect_eq(notify, rows[i].want, "%s", rows[i].in);
		dsn_notify_add(&text, notify);
		cr_expect_str_eq(text.buf, rows[i].text);
		str_release(&text);
	}
	cr_expect_eq(dsn_notify_parse((struct slice){ NULL, 0 },
	    &(unsigned){ 0 }, NULL), -1);
}

Test(dsn, ret)
{
	static const struct {
		const char	*in;
		int		 rc;
		enum dsn_ret	 want;
		const char	*name;
	} rows[] = {
		{ "FULL", 0, DSN_RET_FULL, "FULL" },
		{ "hdrs", 0, DSN_RET_HDRS, "HDRS" },
		{ "foo", -1, DSN_RET_DEFAULT, "" },
		{ "", -1, DSN_RET_DEFAULT, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		enum dsn_ret ret = DSN_RET_DEFAULT;

		cr_expect_eq(dsn_ret_parse(slice_of(rows[i].in), &ret, NULL),
		    rows[i].rc, "%s", rows[i].in);
		cr_expect_eq(ret, rows[i].want);
		cr_expect_str_eq(dsn_ret_name(ret), rows[i].name);
	}
}

static void
repeat(struct str *out, const char *head, size_t n)
{
	str_adds(out, head);
	while (out->len < n)
		str_addc(out, 'x');
}

Test(dsn, original_recipient)
{
	static const struct { const char *in; int want; } rows[] = {
		{ "rfc822;a@b", 0 }, { "RFC822;a+2Bb@c", 0 },
		{ "x400;/A=", -1 },
		{ "rfc822;", -1 }, { ";a@b", -1 }, { "rfc822", -1 },
		{ "", -1 }, { "rfc822;a+2", -1 }, { "rfc822;a+0A", -1 },
		{ "rfc822;a b", -1 }, { "rfc 822;a", -1 },
		{ "utf-8;\xc3\xa9@b", 0 }, { "UTF-8;a\\x{E9}@b", 0 },
		{ "utf-8;\xff@b", -1 }, { "utf-8;\xc3\xa9+0A", -1 },
		{ "rfc822;\xc3\xa9@b", -1 }, { "rfc822;a;b", 0 },
	};
	struct str text = STR_INIT;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { "" };

		cr_expect_eq(dsn_orcpt_check(slice_of(rows[i].in), &err),
		    rows[i].want, "%s", rows[i].in);
		cr_expect_eq(err.text[0] != '\0', rows[i].want < 0);
	}
	repeat(&text, "rfc822;", 500);
	cr_expect_eq(dsn_orcpt_check(str_slice(&text), NULL), 0);
	str_addc(&text, 'x');
	cr_expect_eq(dsn_orcpt_check(str_slice(&text), NULL), -1);
	str_release(&text);
}

Test(dsn, envelope_id)
{
	static const struct { const char *in; int want; } rows[] = {
		{ "QQ314159", 0 }, { "a+3Db", 0 }, { "", -1 }, { "a+00", -1 },
		{ "a=b", -1 }, { "a b", -1 }, { "\xc3\xa9", -1 },
	};
	struct str text = STR_INIT;

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(dsn_envid_check(slice_of(rows[i].in), NULL),
		    rows[i].want, "%s", rows[i].in);
	repeat(&text, "", 100);
	cr_expect_eq(dsn_envid_check(str_slice(&text), NULL), 0);
	str_addc(&text, 'x');
	cr_expect_eq(dsn_envid_check(str_slice(&text), NULL), -1);
	str_release(&text);
}

Test(dsn, who_gets_a_report)
{
	static const struct {
		unsigned	notify;
		bool		success, failure, delay;
	} rows[] = {
		{ DSN_NOTIFY_DEFAULT, false, true, true },
		{ NEVER, false, false, false },
		{ SUCCESS, true, false, false },
		{ FAILURE, false, true, false },
		{ DELAY, false, false, true },
		{ SUCCESS | FAILURE | DELAY, true, true, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned notify = rows[i].notify;

		cr_expect_eq(dsn_wants(notify, SUCCESS), rows[i].success);
		cr_expect_eq(dsn_wants(notify, FAILURE), rows[i].failure);
		cr_expect_eq(dsn_wants(notify, DELAY), rows[i].delay);
	}
}
