/* test_vacation.c - who gets an answer, and what it says
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "mail/spool/spool.h"
#include "tests/unit/transports/box.h"
#include "transports/mailbox/vacation.h"

static const struct { const char *command; bool want; } command_rows[] = {
	{ "vacation", true }, { "/usr/bin/vacation alice", true },
	{ "vacation -a x alice", true }, { "vacations", false },
	{ "/usr/bin/vacation2", false }, { "prog vacation", false },
	{ "", false }, { "/", false },
};

Test(vacation, commands)
{
	for (size_t i = 0; i < sizeof(command_rows) /
	    sizeof(command_rows[0]); i++)
		cr_expect_eq(vacation_is(slice_of(command_rows[i].command)),
		    command_rows[i].want, "%s", command_rows[i].command);
}

static const struct {
	const char	*command;
	int		 want;
	unsigned	 days;
	size_t		 names;
} option_rows[] = {
	{ "vacation", 0, 7, 0 }, { "vacation alice", 0, 7, 0 },
	{ "vacation -t 3d alice", 0, 3, 0 }, { "vacation -t 3", 0, 3, 0 },
	{ "vacation -a al -a a@b.c alice", 0, 7, 2 },
	{ "vacation -t 0", -1, 0, 0 }, { "vacation -t", -1, 0, 0 },
	{ "vacation -x", -1, 0, 0 }, { "vacation -", -1, 0, 0 },
	{ "vacation 'open", -1, 0, 0 },
};

Test(vacation, options)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(option_rows) / sizeof(option_rows[0]);
	    i++) {
		struct vacation got;
		struct err err;
		int result = vacation_parse(arena,
		    slice_of(option_rows[i].command), &got, &err);

		cr_assert_eq(result, option_rows[i].want, "%s",
		    option_rows[i].command);
		if (result < 0)
			continue;
		cr_expect_eq(got.days, option_rows[i].days);
		cr_expect_eq(got.name_count, option_rows[i].names);
	}
	arena_free(&arena);
}

static const struct {
	const char *sender, *header;
	const char *want;		/* part of the reason; NULL: none */
} refusal_rows[] = {
	{ "a@b.c", "To: alice@me.test\n", NULL },
	{ "a@b.c", "TO: X <x@y.z>, Alice <ALICE@me.test>\n", NULL },
	{ "a@b.c", "Cc: al@other.test\n", NULL },
	{ "a@b.c", "Resent-To: alice@me.test\n", NULL },
	{ "a@b.c", "To: alice@me.test\nAuto-Submitted: no\n", NULL },
	{ "a@b.c", "To: alice@me.test\nPrecedence: first-class\n", NULL },
	{ "a@b.c", "To: alice@me.test\nX-Auto-Response-Suppress: None\n",
	    NULL },
	{ "", "To: alice@me.test\n", "no sender" },
	{ "a@b.c", "To: bob@me.test\n", "does not name" },
	{ "a@b.c", "Subject: alice@me.test\n", "does not name" },
	{ "a@b.c", "", "does not name" },
	{ "MAILER-DAEMON@b.c", "To: alice@me.test\n", "a program" },
	{ "owner-x@b.c", "To: alice@me.test\n", "a program" },
	{ "x-request@b.c", "To: alice@me.test\n", "a program" },
	{ "x-bounces@b.c", "To: alice@me.test\n", "a program" },
	{ "no-reply@b.c", "To: alice@me.test\n", "a program" },
	{ "a@b.c", "To: alice@me.test\nAuto-Submitted: auto-replied\n",
	    "submitted by a program" },
	{ "a@b.c", "auto-submitted: auto-generated; x\nTo: alice@me.test\n",
	    "submitted by a program" },
	{ "a@b.c", "To: alice@me.test\nPrecedence: Bulk\n", "bulk" },
	{ "a@b.c", "To: alice@me.test\nPrecedence: junk\n", "bulk" },
	{ "a@b.c", "To: alice@me.test\nPrecedence: list\n", "bulk" },
	{ "a@b.c", "To: alice@me.test\nList-Id: <x.y>\n", "mailing list" },
	{ "a@b.c", "To: alice@me.test\nlist-unsubscribe: x\n",
	    "mailing list" },
	{ "a@b.c", "To: alice@me.test\nX-Auto-Response-Suppress: OOF\n",
	    "wants no answers" },
	{ "a@b.c", "To: alice@me.test\nX-Spam-Flag: YES\n", "spam" },
	{ "a@b.c", "To: alice@me.test\nContent-Type: multipart/report; x=y\n",
	    "report" },
};

