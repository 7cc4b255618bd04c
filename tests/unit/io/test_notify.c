/* test_notify.c - a file that is renamed into a directory is heard of
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/notify.h"
#include "io/notify_scan.h"

enum { PATIENCE_MS = 20000 };

struct heard {
	unsigned	calls, rescans;
	unsigned	dir;
	char		name[64];
};

static void
hear(void *context, unsigned dir, const char *name)
{
	struct heard *heard = context;

	heard->dir = dir;
	if (name == NULL)
		heard->rescans++;
	else
		snprintf(heard->name, sizeof(heard->name), "%s", name);
	heard->calls++;
}

static int
make_dir(char path[32])
{
	int fd;

	snprintf(path, 32, "/tmp/zm-notify.XXXXXX");
	cr_assert(mkdtemp(path) != NULL);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	cr_assert(fd >= 0);
	return fd;
}

static void
make_file(int dir_fd, const char *name)
{
	close(openat(dir_fd, name, O_WRONLY | O_CREAT, 0600));
}

static void
wait_call(struct loop *loop, struct heard *heard)
{
	int64_t until = clock_steady_ms() + PATIENCE_MS;

	memset(heard, 0, sizeof(*heard));
	while (heard->calls == 0) {
		cr_assert(clock_steady_ms() < until, "nothing was heard");
		loop_turn(loop, 20);
	}
}

Test(notify, renames_and_writes_are_told_apart)
{
	char a[32], b[32];
	int a_fd = make_dir(a), b_fd = make_dir(b);
	struct loop *loop = loop_new();
	struct heard heard = { 0 };
	struct notify *notify = notify_new(loop, hear, &heard);
	struct err err;

	cr_assert_eq(notify_add_fd(notify, a_fd, 7, NOTIFY_MOVED, &err), 0);
	cr_assert_eq(notify_add_path(notify, b, 8, NOTIFY_WRITTEN, &err), 0);
	make_file(a_fd, "quiet");
	cr_assert_eq(renameat(a_fd, "quiet", a_fd, "moved"), 0);
	wait_call(loop, &heard);
	cr_expect_eq(heard.dir, 7);
	if (heard.rescans == 0)
		cr_expect_str_eq(heard.name, "moved");
	make_file(b_fd, "written");
	wait_call(loop, &heard);
	cr_expect_eq(heard.dir, 8);
	if (heard.rescans == 0)
		cr_expect_str_eq(heard.name, "written");
	cr_expect_eq(notify_add_path(notify, "/nonexistent", 9, NOTIFY_MOVED,
	    &err), -1);
	notify_free(&notify);
	loop_free(&loop);
	unlinkat(a_fd, "moved", 0);
	unlinkat(b_fd, "written", 0);
	rmdir(a);
	rmdir(b);
}

/* Not before its time, which does not come here. */
Test(notify, what_comes_soon_after_a_name_waits)
{
	char path[32];
	int fd = make_dir(path);
	struct loop *loop = loop_new();
	struct heard heard = { 0 };
	struct notify *notify = notify_new(loop, hear, &heard);
	struct err err;

	cr_assert_eq(notify_add_fd(notify, fd, 7, NOTIFY_MOVED, &err), 0);
	notify_gather(notify, 3600 * 1000);
	make_file(fd, "a");
	cr_assert_eq(renameat(fd, "a", fd, "b"), 0);
	wait_call(loop, &heard);
	cr_assert_eq(renameat(fd, "b", fd, "c"), 0);
	loop_turn(loop, 50);
	if (heard.rescans == 0)
		cr_expect_eq(heard.calls, 1);
	notify_free(&notify);
	loop_free(&loop);
	unlinkat(fd, "c", 0);
	rmdir(path);
}

Test(notify, what_was_gathered_is_told)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	char path[32];
	int fd = make_dir(path);
	struct loop *loop = loop_new();
	struct heard heard = { 0 };
	struct notify *notify = notify_new(loop, hear, &heard);
	struct err err;

	cr_assert_eq(notify_add_fd(notify, fd, 7, NOTIFY_MOVED, &err), 0);
	notify_gather(notify, 1);
	make_file(fd, names[0]);
	for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
		cr_assert_eq(renameat(fd, names[i - 1], fd, names[i]), 0);
		wait_call(loop, &heard);
		if (heard.rescans == 0)
			cr_expect_str_eq(heard.name, names[i]);
	}
	notify_free(&notify);
	loop_free(&loop);
	unlinkat(fd, "e", 0);
	rmdir(path);
}

Test(notify, without_inotify_a_change_is_seen_in_the_directory)
{
	char path[32];
	int fd = make_dir(path);
	struct loop *loop = loop_new();
	struct heard heard = { 0 };
	struct notify_scan *scan = notify_scan_new(loop, hear, &heard);
	struct err err;

	cr_assert_eq(notify_scan_add(scan, fd, true, 3, NOTIFY_MOVED, &err),
	    0);
	make_file(fd, "x");
	wait_call(loop, &heard);
	cr_expect_eq(heard.dir, 3);
	cr_expect_eq(heard.rescans, heard.calls);
	unlinkat(fd, "x", 0);
	notify_scan_free(&scan);
	loop_free(&loop);
	rmdir(path);
}
