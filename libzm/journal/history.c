/* history.c - rates and sizes of the past, in one file that does not grow
 *
 * In     samples; the bytes of the file
 * Out    records
 * Holds  a descriptor
 * Trusts nothing of the file: a header that is not ours is left alone, a
 *        record counts when moment and checksum are right, and its numbers
 *        only go into text
 * Spec   history.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "journal/counters.h"
#include "journal/history.h"

#include "base/banned.h"

#define NAME "history"
#define NAME_NEW "history.new"

enum {
	DAY_S = 86400,
	BYTE_ORDER_MARK = 0x01020304,
	COUNT_MOST = INT32_MAX		/* of seconds that one covers */
};

static const char magic[16] = "zmailer history";

const struct history_archive history_archives[HISTORY_ARCHIVES] = {
	{ HISTORY_SAMPLE_S, DAY_S / HISTORY_SAMPLE_S },
	{ 300, 31 * DAY_S / 300 }, { 3600, 2 * 366 * DAY_S / 3600 }
};

const char *const history_count_names[HISTORY_COUNTS] = {
#define HISTORY_COUNT(symbol, name, metric, labels, text) name,
#define HISTORY_MORE(symbol, metric, labels)
#define HISTORY_LEVEL(symbol, name, text)
#include "journal/history_rows.h"
#undef HISTORY_COUNT
#undef HISTORY_MORE
#undef HISTORY_LEVEL
};

const char *const history_level_names[HISTORY_LEVELS] = {
#define HISTORY_COUNT(symbol, name, metric, labels, text)
#define HISTORY_MORE(symbol, metric, labels)
#define HISTORY_LEVEL(symbol, name, text) name,
#include "journal/history_rows.h"
#undef HISTORY_COUNT
#undef HISTORY_MORE
#undef HISTORY_LEVEL
};

static const struct history_source {
	enum history_count count;
	const char	*metric, *labels;
} sources[] = {
#define HISTORY_COUNT(symbol, name, metric, labels, text) \
	{ HISTORY_##symbol, metric, labels },
#define HISTORY_MORE(symbol, metric, labels) \
	{ HISTORY_##symbol, metric, labels },
#define HISTORY_LEVEL(symbol, name, text)
#include "journal/history_rows.h"
#undef HISTORY_COUNT
#undef HISTORY_MORE
#undef HISTORY_LEVEL
};

void
history_counters(uint64_t out_counts[HISTORY_COUNTS])
{
	memset(out_counts, 0, HISTORY_COUNTS * sizeof(*out_counts));
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		out_counts[sources[i].count] += counters_sum(
		    sources[i].metric, sources[i].labels);
}

/* ---- the header -------------------------------------------------------- */

struct history_header {
	char		magic[sizeof(magic)];
	uint32_t	byte_order, version, record_bytes, checksum;
	struct history_archive archives[HISTORY_ARCHIVES];
};

static void
history_head(struct history_header *out)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->magic, magic, sizeof(magic));
	out->byte_order = BYTE_ORDER_MARK;
	out->version = HISTORY_VERSION;
	out->record_bytes = sizeof(struct history_record);
	memcpy(out->archives, history_archives, sizeof(history_archives));
	out->checksum = crc32c(0, out, sizeof(*out));
}

static int
history_check(int fd, struct err *err)
{
	struct history_header ours, there;
	ssize_t n = pread(fd, &there, sizeof(there), 0);

	history_head(&ours);
	if (n < 0)
		return err_sys(err, "read");
	if (n < (ssize_t)sizeof(there) ||
	    memcmp(there.magic, magic, sizeof(magic)) != 0)
		return err_set(err, "this is no history of zmailer; it is "
		    "left as it is: move it away, and a new one is begun");
	if (there.byte_order != BYTE_ORDER_MARK)
		return err_set(err, "it was written on a machine with another "
		    "order of bytes: move it away, and a new one is begun");
	if (there.version != HISTORY_VERSION)
		return err_set(err, "it is of version %u, and this zmailer "
		    "reads %d: move it away, and a new one is begun",
		    there.version, HISTORY_VERSION);
	if (memcmp(&ours, &there, sizeof(ours)) != 0)
		return err_set(err, "its header is damaged: move it away, and "
		    "a new one is begun");
	return 0;
}

/* ---- the file ---------------------------------------------------------- */

static off_t
archive_at(unsigned archive)
{
	off_t at = HISTORY_HEADER_BYTES;

	for (unsigned i = 0; i < archive; i++)
		at += (off_t)(history_archives[i].count *
		    (int64_t)sizeof(struct history_record));
	return at;
}

/* Beside its name first: a file of that name has a header. */
static int
history_make(int dir_fd, struct err *err)
{
	struct history_header header;
	int fd;

	history_head(&header);
	(void)unlinkat(dir_fd, NAME_NEW, 0);
	fd = openat(dir_fd, NAME_NEW, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC |
	    O_NOFOLLOW, 0640);
	if (fd < 0)
		return err_sys(err, NAME_NEW);
	if (ftruncate(fd, archive_at(HISTORY_ARCHIVES)) < 0 ||
	    pwrite(fd, &header, sizeof(header), 0) !=
	    (ssize_t)sizeof(header) || fsync(fd) < 0 ||
	    renameat(dir_fd, NAME_NEW, dir_fd, NAME) < 0) {
		(void)err_sys(err, NAME_NEW);
		close(fd);
		(void)unlinkat(dir_fd, NAME_NEW, 0);
		return -1;
	}
	return fd;
}

