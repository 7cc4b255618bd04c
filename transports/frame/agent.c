/* agent.c - jobs in, records and verdicts out
 *
 * In     job lines and pairs of descriptors from the scheduler
 * Out    records in the control files, then verdict lines
 * Holds  the tasks since the last settle, lines not yet sent
 * Trusts the scheduler's lines no more than a stranger's
 * Spec   doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/title.h"
#include "base/clock.h"
#include "journal/event.h"
#include "base/fd.h"
#include "io/ipc.h"
#include "mail/classify.h"
#include "mail/whole.h"
#include "transports/frame/agent.h"

#include "base/banned.h"

enum {
	LINES_BYTES_MAX = 32 * 1024,	/* verdicts are sent when so many */
	LINES_AGE_MS = 20,		/* or when the oldest is so old */
	IDLE_EVERY_MS = 5000,
	INBOX_BYTES_FEW = 2047,	/* read at once where a job is in hand at a
				 * time: it waits as long as that */
	WHOLE_FOR_MS = 10000	/* a message of many jobs: not each time */
};

struct task {			/* a job from its line to its verdicts */
	struct control_job	 job;
	struct slice	 name;		/* N of the job line */
	int		 body_fd, control_fd;
	struct verdict	*verdicts;
	int64_t		 begun_ms, ended_ms;
	int		 next_s;
	struct slice	 tls;
};

struct frame {
	struct agent_run	*run;
	int			 out;
	struct ipc_inbox	 inbox;
	struct str		 lines;		/* to be sent */
	struct str		 told;		/* host and provider of #mx */
	struct str		 shown;		/* host in the title */
	bool			 has_told_peer;	/* and it is not closed */
	int64_t			 lines_since_ms;
	char			 whole_id[SPOOL_ID_BYTES];	/* found so */
	int64_t			 whole_until_ms;
	size_t			 task_count;
	struct task		 tasks[];	/* see frame_tasks */
};

/* Jobs that it has in hand at a time: several when they are settled
 * together. */
static size_t
frame_tasks(const struct agent_kind *agent)
{
	return agent->settle != NULL ? AGENT_BATCH_MAX : 1;
}

/* ---- telling the scheduler --------------------------------------------- */

static int
frame_send_lines(struct frame *frame, struct err *err)
{
	if (fd_write_all(frame->out, frame->lines.buf, frame->lines.len) != 0)
		return err_sys(err, "the scheduler's socket");
	str_reset(&frame->lines);
	return 0;
}

static void
frame_add_verdict(struct str *lines, const struct task *task, size_t index)
{
	const struct verdict *verdict = &task->verdicts[index];
	bool is_deferred = verdict->kind == VERDICT_DEFERRED;

	str_add_slice(lines, task->name);
	str_addf(lines, "/%u\t", task->job.rcpts[index].offset);
	if (is_deferred && task->next_s > 0)
		str_addf(lines, "+%d\t", task->next_s);
	else
		str_adds(lines, "-\t");
	str_addf(lines, "%s %s\t%s\t%s\n",
	    is_deferred && verdict->host_trouble ? "deferall" :
	    verdict_names[verdict->kind], verdict->status, verdict->who,
	    verdict->text);
}

/* ---- what came of a job ------------------------------------------------ */

static struct slice
task_class(const struct verdict *verdict)
{
	struct mail_finding finding;

	classify_verdict(verdict, &finding);
	return slice_of(mail_class_name(finding.class));
}

