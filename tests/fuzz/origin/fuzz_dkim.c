/* fuzz_dkim.c - any keys, any message
 *
 * The zone, an empty line, the message.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "origin/dkim/dkim.h"
#include "tests/fuzz/origin/zone.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice message = fuzz_slice(data, size);
	struct slice zone = zone_cut(&message);
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct dkim out[DKIM_SIGNATURES_MAX];
	bool passes = false;
	size_t n, found;
	enum origin origin;
	struct err err;

	(void)answers_read_zone(answers, zone, &err);
	origin = dkim_judge(answers, &(struct dkim_ask){ message, 1700000000,
	    SLICE("mail.sign.test") }, arena, out, &n, &found);
	MUST(origin != ORIGIN_ASKS && answers_question(answers) == NULL);
	MUST(n <= DKIM_SIGNATURES_MAX && found >= n);
	MUST((origin == ORIGIN_NONE) == (n == 0));
	for (size_t i = 0; i < n; i++) {
		MUST(out[i].reason != NULL && out[i].reason[0] != '\0');
		MUST(out[i].origin != ORIGIN_NONE);
		MUST(out[i].origin != ORIGIN_PASS || (out[i].domain.n > 0 &&
		    (out[i].key_bits >= 1024 || out[i].key_bits == 253 ||
		    out[i].key_bits == 256)));
		passes |= out[i].origin == ORIGIN_PASS;
	}
	MUST(passes == (origin == ORIGIN_PASS));
	arena_free(&arena);
	return 0;
}
