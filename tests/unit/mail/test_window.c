/* test_window.c - a control file in windows says what the whole one says
 *
 * Each file is read whole and then in windows of several sizes, down to one
 * recipient and to less than a line: the same recipients in the same state, or
 * the same words of refusal.
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/crc32c.h"
#include "control_case.h"
#include "mail/control_file/window.h"
#include "tests/fuzz/mail/windows.h"

#define COMMON "I " ID "\ni 4711\no 10\nz 20\ne a@src.test\n"
#define HEADER "m\nA: 1\nr x\n\n"

static const struct { size_t rcpts, bytes; } sizes[] = {
	{ 1, 1 << 20 }, { 2, 1 << 20 }, { 7, 1 << 20 }, { 0, 0 },
	{ 1000, 1 }, { 1000, 50 }, { 1000, 170 }, { 2, 64 }
};

static void
compare(struct slice file, const char *name)
{
	struct str out = STR_INIT;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		cr_expect_eq(windows_compare(file, sizes[i].rcpts,
		    sizes[i].bytes, &out), 0, "%s, by %zu and %zu bytes: %s",
		    name, sizes[i].rcpts, sizes[i].bytes, out.buf);
	str_release(&out);
}

/* A head's lines, with a first line. */
static void
head_of(struct str *out, const char *lines)
{
	str_reset(out);
	str_addf(out, "@ 1 %08zu %08" PRIx32 "\n", strlen(lines) + 22,
	    crc32c(0, lines, strlen(lines)));
	str_adds(out, lines);
}

Test(window, a_head_is_read_or_refused_as_the_whole)
{
	static const char *const heads[] = {
		COMMON "s - - a@b -2\nr local - x -2\n" HEADER,
		COMMON "s - - a@b -2\ne o@b\nr c h u1 -2\nN NOTIFY=NEVER\n"
		    "r c h u2 -2\nX d h2 u2 -2\nN AFTER=5 ORCPT=rfc822;x\n"
		    "X e h3 u2 7\nr c h u3 -2\n" HEADER
		    "s - - b@b -2\nr c h u4 -2\ns - - c@b -2\nr c h u5 -2\n"
		    "r c h u6 -2\nm\n\ns - - d@b -2\nr c h u7 -2\n"
		    "r c h u8 -2\nh 999\n",
		/* two groups wait for one header over many windows */
		COMMON "s - - a@b -2\nr c h u1 -2\nr c h u2 -2\ns - - b@b -2\n"
		    "e f@b\nr c h u3 -2\nr c h u4 -2\nr c h u5 -2\n"
		    "r c h u6 -2\n" HEADER,
		/* groups without recipients; an N line after an s line */
		COMMON "s - - a@b -2\ns - - b@b -2\nr c h u1 -2\n"
		    "s - - c@b -2\nN NOTIFY=NEVER\nr c h u2 -2\nr c h u3 -2\n"
		    HEADER "s - - d@b -2\n" HEADER,
		/* refused */
		"", COMMON, COMMON "q x\n", "s - - a@b -2\nr c h u -2\n" HEADER,
		COMMON "r c h u -2\n", COMMON "X c h u -2\n", COMMON "N x\n",
		COMMON "h 30\n", COMMON "m\n\n", COMMON "s - - a@b -2\n" HEADER,
		COMMON "s - - a@b -2\nr c h u1 -2\nr c h u2 -2\n",
		COMMON "s - - a@b -2\nr c h u1 -2\nr c h u2 -2\nm\nA: 1\n",
		COMMON "s - - a@b -2\nr c h u1 -2\nr c h u2 -2\nm\nA: 1",
		COMMON "s - - a@b -2\nr c h u1 -2\nr c h u2\n" HEADER,
		COMMON "s - - a@b -2\nr c h u1 -2\nr c h u2 -2\ne x@b\n" HEADER,
		COMMON "s - - a@b -2\nr c h u1 -2\nu x\nr c h u2 -2\n" HEADER,
		COMMON "s - - a@b -2\nr c h u1 -2\n" HEADER "r c h u2 -2\n",
		COMMON "s - - a@b -2\nr c h u1 -2\n" HEADER "X c h u2 -2\n",
		COMMON "s - - a@b -2\nr c h u1 -2\nr c h u2 -2\nX - h u -2\n"
		    HEADER,
		COMMON "s - - a@b -2\nr c h u -2\nX c h 1 -2\nX c h 2 -2\n"
		    "X c h 3 -2\nX c h 4 -2\nX c h 5 -2\nX c h 6 -2\n"
		    "X c h 7 -2\nX c h 8 -2\n" HEADER,
		COMMON "s - - a@b -2\nr c h u1 -2\nr c h u2 -2\nh 90\n",
		COMMON "s - - a@b -2\nr c h u1 -2\n\nr c h u2 -2\n" HEADER,
	};
	struct str file = STR_INIT;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const char *h = strstr(heads[i], "h 999\n");

		head_of(&file, heads[i]);
		if (h != NULL) {	/* where its first header is */
			struct str lines = STR_INIT;

			str_addf(&lines, "%.*sh %zu\n", (int)(h - heads[i]),
			    heads[i], 22 + (size_t)(strstr(heads[i], "m\n") -
			    heads[i]) + 2);
			head_of(&file, lines.buf);
			str_release(&lines);
		}
		compare(str_slice(&file), heads[i]);
		if (file.len == 22)
			continue;
		file.buf[file.len - 1] ^= 1;
		compare(str_slice(&file), "a byte is wrong");
		compare(slice_first(str_slice(&file), file.len - 1), "short");
		compare(slice_first(str_slice(&file), 20), "shorter");
	}
	str_release(&file);
}

