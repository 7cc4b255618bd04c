/* fuzz_old_postfix.c - a queue file that says it is Postfix's
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/tools/fuzz_old.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct old_files files = { .id = "41979E72AEC",
	    .mtime_s = 1763600000 };

	files.main = in;
	fuzz_old(&old_postfix, &files);
	return 0;
}
