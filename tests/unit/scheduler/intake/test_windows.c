/* test_windows.c - a large file in windows: its job, what is told of it
 *
 * More recipients than a window has, so that what a report is about comes out
 * of several.
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "mail/control_file/window.h"
#include "scheduler/intake/job_build.h"
#include "tests/unit/scheduler/yard.h"

enum { RCPTS = 40000, REPORTS = RCPTS / REPORT_RCPTS_MAX, HOSTS = 7 };

static struct yard yard;

/* users: blank separated, one after the other. */
static ino_t
mail_to_many(const char *const users[], size_t user_count, int count)
{
	struct str rcpts = STR_INIT;
	ino_t made;

	for (int i = 0; i < count; i++)
		str_addf(&rcpts, "smtp/h%d.test/%s%d@h%d.test ", i % HOSTS,
		    users[(size_t)i % user_count], i, i % HOSTS);
	made = yard_message(&yard, "a@src.test", rcpts.buf, NULL);
	str_release(&rcpts);
	return made;
}

static ino_t
mail_in(const char *user)
{
	return mail_to_many(&user, 1, RCPTS);
}

/* ---- the job ----------------------------------------------------- */

static int
control_open(ino_t inode, int flags)
{
	char path[256], name[SPOOL_NAME_BYTES];
	int fd;

	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/transport/%s", yard.dir, name);
	fd = open(path, flags);
	cr_assert_geq(fd, 0);
	return fd;
}

static struct job *
job_of_windows(int fd, size_t rcpts)
{
	const struct control_window_size size = { rcpts, 1 << 20 };
	struct intake *intake = &yard.scheduler.intake;
	struct control_windows *windows;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct control_file window;
	struct job_draft draft;
	struct err err;

	cr_assert_eq(control_windows_open(fd, &size, &windows, &err),
	    CONTROL_WINDOWS_GOOD, "%s", err.text);
	job_draft_begin(&draft, intake, control_windows_common(windows));
	for (size_t i = 0; i < control_windows_count(windows); i++) {
		arena_reset(arena);
		cr_assert_eq(control_windows_read(windows, i, arena, &text,
		    &window, &err), 0, "%s", err.text);
		job_draft_window(&draft, &window);
		while (!job_draft_take(&draft, 3))
			continue;
	}
	job_draft_sort(&draft);
	job_draft_make(&draft);
	cr_assert(job_draft_fill(&draft, SIZE_MAX));
	job_draft_end(&draft);
	control_windows_free(&windows);
	str_release(&text);
	arena_free(&arena);
	return draft.job;
}

static void
expect_same(const struct job *a, const struct job *b)
{
	cr_assert_eq(a->vertex_count, b->vertex_count);
	cr_assert_eq(a->rcpt_count, b->rcpt_count);
	cr_expect_eq(a->rcpt_total, b->rcpt_total);
	cr_expect_eq(a->failed_count, b->failed_count);
	cr_expect_eq(a->flags, b->flags);
	for (uint32_t i = 0; i < a->rcpt_count; i++) {
		cr_assert_eq(a->rcpts[i].offset, b->rcpts[i].offset);
		cr_assert_eq(a->rcpts[i].notify, b->rcpts[i].notify);
	}
	for (uint32_t i = 0; i < a->vertex_count; i++) {
		const struct vertex *x = &a->vertices[i], *y = &b->vertices[i];

		cr_assert_eq(x->thread, y->thread);
		cr_assert_eq(x->rcpt_first, y->rcpt_first);
		cr_assert_eq(x->rcpt_count, y->rcpt_count);
		cr_assert_eq(x->tries, y->tries);
		cr_assert_eq(x->notices, y->notices);
		cr_assert_eq(x->park, y->park);
		cr_assert_eq(x->sender_offset, y->sender_offset);
		cr_assert_eq(x->header_offset, y->header_offset);
	}
}

static void
job_unmake(struct job **job)
{
	thread_forget_job(*job);
	job_free(job);
}

/* Some were delivered, some failed, some are deferred; more go one way than a
 * vertex holds. */
Test(windows, make_the_job_that_the_whole_makes)
{
	static const char *const users[] = { "ok", "defer", "fail", "grey",
		"defer" };
	static const size_t sizes[] = { 1, 2, 7, 100, 3000 };
	enum { COUNT = 2600 };
	struct control_file control;
	struct job *whole, *some;
	int64_t kept_s;
	ino_t inode;
	int fd;

	yard_open(&yard, "group 50ms\nschedule */* { retry 10m }");
	inode = mail_to_many(users, 5, COUNT);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_settle(&yard, 5);
	cr_assert(yard_control(&yard, inode, &control));
	control.inode = inode;
	whole = job_build(&yard.scheduler.intake, &control, &kept_s);
	cr_assert_gt(whole->vertex_count, HOSTS);
	cr_assert_lt(whole->rcpt_count, COUNT);
	cr_expect_gt(whole->failed_count, 0);
	fd = control_open(inode, O_RDONLY);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		some = job_of_windows(fd, sizes[i]);
		expect_same(whole, some);
		job_unmake(&some);
	}
	job_unmake(&whole);
	close(fd);
	yard_close(&yard);
}

