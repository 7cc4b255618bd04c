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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "transports/mailbox/mailbox.h"

static char top[64];			/* private directory of the test */
static char template_path[200];
static struct conf conf;
static struct agent_run run;
static struct work_job job;
static struct work_rcpt rcpts[3];
static struct verdict verdicts[3];
static int body_fd;

static const char *
path_of(const char *name)
{
	static char path[8][300];
	static unsigned next;
	char *out = path[next++ % 8];

	snprintf(out, sizeof(path[0]), "%s/%s", top, name);
	return out;
}

static void
file_put(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	cr_assert(file != NULL);
	fputs(text, file);
	fclose(file);
}

static char *
file_get(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t n = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[n] = '\0';
	if (file != NULL)
		fclose(file);
	return text;
}

static unsigned
count_in(const char *name, char *out_path)
{
	DIR *dir = opendir(path_of(name));
	struct dirent *entry;
	unsigned count = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (out_path != NULL)
			snprintf(out_path, 600, "%s/%s", path_of(name),
			    entry->d_name);
		count++;
	}
	if (dir != NULL)
		closedir(dir);
	return count;
}

static void
body_set(const char *text)
{
	char path[] = "/tmp/zm-body-XXXXXX";

	if (body_fd > 0)
		close(body_fd);
	body_fd = mkstemp(path);
	unlink(path);
	cr_assert_eq(write(body_fd, text, strlen(text)),
	    (ssize_t)strlen(text));
	job.body_offset = 0;
	job.size_bytes = strlen(text) + job.header.n + 1;
}

/* returns 1 in the agent's place, ready to deliver as `kind` to name. */
static void
start(enum conf_mailbox_kind kind, const char *name)
{
	struct err err;

	strcpy(top, "/tmp/zm-box-XXXXXX");
	cr_assert(mkdtemp(top) != NULL);
	snprintf(template_path, sizeof(template_path), "%s/%s", top, name);
	conf.host = "me.test";
	conf.mailbox_kind = kind;
	conf.mailbox_path = template_path;
	run.conf = &conf;
	run.arena = arena_new();
	job = (struct work_job){ .id = "01jd3x8k2mc4n7",
	    .sender = SLICE("a@src.test"),
	    .header = SLICE("Return-Path: <old@x>\nSubject: s\n"),
	    .rcpts = rcpts, .rcpt_count = 1 };
	for (int i = 0; i < 3; i++)
		rcpts[i] = (struct work_rcpt){ .channel = SLICE("local"),
		    .host = SLICE("-"), .user = SLICE("zm-alice"),
		    .uid = geteuid(), .offset = 100 + (uint32_t)i };
	body_set("hello\n");
	cr_assert_eq(mailbox_start(&run, &err), 0);
}

static void
deliver(void)
{
	mailbox_job(&run, &job, body_fd, verdicts);
	mailbox_settle(&run);
}

static void
finish(void)
{
	char command[200];

	mailbox_finish(&run);
	arena_free(&run.arena);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	cr_expect_eq(system(command), 0);
}

/* ---- Maildir ----------------------------------------------------------- */

Test(maildir, a_message_lies_whole_in_new)
{
	char path[600];
	struct stat st;

	start(MAILBOX_MAILDIR, "{user}");
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_eq(count_in("zm-alice/tmp", NULL), 0);
	cr_assert_eq(count_in("zm-alice/new", path), 1);
	cr_expect_str_eq(file_get(path), "Return-Path: <a@src.test>\n"
	    "Delivered-To: zm-alice@me.test\nSubject: s\n\nhello\n");
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
	cr_expect(strstr(path, ",S=75"), "%s", path);
	finish();
}

Test(maildir, three_recipients_have_three_files)
{
	start(MAILBOX_MAILDIR, "{user}");
	job.rcpt_count = 3;
	rcpts[2].user = SLICE("zm-bob");
	deliver();
	cr_expect_eq(count_in("zm-alice/new", NULL), 2);
	cr_expect_eq(count_in("zm-bob/new", NULL), 1);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(verdicts[i].kind, VERDICT_DELIVERED);
	finish();
}

Test(maildir, more_than_can_be_pending)
{
	enum { MANY = MAILDIR_PENDING_MAX * 2 + 5 };
	static struct work_rcpt many[MANY];
	static struct verdict said[MANY];

	start(MAILBOX_MAILDIR, "{user}");
	for (int i = 0; i < MANY; i++) {
		many[i] = rcpts[0];
		many[i].offset = (uint32_t)i;
	}
	job.rcpts = many;
	job.rcpt_count = MANY;
	mailbox_job(&run, &job, body_fd, said);
	mailbox_settle(&run);
	cr_expect_eq(count_in("zm-alice/new", NULL), MANY);
	for (int i = 0; i < MANY; i++)
		cr_expect_eq(said[i].kind, VERDICT_DELIVERED);
	finish();
}

