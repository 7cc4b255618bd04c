/* test_again.c - lines of the record, decided again
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "smtpserver/rehearse/again.h"

#include "base/banned.h"

static const char rules[] = "domain here.test { users any }\n"
    "verify off\n"
    "listen 127.0.0.1:2525 decide early\n"
    "size 1M\n"
    "limit recipients 3\n"
    "dnsbl bl.test\n"
    "reject from 192.0.2.3 text \"not from there\" everybody\n"
    "reject helo ours text \"you are not me\" everybody\n"
    "reject sender @bad.test everybody\n"
    "reject sender @over.test until 2026-11-23T10:00:00Z everybody\n"
    "reject listed 1 from 192.0.2.9 everybody\n"
    "limit rate 5/1h per sender sender @much.test everybody\n"
    "limit parallel 4 per client sender @side.test everybody\n"
    "greylist sender @grey.test after 5m within 4h\n"
    "freeze sender @odd.test\n"
    "verify-origin yes\n"
    "reject sender @late.test dmarc fail policy reject\n"
    "freeze sender @late.test dmarc fail policy quarantine\n"
    "accept sender @held.test dkim .sign.test\n"
    "reject sender @held.test text \"only who signs\"\n";

#define L "\"listener\":\"127.0.0.1:25\",\"helo\":\"c.test\","
#define EARLY "\"listener\":\"127.0.0.1:2525\",\"helo\":\"c.test\","
#define AT "\"t\":\"2026-11-23T09:00:00.000Z\","
#define LATE "\"t\":\"2026-11-23T11:00:00.000Z\","
#define C "\"client\":\"192.0.2.1:99\","
#define TO "\"to\":\"x@here.test\","
#define DATA "{" AT C L "\"at\":\"data\"," TO
#define CAME DATA "\"bytes\":9,"
#define FACT(kind, question, answer) \
	"\"facts\":\"" kind "\\u001fok\\u001f" question "\\u001f" answer \
	"\\n\","

static const struct again_case {
	const char	*line;
	int		 code;		/* 0: need; -1: no line */
	const char	*by, *text;
} again_cases[] = {
	{ "", -1, NULL, NULL },
	{ "{\"t\":\"x\"}\n", -1, NULL, NULL },
	{ "{" AT C L "\"at\":\"rcpt\",\"to\":\"a@@\"}", -1, NULL, NULL },
	{ "{" AT L "\"at\":\"rcpt\"," TO "\"client\":\"nobody\"}", -1, NULL,
	    NULL },
	{ "{" AT C L "\"at\":\"rcpt\",\"from\":\"a@b.test\"," TO "\"size\":9}",
	    250, "policy", "" },
	{ "{" AT C L "\"at\":\"rcpt\",\"from\":\"a@b.test\","
	    "\"to\":\"x@away.test\"}", 550, "policy", "relay" },
	{ "{" AT C L "\"at\":\"rcpt\",\"from\":\"a@bad.test\"," TO "\"size\":"
	    "9}", 550, "policy", "refused" },
	/* the moment is that of the line */
	{ "{" AT C L "\"at\":\"rcpt\",\"from\":\"a@over.test\"," TO
	    "\"size\":9}", 550, "policy", "refused" },
	{ "{" LATE C L "\"at\":\"rcpt\",\"from\":\"a@over.test\"," TO
	    "\"size\":9}", 250, "policy", "" },
	/* limits of the session */
	{ "{" AT C L "\"at\":\"mail\",\"from\":\"a@b.test\",\"size\":"
	    "2000000}", 552, "room", "at most" },
	{ "{" AT C L "\"at\":\"rcpt\",\"from\":\"a@b.test\"," TO
	    "\"rcpts\":3}", 452, "room", "enough recipients" },
	/* only a listener that decides early does so */
	{ "{" AT L "\"client\":\"192.0.2.3:9\",\"at\":\"connect\"}", 250,
	    "policy", "" },
	{ "{" AT EARLY "\"client\":\"192.0.2.3:9\",\"at\":\"connect\"}", 550,
	    "policy", "not from there" },
	{ "{" AT EARLY C "\"at\":\"mail\",\"from\":\"a@bad.test\"}", 550,
	    "policy", "refused" },
	{ "{" AT L C "\"at\":\"mail\",\"from\":\"a@bad.test\"}", 250,
	    "policy", "" },
	/* what was asked then */
	{ "{" AT L "\"client\":\"192.0.2.9:9\",\"at\":\"rcpt\"," TO
	    "\"from\":\"a@b.test\"}", 0, "policy",
	    "listed 192.0.2.9 bl.test" },
	{ "{" AT L "\"client\":\"192.0.2.9:9\",\"at\":\"rcpt\"," TO
	    FACT("dns", "listed 192.0.2.9 bl.test", "bl.test=127.0.0.2")
	    "\"from\":\"a@b.test\"}", 550, "policy", "refused" },
	{ "{" AT L "\"client\":\"192.0.2.9:9\",\"at\":\"rcpt\"," TO
	    FACT("dns", "listed 192.0.2.9 bl.test", "")
	    "\"from\":\"a@b.test\"}", 250, "policy", "" },
	/* counters: the same, wider, narrower terms, on another line */
	{ "{" AT C L "\"at\":\"rcpt\"," TO "\"from\":\"a@much.test\","
	    FACT("rate", "take 5 3600000 77 a@much.test", "over 60")
	    "\"size\":1}", 450, "policy", "deferred" },
	{ "{" AT C L "\"at\":\"rcpt\"," TO "\"from\":\"b@much.test\","
	    FACT("rate", "take 9 3600000 77 b@much.test", "over 60")
	    "\"size\":1}", 450, "policy", "deferred" },
	{ "{" AT C L "\"at\":\"rcpt\"," TO "\"from\":\"c@much.test\","
	    FACT("rate", "take 2 3600000 77 c@much.test", "over 60")
	    "\"size\":1}", 250, "policy", "" },
	{ "{" AT C L "\"at\":\"rcpt\"," TO "\"from\":\"a@side.test\"}", 0,
	    "policy", "hold 4" },
	{ "{" AT C L "\"at\":\"rcpt\"," TO "\"from\":\"a@side.test\","
	    FACT("rate", "hold 2 8 192.0.2.1", "ok 7") "\"size\":1}", 250,
	    "policy", "" },
	/* a greylist of its own */
	{ "{" AT C L "\"at\":\"rcpt\"," TO "\"from\":\"a@grey.test\"}", 451,
	    "policy", "greylisted" },
	{ "{" LATE C L "\"at\":\"rcpt\"," TO "\"from\":\"a@grey.test\"}", 250,
	    "policy", "" },
	/* the end of a message: by what it was judged to be */
	{ CAME "\"from\":\"a@late.test\",\"spf\":\"pass\",\"dkim\":\"none\","
	    "\"dmarc\":\"pass\",\"policy\":\"reject\"}", 250, "policy", "" },
	{ CAME "\"from\":\"a@late.test\",\"spf\":\"fail\",\"dkim\":\"none\","
	    "\"dmarc\":\"fail\",\"policy\":\"reject\"}", 550, "policy",
	    "SPF fail, DKIM none, DMARC fail (its policy: reject)" },
	{ CAME "\"from\":\"a@late.test\",\"spf\":\"fail\",\"dkim\":\"none\","
	    "\"dmarc\":\"fail\",\"policy\":\"none\"}", 250, "policy", "" },
	{ CAME "\"from\":\"a@late.test\",\"spf\":\"perhaps\"}", -1, NULL,
	    NULL },
	{ CAME "\"from\":\"a@late.test\"}", 250, "policy", "" },
	{ CAME "\"from\":\"a@bad.test\",\"spf\":\"pass\"}", 550, "policy",
	    "refused" },
	/* what a rule might have taken is held back until then */
	{ "{" AT C L "\"at\":\"rcpt\"," TO "\"from\":\"a@held.test\"}", 250,
	    "policy", "" },
	{ CAME "\"from\":\"a@held.test\",\"spf\":\"none\",\"dkim\":\"pass\","
	    "\"dmarc\":\"none\",\"policy\":\"none\","
	    "\"signers\":\"b.test,a.sign.test\"}", 250, "policy", "" },
	{ CAME "\"from\":\"a@held.test\",\"spf\":\"none\",\"dkim\":\"pass\","
	    "\"dmarc\":\"none\",\"policy\":\"none\","
	    "\"signers\":\"b.test\"}", 550, "policy", "only who signs" },
	{ CAME "\"from\":\"a@held.test\"}", 451, "policy",
	    "cannot be told now" },
	/* ... by its bytes, in a fixed order */
	{ DATA "\"from\":\"a@b.test\",\"bytes\":1048576}", 250, "policy", "" },
	{ DATA "\"from\":\"a@b.test\",\"bytes\":1048577,\"header\":9999999}",
	    552, "content", "the message is too big" },
	{ DATA "\"from\":\"a@b.test\",\"bytes\":9,\"header\":9999999}", 552,
	    "content", "the header" },
	{ DATA "\"from\":\"a@b.test\",\"bytes\":9,\"received\":9999}", 554,
	    "content", "loop" },
	{ DATA "\"from\":\"a@b.test\",\"bytes\":9,\"line\":9999999}", 550,
	    "content", "line" },
	{ DATA "\"from\":\"a@b.test\",\"bytes\":9,\"odd\":2}", 550, "content",
	    "stands alone" },
	{ DATA "\"from\":\"a@b.test\",\"bytes\":9,\"binary\":\"yes\","
	    "\"headless\":\"yes\"}", 550, "content", "needs a header" },
	{ DATA "\"from\":\"a@b.test\"}", 0, "policy", "did not come" },
	/* ... stopped before it was judged */
	{ CAME "\"from\":\"a@late.test\",\"by\":\"content\",\"code\":552}",
	    0, "policy", "whose mail it is" },
	{ CAME "\"from\":\"a@late.test\",\"by\":\"milter\",\"code\":550}",
	    0, "policy", "whose mail it is" },
	{ CAME "\"from\":\"a@late.test\",\"discarded\":\"yes\",\"code\":250}",
	    0, "policy", "whose mail it is" },
	{ CAME "\"from\":\"a@b.test\",\"by\":\"milter\",\"code\":550}",
	    250, "policy", "" },
	/* ... and what a next hop said where there is no cut-through now */
	{ CAME "\"from\":\"a@b.test\",\"by\":\"next-hop\",\"code\":550,"
	    "\"reply\":\"no\"}", 250, "policy", "" },
};

