/* test_cause.c - `why` names each constraint while it binds: a row each
 *
 * A cause of mail/cause.h without a row here fails, as does one that
 * doc/protocol/control.md does not tell of.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "mail/cause.h"
#include "mail/terms.h"
#include "scheduler/control/control.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/sharing/sharing.h"
#include "tests/unit/scheduler/asker.h"

static struct yard yard;
static struct asker asker;

/* ---- how it comes to be ------------------------------------------ */

#define ORDER(op, more) \
	asker_ask(&asker, "{\"v\":1,\"op\":\"" op "\",\"reason\":\"said " \
	    "so\"," more "}")

static void
deleted(void)
{
	ORDER("delete", "\"rcpt\":\"@x.test\"");
}

static void
held(void)
{
	ORDER("hold", "\"select\":\"all\",\"until\":\"+2h\"");
}

static void
frozen(void)
{
	ORDER("freeze", "\"select\":\"all\"");
}

/* Changed while another of its recipients is at an agent. */
static void
changed(void)
{
	ORDER("schedule", "\"rcpt\":\"@x.test\",\"next\":\"+2h\"");
}

static void
scheduled(void)
{
	ORDER("schedule", "\"select\":\"all\",\"next\":\"+2h\"");
}

static void
drain(void)
{
	ORDER("drain", "\"timeout_s\":0");
}

static void
suspend(void)
{
	ORDER("suspend", "\"host\":\"x.test\",\"until\":\"+2h\"");
}

static void
suspend_zone(void)
{
	ORDER("suspend", "\"channel\":\"zone\",\"host\":\"news\"");
}

#ifdef HAVE_PGSQL
/* A share that was to be told is not there. */
static void
moving(void)
{
	struct sharing *sharing = yard.scheduler.queue.sharing;
	size_t cursor = 0;
	struct job *job = job_table_next(&yard.scheduler.queue.jobs,
	    &cursor);

	cr_assert_eq(sharing_move(sharing, job, moves_order_new(
	    sharing_moves(sharing), "b")), SHARING_MOVES);
}
#endif

/* Nobody answers. */
static void
asked(void)
{
	yard.scheduler.queue.plan.is_asking = true;
}

static void
one_file(void)
{
	yard.scheduler.agents.fd_budget = 3;	/* an agent and its message */
}

static void
host_down(void)
{
	yard.shared->is_down = 1;
}

/* The same hosts take the mail of both. */
static void
one_provider(void)
{
	static const char *const hosts[] = { "w.test", "x.test" };

	for (int i = 0; i < 2; i++) {
		struct thread *thread =
		    thread_get(&yard.scheduler.queue.threads,
		    yard.conf, (struct thread_way){ SLICE("smtp"),
		    slice_of(hosts[i]), SLICE("") }, clock_steady_ms());

		plan_join(&yard.scheduler.queue.providers, thread,
		    SLICE("mx.provider.test"));
	}
}

/* In line again, and no turn since. */
static void
in_line(void)
{
	struct err err;

	cr_assert_geq(orders_clear(&yard.scheduler.queue.orders, yard.spool,
	    ORDER_SUSPEND, NULL, NULL, &err), 1);
	queue_orders(&yard.scheduler.queue);
}

/* ---- the rows ---------------------------------------------------- */

#define ZONED(more) "schedule */* { agents 50; feedback no; overfeed 1 }\n" \
	"zone news { sender @src.test; " more " }"
#define FEW(more) "schedule */* { feedback no; overfeed 1; " more " }"

/* first: a message that is there before (and may hold an agent for ever);
 * rcpts: the one that is asked about, of which that at x.test counts. */
