/* test_control_file.c - the control file: its head, and the jobs that agents
 * get
 *
 * SPDX-License-Identifier: ISC
 */
#include "control_case.h"

Test(control_file, head_round_trip)
{
	struct control_file in = sample(), out;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err = { "" };

	cr_assert_eq(control_file_format(&in, &text, &err), 0, "%s", err.text);
	cr_assert_eq(control_file_head_bytes(str_slice(&text)), text.len);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err), 0,
	    "%s\n%s", err.text, text.buf);
	cr_expect_str_eq(out.id, ID);
	cr_expect_eq(out.inode, 4711);
	cr_expect_eq(out.body_offset, 123);
	cr_expect_eq(out.size_bytes, 98765);
	cr_expect(slice_equal(out.msgid, in.msgid));
	cr_expect(slice_equal(out.errors_to, in.errors_to));
	cr_expect(slice_equal(out.envid, in.envid));
	cr_expect(slice_equal(out.bodytype, in.bodytype));
	cr_expect(slice_equal(out.user, in.user));
	cr_expect_eq(out.ret, DSN_RET_FULL);
	cr_assert_eq(out.group_count, 2);
	cr_expect_eq(out.rcpt_total, 3);
	cr_expect_eq(out.final_total, 0);
	for (size_t i = 0; i < 2; i++) {
		struct control_group *a = &groups[i], *b = &out.groups[i];

		cr_expect(slice_equal(a->sender, b->sender));
		cr_expect(slice_equal(a->header, b->header));
		cr_expect_eq(a->sender_offset, b->sender_offset);
		cr_expect_eq(a->header_offset, b->header_offset);
		cr_assert_eq(a->rcpt_count, b->rcpt_count);
		for (size_t j = 0; j < a->rcpt_count; j++) {
			struct control_rcpt *x = &a->rcpts[j],
			    *y = &b->rcpts[j];

			cr_expect_eq(x->offset, y->offset);
			cr_expect(slice_equal(x->channel, y->channel));
			cr_expect(slice_equal(x->host, y->host));
			cr_expect(slice_equal(x->user, y->user));
			cr_expect(slice_equal(x->orcpt, y->orcpt));
			cr_expect_eq(x->uid, y->uid);
			cr_expect_eq(x->notify, y->notify);
		}
	}
	str_release(&text);
	arena_free(&arena);
}

/* Reports about a group go to its e line, else to its sender, but nowhere
 * when the message came from nobody. */
Test(control_file, groups_have_their_own_errors)
{
	struct control_group own[3] = { groups[0], groups[0], groups[1] };
	struct control_file in = sample(), out;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err = { "" };

	own[1].sender = SLICE("owner-list@example.org");
	own[1].errors_to = SLICE("carl@example.org");
	in.groups = own;
	in.group_count = 3;
	cr_assert_eq(control_file_format(&in, &text, &err), 0, "%s", err.text);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err), 0,
	    "%s\n%s", err.text, text.buf);
	cr_expect_eq(out.groups[0].errors_to.n, 0);
	cr_expect(slice_is(control_group_errors(&out, &out.groups[0]),
	    "a@example.org"));
	cr_expect(slice_is(control_group_errors(&out, &out.groups[1]),
	    "carl@example.org"));
	cr_expect(slice_is(control_group_errors(&out, &out.groups[2]),
	    "a@example.org"));
	out.errors_to.n = 0;
	cr_expect_eq(control_group_errors(&out, &out.groups[0]).n, 0);
	str_release(&text);
	arena_free(&arena);
}

Test(control_file, groups_can_share_a_header)
{
	struct control_rcpt two[2] = { rcpts[0], rcpts[2] };
	struct control_group shared[2] = { groups[0], groups[1] };
	struct control_file in = sample(), out;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err = { "" };

	shared[0].rcpts = two;
	shared[1].rcpts = two + 1;
	shared[0].rcpt_count = shared[1].rcpt_count = 1;
	shared[1].header = shared[0].header;
	in.groups = shared;
	cr_assert_eq(control_file_format(&in, &text, &err), 0, "%s", err.text);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err), 0,
	    "%s", err.text);
	cr_assert_eq(out.group_count, 2);
	cr_expect_eq(out.groups[0].header_offset, out.groups[1].header_offset);
	cr_expect(slice_equal(out.groups[1].header, shared[0].header));
	cr_expect_null(strstr(strstr(text.buf, "\nm\n") + 1, "\nm\n"));
	str_release(&text);
	arena_free(&arena);
}

