/* test_recover.c - every row of the truth table, built by hand, recovered
 *
 * Each case is built, first only reported (nothing may change), then
 * mended, then looked at again: a second run must find nothing to do.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "tests/unit/mail/fixture.h"

/* A message under construction: temporary name public/t<n>. */
struct built {
	ino_t	inode;
	char	id[SPOOL_ID_BYTES];
	char	n[32];			/* inode as text */
	char	path[SPOOL_NAME_BYTES];	/* hashed */
	struct slice control;
};

static struct built
build(struct fixture *f)
{
	struct str control = STR_INIT;
	struct built b;

	b.inode = put_message(f, "public/t", b.id, "body");
	snprintf(b.n, sizeof(b.n), "%ju", (uintmax_t)b.inode);
	spool_hashed_name(f->spool, b.inode, b.path);
	control_bytes(&control, b.id, b.inode);
	b.control = slice_copy(f->arena, str_slice(&control));
	str_release(&control);
	return b;
}

static void
listing_of(struct fixture *f, const char *path, struct str *out)
{
	char command[512];
	char line[512];
	FILE *pipe;

	snprintf(command, sizeof(command),
	    "cd %s && find . -type f -printf '%%p %%i %%n %%s\\n' | sort",
	    path);
	pipe = popen(command, "r");
	cr_assert_not_null(pipe);
	while (fgets(line, sizeof(line), pipe) != NULL)
		str_adds(out, line);
	pclose(pipe);
}

static struct recovery
recover(struct fixture *f, enum recovery_mode mode)
{
	struct str before = STR_INIT, after = STR_INIT;
	struct recovery report, done, again;

	/* REPORT changes nothing, and counts what will be done */
	listing_of(f, f->dir, &before);
	cr_assert_eq(spool_recover(f->spool, RECOVERY_REPORT | mode, NULL,
	    NULL, &report, &f->err), 0, "%s", f->err.text);
	listing_of(f, f->dir, &after);
	cr_expect_str_eq(before.buf, after.buf);
	cr_assert_eq(spool_recover(f->spool, mode, NULL, NULL, &done,
	    &f->err), 0, "%s", f->err.text);
	cr_assert_eq(spool_recover(f->spool, mode, NULL, NULL, &again,
	    &f->err), 0, "%s", f->err.text);
	cr_expect_eq(again.adopted + again.swept + again.copied_in +
	    again.unclaimed + again.plans_dropped + again.finished +
	    again.rerouted + again.completed + again.refiled, 0,
	    "a second run found more to do");
	str_release(&before);
	str_release(&after);
	return done;
}

#define START(f) recover(f, RECOVERY_START)
#define ROUTED_AGAIN(f, b) \
	cr_expect_eq(file_inode(f, at("router/%s", (b).n)), (b).inode)
#define TOTAL(r) ((r).adopted + (r).swept + (r).copied_in + (r).unclaimed + \
	(r).plans_dropped + (r).finished + (r).rerouted + (r).completed + \
	(r).refiled + (r).troubles)

Test(recover, s0_an_unfinished_draft_is_swept)
{
	struct fixture f;
	struct recovery r;
	struct str bytes = STR_INIT;

	fixture_open(&f, 0);
	message_bytes(&bytes, "0123456789abc", "body");
	put_file(&f, "public/empty", "", 0);
	put_file(&f, "public/cut", bytes.buf, bytes.len - 1);
	memcpy(bytes.buf, "complete ------------ --------\n", 31);
	put_file(&f, "public/dashes", bytes.buf, bytes.len);
	r = START(&f);
	cr_expect_eq(r.swept, 3);
	cr_expect_eq(TOTAL(r), 3);
	cr_expect_eq(count_files(&f, "."), 0);
	str_release(&bytes);
	fixture_close(&f);
}

Test(recover, s0_a_young_or_locked_draft_is_left_alone)
{
	struct fixture f;
	struct recovery r;
	struct draft draft;

	fixture_open(&f, 0);
	put_file(&f, "public/young", "x", 1);
	r = recover(&f, 0);
	cr_expect_eq(TOTAL(r), 0);
	cr_expect(file_exists(&f, "public/young"));
	/* at start the young go, too, but not what somebody writes now */
	cr_assert_eq(draft_open(f.spool, NULL, &draft, &f.err), 0);
	r = START(&f);
	cr_expect_eq(r.swept, 1);
	cr_expect(file_exists(&f, at("public/%s", draft.name)));
	draft_abort(&draft);
	fixture_close(&f);
}

