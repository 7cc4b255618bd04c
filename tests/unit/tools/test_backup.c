/* test_backup.c - archives, as people make and read them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "spool_case.h"
#include "tools/zmailer/backup/backup.h"

TestSuite(backup, .init = case_open, .fini = case_close, .timeout = 60);

static char path[4][512];

static const char *
beside(const char *name)
{
	static unsigned turn;
	char *out_path = path[turn++ % 4];

	snprintf(out_path, sizeof(path[0]), "%s/%s", in.dir, name);
	return out_path;
}

/* A durable message in an area of the spool, under its inode; its id. */
static void
submit(enum spool_area area, unsigned priority, const char *why,
    char out_id[SPOOL_ID_BYTES])
{
	struct draft draft, *one = &draft;
	struct str text = STR_INIT;
	char from[SPOOL_NAME_BYTES], to[SPOOL_NAME_BYTES];
	struct err err;

	cr_assert_eq(draft_open(spool, NULL, &draft, &err), 0);
	str_addf(&text, "id %s\nto <a@b.c>\nenv-end\n\nx\n", draft.id);
	draft_write(&draft, text.buf, text.len, &err);
	cr_assert_eq(draft_sync(&one, 1, &err), 1);
	memcpy(out_id, draft.id, SPOOL_ID_BYTES);
	snprintf(from, sizeof(from), "%ju", (uintmax_t)draft.inode);
	snprintf(to, sizeof(to), "%ju%s%s", (uintmax_t)draft.inode,
	    *why ? "." : "", why);
	cr_assert_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &err), 0);
	cr_assert_eq(renameat(spool_dir_fd(spool, AREA_ROUTER, 0), from,
	    spool_dir_fd(spool, area, priority), to), 0);
	str_release(&text);
}

static unsigned found;

static bool
count_one(void *context, const char *name)
{
	const char *base = strrchr(name, '/');

	found += (base == NULL ? name : base + 1)[0] != '.';
	return true;
}

static unsigned
files_in(enum spool_area area, unsigned priority)
{
	struct err err;

	found = 0;
	cr_assert_eq(spool_scan(spool, area, priority, count_one, NULL, &err),
	    0);
	return found;
}

/* Take every file of every area away. */
static bool
remove_one(void *context, const char *name)
{
	cr_assert_eq(unlinkat(*(int *)context, name, 0), 0);
	return true;
}

static void
lose(void)
{
	struct err err;

	for (int i = AREA_PUBLIC; i < AREA_COUNT; i++)
		for (unsigned k = 0; k < (i == AREA_ROUTER ?
		    SPOOL_PRIORITIES : 1); k++) {
			int fd = spool_dir_fd(spool, (enum spool_area)i, k);

			cr_assert_eq(spool_scan(spool, (enum spool_area)i, k,
			    remove_one, &fd, &err), 0);
		}
}

static void
file_put(int dir_fd, const char *name, const char *text)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* Each kind of place, and the way back to it. */
Test(backup, every_place)
{
	char id[SPOOL_ID_BYTES], copied[SPOOL_ID_BYTES];
	const char *file = beside("archive");

	submit(AREA_ROUTER, 0, "", id);
	submit(AREA_ROUTER, 3, "", id);
	submit(AREA_DEFERRED, 0, "table-x", id);
	submit(AREA_FREEZER, 0, "policy-3", id);
	submit(AREA_POSTMAN, 0, "incomplete", id);
	submit(AREA_TRASH, 0, "freezer-policy", id);
	submit(AREA_QUEUE, 0, "", copied);
	file_put(spool_dir_fd(spool, AREA_ROUTER, 0), "byhand",
	    "to <a@b.c>\nenv-end\n\nby a person\n");
	expect(WORDS("backup", file), EX_OK, "8 messages (router 3, queue 1, "
	    "deferred 1, freezer 1, postman 1, trash 1)");
	lose();
	expect(WORDS("restore", "--yes", file), EX_OK, "8 messages restored");
	cr_expect_eq(files_in(AREA_ROUTER, 0), 3, "one without its control "
	    "file is routed again");
	cr_expect_eq(files_in(AREA_ROUTER, 3), 1);
	cr_expect_eq(files_in(AREA_DEFERRED, 0), 1);
	cr_expect_eq(files_in(AREA_FREEZER, 0), 1);
	cr_expect_eq(files_in(AREA_POSTMAN, 0), 1);
	cr_expect_eq(files_in(AREA_TRASH, 0), 1);
	expect(WORDS("fsck"), EX_OK, "every file fits its state");
	expect(WORDS("restore", "--yes", file), EX_OK,
	    "0 messages to restore, 8 are there already");
	expect(WORDS("restore", "--list", file, id), EX_OK, "is there");
}

