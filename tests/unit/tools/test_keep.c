/* test_keep.c - the journal in its bounds, and nothing of it lost
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "tools/journal/ask.h"
#include "tools/journal/keep.h"
#include "past/names.h"
#include "tools/journal/record_bodies.h"
#include "tools/journal/record_files.h"

static char dir[64];
static struct conf conf = { .journal_keep_ms = 14 * JOURNAL_DAY_MS,
	.journal_max_bytes = 1 << 20, .journal_part_bytes = 64 << 10 };

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/zmkeepXXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	conf.log_dir = dir;
}

static void
teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(keep, .init = setup, .fini = teardown);

static void
path_of(int ago, const char *rest, char out[200])
{
	char now[CLOCK_TEXT_BYTES];

	clock_rfc3339(clock_wall_us() - (int64_t)ago * JOURNAL_DAY_MS * 1000,
	    now);
	snprintf(out, 200, "%s/events-%.10s%s", dir, now, rest);
}

static bool
is_there(int ago, const char *rest)
{
	char path[200];

	path_of(ago, rest, path);
	return access(path, F_OK) == 0;
}

/* `count` lines of messages numbered from `first`. */
static void
lines_write(int ago, const char *rest, int first, int count)
{
	char path[200], day[CLOCK_TEXT_BYTES];
	FILE *file;

	path_of(ago, rest, path);
	clock_rfc3339(clock_wall_us() - (int64_t)ago * JOURNAL_DAY_MS * 1000,
	    day);
	file = fopen(path, "a");
	cr_assert_not_null(file);
	for (int i = first; i < first + count; i++)
		fprintf(file, "{\"t\":\"%.10sT00:00:00.000Z\","
		    "\"id\":\"01jd3x8k%06d\",\"ev\":\"message.accepted\","
		    "\"d\":\"smtpserver\",\"pid\":1,"
		    "\"client\":\"192.0.2.%d:25\",\"session\":\"s%d\","
		    "\"from\":\"<User%d@Example.org>\"}\n", day, i, i % 250,
		    i, i);
	fclose(file);
}

static size_t
lines_count(const char *what, size_t *out_skipped)
{
	struct arena *arena = arena_new();
	struct journal *journal;
	struct life life;
	struct journal_ask ask;
	struct err err;
	size_t count;

	cr_assert_eq(ask_parse(what, &ask, &err), 0);
	cr_assert_eq(journal_open_all(dir, &journal, &err), 0);
	life_find(journal, &ask, arena, &life);
	count = life.count;
	if (out_skipped != NULL)
		*out_skipped = journal_skipped(journal);
	journal_close(&journal);
	arena_free(&arena);
	return count;
}

static struct kept
keep(bool closes_all)
{
	struct kept kept;
	struct err err;

	cr_assert_eq(journal_keep(&conf, closes_all, &kept, &err), KEEP_DONE,
	    "%s", err.text);
	return kept;
}

Test(keep, names_say_day_number_and_packing)
{
	static const struct { const char *in; bool ok; unsigned number;
		bool is_packed; } rows[] = {
		{ "events-2026-11-20.jsonl", true, 0, false },
		{ "events-2026-11-20.007.jsonl", true, 7, false },
		{ "events-2026-11-20.999.jsonl.zst", true, 999, true },
		{ "events-2026-11-20.jsonl.zst", false, 0, false },
		{ "events-2026-11-20.000.jsonl", false, 0, false },
		{ "events-2026-11-20.01.jsonl", false, 0, false },
		{ "events-2026-11-20.jsonl.bak", false, 0, false },
		{ "events-2026-1x-20.jsonl", false, 0, false },
		{ "events-", false, 0, false }, { "", false, 0, false },
		{ ".events.draft", false, 0, false },
	};
	struct journal_name name;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(journal_name_parse(rows[i].in, &name), rows[i].ok,
		    "%s",
		    rows[i].in);
		if (!rows[i].ok)
			continue;
		cr_expect_eq(name.number, rows[i].number, "%s", rows[i].in);
		cr_expect_eq(name.is_packed, rows[i].is_packed, "%s",
		    rows[i].in);
	}
}

