/* test_huge.c - orders about one message to very many act in pieces
 *
 * Between the pieces the loop turns: others are served, the client may
 * leave, recipients that were not reached yet may get their outcome.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "scheduler/control/control.h"
#include "scheduler/outcome/amend.h"
#include "tests/unit/scheduler/asker.h"

enum { RCPTS = 30000, HOSTS = 7, RECORD_BYTES_MAX = 250 };

static struct yard yard;
static char id[SPOOL_ID_BYTES];
static ino_t inode;

static void
mail_lies_there(const char *user)
{
	struct str rcpts = STR_INIT;

	for (int i = 0; i < RCPTS; i++)
		str_addf(&rcpts, "smtp/h%d.test/%s%d@h%d.test ", i % HOSTS,
		    user, i, i % HOSTS);
	inode = yard_message(&yard, "a@src.test", rcpts.buf, id);
	str_release(&rcpts);
}

static void
mail_in(const char *user)
{
	mail_lies_there(user);
	while (yard.scheduler.queue.jobs.count == 0)
		yard_turns(&yard, 1);
}

static void
open_all(const char *conf)
{
	yard_open(&yard, conf);
	asker_serve(&yard);
}

static void
close_all(void)
{
	control_free(&yard.scheduler.control);
	yard_close(&yard);
}

/* 0: it went to trash/. */
static off_t
control_bytes(void)
{
	char path[256], name[SPOOL_NAME_BYTES];
	struct stat st;

	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/transport/%s", yard.dir,
	    name);
	return stat(path, &st) == 0 ? st.st_size : 0;
}

/* An order in steps, with turns of the loop between.  steps_max: then the
 * client leaves.  returns the steps; out has the answer. */
static unsigned
order(const char *line, unsigned steps_max, struct str *out)
{
	struct act *act = act_begun(&yard, line);
	enum act_step step = ACT_MORE;
	unsigned steps = 0;

	while (step != ACT_DONE && steps < steps_max) {
		off_t before = control_bytes();
		bool was_open = act->page.is_open;

		step = act_stepped(&yard, act, out);
		cr_expect_leq(control_bytes() - before,
		    ACT_RCPTS * RECORD_BYTES_MAX, "step %u", steps);
		yard_turns(&yard, 3);
		steps += was_open || act->page.is_open;
	}
	act_free(&act);
	return steps;
}

static bool
is_known(struct yard *y, void *arg)
{
	return !intake_has(y->scheduler.agents.intake, inode);
}

static size_t
in_state(const char *state)
{
	char line[128];
	struct answer_sum sum;
	size_t count;

	/* an order that was dropped waits for nobody */
	cr_assert(yard_until(&yard, is_known, NULL));
	snprintf(line, sizeof(line),
	    "{\"v\":1,\"op\":\"list\",\"state\":\"%s\"}", state);
	answer_whole(&yard, line, &sum);
	count = sum.lines - 1;
	str_release(&sum.text);
	return count;
}

Test(huge, a_hold_acts_in_pieces_and_holds_all, .timeout = 900)
{
	static const char *const rows[][2] = {
		{ "hold", "held" }, { "release", "suspended" },
		{ "freeze", "frozen" }, { "thaw", "suspended" },
		{ "schedule", "waiting" }, { "delete", "deleted" },
	};
	struct str out = STR_INIT;
	struct asker asker;
	char line[200];

	open_all("group 50ms\nschedule */* { retry 10m }");
	asker_open(&asker, &yard);
	asker_ask(&asker, "{\"v\":1,\"op\":\"suspend\",\"channel\":\"*\"}");
	mail_in("ok");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned steps;

		snprintf(line, sizeof(line), "{\"v\":1,\"op\":\"%s\",\"rcpt\":"
		    "\"ok?*\"%s}", rows[i][0], strcmp(rows[i][0], "schedule")
		    ? "" : ",\"next\":\"+2h\"");
		str_reset(&out);
		steps = order(line, 1000, &out);
		cr_expect_gt(steps, RCPTS / ACT_RCPTS, "%s", rows[i][0]);
		cr_expect(yard_says(&out, "\"messages\":1,\"recipients\":"
		    "30000,"), "%s: %s", rows[i][0], out.buf);
		if (strcmp(rows[i][0], "delete") != 0)
			cr_expect_eq(in_state(rows[i][1]), RCPTS, "%s: %zu",
			    rows[i][0], in_state(rows[i][1]));
	}
	cr_expect_eq(yard.shared->rcpts, 0, "nobody was tried");
	str_release(&out);
	asker_close(&asker);
	close_all();
}

