/* test_takeover.c - mail of another node: rows I1 to I3, and what a start makes
 * of them
 *
 * SPDX-License-Identifier: ISC
 */
#include "recover_case.h"

#include "base/fd.h"
#include "mail/spool/takeover.h"

#define KEY "node-362c7s3dt91aj-17"

/* A message as it is in the database: of another inode than here. */
struct theirs {
	struct str	 body, control;
	char		 id[SPOOL_ID_BYTES];
	struct takeover	 files;
};

static void
theirs_begin(struct fixture *f, struct theirs *t, bool is_frozen,
    bool has_control)
{
	fixture_open(f, 1);
	str_init(&t->body);
	str_init(&t->control);
	strlcpy(t->id, "362c7s3dt91aj", sizeof(t->id));
	message_bytes(&t->body, t->id, "body");
	control_bytes(&t->control, t->id, 4711);
	cr_assert_eq(takeover_begin(f->spool, KEY, is_frozen, has_control,
	    &t->files, &f->err), 0, "%s", f->err.text);
	cr_assert_eq(fd_write_all(t->files.body.fd, t->body.buf, t->body.len),
	    0);
	if (has_control)
		cr_assert_eq(fd_write_all(t->files.control.fd, t->control.buf,
		    t->control.len), 0);
}

static void
line_write(struct fixture *f, const struct theirs *t)
{
	const struct spool_import_line line = { t->files.key, t->id };
	struct spool_imports *imports;

	cr_assert_eq(spool_imports_open(f->spool, true, &imports, &f->err),
	    0);
	cr_assert_eq(spool_imports_add_all(imports, &line, 1, &f->err), 0);
	spool_imports_close(&imports);
}

static void
theirs_end(struct fixture *f, struct theirs *t)
{
	str_release(&t->body);
	str_release(&t->control);
	fixture_close(f);
}

static const char *
path_of(struct fixture *f, const struct theirs *t, const char *area)
{
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(f->spool, t->files.body.inode, name);
	return at("%s/%s", area, name);
}

static void
is_queued(struct fixture *f, const struct theirs *t)
{
	cr_expect_eq(file_inode(f, path_of(f, t, "queue")),
	    t->files.body.inode);
	cr_expect(file_exists(f, path_of(f, t, "transport")));
	cr_expect_eq(count_files(f, "public"), 0);
}

Test(takeover, with_its_control_file_it_is_queued)
{
	struct fixture f;
	struct theirs t;

	theirs_begin(&f, &t, false, true);
	line_write(&f, &t);
	cr_expect_eq(takeover_publish(&t.files, "", &f.err), 0, "%s",
	    f.err.text);
	is_queued(&f, &t);
	theirs_end(&f, &t);
}

Test(takeover, without_one_it_is_routed_or_frozen)
{
	struct fixture f;
	struct theirs t;

	theirs_begin(&f, &t, false, false);
	cr_expect_eq(takeover_publish(&t.files, "", &f.err), 0);
	cr_expect(file_exists(&f, at("router/%ju",
	    (uintmax_t)t.files.body.inode)));
	theirs_end(&f, &t);
	theirs_begin(&f, &t, true, false);
	cr_expect_eq(takeover_publish(&t.files, "policy-7", &f.err), 0);
	cr_expect(file_exists(&f, at("freezer/%ju.policy-7",
	    (uintmax_t)t.files.body.inode)));
	theirs_end(&f, &t);
}

/* The database has it, and the same command makes it again. */
Test(takeover, i1_without_a_line_a_start_removes_it)
{
	for (int has_control = 0; has_control < 2; has_control++) {
		struct fixture f;
		struct theirs t;
		struct recovery r;

		theirs_begin(&f, &t, false, has_control);
		takeover_leave(&t.files);
		r = START(&f);
		cr_expect_eq(r.swept, has_control ? 2 : 1);
		cr_expect_eq(TOTAL(r), r.swept);
		cr_expect_eq(count_files(&f, "."), 0);
		theirs_end(&f, &t);
	}
}

/* While a tool is at it nobody touches it. */
Test(takeover, i1_what_is_being_written_stays)
{
	struct fixture f;
	struct theirs t;
	struct recovery r;

	theirs_begin(&f, &t, false, true);
	r = recover(&f, 0);
	cr_expect_eq(TOTAL(r), 0);
	cr_expect_eq(count_files(&f, "public"), 2);
	theirs_end(&f, &t);
}

