/* test_audit.c - a journal that was touched is told from one that was not,
 * and every recipient has one fate
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/spool_id.h"
#include "tools/zmailer/audit/audit.h"

/* ---- seals ------------------------------------------------------------- */

enum { LINES_MAX = 6000 };

static char lines[LINES_MAX][6000];
static size_t line_count;
static char found[400];		/* what a reader said, a word each */

static void
on_fault(void *context, enum seal_fault fault, const char *part,
    size_t number, int64_t at_ms, size_t count)
{
	static const char *const names[] = { "altered", "removed", "added",
	    "broken", "cut", "missing" };
	size_t n = strlen(found);

	snprintf(found + n, sizeof(found) - n, "%s %zu*%zu; ", names[fault],
	    number, count);
}

/* So many lines, sealed `every` so many; lines[] has them with the seals. */
static void
lines_make(size_t count, size_t every)
{
	int fd = memfd_create("journal", MFD_CLOEXEC);
	struct seal_end end;
	struct stat st;
	struct err err;
	char *text, *next;

	for (size_t i = 0; i < count; i++) {
		dprintf(fd, "{\"t\":\"2026-11-20T10:%02zu:%02zu.000Z\","
		    "\"ev\":\"daemon.start\",\"d\":\"%zu\"}\n", i / 60 % 60,
		    i % 60, i);
		if ((i + 1) % every == 0)
			cr_assert_eq(seal_part(fd, &end, &err), 0);
	}
	cr_assert_eq(fstat(fd, &st), 0);
	text = mem_alloc((size_t)st.st_size + 1, 1);
	cr_assert_eq(pread(fd, text, (size_t)st.st_size, 0), st.st_size);
	line_count = 0;
	for (char *line = text; (next = strchr(line, '\n')) != NULL;
	    line = next + 1) {
		*next = '\0';
		cr_assert_lt(line_count, LINES_MAX);
		strlcpy(lines[line_count++], line, sizeof(lines[0]));
	}
	mem_free(&text);
	close(fd);
}

static void
line_remove(size_t at, size_t count)
{
	memmove(lines[at], lines[at + count],
	    (line_count - at - count) * sizeof(lines[0]));
	line_count -= count;
}

static struct seal_sums
lines_read(const char *known)
{
	struct seal_reader *reader = seal_reader_new(known, on_fault, NULL);
	struct seal_sums sums;

	found[0] = '\0';
	seal_read_part(reader, "events-2026-11-20.jsonl");
	for (size_t i = 0; i < line_count; i++)
		seal_read_line(reader, slice_of(lines[i]));
	seal_read_end(reader, &sums);
	seal_reader_free(&reader);
	return sums;
}

Test(audit, what_was_written_is_whole)
{
	struct seal_sums sums;

	lines_make(20, 5);
	sums = lines_read(NULL);
	cr_expect_str_eq(found, "");
	cr_expect_eq(sums.lines, 24);
	cr_expect_eq(sums.covered, 23, "all but the last seal");
	cr_expect_eq(sums.seals, 4);
	cr_expect_eq(sums.open_lines, 1);
	cr_expect_eq(strlen(sums.last), 64);
}

Test(audit, thousands_of_lines_in_one_round_are_covered)
{
	struct seal_sums sums;

	lines_make(4500, 4500);
	sums = lines_read(NULL);
	cr_expect_str_eq(found, "");
	cr_expect_eq(sums.seals, 6, "five, and one for them");
	cr_expect_eq(sums.covered, 4505);
}

Test(audit, an_altered_line_is_named)
{
	lines_make(20, 5);
	lines[7][2] = 'x';
	(void)lines_read(NULL);
	cr_expect_str_eq(found, "altered 8*1; ");
}

Test(audit, an_altered_last_line_is_named)
{
	lines_make(5, 5);
	lines[4][2] = 'x';
	(void)lines_read(NULL);
	cr_expect_str_eq(found, "altered 5*1; ");
}

/* This one was looked for among a million: its mark is that of the line it
 * takes the place of. */
Test(audit, an_altered_line_with_the_same_mark_is_told)
{
	lines_make(20, 5);
	strlcpy(lines[7], "{\"t\":\"2026-11-20T10:00:06.000Z\","
	    "\"ev\":\"daemon.start\",\"d\":\"1469336\"}",
	    sizeof(lines[0]));
	(void)lines_read(NULL);
	cr_expect_str_eq(found, "altered 6*6; ");
}