/* The client leaves in the middle: those who were reached are held, the
 * others go. */
Test(huge, what_was_done_before_the_client_left_counts, .timeout = 900)
{
	unsigned rest = RCPTS - ACT_RCPTS;
	struct str out = STR_INIT;
	struct asker asker;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	cr_expect_eq(order("{\"v\":1,\"op\":\"hold\",\"select\":\"all\"}", 1,
	    &out), 1);
	cr_expect_eq(in_state("held"), ACT_RCPTS);
	asker_open(&asker, &yard);
	asker_ask(&asker, "{\"v\":1,\"op\":\"retry\",\"select\":\"all\","
	    "\"per_second\":0}");
	asker_close(&asker);
	cr_assert(yard_until(&yard, yard_has_delivered, &rest));
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_expect_eq(yard.shared->delivered, rest);
	cr_expect_eq(in_state("held"), ACT_RCPTS);
	str_release(&out);
	close_all();
}

static bool
is_delivering(struct yard *y, void *arg)
{
	return y->scheduler.queue.total.delivered > 1000;
}

/* The order runs beside the deliveries: each recipient has its outcome, or
 * is held, and none both. */
Test(huge, who_is_served_meanwhile_is_not_held, .timeout = 900)
{
	struct str out = STR_INIT;
	unsigned held;

	open_all("group 50ms\nschedule */* { retry 10m; parallel 2; "
	    "feedback no }");
	mail_in("ok");
	cr_assert(yard_until(&yard, is_delivering, NULL));
	order("{\"v\":1,\"op\":\"hold\",\"select\":\"all\"}", 1000, &out);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	held = (unsigned)in_state("held");
	cr_expect_gt(held, 0);
	cr_expect_eq(yard.shared->delivered + held, RCPTS, "%u and %u",
	    yard.shared->delivered, held);
	cr_expect_eq(yard.scheduler.queue.jobs.count, 1);
	str_reset(&out);
	order("{\"v\":1,\"op\":\"release\",\"select\":\"all\"}", 1000, &out);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, RCPTS, "each once");
	str_release(&out);
	close_all();
}

/* The order comes while the job is being put into the plan, a piece a turn:
 * those who were reached are not placed after it. */
Test(huge, who_is_held_before_being_placed_is_not_placed, .timeout = 900)
{
	struct planner *plan = &yard.scheduler.queue.plan;
	struct str out = STR_INIT;
	unsigned stopped = 0;
	struct act *act;
	struct job *job;
	size_t at = 0;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	job = job_table_find(&yard.scheduler.queue.jobs, inode);
	cr_assert_not_null(job);
	for (size_t i = 0; i < job->vertex_count; i++)
		plan_forget(plan, &job->vertices[i]);
	act = act_begun(&yard, "{\"v\":1,\"op\":\"hold\",\"select\":"
	    "\"all\"}");
	do		/* a thread reads the file first */
		cr_assert_eq(act_stepped(&yard, act, &out), ACT_MORE);
	while (act->page.count == 0);
	cr_expect(queue_place_some(&yard.scheduler.queue, job, &at, RCPTS));
	for (size_t i = 0; i < job->vertex_count; i++)
		stopped += job->vertices[i].state == VERTEX_IDLE ?
		    job->vertices[i].rcpt_count : 0;
	cr_expect_geq(stopped, ACT_RCPTS);
	cr_expect_lt(stopped, RCPTS);
	while (act_stepped(&yard, act, &out) == ACT_MORE)
		;
	act_free(&act);
	cr_expect_eq(in_state("held"), RCPTS);
	str_release(&out);
	close_all();
}

static bool
nothing_moves(struct yard *y, void *arg)
{
	return y->shared->delivered > RCPTS / 2 &&
	    y->scheduler.queue.plan.flight_count == 0 &&
	    y->scheduler.queue.plan.ready_count == 0;
}

/* The others (but for those that go with somebody who is held) are served
 * between two steps; then, in the second round, the file is read again
 * before the next one. */
