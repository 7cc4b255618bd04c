/* test_dkim2_sign.c - chains that we sign are chains that we verify
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "origin/dkim2/bounce.h"
#include "origin/dkim2/dkim2.h"
#include "origin/dkim2/sign.h"
#include "tls/dkim.h"

#include "base/banned.h"

enum { BITS = 1024, NOW_S = 1795432208 };

static struct arena *arena;
static struct answers *answers;
static struct evp_pkey_st *keys[2];	/* by enum verify_kind */
static const struct dkim2_sign_key sign_keys[] = {
	{ { "rsa", 3 }, VERIFY_RSA_SHA256 },
	{ { "ed", 2 }, VERIFY_ED25519_SHA256 }
};

static void
setup(void)
{
	static const char *const domains[] = { "a.test", "l.test" };
	struct str zone = STR_INIT;
	struct err err;

	arena = arena_new();
	answers = answers_new(arena);
	for (size_t i = 0; i < 2; i++) {
		struct str pem = STR_INIT, half = STR_INIT;
		enum verify_kind kind = sign_keys[i].kind, read;

		cr_assert_eq(dkim_key_make(kind, BITS, &pem, &err), 0);
		keys[kind] = dkim_private_read(str_slice(&pem), &err);
		cr_assert_not_null(keys[kind], "%s", err.text);
		cr_assert_eq(dkim_key_public(str_slice(&pem), &half, &read,
		    &err), 0);
		for (size_t k = 0; k < 2; k++)
			str_addf(&zone, SLICE_FMT "._domainkey.%s TXT v=DKIM1;"
			    " k=%s; p=%s\n", SLICE_ARG(sign_keys[i].selector),
			    domains[k], i == 0 ? "rsa" : "ed25519", half.buf);
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

TestSuite(dkim2_sign, .init = setup, .fini = teardown, .timeout = 60);

#define BODY "hello\n\n  there \n\n\n"

static const char *
hop_of(const char *domain, const char *sender, const char *rcpt,
    const char *before, const char *header, const char *body,
    struct err *err)
{
	struct slice to = slice_of(rcpt), signatures[2];
	unsigned char body_sum[DIGEST_SHA256_BYTES];
	const struct dkim2_sign sign = { .domain = slice_of(domain),
	    .keys = sign_keys, .key_count = 2, .time_s = NOW_S,
	    .sender = slice_of(sender), .rcpts = &to, .rcpt_count = 1,
	    .flags = DKIM2_EXPLODED | DKIM2_FEEDBACK, .body_sum = body_sum,
	    .before = slice_of(before) };
	struct dkim2_signing signing;
	struct str out = STR_INIT;
	const char *text;

	cr_assert_eq(dkim2_sign_body(slice_of(body), body_sum), 0);
	if (dkim2_sign_begin(&sign, slice_of(header), arena, &signing,
	    err) != 0)
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		struct str bytes = STR_INIT;

		cr_assert_eq(dkim_private_sign(keys[sign_keys[i].kind],
		    signing.sum, &bytes, err), 0);
		signatures[i] = slice_copy(arena, str_slice(&bytes));
		str_release(&bytes);
	}
	dkim2_sign_end(&sign, &signing, signatures, &out);
	str_adds(&out, header);
	text = slice_dup(arena, str_slice(&out));
	str_release(&out);
	return text;
}

/* The header with a hop in front; NULL: err says why not. */
static const char *
hop(const char *domain, const char *sender, const char *rcpt,
    const char *before, const char *header, struct err *err)
{
	return hop_of(domain, sender, rcpt, before, header, BODY, err);
}

static void
judge(const char *header, const char *sender, const char *rcpt,
    struct dkim2 *out)
{
	struct slice to = slice_of(rcpt);
	struct dkim2_mail mail = { .message = slice_of(arena_printf(arena,
	    "%s\n" BODY, header)), .has_sender = true,
	    .sender = slice_of(sender), .rcpts = &to, .rcpt_count = 1,
	    .received_s = NOW_S + 5 };

	(void)dkim2_judge(answers, &mail, arena, out);
}

#define HEADER "Received: from a\n\tby b; now\nFrom: Ann <ann@a.test>\n" \
	"to:list@l.test\nSubject:  two   blanks\n and a fold \nX-A: b\n"

Test(dkim2_sign, the_verifier_passes_what_was_signed)
{
	static const char *const headers[] = { HEADER, "Subject: none\n", "",
	    "From: a@a.test\r\nTo: b@c\r\n", HEADER HEADER };
	static const char *const senders[] = { "ann@a.test", "ann@b.a.test",
	    "" };

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		for (size_t k = 0; k < 3; k++) {
			struct dkim2 out;
			struct err err = { "" };
			const char *text = hop("a.test", senders[k],
			    "bob@b.test", "", headers[i], &err);

			cr_assert_not_null(text, "row %zu: %s", i, err.text);
			judge(text, senders[k], "bob@b.test", &out);
			cr_expect_eq(out.origin, ORIGIN_PASS, "row %zu: %s "
			    "in\n%s", i, out.reason, text);
			cr_expect_eq(out.hops[0].flags, DKIM2_EXPLODED |
			    DKIM2_FEEDBACK);
			judge(text, senders[k], "eve@b.test", &out);
			cr_expect_eq(out.origin, ORIGIN_PERMERROR);
		}
}

/* The second hop changes the header; each row is what it becomes. */
Test(dkim2_sign, a_hop_that_changes_the_header_says_how)
{
	static const struct {
		const char *header;
		unsigned revisions;
	} rows[] = {
		{ HEADER, 1 },
		{ "Received: from c\n" HEADER "X-New: one\n", 1 },
		{ HEADER "List-Id: l\n", 2 },
		{ "From: Ann <ann@a.test>\nto:list@l.test\n"
		    "Subject: [list] \xc3\xa9 other\n", 2 },
		{ "From: list\n", 2 },
		{ "Subject: above\n" HEADER, 2 },
		{ HEADER "Subject: below\nSubject: and below\n", 2 },
	};
	struct err err = { "" };
	const char *first = hop("a.test", "ann@a.test", "list@l.test", "",
	    HEADER, &err), *chain = slice_dup(arena, slice_first(slice_of(
	    first), strlen(first) - strlen(HEADER)));

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = hop("l.test", "own@l.test", "bob@b.test",
		    first, arena_printf(arena, "%s%s", chain,
		    rows[i].header), &err);
		struct dkim2 out;

		cr_assert_not_null(text, "row %zu: %s", i, err.text);
		judge(text, "own@l.test", "bob@b.test", &out);
		cr_expect_eq(out.origin, ORIGIN_PASS, "row %zu: %s in\n%s", i,
		    out.reason, text);
		cr_expect_eq(out.count, 2);
		cr_expect_eq(out.revisions, rows[i].revisions, "row %zu", i);
	}
}

