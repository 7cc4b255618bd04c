/* test_queue_count.c - what is counted, and what comes back from trash/
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "mail/control_file/queue_count.h"
#include "mail/control_file/undelete.h"
#include "tests/unit/mail/fixture.h"

static struct fixture f;

/* A routed message with two recipients. */
static ino_t
place(char path[SPOOL_NAME_BYTES], struct control_file *control)
{
	static struct control_rcpt rcpts[2];
	static struct control_group group = { .sender = SLICE("a@src.test"),
	    .header = SLICE("Subject: x\n"), .rcpts = rcpts,
	    .rcpt_count = 2 };
	struct str bytes = STR_INIT;

	for (int i = 0; i < 2; i++)
		rcpts[i] = (struct control_rcpt){ .channel = SLICE("smtp"),
		    .host = SLICE("x.test"), .user = SLICE("b@x.test"),
		    .uid = -2 };
	*control = (struct control_file){ .groups = &group, .group_count = 1 };
	control->inode = put_message(&f, "public/t", control->id, "body");
	spool_hashed_name(f.spool, control->inode, path);
	cr_assert_eq(control_file_format(control, &bytes, &f.err), 0, "%s",
	    f.err.text);
	move_file(&f, "public/t", at("queue/%s", path));
	put_file(&f, at("transport/%s", path), bytes.buf, bytes.len);
	str_release(&bytes);
	return control->inode;
}

static void
order(const char *path, const struct control_file *control, int rcpt,
    enum control_record_kind kind, int64_t until_s)
{
	struct control_record record = { .kind = kind, .time_s = 7000,
	    .rcpt_offset = control->groups[0].rcpts[rcpt].offset,
	    .next_s = until_s, .verdict = { .who = "al" } };
	int fd = open(at("%s/transport/%s", f.dir, path), O_RDWR | O_APPEND);

	cr_assert_eq(control_file_append(fd, control->id, &record, 1, &f.err),
	    0);
	close(fd);
}

static struct queue_counts
counted(int64_t now_s)
{
	struct queue_counts counts;

	cr_assert_eq(queue_count(f.spool, now_s, &counts, &f.err), 0);
	return counts;
}

Test(queue_count, by_what_was_ordered)
{
	char path[SPOOL_NAME_BYTES];
	struct queue_counts counts;
	struct control_file control;

	fixture_open(&f, 2);
	place(path, &control);
	put_file(&f, "transport/" SPOOL_ORDERS, "{}\n", 3);
	order(path, &control, 0, RECORD_RETRY_AT, 9000);
	counts = counted(8000);
	cr_expect_eq(counts.total, 1);
	cr_expect_eq(counts.recipients[QUEUE_WAITING], 1);
	cr_expect_eq(counts.recipients[QUEUE_READY], 1);
	cr_expect_eq(counted(9000).recipients[QUEUE_READY], 2);
	order(path, &control, 1, RECORD_FROZEN, 0);
	order(path, &control, 0, RECORD_HELD, 8500);
	counts = counted(8000);
	cr_expect_eq(counts.recipients[QUEUE_FROZEN], 1);
	cr_expect_eq(counts.recipients[QUEUE_HELD], 1);
	order(path, &control, 1, RECORD_CANCELLED, 0);
	counts = counted(8500);
	cr_expect_eq(counts.recipients[QUEUE_DELETED], 1);
	cr_expect_eq(counts.messages[QUEUE_DELETED], 1);
	cr_expect_eq(counts.messages[QUEUE_WAITING], 1);
	fixture_close(&f);
}

/* Into trash/ with one recipient cancelled; out_name is its name there. */
static ino_t
trashed(char path[SPOOL_NAME_BYTES], char out_name[SPOOL_NAME_BYTES])
{
	struct control_file control;
	ino_t inode = place(path, &control);

	order(path, &control, 1, RECORD_CANCELLED, 0);
	cr_assert_eq(spool_trash_queued(f.spool, path, &f.err), 0);
	snprintf(out_name, SPOOL_NAME_BYTES, "%ju.queue-deleted",
	    (uintmax_t)inode);
	return inode;
}

Test(undelete, restores_who_was_cancelled)
{
	char path[SPOOL_NAME_BYTES], name[SPOOL_NAME_BYTES];
	size_t count = 0;

	fixture_open(&f, 2);
	trashed(path, name);
	cr_expect_eq(count_files(&f, "transport"), 0);
	cr_assert_eq(control_undelete(f.spool, name, "al", path, &count,
	    &f.err), 0, "%s", f.err.text);
	cr_expect_eq(count, 1);
	cr_expect(file_exists(&f, at("transport/%s", path)));
	cr_expect(file_exists(&f, at("queue/%s", path)));
	cr_expect_eq(counted(INT64_MAX).recipients[QUEUE_READY], 2);
	cr_expect_eq(control_undelete(f.spool, name, "al", path, &count,
	    &f.err), -1);
	fixture_close(&f);
}

Test(undelete, what_an_agent_has_stays)
{
	char path[SPOOL_NAME_BYTES], name[SPOOL_NAME_BYTES];
	size_t count;
	int fd;

	fixture_open(&f, 0);
	trashed(path, name);
	fd = open(at("%s/trash/%s.control", f.dir, name), O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_SH), 0);
	cr_expect_eq(control_undelete(f.spool, name, "al", path, &count,
	    &f.err), -1);
	cr_expect_eq(count_files(&f, "trash"), 2);
	close(fd);
	fixture_close(&f);
}

Test(undelete, what_comes_back_has_its_own_control_file)
{
	char path[SPOOL_NAME_BYTES], name[SPOOL_NAME_BYTES];
	struct str bytes = STR_INIT;
	size_t count;
	ino_t inode;

	fixture_open(&f, 0);
	inode = trashed(path, name);
	control_bytes(&bytes, "0123456789abc", inode);
	cr_assert_eq(unlink(at("%s/trash/%s.control", f.dir, name)), 0);
	put_file(&f, at("trash/%s.control", name), bytes.buf, bytes.len);
	cr_expect_eq(control_undelete(f.spool, name, "al", path, &count,
	    &f.err), -1);
	cr_expect_not_null(strstr(f.err.text, "is of 0123456789abc"), "%s",
	    f.err.text);
	cr_expect_eq(count_files(&f, "trash"), 2, "nothing was moved");
	str_release(&bytes);
	fixture_close(&f);
}