Test(huge, who_has_an_outcome_by_then_is_left_alone, .timeout = 900)
{
	for (int is_reread = 0; is_reread < 2; is_reread++) {
		struct str out = STR_INIT;
		enum act_step step = ACT_MORE;
		struct act *act;
		struct asker asker;
		char want[64];
		unsigned served;

		open_all("group 50ms\nschedule */* { queue-only yes; "
		    "retry 10m }");
		mail_in("ok");
		asker_open(&asker, &yard);
		act = act_begun(&yard, "{\"v\":1,\"op\":\"hold\","
		    "\"select\":\"all\"}");
		cr_assert_eq(act_stepped(&yard, act, &out), ACT_MORE);
		cr_expect_not(act->page.is_open, "a thread reads it");
		cr_assert_eq(act_stepped(&yard, act, &out), ACT_MORE);
		asker_ask(&asker, "{\"v\":1,\"op\":\"retry\",\"select\":"
		    "\"all\",\"per_second\":0}");
		cr_assert(yard_until(&yard, nothing_moves, NULL));
		served = yard.shared->delivered;
		if (is_reread)
			asker_ask(&asker, "{\"v\":1,\"op\":\"hold\","
			    "\"rcpt\":\"ok0@*\"}");
		while (step != ACT_DONE) {
			step = act_stepped(&yard, act, &out);
			yard_turns(&yard, 1);
		}
		act_free(&act);
		snprintf(want, sizeof(want), "\"recipients\":%u,",
		    RCPTS - served);
		cr_expect(yard_says(&out, want), "%s: %s", want, out.buf);
		snprintf(want, sizeof(want), "\"final\":%u", served);
		cr_expect(yard_says(&out, want), "%s: %s", want, out.buf);
		cr_expect_eq(in_state("held"), RCPTS - served);
		str_release(&out);
		asker_close(&asker);
		close_all();
	}
}

/* Who is meant is found in one look at the recipients, not in one for each
 * part of the message. */
Test(huge, a_retry_by_selector_finds_its_parts, .timeout = 900)
{
	struct str out = STR_INIT;
	unsigned before, steps;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("grey");
	before = yard.shared->rcpts;
	steps = order("{\"v\":1,\"op\":\"retry\",\"rcpt\":\"*@h3.test\","
	    "\"per_second\":0}", 1000, &out);
	cr_expect_gt(steps, RCPTS / ACT_RCPTS, "%u", steps);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_expect_eq(before, 0);
	cr_expect_eq(yard.shared->rcpts, (RCPTS + HOSTS - 4) / HOSTS, "%u",
	    yard.shared->rcpts);
	cr_expect(yard_says(&out, "\"messages\":1"), "%s", out.buf);
	str_release(&out);
	close_all();
}

/* Each piece becomes a message of its own, and nobody is in two. */
Test(huge, a_reroute_of_some_goes_in_pieces, .timeout = 900)
{
	struct str out = STR_INIT;
	unsigned steps, messages;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	steps = order("{\"v\":1,\"op\":\"reroute\",\"rcpt\":\"ok?*\"}", 1000,
	    &out);
	cr_expect_gt(steps, RCPTS / ACT_RCPTS, "%u", steps);
	cr_expect(yard_says(&out, "\"messages\":1,\"recipients\":30000,"),
	    "%s", out.buf);
	messages = yard_count(&yard, "router");
	cr_expect_gt(messages, RCPTS / ACT_RCPTS, "%u", messages);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->rcpts, 0);
	str_release(&out);
	close_all();
}

Test(huge, a_reroute_of_all_is_one_rename, .timeout = 900)
{
	struct str out = STR_INIT;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	order("{\"v\":1,\"op\":\"reroute\",\"select\":\"all\"}", 1000, &out);
	cr_expect(yard_says(&out, "\"messages\":1,\"recipients\":30000,"),
	    "%s", out.buf);
	cr_expect_eq(yard_count(&yard, "router"), 1);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	str_release(&out);
	close_all();
}

static bool
is_being_amended(struct yard *y, void *arg)
{
	return y->scheduler.outcome.amends != NULL;
}

static bool
is_at_rest(struct yard *y, void *arg)
{
	return y->scheduler.outcome.amends == NULL && is_known(y, NULL) &&
	    yard_is_quiet(y, NULL) && y->scheduler.queue.jobs.count == 1;
}