/* A copy and its message have one id and are two. */
Test(backup, copies_are_not_their_message)
{
	char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES];
	const char *file = beside("archive");
	struct claim claim;
	struct err err;

	submit(AREA_ROUTER, 0, "", id);
	snprintf(name, sizeof(name), "%ju", (uintmax_t)spool_id_inode(
	    slice_of(id)));
	cr_assert_eq(spool_claim(spool, 0, name, &claim, &err), 1);
	cr_assert_eq(spool_copy_aside(spool, &claim, "badheader",
	    "a colon is missing", NULL, &err), 0);
	cr_assert_eq(spool_unclaim(spool, &claim, &err), 0);
	expect(WORDS("backup", file), EX_OK, "2 messages");
	lose();
	expect(WORDS("restore", "--yes", file), EX_OK, "2 messages restored");
	cr_expect_eq(files_in(AREA_ROUTER, 0), 1);
	cr_expect_eq(files_in(AREA_POSTMAN, 0), 1);
	expect(WORDS("restore", "--yes", file), EX_OK, "2 are there already");
}

Test(backup, chosen_by_id_and_time)
{
	char one[SPOOL_ID_BYTES], two[SPOOL_ID_BYTES];
	const char *file = beside("archive");

	submit(AREA_ROUTER, 0, "", one);
	submit(AREA_ROUTER, 0, "", two);
	expect(WORDS("backup", file), EX_OK, "2 messages");
	lose();
	expect(WORDS("restore", "--dry-run", "--since", "tomorrow", file),
	    EX_USAGE, "--since");
	expect(WORDS("restore", "--dry-run", "--since", "2037-12-31", file),
	    EX_OK, "0 messages to restore, 2 left");
	expect(WORDS("restore", "--yes", file, one), EX_OK,
	    "1 message restored, 1 left");
	expect(WORDS("restore", "--yes", "--since", "1h", file), EX_OK,
	    "1 message restored, 1 is there already");
	expect(WORDS("restore", file, "no id"), EX_USAGE, "no id of a");
}

/* Bytes that are changed, and an end that is missing. */
Test(backup, a_damaged_archive_is_refused)
{
	const char *file = beside("archive"), *cut = beside("cut");
	char id[SPOOL_ID_BYTES];
	struct stat st;
	int fd;

	for (int i = 0; i < 3; i++)
		submit(AREA_ROUTER, 0, "", id);
	expect(WORDS("backup", file), EX_OK, "3 messages");
	lose();
	expect(WORDS("backup", cut), EX_OK, "0 messages (none)");
	cr_assert_eq(stat(cut, &st), 0);
	cr_assert_eq(truncate(cut, st.st_size - 1500), 0);
	expect(WORDS("restore", "--yes", cut), EX_DATAERR, "--partial");
	fd = open(file, O_RDWR);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(pwrite(fd, "!", 1, st.st_size - 4 * 512 + 3), 1);
	expect(WORDS("restore", "--yes", file), EX_DATAERR, "archive: it");
	expect(WORDS("restore", "--yes", "--partial", file), EX_OK,
	    "3 messages restored");
	cr_assert_eq(ftruncate(fd, 1000), 0);
	expect(WORDS("restore", "--yes", file), EX_DATAERR, "it ends in the "
	    "middle of");
	cr_assert_eq(ftruncate(fd, 0), 0);
	expect(WORDS("restore", "--yes", file), EX_DATAERR, "no archive that");
	close(fd);
	expect(WORDS("restore", "--yes", in.conf), EX_DATAERR,
	    "no archive that");
	expect(WORDS("restore", "--yes", "/nonexistent"), EX_NOINPUT,
	    "cannot open");
}

