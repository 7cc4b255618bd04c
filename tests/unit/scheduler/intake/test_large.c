/* test_large.c - one message to very many is taken in, and reported, in pieces
 *
 * Between the pieces the loop turns: others are served, the scheduler may end.
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "scheduler/intake/job_build.h"
#include "scheduler/intake/large.h"
#include "tests/unit/scheduler/yard.h"

enum { RCPTS = 30000, HOSTS = 7, PIECE = 100 };

static struct yard yard;
static ino_t inode;

static const char conf[] = "group 50ms\nschedule */* { retry 10m }";

static ino_t
mail_to_many(const char *user, int count)
{
	struct str rcpts = STR_INIT;
	ino_t made;

	for (int i = 0; i < count; i++)
		str_addf(&rcpts, "smtp/h%d.test/%s%d@h%d.test ", i % HOSTS,
		    user, i, i % HOSTS);
	made = yard_message(&yard, "a@src.test", rcpts.buf, NULL);
	str_release(&rcpts);
	return made;
}

static bool
is_in_hand(struct yard *y, void *arg)
{
	return y->scheduler.intake.large != NULL;
}

static bool
is_job(struct yard *y, void *arg)
{
	return y->scheduler.queue.jobs.count > 0;
}

static void
open_with_large(const char *user)
{
	yard_open(&yard, conf);
	inode = mail_to_many(user, RCPTS);
	cr_assert(yard_until(&yard, is_in_hand, NULL), "it is read at once");
}

/* The turn in which the file is found does not read it; meanwhile it is known
 * to be there, and is no message yet. */
Test(large, its_file_is_read_beside_the_loop, .timeout = 900)
{
	unsigned all = RCPTS + 1;
	bool is_busy = false;

	open_with_large("ok");
	cr_expect_eq(yard.scheduler.queue.jobs.count, 0);
	cr_expect_geq(intake_unread(&yard.scheduler.intake), 1);
	cr_expect_null(intake_find(&yard.scheduler.intake, inode, &is_busy));
	cr_expect(is_busy);
	cr_expect(large_has(&yard.scheduler.intake, inode));
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, is_job, NULL), "the other one waits");
	cr_assert(yard_until(&yard, yard_has_delivered, &all));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, RCPTS + 1, "each once");
	cr_expect_null(yard.scheduler.intake.large);
	yard_close(&yard);
}

/* Another large one waits for it. */
Test(large, there_is_one_at_a_time, .timeout = 900)
{
	open_with_large("ok");
	mail_to_many("ok", RCPTS);
	cr_assert(yard_until(&yard, is_job, NULL));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 2 * RCPTS, "each once");
	yard_close(&yard);
}

/* Nothing was written: the next scheduler reads it again. */
Test(large, the_scheduler_may_end_meanwhile, .timeout = 900)
{
	open_with_large("ok");
	yard_stop(&yard);
	yard_start(&yard);
	cr_assert(yard_until(&yard, is_in_hand, NULL));
	yard_reload(&yard, conf);
	for (int turns = 0; yard.scheduler.queue.jobs.count == 0 &&
	    turns < 2; turns++)
		yard_turns(&yard, 1);
	yard_stop(&yard);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, RCPTS, "each once");
	yard_close(&yard);
}

/* ---- pieces ------------------------------------------------------ */

static unsigned
pieces_of(struct job_draft *draft, bool (*step)(struct job_draft *, size_t),
    size_t piece)
{
	unsigned pieces = 1;

	while (!step(draft, piece))
		pieces++;
	return pieces;
}

static void
expect_same(const struct job *a, const struct job *b)
{
	cr_assert_eq(a->vertex_count, b->vertex_count);
	cr_assert_eq(a->rcpt_count, b->rcpt_count);
	for (uint32_t i = 0; i < a->rcpt_count; i++)
		cr_assert_eq(a->rcpts[i].offset, b->rcpts[i].offset);
	for (uint32_t i = 0; i < a->vertex_count; i++) {
		cr_assert_eq(a->vertices[i].thread, b->vertices[i].thread);
		cr_assert_eq(a->vertices[i].rcpt_first,
		    b->vertices[i].rcpt_first);
		cr_assert_eq(a->vertices[i].rcpt_count,
		    b->vertices[i].rcpt_count);
	}
}

static void
job_unmake(struct job **job)
{
	thread_forget_job(*job);
	job_free(job);
}

