/* fuzz_dmarc.c - any policies, any author; what is said of them in a field
 *
 * The zone, an empty line, the message.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "origin/authres/authres.h"
#include "origin/authres_read.h"
#include "tests/fuzz/origin/zone.h"

/* One field: each line after the first is a fold, and nothing but printable
 * ASCII stands in it. */
static void
check_field(const struct str *field, const char *host)
{
	struct slice value = slice_from(str_slice(field),
	    sizeof("Authentication-Results:") - 1);
	struct authres_result one;

	for (size_t i = 0; i < field->len; i++) {
		char c = field->buf[i];

		MUST((c >= ' ' && c <= '~') || c == '\t' ||
		    (c == '\n' && field->buf[i + 1] == '\t'));
	}
	MUST(authres_is_ours(value, host));
	/* and is read by others as it was meant: SPF, DKIM, DMARC */
	for (size_t i = 0; i < 3; i++)
		MUST(authres_next(&value, &one) && one.result.n > 0);
	MUST(!authres_next(&value, &one));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice message = fuzz_slice(data, size), author;
	struct slice zone = zone_cut(&message);
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct spf spf = { .origin = ORIGIN_PASS };
	struct dkim dkim = { .origin = ORIGIN_FAIL };
	struct str field = STR_INIT;
	struct dmarc out;
	struct err err;

	(void)answers_read_zone(answers, zone, &err);
	(void)authres_is_ours(message, "mx.test");
	if (dmarc_author(message, arena, &author, &out)) {
		struct origins all = { .spf = &spf, .dkims = &dkim,
		    .dkim_count = 1, .dmarc = &out, .sender = message };

		spf.domain = dkim.domain = author;
		MUST(dmarc_judge(answers, author, &spf, &dkim, 1, arena,
		    &out) != ORIGIN_ASKS);
		MUST(out.origin != ORIGIN_FAIL && out.reason != NULL);
		spf.reason = dkim.reason = out.reason;
		authres_add(&field, "mx.test", &all);
		check_field(&field, "mx.test");
	}
	str_release(&field);
	arena_free(&arena);
	return 0;
}
