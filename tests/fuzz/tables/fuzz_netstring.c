/* fuzz_netstring.c - any bytes as what a socketmap server answers
 *
 * SPDX-License-Identifier: ISC
 */
#include "tables/engine/netstring.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice bytes = { (const char *)data, size }, text, again;
	size_t used, used_again;

	if (netstring_read(bytes, &text, &used) != NETSTRING_WHOLE)
		return 0;
	MUST(used <= size);
	MUST(text.n <= NETSTRING_BYTES_MAX);
	MUST(text.p >= bytes.p && text.p + text.n < bytes.p + used);
	/* what it is does not hang on what stands behind it */
	MUST(netstring_read(slice_first(bytes, used), &again, &used_again) ==
	    NETSTRING_WHOLE);
	MUST(used_again == used && slice_equal(again, text));
	MUST(netstring_read(slice_first(bytes, used - 1), &again,
	    &used_again) == NETSTRING_MORE);
	return 0;
}
