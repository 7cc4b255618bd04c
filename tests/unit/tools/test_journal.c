/* test_journal.c - the life of messages, found in damaged and whole files
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "tools/journal/ask.h"
#include "tools/journal/journal.h"

#define ID_A "01jd3x8k2mc4n7"
#define ID_B "01jd3x8k2nd5p8"
#define ID_C "01jd3x8k2pe6q9"

static char dir[64];

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/zmjournalXXXXXX");
	cr_assert_not_null(mkdtemp(dir));
}

static void
teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(journal, .init = setup, .fini = teardown);

/* Write text as the journal of `ago` days before today. */
static void
day_write(int ago, const char *text)
{
	char now[CLOCK_TEXT_BYTES], path[200];
	FILE *file;

	clock_rfc3339(clock_wall_us() - (int64_t)ago * 86400 * 1000000, now);
	snprintf(path, sizeof(path), "%s/events-%.10s.jsonl", dir, now);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

#define AT(t) "{\"t\":\"2026-11-20T" t "Z\","

static const char yesterday[] =
    AT("23:59:59.900") "\"id\":\"" ID_A "\",\"ev\":\"message.accepted\","
    "\"d\":\"smtpserver\",\"pid\":1,\"from\":\"alice@example.org\","
    "\"rcpts\":\"1\"}\n"
    AT("23:59:59.950") "\"id\":\"" ID_B "\",\"ev\":\"message.accepted\","
    "\"d\":\"smtpserver\",\"pid\":1,\"from\":\"Carol@Example.org\"}\n"
    "this line is damaged\n"
    "{\"t\":\"nonsense\",\"id\":\"" ID_A "\",\"ev\":\"x\"}\n"
    AT("23:59:59.912") "\"id\":\"" ID_A "\",\"ev\":\"message.routed\","
    "\"d\":\"router\",\"pid\":2,\"msgid\":\"<m1@example.org>\"}\n"
    AT("23:59:59.960") "\"ev\":\"daemon.start\",\"d\":\"router\","
    "\"pid\":2,\"version\":\"4\"}\n";

static const char today[] =
    AT("23:59:59.911") "\"id\":\"" ID_A "\",\"ev\":\"rcpt.routed\","
    "\"d\":\"router\",\"pid\":2,\"to\":\"<bob@example.net>\"}\n"
    "{\"t\":\"2026-11-21T00:04:10.000Z\",\"id\":\"" ID_A "\","
    "\"ev\":\"rcpt.ok\",\"d\":\"smtp\",\"pid\":3,\"to\":\"bob@example.net\","
    "\"reply\":\"250 \\\"fine\\\"\\u001b[31m\"}\n"
    "{\"t\":\"2026-11-21T00:04:11.000Z\",\"id\":\"" ID_C "\","
    "\"ev\":\"rcpt.ok\",\"d\":\"smtp\",\"pid\":3,"
    "\"orcpt\":\"rfc822;bob@example.net\"}\n"
    "{\"t\":\"2026-11-21T00:04:12.000Z\",\"id\":\"" ID_C "\",\"ev\":\"cut";

static struct journal *
both(void)
{
	struct journal *journal;
	struct err err;

	day_write(1, yesterday);
	day_write(0, today);
	cr_assert_eq(journal_days_open(dir, JOURNAL_DAYS, &journal, &err), 0);
	return journal;
}

Test(journal, a_life_is_found_by_id_address_and_message_id)
{
	static const struct {
		const char *what;
		int result;
		size_t ids, lines;
	} rows[] = {
		{ ID_A, 0, 1, 4 },
		{ ID_B, 0, 1, 1 },
		{ "01jd3x8k2pe6qa", 0, 1, 0 },
		{ "alice@example.org", 0, 1, 4 },
		{ "ALICE@EXAMPLE.ORG", 0, 1, 4 },
		{ "carol@example.org", 0, 1, 1 },
		{ "bob@example.net", 0, 2, 5 },
		{ "ob@example.net", 0, 0, 0 },
		{ "bob@example.ne", 0, 0, 0 },
		{ "<m1@example.org>", 0, 1, 4 },
		{ "<m2@example.org>", 0, 0, 0 },
		{ "m1@example.org", 0, 0, 0 },
		{ "from:alice@example.org", 0, 1, 4 },
		{ "to:alice@example.org", 0, 0, 0 },
		{ "msgid:m1@example.org", 0, 1, 4 },
		{ "id:" ID_B, 0, 1, 1 },
		{ "client:192.0.2.7", 0, 0, 0 },
		{ "client:nowhere", -1, 0, 0 },
		{ "client:", -1, 0, 0 },
		{ "from:", -1, 0, 0 },
		{ "alice", -1, 0, 0 },
		{ "", -1, 0, 0 },
	};
	struct journal *journal = both();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct life life;
		struct journal_ask ask;
		struct err err;

		cr_expect_eq(ask_parse(rows[i].what, &ask, &err),
		    rows[i].result, "%s", rows[i].what);
		memset(&life, 0, sizeof(life));
		if (rows[i].result == 0)
			life_find(journal, &ask, arena, &life);
		cr_expect_eq(life.id_count, rows[i].ids, "%s: %zu ids",
		    rows[i].what, life.id_count);
		cr_expect_eq(life.count, rows[i].lines, "%s: %zu lines",
		    rows[i].what, life.count);
		arena_free(&arena);
	}
	journal_close(&journal);
}

