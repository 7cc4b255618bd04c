/* fuzz_old_exim.c - -H, -D and -J files that say they are Exim's
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/tools/fuzz_old.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct old_files files = { .id = "1xWcdl-0003l1-1R",
	    .mtime_s = 1763600000 };

	files.main = fuzz_part(&in);
	files.body = fuzz_part(&in);
	files.journal = in;
	fuzz_old(&old_exim, &files);
	return 0;
}
