/* test_trail.c - a place in the journal is found again, whatever its part is
 * called and however it is stored
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "past/frame.h"
#include "past/trail.h"

static char dir[64];
static int dir_fd;

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/zmtrailXXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	cr_assert_geq(dir_fd, 0);
}

static void
teardown(void)
{
	char command[128];

	close(dir_fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(trail, .init = setup, .fini = teardown);

/* Days long past: no part is the one that is written now, and each turn waits
 * for late lines. */
#define DAY_ONE "events-2026-01-01"
#define DAY_TWO "events-2026-01-02"

static void
file_append(const char *name, const char *text)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_APPEND, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* Lines from..to-1 of a day, a second each. */
static void
lines_append(const char *name, unsigned from, unsigned to)
{
	struct str text = STR_INIT;

	for (unsigned i = from; i < to; i++)
		str_addf(&text, "{\"t\":\"%.10sT00:00:%02u.000Z\",\"ev\":\"x\","
		    "\"n\":\"%u\"}\n", name + 7, i, i);
	file_append(name, text.buf);
	str_release(&text);
}

static void
file_rename(const char *from, const char *to)
{
	cr_assert_eq(renameat(dir_fd, from, dir_fd, to), 0);
}

/* As the keeper does: the packed file is there before the other is gone. */
static void
file_pack(const char *name)
{
	struct str text = STR_INIT;
	char packed[80], bytes[8192];
	struct err err;
	int fd = openat(dir_fd, name, O_RDONLY);
	ssize_t n = read(fd, bytes, sizeof(bytes));

	close(fd);
	str_add(&text, bytes, (size_t)n);
	snprintf(packed, sizeof(packed), "%s.zst", name);
	fd = openat(dir_fd, packed, O_WRONLY | O_CREAT, 0600);
#ifndef HAVE_ZSTD
	cr_skip_test("without libzstd nothing is packed");
#endif
	cr_assert_eq(frames_write(str_slice(&text), fd, &err), 0);
	close(fd);
	cr_assert_eq(unlinkat(dir_fd, name, 0), 0);
	str_release(&text);
}

/* The numbers of the lines that come; "!" for a gap.  Waits for the turn of
 * raw parts when there are to be more. */
static void
expect_lines(struct trail *trail, const char *want)
{
	struct str got = STR_INIT;
	struct slice line;

	for (int left = 400; left > 0; left--) {
		enum trail_got what = trail_next(trail, &line);

		if (what == TRAIL_GAP)
			str_adds(&got, "! ");
		if (what == TRAIL_LINE)
			str_addf(&got, "%.*s ", (int)(line.n - 2 -
			    slice_find(line, 'n') - 4),
			    line.p + slice_find(line, 'n') + 4);
		if (what != TRAIL_NONE)
			continue;
		if (got.len >= strlen(want))
			break;
		usleep(10000);
	}
	cr_expect_str_eq(got.buf, want);
	str_release(&got);
}

/* A place as it is kept: its text, read again. */
static struct trail_place
place_kept(const struct trail *trail)
{
	struct str text = STR_INIT;
	struct trail_place place;
	struct slice rest;

	trail_place_add(&text, trail_at(trail));
	rest = str_slice(&text);
	cr_assert(trail_place_take(&rest, &place), "%s", text.buf);
	cr_expect(trail_place_equal(&place, trail_at(trail)));
	cr_expect_eq(place.at_ms, trail_at(trail)->at_ms);
	str_release(&text);
	return place;
}

Test(trail, a_place_survives_renames_and_packing)
{
	struct trail *trail = trail_new(dir_fd);
	struct trail_place place;

	lines_append(DAY_ONE ".jsonl", 0, 5);
	expect_lines(trail, "0 1 2 3 4 ");
	place = place_kept(trail);
	lines_append(DAY_ONE ".jsonl", 5, 8);
	expect_lines(trail, "5 6 7 ");
	trail_go(trail, &place);
	file_rename(DAY_ONE ".jsonl", DAY_ONE ".001.jsonl");
	expect_lines(trail, "5 6 7 ");
	trail_go(trail, &place);
	file_pack(DAY_ONE ".001.jsonl");
	expect_lines(trail, "5 6 7 ");
	trail_free(&trail);
}

Test(trail, an_open_part_is_read_to_its_end_when_it_is_packed_and_gone)
{
	struct trail *trail = trail_new(dir_fd);

	lines_append(DAY_ONE ".jsonl", 0, 2);
	expect_lines(trail, "0 1 ");
	file_rename(DAY_ONE ".jsonl", DAY_ONE ".001.jsonl");
	lines_append(DAY_ONE ".001.jsonl", 2, 4);	/* who writes is late */
	lines_append(DAY_TWO ".jsonl", 4, 6);
	file_pack(DAY_ONE ".001.jsonl");
	expect_lines(trail, "2 3 4 5 ");
	trail_free(&trail);
}

