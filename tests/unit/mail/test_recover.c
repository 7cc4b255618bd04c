/* test_recover.c - what was submitted or claimed, built by hand, recovered
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "recover_case.h"

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

	b = build_first(&f, 0);
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

	b = build_first(&f, 0);
	move_file(&f, "public/t", at("router/%s", b.n));
	r = START(&f);
	cr_expect_eq(TOTAL(r), 0);
	ROUTED_AGAIN(&f, b);
	fixture_close(&f);
}

/* The message has its id, and lies in another file. */
static void
take_other_inode(struct fixture *f, struct built *b)
{
	struct str bytes = STR_INIT;

	message_bytes(&bytes, b->id, "body");
	b->inode = put_file(f, "public/t2", bytes.buf, bytes.len);
	cr_assert_neq(b->inode, spool_id_inode(slice_of(b->id)));
	move_file(f, "public/t2", "public/t");
	snprintf(b->n, sizeof(b->n), "%ju", (uintmax_t)b->inode);
	spool_hashed_name(f->spool, b->inode, b->path);
	str_reset(&bytes);
	control_bytes(&bytes, b->id, b->inode);
	b->control = slice_copy(f->arena, str_slice(&bytes));
	str_release(&bytes);
}

/* A report that is durable but of which the control file knows nothing is
 * written again; one that it knows, or whose message is gone, goes out. */
static void
s3_reports(bool is_in_halves)
{
	static const struct {
		bool has_control;
		unsigned records;	/* report records in it */
		unsigned k;
		bool is_adopted;
		bool is_ended;		/* the message is gone (F1) */
		bool is_other;		/* the inode is not that of the id:
					 * encoded, restored, moved */
	} rows[] = {
		{ true, 0, 0, false, false, false },
		{ true, 1, 0, true, false, false },
		{ true, 1, 1, false, false, false },
		{ true, 2, 1, true, false, false },
		{ false, 0, 0, true, false, false },
		/* a power cut took the marks: nobody would write it again */
		{ true, 0, 0, true, true, false },
		{ true, 1, 1, true, true, false },
		{ true, 0, 0, false, false, true },
		{ true, 1, 0, true, false, true },
		{ true, 1, 1, true, true, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		char name[SPOOL_NAME_BYTES], id[SPOOL_ID_BYTES];
		ino_t report;

		b = build_first(&f, 1);
		if (rows[i].is_other)
			take_other_inode(&f, &b);
		if (rows[i].has_control) {
			int fd;

			move_file(&f, "public/t", at("queue/%s", b.path));
			put_file(&f, at("transport/%s", b.path),
			    b.control.p, b.control.n);
			fd = open(at("%s/transport/%s", f.dir, b.path),
			    O_RDWR | O_APPEND);
			for (unsigned j = 0; j < rows[i].records; j++) {
				struct control_record record = {
					.kind = RECORD_REPORTED,
					.rcpt_offset =
					    (uint32_t)(strstr(b.control.p,
							   "\nr ") +
						1 - b.control.p)
				};

				cr_assert_eq(control_file_append(fd, b.id,
				    &record, 1,
				    &f.err), 0);
			}
			close(fd);
			if (rows[i].is_ended)
				unlink(at("%s/queue/%s", f.dir, b.path));
		} else {
			unlink(at("%s/public/t", f.dir));
		}
		spool_dsn_name(b.id, rows[i].k, name);
		report = put_message(&f, at("public/%s", name), id, "report");
		r = is_in_halves ? recover_halves(&f) : START(&f);
		cr_expect_eq(r.adopted, rows[i].is_adopted, "row %zu", i);
		cr_expect_eq(r.swept, !rows[i].is_adopted, "row %zu", i);
		cr_expect_eq(file_inode(&f, at("router/%ju",
		    (uintmax_t)report)), rows[i].is_adopted ? report : 0);
		cr_expect_eq(count_files(&f, "public"), 0);
		fixture_close(&f);
	}
}

Test(recover, s3_reports)
{
	s3_reports(false);
}

Test(recover_halves, s3_reports)
{
	s3_reports(true);
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
	    &f.err), 0, "%s", f.err.text);
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