/* What a power cut left torn in new/ is replaced by the next delivery. */
Test(maildir, the_same_message_again_takes_its_own_place)
{
	char path[600], again[600];

	start(MAILBOX_MAILDIR, "{user}");
	deliver();
	cr_assert_eq(count_in("zm-alice/new", path), 1);
	cr_expect(strstr(path, ".Z01jd3x8k2mc4n7R100.me.test,S=75"), "%s",
	    path);
	cr_assert_eq(truncate(path, 3), 0);
	deliver();
	cr_assert_eq(count_in("zm-alice/new", again), 1);
	cr_expect_str_eq(again, path);
	cr_expect_eq(strlen(file_get(path)), 75);
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED);
	job.id[0] = '1';
	deliver();
	cr_expect_eq(count_in("zm-alice/new", NULL), 2, "another message");
	finish();
}

Test(maildir, a_message_of_a_megabyte)
{
	size_t n = 1 << 20;
	char *text = malloc(n + 1), path[600];

	start(MAILBOX_MAILDIR, "{user}");
	memset(text, 'x', n);
	text[n] = '\0';
	body_set(text);
	deliver();
	cr_assert_eq(count_in("zm-alice/new", path), 1);
	struct stat st;
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq((size_t)st.st_size, 69 + n + 1, "%zu",
	    (size_t)st.st_size);
	free(text);
	finish();
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
	start(MAILBOX_MAILDIR, "{user}");
	for (size_t i = 0; i < sizeof(name_rows) / sizeof(name_rows[0]);
	    i++) {
		rcpts[0].user = slice_of(name_rows[i].user);
		deliver();
		cr_expect_eq(verdicts[0].kind, VERDICT_FAILED, "%s",
		    name_rows[i].user);
		cr_expect_str_eq(verdicts[0].status, name_rows[i].status);
	}
	cr_expect_eq(count_in("", NULL), 0);
	finish();
}

Test(maildir, a_symlink_as_new_is_refused)
{
	start(MAILBOX_MAILDIR, "{user}");
	mkdir(path_of("elsewhere"), 0700);
	mkdir(path_of("zm-alice"), 0700);
	mkdir(path_of("zm-alice/tmp"), 0700);
	cr_assert_eq(symlink(path_of("elsewhere"),
	    path_of("zm-alice/new")), 0);
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_eq(count_in("elsewhere", NULL), 0);
	finish();
}

Test(maildir, a_directory_of_everybody_is_refused)
{
	start(MAILBOX_MAILDIR, "{user}");
	mkdir(path_of("zm-alice"), 0700);
	mkdir(path_of("zm-alice/tmp"), 0700);
	mkdir(path_of("zm-alice/new"), 0700);
	chmod(path_of("zm-alice/new"), 0777);
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect(strstr(verdicts[0].text, "everybody"), "%s",
	    verdicts[0].text);
	finish();
}

Test(maildir, a_full_disk_defers_and_leaves_nothing)
{
	struct rlimit limit = { 20, 20 };

	start(MAILBOX_MAILDIR, "{user}");
	signal(SIGXFSZ, SIG_IGN);
	deliver();			/* the Maildir exists now */
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	deliver();
	limit.rlim_cur = RLIM_INFINITY;
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_str_eq(verdicts[0].status, "4.2.2");
	cr_expect_eq(count_in("zm-alice/tmp", NULL), 0);
	cr_expect_eq(count_in("zm-alice/new", NULL), 1);
	finish();
}

/* ---- mbox -------------------------------------------------------------- */

Test(mbox, messages_stand_one_behind_the_other)
{
	char *text;

	start(MAILBOX_MBOX, "{user}");
	body_set("From me\n>From you\n>>From it\nfrom us\n From x\nFromage\n");
	deliver();
	body_set("no line end");
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	text = file_get(path_of("zm-alice"));
	cr_expect(slice_starts(slice_of(text), "From a@src.test "));
	cr_expect(strstr(text, "\n\n>From me\n>>From you\n>>>From it\n"
	    "from us\n From x\nFromage\n\nFrom a@src.test "), "%s", text);
	cr_expect(slice_ends(slice_of(text), "\n\nno line end\n\n"));
	cr_expect_eq(access(path_of("zm-alice.lock"), F_OK), -1);
	finish();
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
	start(MAILBOX_MBOX, "{user}");
	body_set(body.buf);
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED);
	struct slice rest = slice_of(file_get(path_of("zm-alice"))), line;
	unsigned unquoted = 0;
	while (slice_cut(&rest, '\n', &line))
		unquoted += slice_starts(line, "From ");
	cr_expect_eq(unquoted, 1, "%u lines begin with From", unquoted);
	str_release(&body);
	str_release(&plain);
	finish();
}

