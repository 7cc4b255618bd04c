/* fuzz_job.c - a job line against a control file
 *
 * The input's first line is the job, the rest the control file after its
 * first line.
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "mail/control_file/control_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = { (const char *)data, size }, line;
	struct arena *arena = arena_new();
	struct str file = STR_INIT;
	struct control_job job;
	struct err err;
	int fd;

	if (!slice_cut(&rest, '\n', &line))
		line = (struct slice){ NULL, 0 };
	str_addf(&file, "@ 1 %08zu %08" PRIx32 "\n", rest.n + 22,
	    crc32c(0, rest.p, rest.n));
	str_add_slice(&file, rest);
	fd = memfd_create("control", MFD_CLOEXEC);
	if (fd < 0 || write(fd, file.buf, file.len) != (ssize_t)file.len)
		abort();
	if (control_job_load(arena, line, fd, &job, &err) == 0) {
		if (job.rcpt_count == 0 || job.header.n > file.len)
			abort();
		for (size_t i = 0; i < job.rcpt_count; i++)
			if (job.rcpts[i].offset >= file.len ||
			    file.buf[job.rcpts[i].offset] != 'r')
				abort();
	}
	close(fd);
	str_release(&file);
	arena_free(&arena);
	return 0;
}