Test(dkim2_sign, what_does_not_hold_is_not_signed_on)
{
	struct err err = { "" };
	const char *first = hop("a.test", "ann@a.test", "list@l.test", "",
	    HEADER, &err);

	cr_expect_null(hop("x.test", "own@x.test", "b@b.test", first, first,
	    &err));
	cr_expect_str_eq(err.text, "DKIM2-Signature i=2 MAIL FROM "
	    "<own@x.test> did not match: i=1 did not send it there");
	cr_expect_null(hop("l.test", "own@l.test", "b@b.test", "Subject: x\n",
	    arena_printf(arena, "%sTo: x\n", first), &err));
	cr_expect_str_eq(err.text, "its header was not as it was signed when "
	    "it came");
	cr_expect_null(hop("l.test", "own@l.test", "b@b.test", "",
	    "Message-Instance: m=1\n", &err));
	cr_expect_str_eq(err.text, "it has a Message-Instance that nobody "
	    "signed");
	cr_expect_null(hop("l.test", "own@l.test", "b@b.test", "",
	    "DKIM2-Signature: i=1\n", &err));
	cr_expect_str_eq(err.text, "DKIM2-Signature i=1 tag=m missing");
}

Test(dkim2_sign, who_may_sign_for_whom)
{
	cr_expect(dkim2_sign_fits(SLICE("a.test"), SLICE("x@a.test")));
	cr_expect(dkim2_sign_fits(SLICE("a.test"), SLICE("x@B.A.test")));
	cr_expect(dkim2_sign_fits(SLICE("a.test"), SLICE("")));
	cr_expect_not(dkim2_sign_fits(SLICE("b.a.test"), SLICE("x@a.test")));
	cr_expect_not(dkim2_sign_fits(SLICE("a.test"), SLICE("x@ba.test")));
	cr_expect_not(dkim2_sign_fits(SLICE("a.test"), SLICE("x")));
}

/* ---- reports ---------------------------------------------------------- */

#define REPORT "From: MAILER-DAEMON@l.test\nTo: ann@a.test\n" \
	"Content-Type: multipart/report; report-type=delivery-status;\n" \
	"\tboundary=\"b\"\n"

/* A report that returns text, of this type, signed by domain and judged where
 * it came to rcpt; domain NULL: by nobody. */
