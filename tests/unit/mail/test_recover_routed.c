/* test_recover_routed.c - plans and routed pairs, built by hand, recovered
 *
 * SPDX-License-Identifier: ISC
 */
#include "recover_case.h"

/* What a start finds in two halves, in the second one by names alone, is what
 * one finds that reads pairs, too. */
static bool is_in_halves;

#define BOTH(name) \
	static void name(void); \
	Test(recover, name) \
	{ \
		name(); \
	} \
	Test(recover_halves, name) \
	{ \
		is_in_halves = true; \
		name(); \
	} \
	static void name(void)

#undef START
#define START(f) (is_in_halves ? recover_halves(f) : \
	recover(f, RECOVERY_START))

BOTH(p1_p2_a_plan_of_the_dead_is_dropped)
{
	for (int is_whole = 0; is_whole < 2; is_whole++) {
		struct fixture f;
		struct recovery r;
		struct built b;

		b = build_first(&f, 1);
		move_file(&f, "public/t", at("router/%s-77", b.n));
		put_file(&f, at("router/..%s-77", b.n), b.control.p,
		    is_whole ? b.control.n : b.control.n / 2);
		r = is_whole ? START(&f) : recover(&f, 0);
		cr_expect_eq(r.unclaimed, 1);
		cr_expect_eq(r.plans_dropped, 1);
		cr_expect_eq(TOTAL(r), 2);
		ROUTED_AGAIN(&f, b);
		cr_expect_eq(count_files(&f, "."), 1);
		fixture_close(&f);
	}
}

BOTH(p1_a_plan_without_a_message_is_dropped)
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

/* A worker was killed, another one routed the message since. */
Test(recover, p4_half_a_plan_of_the_dead_moves_no_published_message)
{
	for (int is_whole = 0; is_whole < 2; is_whole++) {
		struct fixture f;
		struct recovery r;
		struct built b;

		b = build_first(&f, 1);
		move_file(&f, "public/t", at("queue/%s", b.path));
		put_control(&f, &b);
		put_file(&f, at("router/plans/k/..%s-77", b.n), b.control.p,
		    is_whole ? b.control.n : b.control.n / 2);
		r = recover(&f, 0);
		cr_expect_eq(r.plans_dropped, 1);
		cr_expect_eq(TOTAL(r), 1);
		cr_expect(file_exists(&f, at("queue/%s", b.path)));
		cr_expect(file_exists(&f, at("transport/%s", b.path)));
		fixture_close(&f);
	}
}

