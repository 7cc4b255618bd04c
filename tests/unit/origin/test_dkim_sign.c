/* test_dkim_sign.c - what we sign is what others verify
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "origin/dkim/dkim.h"
#include "origin/dkim/sign.h"
#include "tls/dkim.h"

#include "base/banned.h"

enum { BITS = 1024, NOW_S = 1795432208 };

static struct arena *arena;
static struct answers *answers;
static struct evp_pkey_st *keys[2];	/* by enum verify_kind */
static const char *const selectors[] = { "rsa", "ed" };

static void
setup(void)
{
	struct str zone = STR_INIT;
	struct err err;

	arena = arena_new();
	answers = answers_new(arena);
	for (enum verify_kind kind = VERIFY_RSA_SHA256;
	    kind <= VERIFY_ED25519_SHA256; kind++) {
		struct str pem = STR_INIT, half = STR_INIT;
		enum verify_kind read_kind;

		cr_assert_eq(dkim_key_make(kind, BITS, &pem, &err), 0);
		keys[kind] = dkim_private_read(str_slice(&pem), &err);
		cr_assert_not_null(keys[kind], "%s", err.text);
		cr_assert_eq(dkim_key_public(str_slice(&pem), &half,
		    &read_kind, &err), 0);
		cr_assert_eq(read_kind, kind);
		str_addf(&zone, "%s._domainkey.sign.test TXT v=DKIM1; k=%s; "
		    "p=%s\n", selectors[kind], kind == VERIFY_RSA_SHA256 ?
		    "rsa" : "ed25519", half.buf);
		str_release(&pem);
		str_release(&half);
	}
	cr_assert_eq(answers_read_zone(answers, str_slice(&zone), &err), 0,
	    "%s", err.text);
	str_release(&zone);
}

static void
teardown(void)
{
	dkim_private_free(&keys[0]);
	dkim_private_free(&keys[1]);
	arena_free(&arena);
}

TestSuite(dkim_sign, .init = setup, .fini = teardown, .timeout = 60);

/* Append a signature of header and body. */
static void
sign(enum verify_kind kind, const char *header, const char *body,
    struct str *out)
{
	unsigned char body_sum[DIGEST_SHA256_BYTES], sum[DIGEST_SHA256_BYTES];
	struct dkim_sign one = { SLICE("sign.test"),
	    slice_of(selectors[kind]), kind, NOW_S, body_sum };
	struct str signature = STR_INIT;
	struct err err;

	cr_assert_eq(dkim_sign_body(slice_of(body), body_sum), 0);
	cr_assert_eq(dkim_sign_begin(&one, slice_of(header), arena, out, sum),
	    0);
	cr_assert_eq(dkim_private_sign(keys[kind], sum, &signature, &err), 0,
	    "%s", err.text);
	dkim_sign_end(out, str_slice(&signature));
	str_release(&signature);
}

/* Judge a message of three parts. */
static enum origin
judge(const char *signature, const char *header, const char *body,
    const char **out_reason)
{
	struct dkim all[DKIM_SIGNATURES_MAX];
	struct str message = STR_INIT;
	size_t n, found;
	enum origin origin;

	str_adds(&message, signature);
	str_adds(&message, header);
	str_adds(&message, "\n");
	str_adds(&message, body);
	origin = dkim_judge(answers, &(struct dkim_ask){
	    .message = str_slice(&message), .received_s = NOW_S + 5 }, arena,
	    all, &n, &found);
	*out_reason = n > 0 && all[0].reason != NULL ? all[0].reason : "";
	str_release(&message);
	return origin;
}

#define HEADER "Received: from a\n\tby b; now\nFrom: Ann <ann@sign.test>\n" \
	"to:bob@example.net\nSubject:  two   blanks\n and a fold \n"

