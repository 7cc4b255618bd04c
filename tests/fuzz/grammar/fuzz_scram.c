/* fuzz_scram.c - any bytes as the messages of a SCRAM client
 *
 * Grammar: libzm/grammar/smtp/scram.c (RFC 5802 section 7).  What is taken can
 * be
 * put together again from its parts, and is taken again.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/smtp/scram.h"

/* Neither ends a line of ours nor hides what follows. */
static bool
is_word(struct slice text)
{
	return text.n > 0 && !fuzz_has_control(text) &&
	    slice_find(text, ' ') == text.n && slice_find(text, ',') == text.n;
}

static void
check_first(struct slice in)
{
	struct scram_first first, again;
	struct str text = STR_INIT;
	struct err err = { "" };

	if (scram_first_parse(in, &first, &err) != 0) {
		MUST(err.text[0] != '\0' &&
		    !fuzz_has_control(slice_of(err.text)));
		return;
	}
	MUST(fuzz_inside(first.gs2, in) && fuzz_inside(first.bare, in));
	MUST(first.gs2.n + first.bare.n == in.n);
	MUST(first.gs2.p[first.gs2.n - 1] == ',');
	MUST(first.user[0] != '\0' && strlen(first.user) <=
	    SCRAM_NAME_BYTES_MAX);
	MUST(is_word(first.nonce) && first.nonce.n <= SCRAM_NONCE_BYTES_MAX);
	MUST((first.binding == SCRAM_BINDING) == (first.binding_name.n > 0));
	str_addf(&text, SLICE_FMT "n=", SLICE_ARG(first.gs2));
	for (const char *at = first.user; *at != '\0'; at++)
		str_addf(&text, *at == ',' ? "=2C" : *at == '=' ? "=3D" :
		    "%c", *at);
	str_addf(&text, ",r=" SLICE_FMT, SLICE_ARG(first.nonce));
	MUST(scram_first_parse(str_slice(&text), &again, &err) == 0);
	MUST(strcmp(again.user, first.user) == 0);
	MUST(strcmp(again.authzid, first.authzid) == 0);
	MUST(slice_equal(again.nonce, first.nonce));
	str_release(&text);
}

static void
check_final(struct slice in)
{
	struct scram_final final, again;
	struct str text = STR_INIT;
	struct err err = { "" };

	if (scram_final_parse(in, &final, &err) != 0) {
		MUST(err.text[0] != '\0');
		return;
	}
	MUST(is_word(final.nonce));
	MUST(slice_find(final.binding, ',') == final.binding.n);
	MUST(slice_find(final.proof, ',') == final.proof.n);
	MUST(fuzz_inside(final.bare, in) && final.bare.p == in.p);
	str_addf(&text, SLICE_FMT ",p=" SLICE_FMT, SLICE_ARG(final.bare),
	    SLICE_ARG(final.proof));
	if (slice_find(in, '\0') == in.n) {
		MUST(slice_equal(str_slice(&text), in));
		MUST(scram_final_parse(str_slice(&text), &again, &err) == 0);
	}
	str_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_first(fuzz_slice(data, size));
	check_final(fuzz_slice(data, size));
	return 0;
}
