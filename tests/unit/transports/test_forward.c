/* test_forward.c - forward files: what is believed, and what comes of it
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/spool/spool.h"
#include "mail/control_file/control_file.h"
#include "tests/unit/transports/box.h"

/* ---- lines ------------------------------------------------------------- */

static const struct { const char *in, *want; } line_rows[] = {
	{ "", "" },
	{ "\n\n", "" },
	{ "# nobody\n", "" },
	{ "bob\n", "a:bob" },
	{ "bob, carol@example.org\n", "a:bob a:carol@example.org" },
	{ "\\alice\nbob\n", "m:alice a:bob" },
	{ "\"|prog 'a b'\"\n", "p:prog 'a b'" },
	{ "|prog -x\n", "p:prog -x" },
	{ "\"|IFS=' ' && exec prog -f- || exit 75 #alice\"\n",
	    "p:IFS=' ' && exec prog -f- || exit 75 #alice" },
	{ "/dev/null\n", "f:/dev/null" },
	{ "\"/home/a b/mail\"\n", "f:/home/a b/mail" },
	{ "Bob <bob@example.net>\n", "a:bob@example.net" },
	{ "bob@example.org # a note\nx@y.z\n", "a:x@y.z !" },
	{ "<<<\nbob\n", "a:bob !" },
	{ "|\nbob\n", "a:bob !" },
	{ ":include:relative\nbob\n", "a:bob !" },
	{ ":include:/nonexistent/zm\nbob\n", "a:bob !" },
};

static void
print(const struct forward *forward, struct str *out)
{
	static const char letters[] = "ampfi";

	for (size_t i = 0; i < forward->count; i++) {
		const struct alias_item *item = &forward->items[i];

		str_addf(out, "%s%c:", i > 0 ? " " : "", letters[item->kind]);
		if (item->kind > ALIAS_MAILBOX)
			str_add_slice(out, item->text);
		else
			path_add(out, &item->path);
	}
	if (forward->remark[0] != '\0')
		str_adds(out, out->len > 0 ? " !" : "!");
}

Test(forward, lines)
{
	struct account owner;
	struct arena *arena = arena_new();

	account_of_ids(geteuid(), getegid(), &owner);
	for (size_t i = 0; i < sizeof(line_rows) / sizeof(line_rows[0]);
	    i++) {
		static struct forward forward;
		struct str text = STR_INIT;

		forward_parse(arena, slice_of(line_rows[i].in), &owner,
		    &forward);
		print(&forward, &text);
		cr_expect_str_eq(text.buf, line_rows[i].want, "row %zu %s",
		    i, line_rows[i].in);
		str_release(&text);
	}
	arena_free(&arena);
}

Test(forward, more_entries_than_there_may_be)
{
	struct arena *arena = arena_new();
	static struct forward forward;
	struct str text = STR_INIT;
	struct account owner;

	account_of_ids(geteuid(), getegid(), &owner);
	for (int i = 0; i < FORWARD_ITEMS_MAX + 5; i++)
		str_addf(&text, "u%d@example.org\n", i);
	forward_parse(arena, str_slice(&text), &owner, &forward);
	cr_expect_eq(forward.count, FORWARD_ITEMS_MAX);
	cr_expect(strstr(forward.remark, "too many"), "%s", forward.remark);
	str_release(&text);
	arena_free(&arena);
}

/* ---- files ------------------------------------------------------------- */

static int
read_it(const char *name, struct forward *out)
{
	struct account owner;
	struct err err;

	account_of_ids(geteuid(), getegid(), &owner);
	return forward_read(box.run.arena, box_path_of(name), &owner, out,
	    &err);
}

