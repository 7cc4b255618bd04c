/* fuzz_include.c - any bytes as a list file
 *
 * Its lines, put together again, are the file; long ones are cut.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "router/route/include.h"

static char path[] = "/tmp/zm-fuzz-include-XXXXXX/list";

static void
make_directory(void)
{
	path[27] = '\0';
	MUST(mkdtemp(path) != NULL);
	path[27] = '/';
}

static void
clean_up(void)
{
	unlink(path);
	path[27] = '\0';
	rmdir(path);
}

static void
write_file(const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_ready;
	struct slice rest = fuzz_slice(data, size), line, want;
	struct include include;
	struct err err;
	enum include_result more;

	if (!is_ready) {
		make_directory();
		atexit(clean_up);
		is_ready = true;
	}
	write_file(data, size);
	MUST(include_open(&include, path, -2, &err) == 0);
	while ((more = include_line(&include, &line, &err)) == INCLUDE_LINE) {
		MUST(slice_cut(&rest, '\n', &want));
		if (want.n <= INCLUDE_LINE_BYTES_MAX)
			MUST(slice_equal(line, want));
		else
			MUST(line.n == INCLUDE_LINE_BYTES_MAX + 1);
	}
	MUST(more == INCLUDE_END);
	MUST(rest.n == 0);
	MUST(include_close(&include, &err) == 0);
	return 0;
}
