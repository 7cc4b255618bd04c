/* test_control_records.c - records of the control file, whole and torn
 *
 * SPDX-License-Identifier: ISC
 */
#include "control_case.h"

Test(control_file, the_last_record_wins)
{
	struct control_file in = sample(), out;
	struct control_record records[5];
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err = { "" };
	int fd;

	control_file_format(&in, &text, &err);
	fd = temp_file(text.buf, text.len);
	records[0] = outcome(rcpts[0].offset, VERDICT_DEFERRED, 1, "later");
	records[1] = outcome(rcpts[2].offset, VERDICT_FAILED, 1, "550 no");
	records[2] = outcome(rcpts[0].offset, VERDICT_DELIVERED, 2, "ok");
	records[3] = (struct control_record){ .kind = RECORD_REPORTED,
	    .rcpt_offset = rcpts[2].offset, .time_s = 1763600009 };
	records[4] = (struct control_record){ .kind = RECORD_DELAY_NOTICE,
	    .rcpt_offset = rcpts[1].offset, .time_s = 1763600009 };
	cr_assert_eq(control_file_append(fd, ID, records, 5, &err), 0, "%s",
	    err.text);
	cr_assert_eq(control_file_read(fd, 1 << 20, &text, &err), 0);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err),
	    0);
	cr_expect_eq(out.final_total, 2);
	cr_expect_eq(out.report_records, 2);
	cr_expect(out.groups[0].rcpts[0].is_final);
	cr_expect_eq(out.groups[0].rcpts[0].tries, 2);
	cr_expect_eq(out.groups[0].rcpts[0].first_try_s, 1763600001);
	cr_expect_eq(out.groups[0].rcpts[0].last_try_s, 1763600002);
	cr_expect_str_eq(out.groups[0].rcpts[0].last->verdict.text, "ok");
	cr_expect_str_eq(out.groups[0].rcpts[0].last->verdict.who,
	    "mx[192.0.2.1]:25");
	cr_expect(out.groups[1].rcpts[1].is_final);
	cr_expect(out.groups[1].rcpts[1].is_reported);
	cr_expect_str_eq(out.groups[1].rcpts[1].last->verdict.text, "550 no");
	cr_expect_eq(out.groups[1].rcpts[0].delay_notices, 1);
	cr_expect_null(out.groups[1].rcpts[0].last);
	close(fd);
	str_release(&text);
	arena_free(&arena);
}

/* What the first n bytes of a file with whole records say. */
static unsigned
tries_in(const char *bytes, size_t n)
{
	struct arena *arena = arena_new();
	char *exact = malloc(n + 1);
	struct err err = { "" };
	struct control_file out;
	unsigned tries;

	memcpy(exact, bytes, n);
	cr_assert_eq(control_file_parse(arena, (struct slice){ exact, n }, &out,
	    &err), 0, "%s", err.text);
	tries = out.groups[0].rcpts[0].tries;
	free(exact);
	arena_free(&arena);
	return tries;
}

