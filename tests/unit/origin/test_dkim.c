/* test_dkim.c - who signed this message?
 *
 * The signatures were made by dkimpy.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "origin/dkim/internal.h"
#include "tls/digest.h"

#include "base/banned.h"

#define MESSAGE \
    "From: Ann <ann@sign.test>\r\n" \
    "To: bob@example.net\r\n" \
    "Subject:  two   blanks\r\n" \
    " and a fold\r\n" \
    "\r\n" \
    "hello  \r\n" \
    "\r\n" \
    "  there\t x\r\n" \
    "\r\n" \
    "\r\n"

#define SIGNED_RELAXED \
    "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=sign.test;\r\n" \
    " i=@sign.test; q=dns/txt; s=rsa; t=1795432208; h=from : to :" \
    " subject :\r\n" \
    " from; bh=tW/kJfJ79/LtwgGJhcCcR2Ztq9086VR28sAgPO7JT00=;\r\n" \
    " b=he9WrdUuCrciLHGh+0Xgdh+3e5A/moBoHoTg9FkZjev/5lQhcgy4SVKr+" \
    "07qOnEKzk/Nk\r\n" \
    " jSkUd2rtBEAavzq2plYtIvCohrV19CrV46Fy3LiC3CnFGvB/wwQg1A5Ey+o" \
    "XgtCCzEeR1SZ\r\n" \
    " HOpvQL//wCdZQKdh4mq6pWuTtN2mfcU=\r\n"

#define SIGNED_LENGTH \
    "DKIM-Signature: v=1; a=rsa-sha256; c=simple/simple; d=sign.test;\r\n" \
    " i=@sign.test; l=23; q=dns/txt; s=rsa; t=1795432208; h=from : to :\r\n" \
    " subject : from; bh=b6WzAJsSAixxHKtSbYBbjnU2U52ObNIb4EmpPiPIWpc=;\r\n" \
    " b=gPcQCVr3kxSlMkuWqOps3yOkBUIvgiOl+ohvG5TOgENDLQQdka1Tkkgrn" \
    "Iavs7nF97HuI\r\n" \
    " 29UOHS9k0PX+rg10gDGTHtcxp89YT08BXyikROLHwPJOZsSv5Xzkv1hDJMN" \
    "fihsvbu5MTo0\r\n" \
    " qPp1jHuw2UsiLOQTeMBGVQE5JILQ1SE=\r\n"

#define SIGNED_ED25519 \
    "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/simple; d=s" \
    "ign.test;\r\n" \
    " i=@sign.test; q=dns/txt; s=ed; t=1795432208; h=from : to : " \
    "subject :\r\n" \
    " from; bh=b6WzAJsSAixxHKtSbYBbjnU2U52ObNIb4EmpPiPIWpc=;\r\n" \
    " b=faVmtoXLFcCCSW7CJoNUkNBXqdCqa7FsPe+8sCvh3Wg4ihu2aF3AXHchs" \
    "N75poFIaJM0I\r\n" \
    " l7KiFZf9jXsU6Y3CQ==\r\n"

#define RSA_KEY \
    "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC4T6W6jlmEtok6tGFPjuMc" \
    "FkYjiW7mQUytUR4Zmzf1uqDHQJM46FLmpqikwqPufir6o3tBPvh+LmBibNn2" \
    "XI7XeKgJvUKrS6OqWzBm8i11GMikBfuAQkMC8XwEITmuARYUHmyGMSlE03O2" \
    "StLlmIn97HjNzrouh9fK0qdz+sOC8QIDAQAB"

#define SHORT_KEY \
    "MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBALNtaZXFyvUxVZBn1guiF/H4JtFd" \
    "uqw2lXOtXiIVcwsu4l8tqPrzKFTsXAQPBmLcW1nmRbRtu8Z1u7Fg5tVyr38C" \
    "AwEAAQ=="

#define ED25519_KEY "LWQmKxb0O6wadfg2u1Fs84Pt8jLbnTXeqjzItxh6XK4="

static struct arena *arena;
static struct answers *answers;

static void
setup(void)
{
	struct err err;

	arena = arena_new();
	answers = answers_new(arena);
	cr_assert_eq(answers_read_zone(answers, slice_of(
	    "rsa._domainkey.sign.test TXT v=DKIM1; t=y; p=" RSA_KEY "\n"
	    "ed._domainkey.sign.test TXT v=DKIM1; k=ed25519; p="
	    ED25519_KEY "\n"
	    "short._domainkey.sign.test TXT p=" SHORT_KEY "\n"
	    "none._domainkey.sign.test TXT v=DKIM1; p=\n"
	    "odd._domainkey.sign.test TXT v=DKIM2; p=" RSA_KEY "\n"
	    "two._domainkey.sign.test TXT x\n"
	    "two._domainkey.sign.test TXT p=" RSA_KEY "\n"
	    "sha1._domainkey.sign.test TXT h=sha1; p=" RSA_KEY "\n"
	    "tls._domainkey.sign.test TXT s=tlsrpt; p=" RSA_KEY "\n"
	    "strict._domainkey.sign.test TXT t=s; p=" RSA_KEY "\n"
	    "junk._domainkey.sign.test TXT p=AAAA\n"
	    "deaf._domainkey.sign.test SERVFAIL\n"), &err), 0, "%s",
	    err.text);
}

static void
teardown(void)
{
	arena_free(&arena);
}

TestSuite(dkim_judge, .init = setup, .fini = teardown, .timeout = 60);

static enum origin
judge(const char *message, int64_t received_s, struct dkim *out)
{
	struct dkim all[DKIM_SIGNATURES_MAX];
	size_t n, found;
	enum origin origin = dkim_judge(answers, &(struct dkim_ask){
	    .message = slice_of(message), .received_s = received_s }, arena,
	    all, &n, &found);

	cr_assert(n > 0 && found >= n);
	*out = all[0];
	return origin;
}

Test(dkim_judge, what_is_signed_passes_and_what_is_changed_fails)
{
	static const struct {
		const char	*message;
		enum origin	 origin;
		const char	*reason;
	} rows[] = {
		{ SIGNED_RELAXED MESSAGE, ORIGIN_PASS, "signed" },
		{ SIGNED_ED25519 MESSAGE, ORIGIN_PASS, "signed" },
		{ SIGNED_LENGTH MESSAGE, ORIGIN_PASS, "signed" },
		{ SIGNED_LENGTH MESSAGE "more\r\n", ORIGIN_PASS,
		    "signed, but for the last 10 bytes of the body (l=), "
		    "which anybody can have written" },
		{ SIGNED_RELAXED MESSAGE "more\r\n", ORIGIN_FAIL,
		    "the body is not as it was signed" },
		{ SIGNED_RELAXED "X-Other: 1\r\n" MESSAGE, ORIGIN_PASS,
		    "signed" },
		/* From is signed twice: one more is a change */
		{ "From: eve@evil.test\r\n" SIGNED_RELAXED MESSAGE,
		    ORIGIN_FAIL, "the header is not as it was signed" },
		{ SIGNED_RELAXED "From: ann@sign.test\r\n\r\nhello\r\n",
		    ORIGIN_FAIL, "the body is not as it was signed" },
	};
	struct dkim out;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(judge(rows[i].message, 0, &out), rows[i].origin,
		    "%zu: %s", i, out.reason);
		cr_expect(strstr(out.reason, rows[i].reason) == out.reason,
		    "%zu: %s", i, out.reason);
		cr_expect(slice_is(out.domain, "sign.test"));
	}
}