Test(recover, p6_a_body_is_routed_again_beside_daemons_unless_it_is_locked)
{
	struct fixture f;
	struct built b;
	int fd;

	b = build_first(&f, 1);
	move_file(&f, "public/t", at("queue/%s", b.path));
	fd = openat(spool_dir_fd(f.spool, AREA_QUEUE, 0), b.path, O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_expect_not(spool_route_lone_body(f.spool, b.path));
	close(fd);
	put_control(&f, &b);
	cr_expect_not(spool_route_lone_body(f.spool, b.path));
	cr_assert_eq(unlinkat(spool_dir_fd(f.spool, AREA_TRANSPORT, 0),
	    b.path, 0), 0);
	cr_expect(spool_route_lone_body(f.spool, b.path));
	ROUTED_AGAIN(&f, b);
	cr_expect_not(spool_route_lone_body(f.spool, b.path), "gone");
	fixture_close(&f);
}

BOTH(p3_a_complete_plan_is_published)
{
	for (unsigned levels = 0; levels < 3; levels++) {
		struct fixture f;
		struct recovery r;
		struct built b;

		b = build_first(&f, levels);
		move_file(&f, "public/t", at("queue/%s", b.path));
		put_file(&f, at("router/..%s-77", b.n), b.control.p,
		    b.control.n);
		r = levels ? START(&f) : recover(&f, 0);
		cr_expect_eq(r.finished, 1);
		cr_expect_eq(TOTAL(r), 1);
		cr_expect(file_exists(&f, at("queue/%s", b.path)));
		cr_expect(file_exists(&f, at("transport/%s", b.path)));
		cr_expect_eq(count_files(&f, "router"), 0);
		fixture_close(&f);
	}
}

BOTH(p3_a_bad_plan_means_routing_again)
{
	for (int i = 0; i < 2; i++) {
		struct fixture f;
		struct recovery r;
		struct built b, other;

		b = build_first(&f, 0);
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

BOTH(p4_a_routed_message_stays)
{
	struct fixture f;
	struct recovery r;
	struct built b;
	struct str torn = STR_INIT;

	b = build_first(&f, 2);
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

BOTH(p5_renames_kept_in_the_other_order)
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

		b = build_first(&f, 1);
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
/* The disk kept none of the renames since it was set aside. */
Test(recover, p5_a_message_that_had_been_set_aside)
{
	static const char *const rows[] = { "deferred/%s.table-t",
	    "freezer/%s.policy" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct recovery r;
		struct built b;

		b = build_first(&f, 1);
		put_control(&f, &b);
		move_file(&f, "public/t", at(rows[i], b.n));
		r = START(&f);
		cr_expect_eq(r.finished, 1);
		cr_expect_eq(TOTAL(r), 1);
		cr_expect_eq(file_inode(&f, at("queue/%s", b.path)), b.inode);
		cr_expect(file_exists(&f, at("transport/%s", b.path)));
		fixture_close(&f);
	}
}

Test(recover, f1_a_control_file_of_an_older_message_goes)
{
	static const char *const places[] =
	    { "router/%s", "queue/%s", "router/%s-77" };

	for (size_t i = 0; i < 3; i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		struct str old = STR_INIT;

		b = build_first(&f, 0);
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

		b = build_first(&f, 2);
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

BOTH(d1_d2_what_was_set_aside_stays)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	b = build_first(&f, 0);
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

BOTH(d3_a_resubmitted_name_becomes_the_inode)
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

BOTH(d4_the_control_file_follows_its_body)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	b = build_first(&f, 1);
	move_file(&f, "public/t", at("postman/%s.no-report", b.n));
	put_control(&f, &b);
	r = START(&f);
	cr_expect_eq(r.finished, 1);
	cr_expect_eq(TOTAL(r), 1);
	cr_expect(file_exists(&f, at("postman/%s.no-report.control", b.n)));
	cr_expect_eq(count_files(&f, "."), 2);
	fixture_close(&f);
}

BOTH(f1_a_control_file_alone_is_finished)
{
	struct fixture f;
	struct recovery r;
	struct built b;

	b = build_first(&f, 2);
	unlink(at("%s/public/t", f.dir));
	put_control(&f, &b);
	r = recover(&f, 0);	/* the scheduler's affair while it runs */
	cr_expect_eq(TOTAL(r), 0);
	r = START(&f);
	cr_expect_eq(r.completed, 1);
	cr_expect_eq(TOTAL(r), 1);
	cr_expect_eq(count_files(&f, "."), 0);
	fixture_close(&f);
}

/* A file copied back from a backup has another inode than its name says. */
BOTH(a_restored_pair_is_refiled)
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

BOTH(a_pair_half_refiled_finds_together)
{
	for (int i = 0; i < 2; i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		char old[SPOOL_NAME_BYTES];

		b = build_first(&f, 0);
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

BOTH(other_hash_levels_are_refiled)
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

BOTH(restored_messages_in_router_are_refiled)
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

BOTH(two_that_swapped_names_are_told_not_lost)
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
BOTH(t1_two_names_of_one_file)
{
	static const struct { const char *early, *late; } rows[] = {
		{ "public/%s", "router/%s" },
		{ "router/%s-77", "queue/%s" },
		{ "router/%s", "queue/%s" },
		{ "router/%s-77", "router/%s" },
		{ "router/%s-77", "deferred/%s.dns" },
		{ "postman/%s.x", "router/%s-5" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		bool is_routed = strncmp(rows[i].late, "queue", 5) == 0;

		b = build_first(&f, 0);
		move_file(&f, "public/t", at(rows[i].late, b.n));
		cr_assert_eq(link(at("%s/%s", f.dir, at(rows[i].late, b.n)),
		    at("%s/%s", f.dir, at(rows[i].early, b.n))), 0);
		if (is_routed)
			put_file(&f, at("transport/%s", b.path),
			    b.control.p, b.control.n);
		settle(&f);
		cr_assert_eq(spool_recover(f.spool, is_in_halves ?
		    (enum recovery_mode)(RECOVERY_START | RECOVERY_UNROUTED) :
		    RECOVERY_START, NULL, NULL, &r, &f.err), 0);
		cr_expect_eq(r.troubles, 0, "row %zu", i);
		if (is_in_halves)
			cr_assert_eq(spool_recover(f.spool, RECOVERY_ROUTED,
			    NULL, NULL, &r, &f.err), 0);
		cr_expect_eq(r.troubles, 0, "row %zu", i);
		cr_expect_eq(count_files(&f, "."), is_routed ? 2 : 1,
		    "row %zu", i);
		if (is_routed)
			cr_expect_eq(file_inode(&f, at("queue/%s", b.path)),
			    b.inode);
		fixture_close(&f);
	}
}

/* The same of one that was resubmitted: who claims it finds out. */
Test(recover, t1_what_came_back_is_no_more_where_it_was)
{
	static const char *const early[] = { "deferred/%s.dns",
		"freezer/%s.policy", "postman/%s.poison",
		"trash/%s.freezer-x" };

	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		struct fixture f;
		struct recovery r;
		struct built b;
		struct claim claim;

		b = build_first(&f, 0);
		move_file(&f, "public/t", at("router/%s", b.n));
		cr_expect_not(spool_mend_twin(f.spool, 0, b.n));
		cr_assert_eq(link(at("%s/router/%s", f.dir, b.n),
		    at("%s/%s", f.dir, at(early[i], b.n))), 0);
		settle(&f);
		r = START(&f);
		cr_expect_eq(r.troubles, 0, "row %zu", i);
		cr_expect_eq(spool_claim(f.spool, 0, b.n, &claim, &f.err),
		    SPOOL_CLAIM_TROUBLE, "row %zu", i);
		cr_expect(spool_mend_twin(f.spool, 0, b.n), "row %zu", i);
		cr_expect_not(file_exists(&f, at(early[i], b.n)));
		cr_assert_eq(spool_claim(f.spool, 0, b.n, &claim, &f.err),
		    SPOOL_CLAIMED, "row %zu: %s", i, f.err.text);
		cr_expect_not(spool_mend_twin(f.spool, 0, claim.name),
		    "it is locked");
		close(claim.fd);
		fixture_close(&f);
	}
}

BOTH(what_is_no_file_of_ours_is_told)
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

	b = build_first(&f, 0);
	move_file(&f, "public/t", at("router/%s-77", b.n));
	cr_assert_eq(spool_recover(f.spool, RECOVERY_REPORT, tell, &told, &r,
	    &f.err), 0);
	cr_expect_eq(told.count, 1);
	cr_expect_str_eq(told.last, at("%s-77 router/%s-77>router/%s: its "
	    "worker died (C1)", b.n, b.n, b.n));
	fixture_close(&f);
}
