/* fuzz_counters.c - whatever stands in the file of the counters, what is
 * printed of it are lines of metrics
 *
 * The input is written over the file of a process that counted: its first two
 * bytes say where, in eights, from the end when the second one is odd (the
 * names of listeners and channels are there).
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/counters.h"
#include "tests/fuzz/fuzz.h"

#include "base/banned.h"

enum { INPUT_MAX = 65536, UNIT = 8 };

static char dir[] = "/tmp/zmfuzzcountersXXXXXX", name[NAME_MAX + 1];
static int dir_fd = -1, fd = -1;
static off_t file_bytes;

static void
counters_remove(void)
{
	(void)unlinkat(dir_fd, name, 0);
	(void)rmdir(dir);
}

static void
counters_prepare(void)
{
	const struct dirent *entry;
	struct stat st;
	DIR *list;

	MUST(mkdtemp(dir) != NULL);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(dir_fd >= 0);
	counters_open(dir_fd);
	MUST((list = opendir(dir)) != NULL);
	while ((entry = readdir(list)) != NULL)
		if (entry->d_name[0] != '.')
			snprintf(name, sizeof(name), "%s", entry->d_name);
	closedir(list);
	fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC);
	MUST(fd >= 0 && fstat(fd, &st) == 0);
	file_bytes = st.st_size;
	MUST(atexit(counters_remove) == 0);
}

/* Each line a comment or a metric of ours, of printable words. */
static void
check_lines(struct slice text)
{
	struct slice line;

	MUST(text.n > 0 && text.p[text.n - 1] == '\n');
	text.n--;
	while (slice_cut(&text, '\n', &line)) {
		MUST(slice_starts(line, "# ") ||
		    slice_starts(line, "zmailer_"));
		MUST(!fuzz_has_control(line));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = STR_INIT;
	off_t at;

	if (size < 2 || size > INPUT_MAX)
		return 0;
	if (fd < 0)
		counters_prepare();
	at = (off_t)(data[0] << 8 | data[1]) * UNIT % file_bytes;
	if (data[1] & 1)
		at = file_bytes - at;
	/* first what was there is removed, then it has its size again */
	MUST(ftruncate(fd, 0) == 0 && ftruncate(fd, file_bytes) == 0);
	MUST(pwrite(fd, data + 2, size - 2, at) == (ssize_t)size - 2);
	MUST(ftruncate(fd, file_bytes) == 0);
	MUST(counters_read(dir_fd) == 0);
	counters_print(&text);
	check_lines(str_slice(&text));
	str_release(&text);
	(void)counters_sum("messages_accepted", "");
	/* cut off: it is not mapped */
	MUST(ftruncate(fd, file_bytes - 1) == 0);
	MUST(counters_read(dir_fd) == -1);
	return 0;
}