Test(keep, a_day_that_is_over_is_closed_and_packed_today_is_not)
{
	struct kept kept;

	lines_write(1, ".jsonl", 0, 10);
	lines_write(0, ".jsonl", 10, 10);
	kept = keep(false);
	cr_expect_eq(kept.closed, 1);
	cr_expect(is_there(0, ".jsonl"));
	cr_expect_not(is_there(1, ".jsonl"));
#ifdef HAVE_ZSTD
	cr_expect_eq(kept.packed, 1);
	cr_expect(is_there(1, ".001.jsonl.zst"));
	cr_expect_not(is_there(1, ".001.jsonl"));
#endif
	cr_expect_eq(lines_count("user3@example.org", NULL), 1);
	cr_expect_eq(lines_count("user13@example.org", NULL), 1);
	cr_expect_eq(keep(false).closed, 0);
}

Test(keep, what_is_too_large_is_closed_and_numbers_go_on)
{
	lines_write(0, ".jsonl", 0, 1000);
	cr_expect_eq(keep(false).closed, 1);
	lines_write(0, ".jsonl", 1000, 1000);
	cr_expect_eq(keep(false).closed, 1);
	lines_write(0, ".jsonl", 2000, 3);
	cr_expect_eq(keep(false).closed, 0);
	cr_expect_eq(lines_count("user999@example.org", NULL), 1);
	cr_expect_eq(lines_count("user1999@example.org", NULL), 1);
	cr_expect_eq(lines_count("user2001@example.org", NULL), 1);
	cr_expect_eq(lines_count("client:192.0.2.0/24", NULL), 1000,
	    "the newest 1000");
}

Test(keep, the_oldest_go_by_age_and_by_size)
{
	struct kept kept;

	lines_write(15, ".001.jsonl", 0, 10);
	lines_write(13, ".001.jsonl", 10, 10);
	kept = keep(false);
	cr_expect_eq(kept.removed, 1);
	cr_expect_eq(lines_count("user3@example.org", NULL), 0);
	cr_expect_eq(lines_count("user13@example.org", NULL), 1);
	/* what does not pack well */
	conf.journal_max_bytes = 16 << 10;
	for (int ago = 12; ago > 2; ago--)
		lines_write(ago, ".001.jsonl", ago * 1000, 1000);
	kept = keep(false);
	conf.journal_max_bytes = 1 << 20;
	cr_expect_leq(kept.bytes, 16 << 10);
	cr_expect_gt(kept.removed, 0);
	cr_expect_not(is_there(13, ".001.jsonl.zst"));
}

#ifdef HAVE_ZSTD

Test(keep, who_writes_keeps_a_part_from_being_packed)
{
	char path[200];
	int fd;

	lines_write(1, ".jsonl", 0, 10);
	path_of(1, ".jsonl", path);
	fd = open(path, O_WRONLY | O_APPEND);
	cr_assert_eq(flock(fd, LOCK_SH), 0);
	cr_expect_eq(keep(false).packed, 0);
	cr_expect(is_there(1, ".001.jsonl"));
	close(fd);
	cr_expect_eq(keep(false).packed, 1);
	cr_expect_eq(lines_count("user3@example.org", NULL), 1);
}

Test(keep, a_crash_between_packing_and_removing_shows_nothing_twice)
{
	lines_write(1, ".jsonl", 0, 10);
	cr_expect_eq(keep(false).packed, 1);
	lines_write(1, ".001.jsonl", 0, 10);	/* not unlinked yet */
	lines_write(0, "", 0, 1);		/* events-DAY: not ours */
	cr_expect_eq(lines_count("user3@example.org", NULL), 1);
	cr_expect_eq(keep(false).packed, 1);
	cr_expect_not(is_there(1, ".001.jsonl"));
	cr_expect_eq(lines_count("user3@example.org", NULL), 1);
}