/* A device or a pipe of that name is not waited for. */
static int
history_open_there(int dir_fd)
{
	return openat(dir_fd, NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY);
}

int
history_open(struct history *out, int dir_fd, struct err *err)
{
	int fd = history_open_there(dir_fd);
	struct stat st;

	out->fd = -1;
	if (fd < 0 && errno == ENOENT)
		fd = history_make(dir_fd, err);
	else if (fd < 0)
		(void)err_sys(err, NAME);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    history_check(fd, err) < 0) {
		if (!S_ISREG(st.st_mode))
			(void)err_set(err, "no file");
		close(fd);
		return err_prefix(err, NAME);
	}
	out->fd = fd;
	return 0;
}

void
history_close(struct history *history)
{
	if (history->fd >= 0)
		close(history->fd);
	history->fd = -1;
}

/* ---- records ----------------------------------------------------------- */

static uint32_t
record_sum(const struct history_record *record)
{
	return crc32c(0, &record->covered_s, sizeof(*record) -
	    offsetof(struct history_record, covered_s));
}

/* Which one of its archive. */
static int64_t
archive_slot(unsigned archive, int64_t at_s)
{
	const struct history_archive *row = &history_archives[archive];

	return at_s / row->step_s % row->count;
}

static off_t
record_at(unsigned archive, int64_t slot)
{
	return archive_at(archive) +
	    (off_t)(slot * (int64_t)sizeof(struct history_record));
}

static bool
record_is_good(const struct history_record *record, int64_t at_s)
{
	return record->at_s == at_s && record->covered_s > 0 &&
	    record->covered_s <= COUNT_MOST &&
	    record->checksum == record_sum(record);
}

void
history_sum(struct history_record *sum, const struct history_record *one)
{
	uint64_t covered_s = (uint64_t)sum->covered_s + one->covered_s;

	sum->covered_s = covered_s < COUNT_MOST ? (uint32_t)covered_s :
	    COUNT_MOST;
	for (int i = 0; i < HISTORY_COUNTS; i++)
		sum->counts[i] += one->counts[i];
	for (int i = 0; i < HISTORY_LEVELS; i++) {
		sum->levels[i] = one->levels[i];
		if (one->most[i] > sum->most[i])
			sum->most[i] = one->most[i];
	}
}

static void
record_add(const struct history *history, unsigned archive, int64_t at_s,
    const struct history_record *sample)
{
	off_t at = record_at(archive, archive_slot(archive, at_s));
	struct history_record record;

	if (pread(history->fd, &record, sizeof(record), at) !=
	    (ssize_t)sizeof(record) || !record_is_good(&record, at_s))
		record = (struct history_record){ .at_s = at_s };
	history_sum(&record, sample);
	record.checksum = record_sum(&record);
	/* what does not fit on the disk is a gap */
	if (pwrite(history->fd, &record, sizeof(record), at) < 0)
		return;
}

void
history_add(const struct history *history, int64_t end_s, int64_t covered_s,
    const struct history_record *sample)
{
	struct history_record one = *sample;

	if (end_s < 1)		/* a clock that was never set */
		return;
	one.covered_s = covered_s < 1 ? 1 : covered_s > COUNT_MOST ?
	    COUNT_MOST : (uint32_t)covered_s;
	memcpy(one.most, one.levels, sizeof(one.most));
	for (unsigned i = 0; i < HISTORY_ARCHIVES; i++) {
		int64_t step_s = history_archives[i].step_s;

		record_add(history, i, (end_s - 1) / step_s * step_s, &one);
	}
}

/* Count records from a slot on, none of them beyond the archive's end. */
static void
records_read(const struct history *history, unsigned archive, int64_t slot,
    size_t count, struct history_record *out)
{
	ssize_t n = pread(history->fd, out, count * sizeof(*out),
	    record_at(archive, slot));
	size_t whole = n < 0 ? 0 : (size_t)n / sizeof(*out);

	memset(out + whole, 0, (count - whole) * sizeof(*out));
}

void
history_read(const struct history *history, unsigned archive, int64_t from_s,
    size_t count, struct history_record *out)
{
	const struct history_archive *row = &history_archives[archive];
	int64_t slot;
	size_t first;

	if (from_s < 0)
		from_s = 0;
	from_s -= from_s % row->step_s;
	slot = archive_slot(archive, from_s);
	first = (size_t)(row->count - slot);
	if (count > HISTORY_READ_MAX)
		count = HISTORY_READ_MAX;
	if (first > count)
		first = count;
	records_read(history, archive, slot, first, out);
	records_read(history, archive, 0, count - first, out + first);
	for (size_t i = 0; i < count; i++)
		if (!record_is_good(&out[i], from_s + (int64_t)i *
		    row->step_s))
			out[i].covered_s = 0;
}