Test(recover, s1_a_complete_draft_is_adopted)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	fixture_open(&f, 0);
	b = build(&f);
	r = recover(&f, 0);	/* its submitter may be about to rename it */
	cr_expect_eq(TOTAL(r), 0);
	r = START(&f);
	cr_expect_eq(r.adopted, 1);
	cr_expect_eq(TOTAL(r), 1);
	ROUTED_AGAIN(&f, b);
	fixture_close(&f);
}

Test(recover, s2_an_accepted_message_stays)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	fixture_open(&f, 0);
	b = build(&f);
	move_file(&f, "public/t", at("router/%s", b.n));
	r = START(&f);
	cr_expect_eq(TOTAL(r), 0);
	ROUTED_AGAIN(&f, b);
	fixture_close(&f);
}

/* A report that is durable but of which the control file knows nothing is
 * written again; one that it knows, or whose message is gone, goes out. */
Test(recover, s3_reports)
{
	static const struct {
		bool has_control;
		unsigned records;	/* report records in it */
		unsigned k;
		bool is_adopted;
	} rows[] = {
		{ true, 0, 0, false }, { true, 1, 0, true },
		{ true, 1, 1, false }, { true, 2, 1, true },
		{ false, 0, 0, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		char name[SPOOL_NAME_BYTES], id[SPOOL_ID_BYTES];
		ino_t report;

		fixture_open(&f, 1);
		b = build(&f);
		if (rows[i].has_control) {
			int fd;

			move_file(&f, "public/t", at("queue/%s", b.path));
			put_file(&f, at("transport/%s", b.path),
			    b.control.p, b.control.n);
			fd = open(at("%s/transport/%s", f.dir, b.path),
			    O_RDWR | O_APPEND);
			for (unsigned j = 0; j < rows[i].records; j++) {
				struct work_record record = {
				    .kind = WORK_REPORTED,
				    .rcpt_offset = (uint32_t)(strstr(
					b.control.p, "\nr ") + 1 -
					b.control.p) };

				cr_assert_eq(work_append(fd, b.id, &record, 1,
				    &f.err), 0);
			}
			close(fd);
		} else {
			unlink(at("%s/public/t", f.dir));
		}
		spool_dsn_name(b.id, rows[i].k, name);
		report = put_message(&f, at("public/%s", name), id, "report");
		r = START(&f);
		cr_expect_eq(r.adopted, rows[i].is_adopted, "row %zu", i);
		cr_expect_eq(r.swept, !rows[i].is_adopted, "row %zu", i);
		cr_expect_eq(file_inode(&f, at("router/%ju",
		    (uintmax_t)report)), rows[i].is_adopted ? report : 0);
		cr_expect_eq(count_files(&f, "public"), 0);
		fixture_close(&f);
	}
}

enum { SOMEBODY = 54321 };

static ino_t
put_foreign(struct fixture *f, const char *name, const void *bytes, size_t n)
{
	ino_t inode = put_file(f, at("public/%s", name), bytes, n);

	cr_assert_eq(chown(at("%s/public/%s", f->dir, name), SOMEBODY,
	    SOMEBODY), 0);
	return inode;
}

static void
read_one_in_router(struct fixture *f, struct str *out)
{
	char command[512];
	FILE *pipe;
	int c;

	snprintf(command, sizeof(command), "cat %s/router/*", f->dir);
	pipe = popen(command, "r");
	str_reset(out);
	while ((c = fgetc(pipe)) != EOF)
		str_addc(out, (char)c);
	pclose(pipe);
}

Test(recover, s4_a_submission_of_a_user_is_copied_in)
{
	struct fixture f;
	struct recovery r;
	struct str bytes = STR_INIT, text = STR_INIT;
	struct arena *arena = arena_new();
	struct envelope envelope;
	ino_t original;

	if (geteuid() != 0)
		cr_skip_test("needs two users");
	fixture_open(&f, 0);
	str_adds(&text, "id 0123456789abc\nuser root\nrcvdfrom forged\n"
	    "with ESMTPSA\nfrom <a@example.org>\nto <b@example.net>\nenv-end\n"
	    "Subject: x\n\nbody\n");
	str_addf(&bytes, "complete %012zu %08x\n", text.len,
	    crc32c(0, text.buf, text.len));
	str_add_slice(&bytes, str_slice(&text));
	original = put_foreign(&f, "mine", bytes.buf, bytes.len);
	r = recover(&f, 0);
	cr_expect_eq(r.copied_in, 1, "%s", f.err.text);
	cr_expect_eq(TOTAL(r), 1);
	cr_expect_eq(count_files(&f, "public"), 0);
	cr_assert_eq(count_files(&f, "router"), 1);
	cr_expect_not(file_exists(&f, at("router/%ju", (uintmax_t)original)));
	read_one_in_router(&f, &text);
	cr_assert_eq(envelope_parse(arena, str_slice(&text), &envelope,
	    &f.err), 1, "%s", f.err.text);
	cr_expect_str_neq(envelope.id, "0123456789abc");
	cr_expect(slice_is(envelope.user, "uid54321"));
	cr_expect(slice_is(envelope.rcvdfrom, "localhost (uid 54321)"));
	cr_expect_eq(envelope.with.n, 0);
	cr_expect_eq(envelope.rcpt_count, 1);
	cr_expect(slice_is(slice_from(str_slice(&text),
	    envelope.header_offset), "Subject: x\n\nbody\n"));
	str_release(&bytes);
	str_release(&text);
	arena_free(&arena);
	fixture_close(&f);
}

Test(recover, s4_big_submissions_are_copied_whole)
{
	struct fixture f;
	struct str bytes = STR_INIT, body = STR_INIT, text = STR_INIT;
	struct recovery r;

	if (geteuid() != 0)
		cr_skip_test("needs two users");
	fixture_open(&f, 0);
	for (unsigned i = 0; i < 30000; i++)
		str_addf(&body, "line %u of the body\n", i);
	message_bytes(&bytes, "0123456789abc", body.buf);
	put_foreign(&f, "mine", bytes.buf, bytes.len);
	r = recover(&f, 0);
	cr_expect_eq(r.copied_in, 1);
	read_one_in_router(&f, &text);
	cr_expect(slice_ends(str_slice(&text), body.buf) ||
	    strstr(text.buf, body.buf) != NULL);
	str_release(&bytes);
	str_release(&body);
	str_release(&text);
	fixture_close(&f);
}

Test(recover, s4_what_cannot_be_taken_waits)
{
	struct fixture f;
	struct recovery r;
	struct str bytes = STR_INIT;
	int fd;

	if (geteuid() != 0)
		cr_skip_test("needs two users");
	fixture_open(&f, 0);
	message_bytes(&bytes, "0123456789abc", "body");
	put_foreign(&f, "cut", bytes.buf, bytes.len - 1);
	put_foreign(&f, "locked", bytes.buf, bytes.len);
	put_foreign(&f, "linked", bytes.buf, bytes.len);
	cr_assert_eq(link(at("%s/public/linked", f.dir), at("%s/outside",
	    f.dir)), 0);
	put_foreign(&f, "byhand", "to <b@example.net>\nenv-end\n\nx\n", 30);
	cr_assert_eq(symlink("/etc/passwd", at("%s/public/link", f.dir)), 0);
	fd = open(at("%s/public/locked", f.dir), O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_assert_eq(spool_recover(f.spool, 0, NULL, NULL, &r, &f.err), 0);
	cr_expect_eq(r.copied_in, 0);
	cr_expect_eq(r.swept, 0);
	cr_expect_eq(count_files(&f, "public"), 5);
	cr_expect_eq(count_files(&f, "router"), 0);
	close(fd);
	cr_assert_eq(spool_recover(f.spool, 0, NULL, NULL, &r, &f.err), 0);
	cr_expect_eq(r.copied_in, 1);
	str_release(&bytes);
	fixture_close(&f);
}

/* Crash between the copy's fsync and the unlink of the original. */
Test(recover, s4_copy_and_original_make_one_message)
{
	struct fixture f;
	struct recovery r;
	struct str bytes = STR_INIT;
	char id[SPOOL_ID_BYTES];
	struct stat st;
	ino_t copy;

	if (geteuid() != 0)
		cr_skip_test("needs two users");
	fixture_open(&f, 0);
	message_bytes(&bytes, "0123456789abc", "body");
	put_foreign(&f, "mine", bytes.buf, bytes.len);
	cr_assert_eq(stat(at("%s/public/mine", f.dir), &st), 0);
	copy = put_message(&f, at("public/copy-of-%ju-%jd-%ld",
	    (uintmax_t)st.st_ino, (intmax_t)st.st_ctim.tv_sec,
	    st.st_ctim.tv_nsec), id, "body");
	cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL, &r,
	    &f.err), 0);
	cr_expect_eq(count_files(&f, "public"), 0);
	/* whichever of the two was read first: one message */
	cr_expect_eq(count_files(&f, "router"), 1);
	cr_expect_leq(r.adopted, 1);
	(void)copy;
	str_release(&bytes);
	fixture_close(&f);
}

