/* fuzz_resp.c - any bytes as what a Redis answers
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/resp.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice bytes = { (const char *)data, size }, text, again;
	enum resp_answer answer;
	size_t used, used_again;

	answer = resp_read(bytes, &text, &used);
	if (answer == RESP_BAD || answer == RESP_MORE)
		return 0;
	MUST(used <= size);
	MUST(text.n <= RESP_BYTES_MAX);
	/* what it is does not hang on what stands behind it */
	MUST(resp_read(slice_first(bytes, used), &again, &used_again) ==
	    answer);
	MUST(used_again == used && slice_equal(again, text));
	MUST(resp_read(slice_first(bytes, used - 1), &again, &used_again) ==
	    RESP_MORE);
	return 0;
}