static bool
is_shelved(struct yard *y, void *arg)
{
	return yard_count(y, "transport") == 0;
}

/* The wrong byte stands in the last window: nobody of the first ones gets
 * anything. */
Test(windows, deliver_nothing_of_a_damaged_file, .timeout = 900)
{
	ino_t inode;
	int fd;

	yard_open(&yard, "group 50ms");
	inode = mail_in("ok");
	fd = control_open(inode, O_RDWR);
	cr_assert_eq(pwrite(fd, "x", 1, lseek(fd, 0, SEEK_END) - 100), 1);
	close(fd);
	cr_assert(yard_until(&yard, is_shelved, NULL));
	cr_expect(yard_has(&yard, "postman", inode, ".badcontrol"));
	cr_expect(yard_has(&yard, "postman", inode, ".badcontrol.control"));
	cr_expect_eq(yard.shared->rcpts, 0);
	cr_expect_eq(yard.scheduler.queue.jobs.count, 0);
	cr_expect_null(yard.scheduler.intake.large);
	yard_close(&yard);
}

/* ---- what is told ------------------------------------------------ */

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

/* In router/: so many reports about so many, each with the header. */
static void
expect_told(unsigned reports, unsigned rcpts)
{
	struct str text = STR_INIT;
	unsigned found = 0, told = 0;
	char path[256];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/spool/router", yard.dir);
	dir = opendir(path);
	cr_assert_not_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		int fd;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY);
		cr_assert_geq(fd, 0);
		str_reset(&text);
		cr_assert_eq(fd_read_all(fd, 1 << 26, &text), 0);
		close(fd);
		found++;
		told += words_in(&text, "\nFinal-Recipient:");
		cr_expect_eq(words_in(&text, "\nSubject: "), 2,
		    "its own and the returned one");
	}
	closedir(dir);
	str_release(&text);
	cr_expect_eq(found, reports, "%u reports", found);
	cr_expect_eq(told, rcpts, "each once: %u", told);
}

static bool
is_told(struct yard *y, void *arg)
{
	return yard_router_has(y, arg) && y->scheduler.reporter.kept == NULL &&
	    y->scheduler.reporter.batch == NULL;
}

/* One window has fewer than a report is about. */
Test(windows, reports_are_as_full_as_ever, .timeout = 900)
{
	static const char *const users[] = { "ok", "ok", "ok", "fail" };

	yard_open(&yard, "group 50ms");
	mail_to_many(users, 4, RCPTS);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	expect_told(RCPTS / 4 / REPORT_RCPTS_MAX + 1, RCPTS / 4);
	yard_close(&yard);
}

/* The disk refused their records: they are written before they are told. */
Test(windows, tell_of_what_was_not_recorded, .timeout = 900)
{
	static const char *const users[] = { "fail", "unrecorded-fail" };

	yard_open(&yard, "group 50ms");
	mail_to_many(users, 2, RCPTS);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	expect_told(REPORTS, RCPTS);
	cr_expect_eq(yard.shared->rcpts, RCPTS, "nobody was tried again");
	yard_close(&yard);
}

Test(windows, tell_of_a_delay_once, .timeout = 900)
{
	unsigned all = REPORTS;
	ino_t inode;
	struct control_file control;

	yard_open(&yard, yard_quick);
	inode = mail_in("defer");
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 4 * 3600 + 60);
	cr_assert(yard_until(&yard, is_told, &all));
	yard_settle(&yard, 20);
	expect_told(REPORTS, RCPTS);
	cr_assert(yard_control(&yard, inode, &control));
	cr_expect_eq(control.report_records, RCPTS);
	yard_close(&yard);
}

/* `keep failed`: who is kept is in no list, and all are told in the end. */
Test(windows, keep_what_failed, .timeout = 900)
{
	unsigned all = REPORTS;

	yard_open(&yard, "group 50ms\nkeep failed 1h\n");
	mail_in("fail");
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_settle(&yard, 20);
	expect_told(0, 0);
	cr_expect_eq(yard.scheduler.queue.jobs.lists[JOB_KEPT].count, 1);
	yard_clock(&yard, 3600 + 60);
	cr_assert(yard_until(&yard, is_told, &all));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	expect_told(REPORTS, RCPTS);
	yard_close(&yard);
}

/* Their life ends: the scheduler itself has the last word about each. */
Test(windows, tell_of_an_end, .timeout = 900)
{
	yard_open(&yard, "group 50ms\n"
	    "schedule */* { retry 10m; warn 0; expire 1d }");
	mail_in("defer");
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 86400 + 60);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	expect_told(REPORTS, RCPTS);
	yard_close(&yard);
}
