/* test_quota.c - full mailboxes, torn mailboxes, MMDF, templates
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/transports/box.h"
#include "transports/mailbox/dotlock.h"
#include "transports/mailbox/quota.h"

/* ---- maildirsize ------------------------------------------------------- */

static const struct {
	const char	*in;
	int		 want;
	uint64_t	 bytes_max, count_max;
	int64_t		 bytes, count;
} size_rows[] = {
	{ "1000S,10C\n50 1\n", 0, 1000, 10, 50, 1 },
	{ "1000S\n50 1\n70 1\n-50 -1\n", 0, 1000, 0, 70, 1 },
	{ "10C\n        0        0\n", 0, 0, 10, 0, 0 },
	{ "10C,5X\n1 1\n", 0, 0, 10, 1, 1 },
	{ "\n5 1\n", -1, 0, 0, 0, 0 },
	{ "", -1, 0, 0, 0, 0 },
	{ "1000S\n", -1, 0, 0, 0, 0 },
	{ "1000S\n50 1", -1, 0, 0, 0, 0 },
	{ "1000S\n50\n", -1, 0, 0, 0, 0 },
	{ "1000S\n50 1 1\n", -1, 0, 0, 0, 0 },
	{ "1000S\n5x 1\n", -1, 0, 0, 0, 0 },
	{ "S\n5 1\n", -1, 0, 0, 0, 0 },
	{ "1000S\n5 1\n-9 -1\n", -1, 0, 0, 0, 0 },
	{ "99999999999999999999S\n5 1\n", -1, 0, 0, 0, 0 },
};

Test(quota, maildirsize_files)
{
	for (size_t i = 0; i < sizeof(size_rows) / sizeof(size_rows[0]);
	    i++) {
		struct maildirsize got;
		int result = maildirsize_parse(slice_of(size_rows[i].in),
		    &got);

		cr_expect_eq(result, size_rows[i].want, "row %zu", i);
		if (result < 0)
			continue;
		cr_expect_eq(got.bytes_max, size_rows[i].bytes_max, "%zu", i);
		cr_expect_eq(got.count_max, size_rows[i].count_max, "%zu", i);
		cr_expect_eq(got.bytes, size_rows[i].bytes, "row %zu", i);
		cr_expect_eq(got.count, size_rows[i].count, "row %zu", i);
	}
}

static void
expect(enum verdict_kind kind, const char *status)
{
	box_deliver();
	box.job.id[5]++;		/* the next is another message */
	cr_expect_eq(box.verdicts[0].kind, kind, "%s",
	    box.verdicts[0].text);
	cr_expect_str_eq(box.verdicts[0].status, status);
}

static const char *
maildirsize(void)
{
	return box_file_get(box_path_of("zm-alice/maildirsize"));
}

/* A message is 75 bytes here. */
Test(quota, a_maildir_fills_up_and_empties)
{
	char path[600];

	box_start(MAILBOX_MAILDIR, "{user}");
	box.conf.quota = (struct conf_quota){ .bytes = 200 };
	expect(VERDICT_DELIVERED, "2.0.0");
	cr_expect_str_eq(maildirsize(), "200S\n0 0\n75 1\n");
	expect(VERDICT_DELIVERED, "2.0.0");
	expect(VERDICT_DEFERRED, "4.2.2");
	box.conf.quota.fails = true;
	expect(VERDICT_FAILED, "5.2.2");
	cr_expect_eq(box_count_in("zm-alice/new", path), 2);
	cr_expect_eq(box_count_in("zm-alice/tmp", NULL), 0);
	cr_assert_eq(unlink(path), 0);		/* nobody told maildirsize */
	box_file_put("zm-alice/maildirsize", "200S\n75 1\n75 1\n");
	expect(VERDICT_DELIVERED, "2.0.0");
	cr_expect_str_eq(maildirsize(), "200S\n75 1\n75 1\n");
	box_finish();
}

Test(quota, what_never_fits_fails_at_once)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	box.conf.quota = (struct conf_quota){ .bytes = 50 };
	expect(VERDICT_FAILED, "5.2.3");
	box.conf.mailbox_kind = MAILBOX_MBOX;
	box.rcpts[0].user = SLICE("zm-bob");
	expect(VERDICT_FAILED, "5.2.3");
	box_finish();
}

Test(quota, messages_count_and_a_batch_counts_itself)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	box.conf.quota = (struct conf_quota){ .messages = 2 };
	box.job.rcpt_count = 3;
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED);
	cr_expect_eq(box.verdicts[1].kind, VERDICT_DELIVERED);
	cr_expect_eq(box.verdicts[2].kind, VERDICT_DEFERRED);
	cr_expect_str_eq(box.verdicts[2].status, "4.2.2");
	cr_expect_str_eq(maildirsize(), "2C\n0 0\n75 1\n75 1\n");
	box_finish();
}

