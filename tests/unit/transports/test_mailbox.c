/* test_mailbox.c - Maildir, mbox, files; locks, torn ends, traps
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/transports/box.h"

/* ---- Maildir ----------------------------------------------------------- */

Test(maildir, a_message_lies_whole_in_new)
{
	char path[600];
	struct stat st;

	box_start(MAILBOX_MAILDIR, "{user}");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    box.verdicts[0].text);
	cr_expect_eq(box_count_in("zm-alice/tmp", NULL), 0);
	cr_assert_eq(box_count_in("zm-alice/new", path), 1);
	cr_expect_str_eq(box_file_get(path), "Return-Path: <a@src.test>\n"
	    "Delivered-To: zm-alice@me.test\nSubject: s\n\nhello\n");
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
	cr_expect(strstr(path, ",S=75"), "%s", path);
	box_finish();
}

Test(maildir, three_recipients_have_three_files)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	box.job.rcpt_count = 3;
	box.rcpts[2].user = SLICE("zm-bob");
	box_deliver();
	cr_expect_eq(box_count_in("zm-alice/new", NULL), 2);
	cr_expect_eq(box_count_in("zm-bob/new", NULL), 1);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(box.verdicts[i].kind, VERDICT_DELIVERED);
	box_finish();
}

Test(maildir, more_than_can_be_pending)
{
	enum { MANY = MAILDIR_PENDING_MAX * 2 + 5 };
	static struct control_rcpt many[MANY];
	static struct verdict said[MANY];

	box_start(MAILBOX_MAILDIR, "{user}");
	for (int i = 0; i < MANY; i++) {
		many[i] = box.rcpts[0];
		many[i].offset = (uint32_t)i;
	}
	box.job.rcpts = many;
	box.job.rcpt_count = MANY;
	mailbox_job(&box.run, &box.job, box.body_fd, said);
	mailbox_settle(&box.run);
	cr_expect_eq(box_count_in("zm-alice/new", NULL), MANY);
	for (int i = 0; i < MANY; i++)
		cr_expect_eq(said[i].kind, VERDICT_DELIVERED);
	box_finish();
}

/* What a power cut left torn in new/ is replaced by the next delivery. */
Test(maildir, the_same_message_again_takes_its_own_place)
{
	char path[600], again[600];

	box_start(MAILBOX_MAILDIR, "{user}");
	box_deliver();
	cr_assert_eq(box_count_in("zm-alice/new", path), 1);
	cr_expect(strstr(path, ".Z01jd3x8k2mc4n7R100.me.test,S=75"), "%s",
	    path);
	cr_assert_eq(truncate(path, 3), 0);
	box_deliver();
	cr_assert_eq(box_count_in("zm-alice/new", again), 1);
	cr_expect_str_eq(again, path);
	cr_expect_eq(strlen(box_file_get(path)), 75);
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED);
	box.job.id[0] = '1';
	box_deliver();
	cr_expect_eq(box_count_in("zm-alice/new", NULL), 2, "another message");
	box_finish();
}

Test(maildir, a_message_of_a_megabyte)
{
	size_t n = 1 << 20;
	char *text = malloc(n + 1), path[600];

	box_start(MAILBOX_MAILDIR, "{user}");
	memset(text, 'x', n);
	text[n] = '\0';
	box_body_set(text);
	box_deliver();
	cr_assert_eq(box_count_in("zm-alice/new", path), 1);
	struct stat st;
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq((size_t)st.st_size, 69 + n + 1, "%zu",
	    (size_t)st.st_size);
	free(text);
	box_finish();
}

static const struct { const char *user, *status; } name_rows[] = {
	{ "", "5.1.3" }, { ".", "5.1.3" }, { "..", "5.1.3" },
	{ "../x", "5.1.3" }, { "a/b", "5.1.3" }, { "/etc", "5.1.3" },
	{ ".hidden", "5.1.3" }, { "a b", "5.1.3" }, { "a\tb", "5.1.3" },
	{ "a\x7f", "5.1.3" },
	{ "0123456789012345678901234567890123456789012345678901234567890123",
	    "5.1.3" },
};

Test(maildir, names_that_are_no_users)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	for (size_t i = 0; i < sizeof(name_rows) / sizeof(name_rows[0]);
	    i++) {
		box.rcpts[0].user = slice_of(name_rows[i].user);
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, VERDICT_FAILED, "%s",
		    name_rows[i].user);
		cr_expect_str_eq(box.verdicts[0].status, name_rows[i].status);
	}
	cr_expect_eq(box_count_in("", NULL), 0);
	box_finish();
}

