/* test_progress.c - how far each process is: what is written, what is read
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/progress.h"

static char dir[] = "/tmp/zmprogressXXXXXX";
static char path[64];

static void
setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/progress-router", dir);
	err_program("router");
}

static void
teardown(void)
{
	(void)unlink(path);
	(void)rmdir(dir);
}

TestSuite(progress, .init = setup, .fini = teardown);

static int64_t
now_us(void)
{
	return clock_real_us();
}

Test(progress, a_turn_is_seen_and_grows_old)
{
	struct progress all[PROGRESS_SLOTS], one;
	struct err err;

	cr_expect_eq(progress_nap_ms(), -1);
	progress_turn(now_us());		/* nobody looks: nothing */
	cr_expect_eq(progress_read(dir, "router", all), 0);
	cr_assert_eq(progress_open(dir, "router", &err), 0, "%s", err.text);
	cr_expect_eq(progress_nap_ms(), PROGRESS_NAP_MS);
	cr_assert_eq(progress_read(dir, "router", all), 1);
	cr_expect_eq(all[0].pid, getpid());
	cr_expect_str_eq(all[0].name, "router");
	cr_expect_eq(all[0].work_ms, -1);
	cr_expect_not(progress_stands(dir, "router", &one));
	progress_turn(now_us() - 9000000);
	cr_assert(progress_find(dir, "router", getpid(), &one));
	cr_expect_geq(one.turn_ms, 9000);
	cr_expect(progress_stands(dir, "router", &one));
	cr_expect(progress_watch(dir, "router", getpid(), &one));
	cr_expect_not(progress_find(dir, "router", getpid() + 1, &one));
	cr_expect_eq(one.longest_us, 0);
	progress_turn_took(2500);
	progress_turn_took(1000);
	cr_assert(progress_find(dir, "router", getpid(), &one));
	cr_expect_eq(one.longest_us, 2500);
	cr_expect_not(progress_stands(dir, "scheduler", &one));
}

Test(progress, work_that_waits_has_an_age_until_some_is_done)
{
	struct progress one;
	struct err err;

	cr_assert_eq(progress_open(dir, "router", &err), 0, "%s", err.text);
	progress_work(PROGRESS_INTAKE, true, 0);
	cr_assert(progress_find(dir, "router", getpid(), &one));
	cr_expect_geq(one.work_ms, 0);
	usleep(30000);
	progress_work(PROGRESS_INTAKE, true, 0);
	cr_assert(progress_find(dir, "router", getpid(), &one));
	cr_expect_geq(one.work_ms, 20);
	progress_work(PROGRESS_INTAKE, true, 1);
	progress_work(PROGRESS_INTAKE, false, 1);
	cr_assert(progress_find(dir, "router", getpid(), &one));
	cr_expect_eq(one.work_ms, -1);
}

/* What is done of one kind says nothing of another. */
Test(progress, the_oldest_kind_of_work_counts)
{
	struct progress one;
	struct err err;

	cr_assert_eq(progress_open(dir, "router", &err), 0, "%s", err.text);
	progress_work(PROGRESS_FEED, true, 7);
	usleep(30000);
	progress_work(PROGRESS_INTAKE, true, 1);
	progress_work(PROGRESS_INTAKE, false, 2);
	cr_assert(progress_find(dir, "router", getpid(), &one));
	cr_expect_geq(one.work_ms, 20);
	progress_work(PROGRESS_FEED, true, 8);
	progress_work(PROGRESS_STORE, true, 0);
	progress_work(PROGRESS_FEED, false, 8);
	cr_assert(progress_find(dir, "router", getpid(), &one));
	cr_expect_geq(one.work_ms, 0);
	progress_work(PROGRESS_STORE, false, 0);
	cr_assert(progress_find(dir, "router", getpid(), &one));
	cr_expect_eq(one.work_ms, -1);
}

/* A child has a slot of its own as soon as it has a loop; it is gone with
 * the child, in good order or not. */