static const struct row {
	enum cause	 cause;
	const char	*conf;
	void		(*before)(void);	/* any mail is there */
	const char	*first, *rcpts;
	void		(*after)(void);
	bool		 is_direct;	/* `why`, without a turn more */
	bool		 is_wanted;	/* its destination asked for it */
	bool		 has_until, has_words;	/* "said so", by root */
	bool		 has_since;
	unsigned	 limit, used;
	int64_t		 future_s;
} rows[] = {
	{ .cause = CAUSE_DELETED, .rcpts = "smtp/x.test/defer@x.test "
	    "smtp/y.test/defer@y.test", .after = deleted, .has_words = true },
	{ .cause = CAUSE_HELD, .rcpts = "smtp/x.test/defer@x.test",
	    .after = held, .has_until = true, .has_words = true },
	{ .cause = CAUSE_FROZEN, .rcpts = "smtp/x.test/defer@x.test",
	    .after = frozen, .has_words = true },
	{ .cause = CAUSE_FAILED, .conf = "keep failed 2h",
	    .rcpts = "smtp/x.test/fail@x.test", .has_until = true },
	{ .cause = CAUSE_ACTIVE, .rcpts = "smtp/x.test/hang@x.test" },
	{ .cause = CAUSE_REREAD, .rcpts = "smtp/w.test/hang@w.test "
	    "smtp/x.test/defer@x.test", .after = changed },
	{ .cause = CAUSE_FUTURE, .rcpts = "smtp/x.test/ok@x.test",
	    .future_s = 7200, .has_until = true },
	{ .cause = CAUSE_SCHEDULED, .rcpts = "smtp/x.test/defer@x.test",
	    .after = scheduled, .has_until = true },
	{ .cause = CAUSE_ASKED, .before = asked,
	    .rcpts = "smtp/x.test/ok@x.test", .has_until = true },
	{ .cause = CAUSE_QUEUE_ONLY, .conf = FEW("queue-only yes"),
	    .rcpts = "smtp/x.test/ok@x.test", .has_until = true },
	{ .cause = CAUSE_TIMER, .rcpts = "smtp/x.test/defer@x.test",
	    .has_until = true },
	{ .cause = CAUSE_TIMER, .conf = FEW("queue-only yes"),
	    .rcpts = "smtp/x.test/soon@x.test", .has_until = true,
	    .is_wanted = true },
	{ .cause = CAUSE_DRAIN, .before = drain,
	    .rcpts = "smtp/x.test/ok@x.test", .has_words = true },
#ifdef HAVE_PGSQL
	{ .cause = CAUSE_MOVING, .conf = "cluster c { node a b; self a; "
	    "postgres dbname=none; copies lease go-on }\n",
	    .rcpts = "smtp/x.test/defer@x.test", .after = moving },
	{ .cause = CAUSE_LEASE, .conf = "cluster c { node a; self a; "
	    "postgres dbname=none }\n", .rcpts = "smtp/x.test/ok@x.test" },
#endif
	{ .cause = CAUSE_SUSPENDED, .before = suspend,
	    .rcpts = "smtp/x.test/ok@x.test", .has_words = true,
	    .has_until = true },
	{ .cause = CAUSE_ZONE_SUSPENDED, .conf = ZONED(""),
	    .before = suspend_zone, .rcpts = "smtp/x.test/ok@x.test",
	    .has_words = true },
	{ .cause = CAUSE_WARM_UP, .conf = ZONED("warm-up 2037-12-31 1"),
	    .first = "smtp/x.test/ok@x.test",
	    .rcpts = "smtp/x.test/ok@x.test", .has_until = true,
	    .has_since = true },
	{ .cause = CAUSE_RULE, .conf = FEW("retry on greylist suspend 2h"),
	    .first = "smtp/x.test/defer@x.test",
	    .rcpts = "smtp/x.test/ok@x.test", .has_until = true },
	{ .cause = CAUSE_HOST_DOWN, .before = host_down,
	    .rcpts = "smtp/x.test/down@x.test", .has_until = true },
	{ .cause = CAUSE_RATE, .conf = FEW("rate 1/1h"),
	    .first = "smtp/x.test/ok@x.test",
	    .rcpts = "smtp/x.test/ok@x.test", .has_until = true },
	{ .cause = CAUSE_RATE, .conf = ZONED("rate 1/1h"),
	    .first = "smtp/x.test/ok@x.test",
	    .rcpts = "smtp/x.test/ok@x.test", .has_until = true },
	{ .cause = CAUSE_PROVIDER, .conf = FEW("provider 1"),
	    .before = one_provider, .first = "smtp/w.test/hang@w.test",
	    .rcpts = "smtp/x.test/ok@x.test", .limit = 1, .used = 1 },
	{ .cause = CAUSE_LIMIT, .conf = FEW("parallel 1"),
	    .first = "smtp/x.test/hang@x.test",
	    .rcpts = "smtp/x.test/ok@x.test", .limit = 1, .used = 1 },
	{ .cause = CAUSE_LIMIT, .conf = ZONED("parallel 1"),
	    .first = "smtp/x.test/hang@x.test",
	    .rcpts = "smtp/x.test/ok@x.test", .limit = 1, .used = 1 },
	{ .cause = CAUSE_FILES, .conf = FEW("parallel 9"),
	    .before = one_file, .first = "smtp/w.test/hang@w.test",
	    .rcpts = "smtp/x.test/ok@x.test", .limit = 3, .used = 3 },
	{ .cause = CAUSE_START, .rcpts = "broken/x.test/ok@x.test",
	    .has_until = true },
	{ .cause = CAUSE_ZONE, .conf = ZONED("agents 1"),
	    .first = "smtp/w.test/hang@w.test",
	    .rcpts = "smtp/x.test/ok@x.test", .limit = 1, .used = 1 },
	{ .cause = CAUSE_AGENTS, .conf = FEW("agents 1"),
	    .first = "smtp/w.test/hang@w.test",
	    .rcpts = "smtp/x.test/ok@x.test", .limit = 1, .used = 1 },
	{ .cause = CAUSE_AGENTS, .conf = "schedule smtp/w* { channel-agents 1"
	    "; overfeed 1 }\n" FEW("channel-agents 1"),
	    .first = "smtp/w.test/hang@w.test",
	    .rcpts = "smtp/x.test/ok@x.test", .limit = 1, .used = 1 },
	{ .cause = CAUSE_AGENTS, .conf = "limit agents 1\n" FEW("agents 9"),
	    .first = "lmtp/w.test/hang@w.test",
	    .rcpts = "smtp/x.test/ok@x.test", .limit = 1, .used = 1 },
	{ .cause = CAUSE_LINE, .before = suspend,
	    .rcpts = "smtp/x.test/ok@x.test", .after = in_line,
	    .is_direct = true },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- asked ------------------------------------------------------- */

static bool
is_member(struct slice line, const char *key, const char *want)
{
	struct str value = STR_INIT;
	bool is_same = json_get(line, key, &value) &&
	    slice_is(str_slice(&value), want);

	str_release(&value);
	return is_same;
}

/* The line about the recipient at x.test. */
static struct slice
line_of(const struct str *text)
{
	struct slice rest = str_slice(text), line;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line))
		if (is_member(line, "host", "x.test"))
			return line;
	return SLICE("");
}

