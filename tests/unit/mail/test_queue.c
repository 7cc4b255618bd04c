/* test_queue.c - the queue as one interface: every primitive, and its errors
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
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

Test(queue, wait_sees_what_comes)
{
	char path[SPOOL_NAME_BYTES];

	fixture_open(&f, 0);
	cr_expect_eq(queue_wait(f.spool, 10, &f.err), 0);
	place(path);
	cr_expect_eq(queue_wait(f.spool, 10, &f.err), 0,
	    "it came before");
	fixture_close(&f);
}
