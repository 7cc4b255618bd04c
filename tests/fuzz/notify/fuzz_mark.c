/* fuzz_mark.c - whatever stands in the file of a receiver: what was read is
 * written as it was read
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "notify/mark/mark.h"
#include "tests/fuzz/fuzz.h"

#include "base/banned.h"

static char dir[] = "/tmp/zmfuzzmarkXXXXXX";
static int dir_fd = -1;

static void
mark_remove(void)
{
	(void)unlinkat(dir_fd, "one", 0);
	(void)unlinkat(dir_fd, "two", 0);
	(void)rmdir(dir);
}

static void
mark_prepare(void)
{
	MUST(mkdtemp(dir) != NULL);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(dir_fd >= 0 && atexit(mark_remove) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mark first, second;
	struct err err;
	int fd;

	if (dir_fd < 0)
		mark_prepare();
	fd = openat(dir_fd, "one", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
	    0600);
	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	if (!mark_read(dir_fd, "one", &first))
		return 0;
	MUST(mark_write(dir_fd, "two", &first, &err) == 0);
	MUST(mark_read(dir_fd, "two", &second));
	MUST(trail_place_equal(&first.taken, &second.taken));
	MUST(first.has_batch == second.has_batch);
	if (first.has_batch)
		MUST(trail_place_equal(&first.end, &second.end));
	return 0;
}