Test(maildir, a_symlink_as_new_is_refused)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	mkdir(box_path_of("elsewhere"), 0700);
	mkdir(box_path_of("zm-alice"), 0700);
	mkdir(box_path_of("zm-alice/tmp"), 0700);
	cr_assert_eq(symlink(box_path_of("elsewhere"),
	    box_path_of("zm-alice/new")), 0);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_eq(box_count_in("elsewhere", NULL), 0);
	box_finish();
}

Test(maildir, a_directory_of_everybody_is_refused)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	mkdir(box_path_of("zm-alice"), 0700);
	mkdir(box_path_of("zm-alice/tmp"), 0700);
	mkdir(box_path_of("zm-alice/new"), 0700);
	chmod(box_path_of("zm-alice/new"), 0777);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect(strstr(box.verdicts[0].text, "everybody"), "%s",
	    box.verdicts[0].text);
	box_finish();
}

/* A power cut on btrfs left new/ alone. */
Test(maildir, what_is_missing_beside_new_is_made_again)
{
	struct stat st;

	box_start(MAILBOX_MAILDIR, "{user}");
	mkdir(box_path_of("zm-alice"), 0700);
	mkdir(box_path_of("zm-alice/new"), 0700);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    box.verdicts[0].text);
	cr_expect_eq(box_count_in("zm-alice/new", NULL), 1);
	cr_expect_eq(stat(box_path_of("zm-alice/cur"), &st), 0);
	box_finish();
}

Test(maildir, a_full_disk_defers_and_leaves_nothing)
{
	struct rlimit limit = { 20, 20 };

	box_start(MAILBOX_MAILDIR, "{user}");
	signal(SIGXFSZ, SIG_IGN);
	box_deliver();			/* the Maildir exists now */
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	box_deliver();
	limit.rlim_cur = RLIM_INFINITY;
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_str_eq(box.verdicts[0].status, "4.2.2");
	cr_expect_eq(box_count_in("zm-alice/tmp", NULL), 0);
	cr_expect_eq(box_count_in("zm-alice/new", NULL), 1);
	box_finish();
}

/* ---- mbox -------------------------------------------------------------- */

Test(mbox, messages_stand_one_behind_the_other)
{
	char *text;

	box_start(MAILBOX_MBOX, "{user}");
	box_body_set("From me\n>From you\n>>From it\nfrom us\n From x\n"
	    "Fromage\n");
	box_deliver();
	box_body_set("no line end");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    box.verdicts[0].text);
	text = box_file_get(box_path_of("zm-alice"));
	cr_expect(slice_starts(slice_of(text), "From a@src.test "));
	cr_expect(strstr(text, "\n\n>From me\n>>From you\n>>>From it\n"
	    "from us\n From x\nFromage\n\nFrom a@src.test "), "%s", text);
	cr_expect(slice_ends(slice_of(text), "\n\nno line end\n\n"));
	cr_expect_eq(access(box_path_of("zm-alice.lock"), F_OK), -1);
	box_finish();
}

Test(mbox, quoting_survives_the_border_of_pieces)
{
	size_t n = CONTENT_WHOLE_BYTES_MAX - 3, lines = 0;
	struct str body = STR_INIT, plain = STR_INIT;
	bool at_line_start = true;

	while (body.len < n)
		str_addf(&body, "From line %zu\n", lines++);
	content_quote(&plain, str_slice(&body), &at_line_start);
	while (body.len < 3 * n)
		str_adds(&body, "From more\n");
	box_start(MAILBOX_MBOX, "{user}");
	box_body_set(body.buf);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED);
	struct slice rest = slice_of(box_file_get(
	    box_path_of("zm-alice"))), line;
	unsigned unquoted = 0;
	while (slice_cut(&rest, '\n', &line))
		unquoted += slice_starts(line, "From ");
	cr_expect_eq(unquoted, 1, "%u lines begin with From", unquoted);
	str_release(&body);
	str_release(&plain);
	box_finish();
}

static const struct { const char *before, *joint; } torn_rows[] = {
	{ "", "" }, { "x", "x\n\nFrom " }, { "x\n", "x\n\nFrom " },
	{ "x\n\n", "x\n\nFrom " }, { "\n", "\nFrom " },
};

Test(mbox, a_torn_end_is_mended)
{
	box_start(MAILBOX_MBOX, "{user}");
	for (size_t i = 0; i < sizeof(torn_rows) / sizeof(torn_rows[0]);
	    i++) {
		box_file_put("zm-alice", torn_rows[i].before);
		box_deliver();
		cr_expect(slice_starts(slice_of(box_file_get(
		    box_path_of("zm-alice"))), torn_rows[i].joint),
		    "row %zu", i);
	}
	box_finish();
}

Test(mbox, what_was_half_written_is_cut_off)
{
	struct rlimit limit = { 95, RLIM_INFINITY };	/* note fits */

	box_start(MAILBOX_MBOX, "{user}");
	box_file_put("zm-alice", "From x\n\nold\n\n");
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_str_eq(box.verdicts[0].status, "4.2.2");
	cr_expect_str_eq(box_file_get(box_path_of("zm-alice")),
	    "From x\n\nold\n\n");
	cr_expect_eq(access(box_path_of("zm-alice.lock"), F_OK), -1);
	box_finish();
}