Test(recover, c1_a_dead_claim_is_given_back)
{
	struct fixture f;
	struct recovery r;
	struct built b, low;

	fixture_open(&f, 0);
	b = build(&f);
	move_file(&f, "public/t", at("router/%s-1", b.n));
	low = build(&f);
	move_file(&f, "public/t", at("router.7/%s-99999", low.n));
	r = recover(&f, 0);
	cr_expect_eq(r.unclaimed, 2);
	cr_expect_eq(TOTAL(r), 2);
	ROUTED_AGAIN(&f, b);
	cr_expect_eq(file_inode(&f, at("router.7/%s", low.n)), low.inode);
	fixture_close(&f);
}

Test(recover, c1_a_living_claim_is_left_alone)
{
	struct fixture f;
	struct recovery r;
	struct built b;
	struct claim held;

	fixture_open(&f, 0);
	b = build(&f);
	move_file(&f, "public/t", at("router/%s", b.n));
	cr_assert_eq(spool_claim(f.spool, 0, b.n, &held, &f.err), 1);
	put_file(&f, at("router/..%s", held.name), "half", 4);
	r = START(&f);
	cr_expect_eq(TOTAL(r), 0);
	cr_expect(file_exists(&f, at("router/%s", held.name)));
	cr_expect(file_exists(&f, at("router/..%s", held.name)));
	/* its plan is half published, and it lives */
	move_file(&f, at("router/%s", held.name), at("queue/%s", b.path));
	r = recover(&f, 0);
	cr_expect_eq(TOTAL(r), 0);
	cr_expect(file_exists(&f, at("queue/%s", b.path)));
	cr_expect(file_exists(&f, at("router/..%s", held.name)));
	close(held.fd);
	fixture_close(&f);
}