static const struct {
	const char	*what;		/* shell, in the directory */
	int		 want;
	const char	*remark;
} file_rows[] = {
	{ "true", 0, "" },
	{ "echo bob >f; chmod 644 f", 1, "" },
	{ "echo bob >f; chmod 664 f", 0, "others than its owner" },
	{ "echo bob >f; chmod 646 f", 0, "others than its owner" },
	{ "echo bob >g; ln g f", 0, "more than one name" },
	{ "echo bob >g; ln -s g f", 1, "" },
	{ "ln -s /nonexistent/zm f", 0, "" },
	{ "mkdir f", 0, "no regular file" },
	{ "mkfifo f", 0, "no regular file" },
	{ "head -c 70000 /dev/zero >f", 0, "too large" },
	{ ": >f", 0, "" },
	{ "echo bob >f; chmod 777 .", 0, "everybody can write" },
	{ "echo bob >f; chmod 1777 .", 1, "" },
	{ "echo :include:$PWD/g >f; echo bob >g", 1, "" },
	{ "echo :include:$PWD/g >f; echo bob >g; chmod 666 g", 0,
	    "others than its owner" },
	{ "echo :include:$PWD/f >f", 0, "too deeply" },
	{ "for i in $(seq 20); do echo :include:$PWD/g; done >f; echo bob >g",
	    1, "" },
	{ "for i in $(seq 21); do echo :include:$PWD/g; done >f; echo bob >g",
	    1, "too many lists" },
	/* 1,000 to the fifth files */
	{ "for i in $(seq 1000); do echo :include:$PWD/f; done >f", 0,
	    "too deeply" },
};

Test(forward, files_that_are_believed)
{
	for (size_t i = 0; i < sizeof(file_rows) / sizeof(file_rows[0]);
	    i++) {
		static struct forward forward;
		char command[400];
		int got;

		box_start(MAILBOX_MAILDIR, "{user}");
		snprintf(command, sizeof(command), "umask 022; cd '%s' && %s",
		    box.top, file_rows[i].what);
		cr_assert_eq(system(command), 0);
		got = read_it("f", &forward);
		cr_expect_eq(got, file_rows[i].want, "%s: %d",
		    file_rows[i].what, got);
		cr_expect(strstr(forward.remark, file_rows[i].remark) &&
		    (file_rows[i].remark[0] != '\0' ||
		    forward.remark[0] == '\0'), "%s: '%s'",
		    file_rows[i].what, forward.remark);
		box_finish();
	}
}

/* ---- what comes of it -------------------------------------------------- */

static char spool_dir[200], forward_path[200];

static void
begin_as(enum conf_mailbox_kind kind, const char *said)
{
	struct spool *spool = NULL;
	struct err err;

	box_start(kind, "{user}");
	snprintf(spool_dir, sizeof(spool_dir), "%s/spool", box.top);
	snprintf(forward_path, sizeof(forward_path), "%s/forward.{user}",
	    box.top);
	cr_assert_eq(mkdir(spool_dir, 0700), 0);
	cr_assert_eq(spool_open(spool_dir, SPOOL_CREATE | SPOOL_UNSAFE_FS, 0,
	    &spool, &err), 0, "%s", err.text);
	spool_close(&spool);
	box.conf.spool_dir = spool_dir;
	box.conf.forward_path = forward_path;
	box.conf.sync = SYNC_UNSAFE;
	box.job.header = SLICE("Subject: s\n");
	box_file_put("forward.zm-alice", said);
	chmod(box_path_of("forward.zm-alice"), 0600);
}

/* zm-alice, without an account, says this. */
static void
begin(const char *said)
{
	begin_as(MAILBOX_MAILDIR, said);
}

static char *
handed_in(void)
{
	char path[600];

	cr_expect_eq(box_count_in("spool/public", NULL), 1, "but new/");
	cr_assert_eq(box_count_in("spool/router", path), 2, "and plans/");
	snprintf(path, sizeof(path), "cat %s/spool/router/[0-9]* >%s/all",
	    box.top, box.top);
	cr_assert_eq(system(path), 0);
	return box_file_get(box_path_of("all"));
}

