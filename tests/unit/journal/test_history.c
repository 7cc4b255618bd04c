/* test_history.c - the past in a file that does not grow
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/history.h"

#include "base/banned.h"

enum { NOW_S = 1800000000, SAMPLE = HISTORY_SAMPLE_S,
	RECORD = sizeof(struct history_record) };

static char dir[64];
static int dir_fd;
static struct history history;

static void
again(void)
{
	struct err err;

	history_close(&history);
	cr_assert_eq(history_open(&history, dir_fd, &err), 0, "%s", err.text);
}

static void
begin(void)
{
	struct err err;

	snprintf(dir, sizeof(dir), "/tmp/zmhistoryXXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(history_open(&history, dir_fd, &err), 0, "%s", err.text);
}

static void
end(void)
{
	char command[100];

	history_close(&history);
	close(dir_fd);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}

TestSuite(history, .init = begin, .fini = end);

static void
add(int64_t end_s, uint64_t delivered, uint64_t waiting)
{
	struct history_record sample = { 0 };

	sample.counts[HISTORY_DELIVERED] = delivered;
	sample.levels[HISTORY_WAITING] = waiting;
	history_add(&history, end_s, SAMPLE, &sample);
}

static struct history_record
one(unsigned archive, int64_t at_s)
{
	struct history_record record;

	history_read(&history, archive, at_s, 1, &record);
	return record;
}

static off_t
file_bytes(void)
{
	struct stat st;

	cr_assert_eq(fstat(history.fd, &st), 0);
	return st.st_size;
}

Test(history, a_sample_is_in_each_archive)
{
	struct history_record record;

	add(NOW_S, 7, 3);
	add(NOW_S - SAMPLE, 5, 9);	/* another order of samples */
	cr_expect_eq(one(0, NOW_S - SAMPLE).counts[HISTORY_DELIVERED], 7);
	cr_expect_eq(one(0, NOW_S).covered_s, 0, "not yet");
	record = one(1, NOW_S - 300);
	cr_expect_eq(record.counts[HISTORY_DELIVERED], 12);
	cr_expect_eq(record.covered_s, 2 * SAMPLE);
	cr_expect_eq(record.levels[HISTORY_WAITING], 9, "the last one");
	cr_expect_eq(record.most[HISTORY_WAITING], 9);
	record = one(2, NOW_S - 3600);
	cr_expect_eq(record.counts[HISTORY_DELIVERED], 12);
	cr_expect_eq(record.counts[HISTORY_FAILED], 0);
}

/* Two rounds and a bit: what is older than one is not there, and the file is
 * as long as before. */
Test(history, goes_round)
{
	int64_t count = history_archives[0].count, end_s = NOW_S;
	off_t before = file_bytes();
	struct history_record records[HISTORY_READ_MAX];
	int64_t found = 0;

	for (int64_t i = 0; i < 2 * count + 100; i++, end_s += SAMPLE)
		add(end_s, (uint64_t)i, 1);
	end_s -= SAMPLE;
	cr_expect_eq(file_bytes(), before);
	for (int64_t at_s = end_s - 2 * count * SAMPLE; at_s < end_s;
	    at_s += HISTORY_READ_MAX * SAMPLE) {
		history_read(&history, 0, at_s, HISTORY_READ_MAX, records);
		for (int64_t i = 0; i < HISTORY_READ_MAX; i++)
			if (records[i].covered_s > 0) {
				cr_assert_eq(records[i].at_s, at_s + i *
				    SAMPLE);
				cr_assert_eq(records[i].counts[
				    HISTORY_DELIVERED], (uint64_t)((at_s -
				    NOW_S) / SAMPLE + i + 1));
				found++;
			}
	}
	cr_expect_eq(found, count, "%lld", (long long)found);
}

Test(history, goes_on_after_a_restart)
{
	add(NOW_S, 1, 4);
	again();
	add(NOW_S, 2, 1);
	cr_expect_eq(one(0, NOW_S - SAMPLE).counts[HISTORY_DELIVERED], 3);
	cr_expect_eq(one(0, NOW_S - SAMPLE).covered_s, 2 * SAMPLE);
	cr_expect_eq(one(0, NOW_S - SAMPLE).levels[HISTORY_WAITING], 1);
	cr_expect_eq(one(0, NOW_S - SAMPLE).most[HISTORY_WAITING], 4);
}

Test(history, a_gap_is_a_gap)
{
	struct history_record records[31];

	add(NOW_S, 1, 1);
	add(NOW_S + 300, 2, 1);
	history_read(&history, 0, NOW_S - SAMPLE, 31, records);
	for (int i = 1; i < 30; i++)
		cr_expect_eq(records[i].covered_s, 0);
	cr_expect_eq(records[0].counts[HISTORY_DELIVERED], 1);
	cr_expect_eq(records[30].counts[HISTORY_DELIVERED], 2);
	/* a day later the place of that moment is another moment's */
	cr_expect_eq(one(0, NOW_S - SAMPLE + 86400).covered_s, 0);
}

/* An hour is lived twice: both count, and so does their time.  What was
 * written ahead of the clock is passed over until its time has come. */
Test(history, a_clock_that_is_set_back)
{
	struct history_record record;

	add(NOW_S, 100, 5);
	add(NOW_S - 3600, 50, 6);
	add(NOW_S, 50, 2);
	record = one(0, NOW_S - SAMPLE);
	cr_expect_eq(record.counts[HISTORY_DELIVERED], 150);
	cr_expect_eq(record.covered_s, 2 * SAMPLE, "the rate is a mean");
	cr_expect_eq(record.levels[HISTORY_WAITING], 2);
	cr_expect_eq(record.most[HISTORY_WAITING], 5);
	add(NOW_S + 86400 * 400, 1, 1);
	cr_expect_eq(one(0, NOW_S - SAMPLE + 86400).covered_s, 0);
	add(-5, 1, 1);		/* and one that was never set */
	history_read(&history, 0, -100, 1, &record);
	cr_expect_eq(record.covered_s, 0);
}