Test(dkim_judge, line_ends_are_taken_as_they_were_signed)
{
	const char *message = SIGNED_RELAXED SIGNED_ED25519 MESSAGE;
	struct str lines = STR_INIT;
	struct dkim all[DKIM_SIGNATURES_MAX];
	size_t n, found;

	for (; *message != '\0'; message++)
		if (*message != '\r')
			str_addc(&lines, *message);
	cr_expect_eq(dkim_judge(answers, &(struct dkim_ask){
	    .message = str_slice(&lines) }, arena, all, &n, &found),
	    ORIGIN_PASS);
	cr_assert_eq(n, 2);
	cr_expect(all[0].origin == ORIGIN_PASS &&
	    all[1].origin == ORIGIN_PASS, "%s, %s", all[0].reason,
	    all[1].reason);
	cr_expect(all[0].is_testing && all[0].key_bits == 1024);
	str_release(&lines);
}

#define ONE(tags) "DKIM-Signature: " tags "\r\n" MESSAGE
#define REST "; h=From; bh=AAAA; b=AAAA"

Test(dkim_judge, what_cannot_be_read_is_told)
{
	static const struct {
		const char	*message;
		enum origin	 origin;
		const char	*reason;
	} rows[] = {
		{ ONE(""), ORIGIN_PERMERROR, "no list of tags" },
		{ ONE("v=1; v=1"), ORIGIN_PERMERROR, "has one twice" },
		{ ONE("v=2; a=rsa-sha256; d=sign.test; s=rsa" REST),
		    ORIGIN_PERMERROR, "no v=1" },
		{ ONE("v=1; a=rsa-sha1; d=sign.test; s=rsa" REST),
		    ORIGIN_FAIL, "rsa-sha1" },
		{ ONE("v=1; a=dsa; d=sign.test; s=rsa" REST),
		    ORIGIN_PERMERROR, "a= of the signature is not known" },
		{ ONE("v=1; a=rsa-sha256; d=; s=rsa" REST),
		    ORIGIN_PERMERROR, "is no name" },
		{ ONE("v=1; a=rsa-sha256; d=a..b; s=rsa" REST),
		    ORIGIN_PERMERROR, "is no name" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; "
		    "i=@evil.test" REST), ORIGIN_PERMERROR, "i= of" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; "
		    "i=@xsign.test" REST), ORIGIN_PERMERROR, "i= of" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; c=nofws" REST),
		    ORIGIN_PERMERROR, "c= of" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; h=To; bh=AAAA;"
		    " b=AAAA"), ORIGIN_PERMERROR, "does not sign From" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; l=-1" REST),
		    ORIGIN_PERMERROR, "l= of the signature is no number" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; t=9; x=9" REST),
		    ORIGIN_PERMERROR, "ends before it begins" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; q=http" REST),
		    ORIGIN_PERMERROR, "q= of" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; h=From; "
		    "bh=AAAA; b=?"), ORIGIN_PERMERROR, "b= of" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; x=1000" REST),
		    ORIGIN_FAIL, "ended (x=)" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=rsa; l=9999" REST),
		    ORIGIN_FAIL, "shorter than what was signed" },
		/* keys */
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=gone" REST),
		    ORIGIN_PERMERROR, "is not published" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=none" REST),
		    ORIGIN_PERMERROR, "was revoked" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=odd" REST),
		    ORIGIN_PERMERROR, "a version that is not known" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=ed" REST),
		    ORIGIN_PERMERROR, "of another kind" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=sha1" REST),
		    ORIGIN_PERMERROR, "allows no sha256" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=tls" REST),
		    ORIGIN_PERMERROR, "is not for mail" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=strict; "
		    "i=a@b.sign.test" REST), ORIGIN_PERMERROR, "(t=s)" },
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=deaf" REST),
		    ORIGIN_TEMPERROR, "cannot be looked up now" },
		/* the second record of two is a key */
		{ ONE("v=1; a=rsa-sha256; d=sign.test; s=two" REST),
		    ORIGIN_FAIL, "the body is not as it was signed" },
	};
	struct dkim out;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)judge(rows[i].message, 2000, &out);
		cr_expect_eq(out.origin, rows[i].origin, "%zu: %s %s", i,
		    origin_text(out.origin), out.reason);
		cr_expect_not_null(strstr(out.reason, rows[i].reason),
		    "%zu: %s", i, out.reason);
	}
}