static const struct { const char *before, *joint; } torn_rows[] = {
	{ "", "" }, { "x", "x\n\nFrom " }, { "x\n", "x\n\nFrom " },
	{ "x\n\n", "x\n\nFrom " }, { "\n", "\nFrom " },
};

Test(mbox, a_torn_end_is_mended)
{
	start(MAILBOX_MBOX, "{user}");
	for (size_t i = 0; i < sizeof(torn_rows) / sizeof(torn_rows[0]);
	    i++) {
		file_put("zm-alice", torn_rows[i].before);
		deliver();
		cr_expect(slice_starts(slice_of(file_get(
		    path_of("zm-alice"))), torn_rows[i].joint), "row %zu", i);
	}
	finish();
}

Test(mbox, what_was_half_written_is_cut_off)
{
	struct rlimit limit = { 60, RLIM_INFINITY };

	start(MAILBOX_MBOX, "{user}");
	file_put("zm-alice", "From x\n\nold\n\n");
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_str_eq(verdicts[0].status, "4.2.2");
	cr_expect_str_eq(file_get(path_of("zm-alice")),
	    "From x\n\nold\n\n");
	cr_expect_eq(access(path_of("zm-alice.lock"), F_OK), -1);
	finish();
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

	start(MAILBOX_MBOX, "{user}");
	for (int k = 0; k < WRITERS; k++) {
		pids[k] = fork();
		if (pids[k] == 0) {
			for (int i = 0; i < EACH; i++) {
				deliver();
				if (verdicts[0].kind != VERDICT_DELIVERED)
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
	rest = slice_of(file_get(path_of("zm-alice")));
	while (slice_cut(&rest, '\n', &line))
		whole += slice_is(line, "hello");
	cr_expect_eq(whole, EACH * WRITERS);
	cr_expect_eq(from_lines(file_get(path_of("zm-alice"))),
	    EACH * WRITERS);
	finish();
}

/* A dotlock of a program that died is removed when it is old. */
Test(mbox, a_stale_dotlock_is_broken)
{
	struct timespec old[2] = { { clock_wall_s() - 1000, 0 },
		{ clock_wall_s() - 1000, 0 } };

	start(MAILBOX_MBOX, "{user}");
	file_put("zm-alice.lock", "");
	cr_assert_eq(utimensat(AT_FDCWD, path_of("zm-alice.lock"), old, 0),
	    0);
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	finish();
}

/* What may lie in the way, and what must stay as it was. */
Test(mbox, traps_are_refused)
{
	start(MAILBOX_MBOX, "{user}");
	file_put("victim", "precious\n");

	cr_assert_eq(symlink(path_of("victim"), path_of("zm-alice")), 0);
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect(strstr(verdicts[0].text, "symbolic link"), "%s",
	    verdicts[0].text);
	unlink(path_of("zm-alice"));

	cr_assert_eq(link(path_of("victim"), path_of("zm-alice")), 0);
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect(strstr(verdicts[0].text, "2 links"), "%s",
	    verdicts[0].text);
	unlink(path_of("zm-alice"));

	cr_assert_eq(mkfifo(path_of("zm-alice"), 0600), 0);
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect(strstr(verdicts[0].text, "no regular file"), "%s",
	    verdicts[0].text);
	unlink(path_of("zm-alice"));

	if (geteuid() == 0) {
		file_put("zm-alice", "of another\n");
		cr_assert_eq(chown(path_of("zm-alice"), 12345, 12345), 0);
		deliver();
		cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
		cr_expect(strstr(verdicts[0].text, "belongs to uid 12345"),
		    "%s", verdicts[0].text);
	}
	cr_expect_str_eq(file_get(path_of("victim")), "precious\n");
	finish();
}

/* Somebody swaps what lies at the path, again and again, while we deliver:
 * nothing but a file of the mailbox is ever written to. */
static void
swap_for_ever(void)
{
	for (unsigned i = 0;; i++) {
		unlink(path_of("zm-alice"));
		switch (i % 4) {
		case 0:
			(void)!symlink(path_of("victim"),
			    path_of("zm-alice"));
			break;
		case 1:
			(void)!link(path_of("victim"), path_of("zm-alice"));
			break;
		case 2:
			(void)!mkfifo(path_of("zm-alice"), 0600);
			break;
		}
	}
}

Test(mbox, an_attacker_swaps_the_file, .timeout = 120)
{
	pid_t attacker;
	int status;

	start(MAILBOX_MBOX, "{user}");
	file_put("victim", "precious\n");
	attacker = fork();
	if (attacker == 0)
		swap_for_ever();
	for (int i = 0; i < 500; i++) {
		deliver();
		cr_expect(verdicts[0].kind == VERDICT_DELIVERED ||
		    verdicts[0].kind == VERDICT_DEFERRED);
	}
	kill(attacker, SIGKILL);
	cr_assert_eq(waitpid(attacker, &status, 0), attacker);
	cr_expect_str_eq(file_get(path_of("victim")), "precious\n");
	finish();
}

/* ---- files ------------------------------------------------------------- */

Test(file, host_file_names_a_path)
{
	static char path[300];

	start(MAILBOX_MAILDIR, "{user}");
	chmod(top, 0777);
	snprintf(path, sizeof(path), "%s/archive", top);
	rcpts[0].host = SLICE("file");
	rcpts[0].user = slice_of(path);
	rcpts[0].uid = 4242;		/* no account: deferred when root */
	deliver();
	if (geteuid() == 0) {
		struct stat st;

		cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED, "%s",
		    verdicts[0].text);
		rcpts[0].uid = -2;		/* nobody */
		deliver();
		cr_assert_eq(stat(path, &st), 0);
		cr_expect_neq(st.st_uid, 0);
	}
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_eq(from_lines(file_get(path)), 1);
	finish();
}

Test(file, dev_null_discards_and_a_relative_path_fails)
{
	start(MAILBOX_MAILDIR, "{user}");
	rcpts[0].host = SLICE("file");
	rcpts[0].user = SLICE("/dev/null");
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED);
	rcpts[0].user = SLICE("etc/passwd");
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_FAILED);
	finish();
}