/* The file is read beside the loop, and says in the end that it was tried. */
Test(huge, an_agent_that_dies_is_recorded_beside_the_loop, .timeout = 900)
{
	struct control_file control;
	bool is_over = false;
	size_t tried = 0;

	open_all("group 50ms\nschedule */* { retry 10m }");
	mail_in("die");
	cr_assert(yard_until(&yard, is_being_amended, NULL));
	cr_expect_gt(yard.scheduler.queue.plan.open_jobs, 0, "it is in hand");
	/* some three hundred agents start, and die */
	for (int i = 0; i < 10 && !is_over; i++)
		is_over = yard_until(&yard, is_at_rest, NULL);
	cr_assert(is_over);
	cr_assert(yard_control(&yard, inode, &control));
	for (size_t i = 0; i < control.rcpt_total; i++)
		tried += control.groups[0].rcpts[i].tries > 0;
	cr_expect_eq(tried, RCPTS, "%zu", tried);
	close_all();
}

/* Who expires gets his record; no turn writes those of all. */
Test(huge, an_expiry_writes_some_records_a_turn, .timeout = 900)
{
	off_t before, most = 0;
	struct asker asker;

	open_all("group 50ms\nschedule */* { retry 10m; expire 1d }");
	asker_open(&asker, &yard);
	asker_ask(&asker, "{\"v\":1,\"op\":\"suspend\",\"channel\":\"*\"}");
	mail_in("ok");
	before = control_bytes();
	asker_ask(&asker, "{\"v\":1,\"op\":\"schedule\",\"select\":\"all\","
	    "\"expire\":\"+1h\"}");
	yard_clock(&yard, 2 * 3600);
	for (int i = 0; i < 100000 &&
	    yard.scheduler.queue.total.failed < RCPTS; i++) {
		off_t now = control_bytes();

		yard_turns(&yard, 1);
		if (control_bytes() - now > most)
			most = control_bytes() - now;
	}
	cr_expect_eq(yard.scheduler.queue.total.failed, RCPTS);
	cr_expect_gt(control_bytes(), before);
	cr_expect_leq(most, AMEND_PIECES * (AMEND_RCPTS + VERTEX_RCPTS_MAX) *
	    RECORD_BYTES_MAX, "%jd", (intmax_t)most);
	asker_close(&asker);
	close_all();
}

/* Between two blocks of it the message is no job: who orders then means it,
 * too. */
Test(huge, an_order_waits_for_what_is_read_again, .timeout = 900)
{
	enum act_step step = ACT_MORE;
	struct str out = STR_INIT;
	struct act *act;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	act = act_begun(&yard, "{\"v\":1,\"op\":\"hold\",\"select\":\"all\"}");
	while (act->settling == 0 && step != ACT_DONE)
		step = act_stepped(&yard, act, &out);
	cr_expect_eq(yard.scheduler.queue.jobs.count, 0);
	str_reset(&out);
	order("{\"v\":1,\"op\":\"release\",\"select\":\"all\"}", 1000, &out);
	cr_expect(yard_says(&out, "\"messages\":1,\"recipients\":30000,"),
	    "%s", out.buf);
	act_free(&act);
	str_release(&out);
	close_all();
}

/* A thread reads it; each is counted once. */
Test(huge, a_count_by_sender_goes_in_pieces, .timeout = 900)
{
	struct answer_sum sum;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	answer_whole(&yard, "{\"v\":1,\"op\":\"count\",\"by\":\"sender\"}",
	    &sum);
	cr_expect_gt(sum.steps, RCPTS / ACT_RCPTS, "%zu", sum.steps);
	cr_expect(yard_says(&sum.text, "\"messages\":1,\"recipients\":30000"),
	    "%s", sum.text.buf);
	str_release(&sum.text);
	close_all();
}

/* Large ones are read over many turns, one after the other: who orders right
 * after a restart means them, too. */
Test(huge, an_order_after_a_restart_waits_for_large_ones, .timeout = 900)
{
	struct str out = STR_INIT;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	yard_stop(&yard);
	(void)yard_message(&yard, "a@src.test", "local//a local//b", NULL);
	mail_lies_there("ok");
	yard_start(&yard);
	order("{\"v\":1,\"op\":\"hold\",\"select\":\"all\"}", 1000000, &out);
	cr_expect(strstr(out.buf, "\"messages\":3,") != NULL, "%s", out.buf);
	str_release(&out);
	close_all();
}
