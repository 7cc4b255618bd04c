/* test_sts.c - records and policies of MTA-STS, good and bad
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "grammar/sts.h"

static const struct {
	const char	*text, *id;	/* NULL: it is no record */
	bool		 is_one;
} records[] = {
	{ "v=STSv1; id=20160831085700Z;", "20160831085700Z", true },
	{ "v=STSv1;id=1", "1", true },
	{ "v=STSv1 ; id=a1 ; ", "a1", true },
	{ "v=STSv1; x-y_z.1=~!:<>; id=1;", "1", true },
	{ "v=STSv1; id=1; id=2;", "1", true },
	{ "v=STSv1; id=12345678901234567890123456789012",
	    "12345678901234567890123456789012", true },
	/* claims to be one, and is none: RFC 8461 section 3.1 */
	{ "v=STSv1;", NULL, true },
	{ "v=STSv1; id=", NULL, true },
	{ "v=STSv1; id=a-b", NULL, true },
	{ "v=STSv1; id=a b", NULL, true },
	{ "v=STSv1; id=123456789012345678901234567890123", NULL, true },
	{ "v=STSv1;; id=1", NULL, true },
	{ "v=STSv1; id=1; novalue", NULL, true },
	{ "v=STSv1; id=1; =x", NULL, true },
	{ "v=STSv1; id=1; x=", NULL, true },
	{ "v=STSv1; id=1; x=a=b", NULL, true },
	{ "v=STSv1; ID=1", NULL, true },
	/* somebody else's */
	{ "v=STSv1", NULL, false },
	{ "v=STSv12; id=1", NULL, false },
	{ "V=STSv1; id=1", NULL, false },
	{ " v=STSv1; id=1", NULL, false },
	{ "v=spf1 -all", NULL, false },
	{ "", NULL, false },
};

Test(sts, records)
{
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct slice text = slice_of(records[i].text);
		char id[STS_ID_BYTES];
		struct err err;
		int result = sts_record_parse(text, id, &err);

		cr_expect_eq(sts_record_is(text), records[i].is_one, "row %zu",
		    i);
		cr_expect_eq(result, records[i].id != NULL ? 0 : -1,
		    "row %zu", i);
		if (result == 0 && records[i].id != NULL)
			cr_expect_str_eq(id, records[i].id);
	}
}

#define HEAD "version: STSv1\n"

static const struct {
	const char	*text;
	const char	*words;	/* NULL: it is none, and err has */
	const char	*err;
} policies[] = {
	{ "version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\n"
	    "mx: *.example.net\r\nmx: backupmx.example.com\r\n"
	    "max_age: 604800\r\n",
	    "enforce 604800 - mail.example.com *.example.net "
	    "backupmx.example.com", NULL },
	{ HEAD "mode: testing\nmx:a.b\nmax_age:1", "testing 1 - a.b", NULL },
	{ "mode: none\nmax_age: 0\n" HEAD, "none 0 -", NULL },
	{ HEAD "mode: enforce \t\r\n\r\nmx:\t A.Example.\r\nmax_age: 5 \r\n",
	    "enforce 5 - a.example", NULL },
	{ HEAD "mode: enforce\nmode: none\nmx: a.b\nmax_age: 7\nmax_age: x\n"
	    "new_field.1: any thing\nversion: 2\n", "enforce 7 - a.b", NULL },
	{ HEAD "mode: enforce\nmx: a.b\nmax_age: 9999999999",
	    "enforce 31557600 - a.b", NULL },
	/* U-labels: Stalwart's bug of next.md A3 */
	{ HEAD "mode: enforce\nmx: *.b\xc3\xbc" "cher.example\nmax_age: 9",
	    "enforce 9 - *.xn--bcher-kva.example", NULL },
	/* what is missing */
	{ "", NULL, "no version" },
	{ "mode: none\nmax_age: 1", NULL, "no version" },
	{ HEAD "mx: a.b\nmax_age: 1", NULL, "no mode" },
	{ HEAD "mode: enforce\nmx: a.b", NULL, "no max_age" },
	{ HEAD "mode: enforce\nmax_age: 1", NULL, "no mx" },
	/* what is wrong */
	{ "version: STSv2\n", NULL, "line 1 of the policy: version" },
	{ HEAD "mode: Enforce\n", NULL, "line 2 of the policy: mode" },
	{ HEAD "max_age: 12345678901\n", NULL, "max_age" },
	{ HEAD "max_age: -1\n", NULL, "max_age" },
	{ HEAD "max_age:\n", NULL, "max_age" },
	{ HEAD "mx: *\n", NULL, "no host name" },
	{ HEAD "mx: a.*.b\n", NULL, "no host name" },
	{ HEAD "mx: *.*.b\n", NULL, "no host name" },
	{ HEAD "mx: .b\n", NULL, "no host name" },
	{ HEAD "mx: a..b\n", NULL, "no host name" },
	{ HEAD "mx: 192.0.2.1\n", NULL, "no host name" },
	{ HEAD "mx: a b\n", NULL, "no host name" },
	{ HEAD "mx: \xff.b\n", NULL, "no host name" },
	{ HEAD "mx: -a.b\n", NULL, "no host name" },
	{ "<html>\n", NULL, "line 1 of the policy is no KEY" },
	{ HEAD ": x\n", NULL, "no KEY" },
	{ HEAD "novalue\n", NULL, "no KEY" },
};

