/* test_traps.c - locks that others hold, ends that others left, directories
 * and files that others own
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "tests/unit/transports/box.h"
#include "transports/mailbox/dotlock.h"

/* ---- locks ------------------------------------------------------------- */

enum {
	STEP_S = 1, STEPS = 200,	/* less than MAILBOX_LOCK_STALE_S */
	STEP_US = 5000
};

/* A clock that another process moves. */
static int64_t *
clock_begin(void)
{
	char path[] = "/tmp/zm-clock-XXXXXX";
	int fd = mkstemp(path);
	int64_t *clock;

	cr_assert_eq(ftruncate(fd, sizeof(*clock)), 0);
	clock = mmap(NULL, sizeof(*clock), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	cr_assert(clock != MAP_FAILED);
	setenv("ZMAILER_TEST_CLOCK", path, 1);
	return clock;
}

static void
hold_record(const char *mailbox, const char *lock)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(mailbox, O_RDWR);

	if (fcntl(fd, F_SETLK, &all) != 0)
		_exit(1);
	(void)lock;
}

static void
hold_dotlock(const char *mailbox, const char *lock)
{
	if (open(lock, O_WRONLY | O_CREAT | O_EXCL, 0600) < 0)
		_exit(1);
	(void)mailbox;
}

/* One of ours, whose holder lives. */
static void
hold_our_dotlock(const char *mailbox, const char *lock)
{
	int fd = open(lock, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (flock(fd, LOCK_EX) != 0 || dprintf(fd, "%ld\nzmailer\n",
	    (long)getpid()) < 0)
		_exit(1);
	(void)mailbox;
}

static const struct {
	const char	*name;
	void		(*hold)(const char *mailbox, const char *lock);
} lock_rows[] = {
	{ "a record lock", hold_record },
	{ "a dotlock of another program", hold_dotlock },
	{ "a dotlock of ours", hold_our_dotlock },
};

/* In a child: hold it, say so, and let the time pass. */
static pid_t
holder_start(size_t row, int64_t *clock)
{
	char mailbox[600], lock[610], byte;
	int ends[2];
	pid_t pid;

	snprintf(mailbox, sizeof(mailbox), "%s", box_path_of("zm-alice"));
	snprintf(lock, sizeof(lock), "%s.lock", mailbox);
	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		lock_rows[row].hold(mailbox, lock);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		for (int i = 0; i < STEPS; i++) {
			usleep(STEP_US);
			*clock += STEP_S;
		}
		for (;;)
			pause();
	}
	close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1, "%s", lock_rows[row].name);
	close(ends[0]);
	return pid;
}

Test(traps, who_holds_a_lock_is_waited_for, .timeout = 120)
{
	int64_t *clock = clock_begin();

	for (size_t i = 0; i < sizeof(lock_rows) / sizeof(lock_rows[0]);
	    i++) {
		pid_t pid;

		box_start(MAILBOX_MBOX, "{user}");
		box_file_put("zm-alice", "From x\n\nold\n\n");
		*clock = 0;
		pid = holder_start(i, clock);
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED, "%s: %s",
		    lock_rows[i].name, box.verdicts[0].text);
		cr_expect(strstr(box.verdicts[0].text, "is locked by another"),
		    "%s: %s", lock_rows[i].name, box.verdicts[0].text);
		cr_expect_str_eq(box_file_get(box_path_of("zm-alice")),
		    "From x\n\nold\n\n");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		box_finish();
	}
	unlink(getenv("ZMAILER_TEST_CLOCK"));
}

/* ---- what lies after the noted end ------------------------------------ */

#define OLD "From x\n\nold\n\n"

/* A note of somebody who died, in a lock that nobody holds. */
static void
note_leave(ino_t inode, size_t old_bytes, size_t new_bytes,
    struct slice whole, unsigned rcpt, const char *id)
{
	char text[300];

	snprintf(text, sizeof(text), "1\nzmailer %ju %zu %zu %" PRIu32 " %"
	    PRIu32 " %s %u\n", (uintmax_t)inode, old_bytes, new_bytes,
	    crc32c(0, whole.p, whole.n < DOTLOCK_SAMPLE_BYTES ? whole.n :
	    DOTLOCK_SAMPLE_BYTES), crc32c(0, whole.p, whole.n), id, rcpt);
	box_file_put("zm-alice.lock", text);
}

static ino_t
inode_of(const char *name)
{
	struct stat st;

	cr_assert_eq(stat(box_path_of(name), &st), 0);
	return st.st_ino;
}

static const struct {
	const char	*tail;
	int		 inode_off;
	bool		 stays;
} tail_rows[] = {
	{ "From us, half of", 0, false },
	{ "Fro", 0, true },		/* too short to tell whose */
	{ "not ours\n\n", 0, true },
	{ "From us, half of", 1, true },	/* in another file */
	{ "From us\n\none\n\nFrom you\n\ntwo\n\n", 0, true },
};