/* Without a quota of ours the file's own holds, as an IMAP server made it;
 * folders count, Trash and what is marked as trashed do not. */
Test(quota, what_others_wrote_is_kept)
{
	char command[900];

	box_start(MAILBOX_MAILDIR, "{user}");
	expect(VERDICT_DELIVERED, "2.0.0");
	cr_expect_eq(access(box_path_of("zm-alice/maildirsize"), F_OK), -1);
	snprintf(command, sizeof(command), "cd %s/zm-alice && "
	    "mkdir -p .Sent/cur .Sent/new .Trash/cur && "
	    "echo x >.Sent/cur/1.a,S=100:2,S && echo 5678 >.Sent/new/2.a && "
	    "echo x >.Trash/cur/3.a,S=999:2, && "
	    "echo x >cur/4.a,S=999:2,ST && "
	    "printf '260S\\n300 3\\n' >maildirsize && "
	    "touch -d '1 hour ago' maildirsize", box.top);
	cr_assert_eq(system(command), 0);
	expect(VERDICT_DELIVERED, "2.0.0");
	cr_expect_str_eq(maildirsize(), "260S\n180 3\n75 1\n");
	expect(VERDICT_DEFERRED, "4.2.2");
	box_finish();
}

Test(quota, our_limits_take_the_place_of_the_files)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	box.conf.quota = (struct conf_quota){ .bytes = 1000 };
	expect(VERDICT_DELIVERED, "2.0.0");
	cr_expect(slice_starts(slice_of(maildirsize()), "1000S\n"));
	box.conf.quota = (struct conf_quota){ .bytes = 800, .messages = 9 };
	expect(VERDICT_DELIVERED, "2.0.0");
	cr_expect(slice_starts(slice_of(maildirsize()), "800S,9C\n"), "%s",
	    maildirsize());
	box_finish();
}

Test(quota, a_symlink_as_maildirsize_is_refused)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	box.conf.quota = (struct conf_quota){ .bytes = 1000 };
	expect(VERDICT_DELIVERED, "2.0.0");
	box_file_put("victim", "1000S\n5 1\n");
	unlink(box_path_of("zm-alice/maildirsize"));
	cr_assert_eq(symlink(box_path_of("victim"),
	    box_path_of("zm-alice/maildirsize")), 0);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED, "%s",
	    box.verdicts[0].text);
	cr_expect_str_eq(box_file_get(box_path_of("victim")),
	    "1000S\n5 1\n");
	box_finish();
}

/* Its user knows under which name the next one is written. */
Test(quota, a_fifo_in_the_way_holds_nobody, .timeout = 120)
{
	char name[100];

	box_start(MAILBOX_MAILDIR, "{user}");
	expect(VERDICT_DELIVERED, "2.0.0");
	snprintf(name, sizeof(name), "zm-alice/tmp/maildirsize.%ld",
	    (long)getpid());
	cr_assert_eq(mkfifo(box_path_of(name), 0600), 0);
	box.conf.quota = (struct conf_quota){ .bytes = 1000 };
	expect(VERDICT_DELIVERED, "2.0.0");
	box_finish();
}

Test(quota, a_long_maildirsize_is_written_anew)
{
	struct str text = STR_INIT;

	box_start(MAILBOX_MAILDIR, "{user}");
	expect(VERDICT_DELIVERED, "2.0.0");
	str_adds(&text, "100000S\n");
	while (text.len < MAILDIRSIZE_BYTES_MAX)
		str_adds(&text, "1 1\n");
	box_file_put("zm-alice/maildirsize", text.buf);
	expect(VERDICT_DELIVERED, "2.0.0");
	cr_expect_str_eq(maildirsize(), "100000S\n75 1\n75 1\n");
	str_release(&text);
	box_finish();
}

Test(quota, an_mbox_is_as_large_as_its_file)
{
	box_start(MAILBOX_MBOX, "{user}");
	box.conf.quota = (struct conf_quota){ .bytes = 200 };
	expect(VERDICT_DELIVERED, "2.0.0");
	expect(VERDICT_DEFERRED, "4.2.2");
	cr_expect_eq(access(box_path_of("zm-alice.lock"), F_OK), -1);
	box_finish();
}

/* ---- a torn mbox ------------------------------------------------------- */