/* The body's sum is right, so the key is what is looked at. */
Test(dkim_judge, keys_that_prove_nothing_fail)
{
	static const char *const selectors[] = { "short", "junk" };
	static const char *const reasons[] = { "512 bits", "cannot be read" };
	struct str message = STR_INIT;
	struct dkim out;

	for (size_t i = 0; i < 2; i++) {
		str_reset(&message);
		str_addf(&message, "DKIM-Signature: v=1; a=rsa-sha256; "
		    "c=relaxed/relaxed; d=sign.test; s=%s; h=From; "
		    "bh=tW/kJfJ79/LtwgGJhcCcR2Ztq9086VR28sAgPO7JT00=; "
		    "b=AAAA\r\n" MESSAGE, selectors[i]);
		(void)judge(message.buf, 0, &out);
		cr_expect_not_null(strstr(out.reason, reasons[i]), "%s",
		    out.reason);
	}
	str_release(&message);
}

Test(dkim_judge, signatures_are_bounded)
{
	struct dkim all[DKIM_SIGNATURES_MAX];
	struct str message = STR_INIT;
	size_t n, found;

	for (int i = 0; i < 100; i++)
		str_adds(&message, "DKIM-Signature: v=1; a=rsa-sha256; "
		    "d=sign.test; s=rsa" REST "\r\n");
	str_adds(&message, MESSAGE);
	cr_expect_eq(dkim_judge(answers, &(struct dkim_ask){
	    .message = str_slice(&message) }, arena, all, &n, &found),
	    ORIGIN_FAIL);
	cr_expect(n == DKIM_SIGNATURES_MAX && found == 100);
	str_release(&message);
}

