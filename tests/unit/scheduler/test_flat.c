/* test_flat.c - long answers are made in pieces, and miss nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "scheduler/control/act/act.h"
#include "scheduler/control/control.h"
#include "tests/unit/scheduler/asker.h"

enum { HOSTS = 3000, A_MESSAGE = 100 };

static struct yard yard;

/* Nothing is tried. */
static void
open_suspended(void)
{
	struct asker asker;

	yard_open(&yard, "schedule smtp/h1*.test { retry 10m }\n"
	    "schedule */* { retry 10m }");
	asker_serve(&yard);
	asker_open(&asker, &yard);
	asker_ask(&asker, "{\"v\":1,\"op\":\"suspend\",\"channel\":\"*\"}");
	asker_close(&asker);
}

/* A destination each. */
static void
open_with_hosts(void)
{
	open_suspended();
	for (int i = 0; i < HOSTS; i += A_MESSAGE) {
		struct str rcpts = STR_INIT;

		for (int k = i; k < i + A_MESSAGE; k++)
			str_addf(&rcpts, "smtp/h%d.test/ok@h%d.test ", k, k);
		yard_message(&yard, "a@src.test", rcpts.buf, NULL);
		str_release(&rcpts);
	}
	yard_settle(&yard, 50);
}

static void
close_all(void)
{
	control_free(&yard.scheduler.control);
	yard_close(&yard);
}

Test(flat, answers_about_many_destinations_come_in_pieces)
{
	static const struct { const char *line; size_t lines; } rows[] = {
		{ "{\"v\":1,\"op\":\"queue\"}", HOSTS + 1 },
		{ "{\"v\":1,\"op\":\"queue\",\"brief\":true}", HOSTS + 1 },
		{ "{\"v\":1,\"op\":\"queue\",\"host\":\"h7.test\"}", 2 },
		{ "{\"v\":1,\"op\":\"destinations\"}", HOSTS + 1 },
		{ "{\"v\":1,\"op\":\"count\",\"by\":\"host\"}", HOSTS + 1 },
		{ "{\"v\":1,\"op\":\"groups\"}", 3 },
		{ "{\"v\":1,\"op\":\"groups\",\"brief\":true}", 2 },
	};

	open_with_hosts();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer_sum sum;

		answer_whole(&yard, rows[i].line, &sum);
		cr_expect_eq(sum.lines, rows[i].lines, "%s: %zu lines",
		    rows[i].line, sum.lines);
		cr_expect_lt(sum.most, ACT_OUT_BYTES + 8192,
		    "%s: %zu bytes in a step", rows[i].line, sum.most);
		cr_expect_geq(sum.steps, sum.bytes / (ACT_OUT_BYTES + 8192),
		    "%s", rows[i].line);
		str_release(&sum.text);
	}
	close_all();
}

/* One message to very many, of many vertices. */
Test(flat, a_message_to_many_is_told_in_pieces)
{
	enum { RCPTS = 20000 };
	static const struct { const char *line; size_t lines; } rows[] = {
		{ "{\"v\":1,\"op\":\"list\",\"id\":\"%s\"}", RCPTS + 1 },
		{ "{\"v\":1,\"op\":\"list\",\"brief\":true}", 2 },
		{ "{\"v\":1,\"op\":\"list\",\"rcpt\":\"*7@x.test\"}",
		    RCPTS / 10 + 1 },
		{ "{\"v\":1,\"op\":\"why\",\"id\":\"%s\"}", RCPTS + 1 },
	};
	struct str rcpts = STR_INIT;
	char id[SPOOL_ID_BYTES], line[200];

	open_suspended();
	for (int i = 0; i < RCPTS; i++)
		str_addf(&rcpts, "smtp/x.test/ok%d@x.test ", i);
	yard_message(&yard, "a@src.test", rcpts.buf, id);
	yard_settle(&yard, 50);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer_sum sum;

		snprintf(line, sizeof(line), rows[i].line, id);
		answer_whole(&yard, line, &sum);
		cr_expect_eq(sum.lines, rows[i].lines, "%s: %zu lines", line,
		    sum.lines);
		cr_expect_lt(sum.most, ACT_OUT_BYTES + 8192,
		    "%s: %zu bytes in a step", line, sum.most);
		cr_expect_gt(sum.steps, 1, "%s", line);
		str_release(&sum.text);
	}
	str_release(&rcpts);
	close_all();
}

