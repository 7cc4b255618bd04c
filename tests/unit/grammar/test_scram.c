/* test_scram.c - the messages of SCRAM, and what is none
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "grammar/smtp/scram.h"

#include "base/banned.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(scram, first)
{
	static const struct {
		const char	*in;
		int		 rc;
		const char	*gs2, *user, *nonce, *authzid, *binding;
	} rows[] = {
		/* RFC 7677 section 3, RFC 5802 section 5 */
		{ "n,,n=user,r=rOprNGfwEbeRWgbNEkqO", 0, "n,,", "user",
		    "rOprNGfwEbeRWgbNEkqO", "", "" },
		{ "y,,n=user,r=abc", 0, "y,,", "user", "abc", "", "" },
		{ "p=tls-exporter,,n=u,r=x", 0, "p=tls-exporter,,", "u", "x",
		    "", "tls-exporter" },
		{ "n,a=other,n=u,r=x", 0, "n,a=other,", "u", "x", "other",
		    "" },
		{ "n,,n=a=2Cb=3Dc,r=x,future=1", 0, "n,,", "a,b=c", "x", "",
		    "" },
		{ "n,,n=\303\244,r=x", 0, "n,,", "\303\244", "x", "", "" },
		{ .in = "", .rc = -1 },
		{ .in = "n", .rc = -1 },
		{ .in = "n,,", .rc = -1 },
		{ .in = "x,,n=u,r=x", .rc = -1 },
		{ .in = "p=,,n=u,r=x", .rc = -1 },
		{ .in = "p=a b,,n=u,r=x", .rc = -1 },
		{ .in = "n,b=c,n=u,r=x", .rc = -1 },
		{ .in = "n,a=,n=u,r=x", .rc = -1 },
		{ .in = "n,,m=ext,n=u,r=x", .rc = -1 },
		{ .in = "n,,r=x,n=u", .rc = -1 },
		{ .in = "n,,n=,r=x", .rc = -1 },
		{ .in = "n,,n=u", .rc = -1 },
		{ .in = "n,,n=u,r=", .rc = -1 },
		{ .in = "n,,n=u,r=a b", .rc = -1 },
		{ .in = "n,,n=a=2c,r=x", .rc = -1 },
		{ .in = "n,,n=a=,r=x", .rc = -1 },
		{ .in = "n,,n=a=2,r=x", .rc = -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scram_first first;
		struct err err;

		cr_expect_eq(scram_first_parse(slice_of(rows[i].in), &first,
		    &err), rows[i].rc, "%s", rows[i].in);
		if (rows[i].rc != 0)
			continue;
		cr_expect(slice_is(first.gs2, rows[i].gs2), "%s", rows[i].in);
		cr_expect_str_eq(first.user, rows[i].user);
		cr_expect_str_eq(first.authzid, rows[i].authzid);
		cr_expect(slice_is(first.nonce, rows[i].nonce));
		cr_expect(slice_is(first.binding_name, rows[i].binding));
		cr_expect_eq(first.gs2.n + first.bare.n, strlen(rows[i].in));
	}
}

Test(scram, bounds)
{
	struct str text = STR_INIT;
	struct scram_first first;

	str_adds(&text, "n,,n=");
	for (int i = 0; i < SCRAM_NAME_BYTES_MAX; i++)
		str_addc(&text, 'u');
	str_adds(&text, ",r=x");
	cr_expect_eq(scram_first_parse(str_slice(&text), &first, NULL), 0);
	str_reset(&text);
	str_adds(&text, "n,,n=");
	for (int i = 0; i <= SCRAM_NAME_BYTES_MAX; i++)
		str_addc(&text, 'u');
	str_adds(&text, ",r=x");
	cr_expect_eq(scram_first_parse(str_slice(&text), &first, NULL), -1);
	str_reset(&text);
	str_adds(&text, "n,,n=u,r=");
	for (int i = 0; i <= SCRAM_NONCE_BYTES_MAX; i++)
		str_addc(&text, 'r');
	cr_expect_eq(scram_first_parse(str_slice(&text), &first, NULL), -1);
	str_release(&text);
	cr_expect_eq(scram_first_parse(SLICE("n,,n=a\0b,r=x"), &first, NULL),
	    -1);
}

Test(scram, final)
{
	static const struct {
		const char *in; int rc; const char *binding, *nonce, *proof,
		    *bare;
	} rows[] = {
		{ "c=biws,r=abc,p=cHJvb2Y=", 0, "biws", "abc", "cHJvb2Y=",
		    "c=biws,r=abc" },
		{ "c=biws,r=abc,x=1,p=cA==", 0, "biws", "abc", "cA==",
		    "c=biws,r=abc,x=1" },
		{ .in = "", .rc = -1 },
		{ .in = "c=biws,r=abc", .rc = -1 },
		{ .in = "r=abc,c=biws,p=cA==", .rc = -1 },
		{ .in = "c=biws,r=abc,p=cA==,x=1", .rc = -1 },
		{ .in = "c=,r=abc,p=cA==", .rc = 0, "", "abc", "cA==",
		    "c=,r=abc" },
		{ .in = "c=biws,p=cA==", .rc = -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scram_final final;
		struct err err;

		cr_expect_eq(scram_final_parse(slice_of(rows[i].in), &final,
		    &err), rows[i].rc, "%s", rows[i].in);
		if (rows[i].rc != 0)
			continue;
		cr_expect(slice_is(final.binding, rows[i].binding));
		cr_expect(slice_is(final.nonce, rows[i].nonce));
		cr_expect(slice_is(final.proof, rows[i].proof));
		cr_expect(slice_is(final.bare, rows[i].bare));
	}
}