Test(history, a_sample_that_took_long_says_so)
{
	struct history_record sample = { 0 };

	history_add(&history, NOW_S, 95, &sample);
	cr_expect_eq(one(0, NOW_S - SAMPLE).covered_s, 95);
	history_add(&history, NOW_S + SAMPLE, 0, &sample);
	cr_expect_eq(one(0, NOW_S).covered_s, 1);
	history_add(&history, NOW_S + 2 * SAMPLE, INT64_MAX, &sample);
	history_add(&history, NOW_S + 2 * SAMPLE, INT64_MAX, &sample);
	cr_expect_eq(one(0, NOW_S + SAMPLE).covered_s, INT32_MAX);
}

static void
damage(off_t at, const void *bytes, size_t n)
{
	cr_assert_eq(pwrite(history.fd, bytes, n, at), (ssize_t)n);
}

/* Any byte of a record that is another one: no record, and the next sample
 * begins it anew. */
Test(history, a_damaged_record_is_none)
{
	int64_t slot = (NOW_S - SAMPLE) / SAMPLE % history_archives[0].count;
	off_t at = HISTORY_HEADER_BYTES + slot * RECORD;
	unsigned char byte;

	for (int i = 0; i < RECORD; i++) {
		add(NOW_S, 3, 3);
		cr_assert_eq(one(0, NOW_S - SAMPLE).counts[
		    HISTORY_DELIVERED], 3);
		cr_assert_eq(pread(history.fd, &byte, 1, at + i), 1);
		byte ^= 0x40;
		damage(at + i, &byte, 1);
		cr_assert_eq(one(0, NOW_S - SAMPLE).covered_s, 0, "%d", i);
	}
}

/* A crash of the machine may leave the file shorter. */
Test(history, a_file_that_is_cut_off_has_fewer)
{
	add(NOW_S, 3, 3);
	cr_assert_eq(ftruncate(history.fd, HISTORY_HEADER_BYTES + 200), 0);
	again();
	cr_expect_eq(one(0, NOW_S - SAMPLE).covered_s, 0);
	cr_expect_eq(one(2, NOW_S - 3600).covered_s, 0);
	add(NOW_S, 3, 3);
	cr_expect_eq(one(0, NOW_S - SAMPLE).counts[HISTORY_DELIVERED], 3);
	cr_expect_eq(one(2, NOW_S - 3600).counts[HISTORY_DELIVERED], 3);
}

/* ---- what is no history ------------------------------------------------ */

static const struct {
	off_t		 at;
	const char	*bytes;
	size_t		 n;
	const char	*words;
} headers[] = {
	{ 0, "#!/bin/sh\n", 10, "no history of zmailer" },
	{ 15, "x", 1, "no history of zmailer" },
	{ 16, "\1\2\3\4", 4, "another order of bytes" },
	{ 20, "\7\0\0\0", 4, "of version 7, and this zmailer reads 1" },
	{ 24, "\1", 1, "its header is damaged" },
	{ 28, "zzzz", 4, "its header is damaged" },
	{ 32, "\2", 1, "its header is damaged" },
	{ 72, "\377", 1, "its header is damaged" },
};

Test(history, a_file_of_others_is_refused_and_left_alone)
{
	char good[128], bad[128], there[128];
	struct err err;

	cr_assert_eq(pread(history.fd, good, sizeof(good), 0), 128);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct history other;

		damage(0, good, sizeof(good));
		damage(headers[i].at, headers[i].bytes, headers[i].n);
		cr_assert_eq(pread(history.fd, bad, sizeof(bad), 0), 128);
		cr_expect_eq(history_open(&other, dir_fd, &err), -1);
		cr_expect(strncmp(err.text, "history: ", 9) == 0 &&
		    strstr(err.text, headers[i].words) != NULL &&
		    strstr(err.text, "move it away") != NULL, "%zu: %s", i,
		    err.text);
		cr_assert_eq(pread(history.fd, there, sizeof(there), 0), 128);
		cr_expect_arr_eq(there, bad, sizeof(bad));
	}
}

static void
expect_refused(const char *words)
{
	struct history other;
	struct err err;

	cr_expect_eq(history_open(&other, dir_fd, &err), -1);
	cr_expect_eq(other.fd, -1);
	cr_expect_not_null(strstr(err.text, words), "%s", err.text);
}

Test(history, what_is_no_file_is_refused)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/history", dir);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
	expect_refused("no history of zmailer");
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_refused("no file");
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(symlink("/dev/null", path), 0);
	expect_refused("history");
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkdir(path, 0700), 0);
	expect_refused("history");
}

/* A start that was cut off leaves what the next one takes away. */
Test(history, a_start_that_was_cut_off)
{
	char path[80], path_new[80];

	snprintf(path, sizeof(path), "%s/history", dir);
	snprintf(path_new, sizeof(path_new), "%s/history.new", dir);
	cr_assert_eq(rename(path, path_new), 0);
	again();
	cr_expect_eq(access(path_new, F_OK), -1);
	add(NOW_S, 1, 1);
	cr_expect_eq(one(0, NOW_S - SAMPLE).covered_s, SAMPLE);
}
