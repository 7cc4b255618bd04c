/* fuzz_handover.c - a record that another program hands over: what was read is
 * written as it was read
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/run/handover/handover.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct handover first, second;
	struct str text = STR_INIT;
	struct err err;

	if (handover_parse(fuzz_slice(data, size), &first,
	    &err) == 0) {
		MUST(handover_add(&text, &first, &err) == 0);
		MUST(handover_parse(str_slice(&text), &second, &err) ==
		    0);
		MUST(memcmp(&first, &second, sizeof(first)) == 0);
	}
	str_release(&text);
	return 0;
}