static const struct {
	const char		*in;
	bool			 is_ours;
	struct dotlock_note	 want;
} note_rows[] = {
	{ "12\nzmailer\n", true, { .inode = 0 } },
	{ "12\nzmailer 5 10 20 7 8 abc 9\n", true,
	    { 5, 10, 20, 7, 8, "abc", 9 } },
	{ "12\nzmailer 5 10 20 7\n", true, { .inode = 0 } },
	{ "12\nzmailer 5 10 20 7 8 abc 9 10\n", true, { .inode = 0 } },
	{ "12\nzmailer 5 10 20 99999999999 8 abc 9\n", true,
	    { .inode = 0 } },
	{ "12\nzmailer 5 10 20 7 8 abcdefghijklmnopqrstuvwxyz"
	    "abcdefghijklmnopqrstuvwxyz 9\n", true,
	    { .inode = 0 } },
	{ "12\nzmailer 5 10 20 7 8 abc 9", false, { .inode = 0 } },
	{ "12\n", false, { .inode = 0 } },
	{ "12", false, { .inode = 0 } },
	{ "", false, { .inode = 0 } },
	{ "x\nzmailer\n", false, { .inode = 0 } },
	{ "12\nother\n", false, { .inode = 0 } },
};

Test(torn, notes_in_locks)
{
	for (size_t i = 0; i < sizeof(note_rows) / sizeof(note_rows[0]);
	    i++) {
		struct dotlock_note got;

		cr_expect_eq(dotlock_parse(slice_of(note_rows[i].in), &got),
		    note_rows[i].is_ours, "row %zu", i);
		cr_expect(memcmp(&got, &note_rows[i].want,
		    sizeof(got)) == 0, "row %zu", i);
	}
}

/* Deliver in a child that dies when the file has grown by `more` bytes. */
static void
die_after(off_t more)
{
	int status;
	pid_t pid = fork();

	cr_assert(pid >= 0);
	if (pid == 0) {
		struct rlimit limit = { (rlim_t)more, (rlim_t)more };

		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		setrlimit(RLIMIT_FSIZE, &limit);	/* SIGXFSZ */
		box_deliver();
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status), "%d", status);
}

static void
torn(enum conf_mailbox_kind kind)
{
	char *text, *before;
	struct stat st;

	box_start(kind, "{user}");
	box_body_set("one\nFrom him\n");
	box_deliver();
	before = strdup(box_file_get(box_path_of("zm-alice")));
	cr_assert_eq(stat(box_path_of("zm-alice"), &st), 0);
	die_after(st.st_size + 60);
	cr_expect_eq(access(box_path_of("zm-alice.lock"), F_OK), 0);
	box_body_set("two\n");
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    box.verdicts[0].text);
	text = box_file_get(box_path_of("zm-alice"));
	cr_expect(strncmp(text, before, strlen(before)) == 0, "%s", text);
	text += strlen(before);
	cr_expect(strncmp(text, kind == MAILBOX_MMDF ? "\1\1\1\1\nFrom a@" :
	    "From a@", 7) == 0, "%s", text);
	cr_expect(strstr(text, "\n\ntwo\n"), "%s", text);
	cr_expect_null(strstr(text, "one"), "%s", text);
	cr_expect_null(strstr(text + 10, "\nFrom a@"), "%s", text);
	cr_expect_eq(access(box_path_of("zm-alice.lock"), F_OK), -1);
	free(before);
	box_finish();
}

Test(torn, an_mbox_is_cut_back)
{
	torn(MAILBOX_MBOX);
}

Test(torn, an_mmdf_file_is_cut_back)
{
	torn(MAILBOX_MMDF);
}

/* Somebody who does not know the dotlock wrote after what is torn. */
Test(torn, mail_of_others_is_never_cut)
{
	char *text;
	FILE *file;
	struct stat st;

	box_start(MAILBOX_MBOX, "{user}");
	box_deliver();
	cr_assert_eq(stat(box_path_of("zm-alice"), &st), 0);
	die_after(st.st_size + 60);
	file = fopen(box_path_of("zm-alice"), "a");
	fputs("\n\nFrom x@y Sat Nov 21 07:00:00 2026\n\nnot ours\n\n", file);
	fclose(file);
	box_deliver();
	text = box_file_get(box_path_of("zm-alice"));
	cr_expect(strstr(text, "not ours"), "%s", text);
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED);
	box_finish();
}

/* Others may make files in a mail directory: what a note of theirs says must
 * not cost mail.  Each is the note of a torn append, in a file that somebody
 * else made, or can write. */
static const char *const planted_rows[] = {
	"chown 12345 zm-alice.lock",
	"chmod 0620 zm-alice.lock",
	"chmod 0602 zm-alice.lock",
	"ln zm-alice.lock other",
	"mv zm-alice.lock other && ln -s other zm-alice.lock",
};