Test(control_file, torn_at_every_byte_the_last_good_record_wins)
{
	enum { RECORDS = 40 };
	struct control_record records[RECORDS], more;
	size_t ends[RECORDS + 1], head;
	struct control_file in = sample();
	struct str text = STR_INIT;
	struct err err;
	int fd;

	control_file_format(&in, &text, &err);
	head = ends[0] = text.len;
	fd = temp_file(text.buf, text.len);
	for (unsigned i = 0; i < RECORDS; i++) {
		char words[500];

		memset(words, 'a' + (int)(i % 26), sizeof(words));
		words[i * 12] = '\0';
		records[i] = outcome(rcpts[0].offset, VERDICT_DEFERRED, i + 1,
		    words);
		cr_assert_eq(control_file_append(fd, ID, &records[i], 1, &err),
		    0);
		control_file_read(fd, 1 << 20, &text, &err);
		ends[i + 1] = text.len;
	}
	cr_assert_gt(text.len, 2 * CONTROL_PAGE_BYTES);
	for (size_t n = head, want = 0; n <= text.len; n++) {
		struct str cut = STR_INIT;
		size_t whole = want;

		/* without its last newline a record is whole, too */
		if (want < RECORDS && n + 1 >= ends[want + 1])
			whole = want + 1;
		if (want < RECORDS && n >= ends[want + 1])
			want++;
		cr_assert_eq(tries_in(text.buf, n), whole, "cut at %zu", n);
		/* what is appended after the tear is read; NULs change
		 * nothing */
		str_add(&cut, text.buf, n);
		if (n % 3 == 0)
			memset(str_room(&cut, 100), 0, 100), cut.len += 100;
		if (n % 7 == 0) {
			int torn = temp_file(cut.buf, cut.len);

			more = outcome(rcpts[0].offset, VERDICT_DEFERRED, 99,
			    "x");
			cr_assert_eq(control_file_append(torn, ID, &more, 1,
			    &err), 0);
			control_file_read(torn, 1 << 20, &cut, &err);
			cr_assert_eq(tries_in(cut.buf, cut.len), 99);
			close(torn);
		} else {
			cr_assert_eq(tries_in(cut.buf, cut.len), n % 3 == 0 ?
			    want : whole, "NULs at %zu", n);
		}
		str_release(&cut);
	}
	close(fd);
	str_release(&text);
}

Test(control_file, no_record_crosses_a_page)
{
	struct control_file in = sample();
	struct control_record *records = mem_alloc(2000, sizeof(*records));
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct slice rest, line;
	struct err err;
	struct control_file out;
	size_t start = 0;
	int fd;

	control_file_format(&in, &text, &err);
	fd = temp_file(text.buf, text.len);
	start = text.len;
	for (unsigned i = 0; i < 2000; i++) {
		char words[600];

		memset(words, 'x', sizeof(words));
		words[i * 37 % 599] = '\0';
		records[i] = outcome(rcpts[i % 3].offset, VERDICT_DEFERRED,
		    i + 1, words);
	}
	cr_assert_eq(control_file_append(fd, ID, records, 2000, &err), 0);
	control_file_read(fd, 8 << 20, &text, &err);
	rest = slice_from(str_slice(&text), start);
	while (rest.n > 0) {
		size_t at = text.len - rest.n;

		line = slice_first(rest, slice_find(rest, '\n'));
		rest = slice_from(rest, line.n + 1);
		if (line.n > 0)
			cr_assert_eq((at - 1) / CONTROL_PAGE_BYTES,
			    (at + line.n) / CONTROL_PAGE_BYTES, "at %zu", at);
		cr_assert_leq(line.n + 2, CONTROL_RECORD_BYTES_MAX);
	}
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err),
	    0);
	cr_expect_eq(out.groups[1].rcpts[0].tries, 2000);
	close(fd);
	mem_free(&records);
	str_release(&text);
	arena_free(&arena);
}

Test(control_file, a_record_of_another_message_is_none)
{
	struct control_file in = sample(), out;
	struct control_record record;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err;
	int fd;

	control_file_format(&in, &text, &err);
	fd = temp_file(text.buf, text.len);
	record = outcome(rcpts[0].offset, VERDICT_DELIVERED, 1, "ok");
	control_file_append(fd, "0123456789abd", &record, 1, &err);
	/* and one about an offset where no recipient stands */
	record.rcpt_offset += 1;
	control_file_append(fd, ID, &record, 1, &err);
	control_file_read(fd, 1 << 20, &text, &err);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err),
	    0);
	cr_expect_eq(out.final_total, 0);
	close(fd);
	str_release(&text);
	arena_free(&arena);
}