static void
task_event(const struct task *task, size_t index, int64_t now_us)
{
	const struct control_rcpt *rcpt = &task->job.rcpts[index];
	const struct verdict *verdict = &task->verdicts[index];
	struct slice channel = rcpt->channel, host = rcpt->host;
	struct slice code = slice_of(verdict->status);
	struct slice reply = slice_of(verdict->text);
	struct slice tries = event_number(rcpt->tries + 1);
	int64_t since_us = spool_id_time_us(slice_of(task->job.id));
	struct slice delay = event_number((now_us - since_us) / 1000000);

	if (verdict->kind == VERDICT_DEFERRED && task->next_s > 0)
		event(EV_RCPT_DEFER, task->job.id, "to", rcpt->user, "orcpt",
		    rcpt->orcpt, "channel", channel, "host", host, "code", code,
		    "class", task_class(verdict), "reply", reply, "delay",
		    delay, "tries", tries, "next", event_number(task->next_s),
		    NULL);
	else if (verdict->kind == VERDICT_DEFERRED)
		event(EV_RCPT_DEFER, task->job.id, "to", rcpt->user, "orcpt",
		    rcpt->orcpt, "channel", channel, "host", host, "code", code,
		    "class", task_class(verdict), "reply", reply, "delay",
		    delay, "tries", tries, NULL);
	else if (verdict->kind == VERDICT_FAILED)
		event(EV_RCPT_FAIL, task->job.id, "to", rcpt->user, "orcpt",
		    rcpt->orcpt, "channel", channel, "host", host, "code", code,
		    "class", task_class(verdict), "reply", reply, "delay",
		    delay, "tries", tries, NULL);
	else if (task->tls.n > 0)
		event(EV_RCPT_OK, task->job.id, "to", rcpt->user, "orcpt",
		    rcpt->orcpt, "channel", channel, "host", host, "code", code,
		    "reply", reply, "delay", delay, "tries", tries, "ms",
		    event_number(task->ended_ms - task->begun_ms), "tls",
		    task->tls, NULL);
	else
		event(EV_RCPT_OK, task->job.id, "to", rcpt->user, "orcpt",
		    rcpt->orcpt, "channel", channel, "host", host, "code", code,
		    "reply", reply, "delay", delay, "tries", tries, "ms",
		    event_number(task->ended_ms - task->begun_ms), NULL);
}

/* A success is told all the same: to deliver again would be worse, and a
 * crash before the scheduler is done with it is what repeats it.  A failure
 * is reported from its record, so without one it has not happened yet. */
static void
task_unrecorded(struct task *task, const struct err *err)
{
	for (size_t i = 0; i < task->job.rcpt_count; i++)
		if (task->verdicts[i].kind == VERDICT_FAILED)
			verdict_set(&task->verdicts[i], VERDICT_DEFERRED,
			    "4.3.0", "agent",
			    "the failure could not be recorded: %s", err->text);
}

/* Records first (row P4): a scheduler that dies between finds them there. */
static void
task_record(struct frame *frame, struct task *task, int64_t now_us)
{
	size_t count = task->job.rcpt_count;
	struct control_record *records = arena_alloc(frame->run->arena,
	    count * sizeof(*records));
	int64_t now_s = now_us / 1000000;
	struct err err;

	for (size_t i = 0; i < count; i++) {
		struct control_record *record = &records[i];
		const struct verdict *verdict = &task->verdicts[i];

		record->kind = RECORD_OUTCOME;
		record->rcpt_offset = task->job.rcpts[i].offset;
		record->time_s = now_s;
		record->tries = task->job.rcpts[i].tries + 1;
		record->verdict = *verdict;
		if (verdict->kind == VERDICT_DEFERRED && task->next_s > 0)
			record->next_s = now_s + task->next_s;
	}
	/* once more after trouble: what a failed try left is no record */
	if (control_file_append(task->control_fd, task->job.id, records, count,
	    &err) == 0 || control_file_append(task->control_fd, task->job.id,
	    records,
	    count, &err) == 0)
		return;
	task_unrecorded(task, &err);
	event(EV_SPOOL_TROUBLE, task->job.id, "file", task->name, "call",
	    SLICE("append"), "reason", slice_of(err.text), NULL);
}

