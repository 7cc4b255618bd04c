/* test_recover_pair.c - pairs whose names fit, asked one by one
 *
 * SPDX-License-Identifier: ISC
 */
#include "recover_case.h"

#define OTHER_ID "0123456789abc"

static struct built
build_pair(struct fixture *f, const char *control, size_t n)
{
	struct built b = build_first(f, 1);

	move_file(f, "public/t", at("queue/%s", b.path));
	put_file(f, at("transport/%s", b.path), control != NULL ? control :
	    b.control.p, control != NULL ? n : b.control.n);
	return b;
}

static enum spool_pair
check(struct fixture *f, const struct built *b, const char *id)
{
	int fd = open(at("%s/transport/%s", f->dir, b->path), O_RDONLY);
	int body = open(at("%s/queue/%s", f->dir, b->path), O_RDONLY);
	enum spool_pair pair;
	bool waited;

	cr_assert(fd >= 0 && body >= 0);
	pair = spool_check_pair(f->spool, b->path, fd, body, id, &waited);
	close(fd);
	close(body);
	return pair;
}

Test(recover_pair, a_good_one_stays)
{
	struct fixture f;
	struct built b = build_pair(&f, NULL, 0);

	cr_expect_eq(check(&f, &b, b.id), SPOOL_PAIR_GOOD);
	/* what follows its head could not be read: that is not P6 */
	cr_expect_eq(check(&f, &b, NULL), SPOOL_PAIR_GOOD);
	cr_expect_eq(count_files(&f, "."), 2);
	fixture_close(&f);
}

/* The start leaves it, its reader does not. */
Test(recover_pair, f1_p6_a_control_file_of_an_older_message)
{
	struct fixture f;
	struct built b = build_first(&f, 1);
	struct str old = STR_INIT;

	control_bytes(&old, OTHER_ID, b.inode);
	move_file(&f, "public/t", at("queue/%s", b.path));
	put_file(&f, at("transport/%s", b.path), old.buf, old.len);
	cr_expect_eq(TOTAL(recover_halves(&f)), 0);
	cr_expect_eq(count_files(&f, "."), 2);
	cr_expect_eq(check(&f, &b, OTHER_ID), SPOOL_PAIR_MENDED);
	ROUTED_AGAIN(&f, b);
	cr_expect_eq(count_files(&f, "."), 1);
	str_release(&old);
	fixture_close(&f);
}

Test(recover_pair, p6_a_damaged_control_file)
{
	static const char *const damage[] = { "", "\0\0\0\0", "@ 1 0000",
	    "@ 1 00000022 00000000\n" };

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		struct fixture f;
		struct built b = build_pair(&f, damage[i], i == 1 ? 4 :
		    strlen(damage[i]));

		cr_expect_eq(TOTAL(recover_halves(&f)), 0);
		cr_expect_eq(check(&f, &b, NULL), SPOOL_PAIR_MENDED, "%zu", i);
		ROUTED_AGAIN(&f, b);
		cr_expect_eq(count_files(&f, "."), 1);
		fixture_close(&f);
	}
}

/* Who was read is not who lies there now: nothing is touched. */
Test(recover_pair, a_file_that_was_replaced_is_looked_at_again)
{
	struct fixture f;
	struct built b = build_pair(&f, NULL, 0);
	int fd = open(at("%s/transport/%s", f.dir, b.path), O_RDONLY);
	int body = open(at("%s/queue/%s", f.dir, b.path), O_RDONLY);
	bool waited;

	cr_assert(fd >= 0 && body >= 0);
	cr_assert_eq(unlink(at("%s/transport/%s", f.dir, b.path)), 0);
	put_control(&f, &b);
	cr_expect_eq(spool_check_pair(f.spool, b.path, fd, body, OTHER_ID,
	    &waited), SPOOL_PAIR_CHANGED);
	cr_expect_eq(count_files(&f, "."), 2);
	close(fd);
	close(body);
	fixture_close(&f);
}

/* A copy that came back under names that are no inodes is read at once. */
Test(recover_pair, names_that_do_not_fit_are_read_at_the_start)
{
	struct fixture f;
	struct recovery r;
	struct built b = build_first(&f, 0);

	move_file(&f, "public/t", "queue/424242");
	put_file(&f, "transport/424242", b.control.p, b.control.n);
	r = recover_halves(&f);
	cr_expect_eq(r.refiled, 1);
	cr_expect_eq(file_inode(&f, at("queue/%s", b.path)), b.inode);
	cr_expect(file_exists(&f, at("transport/%s", b.path)));
	fixture_close(&f);
}