#define STRANGER(domain) "DKIM-Signature: v=1; a=rsa-sha256; d=" domain \
	"; s=rsa" REST "\r\n"

/* Where there are more than are judged, others do not keep out the one that
 * DMARC needs. */
Test(dkim_judge, of_many_those_like_the_author_are_judged)
{
	static const struct {
		const char	*author;
		enum origin	 origin;
	} rows[] = {
		{ "sign.test", ORIGIN_PASS }, { "SIGN.Test", ORIGIN_PASS },
		{ "news.sign.test", ORIGIN_PASS }, { "", ORIGIN_FAIL },
		{ "list.test", ORIGIN_FAIL }, { "design.test", ORIGIN_FAIL },
	};
	struct dkim all[DKIM_SIGNATURES_MAX];
	struct str message = STR_INIT;
	size_t n, found;

	for (int i = 0; i < 200; i++)
		str_adds(&message, i % 2 == 0 ? STRANGER("list.test") :
		    STRANGER("xsign.test"));
	str_adds(&message, SIGNED_RELAXED STRANGER("list.test") MESSAGE);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(dkim_judge(answers, &(struct dkim_ask){
		    .message = str_slice(&message),
		    .author = slice_of(rows[i].author) }, arena, all, &n,
		    &found), rows[i].origin, "%s", rows[i].author);
		cr_expect(n == DKIM_SIGNATURES_MAX && found == 202);
	}
	(void)dkim_judge(answers, &(struct dkim_ask){
	    .message = str_slice(&message), .author = SLICE("sign.test") },
	    arena, all, &n, &found);
	cr_expect(slice_is(all[0].domain, "list.test") &&
	    slice_is(all[7].domain, "sign.test"), "the order of the header");
	str_release(&message);
}

