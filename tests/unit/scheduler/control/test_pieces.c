/* test_pieces.c - what happens to a message between two pieces of an order
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "scheduler/control/control.h"
#include "scheduler/outcome/amend.h"
#include "tests/unit/scheduler/asker.h"

enum { RCPTS = 20000, HOSTS = 7 };

static struct yard yard;
static char id[SPOOL_ID_BYTES];
static ino_t inode;
static struct str out;

static void
mail_to(const char *user, int hosts)
{
	struct str rcpts = STR_INIT;
	size_t before = yard.scheduler.queue.jobs.count;

	for (int i = 0; i < RCPTS; i++)
		str_addf(&rcpts, "smtp/h%d.test/%s%d@h%d.test ", i % hosts,
		    user, i, i % hosts);
	inode = yard_message(&yard, "a@src.test", rcpts.buf, id);
	str_release(&rcpts);
	while (yard.scheduler.queue.jobs.count == before)
		yard_turns(&yard, 1);
}

static void
mail_in(const char *user)
{
	mail_to(user, HOSTS);
}

static void
open_all(const char *conf)
{
	yard_open(&yard, conf);
	asker_serve(&yard);
	str_init(&out);
}

static void
close_all(void)
{
	str_release(&out);
	control_free(&yard.scheduler.control);
	yard_close(&yard);
}

/* An order, until its first piece is written; then until its end. */
static struct act *
begun(const char *line)
{
	struct act *act = act_begun(&yard, line);

	while (act->page.count == 0)
		cr_assert_eq(act_stepped(&yard, act, &out), ACT_MORE);
	cr_assert(act->page.is_open);
	return act;
}

static void
ended(struct act *act)
{
	enum act_step step;

	str_reset(&out);
	while ((step = act_stepped(&yard, act, &out)) != ACT_DONE)
		loop_turn(yard.loop, step == ACT_WAIT ? 2 : 0);
	act_free(&act);
}

/* The recipients of the control file that are in a state; -1: it is gone. */
enum state { HELD, FROZEN, DELETED, FAILED, RELAYED, DELIVERED, TRIED };

static int
in_state(enum state state)
{
	struct control_file control;
	int count = 0;

	if (!yard_control(&yard, inode, &control))
		return -1;
	for (size_t i = 0; i < control.rcpt_total; i++) {
		const struct control_rcpt *rcpt = &control.groups[0].rcpts[i];
		enum verdict_kind kind = rcpt->is_final && rcpt->last != NULL ?
		    rcpt->last->verdict.kind : VERDICT_DEFERRED;

		count += state == HELD ? rcpt->is_held :
		    state == FROZEN ? rcpt->is_frozen :
		    state == DELETED ? rcpt->is_cancelled :
		    state == FAILED ? kind == VERDICT_FAILED :
		    state == RELAYED ? kind == VERDICT_RELAYED :
		    state == DELIVERED ? kind == VERDICT_DELIVERED :
		    rcpt->tries > 0;
	}
	return count;
}

static bool
is_known(struct yard *y, void *arg)
{
	return job_table_find(&y->scheduler.queue.jobs, inode) != NULL;
}

static int64_t
last_number(const char *key)
{
	const char *at = strstr(out.buf, key);

	return at == NULL ? -1 : atoll(at + strlen(key));
}

/* ---- another order ----------------------------------------------- */

/* Two orders at once: one ends, and has the file read again; meanwhile the
 * message is no job. */
Test(pieces, an_order_goes_on_when_its_message_is_known_again, .timeout = 900)
{
	static const char *const firsts[] = { "hold", "reroute" };

	for (int i = 0; i < 2; i++) {
		char line[100];
		struct act *act, *other;

		open_all("group 50ms\nschedule */* { queue-only yes; "
		    "retry 10m }");
		mail_in("ok");
		snprintf(line, sizeof(line), "{\"v\":1,\"op\":\"%s\","
		    "\"rcpt\":\"ok?*\"}", firsts[i]);
		act = begun(line);
		other = act_begun(&yard, "{\"v\":1,\"op\":\"freeze\","
		    "\"rcpt\":\"ok19999@*\"}");
		while (other->settling == 0)
			cr_assert_neq(act_stepped(&yard, other, &out),
			    ACT_DONE);
		cr_expect_not(is_known(&yard, NULL));
		ended(act);
		ended(other);
		cr_expect_eq(last_number("\"recipients\":"), 1, "%s", out.buf);
		if (i == 0)
			cr_expect_eq(in_state(HELD), RCPTS, "%d",
			    in_state(HELD));
		else
			cr_assert(yard_until(&yard, yard_is_empty, NULL));
		close_all();
	}
}

