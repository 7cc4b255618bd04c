/* fuzz_spoolname.c - file names and ids as directories and peers give them
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "mail/spool/spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { (const char *)data, size };
	struct spool_name name;

	if (spool_name_parse(in, &name)) {
		/* nothing of it can leave its directory */
		if (name.inode == 0 || (name.is_plan && name.pid == 0) ||
		    (name.why.n > 0 && memchr(name.why.p, '/', name.why.n)))
			abort();
	}
	if (spool_id_is(in) && spool_id_time_us(in) < 0)
		abort();
	return 0;
}
