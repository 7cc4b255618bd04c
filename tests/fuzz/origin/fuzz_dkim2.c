/* fuzz_dkim2.c - any keys, any chain of DKIM2, any recipe
 *
 * The zone, an empty line, the message, whose bytes are tried as a recipe
 * too.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "origin/dkim2/bounce.h"
#include "origin/dkim2/internal.h"
#include "tests/fuzz/origin/zone.h"

static void
fuzz_recipe(struct slice json, struct arena *arena)
{
	static const char message[] = "Subject: a\nTo: b\nSubject: c\n\n"
	    "1\n2\n3\n\n5";
	unsigned char sum[DIGEST_SHA256_BYTES];
	struct dkim2_content content;
	struct dkim2_recipe recipe;
	struct err err = { "" };

	if (dkim2_recipe_read(json, arena, &recipe, &err) != 0) {
		MUST(err.text[0] != '\0');
		return;
	}
	MUST(dkim2_content_read(slice_of(message), arena, &content));
	if (dkim2_undo(&recipe, arena, &content, &err) == 0) {
		MUST(dkim2_header_sum(&content, arena, sum) == 0);
		MUST(dkim2_body_sum(&content, sum) == 0);
	}
}

/* As a report whose own chain is good. */
static void
fuzz_report(struct answers *answers, const struct dkim2_mail *from,
    struct arena *arena)
{
	struct dkim2_hop hop = { .domain = SLICE("b.test") }, last;
	struct dkim2 report = { .origin = ORIGIN_PASS, .count = 1,
	    .hops = &hop, .reason = "it is good" };
	struct dkim2_mail mail = *from;
	struct slice returned;
	bool is_header;
	enum origin origin;

	mail.sender = SLICE("");
	if (dkim2_returned(mail.message, &returned, &is_header))
		MUST(fuzz_inside(returned, mail.message));
	origin = dkim2_bounce_judge(answers, &mail, arena, &report);
	MUST(origin == report.origin);
	MUST(origin == ORIGIN_PASS || origin == ORIGIN_FAIL ||
	    origin == ORIGIN_TEMPERROR);
	MUST(report.reason != NULL && report.reason[0] != '\0');
	if (dkim2_last_hop(mail.message, arena, &last))
		MUST(last.domain.n > 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct slice rcpts[] = { { "bob@b.test", 10 } };
	struct slice message = fuzz_slice(data, size);
	struct slice zone = zone_cut(&message);
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct dkim2_mail mail = { .message = message, .has_sender = true,
	    .sender = SLICE("ann@a.test"), .rcpts = rcpts, .rcpt_count = 1,
	    .received_s = 1700000000, .is_lenient = size % 2 };
	enum origin origin;
	struct dkim2 out;
	struct err err;

	(void)answers_read_zone(answers, zone, &err);
	for (int i = 0; i < 2; i++) {
		origin = dkim2_judge(answers, &mail, arena, &out);
		MUST(origin == out.origin && answers_question(answers) ==
		    NULL);
		MUST(origin == ORIGIN_NONE || origin == ORIGIN_PASS ||
		    origin == ORIGIN_FAIL || origin == ORIGIN_TEMPERROR ||
		    origin == ORIGIN_PERMERROR);
		MUST(out.reason != NULL && out.reason[0] != '\0');
		MUST(origin != ORIGIN_PASS || (out.count > 0 &&
		    out.hops != NULL));
		/* and without an envelope, which stops most of them early */
		mail.has_sender = false;
		mail.rcpt_count = 0;
		mail.received_s = 0;
	}
	fuzz_report(answers, &mail, arena);
	fuzz_recipe(message, arena);
	arena_free(&arena);
	return 0;
}