Test(audit, removed_lines_are_named_by_the_one_after)
{
	lines_make(20, 5);
	line_remove(7, 2);
	(void)lines_read(NULL);
	cr_expect_str_eq(found, "removed 8*2; ");
}

Test(audit, an_added_line_is_named)
{
	lines_make(20, 5);
	memmove(lines[8], lines[7], (line_count - 7) * sizeof(lines[0]));
	line_count++;
	strlcpy(lines[7], "{\"ev\":\"x\"}", sizeof(lines[0]));
	(void)lines_read(NULL);
	cr_expect_str_eq(found, "added 8*1; ");
}

Test(audit, a_seal_that_is_gone_is_missed)
{
	lines_make(20, 5);
	cr_assert_not_null(strstr(lines[11], "journal.sealed"));
	line_remove(11, 1);
	(void)lines_read(NULL);
	cr_expect_neq(found[0], '\0', "nothing was found");
}

Test(audit, a_seal_that_was_made_anew_is_no_part_of_the_chain)
{
	char sum[SEAL_SUM_BYTES];

	lines_make(5, 5);
	strlcpy(sum, lines_read(NULL).last, sizeof(sum));
	cr_expect(lines_read(sum).is_known);
	lines_make(6, 6);	/* all whole, and another past */
	cr_expect_not(lines_read(sum).is_known);
	cr_expect_str_eq(found, "");
}

Test(audit, seals_that_make_no_sense_are_told)
{
	static const char *const bad[] = {
		"\"lines\":0,\"to\":1,\"sum\":\"\",\"marks\":\"\"}",
		"\"lines\":1001,\"to\":1,\"sum\":\"\",\"marks\":\"\"}",
		"\"lines\":1,\"to\":1,\"sum\":\"abc\",\"marks\":\"abcd\"}",
		"\"lines\":2,\"to\":1,\"sum\":\"abc\",\"marks\":\"abcd\"}",
		"\"lines\":-1}", "\"lines\":99999999999999999999}", "}", ""
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(lines[0], sizeof(lines[0]),
		    "{\"t\":\"2026-11-20T10:00:00.000Z\","
		    "\"ev\":\"journal.sealed\",%s", bad[i]);
		line_count = 1;
		(void)lines_read(NULL);
		cr_expect_str_eq(found, "broken 1*1; ", "%s", bad[i]);
	}
}

/* What the last seal says of its place is taken only when it can be. */
Test(audit, sealing_goes_on_after_a_seal_that_lies)
{
	int fd = memfd_create("journal", MFD_CLOEXEC);
	struct seal_end end;
	struct err err;

	dprintf(fd, "{\"t\":\"2026-11-20T10:00:00.000Z\","
	    "\"ev\":\"journal.sealed\",\"to\":999999999}\n{}\n");
	cr_expect_eq(seal_part(fd, &end, &err), 0);
	cr_expect_eq(end.seals, 1);
	close(fd);
}

Test(audit, half_a_line_waits_and_spoils_no_seal)
{
	int fd = memfd_create("journal", MFD_CLOEXEC);
	struct seal_end end;
	struct err err;

	dprintf(fd, "{\"t\":");
	cr_expect_eq(seal_part(fd, &end, &err), 0);
	cr_expect_eq(end.seals, 0);
	cr_assert_eq(ftruncate(fd, 0), 0);
	dprintf(fd, "{}\n{\"t\":");
	cr_expect_eq(seal_part(fd, &end, &err), 0);
	cr_expect_eq(end.seals, 1);
	cr_expect_eq(seal_part(fd, &end, &err), 0);
	cr_expect_eq(end.seals, 1, "the half line is covered");
	cr_expect_eq(seal_part(fd, &end, &err), 0);
	cr_expect_eq(end.seals, 0);
	close(fd);
}

/* ---- books ------------------------------------------------------------- */

#define ID "361sfgbeh2a6r0x"
#define T "{\"t\":\"2026-11-22T23:35:56.000Z\",\"id\":\"" ID "\",\"ev\":\""

static struct audit_sums
books_of(const char *const text[], const struct audit_file *file)
{
	static struct audit_finding findings[AUDIT_FINDINGS_MAX];
	const struct journal_span always = { 0, INT64_MAX };
	struct books *books = books_new(&always);
	struct audit_sums sums;
	size_t count;

	if (file != NULL)
		books_see_file(books, ID, file);
	for (size_t i = 0; text[i] != NULL; i++)
		books_read_line(books, slice_of(text[i]));
	books_close(books, &sums, findings, &count);
	cr_expect_eq(count, sums.fates[AUDIT_UNACCOUNTED] > 0);
	books_free(&books);
	return sums;
}

