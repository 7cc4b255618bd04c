/* test_journal.c - the life of messages, found in damaged and whole files
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
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
	cr_assert_eq(journal_open(dir, JOURNAL_DAYS, &journal, &err), 0);
	return journal;
}

Test(journal, a_life_is_found_by_id_address_and_message_id)
{
	static const struct { const char *what; int result; size_t ids, lines; }
	rows[] = {
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
		{ "alice", -1, 0, 0 },
		{ "", -1, 0, 0 },
	};
	struct journal *journal = both();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct life life;
		struct err err;

		cr_expect_eq(life_find(journal, rows[i].what, arena, &life,
		    &err), rows[i].result, "%s", rows[i].what);
		cr_expect_eq(life.id_count, rows[i].ids, "%s: %zu ids",
		    rows[i].what, life.id_count);
		cr_expect_eq(life.count, rows[i].lines, "%s: %zu lines",
		    rows[i].what, life.count);
		arena_free(&arena);
	}
	journal_close(&journal);
}

Test(journal, a_life_is_told_in_order_with_relative_times)
{
	static const char *const want[] = {
		ID_A "   2026-11-20 23:59:59.900 UTC\n",
		"+0ms  smtpserver  message.accepted  from=alice@example.org "
		    "rcpts=1\n",
		"+11ms  router      rcpt.routed       to=<bob@example.net>\n",
		"+12ms  router      message.routed    msgid=<m1@example.org>\n",
		"+4m10s  smtp        rcpt.ok           to=bob@example.net "
		    "reply=\"250 \\\"fine\\\"\\x1B[31m\"\n",
	};
	struct journal *journal = both();
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct life life;
	struct err err;
	const char *at;

	cr_assert_eq(life_find(journal, ID_A, arena, &life, &err), 0);
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

Test(journal, only_files_of_the_days_asked_for_are_read)
{
	struct journal_cursor cursor = { 0, 0 };
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
	cr_assert_eq(journal_open(dir, JOURNAL_DAYS, &journal, &err), 0);
	while (journal_next(journal, &cursor, &line))
		cr_expect(slice_is(line, count++ == 0 ? "b" : "a"));
	cr_expect_eq(count, 2);
	journal_close(&journal);
	cr_expect_eq(journal_open("/nonexistent/zm", 1, &journal, &err), -1);
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
	struct err err;

	for (int i = 0; i < JOURNAL_IDS_MAX * 2 + 50; i++)
		n += (size_t)snprintf(big + n, sizeof(big) - n,
		    AT("00:00:00.000") "\"id\":\"01jd3x8k%04d00\",\"ev\":\"x\","
		    "\"from\":\"a@b.c\"}\n", i);
	day_write(0, big);
	cr_assert_eq(journal_open(dir, 1, &journal, &err), 0);
	cr_assert_eq(life_find(journal, "a@b.c", arena, &life, &err), 0);
	cr_expect(life.is_cut);
	cr_expect_eq(life.id_count, JOURNAL_IDS_MAX);
	cr_expect_eq(life.count, JOURNAL_IDS_MAX);
	cr_expect(slice_is(life.lines[life.count - 1].id, "01jd3x8k204900"));
	cr_expect(slice_is(life.lines[0].id, "01jd3x8k105000"));
	arena_free(&arena);
	journal_close(&journal);
}