Test(forward, one_address_gets_the_message_as_it_is)
{
	char *text;

	begin("bob@far.test\n");
	box.rcpts[0].notify = DSN_NOTIFY_SUCCESS | DSN_NOTIFY_FAILURE;
	box.rcpts[0].orcpt = SLICE("rfc822;list@me.test");
	box.job.envid = SLICE("E1");
	box.job.ret = DSN_RET_HDRS;
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_RELAYED, "%s",
	    box.verdicts[0].text);
	text = handed_in();
	cr_expect(strstr(text, "bob@far.test"), "%s", text);
	cr_expect(strstr(text, "a@src.test"), "%s", text);
	cr_expect(strstr(text, "SUCCESS,FAILURE"), "%s", text);
	cr_expect(strstr(text, "rfc822;list@me.test"), "%s", text);
	cr_expect(strstr(text, "HDRS"), "%s", text);
	cr_expect(strstr(text, "external\n"), "%s", text);
	cr_expect(strstr(text, "env-end\nDelivered-To: zm-alice@me.test\n"
	    "Subject: s\n\nhello\n"), "%s", text);
	cr_expect_eq(access(box_path_of("zm-alice"), F_OK), -1);
	box_finish();
}

Test(forward, several_are_an_expansion)
{
	char *text;

	begin("bob@far.test, Bob <bob@FAR.test>\ncarol, \\zm-alice\n");
	box.rcpts[0].notify = DSN_NOTIFY_SUCCESS;
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_EXPANDED, "%s",
	    box.verdicts[0].text);
	text = handed_in();
	cr_expect(strstr(text, "carol@me.test"), "%s", text);
	cr_expect(strstr(text, "NEVER"), "%s", text);
	cr_expect_null(strstr(text, "SUCCESS"), "%s", text);
	cr_expect_null(strstr(text, "FAR.test"), "one bob: %s", text);
	cr_expect_eq(box_count_in("zm-alice/new", NULL), 1);
	box_finish();
}

Test(forward, a_bad_entry_beside_an_address_keeps_a_copy)
{
	begin("bob@far.test, \"|no end\n");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_EXPANDED, "%s",
	    box.verdicts[0].text);
	cr_expect(strstr(handed_in(), "bob@far.test") != NULL);
	cr_expect_eq(box_count_in("zm-alice/new", NULL), 1);
	box_finish();
}

Test(forward, the_null_sender_stays_null)
{
	char *text;

	begin("bob@far.test\n");
	box.job.sender = SLICE("");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_EXPANDED);
	text = handed_in();
	cr_expect(strstr(text, "channel error\n"), "%s", text);
	box_finish();
}

static const struct {
	const char		*said;
	enum verdict_kind	 want;
	const char		*status;
	unsigned		 kept;		/* in the mailbox */
} user_rows[] = {
	{ "zm-alice\n", VERDICT_DELIVERED, "2.0.0", 1 },
	{ "zm-alice@me.test\n", VERDICT_DELIVERED, "2.0.0", 1 },
	{ "\\ZM-Alice, zm-alice\n", VERDICT_DELIVERED, "2.0.0", 1 },
	{ "/dev/null\n", VERDICT_DELIVERED, "2.0.0", 0 },
	{ "\n", VERDICT_DELIVERED, "2.0.0", 1 },
	{ "<<<\n", VERDICT_DELIVERED, "2.0.0", 1 },
	/* no account: neither programs nor files */
	{ "|/bin/true\n", VERDICT_FAILED, "5.7.1", 0 },
	{ "/tmp/zm-none\n", VERDICT_FAILED, "5.7.1", 0 },
	{ "zm-alice, |/bin/true\n", VERDICT_FAILED, "5.7.1", 1 },
	/* what is not understood may have kept the copy */
	{ "/dev/null, <<<\n", VERDICT_DELIVERED, "2.0.0", 1 },
	{ "/dev/null, \"|no end\nzm-alice\n", VERDICT_DELIVERED, "2.0.0", 1 },
	{ "|/bin/true, <<<\n", VERDICT_FAILED, "5.7.1", 1 },
	{ ":include:/tmp/zm-none, /dev/null\n", VERDICT_DELIVERED, "2.0.0", 1 },
	/* one of several fails */
	{ "|/bin/true, /dev/null\n", VERDICT_FAILED, "5.7.1", 1 },
	{ "/tmp/zm-none, |/bin/true\n", VERDICT_FAILED, "5.7.1", 1 },
};