Test(journal, a_life_is_told_in_order_in_sentences)
{
	static const char *const want[] = {
		ID_A "   2026-11-20 23:59:59 UTC\n",
		"23:59:59.900  The message from alice@example.org for 1 "
		    "recipient was accepted.\n",
		"23:59:59.911  The router sends <bob@example.net> by",
		"23:59:59.912  The router handed it to the scheduler, "
		    "Message-Id\n              <m1@example.org>.\n",
		"2026-11-21\n",
		"00:04:10.000  bob@example.net has it: 250 "
		    "\"fine\"\\x1B[31m\n",
	};
	struct journal *journal = both();
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct life life;
	struct journal_ask ask;
	struct err err;
	const char *at;

	cr_assert_eq(ask_parse(ID_A, &ask, &err), 0);
	life_find(journal, &ask, arena, &life);
	life_print(&life, &text);
	at = text.buf;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const char *found = strstr(at, want[i]);

		cr_assert_not_null(found, "row %zu after:\n%s", i, at);
		at = found;
	}
	str_release(&text);
	arena_free(&arena);
	journal_close(&journal);
}

Test(journal, acceptance_is_told_after_its_session_and_before_routing)
{
	static const char early[] =
	    AT("10:00:00.000") "\"ev\":\"tls.trouble\",\"d\":\"keys\","
	    "\"pid\":3,\"session\":\"361gs1\"}\n"
	    AT("10:00:00.001") "\"ev\":\"session.open\",\"d\":"
	    "\"smtpserver\",\"pid\":1,\"session\":\"361gs1\"}\n"
	    AT("10:00:00.100") "\"id\":\"" ID_A "\",\"ev\":\"rcpt.routed\","
	    "\"d\":\"router\",\"pid\":2,\"to\":\"<bob@example.net>\"}\n"
	    AT("10:00:00.102") "\"id\":\"" ID_A "\",\"ev\":"
	    "\"message.accepted\",\"d\":\"smtpserver\",\"pid\":1,"
	    "\"session\":\"361gs1\"}\n";
	static const char *const order[] = { "tls.trouble", "session.open",
		"message.accepted", "rcpt.routed" };
	struct arena *arena = arena_new();
	struct journal *journal;
	struct life life;
	struct journal_ask ask;
	struct err err;

	day_write(0, early);
	cr_assert_eq(journal_days_open(dir, JOURNAL_DAYS, &journal, &err), 0);
	cr_assert_eq(ask_parse(ID_A, &ask, &err), 0);
	life_find(journal, &ask, arena, &life);
	cr_assert_eq(life.count, 4);
	for (size_t i = 0; i < 4; i++)
		cr_expect(memmem(life.lines[i].line.p, life.lines[i].line.n,
		    order[i], strlen(order[i])) != NULL, "line %zu", i);
	arena_free(&arena);
	journal_close(&journal);
}

Test(journal, only_files_of_the_days_asked_for_are_read)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct journal *journal;
	struct slice line;
	size_t count = 0;
	struct err err;
	char path[200];
	FILE *file;

	day_write(0, "a\n");
	day_write(3, "b\n");
	day_write(20, "c\n");
	snprintf(path, sizeof(path), "%s/events-2099-01-01.jsonl.bak", dir);
	file = fopen(path, "w");
	fputs("d\n", file);
	fclose(file);
	cr_assert_eq(journal_days_open(dir, JOURNAL_DAYS, &journal, &err), 0);
	while (journal_next(journal, &cursor, &line))
		cr_expect(slice_is(line, count++ == 0 ? "b" : "a"));
	cr_expect_eq(count, 2);
	journal_close(&journal);
	cr_expect_eq(journal_days_open("/nonexistent/zm", 1, &journal, &err),
	    -1);
}