Test(vacation, who_gets_an_answer)
{
	const struct slice own[] = { SLICE("alice@me.test"), SLICE("al") };
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(refusal_rows) /
	    sizeof(refusal_rows[0]); i++) {
		const char *got = vacation_refusal(arena,
		    slice_of(refusal_rows[i].sender),
		    slice_of(refusal_rows[i].header), own, 2);

		if (refusal_rows[i].want == NULL)
			cr_expect_null(got, "row %zu: %s", i, got);
		else
			cr_expect(got != NULL && strstr(got,
			    refusal_rows[i].want), "row %zu: %s", i, got);
	}
	arena_free(&arena);
}

Test(vacation, the_last_answer)
{
	struct slice memory = SLICE("100 a@b.c\n200 A@B.C\nx a@b.c\n"
	    "300 z@b.c\n400 a@b.c.d\n");

	cr_expect_eq(vacation_last(memory, SLICE("a@b.c")), 200);
	cr_expect_eq(vacation_last(memory, SLICE("q@b.c")), 0);
	cr_expect_eq(vacation_last(SLICE(""), SLICE("q@b.c")), 0);
}

Test(vacation, what_still_counts)
{
	struct str kept = STR_INIT;

	vacation_since(SLICE("100 a@b.c\n200 z@b.c\nx a@b.c\n\n300 c@b.c\n"
	    "40"), 150, &kept);
	cr_expect_str_eq(kept.buf, "200 z@b.c\n300 c@b.c\n");
	str_release(&kept);
}

static const struct { const char *message, *header, *body; } answer_rows[] = {
	{ "I am away.\n", "From: <alice@me.test>\nTo: <a@b.c>\n"
	    "Subject: Auto: lunch today\nIn-Reply-To: <1@b.c>\n"
	    "References: <1@b.c>\nAuto-Submitted: auto-replied (vacation)\n"
	    "Precedence: bulk\nMIME-Version: 1.0\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: 8bit\n", "I am away.\n" },
	{ "From: Alice <al@other.test>\nSubject: away (Re: $SUBJECT)\n"
	    "Bcc: spy@x.y\nPrecedence: list\n\nAbout $SUBJECT: later",
	    "To: <a@b.c>\nIn-Reply-To: <1@b.c>\nReferences: <1@b.c>\n"
	    "Auto-Submitted: auto-replied (vacation)\nPrecedence: bulk\n"
	    "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: 8bit\n"
	    "From: Alice <al@other.test>\n"
	    "Subject: away (Re: lunch today)\n",
	    "About lunch today: later\n" },
	{ "", NULL, "" },
};

Test(vacation, what_it_says)
{
	for (size_t i = 0; i < sizeof(answer_rows) / sizeof(answer_rows[0]);
	    i++) {
		struct str header = STR_INIT, body = STR_INIT;

		vacation_answer(&header, &body,
		    slice_of(answer_rows[i].message),
		    SLICE("Message-Id: <1@b.c>\nSubject: lunch\n today\n"),
		    "alice@me.test", SLICE("a@b.c"));
		if (answer_rows[i].header != NULL)
			cr_expect_str_eq(header.buf, answer_rows[i].header);
		cr_expect_str_eq(body.buf, answer_rows[i].body);
		str_release(&header);
		str_release(&body);
	}
}

/* ---- the memory -------------------------------------------------------- */

static const struct {
	size_t		 old, recent;	/* bytes of lines in the memory */
	const char	*end;		/* what stands after them */
	bool		 is_answered;
	bool		 is_shortened;	/* the old ones are gone */
} memory_rows[] = {
	{ 0, 0, "", true, false },
	{ 1000, 1000, "", true, false },
	{ 1000, 1000, "1234", true, false },	/* what a crash tore */
	{ VACATION_MEMORY_BYTES_MAX - 100, 0, "", true, false },
	{ VACATION_MEMORY_BYTES_MAX - 2000, 2000, "", true, true },
	{ VACATION_MEMORY_BYTES_MAX - 2000, 2000, "1234", true, true },
	{ 2 * VACATION_MEMORY_BYTES_MAX, 0, "", true, true },
	{ 0, VACATION_MEMORY_BYTES_MAX, "", false, false },
	{ 1000, VACATION_MEMORY_BYTES_MAX, "", true, true },
	{ 0, 2 * VACATION_MEMORY_BYTES_MAX, "", false, false },
};

/* Lines of 40 bytes, of senders whom nobody else is. */
static void
lines_add(struct str *text, size_t bytes, int64_t at_s, const char *domain)
{
	for (size_t n = 0; n < bytes; n += 40)
		str_addf(text, "%010lld %010zu@%.9s.example\n",
		    (long long)at_s, n, domain);
}

static void
memory_put(size_t row)
{
	struct str text = STR_INIT;
	int64_t now_s = (int64_t)time(NULL);

	lines_add(&text, memory_rows[row].old, now_s - 8 * 86400, "longago01");
	lines_add(&text, memory_rows[row].recent, now_s - 86400, "lately001");
	str_adds(&text, memory_rows[row].end);
	box_file_put(".vacation.seen", text.buf);
	str_release(&text);
}

