/* test_spool_refused.c - the lock, races, and what a file system refuses
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/file.h>

#include "mail/recover/recover.h"
#include "spool_case.h"

/* A part a directory and a file, until they are too many. */
Test(spool, one_barrier_for_few_and_many)
{
	struct fixture f;
	struct spool_barrier barrier;
	int file;

	fixture_open(&f, 2);
	put_file(&f, "transport/x", "x", 1);
	file = open(at("%s/transport/x", f.dir), O_RDWR);
	for (unsigned count = 0; count <= 60; count += 4) {
		size_t parts = count > SPOOL_BARRIER_DIRS ? 1 : count;

		spool_barrier_init(&barrier);
		for (unsigned i = 0; i < 2 * count; i++)
			spool_barrier_add(f.spool, &barrier,
			    1 + i % count * 27);
		cr_expect_eq(spool_barrier_parts(&barrier), parts, "%u",
		    count);
		for (unsigned i = 0; i < 3; i++)
			spool_barrier_add_records(&barrier, file);
		parts += barrier.is_whole ? 0 : 3;
		cr_expect_eq(spool_barrier_parts(&barrier), parts, "%u",
		    count);
		for (size_t i = 0; i < parts; i++)
			cr_expect_eq(spool_barrier_part(f.spool, &barrier, i),
			    0, "%u %zu", count, i);
		spool_barrier_release(&barrier);
	}
	close(file);
	fixture_close(&f);
}

Test(spool, a_barrier_of_many_records_is_one_sync)
{
	struct fixture f;
	struct spool_barrier barrier;
	int file;

	fixture_open(&f, 0);
	put_file(&f, "transport/x", "x", 1);
	file = open(at("%s/transport/x", f.dir), O_RDWR);
	spool_barrier_init(&barrier);
	for (int i = 0; i <= SPOOL_BARRIER_RECORDS; i++)
		spool_barrier_add_records(&barrier, file);
	cr_expect_eq(spool_barrier_parts(&barrier), 1);
	cr_expect(barrier.is_whole);
	cr_expect_eq(spool_barrier_part(f.spool, &barrier, 0), 0);
	spool_barrier_release(&barrier);
	close(file);
	cr_expect_eq(open(at("%s/transport/x", f.dir), O_RDONLY), file,
	    "descriptors leak");
	fixture_close(&f);
}

Test(spool, a_barrier_says_which_error_it_met)
{
	struct fixture f;
	struct spool_barrier barrier;

	fixture_open(&f, 1);
	spool_barrier_init(&barrier);
	spool_barrier_add(f.spool, &barrier, 1);
	rmdir(at("%s/queue/%s", f.dir, barrier.dirs[0]));
	cr_expect_eq(spool_barrier_part(f.spool, &barrier, 0), ENOENT);
	fixture_close(&f);
}

Test(spool, missing_and_foreign_directories_are_named)
{
	struct fixture f;
	struct spool *other;
	struct err err;

	fixture_open(&f, 0);
	rmdir(at("%s/deferred", f.dir));
	cr_expect_eq(spool_open(f.dir, 0, 0, &other, &err), -1);
	cr_expect_not_null(strstr(err.text, "deferred"));
	cr_expect_null(other);
	cr_assert_eq(symlink("/tmp", at("%s/deferred", f.dir)), 0);
	cr_expect_eq(spool_open(f.dir, 0, 0, &other, &err), -1);
	unlink(at("%s/deferred", f.dir));
	cr_expect_eq(spool_open(f.dir, SPOOL_CREATE, 3, &other, &err), -1);
	cr_expect_eq(spool_open("/nonexistent/spool", 0, 0, &other, &err),
	    -1);
	fixture_close(&f);
}