Test(control_file, words_cannot_break_a_record)
{
	struct control_file in = sample(), out;
	struct control_record record;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err;
	int fd;

	control_file_format(&in, &text, &err);
	fd = temp_file(text.buf, text.len);
	record = outcome(rcpts[0].offset, VERDICT_FAILED, 1, "x");
	snprintf(record.verdict.text, sizeof(record.verdict.text),
	    "a\nd 00000000 1 2 outcome\tb");
	snprintf(record.verdict.who, sizeof(record.verdict.who), "w\tx\ny");
	snprintf(record.verdict.status, sizeof(record.verdict.status),
	    "5 1\n1");
	record.time_s = -5;
	cr_assert_eq(control_file_append(fd, ID, &record, 1, &err), 0);
	control_file_read(fd, 1 << 20, &text, &err);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err),
	    0);
	cr_assert_eq(out.final_total, 1);
	cr_expect_str_eq(out.groups[0].rcpts[0].last->verdict.text,
	    "a d 00000000 1 2 outcome b");
	cr_expect_str_eq(out.groups[0].rcpts[0].last->verdict.who, "w x y");
	close(fd);
	str_release(&text);
	arena_free(&arena);
}

Test(control_file, appenders_do_not_disturb_each_other)
{
	enum { PROCESSES = 8, EACH = 200 };
	struct control_file in = sample(), out;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	unsigned records = 0;
	struct err err;
	int fd, status;

	control_file_format(&in, &text, &err);
	fd = temp_file(text.buf, text.len);
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			for (unsigned j = 0; j < EACH; j++) {
				struct control_record record = outcome(
				    rcpts[i % 3].offset, VERDICT_DEFERRED,
				    j + 1, "450 later, please");

				if (control_file_append(fd, ID, &record, 1,
				    &err) != 0)
					_exit(1);
			}
			_exit(0);
		}
	for (int i = 0; i < PROCESSES; i++) {
		cr_assert_gt(wait(&status), 0);
		cr_assert_eq(status, 0);
	}
	control_file_read(fd, 1 << 24, &text, &err);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err),
	    0);
	for (char *p = text.buf; (p = strstr(p, "\nd ")) != NULL; p++)
		records++;
	cr_expect_eq(records, PROCESSES * EACH);
	for (int i = 0; i < 3; i++)
		cr_expect_eq((i == 0 ? out.groups[0].rcpts[0] :
		    out.groups[1].rcpts[i - 1]).tries, EACH);
	close(fd);
	str_release(&text);
	arena_free(&arena);
}

/* ---- very many groups --------------------------------------------- */

enum { SETS = 200000 };

static struct control_rcpt many_rcpts[SETS];
static struct control_group many_groups[SETS];

/* A recipient is found in as many steps as there are digits, in the tens of
 * thousands of groups of a message as in the two of another: each has its own
 * header. */
Test(control_file, a_recipient_is_found_among_very_many_groups, .timeout = 30)
{
	struct control_file control = { .groups = many_groups,
	    .group_count = SETS };
	uint32_t offset = 100;

	for (size_t i = 0; i < SETS; i++) {
		many_groups[i].sender_offset = offset;
		many_groups[i].rcpts = &many_rcpts[i];
		many_groups[i].rcpt_count = i % 7 != 3;
		many_rcpts[i].offset = offset + 20;
		offset += 50;
	}
	cr_expect_null(control_group_at(&control, 99));
	cr_expect_null(control_rcpt_at(&control, 0));
	cr_expect_null(control_rcpt_at(&control, offset + 20));
	for (size_t i = 0; i < SETS; i++) {
		uint32_t at = many_groups[i].sender_offset + 20;

		cr_assert_eq(control_rcpt_at(&control, at),
		    many_groups[i].rcpt_count > 0 ? &many_rcpts[i] : NULL,
		    "%zu", i);
		cr_assert_eq(control_group_at(&control, at), &many_groups[i]);
		cr_assert_null(control_rcpt_at(&control, at + 1));
		cr_assert_null(control_rcpt_at(&control, at - 1));
	}
	control.group_count = 0;
	cr_expect_null(control_group_at(&control, 4711));
}