struct question {
	const struct row *row;
	char		 request[128];
	struct answer_sum sum;
};

static bool
is_binding(struct yard *y, void *arg)
{
	struct question *question = arg;

	str_release(&question->sum.text);
	answer_whole(y, question->request, &question->sum);
	return is_member(line_of(&question->sum.text), "code",
	    cause_rows[question->row->cause].code);
}

/* A limit that somebody could change says where it stands. */
static bool
cause_has_setting(enum cause cause)
{
	return cause == CAUSE_RATE || cause == CAUSE_PROVIDER ||
	    cause == CAUSE_LIMIT || cause == CAUSE_ZONE ||
	    cause == CAUSE_AGENTS;
}

static void
answer_check(const struct row *row, struct slice line, int number)
{
	int64_t until_s = json_get_number(line, "until");
	struct str setting = STR_INIT;

	if (row->has_until)	/* an agent is started anew in a second */
		cr_expect_geq(until_s, clock_wall_s() - 2, "row %d", number);
	else
		cr_expect_eq(until_s, 0, "row %d", number);
	if (row->has_words) {
		cr_expect(is_member(line, "reason", "said so"), "row %d",
		    number);
		cr_expect_not(is_member(line, "by", ""), "row %d", number);
	}
	if (row->has_since)
		cr_expect(json_get_number(line, "since") > clock_wall_s() - 60,
		    "row %d", number);
	cr_expect_eq(json_get_number(line, "limit"), row->limit, "row %d",
	    number);
	cr_expect_eq(json_get_number(line, "used"), row->used, "row %d",
	    number);
	cr_expect_eq(json_get(line, "setting", &setting), cause_has_setting(
	    row->cause), "row %d: " SLICE_FMT, number, SLICE_ARG(line));
	str_release(&setting);
}

static bool
all_is_read(struct yard *y, void *arg)
{
	return y->scheduler.intake.count == 0 &&
	    y->scheduler.queue.jobs.count >= *(unsigned *)arg;
}

static bool
agent_hangs(struct yard *y, void *arg)
{
	return y->shared->jobs > 0 && y->scheduler.queue.plan.flight_count > 0;
}

static bool
was_tried(struct yard *y, void *arg)
{
	return y->shared->jobs > 0 && y->scheduler.queue.plan.flight_count == 0;
}

