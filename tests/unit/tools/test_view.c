/* test_view.c - the queue as people see it
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "tests/unit/mail/fixture.h"
#include "tools/queue/view.h"

static struct fixture f;

struct seen {
	unsigned	count;
	struct str	list, json, mailq, show;
};

static bool
see(void *context, const struct view *view)
{
	struct seen *seen = context;

	seen->count++;
	view_add_list(&seen->list, view, view->time_s + 90);
	view_add_json(&seen->json, view);
	view_add_mailq(&seen->mailq, view);
	view_add_show(&seen->show, view, view->time_s + 90);
	return true;
}

static void
look(const struct live *live, struct seen *seen)
{
	static const struct live nobody;

	memset(seen, 0, sizeof(*seen));
	str_init(&seen->list);
	str_init(&seen->json);
	str_init(&seen->mailq);
	str_init(&seen->show);
	cr_assert_eq(view_each(f.spool, live ? live : &nobody, VIEW_HEADER,
	    see, seen, &f.err), 0, "%s", f.err.text);
}

static void
seen_release(struct seen *seen)
{
	str_release(&seen->list);
	str_release(&seen->json);
	str_release(&seen->mailq);
	str_release(&seen->show);
}

#define HAS(text, what) \
	cr_expect_not_null(strstr((text).buf, (what)), "%s", (text).buf)
#define HAS_NOT(text, what) \
	cr_expect_null(strstr((text).buf, (what)), "%s", (text).buf)

/* queue/N and transport/N with two recipients; their r lines' offsets. */
static ino_t
put_control(char id[SPOOL_ID_BYTES], uint32_t offsets[2])
{
	struct control_rcpt rcpts[2] = {
		{ .channel = SLICE("smtp"),
		    .host = SLICE("far.test"),
		    .user = SLICE("b@far.test"),
		    .uid = -2 },
		{ .channel = SLICE("smtp"),
		    .host = SLICE("far.test"),
		    .user = SLICE("c@far.test"),
		    .uid = -2 },
	};
	struct control_group group = { .sender = SLICE("a@src.test"),
	    .header = SLICE("Subject: hello\n"), .rcpts = rcpts,
	    .rcpt_count = 2 };
	struct control_file control = { .groups = &group, .group_count = 1,
	    .errors_to = SLICE("a@src.test"), .size_bytes = 1300,
	    .body_offset = 100 };
	struct str head = STR_INIT;
	ino_t inode = put_message(&f, "queue/x", id, "body");

	strlcpy(control.id, id, sizeof(control.id));
	control.inode = inode;
	cr_assert_eq(control_file_format(&control, &head, &f.err), 0, "%s",
	    f.err.text);
	move_file(&f, "queue/x", at("queue/%ju", (uintmax_t)inode));
	put_file(&f, at("transport/%ju", (uintmax_t)inode), head.buf,
	    head.len);
	offsets[0] = rcpts[0].offset;
	offsets[1] = rcpts[1].offset;
	str_release(&head);
	return inode;
}

static void
append(ino_t inode, const char *id, uint32_t offset, enum verdict_kind kind,
    const char *words)
{
	struct control_record record = { .kind = RECORD_OUTCOME,
	    .rcpt_offset = offset, .time_s = 1700000000, .tries = 2 };
	char name[SPOOL_NAME_BYTES];
	int control_fd, body;

	verdict_set(&record.verdict, kind, "4.7.1", "mx.far.test", "%s",
	    words);
	spool_hashed_name(f.spool, inode, name);
	cr_assert_eq(spool_open_queued(f.spool, name, &control_fd, &body,
	    &f.err),
	    SPOOL_OPEN_DONE);
	cr_assert_eq(control_file_append(control_fd, id, &record, 1, &f.err),
	    0);
	close(control_fd);
	close(body);
}