Test(control_file, bad_values_are_refused)
{
	struct err err = { "" };
	struct str text = STR_INIT;
	struct control_file control;
	struct control_rcpt bad;
	struct control_group group = groups[0];

	group.rcpts = &bad;
#define REFUSED(change) do { \
		control = sample(); \
		control.groups = &group; \
		control.group_count = 1; \
		bad = rcpts[0]; \
		group.sender = SLICE("a@b"); \
		group.header = SLICE("A: 1\n"); \
		change; \
		cr_expect_eq(control_file_format(&control, &text, &err), -1, \
		    #change); \
	} while (0)
	REFUSED(bad.user = SLICE("a\nr local - root 0"));
	REFUSED(bad.user = SLICE(""));
	REFUSED(bad.channel = SLICE(""));
	REFUSED(bad.channel = SLICE("a b"));
	REFUSED(bad.host = SLICE("a b"));
	REFUSED(bad.orcpt = SLICE("a b"));
	REFUSED(group.sender = SLICE("a\rb"));
	REFUSED(group.header = SLICE("A: 1\n\nB: 2\n"));
	REFUSED(group.header = SLICE("\nB: 2\n"));
	REFUSED(group.rcpt_count = 0);
	group.rcpt_count = 1;
	REFUSED(control.group_count = 0);
	REFUSED(control.msgid = SLICE("x\n"));
	REFUSED(control.id[0] = '\0');
	str_release(&text);
}

Test(control_file, damaged_heads_are_none)
{
	struct control_file in = sample(), out;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err;

	control_file_format(&in, &text, &err);
	/* cut anywhere: not a control file */
	for (size_t n = 0; n < text.len; n++) {
		char *exact = malloc(n + 1);

		memcpy(exact, text.buf, n);
		cr_expect_eq(control_file_parse(arena, (struct slice){ exact,
		    n },
		    &out, &err), -1, "cut at %zu", n);
		free(exact);
	}
	/* one bit anywhere after the format number, too */
	for (size_t i = 4; i < text.len; i++) {
		text.buf[i] ^= 1;
		cr_expect_eq(control_file_parse(arena, str_slice(&text), &out,
		    &err),
		    -1, "bit at %zu", i);
		text.buf[i] ^= 1;
	}
	cr_expect_eq(control_file_parse(arena, str_slice(&text), &out, &err),
	    0);
	str_release(&text);
	arena_free(&arena);
}

/* ---- jobs --------------------------------------------------------------- */

static void
job_of(const struct control_file *control, size_t group, struct str *line,
    size_t first, size_t count)
{
	const struct control_group *g = &control->groups[group];
	uint32_t *offsets = mem_alloc(count, sizeof(*offsets));

	for (size_t i = 0; i < count; i++)
		offsets[i] = g->rcpts[first + i].offset;
	str_reset(line);
	control_job_add(line, "D/J/4711", control->id, SLICE("example.net"),
	    g->sender_offset, g->header_offset, 3, offsets, count);
	mem_free(&offsets);
}

Test(control_file, a_job_finds_its_lines)
{
	struct control_file in = sample();
	struct arena *arena = arena_new();
	struct str text = STR_INIT, line = STR_INIT;
	struct control_job job;
	struct err err = { "" };
	int fd;

	control_file_format(&in, &text, &err);
	fd = temp_file(text.buf, text.len);
	job_of(&in, 1, &line, 0, 2);
	cr_assert_eq(control_job_load(arena, str_slice(&line), fd, &job, &err),
	    0, "%s", err.text);
	cr_expect_str_eq(job.id, ID);
	cr_expect(slice_is(job.host, "example.net"));
	cr_expect(slice_is(job.sender, ""));
	cr_expect(slice_is(job.header, "B: 2\n s 1\n"));
	cr_expect(slice_is(job.bodytype, "8BITMIME"));
	cr_expect(slice_is(job.envid, "QQ"));
	cr_expect_eq(job.body_offset, 123);
	cr_expect(job.is_checked);
	cr_assert_eq(job.rcpt_count, 2);
	cr_expect(slice_is(job.rcpts[0].user, "|/bin/x -a b 7"));
	cr_expect_eq(job.rcpts[0].notify, DSN_NOTIFY_NEVER);
	cr_expect_eq(job.rcpts[0].tries, 3);
	cr_expect(slice_is(job.rcpts[1].orcpt, "rfc822;x+2By@example.net"));
	cr_expect_eq(job.rcpts[1].offset, rcpts[2].offset);
	close(fd);
	str_release(&text);
	str_release(&line);
	arena_free(&arena);
}