#define ACCEPTED T "message.accepted\",\"rcpts\":\"2\"}"
#define ROUTED T "message.routed\",\"rcpts\":\"2\"}"
#define OK_A T "rcpt.ok\",\"to\":\"a\",\"channel\":\"smtp\",\"host\":\"h\"}"
#define OK_B T "rcpt.ok\",\"to\":\"b\",\"channel\":\"smtp\",\"host\":\"h\"}"
#define FAIL_B T "rcpt.fail\",\"to\":\"b\",\"channel\":\"smtp\",\"host\":\"h\"}"
#define REPORT_B T "dsn.sent\",\"kind\":\"failed\",\"rcpts\":\"1\"}"
#define DONE T "message.done\",\"rcpts\":\"2\"}"

static uint64_t
fate(const struct audit_sums *sums, enum audit_fate name)
{
	return sums->fates[name];
}

Test(audit, what_ended_is_delivered_or_failed)
{
	static const char *const text[] = { ACCEPTED, ROUTED, OK_A, FAIL_B,
	    REPORT_B, DONE, NULL };
	struct audit_sums sums = books_of(text, NULL);

	cr_expect_eq(sums.messages, 1);
	cr_expect_eq(sums.recipients, 2);
	cr_expect_eq(fate(&sums, AUDIT_DELIVERED), 1);
	cr_expect_eq(fate(&sums, AUDIT_FAILED), 1);
	cr_expect_eq(sums.reported, 1);
	cr_expect_eq(sums.finished, 1);
}

Test(audit, lines_of_two_writers_may_come_in_another_order)
{
	static const char *const text[] = { ROUTED, ACCEPTED, OK_A, DONE, OK_B,
	    NULL };
	struct audit_sums sums = books_of(text, NULL);

	cr_expect_eq(fate(&sums, AUDIT_DELIVERED), 2);
	cr_expect_eq(fate(&sums, AUDIT_UNTOLD), 0);
}

Test(audit, who_has_no_end_and_no_file_is_unaccounted)
{
	static const char *const text[] = { ACCEPTED, ROUTED, OK_A, OK_A,
	    NULL };
	struct audit_sums sums = books_of(text, NULL);

	cr_expect_eq(fate(&sums, AUDIT_DELIVERED), 1);
	cr_expect_eq(sums.twice, 1);
	cr_expect_eq(fate(&sums, AUDIT_UNACCOUNTED), 1);
}

Test(audit, what_lies_in_the_spool_waits)
{
	static const char *const text[] = { ACCEPTED, ROUTED, OK_A, NULL };
	const struct audit_file file = { .delivered = 1, .open = 1,
	    .fate = AUDIT_WAITING };
	struct audit_sums sums = books_of(text, &file);

	cr_expect_eq(fate(&sums, AUDIT_DELIVERED), 1);
	cr_expect_eq(fate(&sums, AUDIT_WAITING), 1);
}

Test(audit, what_ended_while_we_read_has_ended)
{
	static const char *const text[] = { ACCEPTED, ROUTED, OK_A, OK_B, DONE,
	    NULL };
	const struct audit_file file = { .open = 2, .fate = AUDIT_WAITING };
	struct audit_sums sums = books_of(text, &file);

	cr_expect_eq(fate(&sums, AUDIT_DELIVERED), 2);
	cr_expect_eq(fate(&sums, AUDIT_WAITING), 0);
}

Test(audit, a_recipient_of_a_file_that_has_fewer_is_unaccounted)
{
	static const char *const text[] = { ACCEPTED, ROUTED, NULL };
	const struct audit_file file = { .open = 1, .fate = AUDIT_WAITING };
	struct audit_sums sums = books_of(text, &file);

	cr_expect_eq(fate(&sums, AUDIT_UNACCOUNTED), 1);
}