Test(recover, p1_p2_a_plan_of_the_dead_is_dropped)
{
	for (int is_whole = 0; is_whole < 2; is_whole++) {
		struct fixture f;
		struct recovery r;
		struct built b;

		fixture_open(&f, 1);
		b = build(&f);
		move_file(&f, "public/t", at("router/%s-77", b.n));
		put_file(&f, at("router/..%s-77", b.n), b.control.p,
		    is_whole ? b.control.n : b.control.n / 2);
		r = recover(&f, is_whole ? RECOVERY_START : 0);
		cr_expect_eq(r.unclaimed, 1);
		cr_expect_eq(r.plans_dropped, 1);
		cr_expect_eq(TOTAL(r), 2);
		ROUTED_AGAIN(&f, b);
		cr_expect_eq(count_files(&f, "."), 1);
		fixture_close(&f);
	}
}

Test(recover, p1_a_plan_without_a_message_is_dropped)
{
	struct fixture f;
	struct recovery r;

	fixture_open(&f, 0);
	put_file(&f, "router/..4711-77", "x", 1);
	r = recover(&f, 0);		/* young */
	cr_expect_eq(TOTAL(r), 0);
	r = START(&f);
	cr_expect_eq(r.plans_dropped, 1);
	cr_expect_eq(count_files(&f, "."), 0);
	fixture_close(&f);
}

Test(recover, p3_a_complete_plan_is_published)
{
	for (unsigned levels = 0; levels < 3; levels++) {
		struct fixture f;
		struct recovery r;
		struct built b;

		fixture_open(&f, levels);
		b = build(&f);
		move_file(&f, "public/t", at("queue/%s", b.path));
		put_file(&f, at("router/..%s-77", b.n), b.control.p,
		    b.control.n);
		r = recover(&f, levels ? RECOVERY_START : 0);
		cr_expect_eq(r.finished, 1);
		cr_expect_eq(TOTAL(r), 1);
		cr_expect(file_exists(&f, at("queue/%s", b.path)));
		cr_expect(file_exists(&f, at("transport/%s", b.path)));
		cr_expect_eq(count_files(&f, "router"), 0);
		fixture_close(&f);
	}
}

