/* fuzz_pcre.c - any bytes as a table of patterns, and a key for it
 *
 * The first line is the key, the rest the file.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "mail/table/table.h"

static char path[] = "/tmp/zm-fuzz-pcre-XXXXXX";

static void
clean_up(void)
{
	unlink(path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct slice rest = fuzz_slice(data, size), key, value;
	struct str spec = STR_INIT;
	struct table *table;
	unsigned line;
	struct err err = { "" };

	if (table_spec_check("pcre:/x", NULL) != 0 ||
	    !slice_cut(&rest, '\n', &key))
		return 0;
	if (fd < 0) {
		fd = mkstemp(path);
		MUST(fd >= 0);
		atexit(clean_up);
	}
	MUST(ftruncate(fd, 0) == 0);
	MUST(pwrite(fd, rest.p ? rest.p : "", rest.n, 0) == (ssize_t)rest.n);
	str_addf(&spec, "pcre:%s", path);
	table = table_new("fuzz", spec.buf);
	switch (table_lookup(table, key, &value, &line, &err)) {
	case TABLE_FOUND:
		MUST(line > 0);
		MUST(value.n == 0 || value.p != NULL);
		break;
	case TABLE_TROUBLE:
		MUST(err.text[0] != '\0');
		break;
	case TABLE_NONE:
		break;
	}
	table_free(&table);
	str_release(&spec);
	return 0;
}
