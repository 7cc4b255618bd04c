/* test_flood.c - agents that were taken over say good lines without an end
 *
 * Each line by itself is what an agent may say; there are thousands of them
 * a second, for what it has in hand and what it has not.  The agent is
 * killed, its work returns, others do not wait, and neither memory nor the
 * journal grows.
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/event.h"
#include "scheduler/agents/agents.h"
#include "tests/unit/scheduler/yard.h"

enum {
	OTHERS = 40,
	MEMORY_BYTES_MAX = 4 << 20,
	JOURNAL_BYTES_MAX = 256 * 1024,
	AGENTS_MAX = 24		/* started in all: no storm of forks */
};

static const struct row {
	const char	*user;
	const char	*words;		/* in its record; NULL: delivered */
} rows[] = {
	{ "hungryloop@x.test", "did not say" },
	{ "unfitloop@x.test", "did not fit the job" },
	{ "againloop@x.test", NULL },
	{ "remarkloop@x.test", "broke its protocol" },
	{ "mxloop@x.test", "broke its protocol" },
	{ "otherloop@x.test", "broke its protocol" },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), UNHURT = 3 };

static struct yard yard;

/* Bytes that are allocated; of a C library that does not count them, those
 * that the process has in memory. */
static size_t
memory_now(void)
{
#ifdef __GLIBC__
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#else
	FILE *in = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	cr_assert(in != NULL && fscanf(in, "%*u %lu", &pages) == 1);
	fclose(in);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
#endif
}

static off_t
journal_bytes(void)
{
	char path[400];
	struct dirent *entry;
	struct stat st;
	off_t sum = 0;
	DIR *dir;

	event_flush();
	snprintf(path, sizeof(path), "%s/log", yard.dir);
	cr_assert_not_null(dir = opendir(path));
	while ((entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "%s/log/%s", yard.dir,
		    entry->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			sum += st.st_size;
	}
	closedir(dir);
	return sum;
}

/* Its job was seen, it is gone, and nothing moves any more. */
static bool
flood_is_over(struct yard *y, void *arg)
{
	return y->shared->jobs > 0 && y->scheduler.agents.count == 0 &&
	    (yard_is_empty(y, NULL) || yard_is_quiet(y, NULL));
}

static bool
nobody_works(struct yard *y, void *arg)
{
	return yard_is_quiet(y, NULL) && agents_busy(&y->scheduler.agents) == 0;
}

static bool
is_gone(struct yard *y, void *arg)
{
	return !yard_has(y, "transport", *(ino_t *)arg, "");
}

static void
expect_fate(const struct row *row, ino_t inode)
{
	const struct control_rcpt *rcpt;
	struct control_file control;

	if (row->words == NULL) {
		cr_expect(yard_until(&yard, is_gone, &inode), "%s", row->user);
		return;
	}
	cr_assert(yard_control(&yard, inode, &control), "%s", row->user);
	rcpt = &control.groups[0].rcpts[0];
	cr_assert_not_null(rcpt->last, "%s", row->user);
	cr_expect_eq(rcpt->tries, 1, "%s", row->user);
	cr_expect_not_null(strstr(rcpt->last->verdict.text, row->words),
	    "%s: %s", row->user, rcpt->last->verdict.text);
}

Test(flood, a_babbler_is_killed_and_its_work_returns)
{
	for (size_t i = 0; i < ROWS; i++) {
		size_t before;
		char rcpt[64];
		ino_t inode;

		yard_open(&yard, yard_quick);
		before = memory_now();
		snprintf(rcpt, sizeof(rcpt), "smtp/x.test/%s", rows[i].user);
		inode = yard_message(&yard, "a@src.test", rcpt, NULL);
		cr_assert(yard_until(&yard, flood_is_over, NULL), "%s",
		    rcpt);
		expect_fate(&rows[i], inode);
		cr_expect_lt(memory_now(), before + MEMORY_BYTES_MAX, "%s",
		    rcpt);
		cr_expect_lt(journal_bytes(), JOURNAL_BYTES_MAX, "%s", rcpt);
		cr_expect_leq(yard.scheduler.queue.providers.count, 1, "%s",
		    rcpt);
		cr_expect_leq(yard.shared->agents, 2, "%s", rcpt);
		yard_close(&yard);
	}
}

/* All of them at once, each with others of its destination after it in the
 * same agent's hands; but for the first UNHURT rows, who end the job that
 * they are at, so that the next one in their hands has a try. */
Test(flood, others_do_not_wait)
{
	ino_t inodes[ROWS];
	unsigned want = OTHERS + 1;	/* and the one that is told again */
	size_t before;

	yard_open(&yard, yard_quick);
	before = memory_now();
	for (size_t i = 0; i < ROWS; i++) {
		char rcpt[64];

		snprintf(rcpt, sizeof(rcpt), "smtp/x%zu.test/%s", i,
		    rows[i].user);
		inodes[i] = yard_message(&yard, "a@src.test", rcpt, NULL);
	}
	for (int i = 0; i < OTHERS; i++) {
		char rcpt[64];

		snprintf(rcpt, sizeof(rcpt), "smtp/x%d.test/ok%d@x.test",
		    UNHURT + i % (ROWS + 2 - UNHURT), i);
		yard_message(&yard, "b@src.test", rcpt, NULL);
	}
	cr_assert(yard_until(&yard, yard_has_delivered, &want), "%u",
	    yard.shared->delivered);
	cr_assert(yard_until(&yard, nobody_works, NULL));
	for (size_t i = 0; i < ROWS; i++)
		expect_fate(&rows[i], inodes[i]);
	cr_expect_eq(yard.shared->delivered, want, "no duplicate");
	cr_expect_leq(yard.shared->agents, AGENTS_MAX);
	cr_expect_lt(memory_now(), before + MEMORY_BYTES_MAX);
	cr_expect_lt(journal_bytes(), JOURNAL_BYTES_MAX);
	yard_close(&yard);
}

/* Of two recipients one is answered for ever; the other had a try. */
Test(flood, a_verdict_said_again_is_nonsense)
{
	struct control_file control;
	ino_t inode;

	yard_open(&yard, yard_quick);
	inode = yard_message(&yard, "a@src.test",
	    "smtp/x.test/againloop@x.test smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, flood_is_over, NULL));
	cr_expect_eq(yard.scheduler.queue.total.delivered, 1);
	cr_assert(yard_control(&yard, inode, &control));
	cr_expect(control.groups[0].rcpts[0].is_final);
	cr_assert_not_null(control.groups[0].rcpts[1].last);
	cr_expect_not_null(strstr(
	    control.groups[0].rcpts[1].last->verdict.text,
	    "broke its protocol"));
	yard_close(&yard);
}

/* What it did with one job is not what the next one had a try for. */
Test(flood, the_next_job_is_not_blamed)
{
	unsigned want = 2;

	yard_open(&yard, "schedule */* { retry 10m; expire 5d; agents 1 }");
	yard_message(&yard, "a@src.test", "smtp/x.test/twice@x.test", NULL);
	yard_message(&yard, "a@src.test", "smtp/y.test/ok@y.test", NULL);
	cr_assert(yard_until(&yard, yard_has_delivered, &want), "%u",
	    yard.shared->delivered);
	cr_expect(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->agents, 2);
	yard_close(&yard);
}