/* ---- records ----------------------------------------------------- */

enum { GROUPS = 3, EACH = 9, RCPTS = GROUPS * EACH };

/* Groups of smtp recipients, each third with another way. */
static void
many(struct str *out, uint32_t offsets[2 * RCPTS], size_t *out_count)
{
	static const struct control_way way = { .channel = SLICE("smtp"),
	    .host = SLICE("other.test"), .user = SLICE("x@other.test"),
	    .uid = -2, .after_s = 60 };
	struct control_rcpt all[RCPTS];
	struct control_group own[GROUPS];
	struct control_file control = sample();
	char users[RCPTS][24];
	struct err err;

	memset(all, 0, sizeof(all));
	memset(own, 0, sizeof(own));
	for (size_t i = 0; i < RCPTS; i++) {
		snprintf(users[i], sizeof(users[i]), "u%zu@h%zu.test", i,
		    i % 3);
		all[i] = (struct control_rcpt){ .channel = SLICE("smtp"),
		    .host = slice_from(slice_of(users[i]), i < 10 ? 3 : 4),
		    .user = slice_of(users[i]), .uid = -2,
		    .ways = i % 3 == 0 ? &way : NULL, .way_count = i % 3 == 0 };
	}
	for (size_t i = 0; i < GROUPS; i++)
		own[i] = (struct control_group){ .sender = SLICE("a@b"),
		    .errors_to = SLICE("o@b"), .header = i == 1 ?
		    SLICE("A: 1\n") : SLICE("B: 1\n"),
		    .rcpts = all + i * EACH, .rcpt_count = EACH };
	control.groups = own;
	control.group_count = GROUPS;
	cr_assert_eq(control_file_format(&control, out, &err), 0, "%s",
	    err.text);
	*out_count = 0;
	for (size_t i = 0; i < RCPTS; i++) {
		offsets[(*out_count)++] = all[i].offset;
		/* its X line: the next line */
		if (i % 3 == 0)
			offsets[(*out_count)++] = all[i].offset + 1 +
			    (uint32_t)(strchr(out->buf + all[i].offset, '\n') -
			    (out->buf + all[i].offset));
	}
}