/* Started as root, the delivery is the user's: owner of the file, and no
 * way into what only root may write. */
Test(account, root_becomes_the_recipient)
{
	struct stat st;
	char path[600];

	if (geteuid() != 0)
		cr_skip("not root");
	start(MAILBOX_MAILDIR, "{user}");
	chmod(top, 0755);
	rcpts[0].user = SLICE("nobody");
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_assert_eq(count_in("nobody/new", path), 1);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_neq(st.st_uid, 0);
	cr_expect_eq(geteuid(), 0);
	finish();
}

static uid_t
owner_in_new(const char *user)
{
	char name[64], path[600];
	struct stat st;

	snprintf(name, sizeof(name), "%s/new", user);
	cr_assert_geq(count_in(name, path), 1, "%s", name);
	cr_assert_eq(stat(path, &st), 0);
	return st.st_uid;
}

Test(account, root_becomes_one_after_the_other)
{
	static const char *const users[] = { "nobody", "daemon", "nobody" };

	if (geteuid() != 0)
		cr_skip("not root");
	start(MAILBOX_MAILDIR, "{user}");
	chmod(top, 0755);
	job.rcpt_count = 3;
	for (int i = 0; i < 3; i++)
		rcpts[i].user = slice_of(users[i]);
	deliver();
	for (int i = 0; i < 3; i++)
		cr_expect_eq(verdicts[i].kind, VERDICT_DELIVERED, "%s",
		    verdicts[i].text);
	cr_expect_eq(count_in("nobody/new", NULL), 2);
	cr_expect_neq(owner_in_new("nobody"), owner_in_new("daemon"));
	cr_expect_neq(owner_in_new("daemon"), 0);
	cr_expect_eq(geteuid(), 0);
	cr_expect_eq(getegid(), 0);
	finish();
}

Test(account, a_user_without_home_or_account_is_unknown)
{
	start(MAILBOX_MAILDIR, "{home}/x");
	conf.mailbox_path = "{home}/zm-never";
	rcpts[0].user = SLICE("zm-no-such-user");
	deliver();
	cr_expect_eq(verdicts[0].kind, VERDICT_FAILED);
	cr_expect_str_eq(verdicts[0].status, "5.1.1");
	finish();
}