Test(control_file, a_job_that_does_not_fit_is_refused)
{
	static const char *const rows[] = {
		"", "x", "4711/" ID, "4711/" ID "\th\t1,2,3",
		"4711/" ID "\th\t1,2,3\t", "4711/" ID "\th\t1,2\t3",
		"4711/" ID "\th\t1,2,3,4\t5", "4711/" ID "\th\t0,0,0\t0",
		"4711/" ID "\th\t99999,99999,0\t99999",
		"4711/" ID "\th\t4294967296,1,0\t1",
		"4711/badid\th\t1,2,3\t4", "/" ID "\th\t1,2,3\t4",
	};
	struct control_file in = sample();
	struct arena *arena = arena_new();
	struct str text = STR_INIT, line = STR_INIT;
	struct control_job job;
	struct err err;
	int fd;

	control_file_format(&in, &text, &err);
	fd = temp_file(text.buf, text.len);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(control_job_load(arena, slice_of(rows[i]), fd,
		    &job,
		    &err), -1, "%s", rows[i]);
	/* every offset but the right one */
	for (uint32_t offset = 0; offset < text.len + 10; offset++) {
		if (offset == rcpts[1].offset || offset == rcpts[2].offset ||
		    offset == rcpts[0].offset)
			continue;
		str_reset(&line);
		control_job_add(&line, "4711", ID, SLICE("h"),
		    groups[0].sender_offset, groups[0].header_offset, 0,
		    &offset, 1);
		/* a header line may look like a recipient's; the quad in it
		 * decides */
		if (strncmp(text.buf + offset, "r x\n", 4) != 0)
			cr_expect_eq(control_job_load(arena, str_slice(&line),
			    fd,
			    &job, &err), -1, "offset %u", offset);
	}
	/* another message has the inode now */
	str_reset(&line);
	control_job_add(&line, "4711", "0123456789abd", SLICE("h"),
	    groups[0].sender_offset, groups[0].header_offset, 0,
	    &rcpts[0].offset, 1);
	cr_expect_eq(control_job_load(arena, str_slice(&line), fd, &job, &err),
	    -1);
	cr_expect_not_null(strstr(err.text, ID));
	close(fd);
	str_release(&text);
	str_release(&line);
	arena_free(&arena);
}

/* A list of many: user names of all lengths, so that lines lie across
 * every window's end. */
