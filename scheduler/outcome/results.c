/* results.c - outcomes are told to the site's script (on_result)
 *
 * In     answers of agents
 * Out    frames to a process that asks the script (daemon/hook/hook.h)
 * Holds  a process, what it has not read yet
 * Trusts the process to say whether it wants to hear
 * Spec   doc/HOOKS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/outcome/results.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "journal/event.h"
#include "base/clock.h"
#include "base/mem.h"
#include "daemon/child.h"
#include "io/ipc.h"
#include "scheduler/outcome/attempt.h"
#include "daemon/hook/frame.h"
#include "daemon/hook/hook.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum {
	SOCKET = 3,		/* in the process */
	ANSWERED = 0,		/* the number of no question */
	LINE_BYTES_MAX = 2048	/* of a control file, as far as needed */
};

/* Of a frame's fields, in their order. */
static const char *const keys[] = {
	"msg.id", "msg.from", "rcpt.to", "rcpt.channel", "rcpt.host",
	"result.verdict", "result.status", "result.text", "result.tries",
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

struct results {
	struct process	*process;
	struct child	*child;
	struct queue	*queue;
	struct orderer	*orderer;
	uint64_t	 left_out;
	uint16_t	 asked;		/* the last question's number */
	bool		 is_wanted;	/* the script has on_result */
};

/* ---- in the process --------------------------------------------------- */

struct teller {
	const struct conf	*conf;
	struct table		**tables;
	struct hooks		*hooks;
	const char		*id;		/* of the message in hand */
	struct slice		 wants;		/* as the parent was told */
};

static int
teller_lookup(void *context, struct slice table, struct slice key,
    struct str *out, struct err *err)
{
	const struct teller *teller = context;
	struct slice value;
	int found;

	for (size_t i = 0; i < teller->conf->table_count; i++) {
		if (!slice_is(table, teller->conf->tables[i].name))
			continue;
		found = table_lookup(teller->tables[i], key, &value, NULL,
		    err);
		if (found == TABLE_FOUND)
			str_add_slice(out, value);
		return found;
	}
	return err_set(err, "there is no table '" SLICE_FMT "'",
	    SLICE_ARG(slice_first(table, 100)));
}

static void
teller_log(void *context, struct slice text)
{
	const struct teller *teller = context;

	event(EV_HOOK_LOG, teller->id, "text", text, NULL);
}

static void
results_trouble(const char *id, const struct err *err)
{
	event(EV_HOOK_TROUBLE, id, "function", SLICE("on_result"), "reason",
	    slice_of(err->text), NULL);
}

/* The parent is told when the wish changes. */
static bool
teller_look(struct teller *teller)
{
	struct err err;
	bool hears = hooks_has(teller->hooks, HOOK_ON_RESULT, &err) ==
	    HOOK_DEFINED;
	/* a script in trouble may have it: that is told, question by
	 * question */
	bool is_asked = hooks_has(teller->hooks, HOOK_BEFORE_ATTEMPT, &err) !=
	    HOOK_MISSING;
	struct slice line = hears ? is_asked ? SLICE("wants both\n") :
	    SLICE("wants result\n") : is_asked ? SLICE("wants attempt\n") :
	    SLICE("wants none\n");

	if (slice_equal(line, teller->wants))
		return true;
	teller->wants = line;
	return write(SOCKET, line.p, line.n) == (ssize_t)line.n;
}

static bool
teller_answer(struct teller *teller, struct slice fields)
{
	struct str out = STR_INIT;
	bool is_said;

	attempt_answer(teller->hooks, fields, clock_wall_s(), &out);
	is_said = ipc_send(SOCKET, str_slice(&out), NULL, 0) >= 0;
	str_release(&out);
	return is_said;
}

static void
results_tell_script(struct teller *teller, struct slice fields)
{
	struct hook_answer answer;
	struct slice values[KEYS];
	char id[SPOOL_ID_BYTES];
	struct err err;

	for (size_t i = 0; i < KEYS; i++)
		if (!hook_field(&fields, &values[i]))
			return;
	if (hooks_has(teller->hooks, HOOK_ON_RESULT, &err) !=
	    HOOK_DEFINED)
		return;
	hooks_question(teller->hooks, HOOK_ON_RESULT);
	for (size_t i = 0; i < KEYS; i++)
		hooks_add(teller->hooks, keys[i], values[i]);
	snprintf(id, sizeof(id), SLICE_FMT, SLICE_ARG(values[0]));
	teller->id = id[0] != '\0' ? id : NULL;
	if (hooks_ask(teller->hooks, &answer, &err) < 0)
		results_trouble(teller->id, &err);
	teller->id = NULL;
}

static void
results_serve(struct teller *teller)
{
	struct pollfd fd = { SOCKET, POLLIN, 0 };
	struct str in = STR_INIT;
	struct hook_frame frame;
	struct err err;
	size_t used;
	ssize_t got;

	for (;;) {
		if (!teller_look(teller))
			return;
		event_flush();
		if (poll(&fd, 1, RESULTS_LOOK_MS) <= 0)
			continue;
		got = read(SOCKET, str_room(&in, 65536), 65536);
		if (got <= 0)
			return;
		in.len += (size_t)got;
		while (hook_frame_take(str_slice(&in), &frame, &used,
		    &err) == HOOK_FRAME_WHOLE) {
			if (frame.type == 'O')
				results_tell_script(teller, frame.fields);
			else if (!teller_answer(teller, frame.fields))
				return;
			str_consume(&in, used);
		}
	}
}

/* Nothing of the scheduler's stays open: its locks would live on here. */
static void
results_run(void *context, int socket)
{
	const struct results *results = context;
	const struct conf *conf = results->process->conf;
	struct hook_host host = { .lookup = teller_lookup,
	    .log = teller_log };
	struct teller teller = { .conf = conf };

	if (socket != SOCKET && dup2(socket, SOCKET) < 0)
		_exit(EXIT_FATAL);
	closefrom(SOCKET + 1);
	(void)event_open(conf->log_dir);
	host.context = &teller;
	teller.tables = mem_alloc(conf->table_count + 1,
	    sizeof(struct table *));
	for (size_t i = 0; i < conf->table_count; i++)
		teller.tables[i] = table_new(conf->tables[i].name,
		    conf->tables[i].spec);
	teller.hooks = hooks_new(&conf->hooks, &host);
	results_serve(&teller);
	hooks_free(&teller.hooks);
}

/* ---- in the scheduler ------------------------------------------------- */

static void
results_go_on(struct queue *queue, struct vertex *vertex)
{
	vertex->park = PARK_NONE;
	vertex->is_allowed = true;
	plan_ready(&queue->plan, vertex);
}

/* There was no good answer. */
static void
results_settle(const struct results *results, struct queue *queue,
    struct vertex *vertex)
{
	if (results == NULL ||
	    !results->process->conf->hooks.waits_when_late) {
		results_go_on(queue, vertex);
		return;
	}
	vertex->park = PARK_NONE;
	queue_wait(queue, vertex, clock_steady_ms() + RESULTS_AGAIN_MS);
}

/* "NUMBER INODE INDEX": the vertex that waits for this answer, or NULL: its
 * message was read again meanwhile, or tried by order. */
static struct vertex *
results_vertex(struct results *results, struct slice line)
{
	struct slice number, inode, index;
	uint64_t n, i, k;
	struct job *job;

	if (!slice_word(&line, &number) || !slice_word(&line, &inode) ||
	    !slice_word(&line, &index) ||
	    !slice_number(number, 0, UINT16_MAX, &n) ||
	    !slice_number(inode, 1, UINT64_MAX, &i) ||
	    !slice_number(index, 0, UINT32_MAX, &k))
		return NULL;
	job = job_table_find(&results->queue->jobs, (ino_t)i);
	if (job == NULL || k >= job->vertex_count ||
	    job->vertices[k].unanswered != n ||
	    job->vertices[k].state != VERTEX_WAIT ||
	    job->vertices[k].park != PARK_ASKED)
		return NULL;
	return &job->vertices[k];
}

static void
results_on_line(struct results *results, struct slice line)
{
	struct vertex *vertex;

	if (slice_starts(line, "wants ")) {
		line = slice_from(line, 6);
		results->is_wanted = slice_is(line, "both") ||
		    slice_is(line, "result");
		results->queue->plan.is_asking = slice_is(line, "both") ||
		    slice_is(line, "attempt");
	} else if (slice_starts(line, "order ")) {
		line = slice_from(line, 6);
		struct str order = STR_INIT;

		str_add_slice(&order, line);
		str_addc(&order, '\n');
		orderer_add(results->orderer, str_slice(&order));
		str_release(&order);
	} else if (slice_starts(line, "go ")) {
		line = slice_from(line, 3);
		vertex = results_vertex(results, line);
		if (vertex != NULL)
			results_go_on(results->queue, vertex);
	} else if (slice_starts(line, "ordered ")) {
		vertex = results_vertex(results, slice_from(line, 8));
		if (vertex != NULL)
			vertex->unanswered = ANSWERED;
	} else if (slice_starts(line, "trouble ")) {
		line = slice_from(line, 8);
		vertex = results_vertex(results, line);
		if (vertex == NULL)
			return;
		plan_forget(&results->queue->plan, vertex);
		results_settle(results, results->queue, vertex);
	}
}

static void
results_on_read(void *context)
{
	struct results *results = context;
	struct slice line;

	while (child_line(results->child, &line))
		results_on_line(results, line);
}

static void
results_on_sent(void *context)
{
	struct results *results = context;
	struct err err;

	if (child_outbox(results->child)->len > 0 || results->left_out == 0)
		return;
	err_set(&err, "%llu outcomes were not told: the script is too slow",
	    (unsigned long long)results->left_out);
	results_trouble(NULL, &err);
	results->left_out = 0;
}

static void
results_on_end(void *context, const struct child_end *end)
{
	struct results *results = context;

	results->is_wanted = false;
}

static const struct child_kind kind = {
	.name = "results", .is_kept = true, .end_signal = SIGKILL,
	.run = results_run, .read = results_on_read, .sent = results_on_sent,
	    .ended = results_on_end,
};

struct results *
results_new(struct process *process, struct queue *queue,
    orderer_connect_fn *connect)
{
	struct results *results;
	struct err err;

	/* until it is known whether the script wants to be asked it is */
	queue->plan.is_asking = process->conf->hooks.script != NULL;
	if (process->conf->hooks.script == NULL)
		return NULL;
	results = mem_alloc(1, sizeof(*results));
	results->process = process;
	results->queue = queue;
	results->orderer = orderer_new(process->loop, connect);
	results->child = child_new(process, &kind, results);
	if (child_start(results->child, &err) < 0) {
		results_trouble(NULL, &err);
		child_start_later(results->child);
	}
	return results;
}

void
results_free(struct results **presults)
{
	struct results *results = *presults;

	if (results == NULL)
		return;
	child_free(&results->child);
	orderer_free(&results->orderer);
	mem_free(presults);
}

void
results_renew(struct results **results, struct process *process,
    struct queue *queue, orderer_connect_fn *connect)
{
	results_free(results);
	*results = results_new(process, queue, connect);
}

/* The third word of a line "r channel host user uid" at this place. */
static struct slice
results_user_at(const struct job *job, uint32_t offset, char *line)
{
	ssize_t got = job->control_fd < 0 ? 0 :
	    pread(job->control_fd, line, LINE_BYTES_MAX, (off_t)offset);
	struct slice rest = { line, got > 0 ? (size_t)got : 0 }, word;

	rest = slice_first(rest, slice_find(rest, '\n'));
	for (int i = 0; i < 4; i++)
		if (!slice_word(&rest, &word))
			return SLICE("");
	return slice_is(word, "-") ? SLICE("") : word;
}

void
results_tell(struct results *results, const struct vertex *vertex,
    uint32_t offset, const struct answer *answer)
{
	char from[LINE_BYTES_MAX], to[LINE_BYTES_MAX];
	const struct thread *thread = vertex->thread;
	struct str *out;
	size_t start;

	if (results == NULL || !results->is_wanted)
		return;
	out = child_outbox(results->child);
	if (out->len > RESULTS_WAITING_BYTES_MAX) {
		results->left_out++;
		return;
	}
	start = hook_frame_begin(out, 'O');
	hook_field_add(out, slice_of(vertex->job->id));
	hook_field_add(out, results_user_at(vertex->job,
	    vertex->sender_offset, from));
	hook_field_add(out, results_user_at(vertex->job, offset, to));
	hook_field_add(out, slice_of(thread->channel));
	hook_field_add(out, slice_of(thread->host));
	hook_field_add(out,
	    slice_of(verdict_names[answer->verdict]));
	hook_field_add(out, answer->status);
	hook_field_add(out, answer->text);
	hook_field_add(out, event_number(vertex->tries + 1));
	hook_frame_end(out, start);
	child_send(results->child);
}

/* ---- before_attempt --------------------------------------------------- */

static void
results_add_question(struct results *results, const struct vertex *vertex)
{
	char from[LINE_BYTES_MAX], to[LINE_BYTES_MAX];
	const struct rcpt *rcpts = vertex_rcpts(vertex);
	struct str *out = child_outbox(results->child);
	const struct job *job = vertex->job;
	size_t start = hook_frame_begin(out, 'B');

	hook_field_add(out, event_number(vertex->unanswered));
	hook_field_add(out, event_number((int64_t)job->inode));
	hook_field_add(out, event_number(vertex - job->vertices));
	hook_field_add(out, slice_of(job->id));
	hook_field_add(out, results_user_at(job, vertex->sender_offset, from));
	hook_field_add(out, event_number((clock_steady_ms() - job->born_ms) /
	    1000));
	hook_field_add(out, event_number(vertex->tries + 1));
	hook_field_add(out, event_number(job->steered));
	hook_field_add(out, slice_of(vertex->thread->channel));
	hook_field_add(out, slice_of(vertex->thread->host));
	for (size_t i = 0; i < vertex->rcpt_count; i++) {
		if (rcpts[i].flags & RCPT_FINAL)
			continue;
		hook_field_add(out, event_number(rcpts[i].offset));
		hook_field_add(out, results_user_at(job, rcpts[i].offset,
		    to));
	}
	hook_frame_end(out, start);
}

void
results_ask(struct results *results, struct queue *queue,
    struct vertex *vertex)
{
	int64_t wait_ms = RESULTS_ANSWER_MS;

	if (results != NULL) {
		wait_ms += results->process->conf->hooks.time_ms;
		results->asked += results->asked == UINT16_MAX ? 2 : 1;
		vertex->unanswered = results->asked;
		if (child_outbox(results->child)->len <
		    RESULTS_WAITING_BYTES_MAX) {
			results_add_question(results, vertex);
			child_send(results->child);
		}
	}
	vertex->park = PARK_ASKED;
	plan_wait(&queue->plan, vertex, clock_steady_ms() + wait_ms);
}

void
results_late(struct results *results, struct queue *queue,
    struct vertex *vertex)
{
	struct err err;

	/* others of its message are at agents, so it could not be read again:
	 * it is asked about later */
	if (results != NULL && vertex->unanswered == ANSWERED &&
	    vertex->job->flight_count > 0) {
		vertex->park = PARK_NONE;
		queue_wait(queue, vertex, clock_steady_ms() +
		    RESULTS_AGAIN_MS);
		return;
	}
	err_set(&err, "no answer about a try in time: %s", results != NULL &&
	    results->process->conf->hooks.waits_when_late ?
	    "it is asked again in a minute" : "it goes on");
	event(EV_HOOK_TROUBLE, vertex->job->id, "function",
	    SLICE("before_attempt"), "reason", slice_of(err.text), NULL);
	results_settle(results, queue, vertex);
}