Test(takeover, i2_with_a_line_a_start_queues_it)
{
	struct fixture f;
	struct theirs t;
	struct recovery r;

	theirs_begin(&f, &t, false, true);
	line_write(&f, &t);
	takeover_leave(&t.files);
	r = START(&f);
	cr_expect_eq(r.adopted, 2);
	cr_expect_eq(TOTAL(r), 2);
	is_queued(&f, &t);
	theirs_end(&f, &t);
}

Test(takeover, i2_without_a_control_file_it_is_routed)
{
	struct fixture f;
	struct theirs t;

	theirs_begin(&f, &t, false, false);
	line_write(&f, &t);
	takeover_leave(&t.files);
	START(&f);
	cr_expect(file_exists(&f, at("router/%ju",
	    (uintmax_t)t.files.body.inode)));
	theirs_end(&f, &t);
	theirs_begin(&f, &t, true, false);
	line_write(&f, &t);
	takeover_leave(&t.files);
	START(&f);
	cr_expect(file_exists(&f, at("freezer/%ju.imported",
	    (uintmax_t)t.files.body.inode)));
	theirs_end(&f, &t);
}

/* The publishing was cut between its two renames. */
Test(takeover, i3_the_control_file_follows_its_message)
{
	struct fixture f;
	struct theirs t;
	struct recovery r;
	const char *body;

	theirs_begin(&f, &t, false, true);
	line_write(&f, &t);
	body = at("public/%s", t.files.body.name);
	takeover_leave(&t.files);
	move_file(&f, body, path_of(&f, &t, "queue"));
	r = START(&f);
	cr_expect_eq(r.adopted, 1);
	cr_expect_eq(TOTAL(r), 1);
	is_queued(&f, &t);
	theirs_end(&f, &t);
}

/* The same, while the scheduler runs: it is not routed again, to those that
 * have it. */
Test(takeover, i3_beside_daemons_it_follows_a_message_that_stays_alone)
{
	struct fixture f;
	struct theirs t;
	char name[SPOOL_NAME_BYTES];
	const char *body;

	theirs_begin(&f, &t, false, true);
	line_write(&f, &t);
	spool_hashed_name(f.spool, t.files.body.inode, name);
	body = at("public/%s", t.files.body.name);
	draft_hand_over(&t.files.body);
	move_file(&f, body, path_of(&f, &t, "queue"));
	cr_expect_not(spool_route_lone_body(f.spool, name), "locked");
	cr_expect(file_exists(&f, path_of(&f, &t, "queue")));
	draft_hand_over(&t.files.control);
	cr_expect(spool_route_lone_body(f.spool, name));
	is_queued(&f, &t);
	theirs_end(&f, &t);
}

Test(takeover, i3_beside_daemons_a_control_file_of_another_is_no_help)
{
	struct fixture f;
	struct theirs t;
	char name[SPOOL_NAME_BYTES];
	const char *body;

	theirs_begin(&f, &t, false, true);
	cr_assert_eq(pwrite(t.files.control.fd, "x", 1, 0), 1);
	spool_hashed_name(f.spool, t.files.body.inode, name);
	body = at("public/%s", t.files.body.name);
	takeover_leave(&t.files);
	move_file(&f, body, path_of(&f, &t, "queue"));
	cr_expect(spool_route_lone_body(f.spool, name));
	cr_expect(file_exists(&f, at("router/%ju",
	    (uintmax_t)t.files.body.inode)));
	theirs_end(&f, &t);
}

/* It was routed again meanwhile (P6), and another message has the number. */
Test(takeover, i3_a_control_file_of_what_has_gone_on_is_removed)
{
	struct fixture f;
	struct theirs t;
	struct recovery r;

	theirs_begin(&f, &t, false, true);
	line_write(&f, &t);
	takeover_leave(&t.files);
	cr_assert_eq(unlink(at("%s/public/import-" KEY, f.dir)), 0);
	r = START(&f);
	cr_expect_eq(r.swept, 1);
	cr_expect_eq(TOTAL(r), 1);
	cr_expect_eq(count_files(&f, "public"), 0);
	theirs_end(&f, &t);
}

/* Half a control file, as a power cut leaves it, is none. */
Test(takeover, i2_a_damaged_control_file_has_it_routed_again)
{
	struct fixture f;
	struct theirs t;

	theirs_begin(&f, &t, false, true);
	line_write(&f, &t);
	cr_assert_eq(ftruncate(t.files.control.fd,
	    (off_t)t.control.len / 2), 0);
	takeover_leave(&t.files);
	START(&f);
	cr_expect(file_exists(&f, at("router/%ju",
	    (uintmax_t)t.files.body.inode)));
	cr_expect_eq(count_files(&f, "public"), 0);
	theirs_end(&f, &t);
}