static uint32_t
next_number(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static struct control_record
some_record(uint32_t *state, const uint32_t *offsets, size_t count)
{
	static const enum verdict_kind kinds[] = { VERDICT_DEFERRED,
		VERDICT_DEFERRED, VERDICT_FAILED, VERDICT_DELIVERED };
	uint32_t kind = next_number(state) % (RECORD_KINDS * 2);
	uint32_t offset = offsets[next_number(state) % count];
	char text[32];
	struct control_record record;

	snprintf(text, sizeof(text), "4%02u so it is",
	    next_number(state) % 20);
	record = outcome(offset, kinds[next_number(state) % 4],
	    next_number(state) % 4, text);
	if (kind < RECORD_KINDS)
		record.kind = (enum control_record_kind)kind;
	if (next_number(state) % 16 == 0)
		record.rcpt_offset += next_number(state) % 3;
	record.next_s = next_number(state) % 2 ? record.time_s + 50 : 0;
	return record;
}

/* Whatever comes of them, in whatever order; torn at the end, too. */
Test(window, records_come_to_the_same)
{
	uint32_t offsets[2 * RCPTS], state = 1;
	struct control_record records[200];
	struct str text = STR_INIT, read = STR_INIT;
	struct err err;
	size_t count;

	for (int turn = 0; turn < 40; turn++) {
		int fd;

		many(&text, offsets, &count);
		fd = temp_file(text.buf, text.len);
		for (size_t i = 0; i < 200; i++)
			records[i] = some_record(&state, offsets, count);
		cr_assert_eq(control_file_append(fd, ID, records,
		    (size_t)turn * 5, &err), 0, "%s", err.text);
		cr_assert_eq(write(fd, "\nd 0\0\0\nd deadbeef 1", 19), 19);
		cr_assert_eq(control_file_read(fd, 1 << 20, &read, &err), 0);
		compare(str_slice(&read), "records");
		compare(slice_first(str_slice(&read), read.len - 19 -
		    (size_t)turn), "torn");
		close(fd);
	}
	str_release(&text);
	str_release(&read);
}

/* More recipients than a window has, and lines longer than what is read. */
Test(window, what_is_long_is_read_on)
{
	struct str lines = STR_INIT, file = STR_INIT;
	struct str out = STR_INIT;

	str_adds(&lines, COMMON "s - - a@b -2\n");
	for (int i = 0; i < 40000; i++) {
		str_addf(&lines, "r smtp h%d.test u%d@h%d.test -2\n", i % 9, i,
		    i % 9);
		if (i % 5000 == 0) {
			str_adds(&lines, "N ORCPT=rfc822;");
			for (int k = 0; k < 30000; k++)
				str_addc(&lines, 'x');
			str_adds(&lines, "\nm\nA: ");
			for (int k = 0; k < 100000; k++)
				str_addc(&lines, 'y');
			str_adds(&lines, "\n\ns - - a@b -2\n");
		}
	}
	str_adds(&lines, HEADER);
	head_of(&file, lines.buf);
	cr_expect_eq(windows_compare(str_slice(&file), 0, 0, &out), 0, "%s",
	    out.buf);
	cr_expect_eq(windows_compare(str_slice(&file), 999, 4096, &out), 0,
	    "%s", out.buf);
	str_release(&lines);
	str_release(&file);
	str_release(&out);
}

static struct control_windows *
windows_of(int fd)
{
	const struct control_window_size size = { 2, 1 << 20 };
	struct control_windows *windows;
	struct err err;

	cr_assert_eq(control_windows_open(fd, &size, &windows, &err),
	    CONTROL_WINDOWS_GOOD, "%s", err.text);
	cr_assert_gt(control_windows_count(windows), 3);
	return windows;
}

/* A broken hand writes into the head, or cuts it, after it was checked: not a
 * word of that window is believed. */
Test(window, a_file_that_changes_meanwhile_is_not_read)
{
	uint32_t offsets[2 * RCPTS];
	struct arena *arena = arena_new();
	struct str text = STR_INIT, read = STR_INIT;
	struct control_windows *windows;
	struct control_file window;
	struct err err;
	size_t count;
	char path[40];
	int fd, again;

	many(&text, offsets, &count);
	fd = temp_file(text.buf, text.len);
	windows = windows_of(fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_WRONLY);
	cr_assert_geq(again, 0);
	cr_assert_eq(pwrite(again, "z", 1, (off_t)offsets[3] + 3), 1);
	cr_expect_eq(control_windows_read(windows, 0, arena, &read, &window,
	    &err), 0, "%s", err.text);
	cr_expect_eq(control_windows_read(windows, 1, arena, &read, &window,
	    &err), -1);
	cr_expect_str_eq(err.text, "the control file has changed");
	cr_assert_eq(ftruncate(again, (off_t)offsets[6]), 0);
	cr_expect_eq(control_windows_read(windows, 3, arena, &read, &window,
	    &err), -1);
	cr_expect(control_windows_has(windows, 0, offsets[0]));
	cr_expect_not(control_windows_has(windows, 1, offsets[0]));
	control_windows_free(&windows);
	close(again);
	close(fd);
	str_release(&text);
	str_release(&read);
	arena_free(&arena);
}