static unsigned
from_lines(const char *text)
{
	struct slice rest = slice_of(text), line;
	unsigned count = 0;

	while (slice_cut(&rest, '\n', &line))
		count += slice_starts(line, "From ");
	return count;
}

Test(mbox, two_processes_do_not_mix, .timeout = 60)
{
	enum { EACH = 40, WRITERS = 2 };
	pid_t pids[WRITERS];
	unsigned whole = 0;
	struct slice rest, line;

	box_start(MAILBOX_MBOX, "{user}");
	for (int k = 0; k < WRITERS; k++) {
		pids[k] = fork();
		if (pids[k] == 0) {
			for (int i = 0; i < EACH; i++) {
				box_deliver();
				if (box.verdicts[0].kind != VERDICT_DELIVERED)
					_exit(1);
			}
			_exit(0);
		}
	}
	for (int k = 0; k < WRITERS; k++) {
		int status;

		cr_assert_eq(waitpid(pids[k], &status, 0), pids[k]);
		cr_expect_eq(status, 0);
	}
	rest = slice_of(box_file_get(box_path_of("zm-alice")));
	while (slice_cut(&rest, '\n', &line))
		whole += slice_is(line, "hello");
	cr_expect_eq(whole, EACH * WRITERS);
	cr_expect_eq(from_lines(box_file_get(box_path_of("zm-alice"))),
	    EACH * WRITERS);
	box_finish();
}

/* Open and lock it again and again, as who would inherit it does. */
static void
look_for_ever(const char *path)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = open(path, O_RDWR | O_CLOEXEC);

		if (fd >= 0) {
			(void)flock(fd, LOCK_EX | LOCK_NB);
			close(fd);
		}
	}
}

Test(mbox, who_looks_at_a_new_dotlock_is_no_trouble, .timeout = 120)
{
	pid_t pids[2];

	box_start(MAILBOX_MBOX, "{user}");
	for (int k = 0; k < 2; k++) {
		pids[k] = fork();
		if (pids[k] == 0)
			look_for_ever(box_path_of("zm-alice.lock"));
	}
	for (int i = 0; i < 300; i++) {
		box_deliver();
		cr_assert_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
		    box.verdicts[0].text);
	}
	for (int k = 0; k < 2; k++) {
		cr_expect_eq(kill(pids[k], SIGKILL), 0);
		cr_expect_eq(waitpid(pids[k], NULL, 0), pids[k]);
	}
	box_finish();
}

/* A dotlock of a program that died is removed when it is old. */
Test(mbox, a_stale_dotlock_is_broken)
{
	struct timespec old[2] = { { clock_wall_s() - 1000, 0 },
		{ clock_wall_s() - 1000, 0 } };

	box_start(MAILBOX_MBOX, "{user}");
	box_file_put("zm-alice.lock", "");
	cr_assert_eq(utimensat(AT_FDCWD, box_path_of("zm-alice.lock"), old, 0),
	    0);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    box.verdicts[0].text);
	box_finish();
}

/* What may lie in the way, and what must stay as it was. */
Test(mbox, traps_are_refused)
{
	box_start(MAILBOX_MBOX, "{user}");
	box_file_put("victim", "precious\n");

	cr_assert_eq(symlink(box_path_of("victim"),
	    box_path_of("zm-alice")), 0);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect(strstr(box.verdicts[0].text, "symbolic link"), "%s",
	    box.verdicts[0].text);
	unlink(box_path_of("zm-alice"));

	cr_assert_eq(link(box_path_of("victim"), box_path_of("zm-alice")), 0);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect(strstr(box.verdicts[0].text, "2 links"), "%s",
	    box.verdicts[0].text);
	unlink(box_path_of("zm-alice"));

	cr_assert_eq(mkfifo(box_path_of("zm-alice"), 0600), 0);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect(strstr(box.verdicts[0].text, "no regular file"), "%s",
	    box.verdicts[0].text);
	unlink(box_path_of("zm-alice"));

	if (geteuid() == 0) {
		box_file_put("zm-alice", "of another\n");
		cr_assert_eq(chown(box_path_of("zm-alice"), 12345, 12345), 0);
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
		cr_expect(strstr(box.verdicts[0].text, "belongs to uid 12345"),
		    "%s", box.verdicts[0].text);
	}
	cr_expect_str_eq(box_file_get(box_path_of("victim")), "precious\n");
	box_finish();
}

/* Somebody swaps what lies at the path, again and again, while we deliver:
 * nothing but a file of the mailbox is ever written to. */