Test(traps, only_the_torn_message_is_cut)
{
	for (size_t i = 0; i < sizeof(tail_rows) / sizeof(tail_rows[0]);
	    i++) {
		char text[200];
		char *got;

		box_start(MAILBOX_MBOX, "{user}");
		snprintf(text, sizeof(text), OLD "%s", tail_rows[i].tail);
		box_file_put("zm-alice", text);
		note_leave(inode_of("zm-alice") +
		    (ino_t)tail_rows[i].inode_off, strlen(OLD), 500,
		    SLICE("another"), 100, box.job.id);
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
		    box.verdicts[0].text);
		got = box_file_get(box_path_of("zm-alice"));
		cr_expect(slice_starts(slice_of(got), OLD), "%s", got);
		if (strlen(tail_rows[i].tail) > 3)
			cr_expect_eq(strstr(got, tail_rows[i].tail) != NULL,
			    tail_rows[i].stays, "%s: %s", tail_rows[i].tail,
			    got);
		cr_expect(strstr(got, "From a@src.test "), "%s", got);
		box_finish();
	}
}

/* It was written whole, and its writer died before the report: it is not
 * written again; another message, or one to somebody else, is. */
static const struct {
	const char	*id;
	unsigned	 rcpt;
	unsigned	 copies;
} whole_rows[] = {
	{ "01jd3x8k2mc4n7", 100, 1 }, { "01jd3x8k2mc4n8", 100, 2 },
	{ "01jd3x8k2mc4n7", 101, 2 },
};

Test(traps, what_is_whole_is_written_once)
{
	for (size_t i = 0; i < sizeof(whole_rows) / sizeof(whole_rows[0]);
	    i++) {
		unsigned copies = 0;
		struct slice rest, line;
		char *text;

		box_start(MAILBOX_MBOX, "{user}");
		box_deliver();
		text = strdup(box_file_get(box_path_of("zm-alice")));
		note_leave(inode_of("zm-alice"), 0, strlen(text),
		    slice_of(text), whole_rows[i].rcpt, whole_rows[i].id);
		free(text);
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
		    box.verdicts[0].text);
		rest = slice_of(box_file_get(box_path_of("zm-alice")));
		while (slice_cut(&rest, '\n', &line))
			copies += slice_is(line, "hello");
		cr_expect_eq(copies, whole_rows[i].copies, "row %zu: %u", i,
		    copies);
		box_finish();
	}
}

/* A power cut leaves a file longer than what was written. */
Test(traps, nuls_at_the_end_are_cut)
{
	char *got;
	FILE *file;
	struct stat st;

	box_start(MAILBOX_MBOX, "{user}");
	file = fopen(box_path_of("zm-alice"), "w");
	fwrite(OLD "\0\0\0\0\0\0", 1, strlen(OLD) + 6, file);
	fclose(file);
	box_deliver();
	got = box_file_get(box_path_of("zm-alice"));
	cr_expect(slice_starts(slice_of(got), OLD "From a@src.test "), "%s",
	    got);
	cr_assert_eq(stat(box_path_of("zm-alice"), &st), 0);
	cr_expect_eq((size_t)st.st_size, strlen(got), "there are NULs");
	box_finish();
}

/* ---- whose it is ------------------------------------------------------- */

Test(traps, a_maildir_of_somebody_else_is_refused)
{
	static const char *const parts[] = { "zm-alice", "zm-alice/tmp",
	    "zm-alice/cur", "zm-alice/new" };

	if (geteuid() != 0)
		cr_skip("only root can give a directory away");
	box_start(MAILBOX_MAILDIR, "{user}");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		cr_assert_eq(mkdir(box_path_of(parts[i]), 0700), 0);
	cr_assert_eq(chown(box_path_of("zm-alice/new"), 12345, 12345), 0);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect(strstr(box.verdicts[0].text, "belongs to uid 12345"), "%s",
	    box.verdicts[0].text);
	cr_expect_eq(box_count_in("zm-alice/new", NULL), 0u);
	box_finish();
}

/* Who has no account is who owns the directory of mailboxes; a directory of
 * root's that others write owns nobody. */
Test(traps, a_base_that_others_write_has_no_users)
{
	static const struct { mode_t mode; enum verdict_kind kind; } rows[] = {
		{ 0755, VERDICT_DELIVERED }, { 0775, VERDICT_FAILED },
		{ 0757, VERDICT_FAILED },
	};

	if (geteuid() != 0)
		cr_skip("not root");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		box_start(MAILBOX_MAILDIR, "{user}");
		cr_assert_eq(chmod(box.top, rows[i].mode), 0);
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, rows[i].kind, "%o: %s",
		    (unsigned)rows[i].mode, box.verdicts[0].text);
		box_finish();
	}
}

/* Root helps below the directory of the configuration, but goes through no
 * directory of a user, who could lead it anywhere. */