static enum origin
judge_report(const char *domain, const char *rcpt, const char *type,
    const char *text, struct dkim2 *out)
{
	const char *body = arena_printf(arena, "--b\n\nIt is not there.\n"
	    "--b\nContent-Type: message/delivery-status\n\nStatus: 5.1.1\n"
	    "\n--b\nContent-Type: %s\n\n%s\n--b--\n", type, text);
	struct err err = { "" };
	const char *header = domain == NULL ? REPORT : hop_of(domain, "", rcpt,
	    "", REPORT, body, &err);
	struct slice to = slice_of(rcpt);
	const struct dkim2_mail mail = { .has_sender = true, .rcpts = &to,
	    .message = slice_of(arena_printf(arena, "%s\n%s", header, body)),
	    .rcpt_count = 1, .received_s = NOW_S + 5 };

	cr_assert_not_null(header, "%s", err.text);
	(void)dkim2_judge(answers, &mail, arena, out);
	return dkim2_bounce_judge(answers, &mail, arena, out);
}

Test(dkim2_sign, a_report_is_about_mail_of_whom_it_comes_to)
{
	static const struct {
		const char	*domain, *rcpt, *type, *is_changed;
		enum origin	 origin;
		const char	*why;
	} rows[] = {
		{ "l.test", "ann@a.test", "message/rfc822", NULL, ORIGIN_PASS,
		    "1 hop" },
		{ "l.test", "ann@a.test", "text/rfc822-headers", NULL,
		    ORIGIN_PASS, "1 hop" },
		{ "l.test", "ann@a.test", "Message/Global; x=y", NULL,
		    ORIGIN_PASS, "1 hop" },
		{ "a.test", "ann@a.test", "message/rfc822", NULL, ORIGIN_FAIL,
		    "who signed it is not whom the message was sent to" },
		{ "l.test", "eve@a.test", "message/rfc822", NULL, ORIGIN_FAIL,
		    "sent by another than whom it comes to" },
		{ "l.test", "ann@a.test", "message/rfc822", "hello",
		    ORIGIN_FAIL,
		    "the report returns: Message-Instance m=1 body hash" },
		{ "l.test", "ann@a.test", "text/rfc822-headers", "Subject",
		    ORIGIN_FAIL,
		    "the report returns: Message-Instance m=1 header hash" },
		/* nothing can be said of these */
		{ "l.test", "ann@a.test", "text/plain", NULL, ORIGIN_PASS,
		    "1 hop" },
		{ NULL, "ann@a.test", "message/rfc822", NULL, ORIGIN_NONE,
		    "nobody signed" },
	};
	struct err err = { "" };
	const char *first = hop("a.test", "ann@a.test", "list@l.test", "",
	    HEADER, &err);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is_header = strcmp(rows[i].type,
		    "text/rfc822-headers") == 0;
		char *text = slice_dup(arena, slice_of(arena_printf(arena,
		    "%s\n%s", first, is_header ? "" : BODY)));
		struct dkim2 out;

		if (rows[i].is_changed != NULL)
			strstr(text, rows[i].is_changed)[1] ^= 1;
		cr_expect_eq(judge_report(rows[i].domain, rows[i].rcpt,
		    rows[i].type, text, &out), rows[i].origin, "row %zu: %s",
		    i, out.reason);
		cr_expect_eq(out.origin, rows[i].origin, "row %zu", i);
		cr_expect_not_null(strstr(out.reason, rows[i].why),
		    "row %zu: %s", i, out.reason);
	}
}

/* What nobody signed by DKIM2 may be returned by anybody. */
Test(dkim2_sign, a_report_about_unsigned_mail_is_judged_alone)
{
	struct dkim2 out;

	cr_expect_eq(judge_report("l.test", "ann@a.test", "message/rfc822",
	    HEADER "\n" BODY, &out), ORIGIN_PASS, "%s", out.reason);
}

Test(dkim2_sign, the_last_hop_says_whom_to_tell)
{
	struct err err = { "" };
	const char *first = hop("a.test", "ann@a.test", "list@l.test", "",
	    HEADER, &err), *second = hop("l.test", "own@l.test", "bob@b.test",
	    first, first, &err);
	struct dkim2_hop last;

	cr_assert_not_null(second, "%s", err.text);
	cr_assert(dkim2_last_hop(slice_of(second), arena, &last));
	cr_expect(slice_is(last.sender, "own@l.test"));
	cr_assert_eq(last.to_count, 1);
	cr_expect(slice_is(last.to[0], "bob@b.test"));
	cr_expect_not(dkim2_last_hop(SLICE(HEADER), arena, &last));
	cr_expect_not(dkim2_last_hop(SLICE("DKIM2-Signature: i=2\n"), arena,
	    &last));
}
