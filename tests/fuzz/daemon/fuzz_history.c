/* fuzz_history.c - whatever stands in a history, reading it ends
 *
 * The input is written into a file that was good.  Its first byte says where:
 * up to 127 bytes after the begin, else from the 128th last record of a day
 * on.  When its second byte is odd, the first record has the moment and the
 * checksum that belong there.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "journal/history.h"
#include "tests/fuzz/fuzz.h"

#include "base/banned.h"

enum { NOW_S = 1800000000, MADE_MAX = 4096 };

static char dir[] = "/tmp/zmfuzzhistoryXXXXXX";
static int dir_fd = -1;
static struct history history;
static char header[HISTORY_HEADER_BYTES];

static void
history_remove(void)
{
	(void)unlinkat(dir_fd, "history", 0);
	(void)rmdir(dir);
}

static void
history_prepare(void)
{
	struct err err;

	MUST(mkdtemp(dir) != NULL);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(dir_fd >= 0 && history_open(&history, dir_fd, &err) == 0);
	MUST(pread(history.fd, header, sizeof(header), 0) ==
	    (ssize_t)sizeof(header));
	MUST(atexit(history_remove) == 0);
}

static void
history_look(const struct history *one)
{
	static struct history_record records[HISTORY_READ_MAX];
	struct history_record sum = { 0 };

	for (unsigned i = 0; i < HISTORY_ARCHIVES; i++) {
		int64_t step_s = history_archives[i].step_s;

		history_read(one, i, NOW_S - 500 * step_s, HISTORY_READ_MAX,
		    records);
		for (size_t k = 0; k < HISTORY_READ_MAX; k++) {
			if (records[k].covered_s == 0)
				continue;
			MUST(records[k].at_s % step_s == 0);
			MUST(records[k].covered_s <= INT32_MAX);
			history_sum(&sum, &records[k]);
		}
	}
	MUST(sum.covered_s <= INT32_MAX);
}

static void
history_write(const uint8_t *data, size_t size)
{
	int64_t back = 256 - data[0];
	int64_t at_s = NOW_S - back * HISTORY_SAMPLE_S;
	off_t at = data[0] < 128 ? data[0] : HISTORY_HEADER_BYTES +
	    (off_t)(at_s / HISTORY_SAMPLE_S % history_archives[0].count) *
	    (off_t)sizeof(struct history_record);
	bool is_good = (data[1] & 1) != 0;
	struct history_record record;

	data += 2;
	size -= 2;
	if (is_good && size >= sizeof(record)) {
		memcpy(&record, data, sizeof(record));
		record.at_s = at_s;
		record.checksum = crc32c(0, &record.covered_s,
		    sizeof(record) - sizeof(record.checksum));
		MUST(pwrite(history.fd, &record, sizeof(record), at) ==
		    (ssize_t)sizeof(record));
		at += (off_t)sizeof(record);
		data += sizeof(record);
		size -= sizeof(record);
	}
	MUST(pwrite(history.fd, data, size, at) == (ssize_t)size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct history_record sample = { 0 };
	struct history again;
	struct err err;

	if (size < 2 || size > MADE_MAX)
		return 0;
	if (dir_fd < 0)
		history_prepare();
	MUST(ftruncate(history.fd, 0) == 0);
	MUST(pwrite(history.fd, header, sizeof(header), 0) ==
	    (ssize_t)sizeof(header));
	history_write(data, size);
	history_look(&history);
	for (int64_t back = 0; back < 200; back += 7)
		history_add(&history, NOW_S - back * HISTORY_SAMPLE_S, 10,
		    &sample);
	history_look(&history);
	if (history_open(&again, dir_fd, &err) == 0) {
		history_look(&again);
		history_close(&again);
	} else {
		MUST(strncmp(err.text, "history: ", 9) == 0);
	}
	return 0;
}
