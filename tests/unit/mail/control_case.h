/* control_case.h - a control file for the tests of its parts
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_MAIL_WORK_CASE_H
#define ZM_TESTS_MAIL_WORK_CASE_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "mail/control_file/control_file.h"

#define ID "0123456789abc"

static struct control_rcpt rcpts[] = {
	{ .channel = SLICE("local"), .user = SLICE("bob"), .uid = 1001 },
	{ .channel = SLICE("pipe"), .host = SLICE("h"),
	    .user = SLICE("|/bin/x -a b 7"), .uid = -2,
	    .notify = DSN_NOTIFY_NEVER },
	{ .channel = SLICE("smtp"), .host = SLICE("example.net"),
	    .user = SLICE("\"a b\"@example.net"), .uid = -2,
	    .orcpt = SLICE("rfc822;x+2By@example.net"),
	    .notify = DSN_NOTIFY_SUCCESS | DSN_NOTIFY_DELAY },
};

static struct control_group groups[] = {
	{ .sender = SLICE("a@example.org"), .header = SLICE("A: 1\nr x\n"),
	    .rcpts = rcpts, .rcpt_count = 1 },
	{ .sender = SLICE(""), .header = SLICE("B: 2\n s 1\n"),
	    .rcpts = rcpts + 1, .rcpt_count = 2 },
};

static inline struct control_file
sample(void)
{
	struct control_file control = { .id = ID, .inode = 4711, .body_offset =
	    123,
	    .size_bytes = 98765, .msgid = SLICE("<x@y>"),
	    .errors_to = SLICE("a@example.org"), .envid = SLICE("QQ"),
	    .ret = DSN_RET_FULL, .bodytype = SLICE("8BITMIME"),
	    .user = SLICE("alice"), .groups = groups, .group_count = 2 };

	return control;
}

static inline int
temp_file(const void *bytes, size_t n)
{
	char path[] = "/tmp/zm-work-XXXXXX";
	int fd = mkostemp(path, O_APPEND);

	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	return fd;
}

static inline struct control_record
outcome(uint32_t offset, enum verdict_kind kind, unsigned tries,
    const char *text)
{
	struct control_record record = { .kind = RECORD_OUTCOME,
	    .rcpt_offset = offset, .time_s = 1763600000 + tries,
	    .tries = tries,
	    .next_s = kind == VERDICT_DEFERRED ? 1763600900 : 0 };

	verdict_set(&record.verdict, kind, NULL, "mx[192.0.2.1]:25", "%s",
	    text);
	return record;
}

#endif
