/* fuzz_base64.c - any bytes as base64; what is taken is written the same
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/base64.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct str bytes = STR_INIT, letters = STR_INIT;

	if (base64_decode(in, &bytes, NULL) == 0) {
		base64_add(&letters, str_slice(&bytes));
		MUST(slice_equal(str_slice(&letters), in));
	} else {
		MUST(bytes.len == 0);
	}
	str_reset(&bytes);
	str_reset(&letters);
	base64_add(&letters, in);
	MUST(base64_decode(str_slice(&letters), &bytes, NULL) == 0);
	MUST(slice_equal(str_slice(&bytes), in));
	str_release(&bytes);
	str_release(&letters);
	return 0;
}
