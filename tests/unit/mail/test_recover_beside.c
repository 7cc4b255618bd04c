/* test_recover_beside.c - the second half of a start, beside those who work
 *
 * SPDX-License-Identifier: ISC
 */
#include <pthread.h>

#include "recover_case.h"

static struct recovery
recover_routed(struct fixture *f)
{
	struct recovery r;

	cr_assert_eq(spool_recover(f->spool, RECOVERY_ROUTED, NULL, NULL, &r,
	    &f->err), 0, "%s", f->err.text);
	return r;
}

/* Who came since the start is in the hands of those who run. */
Test(recover_beside, what_changed_since_the_start_is_left_alone)
{
	static const struct { const char *body, *control; } rows[] = {
		{ "queue/%s", NULL },			/* P3, not P6 */
		{ NULL, "transport/%s" },		/* F1, its group */
		{ "router/%s", "transport/%s" },	/* not P5 */
		{ "trash/%s.queue-deleted", "transport/%s" },	/* undelete */
		{ "postman/%s.no-report", "transport/%s" },	/* D4 */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct built b;
		struct recovery r;

		fixture_open(&f, 0);
		settle(&f);
		b = build(&f);
		if (rows[i].body != NULL)
			move_file(&f, "public/t", at(rows[i].body, b.n));
		else
			unlink(at("%s/public/t", f.dir));
		if (rows[i].control != NULL)
			put_file(&f, at(rows[i].control, b.n), b.control.p,
			    b.control.n);
		r = recover_routed(&f);
		cr_expect_eq(TOTAL(r), 0, "row %zu", i);
		settle(&f);
		r = recover_routed(&f);
		cr_expect_eq(TOTAL(r), 1, "row %zu: of one before", i);
		fixture_close(&f);
	}
}

/* A report that the scheduler of now has made durable, and not recorded. */
Test(recover_beside, a_report_of_now_is_not_swept)
{
	struct fixture f;
	struct built b;
	char name[SPOOL_NAME_BYTES], id[SPOOL_ID_BYTES];

	b = build_first(&f, 0);
	move_file(&f, "public/t", at("queue/%s", b.n));
	put_control(&f, &b);
	settle(&f);
	spool_dsn_name(b.id, 0, name);
	put_message(&f, at("public/%s", name), id, "report");
	cr_expect_eq(TOTAL(recover_routed(&f)), 0);
	settle(&f);
	cr_expect_eq(recover_routed(&f).swept, 1);
	fixture_close(&f);
}

/* Its worker has renamed the message, and is about to rename the plan. */
Test(recover_beside, a_body_with_a_lock_is_being_published)
{
	struct fixture f;
	struct built b = build_first(&f, 0);
	int fd;

	move_file(&f, "public/t", at("queue/%s", b.n));
	settle(&f);
	fd = openat(spool_dir_fd(f.spool, AREA_QUEUE, 0), b.n, O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_expect_eq(TOTAL(recover_routed(&f)), 0);
	close(fd);
	cr_expect_eq(recover_routed(&f).rerouted, 1);
	ROUTED_AGAIN(&f, b);
	fixture_close(&f);
}

/* ---- P5 beside a worker that has the body ------------------------------- */

struct hand {
	struct fixture	*f;
	const struct built *b;
	int		 fd;
};

/* As a worker does that finds the control file's name taken. */
static void *
give_back(void *context)
{
	struct hand *hand = context;
	const struct timespec nap = { .tv_nsec = 30000000 };
	int dir = spool_dir_fd(hand->f->spool, AREA_ROUTER, 0);
	char claimed[64];

	snprintf(claimed, sizeof(claimed), "%s-77", hand->b->n);
	(void)nanosleep(&nap, NULL);
	(void)renameat(dir, claimed, dir, hand->b->n);
	close(hand->fd);
	return NULL;
}

Test(recover_beside, p5_waits_for_the_worker_that_has_the_body)
{
	struct fixture f;
	struct built b = build_first(&f, 0);
	struct hand hand = { .f = &f, .b = &b };
	struct recovery r;
	pthread_t thread;

	put_control(&f, &b);
	move_file(&f, "public/t", at("router/%s-77", b.n));
	settle(&f);
	hand.fd = openat(spool_dir_fd(f.spool, AREA_ROUTER, 0), at("%s-77",
	    b.n), O_RDONLY);
	cr_assert_eq(flock(hand.fd, LOCK_EX), 0);
	cr_assert_eq(pthread_create(&thread, NULL, give_back, &hand), 0);
	r = recover_routed(&f);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_expect_eq(r.finished, 1);
	cr_expect_eq(TOTAL(r), 1);
	cr_expect_eq(file_inode(&f, at("queue/%s", b.n)), b.inode);
	cr_expect(file_exists(&f, at("transport/%s", b.n)));
	fixture_close(&f);
}

/* It does not come back: the control file is not taken for a finished one. */
Test(recover_beside, p5_a_body_that_stays_in_hand_is_not_finished)
{
	struct fixture f;
	struct built b = build_first(&f, 0);

	put_control(&f, &b);
	move_file(&f, "public/t", at("router/%s-77", b.n));
	settle(&f);
	cr_expect_eq(TOTAL(recover_routed(&f)), 0);
	cr_expect(file_exists(&f, at("transport/%s", b.n)));
	fixture_close(&f);
}

/* Another message of that number came since: the old one is finished. */
Test(recover_beside, f1_a_number_that_came_again)
{
	static const char *const places[] = { "router/%s", "router/%s-77" };

	for (size_t i = 0; i < 2; i++) {
		struct fixture f;
		struct built b = build_first(&f, 0);
		struct str old = STR_INIT;
		struct recovery r;

		control_bytes(&old, "0123456789abc", b.inode);
		put_file(&f, at("transport/%s", b.n), old.buf, old.len);
		settle(&f);
		move_file(&f, "public/t", at(places[i], b.n));
		r = recover_routed(&f);
		cr_expect_eq(r.completed, 1, "%s", places[i]);
		cr_expect_eq(TOTAL(r), 1);
		cr_expect_eq(file_inode(&f, at(places[i], b.n)), b.inode);
		str_release(&old);
		fixture_close(&f);
	}
}