static void
messages_send(const struct row *row, char id[SPOOL_ID_BYTES])
{
	struct terms terms = { .hold_until_s = clock_wall_s() +
	    row->future_s };
	unsigned one = 1;

	if (row->first != NULL) {
		yard_message(&yard, "a@src.test", row->first, NULL);
		cr_assert(yard_until(&yard, strstr(row->first, "hang") ?
		    agent_hangs : was_tried, NULL));
	}
	yard_terms = row->future_s > 0 ? &terms : NULL;
	yard_message(&yard, "a@src.test", row->rcpts, id);
	yard_terms = NULL;
	cr_assert(yard_until(&yard, all_is_read, &one));
	if (row->is_wanted) {
		asker_ask(&asker, "{\"v\":1,\"op\":\"etrn\",\"host\":"
		    "\"x.test\"}");
		cr_assert(yard_until(&yard, was_tried, NULL));
	}
}

/* It was tried, or is where it stays. */
static bool
is_at_rest(struct yard *y, void *arg)
{
	const struct job *job;
	size_t cursor = 0;

	while ((job = job_table_next(&y->scheduler.queue.jobs, &cursor)) !=
	    NULL)
		for (size_t i = 0; i < job->vertex_count; i++) {
			const struct vertex *vertex = &job->vertices[i];

			if (strcmp(vertex->thread->host, "x.test") == 0 &&
			    vertex->state == VERTEX_FLIGHT)
				return false;
		}
	return y->shared->jobs > 0 || y->scheduler.agents.count == 0;
}

static void
row_show(const struct row *row, int number)
{
	struct question question = { .row = row, .sum.text = STR_INIT };
	char id[SPOOL_ID_BYTES];

	yard_open(&yard, row->conf != NULL ? row->conf :
	    "schedule */* { retry 10m; jitter 0; overfeed 1 }");
	asker_serve(&yard);
	asker_open(&asker, &yard);
	if (row->before != NULL)
		row->before();
	messages_send(row, id);
	if (row->after != NULL && !row->is_direct)
		cr_assert(yard_until(&yard, is_at_rest, NULL));
	if (row->after != NULL)
		row->after();
	snprintf(question.request, sizeof(question.request),
	    "{\"v\":1,\"op\":\"why\",\"id\":\"%s\"}", id);
	cr_expect(row->is_direct ? is_binding(&yard, &question) :
	    yard_until(&yard, is_binding, &question), "row %d, %s: %s",
	    number, cause_rows[row->cause].code, question.sum.text.buf);
	answer_check(row, line_of(&question.sum.text), number);
	str_release(&question.sum.text);
	asker_yard_close(&asker);
}

Test(cause, each_is_named_while_it_binds, .timeout = 240)
{
	bool is_shown[CAUSE_COUNT] = { false };

#ifndef HAVE_PGSQL
	/* nodes that share a PostgreSQL have these two */
	is_shown[CAUSE_MOVING] = is_shown[CAUSE_LEASE] = true;
#endif
	for (int i = 0; i < ROWS; i++) {
		is_shown[rows[i].cause] = true;
		row_show(&rows[i], i);
	}
	for (int i = 0; i < CAUSE_COUNT; i++)
		cr_expect(is_shown[i], "no row shows `%s`",
		    cause_rows[i].code);
}

Test(cause, codes_differ_and_are_found)
{
	for (int i = 0; i < CAUSE_COUNT; i++) {
		cr_expect_eq(cause_find(slice_of(cause_rows[i].code)),
		    &cause_rows[i], "%s", cause_rows[i].code);
		cr_expect_gt(strlen(cause_rows[i].text), 8);
	}
	cr_expect_null(cause_find(SLICE("")));
	cr_expect_null(cause_find(SLICE("lines")));
}

Test(cause, the_protocol_page_has_each)
{
	const char *src = getenv("ZMAILER_SRC");
	struct str text = STR_INIT;
	char path[512], code[64];
	FILE *file;
	int c;

	if (src == NULL)
		cr_skip_test("ZMAILER_SRC does not name the source tree");
	snprintf(path, sizeof(path), "%s/doc/protocol/control.md", src);
	cr_assert_not_null(file = fopen(path, "r"), "%s", path);
	while ((c = getc(file)) != EOF)
		str_addc(&text, (char)c);
	fclose(file);
	for (int i = 0; i < CAUSE_COUNT; i++) {
		snprintf(code, sizeof(code), "`%s`", cause_rows[i].code);
		cr_expect(yard_says(&text, code), "%s", code);
	}
	str_release(&text);
}
