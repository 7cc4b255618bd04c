/* test_spf.c - senders in UTF-8; the published cases are tests/corpus/run-spf
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/net.h"
#include "origin/spf/spf.h"

#define BUECHER "b\xc3\xbc" "cher.test"

static const char zone[] =
    "xn--bcher-kva.test TXT v=spf1 ip4:192.0.2.1 -all\n"
    "local.test TXT v=spf1 exists:%{l}.local.test -all\n"
    "sender.test TXT v=spf1 include:%{s}.sender.test ?all\n"
    "away.test TXT v=spf1 redirect=%{l}.away.test\n";

static enum origin
judge(const char *helo, const char *sender, struct spf *out)
{
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct spf_ask ask = { .helo = slice_of(helo),
	    .sender = slice_of(sender) };
	enum origin origin;
	struct err err;

	cr_assert_eq(net_parse(SLICE("192.0.2.1"), &ask.client, &err), 0);
	cr_assert_eq(answers_read_zone(answers, slice_of(zone), &err), 0);
	origin = spf_judge(answers, &ask, arena, out);
	if (origin != ORIGIN_NONE)
		cr_expect(slice_is(out->domain, "xn--bcher-kva.test") ||
		    slice_ends(out->domain, ".test"));
	arena_free(&arena);
	return origin;
}

/* RFC 8616 section 4 */
Test(spf, senders_in_utf8_are_asked_for_as_the_dns_has_them)
{
	static const struct {
		const char	*helo, *sender;
		enum origin	 origin;
	} rows[] = {
		{ "x.test", "ann@" BUECHER, ORIGIN_PASS },
		{ "x.test", "ann@B\xc3\x9c" "CHER.test.", ORIGIN_PASS },
		{ "x.test", "\xc3\xa4@" BUECHER, ORIGIN_PASS },
		{ BUECHER, "", ORIGIN_PASS },
		{ "x.test", "ann@\xff.test", ORIGIN_NONE },
		/* a local part in UTF-8 fits no name */
		{ "x.test", "\xc3\xa4@local.test", ORIGIN_FAIL },
		{ "x.test", "\xc3\xa4@sender.test", ORIGIN_NEUTRAL },
		{ "x.test", "\xc3\xa4@away.test", ORIGIN_PERMERROR },
	};
	struct spf out;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(judge(rows[i].helo, rows[i].sender, &out),
		    rows[i].origin, "%zu: %s", i, origin_text(out.origin));
}