Test(view, every_directory_is_looked_into)
{
	char id[SPOOL_ID_BYTES], other[SPOOL_ID_BYTES];
	struct seen seen;
	uint32_t offsets[2];
	ino_t inode;

	fixture_open(&f, 0);
	look(NULL, &seen);
	cr_expect_eq(seen.count, 0);
	seen_release(&seen);
	put_control(id, offsets);
	inode = put_message(&f, "router/x", other, "b");
	move_file(&f, "router/x", at("router/%ju", (uintmax_t)inode));
	inode = put_message(&f, "router.3/x", other, "b");
	move_file(&f, "router.3/x", at("router.3/%ju", (uintmax_t)inode));
	inode = put_message(&f, "freezer/x", other, "b");
	move_file(&f, "freezer/x", at("freezer/%ju.policy",
	    (uintmax_t)inode));
	inode = put_message(&f, "deferred/x", other, "b");
	move_file(&f, "deferred/x", at("deferred/%ju.dns",
	    (uintmax_t)inode));
	inode = put_message(&f, "postman/x", other, "b");
	move_file(&f, "postman/x", at("postman/%ju._copy",
	    (uintmax_t)inode));
	put_file(&f, at("postman/%ju._copy.control", (uintmax_t)inode),
	    "x", 1);
	put_file(&f, "router/..123-45", "plan", 4);
	look(NULL, &seen);
	cr_expect_eq(seen.count, 6);
	HAS(seen.list, "frozen   a@example.org  (policy)");
	HAS(seen.list, "deferred a@example.org  (dns)");
	HAS(seen.list, "(_copy)");
	HAS(seen.show, "File:    router.3/");
	HAS(seen.show, "Subject: test");
	HAS(seen.mailq, "!");
	HAS(seen.json, "\"area\":\"freezer\"");
	seen_release(&seen);
	fixture_close(&f);
}

Test(view, recipients_with_state_and_last_words)
{
	char id[SPOOL_ID_BYTES];
	struct seen seen;
	uint32_t offsets[2];
	ino_t inode;

	fixture_open(&f, 0);
	inode = put_control(id, offsets);
	append(inode, id, offsets[0], VERDICT_DEFERRED, "450 4.7.1 later");
	append(inode, id, offsets[1], VERDICT_DELIVERED, "250 fine");
	look(NULL, &seen);
	cr_assert_eq(seen.count, 1);
	HAS(seen.list, id);
	HAS(seen.list, "1m30s");
	HAS(seen.list, "1.2K");
	HAS(seen.list, "b@far.test  tried 2 times");
	HAS(seen.list, "mx.far.test: 450 4.7.1 later");
	HAS_NOT(seen.list, "c@far.test");
	HAS(seen.mailq, "(mx.far.test: 450 4.7.1 later)");
	HAS_NOT(seen.mailq, "c@far.test");
	HAS(seen.show, "c@far.test  delivered");
	HAS(seen.show, "250 fine");
	HAS(seen.show, "by smtp to far.test");
	HAS(seen.json, "\"state\":\"delivered\"");
	HAS(seen.json, "\"reply\":\"450 4.7.1 later\"");
	seen_release(&seen);
	fixture_close(&f);
}

Test(view, a_broken_file_is_shown_as_such)
{
	struct seen seen;
	char id[SPOOL_ID_BYTES];

	fixture_open(&f, 0);
	put_file(&f, "transport/4711", "nothing like it", 15);
	put_message(&f, "deferred/12.why", id, "b");
	put_file(&f, "freezer/13.why", "complete 0", 10);
	look(NULL, &seen);
	cr_expect_eq(seen.count, 3);
	HAS(seen.list, "transport/4711: ");
	HAS(seen.list, "freezer/13.why: ");
	HAS(seen.json, "\"trouble\":");
	seen_release(&seen);
	fixture_close(&f);
}

