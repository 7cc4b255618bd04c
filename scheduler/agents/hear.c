/* hear.c - what agents say, and what is made of it
 *
 * In     lines of agents
 * Out    answers to outcome.c
 * Holds  nothing
 * Trusts no agent: a line that is nonsense, or a verdict about somebody
 *        else's recipient, ends it
 * Spec   doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "mail/whole.h"
#include "scheduler/agents/agents.h"
#include "scheduler/jobs/answer.h"
#include "scheduler/intake/intake.h"
#include "scheduler/outcome/outcome.h"
#include "scheduler/outcome/results.h"
#include "scheduler/plan/shaping/pace.h"

#include "base/banned.h"

enum {
	RESYNC_MAX = 3,		/* answers that the file does not fit */
	TALK_MAX = 100,		/* lines of an agent that end nothing, from one
				 * job done to the next */
	NONSENSE_SHOWN = 200	/* bytes of it in the journal */
};

static void
agent_nonsense(struct agents *agents, struct agent *agent,
    struct slice line, const char *why)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s: ", why);
	str_add_escaped(&text, slice_first(line, NONSENSE_SHOWN));
	event(EV_AGENT_NONSENSE, NULL, "channel",
	    slice_of(agent->ring->channel), "child",
	    event_number(agent->token), "line", str_slice(&text), NULL);
	str_release(&text);
	agent_kill(agents, agent,
	    "the transport agent broke its protocol");
}

/* ---- what it says ------------------------------------------------ */

/* The vertex in hand that the answer is about; mostly the first. */
static struct vertex *
agent_find_vertex(struct agents *agents, struct agent *agent,
    const struct answer *answer)
{
	char name[SPOOL_NAME_BYTES];
	struct vertex *vertex;

	TAILQ_FOREACH(vertex, &agent->jobs, entry) {
		if (vertex == agent->unsent)
			return NULL;	/* it cannot know of this one */
		if (vertex->job->inode != answer->inode)
			continue;
		if (answer->kind == ANSWER_VERDICT &&
		    vertex_rcpt(vertex, answer->offset) == NULL)
			continue;
		spool_hashed_name(agents->queue->spool, answer->inode, name);
		return slice_is(answer->name, name) ? vertex : NULL;
	}
	return NULL;
}

static void
agent_drop_vertex(struct agents *agents, struct agent *agent,
    struct vertex *vertex)
{
	TAILQ_REMOVE(&agent->jobs, vertex, entry);
	agent->talk_count = 0;
	if (--agent->job_count == 0)
		agent_rest(agents, agent);
}

/* It is done with a job.  Several may be heard of together: an agent tells of
 * one when it waits for the host to answer to the next. */
static void
agent_done(struct agent *agent, struct thread *thread,
    enum verdict_kind verdict)
{
	int64_t took_ms = agent->heard_ms - agent->done_ms;

	if (took_ms > 0) {
		agent->turn_ms = agent->done_ms;
		agent->done_ms = agent->heard_ms;
	}
	if (verdict < VERDICT_DEFERRED)
		pace_worked(thread, agent->turn_ms, took_ms, agent->heard_ms);
}

static bool
agent_take_verdict(struct agents *agents, struct agent *agent,
    const struct answer *answer)
{
	struct vertex *vertex = agent_find_vertex(agents, agent, answer);
	struct thread *thread;
	unsigned sessions;
	struct rcpt *rcpt;

	if (vertex == NULL)
		return false;
	thread = vertex->thread;
	sessions = plan_sessions(thread);
	rcpt = vertex_rcpt(vertex, answer->offset);
	if (rcpt->flags != 0)		/* final, or answered already */
		return false;
	outcome_answer(agents->outcome, vertex, rcpt, answer);
	results_tell(agents->outcome->results, vertex, answer->offset, answer);
	if (vertex->unanswered == 0) {
		if (agent->connection != NULL)
			agent->connection->uses++;
		agent_done(agent, thread, answer->verdict);
		agent_drop_vertex(agents, agent, vertex);
		outcome_vertex(agents->outcome, vertex);
	}
	if (plan_sessions(thread) < sessions)
		agents_shed(thread);
	return true;
}

/* How often that was said of this message by now. */
static unsigned
agents_count_resync(struct agents *agents, const char *id)
{
	struct resync *resync;

	for (size_t i = 0; i < RESYNCS_MAX; i++)
		if (strcmp(agents->resyncs[i].id, id) == 0)
			return ++agents->resyncs[i].count;
	resync = &agents->resyncs[agents->resync_next++ % RESYNCS_MAX];
	strlcpy(resync->id, id, sizeof(resync->id));
	return resync->count = 1;
}

