/* test_queue.c - the queue as one interface: every primitive, and its errors
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mail/queue.h"
#include "tests/unit/mail/fixture.h"

static struct fixture f;

/* A routed message with one recipient. */
static ino_t
place(char path[SPOOL_NAME_BYTES])
{
	struct str control = STR_INIT;
	char id[SPOOL_ID_BYTES];
	ino_t inode = put_message(&f, "public/t", id, "body");

	spool_hashed_name(f.spool, inode, path);
	control_bytes(&control, id, inode);
	move_file(&f, "public/t", at("queue/%s", path));
	put_file(&f, at("transport/%s", path), control.buf, control.len);
	str_release(&control);
	return inode;
}

static struct envelope
envelope(void)
{
	static struct envelope_rcpt rcpt;
	struct envelope envelope = { .rcpts = &rcpt, .rcpt_count = 1 };
	struct slice rest;

	cr_assert_eq(path_parse(SLICE("b@far.test"), PATH_BARE_OK,
	    &rcpt.path, &rest, &f.err), 1);
	cr_assert_eq(path_parse(SLICE("a@src.test"), PATH_BARE_OK,
	    &envelope.from, &rest, &f.err), 1);
	return envelope;
}

Test(queue, enqueue_commit_and_abort)
{
	struct envelope e;
	struct draft draft;

	fixture_open(&f, 0);
	e = envelope();
	cr_assert_eq(queue_begin(f.spool, &e, &draft, &f.err), 0, "%s",
	    f.err.text);
	cr_expect(spool_id_is(slice_of(e.id)));
	cr_assert_eq(queue_write(&draft, SLICE("Subject: x\n\nbody\n"),
	    &f.err), 0);
	cr_assert_eq(queue_commit(&draft, &f.err), 0, "%s", f.err.text);
	cr_expect_eq(count_files(&f, "router"), 1);
	e = envelope();
	cr_assert_eq(queue_begin(f.spool, &e, &draft, &f.err), 0);
	queue_abort(&draft);
	cr_expect_eq(count_files(&f, "public"), 0);
	cr_expect_eq(count_files(&f, "router"), 1);
	fixture_close(&f);
}

Test(queue, a_commit_that_the_disk_refuses_can_be_tried_again)
{
	struct envelope e;
	struct draft draft;

	fixture_open(&f, 0);
	e = envelope();
	cr_assert_eq(queue_begin(f.spool, &e, &draft, &f.err), 0);
	faults.fsync_errno = ENOSPC;
	cr_expect_eq(queue_commit(&draft, &f.err), -1);
	cr_expect_eq(count_files(&f, "public") + count_files(&f, "router"),
	    0, "nothing was promised");
	cr_expect(queue_may_retry(ENOSPC));
	cr_expect_not(queue_may_retry(EACCES));
	faults.fsync_errno = 0;
	e = envelope();
	cr_assert_eq(queue_begin(f.spool, &e, &draft, &f.err), 0);
	cr_expect_eq(queue_commit(&draft, &f.err), 0);
	fixture_close(&f);
}

static bool
tell(void *context, const struct queue_item *item)
{
	(*(unsigned *)context)++;
	cr_expect_eq(item->work->rcpt_total, 1);
	return true;
}

static unsigned
listed(enum queue_which which)
{
	unsigned count = 0;

	cr_assert_eq(queue_list(f.spool, which, tell, &count, &f.err), 0);
	return count;
}

Test(queue, list_in_flight_and_to_be_cleaned)
{
	char a[SPOOL_NAME_BYTES], b[SPOOL_NAME_BYTES];
	struct queue_hold hold;
	int fd;

	fixture_open(&f, 1);
	place(a);
	place(b);
	put_file(&f, "transport/" SPOOL_ORDERS, "{}\n", 3);
	cr_expect_eq(listed(QUEUE_ALL), 2);
	cr_expect_eq(listed(QUEUE_IN_FLIGHT), 0);
	fd = open(at("%s/transport/%s", f.dir, a), O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_SH), 0);	/* an agent */
	cr_expect_eq(listed(QUEUE_IN_FLIGHT), 1);
	cr_expect_eq(queue_start(f.spool, a, &hold, &f.err), 0);
	close(fd);
	cr_expect_eq(listed(QUEUE_CLEANUP), 0);
	unlink(at("%s/queue/%s", f.dir, b));
	cr_expect_eq(listed(QUEUE_CLEANUP), 1);
	cr_expect_eq(queue_start(f.spool, b, &hold, &f.err), 0);
	cr_expect_eq(queue_start(f.spool, "4711", &hold, &f.err), 0,
	    "vanished is no error");
	fixture_close(&f);
}