Test(spool, one_of_a_newer_format_is_refused_and_says_what_to_run)
{
	static const struct { const char *text, *err; } rows[] = {
		{ "zmailer-spool 1 4.0.0\n", NULL },
		{ "zmailer-spool 1\nmore\n", NULL },
		{ "zmailer-spool 2 5.0.0\n", "has format 2, this program "
		    "reads format 1: run zmailer 5.0.0 again" },
		{ "zmailer-spool 4294967295\n", "run zmailer newer again" },
		{ "zmailer-spool 2 \033[2J\n", "run zmailer \\x1B[2J again" },
		{ "zmailer-spool 0\n", "does not say which format" },
		{ "zmailer-spool 1", "does not say which format" },
		{ "zmailer-spool -1\n", "does not say which format" },
		{ "spool 1\n", "does not say which format" },
		{ "", "does not say which format" }
	};
	struct fixture f;

	fixture_open(&f, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spool *other = NULL;
		struct err err = { "" };
		int got;

		put_file(&f, "format", rows[i].text, strlen(rows[i].text));
		got = spool_open(f.dir, SPOOL_CREATE, 0, &other, &err);
		cr_expect_eq(got, rows[i].err == NULL ? 0 : -1, "%s",
		    rows[i].text);
		cr_expect(rows[i].err == NULL || strstr(err.text,
		    rows[i].err) != NULL, "%s: %s", rows[i].text, err.text);
		spool_close(&other);
		cr_assert_eq(unlink(at("%s/format", f.dir)), 0);
	}
	cr_assert_eq(symlink("/etc/hostname", at("%s/format", f.dir)), 0);
	for (int i = 0; i < 2; i++) {
		struct spool *other = NULL;
		struct err err = { "" };

		cr_expect_eq(spool_open(f.dir, 0, 0, &other, &err), -1);
		cr_expect_not_null(strstr(err.text, "/format"), "%s",
		    err.text);
		spool_close(&other);
		if (i == 0) {
			cr_assert_eq(unlink(at("%s/format", f.dir)), 0);
			cr_assert_eq(mkfifo(at("%s/format", f.dir), 0600), 0);
		}
	}
	fixture_close(&f);
}