Test(keep, a_question_unpacks_only_frames_that_may_answer)
{
	size_t skipped;

	lines_write(1, ".jsonl", 0, 30000);	/* some five frames */
	conf.journal_part_bytes = conf.journal_max_bytes = 1 << 30;
	cr_expect_eq(keep(false).packed, 1);
	cr_expect_eq(lines_count("user29999@example.org", &skipped), 1);
	cr_expect_geq(skipped, 8, "%zu of two walks", skipped);
	cr_expect_eq(lines_count("01jd3x8k000007", &skipped), 1);
	cr_expect_eq(lines_count("session:s15000", &skipped), 1);
	cr_expect_eq(lines_count("user30001@example.org", NULL), 0);
}

Test(keep, a_damaged_packed_part_ends_no_question)
{
	char path[200], byte;
	int fd;

	lines_write(1, ".jsonl", 0, 10);
	lines_write(2, ".jsonl", 10, 10);
	cr_expect_eq(keep(false).packed, 2);
	path_of(2, ".001.jsonl.zst", path);
	for (off_t at = 0; at < 8400; at += 7) {
		fd = open(path, O_RDWR);
		cr_assert_eq(pread(fd, &byte, 1, at), 1);
		byte ^= 0x55;
		cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		cr_expect_eq(lines_count("user3@example.org", NULL), 1);
	}
	cr_assert_eq(truncate(path, 100), 0);
	cr_expect_eq(lines_count("user3@example.org", NULL), 1);
}

#endif

/* A writer that had the part open when it was closed goes on in the new
 * file, within a second, and not one line is lost. */
Test(keep, a_writer_follows_the_name)
{
	char path[200];
	struct stat st;
	int64_t until_ms = clock_steady_ms() + 10000;
	int written = 0;

	cr_assert_eq(event_open(dir), 0);
	event(EV_DAEMON_STOP, "01jd3x8k000001", "reason", SLICE("x"), NULL);
	event_flush();
	written++;
	cr_expect_eq(keep(true).closed, 1);
	path_of(0, ".jsonl", path);
	while (stat(path, &st) < 0 && clock_steady_ms() < until_ms) {
		event(EV_DAEMON_STOP, "01jd3x8k000001", "reason", SLICE("x"),
		    NULL);
		event_flush();
		written++;
		usleep(1000);
	}
	cr_expect(is_there(0, ".jsonl"));
	cr_expect_eq(lines_count("01jd3x8k000001", NULL), (size_t)written);
	event_open_fd(-1);
	keep(true);
	cr_expect_eq(lines_count("01jd3x8k000001", NULL), (size_t)written);
}

/* ---- what sessions said ------------------------------------------------- */

static void
record_make(int ago, size_t bytes)
{
	char now[CLOCK_TEXT_BYTES], path[200];
	FILE *file;

	clock_rfc3339(clock_wall_us() - (int64_t)ago * JOURNAL_DAY_MS * 1000,
	    now);
	snprintf(path, sizeof(path), "%s/record-%.10s.jsonl", dir, now);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fprintf(file, "{\"t\":\"%s\"}%*s\n", now, (int)bytes, "");
	fclose(file);
}

static size_t
record_lines(void)
{
	const struct journal_span always = { 0, INT64_MAX };
	struct record_reader *reader;
	struct slice line;
	struct err err;
	size_t count = 0;

	cr_assert_eq(record_reader_open(dir, &always, &reader, &err), 0, "%s",
	    err.text);
	while (record_reader_next(reader, &line))
		count++;
	record_reader_close(&reader);
	return count;
}

