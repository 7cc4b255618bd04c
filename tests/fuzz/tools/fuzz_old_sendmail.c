/* fuzz_old_sendmail.c - qf and df files that say they are sendmail's
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/tools/fuzz_old.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct old_files files = { .id = "4AQGxyz0012345",
	    .mtime_s = 1763600000 };

	files.main = fuzz_part(&in);
	files.body = in;
	fuzz_old(&old_sendmail, &files);
	return 0;
}