static void
swap_for_ever(void)
{
	for (unsigned i = 0;; i++) {
		unlink(box_path_of("zm-alice"));
		switch (i % 4) {
		case 0:
			(void)!symlink(box_path_of("victim"),
			    box_path_of("zm-alice"));
			break;
		case 1:
			(void)!link(box_path_of("victim"),
			    box_path_of("zm-alice"));
			break;
		case 2:
			(void)!mkfifo(box_path_of("zm-alice"), 0600);
			break;
		}
	}
}

Test(mbox, an_attacker_swaps_the_file, .timeout = 120)
{
	pid_t attacker;
	int status;

	box_start(MAILBOX_MBOX, "{user}");
	box_file_put("victim", "precious\n");
	attacker = fork();
	if (attacker == 0)
		swap_for_ever();
	for (int i = 0; i < 500; i++) {
		box_deliver();
		cr_expect(box.verdicts[0].kind == VERDICT_DELIVERED ||
		    box.verdicts[0].kind == VERDICT_DEFERRED);
	}
	kill(attacker, SIGKILL);
	cr_assert_eq(waitpid(attacker, &status, 0), attacker);
	cr_expect_str_eq(box_file_get(box_path_of("victim")), "precious\n");
	box_finish();
}

/* ---- files ------------------------------------------------------------- */

Test(file, host_file_names_a_path)
{
	static char path[300];

	box_start(MAILBOX_MAILDIR, "{user}");
	chmod(box.top, 0777);
	snprintf(path, sizeof(path), "%s/archive", box.top);
	box.rcpts[0].host = SLICE("file");
	box.rcpts[0].user = slice_of(path);
	box.rcpts[0].uid = 4242;	/* no account: deferred when root */
	box_deliver();
	if (geteuid() == 0) {
		struct stat st;

		cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED, "%s",
		    box.verdicts[0].text);
		box.rcpts[0].uid = -2;		/* nobody */
		box_deliver();
		cr_assert_eq(stat(path, &st), 0);
		cr_expect_neq(st.st_uid, 0);
	}
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    box.verdicts[0].text);
	cr_expect_eq(from_lines(box_file_get(path)), 1);
	box_finish();
}

Test(file, dev_null_discards_and_a_relative_path_fails)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	box.rcpts[0].host = SLICE("file");
	box.rcpts[0].user = SLICE("/dev/null");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED);
	box.rcpts[0].user = SLICE("etc/passwd");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_FAILED);
	box_finish();
}

/* Started as root, the delivery is the user's: owner of the file, and no
 * way into what only root may write. */
Test(account, root_becomes_the_recipient)
{
	struct stat st;
	char path[600];

	if (geteuid() != 0)
		cr_skip("not root");
	box_start(MAILBOX_MAILDIR, "{user}");
	chmod(box.top, 0755);
	box.rcpts[0].user = SLICE("nobody");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    box.verdicts[0].text);
	cr_assert_eq(box_count_in("nobody/new", path), 1);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_neq(st.st_uid, 0);
	cr_expect_eq(geteuid(), 0);
	box_finish();
}

static uid_t
owner_in_new(const char *user)
{
	char name[64], path[600];
	struct stat st;

	snprintf(name, sizeof(name), "%s/new", user);
	cr_assert_geq(box_count_in(name, path), 1, "%s", name);
	cr_assert_eq(stat(path, &st), 0);
	return st.st_uid;
}

Test(account, root_becomes_one_after_the_other)
{
	static const char *const users[] = { "nobody", "daemon", "nobody" };

	if (geteuid() != 0)
		cr_skip("not root");
	box_start(MAILBOX_MAILDIR, "{user}");
	chmod(box.top, 0755);
	box.job.rcpt_count = 3;
	for (int i = 0; i < 3; i++)
		box.rcpts[i].user = slice_of(users[i]);
	box_deliver();
	for (int i = 0; i < 3; i++)
		cr_expect_eq(box.verdicts[i].kind, VERDICT_DELIVERED, "%s",
		    box.verdicts[i].text);
	cr_expect_eq(box_count_in("nobody/new", NULL), 2);
	cr_expect_neq(owner_in_new("nobody"), owner_in_new("daemon"));
	cr_expect_neq(owner_in_new("daemon"), 0);
	cr_expect_eq(geteuid(), 0);
	account_back();		/* between jobs groups stay (account_rest) */
	cr_expect_eq(getegid(), 0);
	box_finish();
}

Test(account, a_user_without_home_or_account_is_unknown)
{
	box_start(MAILBOX_MAILDIR, "{home}/x");
	box.conf.mailbox_path = "{home}/zm-never";
	box.rcpts[0].user = SLICE("zm-no-such-user");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_FAILED);
	cr_expect_str_eq(box.verdicts[0].status, "5.1.1");
	box_finish();
}