static void
task_end(struct frame *frame, struct task *task)
{
	int64_t now_us = clock_wall_us();

	task->ended_ms = clock_steady_ms();
	task_record(frame, task, now_us);
	if (frame->lines.len == 0)
		frame->lines_since_ms = task->ended_ms;
	for (size_t i = 0; i < task->job.rcpt_count; i++) {
		frame_add_verdict(&frame->lines, task, i);
		task_event(task, i, now_us);
	}
	str_adds(&frame->lines, "#hungry\n");
	close(task->control_fd);
	close(task->body_fd);
}

static void
frame_end_tasks(struct frame *frame)
{
	if (frame->task_count == 0)
		return;
	if (frame->run->agent->settle != NULL)
		frame->run->agent->settle(frame->run);
	for (size_t i = 0; i < frame->task_count; i++)
		task_end(frame, &frame->tasks[i]);
	frame->task_count = 0;
	arena_reset(frame->run->arena);
}

/* ---- a job ------------------------------------------------------------- */

static void
task_refuse(struct frame *frame, const struct task *task,
    const struct err *err)
{
	str_addc(&frame->lines, '#');
	str_add_escaped(&frame->lines, slice_of(err->text));
	str_addf(&frame->lines, "\n#resync " SLICE_FMT "\n#hungry\n",
	    SLICE_ARG(task->name));
	if (task->control_fd >= 0)
		close(task->control_fd);
	if (task->body_fd >= 0)
		close(task->body_fd);
}

/* The file's name: what stands before the last slash of the first field. */
static struct slice
job_line_name(struct slice line)
{
	struct slice name = slice_first(line, slice_find(line, '\t'));

	while (name.n > 0 && name.p[name.n - 1] != '/')
		name.n--;
	if (name.n > 0)
		name.n--;
	return slice_first(name, SPOOL_NAME_BYTES - 1);
}

/* Nothing of a damaged message leaves: the scheduler looks for itself, and
 * sets it aside.  One that cannot be read is the agent's to fail with. */
static int
frame_check_body(struct frame *frame, const struct task *task,
    struct err *err)
{
	const char *id = task->job.id;
	enum whole whole;

	if (strcmp(frame->whole_id, id) == 0 &&
	    task->begun_ms < frame->whole_until_ms)
		return 0;
	whole = whole_file(task->body_fd, err);
	if (whole == WHOLE_DAMAGED || (!task->job.is_checked &&
	    control_file_check(task->control_fd, err) < 0))
		return -1;
	strlcpy(frame->whole_id, whole == WHOLE_YES ? id : "",
	    sizeof(frame->whole_id));
	frame->whole_until_ms = task->begun_ms + WHOLE_FOR_MS;
	return 0;
}

static int
task_load(struct frame *frame, struct task *task, struct slice line,
    struct err *err)
{
	struct arena *arena = frame->run->arena;

	if (task->body_fd < 0 || task->control_fd < 0)
		return err_set(err, "a job came without its two descriptors");
	if (control_job_load(arena, slice_copy(arena, line), task->control_fd,
	    &task->job, err) < 0)
		return -1;
	task->verdicts = arena_alloc(arena,
	    task->job.rcpt_count * sizeof(struct verdict));
	for (size_t i = 0; i < task->job.rcpt_count; i++)
		verdict_set(&task->verdicts[i], VERDICT_DEFERRED, "4.3.0",
		    frame->run->agent->name, "not tried");
	return frame_check_body(frame, task, err);
}

/* Who shares the MX of the job's host, when that was not said before. */
static void
frame_add_provider(struct frame *frame, const struct task *task)
{
	struct slice provider = frame->run->provider, told;
	struct str text = STR_INIT;

	if (provider.n == 0)
		return;
	str_addf(&text, SLICE_FMT " " SLICE_FMT, SLICE_ARG(task->job.host),
	    SLICE_ARG(provider));
	told = str_slice(&frame->told);
	if (!slice_equal(told, str_slice(&text))) {
		str_addf(&frame->lines, "#mx " SLICE_FMT "\n",
		    SLICE_ARG(provider));
		str_reset(&frame->told);
		str_add_slice(&frame->told, str_slice(&text));
	}
	str_release(&text);
}