static const struct {
	enum conf_mailbox_kind	 kind;
	const char		*name;		/* template */
	const char		*command;	/* as nobody made it */
	enum verdict_kind	 verdict;
} lead_rows[] = {
	{ MAILBOX_MBOX, "{user}/Mail/in",
	    "mkdir nobody; ln -s ../treasure nobody/Mail; "
	    "chown -Rh nobody nobody", VERDICT_DEFERRED },
	{ MAILBOX_MAILDIR, "{user}/Mail/in",
	    "mkdir nobody; ln -s ../treasure nobody/Mail; "
	    "chown -Rh nobody nobody", VERDICT_DEFERRED },
	{ MAILBOX_MAILDIR, "{user}/Mail/a/in",
	    "mkdir nobody; ln -s ../treasure nobody/Mail; "
	    "chown -Rh nobody nobody", VERDICT_DEFERRED },
	{ MAILBOX_MBOX, "{user}/in",
	    "mkdir nobody; chmod 500 nobody; chown nobody nobody",
	    VERDICT_DEFERRED },
	{ MAILBOX_MBOX, "{user}/in", "mkdir nobody", VERDICT_DELIVERED },
	{ MAILBOX_MAILDIR, "{first}/{user}", "mkdir n", VERDICT_DELIVERED },
	{ MAILBOX_MBOX, "{first}/{second}/{user}", "true",
	    VERDICT_DELIVERED },
};

Test(traps, root_goes_through_no_directory_of_a_user)
{
	if (geteuid() != 0)
		cr_skip("not root");
	for (size_t i = 0; i < sizeof(lead_rows) / sizeof(lead_rows[0]);
	    i++) {
		char command[400];

		box_start(lead_rows[i].kind, lead_rows[i].name);
		box.rcpts[0].user = SLICE("nobody");
		cr_assert_eq(chmod(box.top, 0755), 0);
		snprintf(command, sizeof(command), "umask 022; cd '%s' && "
		    "mkdir treasure && %s", box.top, lead_rows[i].command);
		cr_assert_eq(system(command), 0);
		box_deliver();
		cr_expect_eq(box.verdicts[0].kind, lead_rows[i].verdict,
		    "row %zu: %s", i, box.verdicts[0].text);
		cr_expect_eq(box_count_in("treasure", NULL), 0u, "row %zu",
		    i);
		cr_expect_eq(geteuid(), 0);
		box_finish();
	}
}

/* As who swaps the directory while the lock is there: what root made it
 * removes, and nothing of that name elsewhere. */
Test(traps, a_lock_of_roots_goes_where_it_was_made)
{
	char path[600];
	struct dotlock lock;
	struct account owner;
	struct err err;

	if (geteuid() != 0)
		cr_skip("not root");
	box_start(MAILBOX_MBOX, "{user}/in");
	cr_assert_eq(chmod(box.top, 0755), 0);
	cr_assert_eq(mkdir(box_path_of("one"), 0755), 0);
	cr_assert_eq(mkdir(box_path_of("other"), 0755), 0);
	box_file_put("other/in.lock", "precious\n");
	account_of_ids(65534, 65534, &owner);
	strlcpy(path, box_path_of("one/in"), sizeof(path));
	cr_assert_eq(account_become(&owner, &err), 0);
	cr_assert_eq(dotlock_take(path, &owner, box.top, &lock, &err),
	    DOTLOCK_TAKEN, "%s", err.text);
	account_back();
	cr_assert_eq(rename(box_path_of("one"), box_path_of("two")), 0);
	cr_assert_eq(symlink("other", box_path_of("one")), 0);
	dotlock_drop(&lock, &owner);
	account_back();
	cr_expect_eq(box_count_in("two", NULL), 0u);
	cr_expect_str_eq(box_file_get(box_path_of("other/in.lock")),
	    "precious\n");
	box_finish();
}

Test(traps, a_host_name_is_no_path)
{
	char path[600];

	box_start(MAILBOX_MAILDIR, "{user}");
	box.conf.host = "a/b:c,d e";
	maildir_setup(box.conf.host, SYNC_UNSAFE);
	box_deliver();
	cr_expect_eq(box.verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    box.verdicts[0].text);
	cr_assert_eq(box_count_in("zm-alice/new", path), 1u);
	cr_expect(strstr(path, ".a_b_c_d_e,S="), "%s", path);
	box_finish();
}

static const struct {
	const char	*what, *remark;
} foreign_rows[] = {
	{ "echo bob >f; chown 12345 f", "belongs to somebody else" },
	{ "echo bob >g; ln -s g f; chown -h 12345 f",
	    "symbolic link of somebody else" },
};

Test(traps, a_forward_file_of_somebody_else_is_not_believed)
{
	static struct forward forward;
	struct account owner;

	if (geteuid() != 0)
		cr_skip("only root can give a file away");
	account_of_ids(geteuid(), getegid(), &owner);
	for (size_t i = 0; i < sizeof(foreign_rows) /
	    sizeof(foreign_rows[0]); i++) {
		char command[400];
		struct err err;

		box_start(MAILBOX_MAILDIR, "{user}");
		snprintf(command, sizeof(command), "umask 022; cd '%s' && %s",
		    box.top, foreign_rows[i].what);
		cr_assert_eq(system(command), 0);
		cr_expect_eq(forward_read(box.run.arena, box_path_of("f"),
		    &owner, &forward, &err), 0);
		cr_expect(strstr(forward.remark, foreign_rows[i].remark),
		    "%s: '%s'", foreign_rows[i].what, forward.remark);
		box_finish();
	}
}