Test(recover, p3_a_bad_plan_means_routing_again)
{
	for (int i = 0; i < 2; i++) {
		struct fixture f;
		struct recovery r;
		struct built b, other;

		fixture_open(&f, 0);
		b = build(&f);
		move_file(&f, "public/t", at("queue/%s", b.path));
		other = build(&f);
		unlink(at("%s/public/t", f.dir));
		if (i == 0)
			put_file(&f, at("router/..%s-77", b.n),
			    b.control.p, b.control.n - 1);
		else	/* complete, but of another message */
			put_file(&f, at("router/..%s-77", b.n),
			    other.control.p, other.control.n);
		r = recover(&f, 0);
		cr_expect_eq(r.plans_dropped, 1);
		cr_expect_eq(r.rerouted, 1);
		cr_expect_eq(TOTAL(r), 2);
		ROUTED_AGAIN(&f, b);
		cr_expect_eq(count_files(&f, "."), 1);
		fixture_close(&f);
	}
}

Test(recover, p4_a_routed_message_stays)
{
	struct fixture f;
	struct recovery r;
	struct built b;
	struct str torn = STR_INIT;

	fixture_open(&f, 2);
	b = build(&f);
	move_file(&f, "public/t", at("queue/%s", b.path));
	str_add_slice(&torn, b.control);
	str_adds(&torn, "\nd 00000000 torn rec");
	put_file(&f, at("transport/%s", b.path), torn.buf, torn.len);
	str_release(&torn);
	r = START(&f);
	cr_expect_eq(TOTAL(r), 0);
	cr_expect_eq(count_files(&f, "."), 2);
	fixture_close(&f);
}

Test(recover, p5_renames_kept_in_the_other_order)
{
	static const struct { const char *body; bool is_good; } rows[] = {
		{ "router/%s", true }, { "router/%s-77", true },
		{ "router.4/%s-77", true }, { "router/%s", false },
		{ "router/%s-77", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct recovery r;
		struct built b;

		fixture_open(&f, 1);
		b = build(&f);
		move_file(&f, "public/t", at(rows[i].body, b.n));
		put_file(&f, at("transport/%s", b.path), b.control.p,
		    b.control.n - !rows[i].is_good);
		r = START(&f);
		cr_expect_eq(r.troubles, 0);
		cr_expect_eq(r.finished, rows[i].is_good, "row %zu", i);
		cr_expect_eq(r.plans_dropped, !rows[i].is_good, "row %zu", i);
		if (rows[i].is_good) {
			cr_expect_eq(file_inode(&f, at("queue/%s", b.path)),
			    b.inode);
			cr_expect_eq(count_files(&f, "."), 2);
		} else {
			ROUTED_AGAIN(&f, b);
			cr_expect_eq(count_files(&f, "."), 1);
		}
		fixture_close(&f);
	}
}

/* The inode was used before, and that message's control file came back. */
Test(recover, f1_a_control_file_of_an_older_message_goes)
{
	static const char *const places[] =
	    { "router/%s", "queue/%s", "router/%s-77" };

	for (size_t i = 0; i < 3; i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		struct str old = STR_INIT;

		fixture_open(&f, 0);
		b = build(&f);
		control_bytes(&old, "0123456789abc", b.inode);
		move_file(&f, "public/t", at(places[i], b.n));
		put_file(&f, at("transport/%s", b.path), old.buf, old.len);
		r = START(&f);
		cr_expect_eq(r.completed, 1, "%s", places[i]);
		cr_expect_eq(r.troubles, 0);
		ROUTED_AGAIN(&f, b);
		cr_expect_eq(count_files(&f, "."), 1);
		str_release(&old);
		fixture_close(&f);
	}
}

Test(recover, p6_a_body_without_a_good_control_file_is_routed_again)
{
	static const char *const damage[] = { NULL, "", "\0\0\0\0", "@ 1 0000",
	    "@ 1 00000022 00000000\n" };

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		struct fixture f;
		struct recovery r;
		struct built b;

		fixture_open(&f, 2);
		b = build(&f);
		move_file(&f, "public/t", at("queue/%s", b.path));
		if (damage[i] != NULL)
			put_file(&f, at("transport/%s", b.path), damage[i],
			    i == 2 ? 4 : strlen(damage[i]));
		r = START(&f);
		cr_expect_eq(r.rerouted, 1, "case %zu", i);
		cr_expect_eq(r.plans_dropped, damage[i] != NULL);
		ROUTED_AGAIN(&f, b);
		cr_expect_eq(count_files(&f, "."), 1);
		fixture_close(&f);
	}
}