/* A stranger's words: escaped they may be longer than the scheduler takes. */
static void
frame_add_words(struct str *lines, struct slice words, size_t most)
{
	size_t start = lines->len;

	str_add_escaped(lines, words);
	if (lines->len - start >= most) {
		lines->len = start + most - 1;
		lines->buf[lines->len] = '\0';
	}
}

void
agent_connected(struct agent_run *run, const char *peer, struct slice tls)
{
	struct frame *frame = run->frame;
	struct err err;

	if (frame == NULL)		/* a test's */
		return;
	str_adds(&frame->lines, "#connected ");
	frame_add_words(&frame->lines, slice_of(peer), VERDICT_WHO_BYTES);
	str_addc(&frame->lines, '\t');
	frame_add_words(&frame->lines, tls, VERDICT_TEXT_BYTES);
	str_addc(&frame->lines, '\n');
	run->is_connected = frame->has_told_peer = true;
	/* a socket that is broken is found where jobs are read */
	(void)frame_send_lines(frame, &err);
}

static void
frame_add_closed(struct frame *frame)
{
	if (!frame->has_told_peer || frame->run->is_connected)
		return;
	str_adds(&frame->lines, "#closed\n");
	frame->has_told_peer = false;
}

/* ps shows where the agent is: a domain, never a mailbox. */
static void
frame_show_host(struct frame *frame, struct slice host)
{
	const struct agent_run *run = frame->run;
	unsigned count = run->carried_count != NULL ?
	    *run->carried_count : 1;

	if (slice_equal(host, str_slice(&frame->shown)))
		return;
	str_reset(&frame->shown);
	str_add_slice(&frame->shown, host);
	if (count > 1)
		title_set("%u %s agents", count, run->agent->name);
	else if (slice_find(host, '.') < host.n &&
	    slice_find(host, '@') == host.n)
		title_set("%s agent (%s)", run->agent->name,
		    frame->shown.buf);
	else
		title_set("%s agent", run->agent->name);
}

static void
frame_take_job(struct frame *frame, struct slice line)
{
	struct agent_run *run = frame->run;
	struct task *task = &frame->tasks[frame->task_count];
	struct err err;

	memset(task, 0, sizeof(*task));
	task->name = slice_copy(run->arena, job_line_name(line));
	task->body_fd = ipc_take_fd(&frame->inbox);
	task->control_fd = ipc_take_fd(&frame->inbox);
	task->begun_ms = clock_steady_ms();
	if (task_load(frame, task, line, &err) < 0) {
		task_refuse(frame, task, &err);
		return;
	}
	frame_show_host(frame, task->job.host);
	run->tls = run->provider = (struct slice){ NULL, 0 };
	task->next_s = run->agent->job(run, &task->job, task->body_fd,
	    task->verdicts);
	task->tls = run->tls;
	frame_add_provider(frame, task);
	frame_add_closed(frame);
	frame->task_count++;
	if (frame->task_count == frame_tasks(run->agent))
		frame_end_tasks(frame);
}

/* ---- the dialogue ------------------------------------------------------ */

static bool
frame_is_due(const struct frame *frame)
{
	return frame->lines.len >= LINES_BYTES_MAX || (frame->lines.len > 0 &&
	    clock_steady_ms() - frame->lines_since_ms >= LINES_AGE_MS);
}

static void
frame_idle(struct frame *frame)
{
	if (frame->run->agent->idle != NULL)
		frame->run->agent->idle(frame->run);
	frame_add_closed(frame);
}