Test(progress, a_child_writes_beside_its_parent)
{
	struct progress all[PROGRESS_SLOTS];
	int ready[2], status;
	struct err err;
	pid_t pid;
	char byte;

	cr_assert_eq(progress_open(dir, "router", &err), 0, "%s", err.text);
	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		progress_turn(1);	/* not the parent's */
		err_program("router-worker");
		progress_join();
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	cr_assert_eq(progress_read(dir, "router", all), 2);
	cr_expect_eq(all[0].pid, getpid());
	cr_expect_lt(all[0].turn_ms, 60000);
	cr_expect_eq(all[1].pid, pid);
	cr_expect_str_eq(all[1].name, "router-worker");
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(progress_read(dir, "router", all), 1);
}

static void
put(const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

/* pid, turn, work, longest turn: and a name without an end */
static void
put_slot(const int64_t numbers[4])
{
	struct {
		int64_t	numbers[4];
		char	name[32];
	} slot;

	memcpy(slot.numbers, numbers, sizeof(slot.numbers));
	memset(slot.name, '\033', sizeof(slot.name));
	put(&slot, sizeof(slot));
}

Test(progress, what_cannot_be_is_left_out)
{
	int64_t now_ms = now_us() / 1000;
	struct progress all[PROGRESS_SLOTS];
	char noise[PROGRESS_SLOTS * 64 + 7];

	put_slot((const int64_t[]){ getpid(), now_ms, 0, 0 });
	cr_assert_eq(progress_read(dir, "router", all), 1);
	cr_expect_str_eq(all[0].name, "???????????????????????????????");
	const int64_t rows[][4] = {
		{ 0, now_ms, 0, 0 }, { -1, now_ms, 0, 0 },
		{ INT64_MAX, now_ms, 0, 0 }, { getpid(), 0, 0, 0 },
		{ getpid(), INT64_MIN, 0, 0 }, { getpid(), INT64_MAX, 0, 0 },
		{ getpid(), now_ms + 90000, 0, 0 }, { getpid(), now_ms, -1, 0 },
		{ getpid(), now_ms, INT64_MIN, 0 },
		{ getpid(), now_ms, 0, -1 }, { getpid(), now_ms, 0, INT64_MAX },
		{ 0x7ffffff0, now_ms, 0, 0 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_slot(rows[i]);
		cr_expect_eq(progress_read(dir, "router", all), 0, "row %zu",
		    i);
	}
	put_slot((const int64_t[]){ getpid(), now_ms, INT64_MAX, 0 });
	cr_assert_eq(progress_read(dir, "router", all), 1);
	cr_expect_eq(all[0].work_ms, 0);
	put("", 0);
	cr_expect_eq(progress_read(dir, "router", all), 0);
	put_slot((const int64_t[]){ getpid(), now_ms, 0, 0 });
	cr_assert_eq(truncate(path, 30), 0);
	cr_expect_eq(progress_read(dir, "router", all), 0);
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (char)rand();
		put(noise, sizeof(noise));
		cr_expect_leq(progress_read(dir, "router", all),
		    PROGRESS_SLOTS);
	}
}

/* A link, a file of another size or that others write: made anew. */
Test(progress, a_file_that_is_not_ours_is_replaced)
{
	char other[80];
	struct stat st;
	struct err err;

	snprintf(other, sizeof(other), "%s/other", dir);
	close(open(other, O_WRONLY | O_CREAT, 0644));
	cr_assert_eq(symlink(other, path), 0);
	cr_expect_eq(progress_open(dir, "router", &err), 0, "%s", err.text);
	cr_assert_eq(lstat(path, &st), 0);
	cr_expect(S_ISREG(st.st_mode));
	cr_assert_eq(stat(other, &st), 0);
	cr_expect_eq(st.st_size, 0);
	cr_assert_eq(chmod(path, 0666), 0);
	cr_expect_eq(progress_open(dir, "router", &err), 0, "%s", err.text);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0644);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkfifo(path, 0644), 0);
	cr_expect_eq(progress_open(dir, "router", &err), 0, "%s", err.text);
	(void)unlink(other);
}