/* Nor do they use up the ways in which a body is summed up. */
Test(dkim_judge, the_author_has_the_first_sums_of_the_body)
{
	struct dkim all[DKIM_SIGNATURES_MAX];
	struct str message = STR_INIT;
	size_t n, found;

	for (int i = 0; i < 4; i++)
		str_addf(&message, "DKIM-Signature: v=1; a=rsa-sha256; "
		    "d=list.sign.test; s=rsa; l=%d; h=from; bh=AAAA; "
		    "b=AAAA\r\n", i);
	str_adds(&message, SIGNED_RELAXED MESSAGE);
	cr_expect_eq(dkim_judge(answers, &(struct dkim_ask){
	    .message = str_slice(&message), .author = SLICE("sign.test") },
	    arena, all, &n, &found), ORIGIN_PASS);
	cr_assert_eq(n, 5);
	cr_expect_eq(all[4].origin, ORIGIN_PASS);
	str_release(&message);
}

/* The fields below too many others are not seen: From is signed twice, so that
 * one more of them is a change. */
Test(dkim_judge, too_many_fields_hide_nothing)
{
	struct dkim all[DKIM_SIGNATURES_MAX];
	struct str message = STR_INIT;
	size_t n, found, body = strstr(MESSAGE, "\r\n\r\n") + 2 - MESSAGE;

	str_adds(&message, SIGNED_RELAXED);
	str_add(&message, MESSAGE, body);
	for (int i = 0; i < 100000; i++)
		str_adds(&message, "X: y\r\n");
	str_adds(&message, "From: eve@evil.test\r\n");
	str_adds(&message, &MESSAGE[body]);
	cr_expect_eq(dkim_judge(answers, &(struct dkim_ask){
	    .message = str_slice(&message) }, arena, all, &n, &found),
	    ORIGIN_FAIL);
	cr_expect_eq(n, 1);
	cr_expect_eq(all[0].origin, ORIGIN_PERMERROR);
	cr_expect_not_null(strstr(all[0].reason, "more than 5000 fields"),
	    "%s", all[0].reason);
	str_release(&message);
}

/* However many lengths are signed, a body is summed up once in each form. */
Test(dkim_judge, all_lengths_are_summed_up_together)
{
	const struct slice body = slice_of(strstr(MESSAGE, "\r\n\r\n") + 4);
	struct dkim_body_want wants[40];
	unsigned char one[DIGEST_SHA256_BYTES];
	uint64_t bytes, all_bytes;

	for (int is_relaxed = 0; is_relaxed <= 1; is_relaxed++) {
		for (size_t i = 0; i < 40; i++)
			wants[i].length = i < 20 ? i : i < 39 ? i - 1 :
			    UINT64_MAX;
		cr_assert_eq(dkim_body_sums(body, is_relaxed, wants, 40,
		    &all_bytes), 0);
		for (size_t i = 0; i < 40; i++) {
			cr_assert_eq(dkim_body_sum(body, is_relaxed,
			    wants[i].length, one, &bytes), 0);
			cr_expect(bytes == all_bytes && memcmp(one,
			    wants[i].sum, sizeof(one)) == 0, "%zu", i);
		}
	}
}

#define NAMED(selector, rest) "DKIM-Signature: v=1; a=rsa-sha256; " \
	"c=relaxed/relaxed; d=sign.test; s=" selector "; h=From; " rest "\r\n"
#define RIGHT_SUM "bh=tW/kJfJ79/LtwgGJhcCcR2Ztq9086VR28sAgPO7JT00="