static struct control_file
many(struct arena *arena, size_t count)
{
	struct control_file control = sample();

	control.groups = arena_alloc(arena, sizeof(*control.groups));
	control.group_count = 1;
	control.groups[0] = groups[0];
	control.groups[0].rcpt_count = count;
	control.groups[0].rcpts = arena_alloc(arena,
	    count * sizeof(struct control_rcpt));
	for (size_t i = 0; i < count; i++) {
		struct control_rcpt *rcpt = &control.groups[0].rcpts[i];

		*rcpt = rcpts[2];
		rcpt->user = slice_of(arena_printf(arena,
		    "user%zu%.*s@example.net", i, (int)(i % 50),
		    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
		if (i % 5 == 0) {
			rcpt->notify = 0;
			rcpt->orcpt = (struct slice){ NULL, 0 };
		}
	}
	return control;
}

Test(control_file, big_lists_parse_fast_and_load_by_range)
{
	enum { COUNT = 10000 };
	struct arena *arena = arena_new(), *loads = arena_new();
	struct control_file in = many(arena, COUNT), out;
	struct str text = STR_INIT, line = STR_INIT;
	struct control_record *records = mem_alloc(COUNT, sizeof(*records));
	struct control_job job;
	struct err err = { "" };
	int fd;

	cr_assert_eq(control_file_format(&in, &text, &err), 0, "%s", err.text);
	fd = temp_file(text.buf, text.len);
	for (size_t i = 0; i < COUNT; i++)
		records[i] = outcome(in.groups[0].rcpts[i].offset,
		    i % 2 ? VERDICT_RELAYED : VERDICT_DEFERRED, 1, "250 ok");
	cr_assert_eq(control_file_append(fd, ID, records, COUNT, &err), 0);
	control_file_read(fd, 1 << 26, &text, &err);
	cr_assert_eq(control_file_parse(loads, str_slice(&text), &out, &err),
	    0);
	cr_expect_eq(out.rcpt_total, COUNT);
	cr_expect_eq(out.final_total, COUNT / 2);
	job_of(&in, 0, &line, 0, COUNT);
	cr_assert_eq(control_job_load(loads, str_slice(&line), fd, &job, &err),
	    0, "%s", err.text);
	cr_assert_eq(job.rcpt_count, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		struct control_rcpt *want = &in.groups[0].rcpts[i];

		cr_assert(slice_equal(job.rcpts[i].user, want->user), "%zu",
		    i);
		cr_assert(slice_equal(job.rcpts[i].orcpt, want->orcpt));
		cr_assert_eq(job.rcpts[i].notify, want->notify, "%zu", i);
		cr_assert_eq(out.groups[0].rcpts[i].is_final, i % 2);
	}
	cr_expect(slice_equal(job.header, in.groups[0].header));
	/* the last few only: the job keeps its own lines, not what was read to
	 * find them */
	arena_reset(loads);
	job_of(&in, 0, &line, COUNT - 3, 3);
	cr_assert_eq(control_job_load(loads, str_slice(&line), fd, &job, &err),
	    0, "%s", err.text);
	cr_expect_lt(arena_used_bytes(loads), 4096);
	cr_expect_not(job.is_checked, "the head is longer than what is read");
	close(fd);
	mem_free(&records);
	str_release(&text);
	str_release(&line);
	arena_free(&arena);
	arena_free(&loads);
}

/* ---- ways --------------------------------------------------------------- */

static void
record(struct str *text, uint32_t offset, int64_t time_s,
    enum verdict_kind kind)
{
	struct control_writer writer = { .out = text };
	struct control_record one = { .kind = RECORD_OUTCOME,
	    .rcpt_offset = offset, .time_s = time_s, .tries = 3,
	    .next_s = kind == VERDICT_DEFERRED ? time_s + 60 : 0 };

	verdict_set(&one.verdict, kind, NULL, "test", "words");
	control_writer_record(&writer, ID, &one);
}

/* A record has 952 bytes: a million of the same answer would be a gigabyte.
 * Where the answers differ in a word or a second, each has its own. */
Test(control_file, one_answer_to_many_is_kept_once)
{
	enum { COUNT = 10000, HOSTS = 50 };
	struct arena *arena = arena_new(), *loads = arena_new();
	struct control_file in = many(arena, COUNT), out;
	struct control_record *records = mem_alloc(COUNT, sizeof(*records));
	const struct control_rcpt *parsed;
	struct str text = STR_INIT;
	struct err err = { "" };
	int fd;

	cr_assert_eq(control_file_format(&in, &text, &err), 0, "%s", err.text);
	fd = temp_file(text.buf, text.len);
	for (size_t i = 0; i < COUNT; i++) {
		char words[32];

		snprintf(words, sizeof(words), "250 taken by %zu", i % HOSTS);
		records[i] = outcome(in.groups[0].rcpts[i].offset,
		    VERDICT_RELAYED, 1 + i % 2, words);
	}
	snprintf(records[7].verdict.text, sizeof(records[7].verdict.text),
	    "250 else");
	records[8].verdict.kind = VERDICT_DELIVERED;
	cr_assert_eq(control_file_append(fd, ID, records, COUNT, &err), 0);
	control_file_read(fd, 1 << 26, &text, &err);
	cr_assert_eq(control_file_parse(loads, str_slice(&text), &out, &err),
	    0);
	cr_expect_eq(out.final_total, COUNT);
	parsed = out.groups[0].rcpts;
	for (size_t i = 0; i < COUNT; i++) {
		cr_assert_str_eq(parsed[i].last->verdict.text,
		    records[i].verdict.text);
		cr_assert_eq(parsed[i].last->verdict.kind,
		    records[i].verdict.kind);
		cr_assert_eq(parsed[i].last->time_s, records[i].time_s);
	}
	cr_expect_eq(parsed[0].last, parsed[2 * HOSTS].last);
	cr_expect_neq(parsed[7].last, parsed[7 + 2 * HOSTS].last);
	cr_expect_neq(parsed[8].last, parsed[8 + 2 * HOSTS].last);
	cr_expect_lt(arena_used_bytes(loads), 5000000);	/* not 13 MB */
	close(fd);
	mem_free(&records);
	str_release(&text);
	arena_free(&loads);
	arena_free(&arena);
}

/* After each of these records, who is it that the recipient goes to? */
Test(control_file, a_failure_takes_the_next_way)
{
	static const struct control_way ways[] = {
		{ .channel = SLICE("smtp"), .host = SLICE("b"),
		    .user = SLICE("u@b"), .uid = -2, .after_s = 90 },
		{ .channel = SLICE("hold"), .user = SLICE("u@c"), .uid = 7 },
	};
	static const struct {
		int way;		/* whose record; 0: the r line */
		enum verdict_kind kind;
		const char *channel, *host;
		unsigned tries;
		bool is_final;
	} rows[] = {
		{ 0, VERDICT_DEFERRED, "smtp", "a", 3, false },
		{ 0, VERDICT_FAILED, "smtp", "b", 0, false },
		{ 0, VERDICT_FAILED, "smtp", "b", 0, false },	/* a past */
		{ 0, VERDICT_DELIVERED, "smtp", "b", 0, false },
		{ 1, VERDICT_DEFERRED, "smtp", "b", 3, false },
		{ 1, VERDICT_FAILED, "hold", "", 0, false },
		{ 2, VERDICT_FAILED, "hold", "", 3, true },
	};
	struct control_rcpt rcpt = { .channel = SLICE("smtp"),
	    .host = SLICE("a"), .user = SLICE("u@a"), .uid = -2,
	    .notify = DSN_NOTIFY_NEVER, .ways = ways, .way_count = 2 };
	struct control_group group = { .sender = SLICE("s@s"),
	    .header = SLICE("A: 1\n"), .rcpts = &rcpt, .rcpt_count = 1 };
	struct control_file in = sample(), out;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	uint32_t offsets[3];
	struct err err;

	in.groups = &group;
	in.group_count = 1;
	cr_assert_eq(control_file_format(&in, &text, &err), 0, "%s", err.text);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err), 0,
	    "%s", err.text);
	cr_assert_eq(out.groups[0].rcpts[0].way_count, 2);
	cr_expect_eq(out.groups[0].rcpts[0].ways[0].after_s, 90);
	offsets[0] = out.groups[0].rcpts[0].offset;
	offsets[1] = out.groups[0].rcpts[0].ways[0].offset;
	offsets[2] = out.groups[0].rcpts[0].ways[1].offset;
	cr_expect_eq(control_rcpt_end_offset(&out.groups[0].rcpts[0]),
	    offsets[2]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct control_rcpt *got;

		record(&text, offsets[rows[i].way], 1000 + (int64_t)i,
		    rows[i].kind);
		cr_assert_eq(control_file_parse(arena, str_slice(&text), &out,
		    &err),
		    0, "row %zu: %s", i, err.text);
		got = &out.groups[0].rcpts[0];
		cr_expect(slice_is(got->channel, rows[i].channel) &&
		    slice_is(got->host, rows[i].host), "row %zu", i);
		cr_expect_eq(got->tries, rows[i].tries, "row %zu", i);
		cr_expect_eq(got->is_final, rows[i].is_final, "row %zu", i);
		cr_expect_eq(got->notify, DSN_NOTIFY_NEVER);
	}
	cr_expect_eq(out.groups[0].rcpts[0].uid, 7);
	cr_expect_eq(out.groups[0].rcpts[0].way_since_s, 1005);
	str_release(&text);
	arena_free(&arena);
}