Test(spool, the_lock_names_its_holder)
{
	int ready[2], go[2];
	char text[256], byte;
	struct fixture f;
	pid_t child, holder = 0;

	fixture_open(&f, 0);
	cr_expect_eq(spool_lock_holder(f.dir, text, sizeof(text), &holder),
	    SPOOL_LOCK_FREE);
	cr_assert_eq(pipe(ready), 0);
	cr_assert_eq(pipe(go), 0);
	child = fork();
	if (child == 0) {
		struct err err;

		byte = spool_lock(f.dir, &err) == 0 ? 'y' : 'n';
		if (write(ready[1], &byte, 1) != 1 ||
		    read(go[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	cr_expect_eq(byte, 'y');
	cr_expect_eq(spool_lock_holder(f.dir, text, sizeof(text), &holder),
	    SPOOL_LOCK_HELD);
	cr_expect_eq(holder, child);
	cr_expect_not_null(strstr(text, " run since 20"), "%s", text);
	cr_expect_eq(spool_lock(f.dir, &f.err), -1);
	cr_expect_not_null(strstr(f.err.text, at("pid %d", (int)child)), "%s",
	    f.err.text);
	cr_assert_eq(write(go[1], "x", 1), 1);
	waitpid(child, NULL, 0);
	cr_expect_eq(spool_lock_holder(f.dir, text, sizeof(text), &holder),
	    SPOOL_LOCK_FREE);
	cr_expect_eq(spool_lock(f.dir, &f.err), 0, "%s", f.err.text);
	fixture_close(&f);
}

/* In a child: 'n' the room is another's, and its words have text. */
static void
expect_room(const struct fixture *f, enum spool_room room, char want,
    const char *text)
{
	int status = -1, fd = -1;
	pid_t child = fork();

	if (child == 0) {
		struct err err = { "" };
		char got = spool_lock_room(f->dir, room, &fd, &err) ==
		    SPOOL_LOCK_FREE ? 'y' : 'n';

		_exit(got == want && strstr(err.text, text) != NULL ? 0 : 1);
	}
	waitpid(child, &status, 0);
	cr_expect_eq(status, 0, "room %d: not %c, or no '%s'", (int)room,
	    want, text);
}

Test(spool, a_room_is_locked_whatever_becomes_of_its_file)
{
	struct fixture f;
	int fd = -1, other = -1;
	char path[600];

	fixture_open(&f, 0);
	cr_assert_eq(spool_lock_room(f.dir, SPOOL_ROOM_SCHEDULER, &fd, &f.err),
	    SPOOL_LOCK_FREE, "%s", f.err.text);
	cr_assert_geq(fd, 0);
	expect_room(&f, SPOOL_ROOM_SCHEDULER, 'n', at("kill %d",
	    (int)getpid()));
	expect_room(&f, SPOOL_ROOM_ROUTER, 'y', "");
	snprintf(path, sizeof(path), "%s/.lock-scheduler", f.dir);
	cr_assert_eq(unlink(path), 0);
	expect_room(&f, SPOOL_ROOM_SCHEDULER, 'n', at("pid %d",
	    (int)getpid()));
	/* what it says of somebody else is not believed */
	cr_assert_eq(symlink("/etc/passwd", path), 0);
	expect_room(&f, SPOOL_ROOM_SCHEDULER, 'n', at("pid %d",
	    (int)getpid()));
	cr_expect(spool_lock_is_room(f.dir, SPOOL_ROOM_SCHEDULER, fd));
	cr_expect_not(spool_lock_is_room(f.dir, SPOOL_ROOM_ROUTER, fd));
	cr_expect_not(spool_lock_is_room(f.dir, SPOOL_ROOM_SCHEDULER, -1));
	other = open(f.dir, O_RDONLY | O_DIRECTORY);
	cr_expect_not(spool_lock_is_room(f.dir, SPOOL_ROOM_SCHEDULER, other));
	close(other);
	/* who takes all of them takes none */
	cr_expect_eq(spool_lock(f.dir, &f.err), -1);
	expect_room(&f, SPOOL_ROOM_ROUTER, 'y', "");
	close(fd);
	cr_assert_eq(unlink(path), 0);
	cr_expect_eq(spool_lock(f.dir, &f.err), 0, "%s", f.err.text);
	expect_room(&f, SPOOL_ROOM_ROUTER, 'n', "zmailer stop");
	fixture_close(&f);
}

/* The spool is everybody's to open: who locks that holds nobody up. */
Test(spool, the_lock_is_not_where_everybody_can_take_it)
{
	struct fixture f;
	int fd;

	fixture_open(&f, 0);
	fd = open(f.dir, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	expect_room(&f, SPOOL_ROOM_INSTANCE, 'y', "");
	cr_expect_eq(spool_lock(f.dir, &f.err), 0, "%s", f.err.text);
	close(fd);
	fixture_close(&f);
}

/* As somebody who may not open the room: 'y' it is held, by that pid. */
static char
look_as_stranger(const char *dir, pid_t wanted)
{
	char text[256] = "";
	int status = -1;
	pid_t child = fork(), holder = 0;

	if (child == 0) {
		bool is_stranger = geteuid() != 0 || setuid(65534) == 0;
		enum spool_lock_state state = spool_lock_holder(dir, text,
		    sizeof(text), &holder);

		if (!is_stranger || access(at("%s/queue", dir), R_OK) == 0 ||
		    state == SPOOL_LOCK_TROUBLE)
			_exit('t');
		_exit(state == SPOOL_LOCK_FREE ? 'n' :
		    holder == wanted ? 'y' : 'p');
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? (char)WEXITSTATUS(status) : '?';
}

Test(spool, who_may_not_open_the_room_is_told_of_its_holder)
{
	struct fixture f;
	char got;
	int fd;

	fixture_open(&f, 0);
	cr_assert_eq(chmod(f.dir, 0755), 0);
	if (access("/proc/locks", R_OK) != 0)
		cr_skip("this system does not say who holds locks");
	cr_assert_eq(spool_lock_room(f.dir, SPOOL_ROOM_INSTANCE, &fd, &f.err),
	    SPOOL_LOCK_FREE, "%s", f.err.text);
	cr_assert_eq(chmod(at("%s/queue", f.dir), 0), 0);
	got = look_as_stranger(f.dir, getpid());
	cr_expect_eq(got, 'y', "held: %c", got);
	close(fd);
	got = look_as_stranger(f.dir, 0);
	cr_expect_eq(got, 'n', "free: %c", got);
	cr_assert_eq(chmod(at("%s/queue", f.dir), 0700), 0);
	fixture_close(&f);
}

/* ---- what a file system can refuse --------------------------------------- */

static void
go_through(struct fixture *f)
{
	char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES];
	ino_t inode = submit(f, id, "hello");
	struct claim held = claim(f, inode);

	route(f, &held, id);
	spool_hashed_name(f->spool, inode, name);
	cr_expect_eq(file_inode(f, at("queue/%s", name)), inode);
	finish(f, inode);
	cr_expect_eq(count_files(f, "."), 0);
}

Test(spool, does_without_renameat2)
{
	struct fixture f;
	struct claim held;
	char id[SPOOL_ID_BYTES];
	ino_t inode;

	fixture_open(&f, 1);
	faults = (struct faults){ .rename_errno = ENOSYS, .rename_from = 1,
	    .rename_to = 1 };
	go_through(&f);
	cr_expect_eq(faults.renames, 1, "it is asked once");
	/* still nothing is replaced */
	inode = submit(&f, id, "x");
	put_file(&f, at("router/%ju-%d", (uintmax_t)inode, (int)getpid()),
	    "other", 5);
	cr_expect_eq(spool_claim(f.spool, 0, at("%ju", (uintmax_t)inode),
	    &held, &f.err), -1);
	cr_expect_eq(file_inode(&f, at("router/%ju", (uintmax_t)inode)),
	    inode);
	cr_expect_eq(count_files(&f, "router"), 2);
	fixture_close(&f);
}

Test(spool, strict_syncs_directories_too)
{
	struct fixture f;

	fixture_open(&f, 2);
	spool_close(&f.spool);
	cr_assert_eq(spool_open(f.dir, SPOOL_STRICT, 2, &f.spool, &f.err), 0);
	go_through(&f);
	cr_expect_geq(faults.fsyncs, 7);
	fixture_close(&f);
}

Test(spool, one_fsync_a_message_until_it_is_routed_and_one_a_group)
{
	struct fixture f;

	fixture_open(&f, 0);
	go_through(&f);
	cr_expect_eq(faults.fsyncs, 2);
	fixture_close(&f);
}

Test(spool, a_failed_fsync_is_never_tried_again)
{
	struct draft draft, *one = &draft;
	struct fixture f;

	fixture_open(&f, 0);
	cr_assert_eq(draft_open(f.spool, NULL, &draft, &f.err), 0);
	draft_write(&draft, "x\n", 2, &f.err);
	faults.fsync_errno = EIO;
	cr_expect_eq(draft_sync(&one, 1, &f.err), 0);
	cr_expect(draft.is_bad);
	faults.fsync_errno = 0;		/* the disk is well again */
	cr_expect_eq(draft_sync(&one, 1, &f.err), 0);
	cr_expect_eq(faults.fsyncs, 1);
	cr_expect_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &f.err), -1);
	draft_abort(&draft);
	cr_expect_eq(count_files(&f, "."), 0);
	fixture_close(&f);
}

/* Every rename of a message's way refused in turn: the message is somewhere,
 * whole, and goes through when the disk lets it. */
Test(spool, no_refused_rename_loses_a_message)
{
	static const int errors[] = { ENOSPC, EIO, EDQUOT };

	for (size_t i = 0; i < 3; i++)
		for (unsigned n = 1; n <= 4; n++)
			for (unsigned more = 0; more < 3; more++) {
				struct draft draft, *one = &draft;
				struct str text = STR_INIT, plan = STR_INIT;
				struct claim held = { .fd = -1 };
				struct recovery r;
				struct fixture f;

				fixture_open(&f, 0);
				cr_assert_eq(draft_open(f.spool, NULL, &draft,
				    &f.err), 0);
				str_addf(&text, "id %s\nto <b@c.d>\nenv-end\n"
				    "\nx\n", draft.id);
				draft_write(&draft, text.buf, text.len,
				    &f.err);
				cr_assert_eq(draft_sync(&one, 1, &f.err), 1);
				control_bytes(&plan, draft.id, draft.inode);
				faults = (struct faults){
					.rename_errno = errors[i],
					.rename_from = n,
					.rename_to = n + more
				};
				if (draft_publish(&draft, AREA_ROUTER, 0, NULL,
				    &f.err) == 0 && spool_claim(f.spool, 0,
				    at("%ju", (uintmax_t)draft.inode), &held,
				    &f.err) == 1 && spool_route(f.spool,
				    &held, str_slice(&plan), &f.err) != 0 &&
				    held.fd >= 0)
					spool_unclaim(f.spool, &held, &f.err);
				faults.rename_errno = 0;
				str_release(&draft.pending);
				cr_assert_eq(spool_recover(f.spool,
				    RECOVERY_START, NULL, NULL, &r, &f.err),
				    0);
				cr_expect_eq(r.troubles, 0);
				cr_expect_eq(file_inode(&f, at("queue/%ju",
				    (uintmax_t)draft.inode)) +
				    file_inode(&f, at("router/%ju",
				    (uintmax_t)draft.inode)), draft.inode,
				    "rename %u to %u", n, n + more);
				cr_expect_leq(count_files(&f, "."), 2);
				str_release(&text);
				str_release(&plan);
				fixture_close(&f);
			}
}

/* ---- a race for every message ------------------------------------------- */

enum { RACERS = 16, RACE_MESSAGES = 500 };

static bool
claim_one(void *context, const char *name)
{
	struct fixture *f = context;
	struct claim held;
	int fd;

	if (spool_claim(f->spool, 0, name, &held, &f->err) != 1)
		return true;
	/* exactly one process may make this file */
	fd = open(at("%s/trash/%ju", f->dir, (uintmax_t)held.inode), O_CREAT |
	    O_EXCL | O_WRONLY, 0600);
	if (fd < 0)
		_exit(2);
	close(fd);
	if (unlink(at("%s/router/%s", f->dir, held.name)) != 0)
		_exit(3);
	/* held until the end, so that no number comes again */
	return true;
}

Test(spool, each_message_is_claimed_once)
{
	struct fixture f;
	char id[SPOOL_ID_BYTES];
	struct rlimit files = { 2048, 2048 };
	int status;

	fixture_open(&f, 0);
	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < RACE_MESSAGES; i++) {
		ino_t inode = put_message(&f, "public/x", id, "x");

		move_file(&f, "public/x", at("router/%ju", (uintmax_t)inode));
	}
	for (int i = 0; i < RACERS; i++)
		if (fork() == 0) {
			spool_scan(f.spool, AREA_ROUTER, 0, claim_one, &f,
			    &f.err);
			_exit(0);
		}
	for (int i = 0; i < RACERS; i++) {
		cr_assert_gt(wait(&status), 0);
		cr_expect_eq(status, 0, "status %x", status);
	}
	cr_expect_eq(count_files(&f, "trash"), RACE_MESSAGES);
	cr_expect_eq(count_files(&f, "router"), 0);
	fixture_close(&f);
}
