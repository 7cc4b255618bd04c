/* test_stream.c - plans that leave memory while they are made
 *
 * The same message is planned in memory and through a sink: the control
 * files must say the same.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "helper.h"
#include "router/message/message.h"

static const char conf_text[] = "host mx.test\n"
    "table aliases file:DIR/aliases\n"
    "domain mx.test { users any }\n"
    "limit expansion 15000\n"
    "list verp@mx.test members DIR/few owner ann verp\n";

struct file {			/* a sink in memory */
	struct str	bytes;
	int		writes, backs;
	bool		is_full;
};

static int
file_write(void *context, struct slice bytes, struct err *err)
{
	struct file *file = context;

	if (file->is_full)
		return err_set(err, "no space left");
	file->writes++;
	str_add_slice(&file->bytes, bytes);
	return 0;
}

static int
file_back(void *context, uint64_t bytes, struct err *err)
{
	struct file *file = context;

	file->backs++;
	cr_assert_leq(bytes, file->bytes.len);
	file->bytes.len = bytes;
	return 0;
}

static int
file_first(void *context, struct slice line, struct err *err)
{
	struct file *file = context;

	memcpy(file->bytes.buf, line.p, line.n);
	return 0;
}

struct trial {
	struct fixture	 fixture;
	struct message	 message;
	struct file	 file;
	struct control_file	 held, streamed;
	struct str	 kept;
	struct err	 err;
};

static void
members(struct fixture *f, const char *name, unsigned from, unsigned to)
{
	struct str text = STR_INIT;

	for (unsigned i = from; i < to; i++)
		str_addf(&text, "m%u@d%u.test\n", i, i % 7);
	fixture_write(f, name, text.buf);
	str_release(&text);
}

static void
trial_open(struct trial *t)
{
	memset(t, 0, sizeof(*t));
	fixture_open(&t->fixture, conf_text, "big: :include:DIR/many\n"
	    "owner-big: ann\nover: :include:DIR/toomany\n"
	    "both: :include:DIR/many, ann, \\bob\n"
	    "small: :include:DIR/few\n", NULL, NULL);
	members(&t->fixture, "many", 0, 12000);
	members(&t->fixture, "toomany", 6000, 30000);
	members(&t->fixture, "few", 11990, 12010);
	message_init(&t->message);
	str_init(&t->file.bytes);
	str_init(&t->kept);
}

static void
trial_close(struct trial *t)
{
	message_release(&t->message);
	str_release(&t->file.bytes);
	str_release(&t->kept);
	fixture_close(&t->fixture);
}