Test(torn, the_note_of_a_stranger_cuts_nothing)
{
	for (size_t i = 0; i < sizeof(planted_rows) /
	    sizeof(planted_rows[0]); i++) {
		const char *at;
		char command[700];
		unsigned begins = 0;
		struct stat st;

		if (i == 0 && geteuid() != 0)
			continue;
		box_start(MAILBOX_MBOX, "{user}");
		box_deliver();
		cr_assert_eq(stat(box_path_of("zm-alice"), &st), 0);
		die_after(st.st_size + 60);
		snprintf(command, sizeof(command), "cd '%s' && %s && "
		    "touch -h -d '1 hour ago' zm-alice.lock", box.top,
		    planted_rows[i]);
		cr_assert_eq(system(command), 0);
		box_body_set("two\n");
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED,
		    "row %zu: %s", i, box.verdicts[0].text);
		at = box_file_get(box_path_of("zm-alice"));
		for (; (at = strstr(at, "From a@")) != NULL; at++)
			begins++;
		cr_expect_eq(begins, 3, "row %zu: %u messages begin", i,
		    begins);
		box_finish();
	}
}

/* ---- MMDF -------------------------------------------------------------- */

Test(mmdf, messages_stand_between_lines)
{
	char *text;

	box_start(MAILBOX_MMDF, "{user}");
	box_body_set("From me\n\1\1\1\1\nx");
	box_deliver();
	box_deliver();
	text = box_file_get(box_path_of("zm-alice"));
	cr_expect(strncmp(text, "\1\1\1\1\nFrom a@src.test ", 21) == 0, "%s",
	    text);
	cr_expect(strstr(text, "\nFrom me\n \1\1\1\1\nx\n\1\1\1\1\n"
	    "\1\1\1\1\nFrom a@src.test "), "%s", text);
	cr_expect(slice_ends(slice_of(text), "x\n\1\1\1\1\n"));
	box_finish();
}

/* ---- templates --------------------------------------------------------- */

static const struct { const char *template, *rcpt, *want; } path_rows[] = {
	{ "/m/{user}", "Bob", "/m/Bob" },
	{ "/m/{first}/{second}/{user}", "Bob", "/m/b/o/Bob" },
	{ "/m/{first}/{second}/{user}", "-", "/m/_/_/-" },
	{ "/m/{hash}/{hash2}/{user}", "bob", "/m/d4/46/bob" },
	{ "/m/{domain}/{user}", "bob@example.org", "/m/example.org/bob" },
	{ "/m/{domain}/{user}/.{detail}", "bob+x@example.org",
	    "/m/example.org/bob/.x" },
	{ "/m/{domain}/{user}{detail}", "bob@example.org",
	    "/m/example.org/bob" },
	{ "/m/{domain}/{user}", "b@c@example.org", "/m/example.org/b@c" },
	{ "/m/{user", "bob", "/m/{user" },
	{ "/m/{domain}/{user}", "bob@../x", NULL },
	{ "/m/{domain}/{user}", "bob+../x@d", NULL },
	{ "/m/{domain}/{user}", "bob@.d", NULL },
};

Test(place, templates)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	for (size_t i = 0; i < sizeof(path_rows) / sizeof(path_rows[0]);
	    i++) {
		struct mailbox *mailbox = box.run.state;
		char path[MAILBOX_PATH_BYTES];
		struct mailbox_place place;
		struct err err;
		int got;

		box.conf.mailbox_is_addressed =
		    strstr(path_rows[i].template, "{domain}") != NULL;
		got = place_find(mailbox, slice_of(path_rows[i].rcpt),
		    &place, &err);
		cr_assert_eq(got, path_rows[i].want != NULL ? 1 : -1,
		    "row %zu", i);
		if (got < 0)
			continue;
		cr_assert_eq(place_path(path_rows[i].template, &place, path,
		    &err), 0);
		cr_expect_str_eq(path, path_rows[i].want);
	}
	box_finish();
}

Test(place, missing_directories_of_a_template_are_made)
{
	box_start(MAILBOX_MAILDIR, "{first}/{hash}/{user}");
	expect(VERDICT_DELIVERED, "2.0.0");
	cr_expect_eq(box_count_in("z", NULL), 1);
	box.conf.mailbox_kind = MAILBOX_MBOX;
	box.rcpts[0].user = SLICE("bob");
	expect(VERDICT_DELIVERED, "2.0.0");
	cr_expect_eq(box_count_in("b", NULL), 1);
	box_finish();
}