/* What no backup of ours says is passed over. */
Test(backup, hostile_members)
{
	static const char *const names[] = {
		"spool/freezer/../../x.y", "spool/router/../x", "spool/x/y",
		"spool/freezer/01jd3x8k2mc4n7./etc/passwd",
		"spool/router/01jd3x8k2mc4n7.why",
		"spool/freezer/01jd3x8k2mc4n7",
		"spool/router.0/01jd3x8k2mc4n7",
		"spool/router.99/01jd3x8k2mc4n7",
		"spool/transport/01jd3x8k2mc4n7", "../etc/passwd",
		"/etc/passwd",
		"spool/router/-zzzzzzzz-1", "spool/", "spool"
	};
	const char *file = beside("archive");
	struct backup_index index;
	struct archive archive;
	struct err err;
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);

	archive_open(&archive, fd);
	archive_add_text(&archive, BACKUP_FIRST, SLICE("{\"v\":1}\n"), 0600,
	    0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		archive_add_text(&archive, names[i], SLICE("x"), 0600, 0);
	archive_add_text(&archive, "spool/freezer/01jd3x8k2mc4n8.UP/../x",
	    SLICE("x"), 0600, 0);
	archive_add_text(&archive, "spool/freezer/01jd3x8k2mc4n9.Up",
	    SLICE("x"), 0600, 0);
	archive_add_text(&archive, "config/../../tmp/x", SLICE("x"), 0600, 0);
	cr_assert_eq(archive_end(&archive), 0);
	archive_release(&archive);
	cr_assert_eq(backup_index_read(fd, &index, &err), 0, "%s", err.text);
	cr_expect_not(index.is_whole);
	cr_expect_eq(index.strangers, sizeof(names) / sizeof(names[0]) + 1);
	backup_index_release(&index);
	close(fd);
	expect(WORDS("restore", "--yes", "--partial", file), EX_IOERR,
	    "'Up' is no reason");
	cr_expect_eq(files_in(AREA_FREEZER, 0), 0);
	cr_expect_eq(files_in(AREA_ROUTER, 0), 0);
	cr_assert_eq(mkdir(beside("to"), 0700), 0);
	expect(WORDS("restore", "--partial", "--config", beside("to"), file),
	    EX_CANTCREAT, "cannot write");
}

/* Later members say more: a control file after its message. */
Test(backup, the_last_word_counts)
{
	struct backup_index index;
	struct archive archive;
	struct err err;
	int fd = open(beside("archive"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	archive_open(&archive, fd);
	archive_add_text(&archive, BACKUP_FIRST, SLICE("{\"v\":1}\n"), 0600,
	    0);
	archive_add_text(&archive, "spool/router/01jd3x8k2mc4n7", SLICE("a"),
	    0600, 0);
	archive_add_text(&archive, "spool/transport/01jd3x8k2mc4n7",
	    SLICE("k1"), 0600, 0);
	archive_add_text(&archive, "spool/queue/01jd3x8k2mc4n8", SLICE("b"),
	    0600, 0);
	archive_add_text(&archive, "spool/transport/01jd3x8k2mc4n8",
	    SLICE("k"), 0600, 0);
	archive_add_text(&archive, "spool/deferred/01jd3x8k2mc4n8.table-x",
	    SLICE("bb"), 0600, 0);
	cr_assert_eq(archive_end(&archive), 0);
	archive_release(&archive);
	cr_assert_eq(backup_index_read(fd, &index, &err), 0, "%s", err.text);
	cr_assert_eq(index.count, 2);
	cr_expect_eq(index.items[0].area, AREA_QUEUE);
	cr_expect_eq(index.items[0].control_bytes, 2);
	cr_expect_eq(index.items[1].area, AREA_DEFERRED);
	cr_expect_eq(index.items[1].body_bytes, 2);
	cr_expect_eq(index.items[1].control_bytes, 0);
	cr_expect_str_eq(index.items[1].why, "table-x");
	backup_index_release(&index);
	close(fd);
}

enum { MOVERS = 100, MOVE_EVERY_MS = 50 };

/* Each in turn to the other directory, and over again: a hundred times as
 * often as mail that cannot be routed goes to and fro. */
static void
move_for_ever(char ids[MOVERS][SPOOL_ID_BYTES])
{
	int router = spool_dir_fd(spool, AREA_ROUTER, 0);
	int deferred = spool_dir_fd(spool, AREA_DEFERRED, 0);

	for (bool is_out = true;; is_out = !is_out)
		for (int i = 0; i < MOVERS; i++) {
			uintmax_t inode = spool_id_inode(slice_of(ids[i]));
			char a[32], b[32];

			snprintf(a, sizeof(a), "%ju", inode);
			snprintf(b, sizeof(b), "%ju.moving", inode);
			if ((is_out ? renameat(router, a, deferred, b) :
			    renameat(deferred, b, router, a)) != 0)
				_exit(1);
			(void)poll(NULL, 0, MOVE_EVERY_MS);
		}
}

/* Messages that travel from router/ to deferred/ and back while the archive
 * is written: each is in it. */
Test(backup, mail_that_moves_is_in_it)
{
	static char ids[MOVERS][SPOOL_ID_BYTES];
	int status;
	pid_t mover;

	for (int i = 0; i < MOVERS; i++)
		submit(AREA_ROUTER, 0, "", ids[i]);
	mover = fork();
	cr_assert_geq(mover, 0);
	if (mover == 0) {
		(void)alarm(60);	/* it outlives no test */
		move_for_ever(ids);
	}
	expect(WORDS("backup", beside("archive")), EX_OK, "100 messages");
	cr_assert_eq(kill(mover, SIGKILL), 0);
	cr_assert_eq(waitpid(mover, &status, 0), mover);
	cr_expect(WIFSIGNALED(status), "the mover ended by itself");
}