/* #warm HOST: answered once. */
static void
frame_warm(struct frame *frame, struct slice host)
{
	struct agent_run *run = frame->run;
	struct verdict trouble;

	frame_end_tasks(frame);
	verdict_set(&trouble, VERDICT_DEFERRED, "4.3.0", run->agent->name,
	    "it keeps no connection");
	if (run->agent->warm != NULL && run->agent->warm(run, host,
	    &trouble)) {
		str_adds(&frame->lines, "#warm yes\n");
	} else {
		str_adds(&frame->lines, "#warm no ");
		frame_add_words(&frame->lines, slice_of(trouble.text),
		    VERDICT_TEXT_BYTES);
		str_addc(&frame->lines, '\n');
	}
	frame_add_closed(frame);
	arena_reset(run->arena);
}

/* All whole lines of the inbox.  returns 1; 0 told to finish; -1. */
static int
frame_serve_lines(struct frame *frame, struct err *err)
{
	struct slice line;
	size_t cursor = 0;
	bool is_over = false;
	int got;

	while (!is_over &&
	    (got = ipc_line(&frame->inbox, &cursor, &line)) == IPC_LINE) {
		frame->run->is_more = cursor < frame->inbox.bytes.len &&
		    frame->inbox.bytes.buf[cursor] != '#' &&
		    frame->inbox.bytes.buf[cursor] != '\n';
		if (line.n == 0)
			is_over = true;
		else if (line.p[0] != '#')
			frame_take_job(frame, line);
		else if (slice_is(line, "#idle"))
			frame_idle(frame);
		else if (slice_starts(line, "#warm "))
			frame_warm(frame, slice_from(line, 6));
		else if (slice_starts(line, "#zone "))
			frame->run->zone = conf_zone_find(frame->run->conf,
			    slice_from(line, 6));
		if (frame_is_due(frame) && frame_send_lines(frame, err) < 0)
			return -1;
	}
	frame_end_tasks(frame);
	ipc_inbox_consume(&frame->inbox, cursor);
	event_flush();
	if (frame_send_lines(frame, err) < 0)
		return -1;
	if (!is_over && got < 0)
		return err_set(err, "the scheduler sent an endless line");
	return is_over ? 0 : 1;
}

/* It wakes up now and then while nothing comes, for the agent's idle. */
static int
frame_wait_ms(const struct frame *frame)
{
	if (frame->run->agent->idle == NULL)
		return -1;
	return clock_nap_ms() >= 0 ? clock_nap_ms() : IDLE_EVERY_MS;
}

static int
frame_serve(struct frame *frame, int in, struct err *err)
{
	int wait_ms = frame_wait_ms(frame), got;

	str_adds(&frame->lines, "#hungry\n");
	if (frame_send_lines(frame, err) < 0)
		return -1;
	for (;;) {
		if (!ipc_await(in, wait_ms)) {
			frame_idle(frame);
			if (frame->lines.len > 0 &&
			    frame_send_lines(frame, err) < 0)
				return -1;
			continue;
		}
		got = ipc_receive(in, &frame->inbox);
		if (got == 0)
			return 0;
		if (got < 0)
			return err_sys(err, "the scheduler's socket");
		got = frame_serve_lines(frame, err);
		if (got <= 0)
			return got;
	}
}

int
agent_serve(struct agent_run *run, int in, int out, struct err *err)
{
	struct frame *frame = mem_alloc(1, sizeof(*frame) +
	    frame_tasks(run->agent) * sizeof(struct task));
	int result = 0;

	frame->run = run;
	run->frame = frame;
	frame->out = out;
	ipc_inbox_init(&frame->inbox);
	if (frame_tasks(run->agent) == 1)
		frame->inbox.read_bytes = INBOX_BYTES_FEW;
	str_init(&frame->lines);
	str_init(&frame->told);
	str_init(&frame->shown);
	result = frame_serve(frame, in, err);
	if (run->agent->finish != NULL)
		run->agent->finish(run);
	event_flush();
	ipc_inbox_release(&frame->inbox);
	str_release(&frame->lines);
	str_release(&frame->told);
	str_release(&frame->shown);
	mem_free(&frame);
	run->frame = NULL;
	return result;
}
