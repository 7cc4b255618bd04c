/* fuzz_arc.c - any keys, any chain of seals
 *
 * The zone, an empty line, the message.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "origin/arc/arc.h"
#include "tests/fuzz/origin/zone.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const domains[] = { "example.org", ".test" };
	const struct arc_trust trust = { domains, 2 };
	struct slice message = fuzz_slice(data, size);
	struct slice zone = zone_cut(&message);
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	const struct arc_set *set;
	enum origin origin;
	struct arc out;
	struct err err;

	(void)answers_read_zone(answers, zone, &err);
	origin = arc_judge(answers, message, 1700000000, arena, &out);
	MUST(origin == out.origin && answers_question(answers) == NULL);
	MUST(origin == ORIGIN_NONE || origin == ORIGIN_PASS ||
	    origin == ORIGIN_FAIL || origin == ORIGIN_TEMPERROR);
	MUST(out.reason != NULL && out.reason[0] != '\0');
	MUST(out.count <= ARC_SETS_MAX);
	MUST(origin != ORIGIN_PASS || (out.count > 0 && out.sets != NULL));
	/* what they say is read, good or not */
	out.origin = ORIGIN_PASS;
	for (size_t i = 0; out.sets != NULL && i < out.count; i++)
		out.sets[i].domain = SLICE("a.test");
	out.count = out.sets != NULL ? out.count : 0;
	set = arc_vouches(&out, &trust, SLICE("d1.example"), arena);
	MUST(set == NULL || (set >= out.sets && set < out.sets + out.count));
	arena_free(&arena);
	return 0;
}