static struct queue_hold
start(const char *path)
{
	struct queue_hold hold;

	cr_assert_eq(queue_start(f.spool, path, &hold, &f.err), 1, "%s",
	    f.err.text);
	return hold;
}

static uint32_t
offset_of(const struct queue_hold *hold)
{
	return hold->work.groups[0].rcpts[0].offset;
}

Test(queue, start_done_cancel_and_clean)
{
	char path[SPOOL_NAME_BYTES];
	struct queue_hold hold, second;
	struct verdict verdict;

	fixture_open(&f, 0);
	place(path);
	hold = start(path);
	cr_expect_eq(queue_start(f.spool, path, &second, &f.err), 0,
	    "it is ours");
	cr_expect_eq(queue_clean(&hold, &f.err), 0, "not done yet");
	verdict_set(&verdict, VERDICT_DEFERRED, NULL, "me", "later");
	cr_assert_eq(queue_done(&hold, offset_of(&hold), &verdict, 5000,
	    &f.err), 0, "%s", f.err.text);
	cr_expect_eq(hold.work.groups[0].rcpts[0].tries, 1);
	cr_expect_eq(hold.work.groups[0].rcpts[0].next_s, 5000);
	queue_cancel(&hold);
	hold = start(path);
	verdict_set(&verdict, VERDICT_DELIVERED, NULL, "me", "ok");
	cr_expect_eq(queue_done(&hold, 1, &verdict, 0, &f.err), -1);
	cr_assert_eq(queue_done(&hold, offset_of(&hold), &verdict, 0,
	    &f.err), 0);
	cr_expect_eq(queue_done(&hold, offset_of(&hold), &verdict, 0,
	    &f.err), -1, "once");
	cr_assert_eq(queue_clean(&hold, &f.err), 1, "%s", f.err.text);
	cr_expect_eq(count_files(&f, "queue") + count_files(&f, "transport"),
	    0);
	fixture_close(&f);
}

Test(queue, reschedule_freeze_remove_and_recover)
{
	char path[SPOOL_NAME_BYTES], name[SPOOL_NAME_BYTES];
	struct queue_counts counts;
	struct queue_hold hold;
	ino_t inode;

	fixture_open(&f, 2);
	inode = place(path);
	hold = start(path);
	cr_assert_eq(queue_order(&hold, 0, WORK_RETRY_AT, 9000, "al", "",
	    &f.err), 1);
	cr_assert_eq(queue_count(f.spool, 8000, &counts, &f.err), 0);
	cr_expect_eq(counts.recipients[QUEUE_WAITING], 1);
	cr_assert_eq(queue_order(&hold, offset_of(&hold), WORK_FROZEN, 0,
	    "al", "odd", &f.err), 1);
	cr_assert_eq(queue_count(f.spool, 8000, &counts, &f.err), 0);
	cr_expect_eq(counts.recipients[QUEUE_FROZEN], 1);
	cr_expect_eq(counts.total, 1);
	cr_assert_eq(queue_order(&hold, 0, WORK_THAWED, 0, "al", "",
	    &f.err), 1);
	cr_assert_eq(queue_remove(&hold, "al", "", &f.err), 0, "%s",
	    f.err.text);
	cr_expect_eq(count_files(&f, "transport"), 0);
	snprintf(name, sizeof(name), "%ju.queue-deleted", (uintmax_t)inode);
	cr_assert_eq(queue_recover(f.spool, name, "al", path, &f.err), 1,
	    "%s", f.err.text);
	cr_assert_eq(queue_count(f.spool, INT64_MAX, &counts, &f.err), 0);
	cr_expect_eq(counts.recipients[QUEUE_READY], 1);
	cr_expect_eq(queue_recover(f.spool, name, "al", path, &f.err), -1);
	fixture_close(&f);
}

/* A routed message with two recipients, whose sender wants to hear. */
static void
place_two(char path[SPOOL_NAME_BYTES])
{
	struct work_rcpt rcpts[2] = { { .channel = SLICE("smtp"),
	    .host = SLICE("x.test"), .user = SLICE("b@x.test"), .uid = -2 },
	    { .channel = SLICE("smtp"), .host = SLICE("y.test"),
	    .user = SLICE("c@y.test"), .uid = -2 } };
	struct work_group group = { .sender = SLICE("a@src.test"),
	    .header = SLICE("Subject: x\n"), .rcpts = rcpts,
	    .rcpt_count = 2 };
	struct work work = { .groups = &group, .group_count = 1,
	    .errors_to = SLICE("a@src.test") };
	struct str control = STR_INIT;

	work.inode = put_message(&f, "public/t", work.id, "body");
	spool_hashed_name(f.spool, work.inode, path);
	cr_assert_eq(work_format(&work, &control, &f.err), 1, "%s",
	    f.err.text);
	move_file(&f, "public/t", at("queue/%s", path));
	put_file(&f, at("transport/%s", path), control.buf, control.len);
	str_release(&control);
}