/* How many answers have been handed in. */
static unsigned
answers(void)
{
	char command[400];

	snprintf(command, sizeof(command), "cat '%s'/spool/router/[0-9]* "
	    "2>/dev/null | grep -c ^Auto-Submitted >'%s/count'", box.top,
	    box.top);
	(void)!system(command);
	return (unsigned)strtoul(box_file_get(box_path_of("count")), NULL, 10);
}

static struct mailbox_place place;

static void
answer(const char *sender)
{
	static struct mailbox mailbox;
	struct action action = { .mailbox = &mailbox,
	    .arena = box.run.arena, .job = &box.job, .rcpt = &box.rcpts[0],
	    .body_fd = box.body_fd, .place = &place };

	mailbox.conf = &box.conf;
	place.user = SLICE("zm-alice");
	account_of_ids(geteuid(), getegid(), &place.owner);
	strlcpy(place.owner.home, box.top, sizeof(place.owner.home));
	strlcpy(place.address, "zm-alice@me.test", sizeof(place.address));
	box.job.sender = slice_of(sender);
	box.job.header = SLICE("To: zm-alice@me.test\nSubject: s\n");
	vacation_run(&action, SLICE("vacation zm-alice"));
}

static void
away_begin(void)
{
	struct spool *spool = NULL;
	struct err err;

	box_start(MAILBOX_MAILDIR, "{user}");
	box.conf.spool_dir = box_path_of("spool");
	box.conf.sync = SYNC_UNSAFE;
	cr_assert_eq(spool_open(box.conf.spool_dir, SPOOL_CREATE |
	    SPOOL_UNSAFE_FS, 0, &spool, &err), 0, "%s", err.text);
	spool_close(&spool);
	box_file_put(".vacation.msg", "I am away.\n");
}

Test(vacation, who_was_answered_long_ago_is_answered_again)
{
	away_begin();
	memory_put(1);
	answer("0000000000@longago01.example");
	cr_expect_eq(answers(), 1u);
	answer("0000000000@lately001.example");
	cr_expect_eq(answers(), 1u);
	box_finish();
}

/* A program of the user's that holds the lock holds up an answer, and not
 * the agent, which serves others, too. */
Test(vacation, a_memory_locked_for_ever_is_not_waited_for, .timeout = 300)
{
	int fd;

	away_begin();
	box_file_put(".vacation.seen", "");
	fd = open(box_path_of(".vacation.seen"), O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	answer("new@far.example");
	cr_expect_eq(answers(), 0u);
	close(fd);
	answer("new@far.example");
	cr_expect_eq(answers(), 1u);
	box_finish();
}

Test(vacation, who_has_no_account_answers_nobody)
{
	away_begin();
	place.is_virtual = true;
	answer("new@far.example");
	cr_expect_eq(answers(), 0u);
	box_finish();
}

Test(vacation, the_text_of_somebody_else_is_not_sent)
{
	if (geteuid() != 0)
		cr_skip("only root can give a file away");
	away_begin();
	cr_assert_eq(chown(box_path_of(".vacation.msg"), 12345, 12345), 0);
	answer("new@far.example");
	cr_expect_eq(answers(), 0u);
	box_finish();
}

/* The memory never grows over its limit; who still counts is kept; when all
 * of it counts, nobody new is answered, and nobody old twice. */
Test(vacation, a_full_memory)
{
	for (size_t i = 0; i < sizeof(memory_rows) / sizeof(memory_rows[0]);
	    i++) {
		char *text;

		away_begin();
		memory_put(i);
		answer("new@far.example");
		answer("new@far.example");
		if (memory_rows[i].recent > 0)
			answer("0000000000@lately001.example");
		cr_expect_eq(answers(), memory_rows[i].is_answered,
		    "row %zu: %u answers", i, answers());
		text = box_file_get(box_path_of(".vacation.seen"));
		cr_expect_eq(strstr(text, "@longago01") == NULL,
		    memory_rows[i].is_shortened || memory_rows[i].old == 0,
		    "row %zu", i);
		cr_expect_eq(strstr(text, " new@far.example\n") != NULL,
		    memory_rows[i].is_answered, "row %zu", i);
		cr_expect_eq(strstr(text, "0@lately001.example\n") != NULL,
		    memory_rows[i].recent > 0, "row %zu", i);
		if (memory_rows[i].end[0] != '\0' &&
		    !memory_rows[i].is_shortened)
			cr_expect(strstr(text, "\n1234\n"), "row %zu", i);
		if (memory_rows[i].is_answered)
			cr_expect_leq(strlen(text),
			    VACATION_MEMORY_BYTES_MAX, "row %zu", i);
		cr_expect_eq(access(box_path_of(".vacation.seen.new"), F_OK),
		    -1, "row %zu", i);
		box_finish();
	}
}
