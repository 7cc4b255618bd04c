/* yard_agent.c - a transport agent that does as the recipient's name says
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/ipc.h"
#include "tests/unit/scheduler/yard_agent.h"

static void
say(int socket, const struct str *lines)
{
	if (ipc_send(socket, str_slice(lines), NULL, 0) < 0)
		_exit(0);
}

static void
verdict_for(const struct control_job *job, const struct control_rcpt *rcpt,
    struct yard_shared *shared, struct verdict *out)
{
	struct slice user = rcpt->user;

	if (slice_starts(user, "fail") || slice_starts(user, "unrecorded") ||
	    (slice_starts(user, "refuse") && shared->is_down))
		verdict_set(out, VERDICT_FAILED, "5.1.1",
		    "mx.test[192.0.2.1]:25", "550 5.1.1 no such user");
	else if (slice_starts(user, "defer") || slice_starts(user, "soon") ||
	    slice_starts(user, "unwritten") ||
	    (slice_starts(user, "grey") && rcpt->tries == 0))
		verdict_set(out, VERDICT_DEFERRED, "4.7.1",
		    "mx.test[192.0.2.1]:25", "451 4.7.1 come back later");
	else if (slice_starts(user, "down") && shared->is_down)
		verdict_set(out, VERDICT_DEFERRED, "4.4.1", "mx.test",
		    "connection refused");
	else if (slice_starts(user, "cert") && !job->terms.is_tls_optional)
		verdict_set(out, VERDICT_DEFERRED, "4.7.5", "mx.test",
		    "TLS handshake: certificate: it is another's");
	else if (slice_starts(user, "relay"))
		verdict_set(out, VERDICT_RELAYED, "2.0.0",
		    "mx.test[192.0.2.1]:25", "250 2.0.0 ok");
	else
		verdict_set(out, VERDICT_DELIVERED, "2.0.0", "mailbox",
		    "delivered");
	out->host_trouble = (slice_starts(user, "down") ||
	    slice_starts(user, "cert")) && out->kind == VERDICT_DEFERRED;
}

static void
record(const struct control_job *job, const struct control_rcpt *rcpt,
    const struct verdict *verdict, int control)
{
	struct control_record one = { .kind = RECORD_OUTCOME,
	    .rcpt_offset = rcpt->offset, .time_s = clock_wall_s(),
	    .tries = rcpt->tries + 1, .verdict = *verdict };
	struct err err;

	if (slice_starts(rcpt->user, "soon"))
		one.next_s = one.time_s + 60;
	if (control_file_append(control, job->id, &one, 1, &err) < 0)
		_exit(3);
}

/* A line that has no end, until somebody kills us. */
static void
flood(struct str *lines)
{
	for (unsigned i = 0; i <= IPC_LINE_BYTES_MAX / 16 + 1; i++)
		str_adds(lines, "0123456789abcdef");
}

/* ---- good lines without an end --------------------------------------- */

static char loop_line[256];	/* "" none; with %u: a number each */

static void
loop_plan(const struct slice name, const struct control_rcpt *rcpt)
{
	static const struct { const char *user, *line; } rows[] = {
		{ "hungryloop", "#hungry" }, { "remarkloop", "#I am busy" },
		{ "mxloop", "#mx mx%u.test" },
	};
	struct slice user = rcpt->user;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_starts(user, rows[i].user))
			strlcpy(loop_line, rows[i].line, sizeof(loop_line));
	if (slice_starts(user, "againloop") || slice_starts(user, "otherloop"))
		snprintf(loop_line, sizeof(loop_line), SLICE_FMT "/%u\t-\t"
		    "delivered 2.0.0\tmx.test\t250 ok", SLICE_ARG(name),
		    slice_starts(user, "again") ? rcpt->offset : 7);
	else if (slice_starts(user, "unfitloop"))
		snprintf(loop_line, sizeof(loop_line), "#resync " SLICE_FMT,
		    SLICE_ARG(name));
}

static void
loop_for_ever(int socket)
{
	struct str lines = STR_INIT;

	for (unsigned i = 0;; i++) {
		struct slice line = slice_of(loop_line);
		size_t at = slice_find(line, '%');

		str_add_slice(&lines, slice_first(line, at));
		if (at < line.n) {
			str_addf(&lines, "%u", i);
			str_add_slice(&lines, slice_from(line, at + 2));
		}
		str_addc(&lines, '\n');
		if (lines.len > 65536) {
			say(socket, &lines);
			str_reset(&lines);
		}
	}
}

/* A verdict that is said again when the next job comes. */
static struct str twice_line = STR_INIT;

static void
say_twice(int socket)
{
	say(socket, &twice_line);
	for (;;)
		pause();
}

/* What is odd about this recipient.  False: go on as usual. */
static bool
mischief(struct slice name, const struct control_job *job,
    const struct control_rcpt *rcpt, int control, struct str *lines)
{
	struct verdict verdict;

	if (slice_starts(rcpt->user, "die"))
		_exit(9);
	if (slice_starts(rcpt->user, "record")) {
		verdict_set(&verdict, VERDICT_DELIVERED, NULL, "mailbox",
		    "delivered");
		record(job, rcpt, &verdict, control);
		_exit(9);
	}
	if (slice_starts(rcpt->user, "nonsense"))
		str_adds(lines, "what shall this be?\n");
	else if (slice_starts(rcpt->user, "flood"))
		flood(lines);
	else if (slice_starts(rcpt->user, "foreign"))
		str_addf(lines, SLICE_FMT "/7\t-\tdelivered 2.0.0\tx\ty\n",
		    SLICE_ARG(name));
	else if (!slice_starts(rcpt->user, "mute"))
		return false;
	return true;
}