Test(keep, records_go_by_days_by_size_and_all_when_off)
{
	struct conf record = { .record_ms = 3 * JOURNAL_DAY_MS,
		.record_max_bytes = 5000 };
	int64_t now_ms = clock_wall_us() / 1000;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	for (int ago = 0; ago < 6; ago++)
		record_make(ago, 1000);
	cr_expect_eq(record_lines(), 6);
	/* the day before the span's first is not wholly over yet */
	cr_expect_eq(record_files_keep(&record, fd, now_ms), 2);
	cr_expect_eq(record_lines(), 4);
	record.record_max_bytes = 2500;
	cr_expect_eq(record_files_keep(&record, fd, now_ms), 2);
	record.record_max_bytes = 10;
	/* today's stays, and grows no more */
	cr_expect_eq(record_files_keep(&record, fd, now_ms), 1);
	cr_expect_eq(record_lines(), 1);
	record.record_ms = 0;
	cr_expect_eq(record_files_keep(&record, fd, now_ms), 1);
	cr_expect_eq(record_lines(), 0);
	close(fd);
}

/* ---- messages beside the record ------------------------------------------ */

enum { BODY_BYTES = 100000 };

static void
body_path(int ago, const char *name, char out[200])
{
	char now[CLOCK_TEXT_BYTES];

	clock_rfc3339(clock_wall_us() - (int64_t)ago * JOURNAL_DAY_MS * 1000,
	    now);
	snprintf(out, 200, "%s/record/%.10s%s", dir, now, name);
}

/* With another name, as of a message that is still under way, and its mark. */
static void
body_make(int ago, const char *other)
{
	char day[200], path[200];
	FILE *file;

	body_path(ago, "", day);
	body_path(ago, "/0123456789ab", path);
	cr_assert_eq(mkdir(day, 0700), 0);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fprintf(file, "%*s", BODY_BYTES, "");
	fclose(file);
	cr_assert_eq(chmod(path, 0610), 0);
	cr_assert_eq(link(path, other), 0);
}

static mode_t
body_mode(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mode & 0777 : 0;
}

static mode_t
day_mode_of(int ago)
{
	char path[200];

	body_path(ago, "", path);
	return body_mode(path);
}

Test(keep, messages_go_by_days_and_by_size_and_today_is_shut)
{
	struct conf kept = { .record_ms = 3 * JOURNAL_DAY_MS,
		.record_bodies_max_bytes = 100 * BODY_BYTES,
		.spool_dir = dir };
	int64_t now_ms = clock_wall_us() / 1000;
	char others[6][100], path[200];

	snprintf(path, sizeof(path), "%s/record", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	for (int ago = 0; ago < 6; ago++) {
		snprintf(others[ago], sizeof(others[ago]), "%s/other-%d", dir,
		    ago);
		body_make(ago, others[ago]);
	}
	cr_expect_eq(record_bodies_keep(&kept, now_ms), 2);
	cr_expect_eq(day_mode_of(4), 0);
	cr_expect_eq(day_mode_of(3), 0700);
	cr_expect_eq(day_mode_of(-1), 0700, "tomorrow's is made");
	cr_expect_eq(body_mode(others[5]), 0600, "its mark is gone");
	cr_expect_eq(body_mode(others[3]), 0610);
	kept.record_bodies_max_bytes = 5 * BODY_BYTES / 2;
	cr_expect_eq(record_bodies_keep(&kept, now_ms), 2);
	cr_expect_eq(day_mode_of(2), 0);
	cr_expect_eq(day_mode_of(1), 0700);
	kept.record_bodies_max_bytes = BODY_BYTES;
	cr_expect_eq(record_bodies_keep(&kept, now_ms), 1);
	cr_expect_eq(day_mode_of(0), 0500, "today has as much as it may");
	kept.record_bodies_max_bytes = 3 * BODY_BYTES;
	cr_expect_eq(record_bodies_keep(&kept, now_ms), 0);
	cr_expect_eq(day_mode_of(0), 0700, "and is open again");
	kept.record_ms = 0;
	cr_expect_eq(record_bodies_keep(&kept, now_ms), 1);
	cr_expect_eq(day_mode_of(0), 0);
	cr_expect_eq(body_mode(others[0]), 0600);
}
