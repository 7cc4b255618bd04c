/* test_arc.c - chains of seals, and what they are worth
 *
 * What passes and what does not the published cases say (tests/corpus/run-arc);
 * here are the bounds, and who is believed.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "origin/arc/arc.h"

#include "base/banned.h"

TestSuite(arc, .timeout = 60);

static enum origin
arc_of(const char *message, struct arena *arena, struct arc *out)
{
	struct answers *answers = answers_new(arena);

	answers_close(answers);
	return arc_judge(answers, slice_of(message), 0, arena, out);
}

#define AAR "ARC-Authentication-Results: "
#define TAGS "; a=rsa-sha256; d=a.test; s=s; b=AAAA"
#define AS "ARC-Seal: i=1; cv=none" TAGS "\n"
#define AMS "ARC-Message-Signature: i=1; h=from; bh=AAAA" TAGS "\n"
#define SET AS AMS AAR "i=1; a.test; none\n"

Test(arc, what_is_no_chain_fails_with_its_reason)
{
	static const struct {
		const char *message;
		enum origin want;
		const char *reason;
	} rows[] = {
		{ "From: a\n\nb\n", ORIGIN_NONE, "nobody sealed it" },
		{ "", ORIGIN_NONE, "nobody sealed it" },
		{ "\n" SET, ORIGIN_NONE, "nobody sealed it" },
		{ SET "\n", ORIGIN_FAIL, "the signature of set 1: the key "
		    "s._domainkey.a.test is not published" },
		{ AS AMS "\n", ORIGIN_FAIL,
		    "set 1 of 1 has no ARC-Authentication-Results" },
		{ SET AS "\n", ORIGIN_FAIL,
		    "there are two fields ARC-Seal with i=1" },
		{ SET AAR "i=51; x\n\n", ORIGIN_FAIL, "a field "
		    "ARC-Authentication-Results has no i= from 1 to 50" },
		{ SET AAR "i=3; x\n\n", ORIGIN_FAIL,
		    "set 3 of 3 has no ARC-Message-Signature" },
		{ "ARC-Seal: i=1; cv=fail" TAGS "\n" AMS AAR "i=1; x\n\n",
		    ORIGIN_FAIL, "the seal of set 1 says cv=fail" },
		{ "ARC-Seal: i=1; h=from; cv=none" TAGS "\n" AMS
		    AAR "i=1; x\n\n", ORIGIN_FAIL,
		    "ARC-Seal of set 1: the seal has an h=" },
		{ AS "ARC-Message-Signature: i=1; h=from:arc-seal; bh=AAAA" TAGS
		    "\n" AAR "i=1; x\n\n", ORIGIN_FAIL,
		    "ARC-Message-Signature of set 1: h= of the signature is "
		    "not there, or names ARC-Seal" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct arc arc;

		cr_expect_eq(arc_of(rows[i].message, arena, &arc),
		    rows[i].want, "row %zu", i);
		cr_expect_eq(arc.origin, rows[i].want, "row %zu", i);
		cr_expect_str_eq(arc.reason, rows[i].reason, "row %zu", i);
		arena_free(&arena);
	}
}

Test(arc, a_header_that_is_too_large_fails)
{
	struct arena *arena = arena_new();
	struct str message = STR_INIT;
	struct arc arc;

	str_adds(&message, "ARC-Authentication-Results: i=1;");
	while (message.len < ARC_BYTES_MAX)
		str_adds(&message, " xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	str_adds(&message, "\n\n");
	cr_expect_eq(arc_of(message.buf, arena, &arc), ORIGIN_FAIL);
	cr_expect_str_eq(arc.reason, "its fields have more than 262144 bytes");
	str_reset(&message);
	for (size_t i = 0; i < 5000; i++)
		str_adds(&message, "X: y\n");
	str_adds(&message, SET "\n");
	cr_expect_eq(arc_of(message.buf, arena, &arc), ORIGIN_FAIL);
	cr_expect_str_eq(arc.reason, "the header has more than 5000 fields");
	str_release(&message);
	arena_free(&arena);
}

/* The sets are "sealer|results", the oldest first; want is the number of the
 * one that is believed, 0 none. */
Test(arc, who_is_trusted_is_believed_as_far_as_the_chain_is_theirs)
{
	static const struct {
		const char *domains[3], *results[3];
		enum origin origin;
		size_t want;
	} rows[] = {
#define PASS " a; dmarc=pass header.from=author.test"
		{ { "lists.test" }, { PASS }, ORIGIN_PASS, 1 },
		{ { "lists.test" }, { PASS }, ORIGIN_FAIL, 0 },
		{ { "lists.test" }, { PASS }, ORIGIN_TEMPERROR, 0 },
		{ { "x.below.test" }, { PASS }, ORIGIN_PASS, 1 },
		{ { "below.test" }, { PASS }, ORIGIN_PASS, 0 },
		{ { "evil.test" }, { PASS }, ORIGIN_PASS, 0 },
		{ { "evil.test", "lists.test" }, { PASS, " a; arc=pass" },
		    ORIGIN_PASS, 0 },
		{ { "lists.test", "evil.test" }, { PASS, PASS },
		    ORIGIN_PASS, 0 },
		{ { "lists.test", "x.below.test" }, { PASS, " a; none" },
		    ORIGIN_PASS, 1 },
		{ { "lists.test" }, { " a; dmarc=pass" }, ORIGIN_PASS, 0 },
		{ { "lists.test" }, { " a; dmarc=pass header.from=x.test" },
		    ORIGIN_PASS, 0 },
		{ { "lists.test" }, { PASS "; dmarc=fail" }, ORIGIN_PASS, 0 },
		{ { "lists.test" }, { " a; dmarc=fail; dkim=pass "
		    "header.d=author.test" }, ORIGIN_PASS, 0 },
		{ { "lists.test" }, { " a; dkim=pass header.d=author.test" },
		    ORIGIN_PASS, 1 },
		{ { "lists.test" }, { " a; dkim=pass header.i=@author.test" },
		    ORIGIN_PASS, 1 },
		{ { "lists.test" }, { " a; dkim=pass header.d=x.author.test" },
		    ORIGIN_PASS, 0 },
		{ { "lists.test" }, { " a; spf=pass "
		    "smtp.mailfrom=b@Author.TEST" }, ORIGIN_PASS, 1 },
		{ { "lists.test" }, { " author.test" }, ORIGIN_PASS, 0 },
#undef PASS
	};
	static const char *const names[] = { "lists.test", ".below.test" };
	const struct arc_trust trust = { names, 2 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct arc_set sets[3];
		struct arc arc = { .origin = rows[i].origin, .sets = sets };
		const struct arc_set *set;

		while (arc.count < 3 && rows[i].domains[arc.count] != NULL) {
			memset(&sets[arc.count], 0, sizeof(sets[0]));
			sets[arc.count].domain =
			    slice_of(rows[i].domains[arc.count]);
			sets[arc.count].results =
			    slice_of(rows[i].results[arc.count]);
			arc.count++;
		}
		set = arc_vouches(&arc, &trust, SLICE("author.test"), arena);
		cr_expect_eq(set, rows[i].want == 0 ? NULL :
		    &sets[rows[i].want - 1], "row %zu", i);
		arena_free(&arena);
	}
}