Test(sts, policies)
{
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		struct str words = STR_INIT, again = STR_INIT;
		struct sts_policy policy, copy;
		struct err err = { "" };
		int result = sts_policy_parse(slice_of(policies[i].text),
		    &policy, &err);

		cr_expect_eq(result, policies[i].words != NULL ? 0 : -1,
		    "row %zu: %s", i, err.text);
		if (policies[i].err != NULL)
			cr_expect(strstr(err.text, policies[i].err) != NULL,
			    "row %zu: %s", i, err.text);
		if (result < 0)
			continue;
		sts_policy_add_words(&words, &policy);
		cr_expect_str_eq(words.buf, policies[i].words);
		cr_expect_eq(sts_policy_read_words(str_slice(&words), &copy,
		    &err), 0, "row %zu: %s", i, err.text);
		sts_policy_add_words(&again, &copy);
		cr_expect_str_eq(again.buf, words.buf);
		str_reset(&again);
		sts_policy_add_file(&again, &policy);
		cr_expect_eq(sts_policy_parse(str_slice(&again), &copy, &err),
		    0, "row %zu: %s", i, err.text);
		str_release(&again);
		str_release(&words);
	}
}

Test(sts, what_is_too_much_is_no_policy)
{
	struct str text = STR_INIT;
	struct sts_policy policy;
	struct err err;

	str_adds(&text, HEAD "mode: enforce\nmax_age: 1\n");
	for (int i = 0; i < STS_MX_MAX; i++)
		str_addf(&text, "mx: h%d.example\n", i);
	cr_expect_eq(sts_policy_parse(str_slice(&text), &policy, &err), 0);
	cr_expect_eq(policy.mx_count, STS_MX_MAX);
	cr_expect_str_eq(sts_policy_mx(&policy, STS_MX_MAX - 1),
	    "h99.example");
	cr_expect_null(sts_policy_mx(&policy, STS_MX_MAX));
	str_adds(&text, "mx: more.example\n");
	cr_expect_eq(sts_policy_parse(str_slice(&text), &policy, &err), -1);
	cr_expect(strstr(err.text, "more mx than are taken") != NULL);
	str_reset(&text);
	str_adds(&text, HEAD);
	while (text.len <= STS_BODY_BYTES_MAX)
		str_adds(&text, "x: y\n");
	cr_expect_eq(sts_policy_parse(str_slice(&text), &policy, &err), -1);
	cr_expect_eq(sts_policy_parse((struct slice){ HEAD "\0", sizeof(HEAD)
	    }, &policy, &err), -1);
	str_release(&text);
}

static const struct {
	const char	*pattern, *host;
	bool		 fits;
} matches[] = {		/* RFC 8461 section 4.1 */
	{ "mx.example.com", "mx.example.com", true },
	{ "mx.example.com", "MX.Example.COM", true },
	{ "mx.example.com", "mx.example.com.", true },
	{ "mx.example.com", "mx2.example.com", false },
	{ "*.example.com", "mx.example.com", true },
	{ "*.example.com", "a.mx.example.com", false },
	{ "*.example.com", "example.com", false },
	{ "*.example.com", "mx.notexample.com", false },
	{ "*.example.com", "mxexample.com", false },
	{ "*.com", "example.com", true },
	{ "b\xc3\xbc" "cher.example", "xn--bcher-kva.example", true },
	{ "xn--bcher-kva.example", "b\xc3\xbc" "cher.example", true },
	{ "*.b\xc3\xbc" "cher.example", "mx.xn--bcher-kva.example", true },
	{ "*.example.com", "192.0.2.1", false },
	{ "*.example.com", "", false },
};

Test(sts, hosts_match_by_their_left_most_label_alone)
{
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
		struct sts_policy policy = { .mode = STS_ENFORCE };

		cr_expect(sts_policy_add_mx(&policy, SLICE("other.test")));
		cr_expect(sts_policy_add_mx(&policy,
		    slice_of(matches[i].pattern)), "row %zu", i);
		cr_expect_eq(sts_policy_allows(&policy,
		    slice_of(matches[i].host)), matches[i].fits, "row %zu",
		    i);
	}
}

Test(sts, words_that_are_none)
{
	static const char *const rows[] = {
		"", "enforce", "enforce 1", "enforce 1 -", "enforce x - a.b",
		"enforce 31557601 - a.b", "maybe 1 - a.b", "enforce 1 a-b a.b",
		"enforce 1 - *", "testing 1 -",
	};
	struct sts_policy policy;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(sts_policy_read_words(slice_of(rows[i]), &policy,
		    &err), -1, "row %zu", i);
}
