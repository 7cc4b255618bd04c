/* fuzz_srs.c - return addresses: made from anything, opened from anything
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"

#include "router/route/srs.h"

static void
there_and_back(const struct srs *srs, struct slice local,
    struct slice domain)
{
	struct str made = STR_INIT, back = STR_INIT;
	struct err err;

	if (local.n > 0 && domain.n > 0 &&
	    slice_find(domain, '=') == domain.n &&
	    srs_make(srs, local, domain, &made)) {
		MUST(srs_is(str_slice(&made)));
		MUST(made.len <= SRS_LOCAL_BYTES_MAX + 12);
		if (!srs_is(local)) {
			MUST(srs_open(srs, str_slice(&made), &back,
			    &err) == 0);
			MUST(back.len == local.n + 1 + domain.n);
			MUST(memcmp(back.buf, local.p, local.n) == 0);
		}
	}
	str_release(&made);
	str_release(&back);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct srs srs = { .day = 20000, .days_good = 21 };
	struct slice in = fuzz_slice(data, size);
	struct str out = STR_INIT;
	struct err err;

	MUST(srs_key_add(&srs, SLICE("0123456789abcdef"), &err) == 0);
	/* nobody guesses a mark of 30 bits here */
	if (srs_open(&srs, in, &out, &err) == 0)
		MUST(memchr(out.buf, '@', out.len) != NULL);
	there_and_back(&srs, slice_first(in, slice_find(in, '@')),
	    slice_from(in, slice_find(in, '@') + 1));
	str_release(&out);
	return 0;
}