Test(dkim_sign, the_verifier_passes_what_was_signed)
{
	static const struct {
		const char *header, *body;
	} rows[] = {
		{ HEADER, "hello  \n\n  there\t x\n\n\n" },
		{ HEADER, "" },
		{ HEADER, "no end of line" },
		{ HEADER, "\n\n" },
		{ HEADER "Cc: a@b\nCc: c@d\nList-Id: <l.sign.test>\n",
		    "\xe4\xf6 8bit\n.\n..\n" },
		{ "From: a@sign.test\r\nTo: b@c\r\n", "crlf\r\nlines\r\n" },
		{ "From: a@sign.test\nDKIM-Signature: v=1; d=other.test\n",
		    "x\n" },
		{ "Subject: none\n", "x\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (enum verify_kind kind = VERIFY_RSA_SHA256;
		    kind <= VERIFY_ED25519_SHA256; kind++) {
			struct str field = STR_INIT;
			const char *reason;

			sign(kind, rows[i].header, rows[i].body, &field);
			/* a message without From is signed by nobody */
			cr_expect_eq(judge(field.buf, rows[i].header,
			    rows[i].body, &reason), ORIGIN_PASS,
			    "row %zu: %s in\n%s", i, reason, field.buf);
			str_release(&field);
		}
}

Test(dkim_sign, nothing_can_be_changed_or_added)
{
	static const struct {
		const char *header, *body;
	} rows[] = {
		{ HEADER, "hellO\n" },
		{ HEADER, "hello\nmore\n" },
		{ HEADER "Subject: another\n", "hello\n" },
		{ HEADER "Date: now\n", "hello\n" },
		{ "From: eve@evil.test\n" HEADER, "hello\n" },
		{ HEADER "Reply-To: eve@evil.test\n", "hello\n" },
		{ HEADER "Content-Type: text/html\n", "hello\n" },
		{ HEADER "MIME-Version: 1.0\n", "hello\n" },
		{ HEADER "List-Unsubscribe: <https://evil.test>\n",
		    "hello\n" },
		{ HEADER "List-Unsubscribe-Post: List-Unsubscribe=One-Click\n",
		    "hello\n" },
	};
	struct str field = STR_INIT;
	const char *reason;

	sign(VERIFY_ED25519_SHA256, HEADER, "hello\n", &field);
	cr_assert_eq(judge(field.buf, HEADER, "hello\n", &reason),
	    ORIGIN_PASS);
	/* what says nothing about the message may come */
	cr_expect_eq(judge(field.buf, "Return-Path: <x@y>\n" HEADER
	    "X-Seen: yes\n", "hello\n", &reason), ORIGIN_PASS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(judge(field.buf, rows[i].header, rows[i].body,
		    &reason), ORIGIN_FAIL, "row %zu", i);
	str_release(&field);
}

Test(dkim_sign, two_keys_sign_side_by_side)
{
	struct str fields = STR_INIT;
	struct dkim all[DKIM_SIGNATURES_MAX];
	size_t n, found;

	sign(VERIFY_RSA_SHA256, HEADER, "x\n", &fields);
	sign(VERIFY_ED25519_SHA256, HEADER, "x\n", &fields);
	str_adds(&fields, HEADER "\nx\n");
	cr_expect_eq(dkim_judge(answers, &(struct dkim_ask){
	    .message = str_slice(&fields), .received_s = NOW_S }, arena, all,
	    &n, &found), ORIGIN_PASS);
	cr_assert_eq(n, 2);
	cr_expect_eq(all[0].origin, ORIGIN_PASS);
	cr_expect_eq(all[1].origin, ORIGIN_PASS);
	str_release(&fields);
}

Test(dkim_sign, lines_are_short_and_no_tag_is_too_much)
{
	struct str field = STR_INIT;
	struct slice rest, line;

	sign(VERIFY_RSA_SHA256, HEADER, "x\n", &field);
	rest = str_slice(&field);
	cr_expect(slice_starts(rest, "DKIM-Signature: v=1; a=rsa-sha256; "
	    "c=relaxed/relaxed;"));
	cr_expect_not_null(strstr(field.buf, "t=1795432208;"));
	cr_expect_null(strstr(field.buf, "l="));
	while (slice_cut(&rest, '\n', &line) && rest.p != NULL)
		cr_expect_leq(line.n, 78, SLICE_FMT, SLICE_ARG(line));
	str_release(&field);
}

Test(dkim_sign, one_that_is_there_is_found)
{
	static const struct {
		const char *header;
		bool is_there;
	} rows[] = {
		{ "From: a\n", false },
		{ "DKIM-Signature: v=1; d=sign.test; s=rsa; b=x\n", true },
		{ "DKIM-Signature: v=1; d=Sign.Test;\n\ts=RSA; b=x\n", true },
		{ "DKIM-Signature: v=1; d=sign.test; s=ed; b=x\n", false },
		{ "DKIM-Signature: v=1; d=x.test; s=rsa; b=x\n", false },
		{ "no field\nDKIM-Signature: d=sign.test; s=rsa\n", true },
		{ "DKIM-Signature: d=sign.test; s=rsa; s=rsa\n", false },
	};
	const struct dkim_sign one = { .domain = SLICE("sign.test"),
		.selector = SLICE("rsa") };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(dkim_sign_is_there(slice_of(rows[i].header),
		    &one), rows[i].is_there, "row %zu", i);
}