/* A piece is as many recipients as were asked for, and the job is the same.
 * Given up in the middle, it leaves no destination named. */
Test(large, a_job_is_built_in_pieces)
{
	/* 150 recipients at each host */
	enum { COUNT = 1050, VERTICES = 2 * HOSTS, FEW = 5 };
	struct intake *intake = &yard.scheduler.intake;
	struct control_file control;
	struct job *whole;
	struct job_draft draft;
	struct thread *thread = NULL;
	size_t bucket = 0;
	int64_t kept_s;

	yard_open(&yard, conf);
	inode = mail_to_many("ok", COUNT);
	cr_assert(yard_control(&yard, inode, &control));
	whole = job_build(intake, &control, &kept_s);
	job_draft_begin(&draft, intake, &control);
	job_draft_window(&draft, &control);
	cr_expect_eq(pieces_of(&draft, job_draft_take, PIECE),
	    COUNT / PIECE + 1);
	job_draft_sort(&draft);
	job_draft_make(&draft);
	cr_expect_eq(pieces_of(&draft, job_draft_fill, FEW),
	    VERTICES / FEW + 1);
	job_draft_end(&draft);
	expect_same(whole, draft.job);
	cr_expect_eq(whole->vertex_count, VERTICES);
	job_unmake(&whole);
	job_unmake(&draft.job);
	job_draft_begin(&draft, intake, &control);
	job_draft_window(&draft, &control);
	cr_expect_not(job_draft_take(&draft, PIECE));
	job_draft_drop(&draft);
	job_draft_begin(&draft, intake, &control);
	job_draft_window(&draft, &control);
	cr_expect_eq(pieces_of(&draft, job_draft_take, PIECE),
	    COUNT / PIECE + 1);
	job_draft_sort(&draft);
	job_draft_make(&draft);
	cr_expect_not(job_draft_fill(&draft, FEW));
	job_draft_drop(&draft);
	while (thread_next(&yard.scheduler.queue.threads, &bucket, &thread))
		cr_expect_eq(thread->named, 0, "%s", thread->host);
	yard_close(&yard);
}

/* ---- reports ----------------------------------------------------- */

static unsigned
words_in(const struct str *text, const char *words)
{
	const char *p = text->buf;
	unsigned count = 0;

	while ((p = strstr(p, words)) != NULL) {
		count++;
		p++;
	}
	return count;
}

struct told {
	unsigned	reports, rcpts, most;
};

/* In router/. */
static struct told
reports_told(void)
{
	struct told told = { 0, 0, 0 };
	struct str text = STR_INIT;
	char path[256];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/spool/router", yard.dir);
	dir = opendir(path);
	cr_assert_not_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		unsigned rcpts;
		int fd;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY);
		cr_assert_geq(fd, 0);
		str_reset(&text);
		cr_assert_eq(fd_read_all(fd, 1 << 26, &text), 0);
		close(fd);
		rcpts = words_in(&text, "\nFinal-Recipient:");
		told.reports++;
		told.rcpts += rcpts;
		told.most = rcpts > told.most ? rcpts : told.most;
	}
	closedir(dir);
	str_release(&text);
	return told;
}

static bool
is_kept(struct yard *y, void *arg)
{
	return y->scheduler.reporter.kept != NULL;
}

Test(large, its_reports_are_many, .timeout = 900)
{
	struct told told;

	open_with_large("fail");
	cr_assert(yard_until(&yard, is_kept, NULL), "it is read at once");
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	told = reports_told();
	cr_expect_eq(told.rcpts, RCPTS, "each once: %u", told.rcpts);
	cr_expect_leq(told.most, REPORT_RCPTS_MAX, "%u", told.most);
	cr_expect_eq(told.reports, RCPTS / REPORT_RCPTS_MAX + 1, "%u",
	    told.reports);
	cr_expect_null(yard.scheduler.reporter.kept);
	yard_close(&yard);
}

/* While its file is read for a report, while some were sent. */
Test(large, the_scheduler_may_end_between_reports, .timeout = 900)
{
	unsigned two = 2;
	struct told told;

	open_with_large("fail");
	cr_assert(yard_until(&yard, is_kept, NULL));
	yard_stop(&yard);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_router_has, &two));
	yard_stop(&yard);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	told = reports_told();
	cr_expect_eq(told.rcpts, RCPTS, "each once: %u", told.rcpts);
	cr_expect_eq(yard.shared->rcpts, RCPTS, "nobody was tried again");
	yard_close(&yard);
}