/* One message of many vertices, as memory has it. */
Test(flat, the_parts_of_a_message_are_told_in_pieces)
{
	struct str rcpts = STR_INIT;
	struct answer_sum sum;
	char line[200];
	ino_t inode;

	open_suspended();
	for (int i = 0; i < HOSTS; i++)
		str_addf(&rcpts, "smtp/h%d.test/ok@h%d.test ", i, i);
	inode = yard_message(&yard, "a@src.test", rcpts.buf, NULL);
	yard_settle(&yard, 50);
	snprintf(line, sizeof(line), "{\"v\":1,\"op\":\"job\",\"file\":%ju}",
	    (uintmax_t)inode);
	answer_whole(&yard, line, &sum);
	cr_expect_eq(sum.lines, HOSTS + 1);
	cr_expect_lt(sum.most, ACT_OUT_BYTES + 8192, "%zu", sum.most);
	cr_expect_gt(sum.steps, 3);
	cr_expect(yard_says(&sum.text, "\"vertices\":3000"));
	str_release(&sum.text);
	str_release(&rcpts);
	close_all();
}

/* Agents that are not there, in the list that an answer goes through. */
enum { AGENTS = 1500, AGENTS_GONE_FROM = 500 };
static struct agent crowd[AGENTS];

static void
crowd_join(struct agents *agents, struct ring *ring,
    struct agent_connection *connection)
{
	for (unsigned i = 0; i < AGENTS; i++) {
		crowd[i].token = i + 1;
		crowd[i].pid = (pid_t)i + 1;
		crowd[i].ring = ring;
		TAILQ_INIT(&crowd[i].jobs);
		if (i % 2 == 0)
			crowd[i].connection = connection;
		TAILQ_INSERT_TAIL(&agents->all, &crowd[i], all_entry);
	}
}

/* Those that were told, and some that were not. */
static void
crowd_leave(struct agents *agents)
{
	for (unsigned i = 0; i < AGENTS; i++)
		if (i < AGENTS_GONE_FROM || i % 4 == 0)
			TAILQ_REMOVE(&agents->all, &crowd[i], all_entry);
}

/* From the pid of a line to that of the next, 0: there is none. */
static unsigned
next_pid(const char **text)
{
	const char *at = strstr(*text, "\"pid\":");

	if (at == NULL)
		return 0;
	*text = at + 6;
	return (unsigned)strtoul(*text, NULL, 10);
}

Test(flat, connections_are_told_oldest_first_while_agents_come_and_go)
{
	struct agent_connection connection = { .peer = (char[]){ "p" },
	    .tls = (char[]){ "" }, .host = (char[]){ "x.test" } };
	struct ring ring = { .channel = "smtp", .zone = "" };
	struct str out = STR_INIT;
	struct agents *agents;
	struct act *act;
	const char *text;
	unsigned steps = 1, last = 0, pid, late = 0;

	open_suspended();
	agents = &yard.scheduler.agents;
	crowd_join(agents, &ring, &connection);
	act = act_begun(&yard, "{\"v\":1,\"op\":\"connections\"}");
	cr_assert_eq(act_step(act, &out), ACT_MORE);
	crowd_leave(agents);
	for (;; steps++) {
		struct str piece = STR_INIT;
		enum act_step step = act_step(act, &piece);

		cr_expect_lt(piece.len, ACT_OUT_BYTES + 1024);
		str_add_slice(&out, str_slice(&piece));
		str_release(&piece);
		if (step == ACT_DONE)
			break;
	}
	for (text = out.buf; (pid = next_pid(&text)) != 0; last = pid) {
		cr_expect_gt(pid, last);
		late += pid > AGENTS_GONE_FROM;
	}
	cr_expect_eq(late, (AGENTS - AGENTS_GONE_FROM) / 4, "%u", late);
	cr_expect_lt(steps, AGENTS / 16, "%u", steps);
	TAILQ_INIT(&agents->all);
	act_free(&act);
	str_release(&out);
	close_all();
}