static bool
agent_take_resync(struct agents *agents, struct agent *agent,
    const struct answer *answer)
{
	struct vertex *vertex = agent_find_vertex(agents, agent, answer);
	struct job *job;
	struct err err;

	if (vertex == NULL)
		return false;
	job = vertex->job;
	agent_drop_vertex(agents, agent, vertex);
	if (job->flight_count == 1 && intake_job_open(agents->intake, job,
	    &err) && whole_file(job->body_fd, &err) == WHOLE_DAMAGED) {
		plan_forget(&agents->queue->plan, vertex);
		intake_damaged(agents->intake, job, err.text);
		return true;
	}
	if (agents_count_resync(agents, job->id) >= RESYNC_MAX &&
	    job->flight_count == 1) {
		plan_forget(&agents->queue->plan, vertex);
		intake_bad(agents->intake, job,
		    "the transport agent cannot make sense of it");
		return true;
	}
	outcome_lost(agents->outcome, vertex, true,
	    "the control file did not fit the job");
	return true;
}

/* #hungry after the last job, and something is still unanswered: it will
 * never be.  False: it said so more often than it had jobs. */
static bool
agent_take_hungry(struct agents *agents, struct agent *agent)
{
	struct vertex *vertex;

	if (agent->hungry_count == agent->sent_count + 1)
		return false;
	agent->ring->start_failures = 0;
	agent->hungry_count++;
	agent->hungry_ms = agent->heard_ms;
	if (agent->hungry_count != agent->sent_count + 1)
		return true;
	while ((vertex = TAILQ_FIRST(&agent->jobs)) != NULL &&
	    vertex != agent->unsent) {
		agent_drop_vertex(agents, agent, vertex);
		outcome_lost(agents->outcome, vertex, true,
		    "the transport agent did not say what came of it");
	}
	return true;
}

/* What does not end a job.  False: there is no end to it, and neither the
 * journal nor the others' time is the agent's. */
static bool
agent_take_talk(struct agents *agents, struct agent *agent,
    const struct answer *answer, struct slice line)
{
	if (++agent->talk_count > TALK_MAX)
		return false;
	if (answer->kind == ANSWER_CONNECTED)
		agent_connect(agent, answer->who, answer->text);
	else if (answer->kind == ANSWER_CLOSED)
		agent_disconnect(agent);
	else if (answer->kind != ANSWER_MX)
		warning("agent %u for %s: " SLICE_FMT, agent->token,
		    agent->ring->channel, SLICE_ARG(slice_from(line, 1)));
	else if (agent->thread != NULL)
		plan_join(&agents->queue->providers, agent->thread,
		    answer->name);
	return true;
}

/* False: the line is nonsense. */
static bool
agent_take_line(struct agents *agents, struct agent *agent,
    struct slice line, const char **why)
{
	static struct err err;
	struct answer answer;

	if (answer_parse(line, &answer, &err) < 0) {
		*why = err.text;
		return false;
	}
	switch (answer.kind) {
	case ANSWER_HUNGRY:
		*why = "it had no job since it was hungry";
		return agent_take_hungry(agents, agent);
	case ANSWER_VERDICT:
		*why = "it was not given this recipient";
		return agent_take_verdict(agents, agent, &answer);
	case ANSWER_RESYNC:
		*why = "it was not given this job";
		return agent_take_resync(agents, agent, &answer);
	case ANSWER_WARM:
		*why = "it was not asked to keep a connection";
		return agent_take_warm(agent, &answer);
	case ANSWER_MX:
	case ANSWER_CONNECTED:
	case ANSWER_CLOSED:
	case ANSWER_REMARK:
		break;
	}
	*why = "it talks without an end";
	return agent_take_talk(agents, agent, &answer, line);
}

/* All whole lines of the inbox.  False: the agent was lost over one. */
static bool
agent_take_lines(struct agents *agents, struct agent *agent)
{
	struct slice line = SLICE("");
	const char *why = "an endless line";
	size_t cursor = 0;
	int got;

	while ((got = ipc_line(agent->inbox, &cursor, &line)) == IPC_LINE)
		if (!agent_take_line(agents, agent, line, &why)) {
			agent_nonsense(agents, agent, line, why);
			return false;
		}
	ipc_inbox_consume(agent->inbox, cursor);
	if (got < 0 || agent->inbox->bytes.len > ANSWER_LINE_BYTES_MAX) {
		agent_nonsense(agents, agent,
		    str_slice(&agent->inbox->bytes), "an endless line");
		return false;
	}
	for (int fd; (fd = ipc_take_fd(agent->inbox)) >= 0;)
		close(fd);	/* nobody asked for it */
	return true;
}

void
agent_ready(void *context, unsigned ready)
{
	struct agent *agent = context;
	struct agents *agents = agent->agents;
	int got;

	if (ready & LOOP_WRITE)
		agent_send(agents, agent);
	if (agent->socket < 0 || !(ready & (LOOP_READ | LOOP_HANGUP)))
		return;
	got = ipc_receive(agent->socket, agent->inbox);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got < 1) {
		agent_lose(agents, agent, agent->is_closing ? NULL :
		    "the transport agent died");
		return;
	}
	agent->heard_ms = clock_steady_ms();
	if (agent_take_lines(agents, agent))
		ipc_inbox_shrink(agent->inbox);
}