Test(view, the_running_scheduler_knows_more)
{
	static const char queue[] =
	    "{\"channel\":\"smtp\",\"host\":\"z.test\",\"flight\":0,"
	    "\"held_until\":0,\"reason\":\"\"}\n"
	    "{\"channel\":\"smtp\",\"host\":\"far.test\",\"flight\":0,"
	    "\"held_until\":4000000000,\"reason\":\"connection refused\"}\n"
	    "{\"messages\":2}\n\n";
	struct arena *arena = arena_new();
	struct live live = { .is_up = true };
	char id[SPOOL_ID_BYTES];
	struct str next = STR_INIT;
	struct seen seen;
	uint32_t offsets[2];
	ino_t inode;

	fixture_open(&f, 0);
	inode = put_control(id, offsets);
	live_parse(SLICE(queue), arena, &live);
	cr_assert_eq(live.count, 2);
	cr_expect_null(live_find(&live, SLICE("smtp"), SLICE("far.tes")));
	cr_expect_null(live_find(&live, SLICE("smt"), SLICE("far.test")));
	cr_expect_not_null(live_find(&live, SLICE("smtp"), SLICE("z.test")));
	look(&live, &seen);
	HAS(seen.list, "connection refused");
	HAS(seen.json, "\"next\":4000000000");
	seen_release(&seen);
	live_parse(SLICE("{\"channel\":\"smtp\",\"host\":\"far.test\","
	    "\"flight\":1,\"held_until\":0}\n\n"), arena, &live);
	str_addf(&next, "junk\n{\"file\":%ju,\"offset\":%u,"
	    "\"next\":3000000000}\n\n", (uintmax_t)inode, offsets[0]);
	live_parse_next(str_slice(&next), arena, &live);
	cr_assert_eq(live.next_count, 1);
	look(&live, &seen);
	HAS(seen.list, "active");
	HAS(seen.json, "\"next\":3000000000");
	seen_release(&seen);
	str_release(&next);
	fixture_close(&f);
	arena_free(&arena);
}

Test(view, nobody_answers_on_a_socket_that_is_not_there)
{
	struct arena *arena = arena_new();
	struct live live;

	live_ask("/nonexistent", arena, &live);
	cr_expect_not(live.is_up);
	cr_expect_eq(live.count, 0);
	cr_expect_eq(live_next_s(&live, 1, 1), 0);
	arena_free(&arena);
}

Test(view, sizes_are_short)
{
	static const struct { uint64_t in; const char *want; } rows[] = {
		{ 0, "0B" }, { 1023, "1023B" }, { 1024, "1.0K" },
		{ 1536, "1.5K" }, { 102400, "100K" }, { 5242880, "5.0M" },
		{ UINT64_MAX, "16777215T" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = STR_INIT;

		view_add_size(&out, rows[i].in);
		cr_expect_str_eq(out.buf, rows[i].want);
		str_release(&out);
	}
}

/* A record with a good sum, of somebody who may write to the database. */
static void
forge_record(struct str *out, const char *id, uint32_t offset,
    const char *words)
{
	struct str line = STR_INIT;

	str_addf(&line, "%u 1700000000 %s", offset, words);
	str_addf(out, "\nd %08x %s\n", crc32c(crc32c(0, id, strlen(id)),
	    line.buf, line.len), line.buf);
	str_release(&line);
}

Test(view, no_record_of_a_copy_obeys_a_terminal)
{
	struct control_rcpt rcpts[2] = {
		{ .channel = SLICE("smtp"), .host = SLICE("far.test"),
		    .user = SLICE("b@far.test"), .uid = -2 },
		{ .channel = SLICE("smtp"), .host = SLICE("far.test"),
		    .user = SLICE("c@far.test"), .uid = -2 } };
	struct control_group group = { .sender = SLICE("a@src.test"),
	    .header = SLICE("Subject: hello\n"), .rcpts = rcpts,
	    .rcpt_count = 2 };
	struct control_file control = { .groups = &group, .group_count = 1,
	    .id = "0123456789abcu2d", .size_bytes = 9, .body_offset = 1 };
	struct view view = { .area = AREA_TRANSPORT, .name = "-", .why = "",
	    .id = control.id };
	struct str text = STR_INIT, out = STR_INIT;
	struct arena *arena = arena_new();
	struct err err = { "" };

	cr_assert_eq(control_file_format(&control, &text, &err), 0, "%s",
	    err.text);
	forge_record(&text, control.id, rcpts[0].offset, "outcome 1 0 "
	    "deferred 4.7.1\tmx\033[2J\tgone\033]0;x\007 away");
	forge_record(&text, control.id, rcpts[1].offset, "held 1 0 "
	    "joe\033[2J\tmoved\r\033[1A away");
	view_from_copy(arena, str_slice(&text), SLICE(""), 0, &view);
	view_add_list(&out, &view, 1700000090);
	view_add_show(&out, &view, 1700000090);
	view_add_mailq(&out, &view);
	HAS(out, "gone");
	HAS(out, "moved");
	cr_expect_null(strchr(out.buf, '\033'), "%s", out.buf);
	cr_expect_null(strchr(out.buf, '\007'));
	cr_expect_null(strchr(out.buf, '\r'));
	str_release(&text);
	str_release(&out);
	arena_free(&arena);
}