Test(journal, a_line_says_its_time_or_none)
{
	static const struct { const char *in; int64_t want; } rows[] = {
		{ "{\"t\":\"1970-01-01T00:00:00.000Z\"}", 0 },
		{ "{\"t\":\"1970-01-02T00:00:01.234Z\"}", 86401234 },
		{ "{\"t\":\"2026-11-20T21:04:00.123Z\"}", 1795208640123 },
		{ "{\"t\":\"2026-11-20T21:04:00.12\"}", -1 },
		{ "{\"t\":\"2026-1x-20T21:04:00.123Z\"}", -1 },
		{ "{\"t\":", -1 }, { "", -1 }, { "{\"x\":\"\"}", -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(journal_line_ms(slice_of(rows[i].in)),
		    rows[i].want, "%s", rows[i].in);
}

Test(journal, more_messages_than_the_bound_leave_the_newest)
{
	static char big[400 * 1024];
	size_t n = 0;
	struct journal *journal;
	struct arena *arena = arena_new();
	struct life life;
	struct journal_ask ask;
	struct err err;

	for (int i = 0; i < JOURNAL_IDS_MAX * 2 + 50; i++)
		n += (size_t)snprintf(big + n, sizeof(big) - n,
		    AT("00:00:00.000") "\"id\":\"01jd3x8k%04d00\",\"ev\":\"x\","
		    "\"from\":\"a@b.c\"}\n", i);
	day_write(0, big);
	cr_assert_eq(journal_days_open(dir, 1, &journal, &err), 0);
	cr_assert_eq(ask_parse("a@b.c", &ask, &err), 0);
	life_find(journal, &ask, arena, &life);
	cr_expect(life.is_cut);
	cr_expect_eq(life.id_count, JOURNAL_IDS_MAX);
	cr_expect_eq(life.count, JOURNAL_IDS_MAX);
	cr_expect(slice_is(life.lines[life.count - 1].id, "01jd3x8k204900"));
	cr_expect(slice_is(life.lines[0].id, "01jd3x8k105000"));
	arena_free(&arena);
	journal_close(&journal);
}

/* ---- when and whence --------------------------------------------------- */

Test(journal, moments)
{
	/* 2026-11-20 21:04:00 UTC */
	static const int64_t now = INT64_C(1795208640000);
	static const struct { const char *in; int64_t at, span; } rows[] = {
		{ "2026-11-20", INT64_C(1795132800000), 86400000 },
		{ "today", INT64_C(1795132800000), 86400000 },
		{ "yesterday", INT64_C(1795046400000), 86400000 },
		{ "2026-11-20T21:04", INT64_C(1795208640000), 60000 },
		{ "2026-11-20 21:04:00", INT64_C(1795208640000), 1000 },
		{ "2026-11-20T21:04:00Z", INT64_C(1795208640000), 1000 },
		{ "21:04", INT64_C(1795208640000), 60000 },
		{ "2h", INT64_C(1795201440000), 0 },
		{ "1d", INT64_C(1795122240000), 0 },
	};
	static const char *const bad[] = { "", "2026-11-31", "2026-13-01",
	    "2026-11-20x", "2026-11-20T25:00", "21:61", "21:04x", "soon",
	    "5", "2026-11-2", "20261120" };
	int64_t at, span;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(ask_moment(rows[i].in, now, &at, &span, &err), 0,
		    "%s", rows[i].in);
		cr_expect_eq(at, rows[i].at, "%s: %lld", rows[i].in,
		    (long long)at);
		cr_expect_eq(span, rows[i].span, "%s", rows[i].in);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(ask_moment(bad[i], now, &at, &span, &err), -1,
		    "%s", bad[i]);
}

Test(journal, moments_are_local_and_z_is_utc)
{
	static const int64_t now = INT64_C(1795208640000);
	static const struct { const char *in; int64_t at; } rows[] = {
		{ "2026-11-20", INT64_C(1795125600000) },
		{ "today", INT64_C(1795125600000) },
		{ "yesterday", INT64_C(1795039200000) },
		{ "2026-11-20T23:04", INT64_C(1795208640000) },
		{ "23:04", INT64_C(1795208640000) },
		{ "2026-11-20T21:04Z", INT64_C(1795208640000) },
		{ "21:04Z", INT64_C(1795208640000) },
	};
	char text[CLOCK_TEXT_BYTES];
	int64_t at, span;
	struct err err;

	setenv("TZ", "XYZ-2", 1);
	tzset();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(ask_moment(rows[i].in, now, &at, &span, &err), 0);
		cr_expect_eq(at, rows[i].at, "%s: %lld", rows[i].in,
		    (long long)at);
	}
	clock_local(now / 1000, text);
	cr_expect_str_eq(text, "2026-11-20 23:04:00 XYZ");
}

#define SESSION(t, name, more) \
	AT(t) "\"ev\":\"" name "\",\"d\":\"smtpserver\",\"pid\":1," more "}\n"

static const char visits[] =
    SESSION("10:00:00.000", "session.open",
	"\"client\":\"192.0.2.7:4711\",\"session\":\"361gs1\"")
    AT("10:00:01.000") "\"id\":\"" ID_A "\",\"ev\":\"message.accepted\","
    "\"d\":\"smtpserver\",\"pid\":1,\"client\":\"192.0.2.7:4711\","
    "\"session\":\"361gs1\",\"from\":\"a@x.test\"}\n"
    SESSION("10:00:02.000", "session.close",
	"\"client\":\"192.0.2.7:4711\",\"session\":\"361gs1\"")
    SESSION("11:00:00.000", "session.open",
	"\"client\":\"192.0.2.9:99\",\"session\":\"361gs2\"")
    SESSION("11:00:01.000", "command.refused",
	"\"client\":\"192.0.2.9:99\",\"session\":\"361gs2\","
	"\"from\":\"spam@y.test\","
	"\"command\":\"RCPT TO:<bob@far.test> SIZE=1\",\"code\":\"550\"")
    SESSION("12:00:00.000", "session.refused",
	"\"client\":\"[2001:db8::1]:25\",\"reason\":\"no\"")
    SESSION("12:00:01.000", "session.open",
	"\"client\":\"192.0.3.9:99\",\"session\":\"361gs3\"")
    SESSION("12:00:02.000", "command.refused",
	"\"client\":\"192.0.3.9:99\",\"session\":\"361gs3\","
	"\"command\":\"MAIL FROM:<eve@y.test>\",\"code\":\"550\"")
    AT("12:00:05.000") "\"id\":\"" ID_A "\",\"ev\":\"rcpt.ok\","
    "\"d\":\"smtp\",\"pid\":3,\"to\":\"b@x.test\"}\n"
    AT("13:00:06.000") "\"id\":\"" ID_C "\",\"ev\":\"rcpt.routed\","
    "\"d\":\"router\",\"pid\":3,\"to\":\"team@mx.test\",\"user\":\"ann\"}\n"
    AT("13:00:07.000") "\"id\":\"" ID_B "\",\"ev\":\"rcpt.ok\","
    "\"d\":\"mailbox\",\"pid\":3,\"to\":\"cat\",\"user\":\"joe\","
    "\"orcpt\":\"rfc822;te+2Bam@mx.test\"}\n";

/* lines and, of the first, to whom it belongs */
static const struct {
	const char *what;
	size_t lines;
	const char *first;
} visit_rows[] = {
	{ ID_A, 4, ID_A },
	{ "client:192.0.2.7", 4, ID_A },
	{ "client:192.0.2.9", 2, "361gs2" },
	{ "client:192.0.2.0/24", 6, ID_A },
	{ "client:[2001:DB8:0::1]", 1, "-" },
	{ "client:192.0.2.8", 0, NULL },
	{ "session:361gs2", 2, "361gs2" },
	{ "spam@y.test", 2, "361gs2" },
	{ "to:bob@far.test", 2, "361gs2" },
	{ "from:bob@far.test", 0, NULL },
	{ "to:spam@y.test", 0, NULL },
	{ "from:eve@y.test", 2, "361gs3" },
	{ "to:eve@y.test", 0, NULL },
	{ "ann@mx.test", 1, ID_C },
	{ "to:ann@mx.test", 1, ID_C },
	{ "to:team@mx.test", 1, ID_C },
	{ "to:te+am@mx.test", 1, ID_B },
	{ "to:cat@mx.test", 1, ID_B },
	{ "to:cat@far.test", 0, NULL },
	{ "to:joe@mx.test", 0, NULL },
	{ "b@x.test", 4, ID_A },
};

static void
visits_check(struct journal *journal, const char *how)
{
	for (size_t i = 0; i < sizeof(visit_rows) / sizeof(visit_rows[0]);
	    i++) {
		struct arena *arena = arena_new();
		struct life life;
		struct journal_ask ask;
		struct err err;

		cr_assert_eq(ask_parse(visit_rows[i].what, &ask, &err), 0);
		ask_set_host(&ask, "mx.test");
		life_find(journal, &ask, arena, &life);
		cr_expect_eq(life.count, visit_rows[i].lines, "%s %s: %zu",
		    how, visit_rows[i].what, life.count);
		if (life.count > 0)
			cr_expect(slice_is(life.lines[0].id,
			    visit_rows[i].first), "%s", visit_rows[i].what);
		arena_free(&arena);
	}
}

Test(journal, a_life_begins_with_its_session_and_clients_are_found)
{
	struct journal *journal;
	struct err err;

	day_write(0, visits);
	cr_assert_eq(journal_open_all(dir, &journal, &err), 0);
	visits_check(journal, "plain");
	journal_close(&journal);
}

/* Two messages of two users, and one of a stranger, in one session. */
static const char owned[] =
    AT("12:00:01.000") "\"id\":\"" ID_A "\",\"ev\":\"message.accepted\","
    "\"from\":\"alice@x.test\",\"uid\":\"1000\"}\n"
    AT("12:00:02.000") "\"id\":\"" ID_A "\",\"ev\":\"message.routed\","
    "\"from\":\"alice@x.test\",\"user\":\"alice\"}\n"
    AT("12:00:03.000") "\"id\":\"" ID_B "\",\"ev\":\"message.routed\","
    "\"from\":\"alice@x.test\",\"user\":\"bob\"}\n"
    AT("12:00:04.000") "\"id\":\"" ID_C "\",\"ev\":\"message.routed\","
    "\"from\":\"alice@x.test\",\"user\":\"\"}\n"
    AT("12:00:05.000") "\"id\":\"" ID_C "\",\"ev\":\"rcpt.ok\","
    "\"to\":\"x\\\",\\\"user\\\":\\\"alice\"}\n"
    AT("12:00:06.000") "\"ev\":\"command.refused\",\"session\":\"361gs9\","
    "\"client\":\"192.0.2.7:25\",\"from\":\"alice@x.test\"}\n";

Test(journal, an_owner_sees_what_he_submitted_whatever_he_asks)
{
	static const struct {
		const char *what, *owner;
		size_t lines;
	} rows[] = {
		{ "alice@x.test", NULL, 6 }, { "alice@x.test", "alice", 2 },
		{ "alice@x.test", "bob", 1 }, { "alice@x.test", "eve", 0 },
		{ ID_A, "alice", 2 }, { ID_B, "alice", 0 },
		{ ID_C, "alice", 0 }, { NULL, "alice", 2 },
		{ NULL, "", 0 }, { "client:192.0.2.7", "alice", 0 },
		{ "session:361gs9", "alice", 0 },
	};
	struct journal *journal;
	struct err err;

	day_write(0, owned);
	cr_assert_eq(journal_open_all(dir, &journal, &err), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct life life;
		struct journal_ask ask;

		cr_assert_eq(ask_parse(rows[i].what, &ask, &err), 0);
		ask.owner = rows[i].owner;
		life_find(journal, &ask, arena, &life);
		cr_expect_eq(life.count, rows[i].lines, "row %zu: %zu", i,
		    life.count);
		arena_free(&arena);
	}
	journal_close(&journal);
}

Test(journal, a_window_in_time_is_held_against_each_line)
{
	static const struct {
		const char *since, *until;
		size_t lines;
	} rows[] = {
		{ "2026-11-20T09:00", "2026-11-20T12:30", 4 },
		{ "2026-11-20T12:00:05", "2026-11-20T12:00:05", 4 },
		{ "2026-11-20T12:00:06", "2026-11-20T23:00", 2 },
		{ "2026-11-19", "2026-11-19", 0 },
		{ "2026-11-20", "2026-11-20", 6 },
	};
	struct journal *journal;
	struct err err;
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/events-2026-11-20.jsonl", dir);
	file = fopen(path, "w");
	fputs(visits, file);
	fclose(file);
	cr_assert_eq(journal_open_all(dir, &journal, &err), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct life life;
		struct journal_ask ask;

		cr_assert_eq(ask_parse(NULL, &ask, &err), 0);
		cr_assert_eq(ask_option(OPT_SINCE, rows[i].since, &ask, &err),
		    0);
		cr_assert_eq(ask_option(OPT_UNTIL, rows[i].until, &ask, &err),
		    0);
		life_find(journal, &ask, arena, &life);
		cr_expect_eq(life.count, rows[i].lines, "%zu: %zu", i,
		    life.count);
		arena_free(&arena);
	}
	journal_close(&journal);
}

/* Each key of a sentence is one that its event may carry. */
Test(journal, tellings_ask_for_keys_that_their_events_have)
{
	for (size_t i = 0; i < journal_telling_count(); i++) {
		const char *event, *p = journal_telling(i, &event);
		const struct event_row *row = NULL;

		for (size_t k = 0; k < EV_COUNT; k++)
			if (strcmp(event_rows[k].name, event) == 0)
				row = &event_rows[k];
		cr_assert_not_null(row, "%s", event);
		while ((p = strchr(p, '{')) != NULL) {
			size_t n = strcspn(++p, ":}");
			struct slice keys = slice_of(row->keys), key;
			bool has = false;

			while (slice_word(&keys, &key))
				has = has || slice_equal(key,
				    (struct slice){ p, n });
			cr_expect(has, "%s: %.*s", event, (int)n, p);
		}
	}
}

Test(journal, an_event_without_a_sentence_is_told_with_its_values)
{
	static const struct { const char *line, *want; } rows[] = {
		{ "{\"ev\":\"message.done\",\"rcpts\":2,\"failed\":1,"
		    "\"delay\":3700}", "It is done: every recipient has its "
		    "outcome (1 of 2 failed), after 1h1m." },
		{ "{\"ev\":\"rcpt.defer\",\"to\":\"b@x\",\"tries\":1,"
		    "\"code\":\"4.7.1\",\"reply\":\"later\","
		    "\"next\":1763600000}", "Try 1: b@x does not have it "
		    "yet: 4.7.1 later; tried again 2025-11-20 00:53:20 UTC." },
		{ "{\"ev\":\"message.accepted\",\"from\":\"\","
		    "\"rcpts\":2}", "The message from <> for 2 recipients "
		    "was accepted." },
		{ "{\"ev\":\"draft.swept\",\"file\":\"a\","
		    "\"reason\":\"old\"}", "An unfinished submission in "
		    "public/ was removed. (file a, reason old)" },
		{ "{\"ev\":\"odd.one\",\"a\":\"{b}[c]\"}",
		    "odd.one (a {b}[c])" },
		{ "{}", "" },
	};
	struct str text = STR_INIT;

	setenv("TZ", "UTC0", 1);
	tzset();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		journal_tell(slice_of(rows[i].line), &text);
		cr_expect_str_eq(text.buf, rows[i].want, "row %zu", i);
	}
	str_release(&text);
}

/* What a full disk cut stands before the same line, whole, or before one of
 * somebody else; a text with the begin of a line in it is not cut. */
Test(journal, half_a_line_hides_none)
{
	static const struct { const char *line, *want; } rows[] = {
		{ "{\"t\":\"1\",\"id\":\"{\"t\":\"2\"}", "{\"t\":\"2\"}" },
		{ "{{\"t\":\"2\"}", "{\"t\":\"2\"}" },
		{ "{\"t\":\"1\"{\"t\":\"2\",\"{\"t\":\"3\"}", "{\"t\":\"3\"}" },
		{ "{\"t\":\"2\",\"x\":\"{\\\"t\\\":\\\"1\\\"}\"}",
		    "{\"t\":\"2\",\"x\":\"{\\\"t\\\":\\\"1\\\"}\"}" },
		{ "{\"t\":\"2\",\"x\":\"{\"}", "{\"t\":\"2\",\"x\":\"{\"}" },
		{ "nonsense", "nonsense" }, { "", "" }, { "{", "{" }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(slice_is(journal_line_whole(slice_of(rows[i].line)),
		    rows[i].want), "%s", rows[i].line);
}