/* What filters said, under a configuration that has some. */
static const char filters[] = "domain here.test { users any }\n"
    "verify off\n"
    "milter unix:/m/a except 192.0.2.0/30\n"
    "milter unix:/m/b fail accept\n"
    "milter unix:/m/c fail quarantine\n"
    "milter unix:/m/d fail reject\n"
    "content-filter /m/e\n";

#define SAID(kind, socket, how) \
	kind "\\u001f" socket "\\u001f" how "\\n"
#define A(how) SAID("milter", "unix:/m/a", how)
#define B(how) SAID("milter", "unix:/m/b", how)
#define M(how) SAID("milter", "unix:/m/c", how)
#define D(how) SAID("milter", "unix:/m/d", how)
#define E(how) SAID("content-filter", "/m/e", how)
#define END(said, more) \
	"{" AT "\"client\":\"192.0.2.99:1\"," L "\"at\":\"data\"," TO \
	"\"bytes\":9,\"from\":\"a@b.test\",\"said\":\"" said "\"" more "}"
#define REFUSED ",\"by\":\"milter\",\"code\":554,\"reply\":\"not this\"," \
	"\"status\":\"5.7.9\""

static const struct again_case again_filter_cases[] = {
	{ END(A("pass") B("pass") M("pass") D("pass") E("pass"), ""), 250,
	    "policy", "" },
	{ END(B("pass") M("pass") D("pass") E("pass"), ""), 0, "policy",
	    "what it says: unix:/m/a" },
	{ END(A("pass") B("pass") M("pass") D("pass"), ""), 0, "policy",
	    "what it says: /m/e" },
	{ END(A("pass") SAID("milter", "unix:/m/x", "refuse"), REFUSED), 0,
	    "policy", "what it says: unix:/m/b" },
	{ END(A("refuse"), REFUSED), 554, "milter", "not this" },
	{ END(A("pass") B("pass") M("pass") D("pass") E("refuse"), REFUSED),
	    554, "milter", "not this" },
	/* nonsense is no word */
	{ END("milter", ""), 0, "policy", "unix:/m/a" },
	{ END(A("perhaps") B("") M("pass") D("pass") E("pass"), ""), 0,
	    "policy", "what it says: unix:/m/b" },
	/* whom it does not see */
	{ "{" AT C L "\"at\":\"data\"," TO "\"bytes\":9,\"said\":\""
	    A("refuse") B("pass") M("pass") D("pass") E("pass") "\"" REFUSED
	    "}", 250, "policy", "" },
	/* as `fail` of each says */
	{ END(A("fail"), ""), 451, "milter", "does not work now" },
	{ END(A("pass") B("fail") M("pass") D("pass") E("pass"), ""), 250,
	    "policy", "" },
	{ END(A("pass") B("pass") M("pass") D("fail"), ""), 550, "milter",
	    "does not work here" },
	{ END(A("pass") B("pass") M("fail") D("pass") E("pass"), ""), 250,
	    "milter", "set aside" },
	{ END(A("pass") B("pass") M("pass") D("freeze") E("pass"), ""), 250,
	    "milter", "set aside" },
	{ END(A("pass") B("discard"), ""), 250, "milter", "discarded" },
	/* before the end one that was not asked has no say */
	{ "{" AT "\"client\":\"192.0.2.99:1\"," L "\"at\":\"rcpt\"," TO
	    "\"from\":\"a@b.test\"}", 250, "policy", "" },
	{ "{" AT "\"client\":\"192.0.2.99:1\"," L "\"at\":\"rcpt\"," TO
	    "\"from\":\"a@b.test\",\"said\":\"" B("refuse") "\"" REFUSED
	    "}", 554, "milter", "not this" },
	{ "{" AT "\"client\":\"192.0.2.99:1\"," L "\"at\":\"helo\","
	    "\"said\":\"" A("fail") "\"}", 250, "policy", "" },
};