/* The test waits for nothing more of this one. */
static void
is_idle_now(struct yard_shared *shared)
{
	unsigned at = __atomic_fetch_add(&shared->idle_count, 1,
	    __ATOMIC_SEQ_CST);

	shared->idle[at % YARD_AGENTS_MAX] = getpid();
}

static void
rcpt_serve(struct yard_shared *shared, struct slice name,
    const struct control_job *job, const struct control_rcpt *rcpt, int control,
    struct str *lines)
{
	struct verdict verdict;

	loop_plan(name, rcpt);
	if (slice_starts(rcpt->user, "hang") ||
	    slice_starts(rcpt->user, "mute"))
		is_idle_now(shared);
	while (slice_starts(rcpt->user, "hang"))
		pause();
	if (mischief(name, job, rcpt, control, lines) ||
	    (loop_line[0] != '\0' && !slice_starts(rcpt->user, "again")))
		return;
	verdict_for(job, rcpt, shared, &verdict);
	if (!slice_starts(rcpt->user, "unrecorded") &&
	    !(slice_starts(rcpt->user, "unwritten") && shared->is_down))
		record(job, rcpt, &verdict, control);
	if (verdict_is_final(verdict.kind) && verdict.kind != VERDICT_FAILED)
		__atomic_fetch_add(&shared->delivered, 1, __ATOMIC_SEQ_CST);
	str_addf(lines, SLICE_FMT "/%u\t%s\t%s %s\t%s\t%s\n", SLICE_ARG(name),
	    rcpt->offset, slice_starts(rcpt->user, "soon") ? "+60" : "-",
	    verdict.host_trouble ? "deferall" : verdict_names[verdict.kind],
	    verdict.status, verdict.who, verdict.text);
	if (slice_starts(rcpt->user, "twice"))
		str_add_slice(&twice_line, str_slice(lines));
}

void
yard_agent_job(struct yard_shared *shared, struct slice line, int body,
    int control, struct str *lines)
{
	struct arena *arena = arena_new();
	struct slice name = slice_first(line, slice_find(line, '\t'));
	struct control_job job;
	struct err err;

	while (name.n > 0 && name.p[name.n - 1] != '/')
		name.n--;
	name.n--;
	__atomic_fetch_add(&shared->jobs, 1, __ATOMIC_SEQ_CST);
	if (body < 0 || control < 0 ||
	    control_job_load(arena, line, control, &job, &err) < 0 ||
	    slice_starts(job.rcpts[0].user, "resync")) {
		str_addf(lines, "#resync " SLICE_FMT "\n", SLICE_ARG(name));
	} else {
		__atomic_fetch_add(&shared->rcpts, job.rcpt_count,
		    __ATOMIC_SEQ_CST);
		if (job.rcpt_count > shared->rcpts_most)
			shared->rcpts_most = (unsigned)job.rcpt_count;
		if (job.rcpts[0].tries > shared->tries_most)
			shared->tries_most = job.rcpts[0].tries;
		for (size_t i = 0; i < job.rcpt_count; i++)
			rcpt_serve(shared, name, &job, &job.rcpts[i], control,
			    lines);
	}
	if (loop_line[0] == '\0' && twice_line.len == 0)
		str_adds(lines, "#hungry\n");
	close(body);
	close(control);
	arena_free(&arena);
}

static unsigned
count_jobs(const struct ipc_inbox *inbox)
{
	struct slice line;
	unsigned count = 0;
	size_t cursor = 0;

	while (ipc_line(inbox, &cursor, &line) == IPC_LINE)
		count += line.n > 0 && line.p[0] != '#';
	return count;
}

/* NOOP is told of as `warmed`; the first time there is a connection. */
static void
be_warm(struct yard_shared *shared, struct str *lines)
{
	static bool is_connected;

	if (shared->is_down) {
		str_adds(lines, is_connected ? "#closed\n" : "");
		str_adds(lines, "#warm no connection refused\n");
		__atomic_fetch_add(&shared->refused, 1, __ATOMIC_SEQ_CST);
		is_connected = false;
		return;
	}
	str_adds(lines, is_connected ? "" : "#connected mx.test\t\n");
	str_adds(lines, "#warm yes\n");
	__atomic_fetch_add(&shared->warmed, 1, __ATOMIC_SEQ_CST);
	is_connected = true;
}

void
yard_agent_main(int socket, struct yard_shared *shared)
{
	struct str lines = STR_INIT;
	struct ipc_inbox inbox;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ipc_inbox_init(&inbox);
	__atomic_fetch_add(&shared->agents, 1, __ATOMIC_SEQ_CST);
	str_adds(&lines, "#hungry\n");
	for (;;) {
		struct slice line;
		size_t cursor = 0;

		say(socket, &lines);
		str_reset(&lines);
		if (ipc_receive(socket, &inbox) <= 0)
			_exit(0);
		if (count_jobs(&inbox) > shared->ahead_most)
			shared->ahead_most = count_jobs(&inbox);
		while (ipc_line(&inbox, &cursor, &line) == IPC_LINE) {
			int body, control;

			if (line.n == 0)
				_exit(0);
			if (slice_is(line, "#idle"))
				shared->idles++;
			if (slice_starts(line, "#warm "))
				be_warm(shared, &lines);
			if (line.p[0] == '#')
				continue;
			if (twice_line.len > 0)
				say_twice(socket);
			body = ipc_take_fd(&inbox);
			control = ipc_take_fd(&inbox);
			yard_agent_job(shared, line, body, control, &lines);
		}
		ipc_inbox_consume(&inbox, cursor);
		if (loop_line[0] != '\0') {
			say(socket, &lines);
			loop_for_ever(socket);
		}
	}
}