/* Each copy is synced: a start does not wait for them. */
Test(recover, s4_a_start_leaves_them_to_the_workers)
{
	struct fixture f;
	struct recovery r;
	struct str bytes = STR_INIT;

	if (geteuid() != 0)
		cr_skip_test("needs two users");
	fixture_open(&f, 0);
	message_bytes(&bytes, "0123456789abc", "body");
	put_foreign(&f, "mine", bytes.buf, bytes.len);
	cr_assert_eq(spool_recover(f.spool, (enum recovery_mode)(
	    RECOVERY_START | RECOVERY_UNROUTED), NULL, NULL, &r, &f.err), 0);
	cr_expect_eq(TOTAL(r), 0);
	settle(&f);
	cr_assert_eq(spool_recover(f.spool, RECOVERY_ROUTED, NULL, NULL, &r,
	    &f.err), 0);
	cr_expect_eq(TOTAL(r), 0);
	cr_expect_eq(count_files(&f, "public"), 1);
	cr_assert_eq(spool_recover(f.spool, 0, NULL, NULL, &r, &f.err), 0);
	cr_expect_eq(r.copied_in, 1, "%s", f.err.text);
	str_release(&bytes);
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

/* What strangers leave in public/ that is no mail. */
Test(recover, s4_clutter_of_strangers_goes)
{
	static const char command[] = "cd '%s/public' && mkfifo fifo && "
	    "ln -s /nowhere link && mkdir dir full && touch full/x hidden "
	    "empty && chmod 0 hidden && chown -h 54321 * && chmod 0777 ..";
	struct fixture f;
	struct recovery r;

	if (geteuid() != 0)
		cr_skip_test("needs two users");
	fixture_open(&f, 0);
	cr_assert_eq(system(at(command, f.dir)), 0);
	cr_assert_eq(spool_recover(f.spool, RECOVERY_REPORT, NULL, NULL, &r,
	    &f.err), 0);
	cr_expect_eq(r.copied_in, 0, "an empty file is no submission yet");
	cr_assert_eq(spool_recover(f.spool, 0, NULL, NULL, &r, &f.err), 0);
	cr_expect_eq(r.swept, 3);
	cr_expect_eq(r.troubles, 0);
	cr_expect_eq(access(at("%s/public/hidden", f.dir), F_OK), 0);
	clock_hold_wall((clock_wall_s() + 7200) * 1000000);
	cr_assert_eq(spool_recover(f.spool, 0, NULL, NULL, &r, &f.err), 0);
	cr_expect_eq(r.swept, 2);
	fixture_close(&f);
}

/* One reading for all: a CR that no LF follows ends a line on the wire. */
Test(recover, s4_a_cr_is_a_line_end)
{
	static const char text[] = "from <a@src.test>\nto <b@example.net>\n"
	    "env-end\nSubject: a\rX-B: c\r\n\nx\r\ry\r\n";
	struct fixture f;
	struct recovery r;
	struct str got = STR_INIT;

	if (geteuid() != 0)
		cr_skip_test("needs two users");
	fixture_open(&f, 0);
	put_foreign(&f, "mine", text, sizeof(text) - 1);
	clock_hold_wall((clock_wall_s() + 600) * 1000000);
	cr_assert_eq(spool_recover(f.spool, 0, NULL, NULL, &r, &f.err), 0);
	cr_expect_eq(r.copied_in, 1);
	read_one_in_router(&f, &got);
	cr_expect(strstr(got.buf, "\nSubject: a\nX-B: c\n\nx\n\ny\n"), "%s",
	    got.buf);
	cr_expect_null(strchr(got.buf, '\r'));
	str_release(&got);
	fixture_close(&f);
}

/* `size` holds for them, too. */
Test(recover, s4_what_is_too_large_is_not_copied)
{
	struct fixture f;
	struct recovery r;
	struct str bytes = STR_INIT;

	if (geteuid() != 0)
		cr_skip_test("needs two users");
	fixture_open(&f, 0);
	message_bytes(&bytes, "0123456789abc", "0123456789");
	put_foreign(&f, "mine", bytes.buf, bytes.len);
	spool_set_size(f.spool, 9);
	cr_assert_eq(spool_recover(f.spool, 0, NULL, NULL, &r, &f.err), 0);
	cr_expect_eq(r.copied_in, 0);
	spool_set_size(f.spool, 1000);
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

/* The draft that milters have seen, and the original or not. */
static void
seen_case(bool has_original, bool is_frozen)
{
	struct fixture f;
	char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES];
	struct recovery r;
	struct built b;
	ino_t copy;
	struct str bytes = STR_INIT;

	b = build_first(&f, 0);
	memcpy(id, b.id, sizeof(id));
	snprintf(name, sizeof(name), "public/milter-%s%s-%s",
	    is_frozen ? "frozen-" : "", b.n, id);
	message_bytes(&bytes, id, "signed");
	copy = put_file(&f, name, bytes.buf, bytes.len);
	if (has_original)
		move_file(&f, "public/t", at("deferred/%s.milter", b.n));
	else
		cr_assert_eq(unlink(at("%s/public/t", f.dir)), 0);
	r = recover(&f, RECOVERY_START);
	cr_expect_eq(r.adopted, 1);
	cr_expect_eq(r.copied_in, has_original);
	cr_expect_eq(count_files(&f, "public"), 0);
	cr_expect_eq(count_files(&f, "deferred"), 0);
	cr_expect_eq(file_inode(&f, is_frozen ?
	    at("freezer/%ju.milter", (uintmax_t)copy) :
	    at("router/%ju", (uintmax_t)copy)), copy);
	str_release(&bytes);
	fixture_close(&f);
}

Test(recover, l2_of_what_milters_have_seen_one_is_left)
{
	seen_case(true, false);
	seen_case(true, true);
}

Test(recover, l3_what_milters_have_seen_goes_where_its_name_says)
{
	seen_case(false, false);
	seen_case(false, true);
}

Test(recover, l1_an_unfinished_one_leaves_the_original)
{
	struct fixture f;
	struct built b;

	b = build_first(&f, 0);
	move_file(&f, "public/t", at("deferred/%s.milter", b.n));
	put_file(&f, at("public/milter-%s-%s", b.n, b.id), "complete -", 10);
	(void)recover(&f, RECOVERY_START);
	cr_expect_eq(file_inode(&f, at("deferred/%s.milter", b.n)), b.inode);
	cr_expect_eq(count_files(&f, "router"), 0);
	fixture_close(&f);
}

Test(recover, c1_a_dead_claim_is_given_back)
{
	struct fixture f;
	struct recovery r;
	struct built b, low;

	b = build_first(&f, 0);
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

/* The record has a second name of a message (mail/spool/keep.h): neither the
 * start nor the router takes that for two names of the spool. */
Test(recover, k1_a_kept_name_is_none_of_the_spools)
{
	struct fixture f;
	struct recovery r;
	struct built b;
	struct claim held;

	b = build_first(&f, 0);
	move_file(&f, "public/t", at("router/%s", b.n));
	cr_assert_eq(mkdir(at("%s/record", f.dir), 0700), 0);
	cr_assert_eq(chmod(at("%s/router/%s", f.dir, b.n), 0610), 0);
	cr_assert_eq(link(at("%s/router/%s", f.dir, b.n),
	    at("%s/record/kept", f.dir)), 0);
	r = START(&f);
	cr_expect_eq(TOTAL(r), 0);
	cr_expect_eq(spool_claim(f.spool, 0, b.n, &held, &f.err), 1, "%s",
	    f.err.text);
	close(held.fd);
	fixture_close(&f);
}

Test(recover, c1_a_living_claim_is_left_alone)
{
	struct fixture f;
	struct recovery r;
	struct built b;
	struct claim held;

	b = build_first(&f, 0);
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

static void
sweep_for_ever(struct fixture *f)
{
	struct recovery r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		spool_recover(f->spool, RECOVERY_START, NULL, NULL, &r,
		    &f->err);
}

/* A fresh draft that is not locked yet goes; never the next of its name. */
Test(recover, s0_a_draft_that_is_held_keeps_its_name)
{
	struct fixture f;
	pid_t sweeper;

	fixture_open(&f, 0);
	fflush(NULL);
	sweeper = fork();
	if (sweeper == 0)
		sweep_for_ever(&f);
	for (int i = 0; i < 20000; i++) {
		struct draft draft;
		struct stat st;

		cr_assert_eq(draft_open(f.spool, "dsn-0-0", &draft, &f.err),
		    0, "%s", f.err.text);
		for (int k = 0; k < 20; k++)
			cr_assert_eq(stat(at("%s/public/dsn-0-0", f.dir),
			    &st), 0, "draft %d is gone", i);
		cr_assert_eq(st.st_ino, draft.inode);
		draft_abort(&draft);
	}
	cr_assert_eq(kill(sweeper, SIGKILL), 0);
	waitpid(sweeper, NULL, 0);
	fixture_close(&f);
}