static void
order_make(const char *host)
{
	char reason[REQUEST_REASON_BYTES_MAX];
	struct order order = { .kind = ORDER_SUSPEND,
	    .channel = (char[]){ "smtp" }, .host = (char *)(uintptr_t)host,
	    .by = (char[]){ "root" }, .reason = reason };
	struct err err;

	memset(reason, 'r', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	cr_assert_eq(orders_set(&yard.scheduler.queue.orders, yard.spool,
	    &order,
	    &err), 0, "%s", err.text);
}

/* An order given or taken back between the pieces hides none of the
 * others. */
Test(flat, standing_orders_are_told_in_pieces)
{
	enum { ORDERS = ORDERS_MAX - 10 };
	struct str out = STR_INIT, text = STR_INIT;
	size_t steps = 0, most = 0;
	enum act_step step;
	struct act *act;
	struct err err;
	char host[32];

	yard_open(&yard, "schedule */* { retry 10m }");
	for (int i = 0; i < ORDERS; i++) {
		snprintf(host, sizeof(host), "h%d.test", i);
		order_make(host);
	}
	act = act_begun(&yard, "{\"v\":1,\"op\":\"orders\"}");
	do {
		str_reset(&out);
		step = act_step(act, &out);
		str_add_slice(&text, str_slice(&out));
		most = out.len > most ? out.len : most;
		if (steps++ == 0) {
			cr_assert_eq(orders_clear(&yard.scheduler.queue.orders,
			    yard.spool, ORDER_SUSPEND, "smtp", "h0.test",
			    &err), 1);
			order_make("new.test");
		}
	} while (step == ACT_MORE);
	act_free(&act);
	cr_expect_gt(steps, 3);
	cr_expect_lt(most, ACT_OUT_BYTES + 8192, "%zu", most);
	for (int i = 0; i < ORDERS; i++) {
		snprintf(host, sizeof(host), "\"h%d.test\"", i);
		cr_expect(yard_says(&text, host), "%s", host);
	}
	cr_expect(yard_says(&text, "new.test"), "given meanwhile");
	cr_expect(yard_says(&text, "\"orders\":991"));
	str_release(&out);
	str_release(&text);
	yard_close(&yard);
}

/* It goes, or comes anew, between the pieces. */
Test(flat, a_message_may_go_while_it_is_told)
{
	struct str rcpts = STR_INIT, out = STR_INIT;
	enum act_step step = ACT_MORE;
	struct asker asker;
	struct act *act;

	yard_open(&yard, "schedule */* { retry 10m }");
	asker_serve(&yard);
	asker_open(&asker, &yard);
	asker_ask(&asker, "{\"v\":1,\"op\":\"suspend\",\"channel\":\"*\"}");
	for (int i = 0; i < 2000; i++)
		str_addf(&rcpts, "smtp/x.test/ok%d@x.test ", i);
	yard_message(&yard, "a@src.test", rcpts.buf, NULL);
	yard_settle(&yard, 50);
	act = act_begun(&yard, "{\"v\":1,\"op\":\"list\"}");
	while (out.len < ACT_OUT_BYTES)
		cr_assert_eq(act_step(act, &out), ACT_MORE);
	asker_ask(&asker, "{\"v\":1,\"op\":\"delete\",\"select\":\"all\"}");
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	for (int i = 0; step != ACT_DONE; i++) {
		str_reset(&out);
		step = act_step(act, &out);
		cr_assert_lt(i, 100);
	}
	cr_expect_not_null(strstr(out.buf, "\"done\":true"));
	act_free(&act);
	asker_close(&asker);
	str_release(&rcpts);
	str_release(&out);
	close_all();
}

Test(flat, groups_count_the_mail_of_their_threads)
{
	struct answer_sum sum;
	struct slice rest, line;
	int64_t messages = 0, threads = 0;

	open_with_hosts();
	answer_whole(&yard, "{\"v\":1,\"op\":\"groups\",\"brief\":true}", &sum);
	rest = str_slice(&sum.text);
	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		cr_expect_gt(json_get_number(line, "threads"), 0);
		messages += json_get_number(line, "messages");
		threads += json_get_number(line, "threads");
	}
	cr_expect_eq(messages, HOSTS);
	cr_expect_eq(threads, HOSTS);
	str_release(&sum.text);
	close_all();
}