Test(control_file, the_end_of_the_last_way_is_the_end)
{
	static const struct control_way way = { .channel = SLICE("hold"),
	    .user = SLICE("u"), .uid = -2 };
	struct control_rcpt rcpt = { .channel = SLICE("smtp"),
	    .host = SLICE("a"), .user = SLICE("u@a"), .uid = -2,
	    .ways = &way, .way_count = 1 };
	struct control_group group = { .sender = SLICE("s@s"),
	    .header = SLICE("A: 1\n"), .rcpts = &rcpt, .rcpt_count = 1 };
	struct control_file in = sample(), out;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err;

	in.groups = &group;
	in.group_count = 1;
	cr_assert_eq(control_file_format(&in, &text, &err), 0);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err),
	    0);
	record(&text, control_rcpt_end_offset(&out.groups[0].rcpts[0]), 1,
	    VERDICT_FAILED);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &out, &err),
	    0);
	cr_expect(out.groups[0].rcpts[0].is_final);
	cr_expect_eq(out.final_total, 1);
	str_release(&text);
	arena_free(&arena);
}

/* ---- written again ------------------------------------------------------- */

/* control_change_fn: bob goes another way. */
static bool
change_bob(void *context, struct control_file *control,
    struct control_group *group, struct control_rcpt *rcpt)
{
	if (rcpt == NULL || !slice_is(rcpt->user, context))
		return false;
	rcpt->channel = SLICE("reroute");
	rcpt->host = SLICE("-");
	rcpt->user = SLICE("bob@a-longer-name.example.org");
	rcpt->uid = CONTROL_UID_NOBODY;
	rcpt->way_count = 0;
	return true;
}