/* The same, while a thread reads it for the first piece. */
Test(pieces, an_order_that_opens_waits_for_what_is_read_again, .timeout = 900)
{
	struct act *act, *other;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	other = begun("{\"v\":1,\"op\":\"freeze\",\"select\":\"all\"}");
	act = act_begun(&yard, "{\"v\":1,\"op\":\"hold\",\"select\":"
	    "\"all\"}");
	while (act->visit.opening == NULL)
		cr_assert_neq(act_step(act, &out), ACT_DONE);
	while (other->settling == 0)
		cr_assert_neq(act_stepped(&yard, other, &out), ACT_DONE);
	cr_expect_not(is_known(&yard, NULL));
	ended(act);
	cr_expect_eq(last_number("\"recipients\":"), RCPTS, "%s", out.buf);
	ended(other);
	cr_expect_eq(in_state(HELD), RCPTS);
	cr_expect_eq(in_state(FROZEN), RCPTS);
	close_all();
}

/* One that is described, or named, is waited for when its turn comes. */
Test(pieces, a_message_that_is_read_again_is_not_passed_by, .timeout = 900)
{
	struct act *act, *other;
	char line[200];

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("first");
	mail_in("ok");
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	act = begun("{\"v\":1,\"op\":\"hold\",\"select\":\"all\"}");
	other = act_begun(&yard, "{\"v\":1,\"op\":\"freeze\",\"rcpt\":"
	    "\"ok1@*\"}");
	while (other->settling == 0)
		cr_assert_neq(act_stepped(&yard, other, &out), ACT_DONE);
	cr_expect_not(is_known(&yard, NULL));
	ended(act);
	cr_expect_eq(last_number("\"recipients\":"), 2 * RCPTS, "%s",
	    out.buf);
	ended(other);
	other = act_begun(&yard, "{\"v\":1,\"op\":\"thaw\",\"rcpt\":"
	    "\"ok1@*\"}");
	while (other->settling == 0)
		cr_assert_neq(act_stepped(&yard, other, &out), ACT_DONE);
	cr_expect_not(is_known(&yard, NULL));
	snprintf(line, sizeof(line), "{\"v\":1,\"op\":\"release\",\"ids\":"
	    "[\"%s\"]}", id);
	ended(act_begun(&yard, line));
	cr_expect_eq(last_number("\"recipients\":"), RCPTS, "%s", out.buf);
	ended(other);
	close_all();
}

/* Nor is one whose id tells another inode, because it was encoded, by who only
 * looks. */
Test(pieces, an_encoded_message_that_is_read_again_is_waited_for,
    .timeout = 900)
{
	struct act *act, *other;
	char line[200];

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	yard_accepted_as = 4711;
	mail_in("ok");
	yard_accepted_as = 0;
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	other = act_begun(&yard, "{\"v\":1,\"op\":\"freeze\",\"rcpt\":"
	    "\"ok1@*\"}");
	while (other->settling == 0)
		cr_assert_neq(act_stepped(&yard, other, &out), ACT_DONE);
	cr_expect_not(is_known(&yard, NULL));
	snprintf(line, sizeof(line), "{\"v\":1,\"op\":\"list\",\"ids\":"
	    "[\"%s\"]}", id);
	act = act_begun(&yard, line);
	str_reset(&out);
	cr_assert_eq(act_stepped(&yard, act, &out), ACT_WAIT, "%s", out.buf);
	ended(act);
	cr_expect_not_null(strstr(out.buf, id));
	ended(other);
	close_all();
}