Test(queue, an_order_is_about_who_is_named)
{
	char path[SPOOL_NAME_BYTES];
	struct queue_counts counts;
	struct queue_hold hold;
	uint32_t second;

	fixture_open(&f, 0);
	place_two(path);
	hold = start(path);
	second = hold.work.groups[0].rcpts[1].offset;
	cr_expect_eq(queue_order(&hold, second, WORK_FROZEN, 0, "al", "odd",
	    &f.err), 1);
	cr_expect_not(hold.work.groups[0].rcpts[0].is_frozen);
	cr_expect(hold.work.groups[0].rcpts[1].is_frozen);
	cr_assert_eq(queue_count(f.spool, 8000, &counts, &f.err), 0);
	cr_expect_eq(counts.recipients[QUEUE_FROZEN], 1);
	cr_expect_eq(counts.recipients[QUEUE_READY], 1);
	cr_expect_eq(queue_order(&hold, 0, WORK_HELD, 0, "al", "", &f.err),
	    2);
	queue_cancel(&hold);
	fixture_close(&f);
}

Test(queue, what_its_sender_was_not_told_stays)
{
	char path[SPOOL_NAME_BYTES];
	struct queue_hold hold;
	struct verdict verdict;

	fixture_open(&f, 0);
	place_two(path);
	hold = start(path);
	verdict_set(&verdict, VERDICT_FAILED, "5.1.1", "me", "no such user");
	for (int i = 0; i < 2; i++)
		cr_assert_eq(queue_done(&hold,
		    hold.work.groups[0].rcpts[i].offset, &verdict, 0,
		    &f.err), 0, "%s", f.err.text);
	cr_expect_eq(queue_clean(&hold, &f.err), 0, "a report is owed");
	cr_expect_eq(count_files(&f, "queue") + count_files(&f, "transport"),
	    2);
	queue_cancel(&hold);
	fixture_close(&f);
}

Test(queue, what_comes_back_has_its_own_control_file)
{
	char path[SPOOL_NAME_BYTES], name[SPOOL_NAME_BYTES];
	struct str control = STR_INIT;
	struct queue_hold hold;
	ino_t inode;

	fixture_open(&f, 0);
	inode = place(path);
	hold = start(path);
	cr_assert_eq(queue_remove(&hold, "al", "", &f.err), 0);
	snprintf(name, sizeof(name), "%ju.queue-deleted", (uintmax_t)inode);
	control_bytes(&control, "0123456789abc", inode);
	cr_assert_eq(unlink(at("%s/trash/%s.control", f.dir, name)), 0);
	put_file(&f, at("trash/%s.control", name), control.buf, control.len);
	cr_expect_eq(queue_recover(f.spool, name, "al", path, &f.err), -1);
	cr_expect_not_null(strstr(f.err.text, "is of 0123456789abc"), "%s",
	    f.err.text);
	cr_expect_eq(count_files(&f, "trash"), 2, "nothing was moved");
	str_release(&control);
	fixture_close(&f);
}

Test(queue, who_is_told_to_try_again)
{
	static const int again[] = { EINTR, EAGAIN, ENOSPC, EDQUOT, EIO,
		EMFILE, ENFILE, ENOMEM, EBUSY, ETXTBSY };
	static const int never[] = { 0, EACCES, EPERM, EINVAL, ENOENT, EXDEV,
		EROFS, EEXIST, ENAMETOOLONG };

	for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++)
		cr_expect(queue_may_retry(again[i]), "%s",
		    strerror(again[i]));
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		cr_expect_not(queue_may_retry(never[i]), "%s",
		    strerror(never[i]));
}

Test(queue, wait_sees_what_comes, .timeout = 60)
{
	char path[SPOOL_NAME_BYTES];
	pid_t child;

	fixture_open(&f, 0);
	cr_expect_eq(queue_wait(f.spool, 10, &f.err), 0);
	place(path);
	cr_expect_eq(queue_wait(f.spool, 10, &f.err), 0,
	    "it came before");
	child = fork();
	while (child == 0) {	/* comes again until somebody saw it */
		put_file(&f, "public/c", "x", 1);
		(void)rename(at("%s/public/c", f.dir),
		    at("%s/transport/99", f.dir));
	}
	cr_expect_eq(queue_wait(f.spool, 30000, &f.err), 1, "%s",
	    f.err.text);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fixture_close(&f);
}