/* Others put signatures in front that name the author's own domain. */
Test(dkim_judge, no_forged_ones_keep_out_the_author)
{
	static const struct {
		const char	*forged;	/* %d: its number */
		int		 count;
		enum origin	 origin;
	} rows[] = {
		{ NAMED("gone%d", "bh=AAAA; b=AAAA"), DKIM_KEYS_MAX - 1,
		    ORIGIN_PASS },
		{ NAMED("rsa", "l=%d; bh=AAAA; b=AAAA"), 100, ORIGIN_PASS },
		{ NAMED("rsa", "t=%d; bh=AAAA; b=AAAA"), 100, ORIGIN_PASS },
		{ NAMED("rsa", "t=%d; " RIGHT_SUM "; b=AAAA"),
		    DKIM_VERIFIED_MAX - 1, ORIGIN_PASS },
		{ NAMED("rsa", "x=%d; x=1"), DKIM_READ_MAX - 1, ORIGIN_PASS },
		/* all that costs is bounded */
		{ NAMED("gone%d", "bh=AAAA; b=AAAA"), DKIM_KEYS_MAX,
		    ORIGIN_FAIL },
		{ NAMED("rsa", "t=%d; " RIGHT_SUM "; b=AAAA"),
		    DKIM_VERIFIED_MAX, ORIGIN_FAIL },
	};
	struct dkim all[DKIM_SIGNATURES_MAX];
	size_t n, found;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str message = STR_INIT, one = STR_INIT;

		for (int k = 0; k < rows[i].count; k++) {
			const char *at = strstr(rows[i].forged, "%d");

			str_add(&message, rows[i].forged,
			    (size_t)(at - rows[i].forged));
			str_addf(&message, "%d%s", k, at + 2);
		}
		str_adds(&message, SIGNED_RELAXED MESSAGE);
		cr_expect_eq(dkim_judge(answers, &(struct dkim_ask){
		    .message = str_slice(&message),
		    .author = SLICE("sign.test") }, arena, all, &n, &found),
		    rows[i].origin, "%zu", i);
		cr_expect(n == DKIM_SIGNATURES_MAX &&
		    found == (size_t)rows[i].count + 1);
		cr_expect(rows[i].origin != ORIGIN_PASS ||
		    all[n - 1].origin == ORIGIN_PASS, "%zu: the last", i);
		str_release(&message);
		str_release(&one);
	}
}

/* Servers of who is named are not asked for more. */
Test(dkim_judge, few_keys_are_asked_for)
{
	struct dkim all[DKIM_SIGNATURES_MAX];
	struct answers *open = answers_new(arena);
	struct str message = STR_INIT;
	size_t n, found, cursor = 0, asked = 0;

	for (int i = 0; i < 300; i++)
		str_addf(&message, "DKIM-Signature: v=1; a=rsa-sha256; "
		    "d=sign.test; s=s%d" REST "\r\n", i / 2);
	str_adds(&message, MESSAGE);
	cr_expect_eq(dkim_judge(open, &(struct dkim_ask){
	    .message = str_slice(&message) }, arena, all, &n, &found),
	    ORIGIN_ASKS);
	while (answers_next_question(open, &cursor) != NULL)
		asked++;
	cr_expect_eq(asked, DKIM_KEYS_MAX);
	cr_expect_lt(arena_used_bytes(arena), 100000);
	str_release(&message);
}

/* To sign a header of megabytes many times is work, too. */
Test(dkim_judge, large_headers_are_not_summed_up_for_all)
{
	struct dkim all[DKIM_SIGNATURES_MAX];
	struct str message = STR_INIT;
	size_t n, found, refused = 0;

	for (int i = 0; i < 8; i++)
		str_adds(&message, NAMED("rsa", RIGHT_SUM "; b=AAAA"));
	str_adds(&message, "From: ann@sign.test\r\n ");
	for (int i = 0; i < 5000000; i++)
		str_addc(&message, 'x');
	str_adds(&message, strstr(MESSAGE, "\r\n\r\n"));
	cr_expect_eq(dkim_judge(answers, &(struct dkim_ask){
	    .message = str_slice(&message) }, arena, all, &n, &found),
	    ORIGIN_FAIL);
	cr_assert_eq(n, 8);
	for (size_t i = 0; i < n; i++)
		refused += all[i].origin == ORIGIN_PERMERROR;
	cr_expect_eq(refused, 4, "%zu", refused);
	str_release(&message);
}