Test(control_file, records_follow_their_recipients)
{
	struct control_file in = sample(), out;
	struct control_record record = { .kind = RECORD_OUTCOME,
	    .time_s = 1000, .tries = 3, .next_s = 2000,
	    .verdict = { .kind = VERDICT_DEFERRED, .status = "4.7.1",
	    .who = "mx", .text = "later" } };
	struct arena *arena = arena_new();
	struct str text = STR_INIT, fresh = STR_INIT;
	struct control_writer writer = { .out = &text };
	struct err err = { "" };
	const struct control_rcpt *bob, *last;
	char bob_name[] = "bob", nobody_name[] = "nobody";

	cr_assert_eq(control_file_format(&in, &text, &err), 0, "%s", err.text);
	for (int i = 0; i < 3; i += 2) {
		record.rcpt_offset = rcpts[i].offset;
		record.tries = (unsigned)i + 3;
		control_writer_record(&writer, ID, &record);
	}
	str_adds(&text, "\nd 00000000 77 torn\n");
	cr_assert_eq(control_file_rewrite(arena, str_slice(&text), change_bob,
	    nobody_name, &fresh, &err), 0, "%s", err.text);
	cr_expect_eq(fresh.len, 0);		/* nothing was changed */
	cr_assert_eq(control_file_rewrite(arena, str_slice(&text), change_bob,
	    bob_name, &fresh, &err), 0, "%s", err.text);
	cr_assert_gt(fresh.len, 0);
	cr_assert_eq(control_file_parse(arena, str_slice(&fresh), &out, &err),
	    0, "%s", err.text);
	cr_assert_eq(out.rcpt_total, 3);
	bob = &out.groups[0].rcpts[0];
	last = &out.groups[1].rcpts[1];
	cr_expect(slice_is(bob->channel, "reroute"));
	cr_expect(slice_is(bob->user, "bob@a-longer-name.example.org"));
	cr_expect_eq(bob->uid, CONTROL_UID_NOBODY);
	cr_expect_eq(bob->tries, 3);
	cr_expect_eq(bob->next_s, 2000);
	cr_assert_not_null(bob->last);
	cr_expect_str_eq(bob->last->verdict.text, "later");
	cr_expect_eq(out.groups[1].rcpts[0].tries, 0);
	cr_expect(slice_is(last->channel, "smtp"));
	cr_expect_eq(last->tries, 5);
	cr_expect_eq(memmem(fresh.buf, fresh.len, "torn", 4), NULL);
	/* no whole file, no change */
	for (size_t n = 0; n < in.head_bytes; n += 7)
		cr_expect_eq(control_file_rewrite(arena, slice_first(
		    str_slice(&text), n), change_bob, bob_name, &fresh, &err),
		    -1);
	str_release(&text);
	str_release(&fresh);
	arena_free(&arena);
}
