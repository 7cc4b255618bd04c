/* fuzz_progress.c - whatever processes say of themselves in RUN/progress-ROLE,
 * what is read of it is possible
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/progress.h"
#include "tests/fuzz/fuzz.h"

#include "base/banned.h"

static char dir[] = "/tmp/zmfuzzprogressXXXXXX", path[64];
static int fd = -1;

static void
progress_remove(void)
{
	(void)unlink(path);
	(void)rmdir(dir);
}

static void
progress_prepare(void)
{
	MUST(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/progress-router", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	MUST(fd >= 0 && atexit(progress_remove) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct progress all[PROGRESS_SLOTS], one;
	size_t count;

	if (fd < 0)
		progress_prepare();
	MUST(ftruncate(fd, 0) == 0);
	MUST(pwrite(fd, data, size, 0) == (ssize_t)size);
	count = progress_read(dir, "router", all);
	MUST(count <= PROGRESS_SLOTS);
	for (size_t i = 0; i < count; i++) {
		MUST(all[i].pid > 0 && all[i].turn_ms >= 0);
		MUST(all[i].work_ms >= -1 && all[i].longest_us >= 0);
		MUST(strnlen(all[i].name, sizeof(all[i].name)) <
		    sizeof(all[i].name));
		MUST(!fuzz_has_control(slice_of(all[i].name)));
		MUST(progress_find(dir, "router", all[i].pid, &one));
	}
	(void)progress_stands(dir, "router", &one);
	return 0;
}