/* Who was deleted meanwhile is not sent elsewhere. */
Test(pieces, a_reroute_sees_what_was_deleted_meanwhile, .timeout = 900)
{
	struct act *act, *other;
	int deleted;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	act = begun("{\"v\":1,\"op\":\"reroute\",\"rcpt\":\"ok?*\"}");
	other = begun("{\"v\":1,\"op\":\"delete\",\"rcpt\":\"ok?*\"}");
	ended(act);
	deleted = (int)last_number("\"recipients\":");
	cr_expect_gt(deleted, 0);
	cr_expect_lt(deleted, RCPTS);
	ended(other);
	cr_expect_eq(last_number("\"recipients\":") + deleted, RCPTS, "%s",
	    out.buf);
	close_all();
}

/* ---- agents ------------------------------------------------------ */

static bool
nothing_moves(struct yard *y, void *arg)
{
	return y->shared->delivered > RCPTS / 4 &&
	    y->scheduler.queue.plan.flight_count == 0 &&
	    y->scheduler.queue.plan.ready_count == 0;
}

/* Served by an agent after the file was read: they are nobody's to be sent
 * elsewhere, in part or as a whole. */
Test(pieces, who_was_served_meanwhile_is_not_routed_again, .timeout = 900)
{
	static const char *const choices[] = { "\"rcpt\":\"ok?*\"",
		"\"select\":\"all\"" };

	for (int i = 0; i < 2; i++) {
		struct asker asker;
		struct act *act;
		unsigned served;
		char line[100];

		open_all("group 50ms\nschedule */* { queue-only yes; "
		    "retry 10m }");
		mail_in("ok");
		asker_open(&asker, &yard);
		snprintf(line, sizeof(line), "{\"v\":1,\"op\":\"reroute\",%s}",
		    choices[i]);
		act = act_begun(&yard, line);
		cr_assert_eq(act_stepped(&yard, act, &out), ACT_MORE);
		cr_assert_not_null(act->visit.opening);
		asker_ask(&asker, "{\"v\":1,\"op\":\"retry\",\"rcpt\":"
		    "\"*@h1.test\",\"per_second\":0}");
		asker_ask(&asker, "{\"v\":1,\"op\":\"retry\",\"rcpt\":"
		    "\"*@h2.test\",\"per_second\":0}");
		cr_assert(yard_until(&yard, nothing_moves, NULL));
		served = yard.shared->delivered;
		cr_assert_lt(served, RCPTS);
		ended(act);
		cr_expect_eq(last_number("\"recipients\":"), RCPTS - served,
		    "%u served: %s", served, out.buf);
		cr_assert(yard_until(&yard, yard_is_empty, NULL));
		cr_expect_eq(yard.shared->delivered, served);
		asker_close(&asker);
		close_all();
	}
}

/* ---- the client -------------------------------------------------- */

/* Another large message has come, so the recipients are looked for anew by a
 * thread, when the client leaves. */
Test(pieces, a_client_leaves_while_a_thread_sorts, .timeout = 900)
{
	struct act *act;
	ino_t first;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_in("ok");
	first = inode;
	act = begun("{\"v\":1,\"op\":\"hold\",\"rcpt\":\"ok*\"}");
	mail_in("other");
	inode = first;
	cr_expect_eq(act_step(act, &out), ACT_SYNC);
	cr_expect(visit_is_reading(&act->visit));
	mail_in("third");
	inode = first;
	act_free(&act);
	syncer_settle(yard.scheduler.group.syncer);
	cr_assert(yard_until(&yard, is_known, NULL));
	cr_expect_eq(in_state(HELD), ACT_RCPTS);
	close_all();
}

/* What a retry has reached is tried, though its client leaves. */
Test(pieces, a_retry_counts_though_its_client_left, .timeout = 900)
{
	struct act *act;

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m }");
	mail_to("ok", RCPTS);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	act = act_begun(&yard, "{\"v\":1,\"op\":\"retry\",\"rcpt\":\"ok?*\","
	    "\"per_second\":100}");
	while (act->page.count == 0)
		cr_assert_neq(act_stepped(&yard, act, &out), ACT_DONE);
	cr_assert(act->page.is_open);
	cr_assert(is_known(&yard, NULL));
	act_free(&act);
	cr_expect(is_known(&yard, NULL), "it is not read again");
	close_all();
}