/* Of two that were accepted as this inode the newer one has the file. */
Test(audit, a_file_that_cannot_be_read_is_of_its_inodes_newest_message)
{
	static const char *const text[] = { ACCEPTED, ROUTED, OK_A, NULL };
	static struct audit_finding findings[AUDIT_FINDINGS_MAX];
	const struct journal_span always = { 0, INT64_MAX };
	struct books *books = books_new(&always);
	char older[SPOOL_ID_BYTES] = ID, line[200];
	struct audit_sums sums;
	size_t count;

	older[5]--;
	snprintf(line, sizeof(line), "{\"t\":\"2026-11-22T23:35:56.000Z\","
	    "\"id\":\"%s\",\"ev\":\"message.accepted\",\"rcpts\":\"3\"}",
	    older);
	books_see_damaged(books, spool_id_inode(slice_of(ID)) + 1,
	    AUDIT_WAITING);
	books_see_damaged(books, spool_id_inode(slice_of(ID)), AUDIT_ASIDE);
	books_read_line(books, slice_of(line));
	for (size_t i = 0; text[i] != NULL; i++)
		books_read_line(books, slice_of(text[i]));
	books_close(books, &sums, findings, &count);
	books_free(&books);
	cr_expect_eq(fate(&sums, AUDIT_DELIVERED), 1);
	cr_expect_eq(fate(&sums, AUDIT_ASIDE), 1);
	cr_expect_eq(fate(&sums, AUDIT_UNACCOUNTED), 3);
	cr_assert_eq(count, 1);
	cr_expect_str_eq(findings[0].id, older);
	cr_expect_eq(sums.before, 1, "a file that is nobody's");
}

Test(audit, what_a_milter_threw_away_is_discarded)
{
	static const char *const text[] = { ACCEPTED,
	    T "milter.local\",\"do\":\"discard\"}", NULL };
	struct audit_sums sums = books_of(text, NULL);

	cr_expect_eq(fate(&sums, AUDIT_DISCARDED), 2);
}

Test(audit, what_an_operator_did_is_told)
{
	static const char *const text[] = { ACCEPTED, ROUTED,
	    T "message.ordered\",\"op\":\"reroute\",\"rcpts\":\"1\"}",
	    T "message.ordered\",\"op\":\"delete\",\"rcpts\":\"1\"}", DONE,
	    NULL };
	struct audit_sums sums = books_of(text, NULL);

	cr_expect_eq(fate(&sums, AUDIT_REROUTED), 1);
	cr_expect_eq(fate(&sums, AUDIT_DELETED), 1);
}

/* It was encoded, or came back as another file: not its id says how that is
 * called, and who was accepted as that inode before has no file. */
Test(audit, a_file_that_cannot_be_read_is_whose_the_journal_says)
{
	static const char *const rows[] = {
		T "message.encoded\",\"file\":\"4711\"}",
		T "message.routed\",\"rcpts\":\"2\",\"file\":\"4711\"}",
		T "message.restored\",\"file\":\"queue/4711\"}",
		T "recovered\",\"file\":\"4712\",\"from\":\"queue/4712\","
		    "\"to\":\"queue/A/4711\"}",
	};
	static struct audit_finding findings[AUDIT_FINDINGS_MAX];
	const struct journal_span always = { 0, INT64_MAX };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct books *books = books_new(&always);
		char other[SPOOL_ID_BYTES], line[200];
		struct audit_sums sums;
		size_t count;

		/* a message that was accepted as 4711 a while before */
		spool_id_make_of(spool_id_time_us(slice_of(ID)) - 5000000,
		    4711, other);
		snprintf(line, sizeof(line), "{\"t\":\"2026-11-22T23:35:"
		    "56.000Z\",\"id\":\"%s\",\"ev\":\"message.accepted\","
		    "\"rcpts\":\"3\"}", other);
		books_see_damaged(books, 4711, AUDIT_ASIDE);
		books_read_line(books, slice_of(line));
		books_read_line(books, slice_of(ACCEPTED));
		books_read_line(books, slice_of(rows[i]));
		books_close(books, &sums, findings, &count);
		books_free(&books);
		cr_expect_eq(fate(&sums, AUDIT_ASIDE), 2, "%s: %ju", rows[i],
		    (uintmax_t)fate(&sums, AUDIT_ASIDE));
		cr_expect_eq(fate(&sums, AUDIT_UNACCOUNTED), 3);
		cr_expect_eq(sums.before, 0);
	}
}

/* A copy of it in postman/ is not the message. */
Test(audit, a_copy_is_another_file)
{
	static struct audit_finding findings[AUDIT_FINDINGS_MAX];
	const struct journal_span always = { 0, INT64_MAX };
	struct books *books = books_new(&always);
	struct audit_sums sums;
	size_t count;

	books_see_damaged(books, 4711, AUDIT_ASIDE);
	books_read_line(books, slice_of(ACCEPTED));
	books_read_line(books, slice_of(T "recovered\",\"to\":"
	    "\"postman/4711._badheader\"}"));
	books_close(books, &sums, findings, &count);
	books_free(&books);
	cr_expect_eq(fate(&sums, AUDIT_ASIDE), 0);
	cr_expect_eq(sums.before, 1);
}
