/* test_sync.c - what waits for a disk holds no loop up
 *
 * A pipe that nobody has written to yet stands for the disk: a task's work
 * reads from it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/sync.h"

enum { TASKS = 64, WAIT_MS = 30000 };

struct thing {
	struct sync_task task;
	struct syncer	*syncer;
	struct thing	*then;		/* added by done */
	int		 read_fd, go_fd;	/* -1: does not wait */
	bool		 was_worked;
	unsigned	 ended_as;	/* from 1 */
};

static struct loop *loop;
static struct syncer *syncer;
static struct thing things[TASKS];
static unsigned ended;

static void
thing_work(void *context)
{
	struct thing *thing = context;
	char byte;

	if (thing->read_fd >= 0 && read(thing->read_fd, &byte, 1) != 1)
		return;
	thing->was_worked = true;
}

static void
thing_done(void *context)
{
	struct thing *thing = context;

	cr_expect(thing->was_worked);
	thing->ended_as = ++ended;
	if (thing->then != NULL)
		syncer_add(thing->syncer, &thing->then->task);
}

static void
setup(void)
{
	loop = loop_new();
	syncer = syncer_new(loop);
	for (int i = 0; i < TASKS; i++)
		things[i] = (struct thing){ .task = { thing_work, thing_done,
		    &things[i], NULL }, .syncer = syncer, .read_fd = -1,
		    .go_fd = -1 };
}

static void
teardown(void)
{
	syncer_free(&syncer);
	cr_expect_null(syncer);
	loop_free(&loop);
}

/* Its work waits until it is let go. */
static void
thing_hold(struct thing *thing)
{
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	thing->read_fd = fds[0];
	thing->go_fd = fds[1];
}

static void
thing_let_go(struct thing *thing)
{
	cr_assert_eq(write(thing->go_fd, "x", 1), 1);
}

static void
turn_until(const struct thing *thing)
{
	int64_t until_ms = clock_steady_ms() + WAIT_MS;

	while (thing->ended_as == 0 && clock_steady_ms() < until_ms)
		loop_turn(loop, 1000);
	cr_assert_neq(thing->ended_as, 0, "%td", thing - things);
}

static unsigned
thread_count(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned count = 0;

	if (dir == NULL)
		return 0;
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2;	/* "." and ".." */
}

TestSuite(sync, .init = setup, .fini = teardown, .timeout = 120);

Test(sync, a_task_that_waits_holds_up_neither_the_loop_nor_others)
{
	thing_hold(&things[0]);
	syncer_add(syncer, &things[0].task);
	for (int i = 1; i < TASKS; i++)
		syncer_add(syncer, &things[i].task);
	cr_expect_eq(syncer_count(syncer), TASKS);
	for (int i = 1; i < TASKS; i++)
		turn_until(&things[i]);
	cr_expect_eq(things[0].ended_as, 0);
	cr_expect_eq(syncer_count(syncer), 1);
	thing_let_go(&things[0]);
	turn_until(&things[0]);
	cr_expect_eq(things[0].ended_as, TASKS);
	cr_expect_eq(syncer_count(syncer), 0);
}

Test(sync, done_is_called_by_the_loop_alone)
{
	syncer_add(syncer, &things[0].task);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(things[0].ended_as, 0);
	turn_until(&things[0]);
}

Test(sync, what_done_adds_comes_after)
{
	for (int i = 0; i + 1 < TASKS; i++)
		things[i].then = &things[i + 1];
	thing_hold(&things[0]);
	syncer_add(syncer, &things[0].task);
	cr_expect_not(things[1].was_worked);
	thing_let_go(&things[0]);
	turn_until(&things[TASKS - 1]);
	for (int i = 0; i < TASKS; i++)
		cr_expect_eq(things[i].ended_as, (unsigned)i + 1);
}

Test(sync, as_many_as_there_are_threads_run_side_by_side)
{
	for (int i = 0; i < SYNCER_THREADS; i++) {
		thing_hold(&things[i]);
		syncer_add(syncer, &things[i].task);
	}
	/* the last one ends while all others wait */
	for (int i = SYNCER_THREADS; i-- > 0;) {
		thing_let_go(&things[i]);
		turn_until(&things[i]);
	}
}

Test(sync, threads_are_few_and_made_when_they_are_wanted)
{
	unsigned before = thread_count();

	if (before == 0)
		cr_skip_test("no /proc");
	for (int i = 0; i < 50; i++) {
		things[0].ended_as = 0;
		syncer_add(syncer, &things[0].task);
		turn_until(&things[0]);
		cr_assert_leq(thread_count(), before + SYNCER_THREADS);
	}
	for (int i = 0; i < TASKS; i++)
		thing_hold(&things[i]);
	for (int i = 0; i < TASKS; i++)
		syncer_add(syncer, &things[i].task);
	cr_expect_eq(thread_count(), before + SYNCER_THREADS);
	for (int i = 0; i < TASKS; i++)
		thing_let_go(&things[i]);
	syncer_settle(syncer);
	cr_expect_eq(ended, TASKS + 50);
}

Test(sync, settle_waits_for_what_done_adds)
{
	things[0].then = &things[1];
	things[1].then = &things[2];
	syncer_add(syncer, &things[0].task);
	syncer_settle(syncer);
	cr_expect_eq(things[2].ended_as, 3);
	cr_expect_eq(syncer_count(syncer), 0);
	loop_turn(loop, 0);	/* the wake that is left calls nobody */
	cr_expect_eq(ended, 3);
}

/* A limit of processes that is reached: the work is done all the same. */
Test(sync, without_a_thread_the_loop_does_it)
{
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (child == 0) {
		struct rlimit none = { 0, 0 };

		if (setrlimit(RLIMIT_NPROC, &none) != 0 ||
		    (geteuid() == 0 && setuid(65534) != 0))
			_exit(2);
		syncer_add(syncer, &things[0].task);
		_exit(things[0].was_worked && things[0].ended_as == 0 &&
		    syncer_count(syncer) == 1 ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d",
	    status);
}

static void
thing_done_slowly(void *context)
{
	thing_done(context);
	(void)usleep(200);
}

/* What has ended is told in pieces, in the order of its end, and a wait for
 * all of it is not cut. */
Test(sync, more_ends_than_a_turn_has_time_for)
{
	unsigned before;

	loop_limit_turns(loop, 100);
	for (int i = 0; i < TASKS; i++) {
		things[i].task.done = thing_done_slowly;
		syncer_add(syncer, &things[i].task);
	}
	while (ended < TASKS / 2) {
		before = ended;
		loop_turn(loop, WAIT_MS);
		cr_assert_leq(ended, before + 1);
	}
	cr_expect_eq(syncer_count(syncer), TASKS - ended);
	syncer_settle(syncer);
	cr_expect_eq(ended, TASKS);
}
