/* fuzz_spf.c - any zone, any sender, any name at HELO
 *
 * The zone, an empty line, the sender, a line with the name.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "origin/spf/spf.h"
#include "tests/fuzz/origin/zone.h"

static void
check_client(struct slice zone, struct slice sender, struct slice helo,
    const char *client)
{
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct spf_ask ask = { .sender = sender, .helo = helo,
	    .receiver = SLICE("mx.test"), .now_s = 1 };
	enum origin origin;
	struct err err;
	struct spf out;

	(void)answers_read_zone(answers, zone, &err);
	MUST(net_parse(slice_of(client), &ask.client, &err) == 0);
	origin = spf_judge(answers, &ask, arena, &out);
	MUST(origin == out.origin && origin != ORIGIN_ASKS);
	MUST(answers_question(answers) == NULL);
	MUST(out.reason != NULL && out.reason[0] != '\0');
	MUST(out.terms <= SPF_TERMS_MAX + 1 && out.voids <= SPF_VOIDS_MAX + 1);
	MUST(!fuzz_has_control(out.exp));
	/* the zone itself takes some 170 times its bytes */
	MUST(arena_used_bytes(arena) < (8 << 20) + 200 * zone.n);
	arena_free(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = fuzz_slice(data, size);
	struct slice zone = zone_cut(&rest), sender = rest;

	slice_cut(&rest, '\n', &sender);
	check_client(zone, sender, rest, "192.0.2.1");
	check_client(zone, sender, rest, "2001:db8::1");
	return 0;
}