Test(recover, d1_d2_what_was_set_aside_stays)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	fixture_open(&f, 0);
	b = build(&f);
	move_file(&f, "public/t", at("deferred/%s.dns", b.n));
	b = build(&f);
	move_file(&f, "public/t", at("freezer/%s.policy", b.n));
	b = build(&f);
	move_file(&f, "public/t", at("postman/%s._badheader", b.n));
	r = START(&f);
	cr_expect_eq(TOTAL(r), 0);
	cr_expect_eq(count_files(&f, "."), 3);
	fixture_close(&f);
}

Test(recover, d3_a_resubmitted_name_becomes_the_inode)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	fixture_open(&f, 0);
	b = build(&f);		/* mv deferred/N.why router/ by hand */
	move_file(&f, "public/t", at("router/%s.dns", b.n));
	r = recover(&f, 0);
	cr_expect_eq(r.refiled, 1);
	ROUTED_AGAIN(&f, b);
	fixture_close(&f);
}

Test(recover, d4_the_control_file_follows_its_body)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	fixture_open(&f, 1);
	b = build(&f);
	move_file(&f, "public/t", at("postman/%s.no-report", b.n));
	put_file(&f, at("transport/%s", b.path), b.control.p,
	    b.control.n);
	r = START(&f);
	cr_expect_eq(r.finished, 1);
	cr_expect_eq(TOTAL(r), 1);
	cr_expect(file_exists(&f, at("postman/%s.no-report.control", b.n)));
	cr_expect_eq(count_files(&f, "."), 2);
	fixture_close(&f);
}

Test(recover, f1_a_control_file_alone_is_finished)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	fixture_open(&f, 2);
	b = build(&f);
	unlink(at("%s/public/t", f.dir));
	put_file(&f, at("transport/%s", b.path), b.control.p,
	    b.control.n);
	r = recover(&f, 0);	/* the scheduler's affair while it runs */
	cr_expect_eq(TOTAL(r), 0);
	r = START(&f);
	cr_expect_eq(r.completed, 1);
	cr_expect_eq(TOTAL(r), 1);
	cr_expect_eq(count_files(&f, "."), 0);
	fixture_close(&f);
}

/* A file copied back from a backup has another inode than its name says. */
Test(recover, a_restored_pair_is_refiled)
{
	static const int levels[] = { 0, 1, 2 };

	for (size_t i = 0; i < 3; i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		char old[SPOOL_NAME_BYTES];

		fixture_open(&f, (unsigned)levels[i]);
		b = build(&f);
		spool_hashed_name(f.spool, b.inode + 1000, old);
		move_file(&f, "public/t", at("queue/%s", old));
		put_file(&f, at("transport/%s", old), b.control.p,
		    b.control.n);
		r = START(&f);
		cr_expect_eq(r.refiled, 1);
		cr_expect_eq(TOTAL(r), 1);
		cr_expect_eq(file_inode(&f, at("queue/%s", b.path)), b.inode);
		cr_expect(file_exists(&f, at("transport/%s", b.path)));
		fixture_close(&f);
	}
}

Test(recover, a_pair_half_refiled_finds_together)
{
	for (int i = 0; i < 2; i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		char old[SPOOL_NAME_BYTES];

		fixture_open(&f, 0);
		b = build(&f);
		spool_hashed_name(f.spool, b.inode + 1000, old);
		move_file(&f, "public/t", at("queue/%s", i ? old : b.path));
		put_file(&f, at("transport/%s", i ? b.path : old),
		    b.control.p, b.control.n);
		r = START(&f);
		cr_expect_eq(r.refiled, 1);
		cr_expect_eq(r.troubles, 0);
		cr_expect_eq(file_inode(&f, at("queue/%s", b.path)), b.inode);
		cr_expect(file_exists(&f, at("transport/%s", b.path)));
		cr_expect_eq(count_files(&f, "."), 2);
		fixture_close(&f);
	}
}

Test(recover, other_hash_levels_are_refiled)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	fixture_open(&f, 2);
	b = build(&f);		/* as an instance with hash 0 left it */
	move_file(&f, "public/t", at("queue/%s", b.n));
	put_file(&f, at("transport/%s", b.n), b.control.p, b.control.n);
	r = START(&f);
	cr_expect_eq(r.refiled, 1);
	cr_expect_eq(file_inode(&f, at("queue/%s", b.path)), b.inode);
	cr_expect(file_exists(&f, at("transport/%s", b.path)));
	fixture_close(&f);
}