static void
again_try(const char *text, const struct again_case *cases, size_t count)
{
	struct again again = { .buckets = NULL };
	struct arena *arena = arena_new();
	struct conf_report report;
	struct again_row row;
	struct err err;

	again.rehearsal.conf = conf_parse("again.conf", slice_of(text),
	    arena, &report);
	cr_assert_not_null(again.rehearsal.conf);
	again.rehearsal.policy = policy_new(again.rehearsal.conf);
	again.buckets = buckets_new();
	again.greylist = greylist_open(NULL, 0, &err);
	again_row_init(&row);
	for (size_t i = 0; i < count; i++) {
		const struct again_case *want = &cases[i];
		struct rehearsal_outcome out = { .status = STR_INIT,
		    .words = STR_INIT };
		const char *by;
		int result = again_parse(slice_of(want->line), &row, &err);

		if (result == 0)
			result = again_run(&again, &row, &out, &by, &err);
		cr_assert_eq(result, want->code < 0 ? -1 : 0, "row %zu: %s", i,
		    result < 0 ? err.text : "");
		if (result == 0 && want->code > 0)
			cr_assert_eq(out.code, want->code, "row %zu: %d %s", i,
			    out.code, out.words.buf);
		if (result == 0) {
			cr_assert_eq(out.result == REHEARSAL_NEED,
			    want->code == 0, "row %zu: %s", i, out.words.buf);
			cr_assert_str_eq(by, want->by, "row %zu", i);
			cr_assert(strstr(out.words.buf, want->text) != NULL,
			    "row %zu: %s", i, out.words.buf);
		}
		rehearsal_outcome_release(&out);
	}
	again_row_release(&row);
	buckets_free(&again.buckets);
	greylist_close(&again.greylist);
	policy_free(&again.rehearsal.policy);
	arena_free(&arena);
}

Test(again, each_line)
{
	again_try(rules, again_cases, sizeof(again_cases) /
	    sizeof(again_cases[0]));
}

Test(again, what_filters_said)
{
	again_try(filters, again_filter_cases, sizeof(again_filter_cases) /
	    sizeof(again_filter_cases[0]));
}