static enum message_fate
plan(struct trial *t, const char *rcpts, const struct control_sink *sink)
{
	struct str file = STR_INIT;
	struct slice rest = slice_of(rcpts), word;
	enum message_fate fate;

	str_adds(&file, "id 01jd3x8k2mc4n7\nexternal\nwith ESMTP\n"
	    "from <a@src.test>\n");
	while (slice_word(&rest, &word))
		str_addf(&file, "todsn NOTIFY=SUCCESS\nto <" SLICE_FMT
		    ">\n", SLICE_ARG(word));
	str_adds(&file, "env-end\nFrom: a@src.test\n\nx\n");
	message_reset(&t->message);
	fate = message_route(&t->message, t->fixture.router, str_slice(&file),
	    4711, sink, &t->err);
	str_release(&file);
	return fate;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "sender errors channel host user" of all recipients, sorted. */
static char *
summary(struct arena *arena, const struct control_file *control)
{
	char **lines = arena_alloc(arena, control->rcpt_total * sizeof(char *));
	struct str text = STR_INIT;
	size_t n = 0;
	char *out;

	for (size_t i = 0; i < control->group_count; i++) {
		const struct control_group *g = &control->groups[i];
		struct slice errors = control_group_errors(control, g);

		for (size_t k = 0; k < g->rcpt_count; k++)
			lines[n++] = arena_printf(arena, SLICE_FMT " "
			    SLICE_FMT " " SLICE_FMT " " SLICE_FMT " "
			    SLICE_FMT " %d", SLICE_ARG(g->sender),
			    SLICE_ARG(errors), SLICE_ARG(g->rcpts[k].channel),
			    SLICE_ARG(g->rcpts[k].host),
			    SLICE_ARG(g->rcpts[k].user),
			    g->rcpts[k].is_final);
	}
	qsort(lines, n, sizeof(char *), by_text);
	for (size_t i = 0; i < n; i++)
		str_addf(&text, "%s\n", lines[i]);
	out = arena_dup(arena, text.buf, text.len);
	str_release(&text);
	return out;
}

static void
check_same(const char *rcpts, size_t want, int want_backs)
{
	struct trial t;
	struct control_sink sink;
	struct arena *arena;

	trial_open(&t);
	arena = t.fixture.arena;
	sink = (struct control_sink){ &t.file, file_write, file_back,
	    file_first };
	cr_assert_eq(plan(&t, rcpts, NULL), MESSAGE_ROUTED, "%s",
	    t.err.text);
	cr_expect(!t.message.is_streamed);
	str_add_slice(&t.kept, str_slice(&t.message.control_text));
	cr_assert_eq(control_file_parse(arena, str_slice(&t.kept), &t.held,
	    &t.err),
	    0, "%s", t.err.text);
	cr_assert_eq(plan(&t, rcpts, &sink), MESSAGE_ROUTED, "%s",
	    t.err.text);
	cr_expect(t.message.is_streamed);
	cr_assert_eq(control_file_parse(arena, str_slice(&t.file.bytes),
	    &t.streamed,
	    &t.err), 0, "%s", t.err.text);
	cr_expect_eq(t.streamed.rcpt_total, want, "%s: %zu", rcpts,
	    t.streamed.rcpt_total);
	cr_expect_eq(t.held.rcpt_total, want);
	cr_expect_eq(t.file.backs, want_backs, "%d", t.file.backs);
	cr_expect(strcmp(summary(arena, &t.held),
	    summary(arena, &t.streamed)) == 0, "%s", rcpts);
	trial_close(&t);
}

Test(stream, a_large_list)
{
	check_same("big@mx.test", 12001, 0);
}

Test(stream, duplicates_are_merged_across_memory_and_file)
{
	check_same("bob@mx.test small@mx.test big@mx.test both@mx.test "
	    "m5@d5.test m12009@d6.test m12009@d4.test", 12016, 0);
}

/* What a recipient over the limit had put into the file is taken back, and
 * those before and after it are there. */
Test(stream, an_alias_over_the_limit_is_taken_back)
{
	check_same("ann@mx.test big@mx.test over@mx.test zoe@mx.test "
	    "m29999@d4.test", 12005, 1);
	check_same("m1@d1.test over@mx.test big@mx.test", 12002, 1);
}

/* Those of the envelope that come one by one are one group, as they were in
 * memory: the scheduler makes a job of those that go one way. */
Test(stream, recipients_one_by_one_are_one_group)
{
	struct trial t;
	struct control_sink sink;
	struct str rcpts = STR_INIT;

	trial_open(&t);
	sink = (struct control_sink){ &t.file, file_write, file_back,
	    file_first };
	for (int i = 0; i < 12000; i++)
		str_addf(&rcpts, "u%d@d%d.test ", i, i % 100);
	str_adds(&rcpts, "x@y.test");
	cr_assert_eq(plan(&t, rcpts.buf, &sink), MESSAGE_ROUTED, "%s",
	    t.err.text);
	cr_assert_eq(control_file_parse(t.fixture.arena,
	    str_slice(&t.file.bytes),
	    &t.streamed, &t.err), 0, "%s", t.err.text);
	cr_expect_eq(t.streamed.rcpt_total, 12001);
	cr_expect_eq(t.streamed.group_count, 1, "%zu",
	    t.streamed.group_count);
	cr_expect_lt(t.file.writes, 20, "%d", t.file.writes);
	str_release(&rcpts);
	trial_close(&t);
}

Test(stream, senders_of_their_own)
{
	check_same("big@mx.test verp@mx.test x@y.test", 12013, 0);
}

Test(stream, a_full_disk_is_no_verdict_about_the_message)
{
	struct trial t;
	struct control_sink sink;

	trial_open(&t);
	sink = (struct control_sink){ &t.file, file_write, file_back,
	    file_first };
	t.file.is_full = true;
	cr_expect_eq(plan(&t, "big@mx.test", &sink), MESSAGE_UNWRITTEN);
	cr_expect_str_eq(t.err.text, "no space left");
	t.file.is_full = false;
	cr_expect_eq(plan(&t, "ann@mx.test", &sink), MESSAGE_ROUTED);
	cr_expect(!t.message.is_streamed);
	trial_close(&t);
}

/* A list of a hundred thousand needs no more than one of ten thousand. */
Test(stream, memory_does_not_grow_with_the_list)
{
	struct trial t;
	struct control_sink sink;
	size_t used[2];

	trial_open(&t);
	sink = (struct control_sink){ &t.file, file_write, file_back,
	    file_first };
	for (int i = 0; i < 2; i++) {
		members(&t.fixture, "few", 0, i == 0 ? 10000 : 14900);
		str_reset(&t.file.bytes);
		cr_assert_eq(plan(&t, "small@mx.test", &sink),
		    MESSAGE_ROUTED, "%s", t.err.text);
		used[i] = arena_used_bytes(t.message.arena);
	}
	cr_expect_lt(used[1], used[0] + 4096, "%zu %zu", used[0], used[1]);
	trial_close(&t);
}