/* ---- the scheduler's own ------------------------------------------ */

static bool
is_amended(struct yard *y, void *arg)
{
	return y->scheduler.outcome.amends != NULL;
}

static bool
is_over(struct yard *y, void *arg)
{
	return y->scheduler.outcome.amends == NULL && (is_known(y, NULL) ?
	    yard_is_quiet(y, NULL) : yard_count(y, "trash") > 0);
}

/* What it had is no vertex that waits, until the file was read again. */
Test(pieces, a_retry_waits_for_what_a_dead_agent_had, .timeout = 900)
{
	/* one agent is all that starts */
	open_all("group 50ms\nschedule */* { retry 10m; rate 1/1h }");
	mail_to("die", 1);
	cr_assert(yard_until(&yard, is_amended, NULL));
	ended(act_begun(&yard,
	    "{\"v\":1,\"op\":\"retry\",\"select\":\"all\"}"));
	cr_expect_gt(last_number("\"recipients\":"), 0, "%s", out.buf);
	close_all();
}

/* Their time is over, and while that is written they are held, frozen or
 * deleted: who was reached by the order stays so. */
static void
order_while_they_expire(const char *op, enum state state)
{
	struct act *act;
	int64_t done;
	char line[100];

	open_all("group 50ms\nschedule */* { queue-only yes; retry 10m; "
	    "expire 1d }\nkeep failed 9d");
	mail_in("ok");
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	ended(act_begun(&yard, "{\"v\":1,\"op\":\"schedule\",\"select\":"
	    "\"all\",\"expire\":\"+1h\"}"));
	yard_clock(&yard, 2 * 3600);
	cr_assert(yard_until(&yard, is_amended, NULL));
	snprintf(line, sizeof(line), "{\"v\":1,\"op\":\"%s\","
	    "\"rcpt\":\"ok?*\"}", op);
	act = act_begun(&yard, line);
	do	/* the loop does not turn, so nothing more is written */
		cr_assert_eq(act_stepped(&yard, act, &out), ACT_MORE);
	while (act->page.count == 0);
	ended(act);
	done = last_number("\"recipients\":");
	cr_assert(yard_until(&yard, is_over, NULL));
	cr_expect_gt(done, 0);
	cr_expect(is_known(&yard, NULL) || done == RCPTS);
	cr_expect(!is_known(&yard, NULL) || in_state(state) >= done,
	    "%s: %d of %jd", op, in_state(state), (intmax_t)done);
	close_all();
}

Test(pieces, who_is_held_does_not_expire_after_it, .timeout = 900)
{
	order_while_they_expire("hold", HELD);
}

Test(pieces, who_is_frozen_does_not_expire_after_it, .timeout = 900)
{
	order_while_they_expire("freeze", FROZEN);
}

Test(pieces, who_is_deleted_does_not_expire_after_it, .timeout = 900)
{
	order_while_they_expire("delete", DELETED);
}

/* Many agents die by it, and what that wrote was read before it is returned:
 * it is not tried again. */
Test(pieces, who_is_returned_is_not_tried_after_an_agent_died, .timeout = 900)
{
	struct act *act;
	int64_t done;

	open_all("group 50ms\nschedule */* { retry 10m }\nkeep failed 9d");
	mail_in("die");
	cr_assert(yard_until(&yard, is_amended, NULL));
	act = act_begun(&yard, "{\"v\":1,\"op\":\"bounce\",\"select\":"
	    "\"all\"}");
	ended(act);
	done = last_number("\"recipients\":");
	cr_assert(yard_until(&yard, is_over, NULL));
	cr_expect_gt(done, 0, "%s", out.buf);
	cr_expect_geq(in_state(FAILED), done, "%d of %jd", in_state(FAILED),
	    (intmax_t)done);
	close_all();
}