Test(recover, restored_messages_in_router_are_refiled)
{
	struct fixture f;
	struct recovery r;
	struct built a, b;

	fixture_open(&f, 0);
	a = build(&f);
	move_file(&f, "public/t", "public/keep");
	b = build(&f);
	/* a has b's name, b has none: b must not be lost */
	move_file(&f, "public/keep", at("router/%s", b.n));
	move_file(&f, "public/t", "router/restored");
	r = recover(&f, 0);
	cr_expect_eq(r.refiled, 2);
	ROUTED_AGAIN(&f, a);
	ROUTED_AGAIN(&f, b);
	fixture_close(&f);
}

Test(recover, two_that_swapped_names_are_told_not_lost)
{
	struct fixture f;
	struct recovery r;
	struct built a, b;

	fixture_open(&f, 0);
	a = build(&f);
	move_file(&f, "public/t", "public/keep");
	b = build(&f);
	move_file(&f, "public/keep", at("router/%s", b.n));
	move_file(&f, "public/t", at("router/%s", a.n));
	r = START(&f);
	cr_expect_eq(count_files(&f, "router"), 2);
	cr_expect_eq(r.troubles + r.refiled, 2);
	fixture_close(&f);
}

/* Row T1: btrfs, or the link that stands for a rename. */
Test(recover, t1_two_names_of_one_file)
{
	static const struct { const char *early, *late; } rows[] = {
		{ "public/%s", "router/%s" },
		{ "router/%s-77", "queue/%s" },
		{ "router/%s-77", "router/%s" },
		{ "router/%s-77", "deferred/%s.dns" },
		{ "postman/%s.x", "router/%s-5" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		bool is_routed = strncmp(rows[i].late, "queue", 5) == 0;

		fixture_open(&f, 0);
		b = build(&f);
		move_file(&f, "public/t", at(rows[i].late, b.n));
		cr_assert_eq(link(at("%s/%s", f.dir, at(rows[i].late, b.n)),
		    at("%s/%s", f.dir, at(rows[i].early, b.n))), 0);
		if (is_routed)
			put_file(&f, at("transport/%s", b.path),
			    b.control.p, b.control.n);
		cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL,
		    &r, &f.err), 0);
		cr_expect_eq(r.troubles, 0, "row %zu", i);
		cr_expect_eq(count_files(&f, "."), is_routed ? 2 : 1,
		    "row %zu", i);
		if (is_routed)
			cr_expect_eq(file_inode(&f, at("queue/%s", b.path)),
			    b.inode);
		fixture_close(&f);
	}
}

Test(recover, what_is_no_file_of_ours_is_told)
{
	struct fixture f;
	struct recovery r;

	fixture_open(&f, 0);
	cr_assert_eq(mkdir(at("%s/router/sub", f.dir), 0700), 0);
	cr_assert_eq(symlink("/etc/passwd", at("%s/router/123", f.dir)), 0);
	put_file(&f, "queue/what", "x", 1);
	r = START(&f);
	cr_expect_eq(r.troubles, 3);
	cr_expect_eq(r.troubles, TOTAL(r));
	cr_expect(file_exists(&f, "queue/what"));
	fixture_close(&f);
}

struct told {
	unsigned	count;
	char		last[256];
};

static void
tell(void *context, const char *file, const char *from, const char *to,
    const char *reason)
{
	struct told *told = context;

	told->count++;
	snprintf(told->last, sizeof(told->last), "%s %s>%s: %s", file, from,
	    to, reason);
}

Test(recover, the_caller_is_told_each_move)
{
	struct fixture f;
	struct recovery r;
	struct told told = { 0, "" };
	struct built b;

	fixture_open(&f, 0);
	b = build(&f);
	move_file(&f, "public/t", at("router/%s-77", b.n));
	cr_assert_eq(spool_recover(f.spool, RECOVERY_REPORT, tell, &told, &r,
	    &f.err), 0);
	cr_expect_eq(told.count, 1);
	cr_expect_str_eq(told.last, at("%s-77 router/%s-77>router/%s: its "
	    "worker died (C1)", b.n, b.n, b.n));
	fixture_close(&f);
}