Test(forward, one_verdict_of_all)
{
	for (size_t i = 0; i < sizeof(user_rows) / sizeof(user_rows[0]);
	    i++) {
		begin(user_rows[i].said);
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, user_rows[i].want, "%s%s",
		    user_rows[i].said, box.verdicts[0].text);
		cr_expect_str_eq(box.verdicts[0].status,
		    user_rows[i].status);
		cr_expect_eq(box_count_in("zm-alice/new", NULL),
		    user_rows[i].kept, "%s", user_rows[i].said);
		cr_expect_eq(access("/tmp/zm-none", F_OK), -1);
		box_finish();
	}
}

Test(forward, what_came_back_is_a_loop)
{
	begin("bob@far.test\n");
	box.job.header = SLICE("Delivered-To: x@me.test\n"
	    "delivered-to:  ZM-alice@me.test \nSubject: s\n");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_FAILED);
	cr_expect_str_eq(box.verdicts[0].status, "5.4.6");
	box_finish();
}

/* A mailbox without an account has nobody to run a program, or write a file,
 * as. */
Test(forward, who_has_no_account_acts_not)
{
	static const char *const steps[] = { "|/bin/true", "/tmp/zm-never" };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		begin(steps[i]);
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, VERDICT_FAILED, "%s: %s",
		    steps[i], box.verdicts[0].text);
		cr_expect_str_eq(box.verdicts[0].status, "5.7.1");
		cr_expect(strstr(box.verdicts[0].text,
		    "may forward to addresses only"), "%s: %s", steps[i],
		    box.verdicts[0].text);
		cr_expect_eq(access("/tmp/zm-never", F_OK), -1);
		box_finish();
	}
}

Test(forward, a_spool_that_takes_nothing_defers)
{
	begin("bob@far.test\n");
	box.conf.spool_dir = box_path_of("nonexistent");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	box_finish();
}

/* ---- steps that are done ---------------------------------------------- */

/* The job's control file: as the router writes it, open as an agent has it. */
static int
control_open(void)
{
	struct control_rcpt rcpt = { .channel = SLICE("local"),
	    .host = SLICE("-"), .user = SLICE("zm-alice"), .uid = -2 };
	struct control_group group = { .sender = SLICE("a@src.test"),
	    .header = SLICE("Subject: s\n"), .rcpts = &rcpt,
	    .rcpt_count = 1 };
	struct control_file control = { .id = "01jd3x8k2mc4n7", .inode = 1,
	    .groups = &group, .group_count = 1 };
	struct str text = STR_INIT;
	struct err err;
	int fd;

	cr_assert_eq(control_file_format(&control, &text, &err), 0, "%s",
	    err.text);
	box_file_put("control", text.buf);
	str_release(&text);
	fd = open(box_path_of("control"), O_RDWR | O_APPEND | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	box.rcpts[0].offset = rcpt.offset;
	box.job.control_fd = fd;
	return fd;
}

static unsigned
messages_in_box(void)
{
	char *text = box_file_get(box_path_of("zm-alice"));
	unsigned count = 0;

	for (char *at = text; (at = strstr(at, "From a@src.test ")) != NULL;
	    at++)
		count++;
	return count;
}

Test(forward, what_is_done_is_not_done_again)
{
	int fd;

	begin_as(MAILBOX_MBOX, "\\zm-alice, bob@far.test\n");
	fd = control_open();
	box.conf.spool_dir = box_path_of("nonexistent");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED, "%s",
	    box.verdicts[0].text);
	cr_expect_eq(messages_in_box(), 1);
	/* the agent died in the middle of a record */
	cr_assert_eq(write(fd, "\nd 5c1f0a2b 18", 14), 14);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_eq(messages_in_box(), 1);
	/* of another recipient, or another message, nothing is known */
	box.rcpts[0].offset++;
	box_deliver();
	cr_expect_eq(messages_in_box(), 2);
	box.rcpts[0].offset--;
	box.conf.spool_dir = spool_dir;
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_EXPANDED, "%s",
	    box.verdicts[0].text);
	cr_expect_eq(messages_in_box(), 2);
	cr_expect(strstr(handed_in(), "bob@far.test") != NULL);
	close(fd);
	box_finish();
}