Test(flat, queue_tells_who_is_at_it_and_how_old_the_oldest_is)
{
	struct asker asker;

	yard_open(&yard, "schedule */* { retry 10m; parallel 1; overfeed 1 }");
	asker_serve(&yard);
	yard_message(&yard, "a@src.test", "smtp/x.test/hang@x.test", NULL);
	yard_settle(&yard, 20);
	yard_clock(&yard, 100);
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	yard_settle(&yard, 20);
	asker_open(&asker, &yard);
	asker_ask(&asker, "{\"v\":1,\"op\":\"queue\"}");
	cr_assert_eq(asker_lines(&asker), 2);
	cr_expect_gt(strlen(asker_text(&asker, 0, "pids")), 0);
	cr_expect_str_empty(strchr(asker_text(&asker, 0, "pids"), ',') ?
	    "two" : "", "one agent is at it");
	cr_expect_geq(json_get_number(str_slice(&asker.text), "oldest_s"),
	    100, "of the first message");
	cr_expect_geq(json_get_number(str_slice(&asker.text), "fed_s"), 100);
	cr_expect_geq(json_get_number(str_slice(&asker.text), "hungry_s"),
	    100);
	asker_close(&asker);
	close_all();
}

/* ---- the walk ---------------------------------------------------- */

static uint64_t seed = 11;

static uint32_t
dice(uint32_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % sides;
}

static struct thread *
thread_number(unsigned number)
{
	char host[32];

	snprintf(host, sizeof(host), "n%u.test", number);
	return thread_get(&yard.scheduler.queue.threads, yard.conf,
	    (struct thread_way){ SLICE("smtp"), slice_of(host), SLICE("") },
	    1);
}

/* The table grows between the pieces: whoever was there is met once. */
Test(flat, a_walk_of_threads_meets_each_once_while_the_table_grows)
{
	enum { FIRST = 200, ALL = 5000 };
	static unsigned met[ALL];
	struct thread_table *table = &yard.scheduler.queue.threads;
	unsigned count = FIRST, number;
	struct thread_walk walk;
	struct thread *thread;
	size_t size;

	yard_open(&yard, "schedule */* { retry 10m }");
	for (unsigned i = 0; i < FIRST; i++)
		(void)thread_number(i);
	size = table->size;
	thread_walk_init(&walk, table);
	while (!walk.is_over) {
		unsigned budget = dice(9);

		while ((thread = thread_walk_next(&walk, table, &budget)) !=
		    NULL) {
			cr_assert_eq(sscanf(thread->host, "n%u.", &number),
			    1);
			met[number]++;
		}
		for (unsigned i = dice(120); i > 0 && count < ALL; i--)
			(void)thread_number(count++);
	}
	cr_expect_gt(table->size, 4 * size, "it grew");
	for (unsigned i = 0; i < ALL; i++)
		cr_assert(met[i] == 1 || (i >= FIRST && met[i] == 0),
		    "%u was met %u times", i, met[i]);
	yard_close(&yard);
}