Test(trail, parts_come_in_their_order)
{
	struct trail *trail = trail_new(dir_fd);

	lines_append(DAY_ONE ".001.jsonl", 0, 2);
	lines_append(DAY_ONE ".002.jsonl", 2, 4);
	lines_append(DAY_ONE ".jsonl", 4, 5);
	lines_append(DAY_TWO ".jsonl", 5, 6);
	file_pack(DAY_ONE ".001.jsonl");
	file_pack(DAY_ONE ".002.jsonl");
	expect_lines(trail, "0 1 2 3 4 5 ");
	trail_free(&trail);
}

Test(trail, what_is_gone_is_a_gap)
{
	struct trail *trail = trail_new(dir_fd);
	struct trail_place place;

	lines_append(DAY_ONE ".jsonl", 0, 3);
	expect_lines(trail, "0 1 2 ");
	place = place_kept(trail);
	trail_rest(trail);
	cr_assert_eq(unlinkat(dir_fd, DAY_ONE ".jsonl", 0), 0);
	expect_lines(trail, "");
	lines_append(DAY_TWO ".jsonl", 5, 7);
	expect_lines(trail, "! 5 6 ");
	trail_go(trail, &place);
	expect_lines(trail, "! 5 6 ");
	trail_free(&trail);
}

Test(trail, half_a_line_is_none_yet)
{
	struct trail *trail = trail_new(dir_fd);

	file_append(DAY_ONE ".jsonl", "{\"t\":\"2026-01-01T00:00:00.000Z\",");
	expect_lines(trail, "");
	file_append(DAY_ONE ".jsonl", "\"n\":\"0\"}\n");
	expect_lines(trail, "0 ");
	trail_free(&trail);
}

Test(trail, the_end_is_after_the_last_whole_line)
{
	struct trail *trail = trail_new(dir_fd);
	struct trail_place end;
	struct err err;

	cr_assert_eq(trail_end(dir_fd, &end, &err), 0);	/* there is nothing */
	trail_go(trail, &end);
	lines_append(DAY_ONE ".001.jsonl", 0, 2);
	expect_lines(trail, "0 1 ");
	file_pack(DAY_ONE ".001.jsonl");
	cr_assert_eq(trail_end(dir_fd, &end, &err), 0);
	trail_go(trail, &end);
	lines_append(DAY_ONE ".jsonl", 2, 4);
	expect_lines(trail, "2 3 ");
	file_append(DAY_ONE ".jsonl", "{\"t\":\"2026-01-01T00:00:09.000Z\",");
	cr_assert_eq(trail_end(dir_fd, &end, &err), 0);
	trail_go(trail, &end);
	file_append(DAY_ONE ".jsonl", "\"n\":\"9\"}\n");
	expect_lines(trail, "9 ");
	trail_free(&trail);
}

/* The journal is not synced: after a power failure others have written where
 * forgotten lines stood. */
Test(trail, a_place_that_is_no_lines_end_is_found_by_its_time)
{
	struct trail *trail = trail_new(dir_fd);
	struct trail_place place;

	lines_append(DAY_ONE ".jsonl", 0, 6);
	expect_lines(trail, "0 1 2 3 4 5 ");
	place = place_kept(trail);
	cr_assert_eq(unlinkat(dir_fd, DAY_ONE ".jsonl", 0), 0);
	lines_append(DAY_ONE ".jsonl", 0, 3);
	file_append(DAY_ONE ".jsonl", "{\"t\":\"2026-01-01T00:00:50.000Z\","
	    "\"ev\":\"a word that is very big\",\"n\":\"50\"}\n");
	lines_append(DAY_ONE ".jsonl", 51, 55);
	trail_go(trail, &place);
	expect_lines(trail, "50 51 52 53 54 ");
	trail_free(&trail);
}

Test(trail, a_place_that_makes_no_sense_is_none)
{
	static const char *const rows[] = {
		"", "-", "2026-01-01", "2026-01-01 0123456789abcdef",
		"2026-01-01 0123456789abcdef 1", "2026-01-01 0123 1 2",
		"2026-01-01 0123456789abcdeg 1 2",
		"2026-01-01 0123456789abcdef -1 2",
		"2026-01-01 0123456789abcdef 1 -2", "../../etc/x 0 1 2",
		"2026-01-01x 0123456789abcdef 1 2",
	};
	struct trail_place place;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice rest = slice_of(rows[i]);

		cr_expect_not(trail_place_take(&rest, &place), "%s", rows[i]);
	}
}
