/* test_group.c - a barrier that takes long holds up nobody and lets nothing
 * pass
 *
 * fsync is ours: that of queue/ waits until it is let go, or fails.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/scheduler/yard.h"

static struct yard yard;
static ino_t queue_inode;		/* 0: every fsync is as usual */
static atomic_bool is_held, must_fail;
static atomic_uint begun;

int
fsync(int fd)
{
	struct stat st;

	if (queue_inode != 0 && fstat(fd, &st) == 0 &&
	    st.st_ino == queue_inode) {
		atomic_fetch_add(&begun, 1);
		while (atomic_load(&is_held))
			usleep(1000);
		if (atomic_exchange(&must_fail, false)) {
			errno = EIO;
			return -1;
		}
	}
	return (int)syscall(SYS_fsync, fd);
}

static void
open_all(void)
{
	char path[128];
	struct stat st;

	yard_open(&yard, "group 50ms\nschedule local/* { parallel 2; "
	    "agents 2; overfeed 50 }");
	snprintf(path, sizeof(path), "%s/spool/queue", yard.dir);
	cr_assert_eq(stat(path, &st), 0, "%s", path);
	queue_inode = st.st_ino;
}

static bool
has_begun(struct yard *y, void *arg)
{
	return atomic_load(&begun) >= *(unsigned *)arg;
}

static bool
bodies_are_gone(struct yard *y, void *arg)
{
	return yard_count(y, "queue") == 0;
}

TestSuite(group, .timeout = 900);

Test(group, others_are_delivered_while_a_barrier_waits)
{
	unsigned one = 1, two = 2, all = 201;

	open_all();
	atomic_store(&is_held, true);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, has_begun, &one));
	cr_expect_eq(yard_count(&yard, "queue"), 0, "bodies go first");
	for (unsigned i = 1; i < all; i++)
		yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, yard_has_delivered, &all));
	cr_assert(yard_until(&yard, bodies_are_gone, NULL));
	cr_expect_eq(atomic_load(&begun), 1, "one barrier at a time");
	cr_expect_eq(yard_count(&yard, "transport"), all, "row F1");
	atomic_store(&is_held, false);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect(has_begun(&yard, &two), "a barrier of their own");
	yard_close(&yard);
}

Test(group, after_a_failed_barrier_the_next_scheduler_ends_it)
{
	unsigned one = 1;
	ino_t inode;

	open_all();
	atomic_store(&must_fail, true);
	inode = yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, has_begun, &one));
	yard_stop(&yard);
	cr_expect(yard_has(&yard, "transport", inode, ""), "row F1");
	cr_expect_eq(yard_count(&yard, "queue"), 0);
	yard_start(&yard);
	yard_clock(&yard, 61);
	yard_turns(&yard, 5);
	yard_clock(&yard, 61);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 1);
	yard_close(&yard);
}

/* The end of the process waits for the barrier and what comes after it. */
Test(group, a_stop_leaves_nothing_half_done)
{
	unsigned all = 200;

	open_all();
	for (unsigned i = 0; i < all; i++)
		yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, yard_has_delivered, &all));
	yard_turns(&yard, 5);
	yard_stop(&yard);
	cr_expect_eq(yard_count(&yard, "queue"), yard_count(&yard,
	    "transport"));
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, all);
	yard_close(&yard);
}
